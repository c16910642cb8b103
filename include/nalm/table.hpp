// Tables of numbers, read from text: comma, semicolon or tab between the cells, with or without a header.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "nalm/result.hpp"

namespace nalm {

struct Table {
  std::vector<std::string> columns;  // from the header, otherwise x1, x2, ...
  bool has_header = false;
  std::size_t rows = 0;
  std::vector<double> values;  // row-major, rows × columns; may hold NaN and infinities if the text does

  double at(std::size_t row, std::size_t column) const { return values[row * columns.size() + column]; }
};

// Reads `text`; messages begin with `source_name` and count physical lines from 1.
//
// The first row is a header if one of its cells is neither empty nor a number. A first row of numbers and empty cells
// is an error: it could be a header with unnamed columns or data with a missing value, and guessing would lose a row.
Result<Table> read_table(std::string_view text, std::string_view source_name);

// Reads the file at `path`; "-" is standard input.
Result<Table> read_table_file(const std::string& path);

}  // namespace nalm
