// Cells of CSV files as text. Tables of numbers are read by nalm/table.hpp, with the same rules for quotes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nalm {

// A cell as it is written, in quotes where any delimiter that read_table() knows would break it.
std::string csv_cell(std::string_view text);

// The cells of one line of a table that is compiled into the program. What cannot be read ends the list.
std::vector<std::string> cells_of(std::string_view line);

}  // namespace nalm
