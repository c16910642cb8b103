#include "formula/rewrite.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string>

#include "formula/node.hpp"

namespace nalm {
namespace {

Expression with_operands(const Expression& e, const std::vector<Expression>& o) {
  switch (e.kind()) {
    case Expression::Kind::Constant:
    case Expression::Kind::Variable:
      return e;
    case Expression::Kind::Negate:
      return -o[0];
    case Expression::Kind::Add:
      return o[0] + o[1];
    case Expression::Kind::Subtract:
      return o[0] - o[1];
    case Expression::Kind::Multiply:
      return o[0] * o[1];
    case Expression::Kind::Divide:
      return o[0] / o[1];
    case Expression::Kind::Power:
      return pow(o[0], o[1]);
    case Expression::Kind::Call:
      break;
  }
  return Expression::call(e.name(), o).value();
}

}  // namespace

// A sum of many inputs is a deep tree, so nothing here recurses.
Expression rewrite(const Expression& root, const std::function<std::optional<Expression>(const Expression&)>& f) {
  std::vector<Expression> stack;
  formula::visit_operands_first(root, [&](const Expression& e) {
    const auto first = stack.end() - static_cast<std::ptrdiff_t>(e.operands().size());
    const std::vector<Expression> operands(first, stack.end());
    stack.erase(first, stack.end());
    const std::optional<Expression> replacement = f(e);
    stack.push_back(replacement ? *replacement : with_operands(e, operands));
  });
  return stack.back();
}

Expression in_digits(const Expression& root, int digits) {
  return rewrite(root, [&](const Expression& e) -> std::optional<Expression> {
    if (e.kind() != Expression::Kind::Constant) return std::nullopt;
    const std::string text = fmt::format("{:.{}g}", e.constant(), digits);
    double value = e.constant();
    std::from_chars(text.data(), text.data() + text.size(), value);
    return Expression(value);
  });
}

}  // namespace nalm
