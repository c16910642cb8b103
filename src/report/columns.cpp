#include "report/columns.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace nalm {

void Columns::drop_empty() {
  for (std::size_t k = rows_.empty() ? 0 : rows_.front().size(); k-- > 0;) {
    if (std::any_of(rows_.begin() + 1, rows_.end(), [&](const auto& row) { return !row[k].empty(); })) continue;
    for (auto& row : rows_) row.erase(row.begin() + static_cast<std::ptrdiff_t>(k));
    if (k < left_) --left_;
  }
}

std::string Columns::print() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], row[k].size());
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t k = 0; k < row.size(); ++k) {
      line += k < left_ ? fmt::format("{:<{}}", row[k], widths[k]) : fmt::format("{:>{}}", row[k], widths[k]);
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string Columns::markdown() const {
  std::string text;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (const std::string& cell : rows_[r])
      text += fmt::format("| {} ", replaced(replaced(replaced(cell, "*", "\\*"), "|", "\\|"), "+-", "±"));
    text += "|\n";
    if (r > 0) continue;
    for (std::size_t k = 0; k < rows_[r].size(); ++k) text += k < left_ ? "|---" : "|--:";
    text += "|\n";
  }
  return text;
}

std::string Columns::latex(std::string_view caption) const {
  const std::size_t width = rows_.empty() ? 0 : rows_.front().size();
  std::string text = fmt::format(
      "\\begin{{table}}[h]\n\\caption{{{}}}\n\\centering\n\\begin{{tabular}}{{{}{}}}\n\\toprule\n", latex_text(caption),
      std::string(std::min(left_, width), 'l'), std::string(width - std::min(left_, width), 'r'));
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (std::size_t k = 0; k < rows_[r].size(); ++k) text += (k ? " & " : "") + latex_text(rows_[r][k]);
    text += r == 0 ? " \\\\\n\\midrule\n" : " \\\\\n";
  }
  return text + "\\bottomrule\n\\end{tabular}\n\\end{table}\n";
}

std::string with_interval(const Estimate& e, std::string (*print)(double)) {
  if (std::isnan(e.value)) return "-";
  if (std::isnan(e.lo)) return print(e.value);
  return fmt::format("{} [{}, {}]", print(e.value), print(e.lo), print(e.hi));
}

std::string percent(double value) { return fmt::format("{:.0f}", 100 * value); }

std::string csv_number(double value) { return std::isnan(value) ? "" : fmt::format("{}", value); }

std::string latex_text(std::string_view text) {
  std::string result;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (text.substr(k, 2) == "+-") {
      result += "$\\pm$";
      ++k;
    } else if (std::string_view("&%$#_{}").find(c) != std::string_view::npos) {
      result += {'\\', c};
    } else if (c == '\\') {
      result += "\\textbackslash{}";
    } else if (c == '^') {
      result += "\\^{}";
    } else if (c == '~') {
      result += "\\~{}";
    } else if (c == '<' || c == '>' || c == '|' || c == '*') {
      result += {'$', c, '$'};
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace nalm
