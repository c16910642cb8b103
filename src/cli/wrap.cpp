#include "cli/wrap.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "cli/output.hpp"

namespace nalm::cli {

std::string wrap_words(std::string_view text, std::size_t column, std::size_t indent, std::size_t columns) {
  std::string result;
  const std::size_t first = column;
  bool begun = false;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    const std::size_t width = utf8_count(word);
    if (begun && column + 1 + width > columns) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (begun) {
      result += ' ';
      ++column;
    } else if (first > indent && column + width > columns) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    }
    result += word;
    column += width;
    begun = true;
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return result;
}

namespace {

constexpr std::size_t widest_prose = 100;

// A line that is too long, broken between words; what follows is indented a little more than its beginning.
std::string fold_line(std::string_view line, std::size_t columns) {
  if (utf8_count(line) <= columns) return std::string(line);
  const std::size_t start = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t indent = start < columns / 2 ? start : 0;
  return std::string(indent, ' ') + wrap_words(line.substr(start), indent, indent + 2, columns);
}

using Characters = std::vector<std::string_view>;

Characters characters_of(std::string_view line) {
  Characters characters;
  while (!line.empty()) {
    characters.push_back(line.substr(0, std::max<std::size_t>(utf8_length(line, 0), 1)));
    line.remove_prefix(characters.back().size());
  }
  return characters;
}

// Where the columns of a table begin and end: between them every line has two spaces or more.
std::vector<std::pair<std::size_t, std::size_t>> columns_in(const std::vector<Characters>& lines, std::size_t width) {
  std::vector<std::pair<std::size_t, std::size_t>> result;
  const auto is_blank = [&](std::size_t x) {
    return std::all_of(lines.begin(), lines.end(), [&](const Characters& l) { return x >= l.size() || l[x] == " "; });
  };
  std::size_t blanks = 2;
  for (std::size_t x = 0; x < width; ++x) {
    if (is_blank(x)) {
      ++blanks;
      continue;
    }
    if (blanks >= 2) result.emplace_back(x, x);
    blanks = 0;
    result.back().second = x + 1;
  }
  return result;
}

bool is_row(std::string_view line) {
  const std::size_t start = std::min(line.find_first_not_of(' '), line.size());
  return line.find("  ", start) != line.npos;
}

std::string fold_block(const std::vector<std::string_view>& block, std::size_t columns) {
  std::string text;
  const auto is_wide = [&](std::string_view line) { return utf8_count(line) > columns; };
  std::size_t first = 0, last = block.size();
  // A heading or a remark is no part of the table.
  while (first < last && !is_row(block[first])) ++first;
  while (last > first && !is_row(block[last - 1])) --last;
  std::vector<Characters> lines;
  std::size_t width = 0;
  for (std::size_t k = first; k < last; ++k) {
    lines.push_back(characters_of(block[k]));
    width = std::max(width, lines.back().size());
  }
  const auto parts = columns_in(lines, width);
  const bool folds = lines.size() > 1 && parts.size() > 2 && std::any_of(block.begin(), block.end(), is_wide);
  if (!folds) first = block.size();
  for (std::size_t k = 0; k < first; ++k) text += fold_line(block[k], columns) + "\n";
  if (!folds) return text;
  for (std::size_t from = 1; from < parts.size();) {
    std::size_t to = from, used = parts[0].second;
    // A number stands at the right end of its column, so a column begins where the one before it ended.
    const auto width_of = [&](std::size_t c) { return parts[c].second - parts[c - 1].second; };
    while (to < parts.size() && (to == from || used + width_of(to) <= columns)) used += width_of(to++);
    if (from > 1) text += "\n";
    for (const Characters& line : lines) {
      std::string row;
      const auto add = [&](std::size_t a, std::size_t b) {
        for (std::size_t x = a; x < b; ++x) row += x < line.size() ? line[x] : std::string_view(" ");
      };
      add(0, parts[0].second);
      add(parts[from - 1].second, parts[to - 1].second);
      row.erase(row.find_last_not_of(' ') + 1);
      text += fold_line(row, columns) + "\n";
    }
    from = to;
  }
  for (std::size_t k = last; k < block.size(); ++k) text += fold_line(block[k], columns) + "\n";
  return text;
}

}  // namespace

std::string wrap(std::string_view text, std::size_t indent) {
  constexpr std::size_t least = 24, next_line = 4;
  const std::size_t columns = std::min(columns_of(stdout), widest_prose);
  if (columns >= indent + least) return wrap_words(text, indent, indent, columns);
  return "\n" + std::string(next_line, ' ') + wrap_words(text, next_line, next_line, columns);
}

void print_field(std::string_view label, std::string_view text) { put("{:<13}{}\n", label, wrap(text, 13)); }

std::string lay_out(std::string_view text, std::size_t columns) {
  std::string result;
  std::vector<std::string_view> block;
  const bool ends = text.ends_with('\n');
  if (ends) text.remove_suffix(1);
  for (bool more = true; more;) {
    const std::size_t end = text.find('\n');
    more = end != text.npos;
    const std::string_view line = text.substr(0, end);
    if (more) text.remove_prefix(end + 1);
    if (!line.empty()) block.push_back(line);
    if (!line.empty() && more) continue;
    result += fold_block(block, columns);
    block.clear();
    if (line.empty()) result += "\n";
  }
  if (!ends && !result.empty()) result.pop_back();
  return result;
}

}  // namespace nalm::cli
