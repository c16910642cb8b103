// Numbers that people know by another name than their decimals.
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>

#include "formula/node.hpp"
#include "formula/readable.hpp"
#include "nalm/detail/portable.hpp"

namespace nalm::formula {

using Kind = Expression::Kind;

namespace {

// With so few fractions, a number that is equal to one in all its bits is not so by chance.
constexpr int kLargestNumerator = 100;
constexpr int kLargestDenominator = 12;

bool is_small(double p) { return std::abs(p) >= 1 && std::abs(p) <= kLargestNumerator; }

bool is_reduced(double p, int q) { return std::gcd(static_cast<int>(p), q) == 1; }

bool has_short_decimal(int q) {
  for (const int prime : {2, 5}) {
    while (q % prime == 0) q /= prime;
  }
  return q == 1;
}

// Not a*b or a/b, which would fold.
Expression unfolded(Kind kind, const Expression& a, const Expression& b) {
  return ExpressionBuilder::operation(kind, {a, b});
}

Expression multiple(double p, const Expression& unit) {
  if (p == 1) return unit;
  if (p != -1) return unfolded(Kind::Multiply, p, unit);
  return unit.kind() == Kind::Constant ? -unit : ExpressionBuilder::operation(Kind::Negate, {unit});
}

Expression quotient(const Expression& a, int q) { return q == 1 ? a : unfolded(Kind::Divide, a, q); }

std::optional<Expression> fraction(double value) {
  for (int q = 1; q <= kLargestDenominator; ++q) {
    const double p = std::round(value * q);
    if (p / q != value) continue;
    if (!is_small(p) || has_short_decimal(q)) return std::nullopt;
    return quotient(p, q);
  }
  return std::nullopt;
}

// Roundings differ between (4*pi)/3 and (4/3)*pi, so both are tried.
std::optional<Expression> multiple_of(const Expression& unit, double unit_value, double value) {
  for (int q = 1; q <= kLargestDenominator; ++q) {
    double p = std::round(value * q / unit_value);
    if (is_small(p) && is_reduced(p, q)) {
      if (p * unit_value / q == value) return quotient(multiple(p, unit), q);
      if (p / q * unit_value == value) return unfolded(Kind::Multiply, quotient(p, q), unit);
    }
    p = std::round(value * q * unit_value);
    if (is_small(p) && is_reduced(p, q) && p / (q * unit_value) == value) {
      return unfolded(Kind::Divide, p, multiple(q, unit));
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Expression> simple_number(double value) {
  if (auto found = fraction(value)) return found;
  const Expression pi = std::numbers::pi;
  if (auto found = multiple_of(pi, std::numbers::pi, value)) return found;
  // As the parser folds it, whatever the library's pow makes of it.
  return multiple_of(unfolded(Kind::Power, pi, 2), portable::pow(std::numbers::pi, 2), value);
}

}  // namespace nalm::formula
