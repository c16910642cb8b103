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

std::string operation_title(std::string_view operation) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"add", "Addition"}, {"sub", "Subtraction"}, {"mul", "Multiplication"}, {"div", "Division"}};
  for (const auto& [name, title] : names)
    if (name == operation) return std::string(title);
  return std::string(operation);
}

std::string csv_number(double value) { return std::isnan(value) ? "" : fmt::format("{}", value); }

std::string latex_text(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> written[] = {{"+-", "$\\pm$"}, {"\\", "\\textbackslash{}"},
                                                                       {"^", "\\^{}"},   {"~", "\\~{}"},
                                                                       {"<", "$<$"},     {">", "$>$"},
                                                                       {"|", "$|$"},     {"*", "$*$"},
                                                                       {"&", "\\&"},     {"%", "\\%"},
                                                                       {"$", "\\$"},     {"#", "\\#"},
                                                                       {"_", "\\_"},     {"{", "\\{"},
                                                                       {"}", "\\}"}};
  std::string result;
  for (std::size_t k = 0; k < text.size();) {
    const auto* const special = std::find_if(std::begin(written), std::end(written),
                                             [&](const auto& w) { return text.substr(k).starts_with(w.first); });
    result += special == std::end(written) ? text.substr(k, 1) : special->second;
    k += special == std::end(written) ? 1 : special->first.size();
  }
  return result;
}

}  // namespace nalm
