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
  char head[16] = {};
  if (!is_special_) std::ifstream(path_, std::ios::binary).read(head, sizeof head);
  is_store_ = std::string_view(head, sizeof head) == std::string_view("SQLite format 3\0", 16);
  errno = 0;
  if (!is_special_ && !is_store_) file_.open(temporary_, std::ios::binary | std::ios::trunc);
  open_error_ = errno;
}

FileWriter::~FileWriter() {
  if (!file_.is_open()) return;
  file_.close();
  std::remove(temporary_.c_str());
}

Status FileWriter::begun() const {
  if (is_special_) return Error{path_ + ": not written, because this is not a regular file."};
  if (is_store_) return Error{path_ + ": not written, because it holds the results of a benchmark; name another file."};
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
