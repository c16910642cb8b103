#include "tasks/single_module/thresholds.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "nalm/detail/portable.hpp"

namespace nalm {

namespace {

constexpr double kNotDefined = std::numeric_limits<double>::quiet_NaN();

// Magnitudes, uniform from a to b, with this share of all values.
struct Magnitudes {
  double a, b;
  double share;
};

void add_part(double lo, double hi, double share, std::vector<Magnitudes>& magnitudes) {
  if (lo >= 0) {
    magnitudes.push_back({lo, hi, share});
  } else if (hi <= 0) {
    magnitudes.push_back({-hi, -lo, share});
  } else {
    magnitudes.push_back({0, -lo, share * (-lo / (hi - lo))});
    magnitudes.push_back({0, hi, share * (hi / (hi - lo))});
  }
}

std::vector<Magnitudes> magnitudes_of(const Range& range) {
  std::vector<Magnitudes> magnitudes;
  add_part(range.lo, range.hi, range.second ? 0.5 : 1, magnitudes);
  if (range.second) add_part(range.second->lo, range.second->hi, 0.5, magnitudes);
  return magnitudes;
}

struct Moments {
  double mean = 0;            // of |x|
  double variance = 0;        // of |x|
  double square = 0;          // mean of x^2
  double inverse_square = 0;  // mean of 1/x^2
};

Moments moments_of(const Range& range) {
  const std::vector<Magnitudes> magnitudes = magnitudes_of(range);
  Moments m;
  for (const auto& [a, b, share] : magnitudes) {
    m.mean += share * (a + b) / 2;
    m.square += share * (a * a + a * b + b * b) / 3;
    m.inverse_square += share / (a * b);
  }
  // Not as square - mean^2, which loses the digits of narrow ranges.
  for (const auto& [a, b, share] : magnitudes) {
    const double width = b - a, shift = (a + b) / 2 - m.mean;
    m.variance += share * (width * width / 12 + shift * shift);
  }
  return m;
}

// The mean of (1 - scale * prod (1 - epsilon |x|))^2 over the products of k inputs. The textbook form
// scale^2 E2^k - 2 scale E1^k + 1 subtracts numbers close to 1; here 1 - scale * E1^k and E2^k - E1^2k are written as
// sums with their small factors in front.
double mean_squared_shortfall(double one_minus_scale, int k, double epsilon, const Moments& m) {
  const double E1 = 1 - epsilon * m.mean, scale = 1 - one_minus_scale;
  const double variance = epsilon * epsilon * m.variance, E2 = E1 * E1 + variance;
  double powers = 0;        // sum of E1^j, j < k
  double mixed_powers = 0;  // sum of E2^j E1^(2 (k - 1 - j)), j < k
  for (int j = 0; j < k; ++j) {
    powers = powers * E1 + 1;
    mixed_powers = mixed_powers * E1 * E1 + portable::pow(E2, j);
  }
  const double shortfall = one_minus_scale + scale * epsilon * m.mean * powers;
  return shortfall * shortfall + scale * scale * variance * mixed_powers;
}

// The mean of |x|^power: sums of the integrals of x^(r - 1) with r = power + 1.
double integral(double a, double b, double r) {
  if (a == 0) return portable::pow(b, r) / r;
  const double ratio = portable::log1p((b - a) / a);
  return r == 0 ? ratio : portable::pow(a, r) * portable::expm1(r * ratio) / r;
}

double power_mean(const std::vector<Magnitudes>& magnitudes, double power) {
  double mean = 0;
  for (const auto& [a, b, share] : magnitudes) mean += share / (b - a) * integral(a, b, power + 1);
  return mean;
}

// The mean of |x|^(power + change) - |x|^power; for small changes without subtracting numbers that are nearly equal.
double power_mean_change(const std::vector<Magnitudes>& magnitudes, double power, double change) {
  if (std::abs(change) > 0.1) return power_mean(magnitudes, power + change) - power_mean(magnitudes, power);
  // x^r at an end of the range, and its change.
  const auto at = [](double x, double r) { return x == 0 ? 0 : portable::pow(x, r); };
  const auto change_at = [&](double x, double r) {
    return x == 0 ? 0 : at(x, r) * portable::expm1(change * portable::log(x));
  };
  const double r = power + 1;
  double sum = 0;
  for (const auto& [a, b, share] : magnitudes) {
    sum += share / (b - a) * (change_at(b, r) - change_at(a, r) - (at(b, r) - at(a, r)) * change / r) / (r + change);
  }
  return sum;
}

}  // namespace

Status check_test_range(Operation operation, const Range& test) {
  const auto in_order = [](double lo, double hi) { return std::isfinite(lo) && std::isfinite(hi) && lo < hi; };
  if (!in_order(test.lo, test.hi) || (test.second && !in_order(test.second->lo, test.second->hi))) {
    return Error{fmt::format("a range needs two finite numbers, the smaller one first, unlike [{}, {})",
                             in_order(test.lo, test.hi) ? test.second->lo : test.lo,
                             in_order(test.lo, test.hi) ? test.second->hi : test.hi)};
  }
  if (test.second) {
    const double first = test.hi - test.lo, second = test.second->hi - test.second->lo;
    if (std::abs(first - second) > 1e-9 * first) {
      return Error{fmt::format("the two parts of a range must be equally wide, but [{}, {}) and [{}, {}) are not",
                               test.lo, test.hi, test.second->lo, test.second->hi)};
    }
  }
  if (operation != Operation::Divide) return Done{};
  for (const auto& part : {Range::Part{test.lo, test.hi}, test.second.value_or(Range::Part{test.lo, test.hi})}) {
    if (part.lo > 0 || part.hi < 0) continue;
    return Error{
        fmt::format("division cannot be judged on the test range [{}, {}): it touches 0, where quotients have no "
                    "mean square; give a range that keeps away from 0, such as [2, 6)",
                    part.lo, part.hi)};
  }
  return Done{};
}

double epsilon_threshold(Operation operation, const Range& test, int inputs, double epsilon) {
  if (!check_test_range(operation, test)) return kNotDefined;
  const Moments m = moments_of(test);
  switch (operation) {
    case Operation::Add:
    case Operation::Subtract:
      return epsilon * epsilon * (inputs * m.variance + static_cast<double>(inputs) * inputs * m.mean * m.mean);
    case Operation::Multiply:
      return m.square * m.square * mean_squared_shortfall(epsilon * (2 - epsilon), inputs - 2, epsilon, m);
    case Operation::Divide:
      return m.square * m.inverse_square * mean_squared_shortfall(2 * epsilon / (1 + epsilon), inputs - 2, epsilon, m);
  }
  return kNotDefined;
}

double log_space_threshold(Operation operation, const Range& test, int inputs, double epsilon) {
  if (operation == Operation::Add || operation == Operation::Subtract) {
    return epsilon_threshold(operation, test, inputs, epsilon);
  }
  if (!check_test_range(operation, test)) return kNotDefined;
  const std::vector<Magnitudes> magnitudes = magnitudes_of(test);
  // With the target t and the ratio r of model and target without epsilon, so that the model is t r^epsilon, the error
  // is the second difference of G(s) = mean of t^2 r^s. The change of its logarithm keeps the digits.
  const double second_power = operation == Operation::Multiply ? 2 : -2;
  const double first = power_mean(magnitudes, 2), second = power_mean(magnitudes, second_power);
  const auto relative_change = [&](double s) {
    const double towards_zero = second_power > 0 ? -s : s;
    return portable::expm1(portable::log1p(power_mean_change(magnitudes, 2, -s) / first) +
                           portable::log1p(power_mean_change(magnitudes, second_power, towards_zero) / second) +
                           (inputs - 2) * portable::log1p(power_mean_change(magnitudes, 0, s)));
  };
  return first * second * (relative_change(2 * epsilon) - 2 * relative_change(epsilon));
}

double almost_right(Operation operation, std::span<const double> x, std::size_t first_operand, double epsilon,
                    Almost almost) {
  const double a = x[first_operand], b = x[first_operand + 1], sign = operation == Operation::Subtract ? -1 : 1;
  double others_sum = 0, others_product = 1;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i == first_operand || i == first_operand + 1) continue;
    others_sum += epsilon * std::abs(x[i]);
    others_product *= 1 - epsilon * std::abs(x[i]);
  }
  const bool opposed = almost == Almost::Opposed;
  switch (operation) {
    case Operation::Add:
    case Operation::Subtract:
      return (1 - epsilon) * a + sign * (opposed ? 1 + epsilon : 1 - epsilon) * b + others_sum;
    case Operation::Multiply:
    case Operation::Divide: {
      const double exact = operation == Operation::Multiply ? a * b : a / b;
      if (opposed) {
        // |a|^-epsilon |b|^+epsilon for a product, |b|^-epsilon for a quotient.
        const double power = operation == Operation::Multiply ? epsilon : -epsilon;
        return exact * portable::pow(std::abs(a), -epsilon) * portable::pow(std::abs(b), power) * others_product;
      }
      const double factor =
          operation == Operation::Multiply ? (1 - epsilon) * (1 - epsilon) : (1 - epsilon) / (1 + epsilon);
      return exact * factor * others_product;
    }
  }
  return 0;
}

}  // namespace nalm
