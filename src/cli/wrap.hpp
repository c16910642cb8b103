// Text for the terminal, in lines of at most 100 columns.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "cli/output.hpp"

namespace nalm::cli {

// Every line after the first is indented.
inline std::string wrap(std::string_view text, std::size_t indent) {
  std::string result;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (column > indent && column + end > 100) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      result += ' ';
      ++column;
    }
    result += text.substr(0, end);
    column += end;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

inline void print_field(std::string_view label, std::string_view text) { put("{:<13}{}\n", label, wrap(text, 13)); }

}  // namespace nalm::cli
