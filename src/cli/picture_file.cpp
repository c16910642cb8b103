#include "cli/picture_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/number.hpp"
#include "base/text.hpp"
#include "base/write_file.hpp"
#include "cli/output.hpp"

extern char** environ;

namespace nalm::cli {
namespace {

constexpr std::string_view converter_name = "rsvg-convert";

// Where a program is, or "".
std::string program_in_path(std::string_view name) {
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : split(path ? path : "", ':')) {
    const std::string file = fmt::format("{}/{}", folder.empty() ? "." : folder, name);
    if (access(file.c_str(), X_OK) == 0 && !std::filesystem::is_directory(file)) return file;
  }
  return "";
}

// No shell: names are passed as they are.
bool run_program(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawn(&child, program.c_str(), nullptr, nullptr, words.data(), environ) != 0) return false;
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::string picture_format(const std::string& format, const std::string& path) {
  if (!format.empty()) return format;
  for (const char* each : {"svg", "pdf", "png", "html", "json"})
    if (path.ends_with(fmt::format(".{}", each))) return each;
  return "";
}

Result<double> read_width(const std::string& text) {
  const ReadNumber read = read_number(text);
  const std::string_view unit = trim(std::string_view(text).substr(read.length));
  const double inch = unit == "mm"                   ? 25.4
                      : unit == "cm"                 ? 2.54
                      : unit == "in"                 ? 1
                      : unit == "pt"                 ? 72
                      : unit.empty() || unit == "px" ? 96
                                                     : 0;
  const double pixels = inch > 0 ? read.value / inch * 96 : 0;
  if (read.length == 0 || !(pixels >= 190 && pixels <= 4000))
    return Error{fmt::format(
        "--width {}: a width is a number with mm, cm, in, pt or px, from 50mm to 1000mm, such as 84mm.", text)};
  return pixels;
}

Status write_picture(const Picture& picture, const std::string& format, const std::string& width,
                     const std::string& path) {
  if (Status possible = may_write(path); !possible) return possible.error();
  double millimetres = 0;
  if (!width.empty()) {
    const Result<double> pixels = read_width(width);
    if (!pixels) return pixels.error();
    millimetres = *pixels / 96 * 25.4;
  }
  if (format == "svg") return write_file(path, svg_of(picture, millimetres));
  const std::string converter = program_in_path(converter_name);
  if (converter.empty())
    return Error{fmt::format(
        "{}: {} files are made with {}, which is not here; install it (Debian: librsvg2-bin), or write .svg.", path,
        format == "pdf" ? "PDF" : "PNG", converter_name)};
  // The converter writes to a file beside the wanted one, which then takes its place.
  const std::string source = path + ".svg.part", made = path + ".part";
  std::error_code ignored;
  if (std::filesystem::exists(source, ignored) || std::filesystem::exists(made, ignored))
    return Error{fmt::format("{}: {} or {} is in the way; remove it.", path, source, made)};
  if (Status written = write_file(source, svg_of(picture, millimetres, false)); !written) return written.error();
  // 300 dots to an inch, which print asks for.
  std::vector<std::string> arguments{"--format", format, "--output", made, "--dpi-x", "96", "--dpi-y", "96"};
  if (format == "png") arguments.insert(arguments.end(), {"--zoom", "3.125"});
  arguments.push_back(source);
  const bool done = run_program(converter, arguments);
  std::filesystem::remove(source, ignored);
  if (!done) {
    std::filesystem::remove(made, ignored);
    return Error{fmt::format("{}: {} did not make it; write .svg instead.", path, converter_name)};
  }
  std::error_code moved;
  std::filesystem::rename(made, path, moved);
  if (moved) return Error{fmt::format("{}: the file cannot be written ({}).", path, moved.message())};
  return Done{};
}

}  // namespace nalm::cli
