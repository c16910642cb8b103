// The lines of the tables that are compiled into the program: cells with commas are quoted, and nothing is escaped.
// Tables of users are read by nalm/table.hpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nalm {

inline std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  return cells;
}

}  // namespace nalm
