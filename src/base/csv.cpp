#include "nalm/table.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "base/csv.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"

namespace nalm {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t'; }
bool is_line_break(char c) { return c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view between(const char* first, const char* last) {
  return {first, static_cast<std::size_t>(last - first)};
}

// LF, CR and CRLF each end one line.
std::size_t count_line_breaks(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool first_half_of_crlf = text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    if (is_line_break(text[i]) && !first_half_of_crlf) ++count;
  }
  return count;
}

bool parse_number(std::string_view cell, double& value) {
  const char* first = cell.data();
  const char* const last = first + cell.size();
  if (cell.size() > 1 && first[0] == '+' && first[1] != '-') ++first;
  const ReadNumber number = read_number(between(first, last));
  value = number.value;
  return number.length > 0 && first + number.length == last && last[-1] != ')';  // nan(...) is a number too
}

// Semicolon and tab win over comma, which may be a decimal comma in such a line.
char detect_delimiter(std::string_view text) {
  bool quoted = false;
  bool at_cell_start = true;
  bool tab_seen = false;
  for (const char c : text) {
    if (quoted) {
      quoted = c != '"';
      at_cell_start = true;  // so that the second half of "" opens the quotes again
    } else if (c == '"' && at_cell_start) {
      quoted = true;
    } else if (c == ';') {
      return ';';
    } else if (is_line_break(c)) {
      break;
    } else {
      tab_seen = tab_seen || c == '\t';
      at_cell_start = c == ',' || c == '\t' || (c == ' ' && at_cell_start);
    }
  }
  return tab_seen ? '\t' : ',';
}

// Keeps a message on one line of reasonable length whatever the cell holds.
std::string shown(std::string_view cell) {
  constexpr std::size_t longest = 60;
  std::string result = "\"";
  std::size_t length = std::min(cell.size(), longest);
  if (length < cell.size()) {
    while (length > 0 && (static_cast<unsigned char>(cell[length]) & 0xC0U) == 0x80U)
      --length;  // whole UTF-8 characters
  }
  for (const char c : cell.substr(0, length)) {
    const bool control = static_cast<unsigned char>(c) < 0x20U || c == '\x7f';
    result += control ? ' ' : c;
  }
  return result + (length < cell.size() ? "...\"" : "\"");
}

std::string cells(std::size_t count) { return std::to_string(count) + (count == 1 ? " cell" : " cells"); }

std::string default_name(std::size_t column) { return "x" + std::to_string(column + 1); }

struct Cell {
  std::string_view text;  // trimmed, without the enclosing quotes
  std::size_t line = 0;   // where it begins
  bool has_escapes = false;
  bool ends_row = false;

  std::string unescaped() const {
    if (!has_escapes) return std::string(text);
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
      result += text[i];
      if (text[i] == '"') ++i;  // quotes come in pairs here
    }
    return result;
  }
};

// One pass over the text. Steps return false after fail(), since a Result per cell would cost time.
class TableReader {
 public:
  TableReader(std::string_view text, std::string_view source, Cells cells = Cells::Numbers)
      : source_(source), cells_(cells), begin_(text.data()), cursor_(begin_), end_(begin_ + text.size()) {}

  Result<Table> read() {
    if (!check_encoding() || !read_rows()) return std::move(error_);
    return std::move(table_);
  }

  std::vector<std::string> cells_of_line() {
    std::vector<std::string> cells;
    for (Cell cell; !cell.ends_row && read_cell(cell); ++column_) cells.push_back(cell.unescaped());
    return cells;
  }

 private:
  bool fail(const std::string& message) {
    error_.message = std::string(source_) + ": " + message;
    return false;
  }

  std::string place(std::size_t line) const {
    std::string result = "line " + std::to_string(line) + ", column " + std::to_string(column_ + 1);
    if (column_ < table_.columns.size()) result += " (" + shown(table_.columns[column_]) + ")";
    return result;
  }

  std::string_view rest() const { return between(cursor_, end_); }

  bool check_encoding() {
    if (rest().starts_with("\xFF\xFE") || rest().starts_with("\xFE\xFF")) {
      return fail("the text is UTF-16; save it as UTF-8.");
    }
    if (rest().starts_with("\xEF\xBB\xBF")) cursor_ += 3;
    const std::size_t nul = rest().find('\0');
    if (nul == std::string_view::npos) return true;
    const std::size_t line = count_line_breaks(rest().substr(0, nul)) + 1;
    return fail("line " + std::to_string(line) + " contains a NUL byte; save the table as UTF-8 text.");
  }

  bool read_rows() {
    if (!find_row()) return fail("the table is empty; add rows of numbers.");
    delimiter_ = detect_delimiter(rest());
    if (!read_first_row()) return false;
    while (find_row()) {
      if (!read_row()) return false;
    }
    if (table_.rows > 0) return true;
    return fail("line " + std::to_string(first_line_) + " is a header, since " + shown(first_word_) +
                " is not a number, and no rows follow; add rows of numbers.");
  }

  // Goes to the beginning of the next line that is not blank.
  bool find_row() {
    while (cursor_ != end_) {
      const char* ahead = cursor_;
      while (ahead != end_ && is_space(*ahead)) ++ahead;
      if (ahead != end_ && !is_line_break(*ahead)) return true;
      cursor_ = ahead;
      skip_line_break();
    }
    return false;
  }

  bool read_first_row() {
    first_line_ = line_;
    std::vector<std::string> names;
    std::optional<std::size_t> first_empty;
    bool word_seen = false;
    Cell cell;
    for (column_ = 0; !cell.ends_row; ++column_) {
      if (!read_cell(cell)) return false;
      names.push_back(cell.unescaped());
      double value = 0;
      if (read_number(cell.text, value)) {
        table_.values.push_back(value);
        if (cells_ == Cells::Text) table_.text.push_back({0, column_, names.back()});
      } else if (cell.text.empty()) {
        if (!first_empty) first_empty = column_;
      } else if (!word_seen) {
        word_seen = true;
        first_word_ = names.back();
      }
    }
    if (word_seen) return use_header(std::move(names));
    if (first_empty) return fail_ambiguous_first_row(*first_empty);
    for (std::size_t column = 0; column < names.size(); ++column) table_.columns.push_back(default_name(column));
    table_.rows = 1;
    return true;
  }

  bool fail_ambiguous_first_row(std::size_t column) {
    column_ = column;
    return fail(place(first_line_) + ": the cell is empty; fill it in, or name the column if this is a header.");
  }

  bool use_header(std::vector<std::string> names) {
    const std::string where = "line " + std::to_string(first_line_);
    for (std::size_t column = 0; column < names.size(); ++column) {
      if (is_utf8(names[column])) continue;
      return fail(where + ": the name of column " + std::to_string(column + 1) +
                  " is not UTF-8; save the table as UTF-8.");
    }
    std::unordered_map<std::string, std::size_t> column_of;
    for (std::size_t column = 0; column < names.size(); ++column) {
      if (names[column].empty()) continue;
      const auto [other, is_new] = column_of.emplace(names[column], column);
      if (is_new) continue;
      return fail(where + ": columns " + std::to_string(other->second + 1) + " and " + std::to_string(column + 1) +
                  " are both named " + shown(names[column]) + "; rename one of them.");
    }
    for (std::size_t column = 0; column < names.size(); ++column) {
      if (!names[column].empty()) continue;
      names[column] = default_name(column);
      const auto other = column_of.find(names[column]);
      if (other == column_of.end()) continue;
      return fail(where + ": column " + std::to_string(column + 1) + " has no name, and " + shown(names[column]) +
                  " is the name of column " + std::to_string(other->second + 1) + "; name the column.");
    }
    table_.has_header = true;
    table_.columns = std::move(names);
    table_.values.clear();
    table_.text.clear();
    return true;
  }

  bool read_row() {
    const std::size_t expected = table_.columns.size();
    const std::size_t line = line_;
    make_room();
    Cell cell;
    for (column_ = 0; !cell.ends_row; ++column_) {
      if (!read_cell(cell)) return false;
      if (column_ >= expected) continue;  // only counted, for the message
      double value = 0;
      const bool is_number = read_number(cell.text, value);
      if (!is_number) {
        // Whoever separates cells by spaces should learn that that does not work.
        if (cells_ == Cells::Numbers || is_spaced_numbers(cell.text)) return fail_bad_cell(cell);
        value = no_value;
      }
      if (cells_ == Cells::Text || !is_number) table_.text.push_back({table_.rows, column_, cell.unescaped()});
      table_.values.push_back(value);
    }
    if (column_ != expected) return fail_ragged_row(line);
    ++table_.rows;
    return true;
  }

  // Extrapolates from the rows so far, as doubling the space near the end would need far more memory than the table.
  void make_room() {
    constexpr std::size_t enough_to_extrapolate = 4096;
    constexpr double margin = 1.02;
    std::vector<double>& values = table_.values;
    if (values.size() < enough_to_extrapolate || values.size() + table_.columns.size() <= values.capacity()) return;
    const double share_read = static_cast<double>(cursor_ - begin_) / static_cast<double>(end_ - begin_);
    const auto expected = static_cast<std::size_t>(static_cast<double>(values.size()) / share_read * margin);
    const std::size_t least = values.capacity() + values.capacity() / 8 + table_.columns.size();
    values.reserve(std::max(expected, least));
  }

  bool fail_ragged_row(std::size_t line) {
    const std::size_t expected = table_.columns.size();
    return fail("line " + std::to_string(line) + " has " + cells(column_) + ", but " + std::to_string(expected) +
                (expected == 1 ? " is" : " are") + " expected, as in line " + std::to_string(first_line_) +
                "; correct the row.");
  }

  bool fail_bad_cell(const Cell& cell) {
    const std::string where = place(cell.line) + ": ";
    if (cell.text.empty()) return fail(where + "the cell is empty; remove the row or fill in the cell.");
    const std::string what = where + shown(cell.unescaped()) + " is not a number; ";
    if (is_spaced_numbers(cell.text)) {
      return fail(what + "separate cells by comma, semicolon or tab, as spaces do not separate them.");
    }
    return fail(what + "remove the row or correct the cell.");
  }

  // "1 2" and the like: whoever wrote it should learn that spaces do not separate cells.
  bool is_spaced_numbers(std::string_view text) {
    std::size_t pieces = 0;
    for (; !text.empty(); text = trim(text)) {
      const std::string_view piece = text.substr(0, text.find_first_of(" \t"));
      double ignored = 0;
      if (!read_number(piece, ignored)) return false;
      text.remove_prefix(piece.size());
      ++pieces;
    }
    return pieces > 1;
  }

  bool read_number(std::string_view text, double& value) {
    if (parse_number(text, value)) return true;
    return delimiter_ != ',' && read_decimal_comma(text, value);
  }

  // A digit must follow, so that a stray comma at the end of a cell is not overlooked.
  bool read_decimal_comma(std::string_view text, double& value) {
    const std::size_t comma = text.find(',');
    if (comma == std::string_view::npos || comma + 1 == text.size() || !is_digit(text[comma + 1])) return false;
    if (text.find('.') != std::string_view::npos) return false;
    scratch_ = text;
    scratch_[comma] = '.';
    return parse_number(scratch_, value);
  }

  bool ends_cell(char c) const { return c == delimiter_ || is_line_break(c); }

  void skip_padding() {
    while (cursor_ != end_ && is_space(*cursor_) && *cursor_ != delimiter_) ++cursor_;
  }

  void skip_line_break() {
    if (cursor_ == end_) return;
    if (rest().starts_with("\r\n")) ++cursor_;
    ++cursor_;
    ++line_;
  }

  // Reads up to and including the delimiter or line break.
  bool read_cell(Cell& cell) {
    skip_padding();
    cell.line = line_;
    cell.has_escapes = false;
    if (cursor_ != end_ && *cursor_ == '"') {
      if (!read_quoted(cell)) return false;
    } else {
      const char* const first = cursor_;
      while (cursor_ != end_ && !ends_cell(*cursor_)) ++cursor_;
      cell.text = trim(between(first, cursor_));
    }
    cell.ends_row = cursor_ == end_ || *cursor_ != delimiter_;
    if (cell.ends_row) {
      skip_line_break();
    } else {
      ++cursor_;
    }
    return true;
  }

  bool read_quoted(Cell& cell) {
    const char* const first = ++cursor_;
    while (true) {
      const std::size_t quote = rest().find('"');
      if (quote == std::string_view::npos) {
        return fail(place(cell.line) + ": the quote that begins here is never closed; close it or remove it.");
      }
      cursor_ += quote + 1;
      if (cursor_ == end_ || *cursor_ != '"') break;
      cell.has_escapes = true;
      ++cursor_;
    }
    const std::string_view content = between(first, cursor_ - 1);
    line_ += count_line_breaks(content);
    cell.text = trim(content);
    return check_after_quote();
  }

  bool check_after_quote() {
    skip_padding();
    if (cursor_ == end_ || ends_cell(*cursor_)) return true;
    const char* const first = cursor_;
    while (cursor_ != end_ && !ends_cell(*cursor_)) ++cursor_;
    return fail(place(line_) + ": " + shown(trim(between(first, cursor_))) +
                " follows a closing quote; remove it, or write a quote inside quotes twice.");
  }

  std::string_view source_;
  Cells cells_;
  const char* begin_;
  const char* cursor_;
  const char* end_;
  std::size_t line_ = 1;        // of the cursor
  std::size_t column_ = 0;      // of the cell being read
  std::size_t first_line_ = 0;  // of the first row
  std::string first_word_;      // what makes the first row a header
  char delimiter_ = ',';
  std::string scratch_;  // keeps its memory from cell to cell
  Table table_;
  Error error_;
};

Error file_error(std::string_view name, int code) {
  return Error{std::string(name) + ": the file cannot be read (" + std::generic_category().message(code) + ")."};
}

Error memory_error(std::string_view name) {
  return Error{std::string(name) + ": the table does not fit into memory; use fewer rows or columns."};
}

// `size_hint` saves growing; the text may turn out longer or shorter.
Result<std::string> read_text(std::FILE* file, std::string_view name, std::size_t size_hint) {
  constexpr std::size_t chunk = std::size_t{1} << 20U;
  std::string text;
  text.reserve(size_hint + chunk);
  while (true) {
    const std::size_t before = text.size();
    text.resize(before + chunk);
    errno = 0;
    const std::size_t count = std::fread(text.data() + before, 1, chunk, file);
    const int code = errno;
    text.resize(before + count);
    if (std::ferror(file) != 0) return file_error(name, code);
    if (count < chunk) return text;
  }
}

Result<std::string> read_file(const std::string& path) {
  errno = 0;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) return file_error(path, errno);
  std::error_code no_size;
  const auto size = std::filesystem::file_size(path, no_size);
  return read_text(file.get(), path, no_size ? 0 : static_cast<std::size_t>(size));
}

// The standard library reports lack of memory by exceptions, this library by values.
template <class Action>
Result<Table> without_exceptions(std::string_view name, const Action& action) {
  try {
    return action();
  } catch (const std::bad_alloc&) {
    return memory_error(name);
  } catch (const std::length_error&) {
    return memory_error(name);
  }
}

}  // namespace

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",;\t\"\r\n") == text.npos) return std::string(text);
  std::string cell = "\"";
  for (const char c : text) cell += c == '"' ? std::string("\"\"") : std::string(1, c);
  return cell + "\"";
}

std::vector<std::string> cells_of(std::string_view line) { return TableReader(line, "").cells_of_line(); }

Result<Table> read_table(std::string_view text, std::string_view source_name, Cells cells) {
  return without_exceptions(source_name, [&] { return TableReader(text, source_name, cells).read(); });
}

const std::string* Table::text_at(std::size_t row, std::size_t column) const {
  const auto found = std::lower_bound(
      text.begin(), text.end(), std::pair(row, column),
      [](const TextCell& cell, const auto& place) { return std::pair(cell.row, cell.column) < place; });
  return found != text.end() && found->row == row && found->column == column ? &found->text : nullptr;
}

bool is_missing(std::string_view cell) {
  constexpr std::string_view words[] = {"", "na", "nan", "n/a", "#n/a", "null", "none", "?", "-", "."};
  std::string lower;
  for (const char c : cell.substr(0, 8)) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return std::find(std::begin(words), std::end(words), lower) != std::end(words);
}

// Numbers of up to four digits between dashes, slashes, dots or colons: three of a date, two or three of a time.
bool is_date(std::string_view cell) {
  std::size_t parts = 0, digits = 0;
  char between = 0;
  for (std::size_t k = 0; k <= cell.size(); ++k) {
    const char c = k < cell.size() ? cell[k] : ' ';
    if (is_digit(c)) {
      if (++digits > 4) return false;
      continue;
    }
    if (digits == 0) return false;
    ++parts;
    digits = 0;
    // What follows a date, such as a time of day, does not matter.
    if (c == ' ' || c == 'T') return parts == 3 || (parts == 2 && between == ':');
    if (c != '-' && c != '/' && c != '.' && c != ':') return false;
    if (between != 0 && between != c) return parts == 3 && between == ':' && c == '.';
    between = c;
  }
  return false;
}

Result<Table> read_table_file(const std::string& path, Cells cells) {
  const bool is_standard_input = path == "-";
  const std::string_view name = is_standard_input ? std::string_view("standard input") : std::string_view(path);
  return without_exceptions(name, [&]() -> Result<Table> {
    const Result<std::string> text = is_standard_input ? read_text(stdin, name, 0) : read_file(path);
    if (!text) return text.error();
    return read_table(*text, name, cells);
  });
}

}  // namespace nalm
