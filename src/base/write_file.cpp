#include "base/write_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

namespace nalm {

namespace {

// Only text is written here. A file with a NUL byte was made by something else, and may be hours of work: the store of
// a benchmark is such a file.
bool holds_binary(const std::string& path) {
  char head[512];
  std::ifstream file(path, std::ios::binary);
  file.read(head, sizeof head);
  return std::find(head, head + file.gcount(), '\0') != head + file.gcount();
}

}  // namespace

FileWriter::FileWriter(std::string path) : path_(std::move(path)), temporary_(path_ + ".part") {
  std::error_code ignored;
  is_special_ = std::filesystem::exists(path_, ignored) && !std::filesystem::is_regular_file(path_, ignored);
  is_binary_ = !is_special_ && holds_binary(path_);
  errno = 0;
  if (!is_special_ && !is_binary_) file_.open(temporary_, std::ios::binary | std::ios::trunc);
  open_error_ = errno;
}

FileWriter::~FileWriter() {
  if (!file_.is_open()) return;
  file_.close();
  std::remove(temporary_.c_str());
}

Status FileWriter::begun() const {
  if (is_special_) return Error{path_ + ": not written, because this is not a regular file."};
  if (is_binary_)
    return Error{path_ +
                 ": not written, because it holds no text but data, such as the results of a benchmark; name "
                 "another file."};
  if (!file_.is_open())
    return Error{
        fmt::format("{}: the file cannot be written ({}); nothing was changed.", path_, std::strerror(open_error_))};
  return Done{};
}

Status FileWriter::finish() {
  if (Status good = begun(); !good) return good;
  const auto failed = [&](const char* what) {
    const Error error{fmt::format("{}: {} ({}); nothing was changed.", path_, what, std::strerror(errno))};
    file_.close();
    std::remove(temporary_.c_str());
    return error;
  };
  file_.flush();
  if (!file_) return failed("writing failed");
  file_.close();
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) return failed("the file cannot be replaced");
  return Done{};
}

Status write_file(const std::string& path, std::string_view text) {
  FileWriter file(path);
  file.write(text);
  return file.finish();
}

}  // namespace nalm
