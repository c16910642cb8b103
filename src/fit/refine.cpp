#include "fit/refine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "fit/linear_algebra.hpp"
#include "fit/tape.hpp"

namespace nalm::fitting {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Residuals and their derivatives, in units of the target's size.
class Problem {
 public:
  Problem(const Form& form, const Data& data, const Rows& rows)
      : tape_(to_expression(form, data.columns, data.negative, true), data.columns, free_count(form), rows.x),
        rows_(rows),
        scale_(1 / data.y_scale) {}

  int slots() const { return tape_.slots(); }

  double mse(const std::vector<double>& values) {
    double sum = 0, y[Tape::block];
    for (std::size_t first = 0; first < rows_.size(); first += Tape::block) {
      const std::size_t count = std::min(Tape::block, rows_.size() - first);
      tape_.run(first, count, values, y);
      for (std::size_t k = 0; k < count; ++k) {
        const double r = (y[k] - rows_.y[first + k]) * scale_;
        sum += r * r;
      }
    }
    return std::isnan(sum) ? infinity : sum / static_cast<double>(rows_.size());
  }

  // The derivatives of the residuals, and the residuals.
  void jacobian(const std::vector<double>& values, Matrix& J, Vector& r) {
    const std::size_t P = static_cast<std::size_t>(slots());
    J = Matrix(rows_.size(), P);
    r.resize(rows_.size());
    double y[Tape::block];
    std::vector<double> d(P * Tape::block);
    for (std::size_t first = 0; first < rows_.size(); first += Tape::block) {
      const std::size_t count = std::min(Tape::block, rows_.size() - first);
      tape_.run(first, count, values, y, d.data());
      for (std::size_t k = 0; k < count; ++k) r[first + k] = (y[k] - rows_.y[first + k]) * scale_;
      for (std::size_t s = 0; s < P; ++s) {
        for (std::size_t k = 0; k < count; ++k) J(first + k, s) = d[s * Tape::block + k] * scale_;
      }
    }
  }

 private:
  Tape tape_;
  const Rows& rows_;
  double scale_;
};

// Columns of J to length 1; gives the lengths.
Vector normalise_columns(Matrix& J) {
  Vector lengths(J.columns, 1.0);
  for (std::size_t s = 0; s < J.columns; ++s) {
    const double length = std::sqrt(dot(J.column(s), J.column(s), J.rows));
    if (!(length > 0)) continue;
    lengths[s] = length;
    for (std::size_t k = 0; k < J.rows; ++k) J(k, s) /= length;
  }
  return lengths;
}

// Against the direction, which is in units of the lengths.
std::vector<double> moved(const std::vector<double>& values, const Vector& direction, const Vector& lengths) {
  std::vector<double> result = values;
  for (std::size_t s = 0; s < values.size(); ++s) result[s] -= direction[s] / lengths[s];
  return result;
}

}  // namespace

Rows rows_of(const Data& data, const std::vector<std::size_t>& indices, std::size_t at_most) {
  Rows rows;
  const std::size_t count = std::min(at_most, indices.size());
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t r = indices[k * indices.size() / count];
    rows.x.push_back(data.row(r));
    rows.y.push_back(data.y[r]);
  }
  return rows;
}

bool refit(Form& form, const Data& data, const Rows& rows, int steps, Refit& result) {
  Problem problem(form, data, rows);
  std::vector<double> values = free_values(form);
  result.deviations.assign(values.size(), 0.0);
  double best = problem.mse(values);
  if (values.empty()) {
    result.mse = best;
    return std::isfinite(best);
  }
  Matrix J;
  Vector r;
  double damping = 1e-6;
  int failures = 0;
  for (int k = 0; k < steps && failures < 8; ++k) {
    problem.jacobian(values, J, r);
    if (!all_finite(J.values) || !all_finite(r)) return false;
    const Vector lengths = normalise_columns(J);
    const std::vector<double> trial = moved(values, damped_least_squares(J, r, damping), lengths);
    const double error = problem.mse(trial);
    if (error < best) {
      const bool last = best - error < 1e-9 * best;
      best = error;
      values = trial;
      damping = std::max(1e-12, damping * 0.1);
      failures = 0;
      if (last) break;
    } else {
      damping = std::min(1e6, damping * 10);
      ++failures;
    }
  }
  // One step without the loss of digits of the normal equations, and the error bars.
  problem.jacobian(values, J, r);
  if (!all_finite(J.values) || !all_finite(r) || !std::isfinite(best)) return false;
  const Vector lengths = normalise_columns(J);
  if (const std::vector<double> trial = moved(values, least_squares(J, r), lengths); problem.mse(trial) <= best) {
    values = trial;
    best = problem.mse(trial);
  }
  set_free_values(form, values);
  result.mse = best;
  const double n = static_cast<double>(rows.size()), parameters = static_cast<double>(values.size());
  const double variance = best * n / std::max(1.0, n - parameters);
  const Vector spread = uncertainties(J);
  for (std::size_t s = 0; s < values.size(); ++s) {
    result.deviations[s] = std::sqrt(std::max(0.0, variance * spread[s])) / lengths[s];
  }
  return true;
}

double mean_squared_error(const Expression& formula, const Data& data, const Rows& rows) {
  Tape tape(formula, data.columns, 0, rows.x);
  double sum = 0, y[Tape::block];
  for (std::size_t first = 0; first < rows.size(); first += Tape::block) {
    const std::size_t count = std::min(Tape::block, rows.size() - first);
    tape.run(first, count, {}, y);
    for (std::size_t k = 0; k < count; ++k) sum += (y[k] - rows.y[first + k]) * (y[k] - rows.y[first + k]);
  }
  return std::isnan(sum) ? infinity : sum / static_cast<double>(rows.size());
}

// ---- description length --------------------------------------------------------------------------------------------

namespace {

double cost_of_power(double power) {
  if (power == 1) return 0;
  return (power < 0 ? 0.5 : 0) + (is_whole(power)       ? 0.7 * (std::fabs(power) - 1)
                                  : is_whole(2 * power) ? 1.2 + 0.7 * std::fabs(power)
                                                        : 6);
}

double cost_of_powers(const PowerList& powers) {
  double cost = 0;
  for (const double power : powers) {
    if (power != 0) cost += std::log(static_cast<double>(powers.size())) + 0.7 + cost_of_power(power);
  }
  return cost;
}

double cost_of_number(const Number& number, std::size_t rows) {
  if (number.free) return 1 + 0.5 * std::log(static_cast<double>(rows));
  if (std::fabs(number.value) == 1) return number.value < 0 ? 0.3 : 0;
  return 2;
}

}  // namespace

double description_length(const Form& form, double mse, std::size_t rows) {
  double cost = 0;
  for (const Product& product : form.products) {
    cost += 1.5 + cost_of_powers(product.powers) + cost_of_number(product.coefficient, rows);
    for (const auto& [sum, power] : product.sums) cost += 1 + cost_of_power(power);
  }
  for (const InnerSum& sum : form.sums) {
    for (const Term& term : sum.terms)
      cost += 1.5 + cost_of_powers(term.powers) + cost_of_number(term.coefficient, rows);
  }
  const double floor = rounding_level * rounding_level;  // mse is in units of the target's size
  return 0.5 * static_cast<double>(rows) * std::log(std::max(mse, floor)) + cost;
}

double with_digits(double value, int digits) {
  return std::strtod(fmt::format("{:.{}e}", value, digits - 1).c_str(), nullptr);
}

// ---- simple numbers ------------------------------------------------------------------------------------------------

namespace {

// density: how many numbers at least as simple lie in an interval as wide as the number itself. The chance that one of
// them lies within a relative distance t by accident is about 2 t density.
struct SimpleNumber {
  double value = 0;
  double density = infinity;
};

// Fractions p/q of small whole numbers times a unit.
void consider_fractions(double value, double unit, double rarity, double tolerance, SimpleNumber& best) {
  double fractions = 0;  // with denominators so far, per unit length
  for (int q = 1; q <= 12; ++q) {
    int coprime = 0;
    for (int k = 1; k <= q; ++k) coprime += std::gcd(k, q) == 1;
    fractions += coprime;
    const double p = std::round(value / unit * q);
    if (p == 0 || std::fabs(p) > 1000 || std::gcd(static_cast<int>(p), q) != 1) continue;
    // As the printer writes it, and the parser reads it: p*unit/q, or p/(q*pi) for parts of pi.
    const double candidate = unit == 1 ? p / q : unit > 1 ? p * unit / q : p / (q * (1 / unit));
    // 1, 2 and 1/2 stand in more formulas than all other numbers together.
    const bool usual = unit == 1 && (std::fabs(p) == 1 || p == 2 || p == -2) && q <= 2;
    const double density = fractions * std::max(1.0, std::fabs(value / unit)) * rarity * (usual ? 0.3 : 1);
    if (std::fabs(candidate - value) <= tolerance && density < best.density) best = {candidate, density};
  }
}

std::optional<SimpleNumber> simple_number_near(double value, double tolerance) {
  SimpleNumber best;
  consider_fractions(value, 1, 1, tolerance, best);
  consider_fractions(value, std::numbers::pi, 4, tolerance, best);
  consider_fractions(value, 1 / std::numbers::pi, 8, tolerance, best);
  for (int digits = 1; digits <= 6; ++digits) {
    const double candidate = with_digits(value, digits);
    const double density = std::pow(10.0, digits) * 2;
    if (std::fabs(candidate - value) <= tolerance && density < best.density) best = {candidate, density};
  }
  if (!(best.density < infinity)) return std::nullopt;
  return best;
}

constexpr double largest_accident = 0.02;

// Student's t for a two-sided 99 % interval, good to 2 % from four degrees of freedom.
double quantile(double freedom) {
  constexpr double z = 2.5758;
  return z + (z * z * z + z) / (4 * freedom) + (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * freedom * freedom);
}

// The number with as many digits as the error bar allows: rounding moves it by a hundredth of that at most.
double with_meaningful_digits(double value, double deviation) {
  if (!(deviation > 1e-9 * std::fabs(value)) || value == 0) return value;
  const double digits = std::ceil(std::log10(std::fabs(value)) - std::log10(deviation * 0.02));
  return with_digits(value, static_cast<int>(std::clamp(digits, 1.0, 17.0)));
}

}  // namespace

std::optional<double> simple_number(double value, double tolerance) {
  const std::optional<SimpleNumber> candidate = simple_number_near(value, tolerance);
  if (!candidate || 2 * candidate->density * tolerance / std::fabs(value) > largest_accident) return std::nullopt;
  return candidate->value;
}

bool snap_numbers(Form& form, const Data& data, const Rows& rows, SnappedNumbers& result) {
  Refit first;
  if (!refit(form, data, rows, 40, first)) return false;
  const double n = static_cast<double>(rows.size());
  const std::vector<Number*> all = numbers(form);
  std::vector<FitConstant> constants(all.size());
  std::vector<bool> was_free(all.size(), false), refused(all.size(), false);
  const double t = quantile(std::max(2.0, n - static_cast<double>(first.deviations.size())));
  for (std::size_t k = 0, slot = 0; k < all.size(); ++k) {
    if (!all[k]->free) continue;
    was_free[k] = true;
    const double deviation = first.deviations[slot++], value = all[k]->value;
    constants[k].estimate = value;
    constants[k].low = value - t * deviation;
    constants[k].high = value + t * deviation;
  }
  const double floor = rounding_level * rounding_level;
  const double start = std::max(first.mse, floor);
  Refit now = first;
  for (;;) {
    std::size_t chosen = all.size();
    SimpleNumber simple;
    double least = largest_accident;
    for (std::size_t k = 0, slot = 0; k < all.size(); ++k) {
      if (!all[k]->free) continue;
      const double value = all[k]->value;
      const double tolerance = std::max(t * now.deviations[slot++], 1e-9 * std::fabs(value));
      if (refused[k]) continue;
      const std::optional<SimpleNumber> candidate = simple_number_near(value, tolerance);
      if (!candidate) continue;
      const double accident = 2 * candidate->density * tolerance / std::fabs(value);
      if (accident < least) least = accident, chosen = k, simple = *candidate;
    }
    if (chosen == all.size()) break;
    const Form before = form;
    *all[chosen] = {simple.value, false};
    Refit after;
    // Twelve: a rise that chance alone would give once in 2,000 times.
    if (refit(form, data, rows, 20, after) && n * std::log(std::max(after.mse, floor) / start) < 12) {
      now = after;
    } else {
      const std::vector<double> values = [&] {
        Form copy = before;
        std::vector<double> v;
        for (const Number* number : numbers(copy)) v.push_back(number->value);
        return v;
      }();
      for (std::size_t k = 0; k < all.size(); ++k) all[k]->value = values[k];
      all[chosen]->free = true;
      refused[chosen] = true;
    }
  }
  for (std::size_t k = 0, slot = 0; k < all.size(); ++k) {
    if (!was_free[k]) continue;
    constants[k].snapped = !all[k]->free;
    if (all[k]->free) all[k]->value = with_meaningful_digits(all[k]->value, now.deviations[slot++]);
    constants[k].value = all[k]->value;
    result.constants.push_back(constants[k]);
  }
  result.mse = Problem(form, data, rows).mse(free_values(form));
  return std::isfinite(result.mse);
}

// ---- powers --------------------------------------------------------------------------------------------------------

namespace {

std::vector<double*> odd_powers(Form& form) {
  std::vector<double*> result;
  const auto add = [&](double& power) {
    if (!is_whole(2 * power)) result.push_back(&power);
  };
  for (Product& product : form.products) {
    for (double& power : product.powers) add(power);
    for (auto& [sum, power] : product.sums) add(power);
  }
  for (InnerSum& sum : form.sums) {
    for (Term& term : sum.terms) {
      for (double& power : term.powers) add(power);
    }
  }
  return result;
}

}  // namespace

bool polish_powers(Form& form, const Data& data, const Rows& rows, std::vector<FitConstant>& powers) {
  const std::size_t count = odd_powers(form).size();
  if (count == 0) return true;
  // The error with one power at a value, and all numbers at their best for it.
  const auto error_at = [&](std::size_t k, double value, Form& fitted) {
    fitted = form;
    *odd_powers(fitted)[k] = value;
    Refit result;
    return refit(fitted, data, rows, 20, result) ? result.mse : infinity;
  };
  const double n = static_cast<double>(rows.size()), floor = rounding_level * rounding_level;
  std::vector<double> deviations(count, 0.0);
  for (int pass = 0; pass < 6; ++pass) {
    for (std::size_t k = 0; k < count; ++k) {
      // The bottom of the parabola through three errors.
      const double middle = *odd_powers(form)[k];
      const double step = pass == 0 ? 1e-2 : std::max(1e-7, deviations[k]);
      Form here, below, above;
      const double m = error_at(k, middle, here), l = error_at(k, middle - step, below),
                   h = error_at(k, middle + step, above);
      const double curvature = (l - 2 * m + h) / (step * step);
      if (!std::isfinite(curvature) || !(curvature > 0)) continue;
      const double better = middle - (h - l) / (2 * step) / curvature;
      if (std::fabs(better - middle) < 0.2 && error_at(k, better, below) < m) here = std::move(below);
      form = std::move(here);
      if (odd_powers(form).size() != count) return false;  // it became a multiple of 1/2 by chance
      deviations[k] = std::sqrt(2 * std::max(m, floor * 1e-6) / (n * curvature));
    }
  }
  const double t = quantile(std::max(2.0, n - static_cast<double>(count) - free_count(form)));
  std::vector<double> values;
  for (const double* power : odd_powers(form)) values.push_back(*power);
  for (std::size_t k = 0; k < count; ++k) {
    const double half = std::max(t * deviations[k], 1e-9);
    FitConstant constant{values[k], values[k], values[k] - half, values[k] + half, false};
    if (const std::optional<double> simple = simple_number(values[k], half))
      constant.value = *simple, constant.snapped = true;
    if (!constant.snapped) constant.value = with_meaningful_digits(values[k], deviations[k]);
    powers.push_back(constant);
  }
  std::vector<double*> places = odd_powers(form);
  for (std::size_t k = 0; k < count; ++k) *places[k] = powers[powers.size() - count + k].value;
  Refit last;
  return refit(form, data, rows, 20, last);
}

}  // namespace nalm::fitting
