#include "base/read_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

namespace nalm {

Result<std::string> read_file(const std::string& path, std::string_view what) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return Error{fmt::format("{}: this is a folder, not a {}.", path, what)};
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{fmt::format("{}: the file cannot be read ({}).", path, std::strerror(errno))};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace nalm
