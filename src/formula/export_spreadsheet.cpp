// Formulas for the cells of a spreadsheet: LibreOffice, Excel, Google Sheets.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numbers>
#include <string>
#include <string_view>

#include "formula/exports.hpp"
#include "formula/readable.hpp"
#include "formula/writer.hpp"

namespace nalm::formula {

namespace {

Number spreadsheet_number(double value) {
  const std::string sign = is_negative(value) ? "-" : "";
  if (std::isnan(value)) return {"NA()", Binding::Atom};
  if (std::isinf(value)) return {sign + "1/0", Binding::Product};  // an error there, as it should be
  if (std::abs(value) == std::numbers::pi) return signed_number(value, sign + "PI()");
  std::string text = shortest(value);
  std::replace(text.begin(), text.end(), 'e', 'E');
  return signed_number(value, text);
}

constexpr FunctionRule kSpreadsheetFunctions[] = {
    {"exp", {"EXP($a)"}},
    {"log", {"LN($a)"}},
    {"sqrt", {"SQRT($a)"}},
    {"tanh", {"TANH($a)"}},
    {"sigmoid", {"1/(1+EXP(-$a))", Binding::Product, kAtom}},
    {"sin", {"SIN($a)"}},
    {"cos", {"COS($a)"}},
    {"asin", {"ASIN($a)"}},
    {"acos", {"ACOS($a)"}},
    {"abs", {"ABS($a)"}},
    {"sign", {"SIGN($a)"}},
    {"negative", {"IF($a<0,1,0)"}},
    {"min", {"MIN($a,$b)"}},
    {"max", {"MAX($a,$b)"}},
};

// There -a^2 is (-a)^2 and a^b^c is (a^b)^c, unlike everywhere else: signs and powers take nothing but atoms.
constexpr Language kSpreadsheet = {
    .negate = {"-$a", Binding::Sign, kAtom},
    .add = {"$a+$b", Binding::Sum, kAnything, kTerm},
    .subtract = {"$a-$b", Binding::Sum, kAnything, kTerm},
    .power = {"$a^$b", Binding::Power, kAtom, kAtom},
    .functions = kSpreadsheetFunctions,
    .number = spreadsheet_number,
};

// A, B, ..., Z, AA, AB, ...
std::string column_letters(std::size_t k) {
  std::string letters;
  for (++k; k > 0; k = (k - 1) / 26) letters += static_cast<char>('A' + (k - 1) % 26);
  return {letters.rbegin(), letters.rend()};
}

}  // namespace

std::string export_spreadsheet(const Exported& exported) {
  std::map<std::string_view, std::size_t> position;
  for (std::size_t k = 0; k < exported.columns.size(); ++k) position.emplace(exported.columns[k], k);
  const auto cell = [&](const std::string& column) {
    const auto found = position.find(column);
    return found == position.end() ? "#REF!" : column_letters(found->second) + std::to_string(exported.row);
  };
  return "=" + write(readable(exported.formula, Minus::InNumerator), kSpreadsheet, {cell, {}});
}

}  // namespace nalm::formula
