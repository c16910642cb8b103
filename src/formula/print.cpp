// The text of an expression, with no parentheses but those the parser needs to build the same tree again.
#include <cmath>
#include <numbers>

#include "formula/node.hpp"
#include "formula/print.hpp"
#include "formula/readable.hpp"
#include "formula/writer.hpp"
#include "nalm/expression.hpp"

namespace nalm {

namespace formula {

std::string print_name(const std::string& name) {
  if (is_plain_name(name)) return name;
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

namespace {

Number print_number(double value) {
  if (std::abs(value) == std::numbers::pi) return signed_number(value, value < 0 ? "-pi" : "pi");
  return signed_number(value, shortest(value));
}

constexpr FunctionRule kFunctions[] = {{"min", {"min($a, $b)"}}, {"max", {"max($a, $b)"}}};

constexpr Language kText = {
    .functions = kFunctions,
    .number = print_number,
};

}  // namespace
}  // namespace formula

std::string print(const Expression& expression) {
  const Expression tree = formula::readable(expression, formula::Minus::InNumerator);
  return formula::write(tree, formula::kText, {formula::print_name, {}});
}

}  // namespace nalm
