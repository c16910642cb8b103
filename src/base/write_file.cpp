#include "base/write_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

namespace nalm {

FileWriter::FileWriter(std::string path) : path_(std::move(path)), temporary_(path_ + ".part") {
  std::error_code ignored;
  is_special_ = std::filesystem::exists(path_, ignored) && !std::filesystem::is_regular_file(path_, ignored);
  errno = 0;
  if (!is_special_) file_.open(temporary_, std::ios::binary | std::ios::trunc);
  open_error_ = errno;
}

FileWriter::~FileWriter() {
  if (!file_.is_open()) return;
  file_.close();
  std::remove(temporary_.c_str());
}

Status FileWriter::begun() const {
  if (is_special_) return Error{path_ + ": not written, because this is not a regular file."};
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
