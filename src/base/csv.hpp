// Cells of CSV files as text. Tables of numbers are read by nalm/table.hpp, with the same rules for quotes.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace nalm {

// A cell as it is written, in quotes where any delimiter that read_table() knows would break it.
std::string csv_cell(std::string_view text);

// The cells of one line of a table that is compiled into the program. What cannot be read ends the list.
std::vector<std::string> cells_of(std::string_view line);

// f(cells of a line), for every line but the heading of such a table.
template <class F>
void for_each_line(std::string_view rest, F f) {
  for (bool heading = true; !rest.empty(); heading = false) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (!heading) f(cells_of(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

}  // namespace nalm
