// The formats, by name.
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "formula/exports.hpp"
#include "formula/print.hpp"
#include "nalm/expression.hpp"
#include "nalm/formula_export.hpp"

namespace nalm {

namespace {

struct Format {
  std::string_view name;
  formula::Export* write;
  std::string_view before_remark = {}, after_remark = {};  // empty: it has none
};

// In the order of FormulaFormat, whose enumerators are for those that C++ code asks for.
constexpr Format kFormats[] = {
    {"text", formula::export_text},
    {"latex", formula::export_latex, "% "},
    {"sympy", formula::export_sympy, "# "},
    {"python", formula::export_python, "# "},
    {"c", formula::export_c, "/* ", " */"},
    {"spreadsheet", formula::export_spreadsheet},
    {"mathml", formula::export_mathml, "<!-- ", " -->"},
    {"numpy", formula::export_numpy, "# "},
};

}  // namespace

namespace formula {

std::string export_text(const Exported& exported) {
  return print_name(exported.target) + " = " + print(exported.formula);
}

std::string remark(FormulaFormat format, const std::string& text) {
  const Format& f = kFormats[static_cast<std::size_t>(format)];
  if (f.before_remark.empty()) return "";
  return fmt::format("{}{}{}\n", f.before_remark, replaced(replaced(text, "*/", "* /"), "--", "- -"), f.after_remark);
}

std::string one_line(const std::string& text) {
  std::string line;
  for (std::size_t k = 0; k < text.size();) {
    const std::size_t length = utf8_length(text, k);
    if (length == 0) {
      line += '?';
      ++k;
      continue;
    }
    const bool is_control = length == 1 && (static_cast<unsigned char>(text[k]) < 0x20 || text[k] == 0x7F);
    line += is_control ? " " : text.substr(k, length);
    k += length;
  }
  return line;
}

}  // namespace formula

Result<FormulaFormat> find_format(std::string_view name) {
  for (std::size_t k = 0; k < std::size(kFormats); ++k)
    if (kFormats[k].name == name) return static_cast<FormulaFormat>(k);
  return Error{"there is no formula format \"" + std::string(name) + "\"; the formats are " + format_names()};
}

std::string format_names() {
  std::string names;
  for (const Format& format : kFormats) names += (names.empty() ? "" : ", ") + std::string(format.name);
  return names;
}

std::string export_formula(const Expression& formula, const std::string& target,
                           const std::vector<std::string>& columns, FormulaFormat format, int row,
                           const std::vector<std::string>& positive) {
  return kFormats[static_cast<std::size_t>(format)].write({formula, target, columns, row, positive});
}

}  // namespace nalm
