#include "formula/rewrite.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <utility>

#include "formula/node.hpp"

namespace nalm {

namespace {

using Kind = Expression::Kind;

// What an expression is the opposite of, if it begins with a minus.
std::optional<Expression> without_minus(const Expression& e) {
  std::vector<const Expression*> factors;  // the last one first
  const Expression* first = &e;
  for (; first->kind() == Kind::Multiply || first->kind() == Kind::Divide; first = &first->operands()[0])
    factors.push_back(first);
  const bool is_negative = first->kind() == Kind::Constant && first->constant() < 0;
  if (first->kind() != Kind::Negate && !is_negative) return std::nullopt;
  Expression result = -*first;
  for (; !factors.empty(); factors.pop_back()) {
    const Expression& factor = factors.back()->operands()[1];
    result = factors.back()->kind() == Kind::Multiply ? result * factor : result / factor;
  }
  return result;
}

// The opposite of a sum, if that begins with no minus.
std::optional<Expression> opposite(const Expression& sum) {
  std::vector<std::pair<bool, Expression>> terms;  // whether it is taken away; the last one first
  const Expression* rest = &sum;
  for (; rest->kind() == Kind::Add || rest->kind() == Kind::Subtract; rest = &rest->operands()[0])
    terms.push_back({rest->kind() == Kind::Add, rest->operands()[1]});
  if (terms.empty()) return std::nullopt;
  std::optional<Expression> result = without_minus(*rest);
  if (!result) {
    // Two terms may change places; with the third one the rounding would be another.
    if (terms.back().first) return std::nullopt;
    result = terms.back().second - *rest;
    terms.pop_back();
  }
  for (; !terms.empty(); terms.pop_back())
    result = terms.back().first ? *result - terms.back().second : *result + terms.back().second;
  return result;
}

}  // namespace

Expression rewrite(const Expression& root, const std::function<std::optional<Expression>(const Expression&)>& f) {
  return formula::rebuilt(root, [&](const Expression& e, std::vector<Expression> operands) {
    const std::optional<Expression> replacement = f(e);
    return replacement ? *replacement : formula::with_operands(e, std::move(operands));
  });
}

Expression with_plain_signs(const Expression& root) {
  return formula::rebuilt(root, [](const Expression& e, std::vector<Expression> operands) {
    if (e.kind() == Kind::Negate) {
      if (const std::optional<Expression> other = opposite(operands[0])) return *other;
    }
    if (e.kind() == Kind::Multiply && operands[0].kind() == Kind::Constant && operands[0].constant() < 0) {
      if (const std::optional<Expression> other = opposite(operands[1])) return -operands[0].constant() * *other;
    }
    if (e.kind() == Kind::Add && !without_minus(operands[1])) {
      if (const std::optional<Expression> other = without_minus(operands[0])) return operands[1] - *other;
    }
    return formula::with_operands(e, std::move(operands));
  });
}

Expression in_digits(const Expression& root, int digits) {
  return rewrite(root, [&](const Expression& e) -> std::optional<Expression> {
    if (e.kind() != Kind::Constant) return std::nullopt;
    const std::string text = fmt::format("{:.{}g}", e.constant(), digits);
    double value = e.constant();
    std::from_chars(text.data(), text.data() + text.size(), value);
    return Expression(value);
  });
}

}  // namespace nalm
