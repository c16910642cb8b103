// The formats, by name.
#include <cstddef>
#include <string>
#include <string_view>

#include "base/utf8.hpp"
#include "formula/exports.hpp"
#include "formula/print.hpp"
#include "nalm/expression.hpp"
#include "nalm/formula_export.hpp"

namespace nalm {

namespace {

struct Format {
  std::string_view name;
  FormulaFormat format;
  std::string (*write)(const formula::Exported&);
};

constexpr Format kFormats[] = {
    {"text", FormulaFormat::Text, formula::export_text},
    {"latex", FormulaFormat::Latex, formula::export_latex},
    {"sympy", FormulaFormat::Sympy, formula::export_sympy},
    {"python", FormulaFormat::Python, formula::export_python},
    {"c", FormulaFormat::C, formula::export_c},
    {"spreadsheet", FormulaFormat::Spreadsheet, formula::export_spreadsheet},
    {"mathml", FormulaFormat::MathMl, formula::export_mathml},
};

}  // namespace

namespace formula {

std::string export_text(const Exported& exported) {
  return print_name(exported.target) + " = " + print(exported.formula);
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
  std::string known;
  for (const Format& format : kFormats) {
    if (format.name == name) return format.format;
    if (!known.empty()) known += ", ";
    known += format.name;
  }
  return Error{"there is no formula format \"" + std::string(name) + "\"; the formats are " + known};
}

std::string export_formula(const Expression& formula, const std::string& target,
                           const std::vector<std::string>& columns, FormulaFormat format, int row) {
  const formula::Exported exported{formula, target, columns, row};
  for (const Format& known : kFormats) {
    if (known.format == format) return known.write(exported);
  }
  return formula::export_text(exported);
}

}  // namespace nalm
