// Any bytes give a consistent table or a one-line message; a table that was read survives printing and reading again.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "nalm/table.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check_message(const std::string& message) {
  require(message.starts_with("fuzz: "));
  require(message.ends_with("."));
  require(message.find_first_of("\r\n") == std::string::npos);
  require(message.size() < 400);
}

void check_shape(const nalm::Table& table) {
  require(table.rows > 0 && !table.columns.empty());
  require(table.values.size() == table.rows * table.columns.size());
  const std::set<std::string> names(table.columns.begin(), table.columns.end());
  require(names.size() == table.columns.size() && !names.contains(""));
}

std::string quoted(const std::string& name) {
  std::string result = "\"";
  for (const char c : name) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

// With commas, since a name such as 3,14 would be a number with the other delimiters.
std::string printed(const nalm::Table& table) {
  std::string text;
  const std::size_t width = table.columns.size();
  const auto after_cell = [width](std::size_t column) { return column + 1 < width ? ',' : '\n'; };
  for (std::size_t i = 0; table.has_header && i < width; ++i) text += quoted(table.columns[i]) + after_cell(i);
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.17g", table.values[i]);
    text += std::string(buffer) + after_cell(i % width);
  }
  return text;
}

void check_round_trip(const nalm::Table& table) {
  const nalm::Result<nalm::Table> again = nalm::read_table(printed(table), "again");
  require(again.ok());
  require(again->columns == table.columns && again->has_header == table.has_header && again->rows == table.rows);
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    const bool both_nan = std::isnan(table.values[i]) && std::isnan(again->values[i]);
    require(both_nan ||
            std::bit_cast<std::uint64_t>(table.values[i]) == std::bit_cast<std::uint64_t>(again->values[i]));
  }
}

// What is read as numbers is read the same way with words, and of text every cell is kept.
void check_words(const std::string& text, const nalm::Result<nalm::Table>& numbers) {
  const nalm::Result<nalm::Table> words = nalm::read_table(text, "fuzz", nalm::Cells::Words);
  const nalm::Result<nalm::Table> all = nalm::read_table(text, "fuzz", nalm::Cells::Text);
  require(words.ok() == all.ok() && (words.ok() || !numbers.ok()));
  if (!words) return check_message(words.error().message);
  require(words->rows == all->rows && words->columns == all->columns);
  require(!numbers || (numbers->rows == words->rows && words->text.empty()));
  require(all->text.size() == all->values.size());
  for (std::size_t r = 0; r < all->rows; ++r)
    for (std::size_t c = 0; c < all->columns.size(); ++c) require(all->text_at(r, c) != nullptr);
  for (const nalm::TextCell& cell : words->text) {
    require(std::isnan(words->at(cell.row, cell.column)));
    require(!(nalm::is_missing(cell.text) && nalm::is_date(cell.text)));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const nalm::Result<nalm::Table> table = nalm::read_table(text, "fuzz");
  check_words(text, table);
  if (!table) {
    check_message(table.error().message);
    return 0;
  }
  check_shape(*table);
  check_round_trip(*table);
  return 0;
}
