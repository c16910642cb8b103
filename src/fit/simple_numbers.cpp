#include "fit/simple_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <numeric>

#include <fmt/format.h>

#include "base/number.hpp"
#include "nalm/detail/portable.hpp"

namespace nalm::fitting {

namespace {

// density: how many numbers at least as simple lie in an interval as wide as the number itself. The chance that one of
// them lies within a relative distance t by accident is about 2 t density.
struct Simple {
  double value = 0;
  double density = infinity;
};

// Fractions p/q of small whole numbers times a unit.
void consider_fractions(double value, double unit, double rarity, double tolerance, Simple& best) {
  double fractions = 0;  // with denominators so far, per unit length
  for (int q = 1; q <= 12; ++q) {
    int coprime = 0;
    for (int k = 1; k <= q; ++k) coprime += std::gcd(k, q) == 1;
    fractions += coprime;
    const double p = std::round(value / unit * q);
    if (p == 0 || std::fabs(p) > 1000 || std::gcd(static_cast<int>(p), q) != 1) continue;
    // As the printer writes it, and the parser reads it: p*unit/q, or p/(q*pi) for parts of pi.
    const double candidate = unit == 1 ? p / q : unit > 1 ? p * unit / q : p / (q * (1 / unit));
    // 1, 2 and 1/2 stand in more formulas than all other numbers together, and 1 is the number that nobody writes.
    const bool usual = unit == 1 && (std::fabs(p) == 1 || p == 2 || p == -2) && q <= 2;
    const double often = !usual ? 1 : std::fabs(p) == 1 && q == 1 ? 0.1 : 0.3;
    const double density = fractions * std::max(1.0, std::fabs(value / unit)) * rarity * often;
    if (std::fabs(candidate - value) <= tolerance && density < best.density) best = {candidate, density};
  }
}

}  // namespace

double with_digits(double value, int digits) { return read_number(fmt::format("{:.{}e}", value, digits - 1)).value; }

double with_meaningful_digits(double value, double deviation) {
  if (!(deviation > 1e-9 * std::fabs(value)) || value == 0) return value;
  const double digits = std::ceil(portable::log10(std::fabs(value)) - portable::log10(deviation * 0.02));
  return with_digits(value, static_cast<int>(std::clamp(digits, 1.0, 17.0)));
}

std::optional<SimpleNumber> simple_number(double value, double tolerance) {
  Simple best;
  consider_fractions(value, 1, 1, tolerance, best);
  consider_fractions(value, std::numbers::pi, 4, tolerance, best);
  consider_fractions(value, 1 / std::numbers::pi, 8, tolerance, best);
  for (int digits = 1; digits <= 6; ++digits) {
    const double candidate = with_digits(value, digits);
    const double density = portable::pow(10.0, digits) * 2;
    if (std::fabs(candidate - value) <= tolerance && density < best.density) best = {candidate, density};
  }
  const double accident = 2 * best.density * tolerance / std::fabs(value);
  if (!std::isfinite(best.density) || accident > largest_accident) return std::nullopt;
  return SimpleNumber{best.value, accident};
}

}  // namespace nalm::fitting
