// Tables of numbers, read from text: comma, semicolon or tab between the cells, with or without a header.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "nalm/result.hpp"

namespace nalm {

// What becomes of cells that are no numbers.
enum class Cells {
  Numbers,  // an error says where the first one is
  Words,    // they are NaN, and Table::text has what they say
  Text,     // the same, and Table::text has the numbers as they are written, too
};

struct TextCell {
  std::size_t row = 0, column = 0;
  std::string text;
};

struct Table {
  std::vector<std::string> columns;  // from the header, otherwise x1, x2, ...
  bool has_header = false;
  std::size_t rows = 0;
  std::vector<double> values;  // row-major, rows × columns; may hold NaN and infinities if the text does

  std::vector<TextCell> text{};      // row by row, see Cells
  std::vector<std::string> units{};  // of the columns, if they have any: take_units() (nalm/fit.hpp)

  double at(std::size_t row, std::size_t column) const { return values[row * columns.size() + column]; }
  const std::string* text_at(std::size_t row, std::size_t column) const;  // nullptr: not kept
};

// Reads `text`; messages begin with `source_name` and count physical lines from 1.
//
// The first row is a header if one of its cells is neither empty nor a number. A first row of numbers and empty cells
// is an error: it could be a header with unnamed columns or data with a missing value, and guessing would lose a row.
Result<Table> read_table(std::string_view text, std::string_view source_name, Cells cells = Cells::Numbers);

// Reads the file at `path`; "-" is standard input.
Result<Table> read_table_file(const std::string& path, Cells cells = Cells::Numbers);

// Whether a cell stands for a value that is not there: it is empty, or says NA, NaN, N/A, null, none, ?, - or a dot.
bool is_missing(std::string_view cell);

// Whether a cell looks like a date or a time of day: 2020-01-05, 5/1/2020, 05.01.2020, 12:30, 2020-01-05T12:30:00Z.
bool is_date(std::string_view cell);

}  // namespace nalm
