#include "cli/output.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/utf8.hpp"
#include "base/write_file.hpp"
#include "cli/wrap.hpp"
#include "experiment/store_file.hpp"

namespace nalm::cli {
namespace {

// errno of the first write that failed, 0 so far: of standard output, and of standard error.
std::atomic<int> failures[2] = {0, 0};

std::atomic<int>& failure_of(std::FILE* stream) { return failures[stream == stderr]; }

void note(std::FILE* stream, bool written) {
  int none = 0;
  if (!written) failure_of(stream).compare_exchange_strong(none, errno ? errno : EIO);
}

// Whether a character should not reach a terminal: controls but for the end of a line and tabs, and those that make a
// text look as if it were another one.
bool is_hidden(char32_t c) {
  return (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069);
}

}  // namespace

std::string visible(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t size = utf8_length(text, 0);
    const std::string_view character = text.substr(0, std::max<std::size_t>(size, 1));
    if (size == 0 || is_hidden(utf8_value(character))) {
      for (const char c : character) result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      result += character;
    }
    text.remove_prefix(character.size());
  }
  return result;
}

void draw(std::FILE* stream, std::string_view text) {
  if (failure_of(stream) != 0) return;  // half a text is worse than a text that ends
  errno = 0;
  note(stream, std::fwrite(text.data(), 1, text.size(), stream) == text.size());
}

void write_text(std::FILE* stream, std::string_view text) {
  const std::string shown = visible(text);
  draw(stream, is_terminal(stream) ? lay_out(shown, columns_of(stream)) : shown);
}

void write_data(std::string_view text) {
  if (is_terminal(stdout)) return write_text(stdout, text);
  draw(stdout, text);
}

int fail(const Error& error) {
  tell("nalm: {}\n", error.message);
  return bad_use;
}

void flush_output() {
  errno = 0;
  note(stdout, std::fflush(stdout) == 0);
}

int finish_output(int exit_code) {
  flush_output();
  if (const int code = failure_of(stdout))
    return fail({fmt::format("the output could not be written ({}).", std::strerror(code))});
  return failure_of(stderr) != 0 ? bad_use : exit_code;
}

bool is_terminal(std::FILE* stream) { return ::isatty(::fileno(stream)) == 1; }

std::size_t columns_of(std::FILE* stream) {
  constexpr std::size_t least = 40, usual = 100;
  winsize size{};
  if (!is_terminal(stream) || ::ioctl(::fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return usual;
  return std::max<std::size_t>(size.ws_col, least);
}

Status may_write(const std::string& path) {
  if (is_part_of_store(path))
    return Error{fmt::format("{}: not written, because it holds results of a benchmark; name another file.", path)};
  return can_write(path);
}

void prepare_output() {
  std::signal(SIGPIPE, SIG_IGN);
  for (int descriptor = 0; descriptor <= 2; ++descriptor)
    if (::fcntl(descriptor, F_GETFD) < 0 && ::open("/dev/null", O_RDONLY) < 0) return;
}

}  // namespace nalm::cli
