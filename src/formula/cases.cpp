#include "formula/cases.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "formula/node.hpp"
#include "formula/rewrite.hpp"

namespace nalm::formula {

namespace {

using Kind = Expression::Kind;

bool is_comparison(const Expression& e) { return e.kind() == Kind::Call && e.name() == "negative"; }

// The operand of negative(), if it is the same wherever that stands.
std::optional<Expression> condition_of(const Expression& formula) {
  std::optional<Expression> condition;
  std::string text;
  bool several = false;
  visit_operands_first(formula, [&](const Expression& e) {
    if (!is_comparison(e)) return;
    const std::string other = print(e.operands()[0]);
    several = several || (condition && other != text);
    condition = e.operands()[0];
    text = other;
  });
  return several ? std::nullopt : condition;
}

// The expression below 0, as an inequality between what is added and what is taken away.
std::string below_zero(const Expression& e) {
  if (e.kind() == Kind::Subtract) return fmt::format("{} < {}", print(e.operands()[0]), print(e.operands()[1]));
  if (e.kind() == Kind::Add && e.operands()[1].kind() == Kind::Constant)
    return fmt::format("{} < {}", print(e.operands()[0]), print(-e.operands()[1]));
  return print(e) + " < 0";
}

// ---- sums with equal terms put together ----------------------------------------------------------------------------

struct Part {
  Expression term;  // 1 for a number
  double factor = 0, largest = 0;
};

void add_parts(const Expression& e, double factor, std::vector<Part>& parts) {
  const auto& o = e.operands();
  if (e.kind() == Kind::Add || e.kind() == Kind::Subtract) {
    add_parts(o[0], factor, parts);
    return add_parts(o[1], e.kind() == Kind::Add ? factor : -factor, parts);
  }
  if (e.kind() == Kind::Negate) return add_parts(o[0], -factor, parts);
  if (e.kind() == Kind::Multiply && o[0].kind() == Kind::Constant)
    return add_parts(o[1], factor * o[0].constant(), parts);
  const bool is_number = e.kind() == Kind::Constant;
  const Expression term = is_number ? Expression(1.0) : e;
  const double number = is_number ? factor * e.constant() : factor;
  const std::string text = print(term);
  for (Part& part : parts) {
    if (print(part.term) != text) continue;
    part.factor += number;
    part.largest = std::max(part.largest, std::fabs(number));
    return;
  }
  parts.push_back({term, number, std::fabs(number)});
}

// For people: what cancels but for rounding is left out.
Expression collected(const Expression& e) {
  if (e.kind() == Kind::Multiply) return collected(e.operands()[0]) * collected(e.operands()[1]);
  if (e.kind() != Kind::Add && e.kind() != Kind::Subtract) return e;
  std::vector<Part> parts;
  add_parts(e, 1, parts);
  Expression sum = 0.0;
  for (const Part& part : parts) {
    if (std::fabs(part.factor) <= 1e-12 * part.largest) continue;
    sum += in_digits(Expression(part.factor), 12) * part.term;
  }
  return sum;
}

// As it is where every comparison gives this number.
Expression decided(const Expression& formula, double comparison) {
  return rewrite(formula, [&](const Expression& e) -> std::optional<Expression> {
    if (is_comparison(e)) return Expression(comparison);
    return std::nullopt;
  });
}

}  // namespace

std::string print_cases(const Expression& formula) {
  const std::optional<Expression> condition = condition_of(formula);
  if (!condition) return print(formula);
  return fmt::format("{} where {}, otherwise {}", print(collected(decided(formula, 1))), below_zero(*condition),
                     print(collected(decided(formula, 0))));
}

}  // namespace nalm::formula
