// Doing this on the tree, and only then writing exactly the tree, is what makes the printed text read back as itself.
#include "formula/readable.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "formula/node.hpp"

namespace nalm::formula {

using Kind = Expression::Kind;

bool is_negative(double value) { return !std::isnan(value) && std::signbit(value); }

bool is_negative_constant(const Expression& e) { return e.kind() == Kind::Constant && is_negative(e.constant()); }

namespace {

bool is_product(const Expression& e) { return e.kind() == Kind::Multiply || e.kind() == Kind::Divide; }

Expression product(Kind kind, const Expression& a, const Expression& b) {
  return kind == Kind::Multiply ? a * b : a / b;
}

// -term, where the term has a minus sign to lose: in front, or in a negative constant that it is multiplied with or
// divided by. Rounding is symmetric, so moving a sign through products changes no bit.
std::optional<Expression> without_sign(const Expression& term) {
  std::vector<const Expression*> outer;
  const Expression* e = &term;
  while (is_product(*e) && !is_negative_constant(e->operands()[1])) {
    outer.push_back(e);
    e = &e->operands()[0];
  }
  Expression result;
  if (is_product(*e)) {
    result = product(e->kind(), e->operands()[0], -e->operands()[1]);
  } else if (is_negative_constant(*e) || e->kind() == Kind::Negate) {
    result = -*e;
  } else {
    return std::nullopt;
  }
  for (; !outer.empty(); outer.pop_back()) result = product(outer.back()->kind(), result, outer.back()->operands()[1]);
  return result;
}

// One node with its signs as people write them, from operands that have been through this.
Expression with_readable_signs(const Expression& e, std::vector<Expression> x) {
  if (e.kind() == Kind::Add)
    if (const auto subtrahend = without_sign(x[1])) return x[0] - *subtrahend;
  if (e.kind() == Kind::Multiply && x[0].is_constant(-1)) return -x[1];
  if (e.kind() == Kind::Multiply && x[1].is_constant(-1)) return -x[0];
  return with_operands(e, std::move(x));
}

Expression spelled(const Expression& constant, Minus minus) {
  const double value = constant.constant();
  if (minus == Minus::InFront && is_negative_constant(constant)) {
    const auto simple = simple_number(-value);
    return simple && simple->kind() != Kind::Constant ? ExpressionBuilder::operation(Kind::Negate, {*simple})
                                                      : constant;
  }
  return simple_number(value).value_or(constant);
}

// Rebuilds each node as it is: simplifying now would fold the simple numbers again.
Expression with_simple_numbers(const Expression& e, std::vector<Expression> x, Minus minus) {
  if (e.kind() == Kind::Constant) return spelled(e, minus);
  if (e.kind() == Kind::Variable) return e;
  if (e.kind() == Kind::Call) return ExpressionBuilder::call(*ExpressionBuilder::node(e).function, std::move(x));
  return ExpressionBuilder::operation(e.kind(), std::move(x));
}

}  // namespace

Expression readable(const Expression& expression, Minus minus) {
  return rebuilt(rebuilt(expression, with_readable_signs), [&](const Expression& e, std::vector<Expression> operands) {
    return with_simple_numbers(e, std::move(operands), minus);
  });
}

}  // namespace nalm::formula
