// The formats, by name.
#include <cstddef>
#include <string>
#include <string_view>

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

namespace {

// The bytes of the UTF-8 character that begins at k, or 0 if none does.
std::size_t character_length(std::string_view text, std::size_t k) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto within = [&](std::size_t i, unsigned low, unsigned high) { return byte(i) >= low && byte(i) <= high; };
  const auto continues = [&](std::size_t i) { return within(i, 0x80, 0xBF); };
  const unsigned lead = byte(k);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return continues(k + 1) ? 2 : 0;
  // Forms that are longer than necessary, halves of UTF-16 pairs, and what is beyond Unicode are no characters.
  if (lead >= 0xE0 && lead < 0xF0) {
    return within(k + 1, lead == 0xE0 ? 0xA0 : 0x80, lead == 0xED ? 0x9F : 0xBF) && continues(k + 2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead < 0xF5) {
    const bool second = within(k + 1, lead == 0xF0 ? 0x90 : 0x80, lead == 0xF4 ? 0x8F : 0xBF);
    return second && continues(k + 2) && continues(k + 3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string one_line(const std::string& text) {
  std::string line;
  for (std::size_t k = 0; k < text.size();) {
    const std::size_t length = character_length(text, k);
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
                           const std::vector<std::string>& columns, FormulaFormat format) {
  for (const Format& known : kFormats) {
    if (known.format == format) return known.write({formula, target, columns});
  }
  return formula::export_text({formula, target, columns});
}

}  // namespace nalm
