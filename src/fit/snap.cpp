#include "fit/snap.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fit/description.hpp"
#include "fit/simple_numbers.hpp"
#include "fit/tape.hpp"

namespace nalm::fitting {

namespace {

// 1 and -1 alone.
std::optional<SimpleNumber> one_or_nothing(double value, double tolerance) {
  const std::optional<SimpleNumber> simple = simple_number(value, tolerance);
  return simple && std::fabs(simple->value) == 1 ? simple : std::nullopt;
}

}  // namespace

std::optional<SnappedNumbers> snap_numbers(Form& form, const Data& data, const Rows& rows) {
  const std::optional<Refit> first = refit(form, data, rows, 40);
  if (!first) return std::nullopt;
  const double t = interval_reach(rows.size(), first->deviations.size());
  // A factor of 1 is no number at all: it may be off by as much as a number costs to describe.
  const double reach_of_one = std::sqrt(2 * cost_of_free_number(rows.size()));
  std::vector<Number*> open;  // those that were free
  for (Number* number : numbers(form)) {
    if (number->free) open.push_back(number);
  }
  SnappedNumbers result;
  for (std::size_t k = 0; k < open.size(); ++k) {
    const double value = open[k]->value, half = t * first->deviations[k];
    result.constants.push_back({value, value, value - half, value + half, false, slot_name(static_cast<int>(k))});
  }
  std::vector<bool> refused(open.size(), false);
  std::vector<double> deviations = first->deviations;  // of those that are still free
  for (;;) {
    std::size_t chosen = open.size();
    SimpleNumber simple{0, largest_accident};
    for (std::size_t k = 0, slot = 0; k < open.size(); ++k) {
      if (!open[k]->free) continue;
      const double value = open[k]->value;
      const double tolerance = std::max(t * deviations[slot++], 1e-9 * std::fabs(value));
      if (refused[k]) continue;
      std::optional<SimpleNumber> candidate = simple_number(value, tolerance);
      if (!candidate) candidate = one_or_nothing(value, std::max(tolerance, reach_of_one * deviations[slot - 1]));
      if (candidate && candidate->accident < simple.accident) chosen = k, simple = *candidate;
    }
    if (chosen == open.size()) break;
    std::vector<Number> before;
    for (const Number* number : open) before.push_back(*number);
    *open[chosen] = {simple.value, false};
    const std::optional<Refit> after = refit(form, data, rows, 20);
    if (after && rise_of_errors(after->mse, first->mse, rows.size()) < largest_rise) {
      deviations = after->deviations;
    } else {
      for (std::size_t k = 0; k < open.size(); ++k) *open[k] = before[k];
      refused[chosen] = true;
    }
  }
  for (std::size_t k = 0, slot = 0; k < open.size(); ++k) {
    if (open[k]->free) open[k]->value = with_meaningful_digits(open[k]->value, deviations[slot++]);
    result.constants[k].snapped = !open[k]->free;
    result.constants[k].value = open[k]->value;
  }
  result.mse = mean_squared_error(form, data, rows);
  return std::isfinite(result.mse) ? std::optional(std::move(result)) : std::nullopt;
}

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

std::optional<std::vector<FitConstant>> polish_powers(Form& form, const Data& data, const Rows& rows) {
  std::vector<FitConstant> constants;
  const std::size_t count = odd_powers(form).size();
  if (count == 0) return constants;
  // The error with one power at a value, and all numbers at their best for it.
  const auto error_at = [&](std::size_t k, double value, Form& fitted) {
    fitted = form;
    *odd_powers(fitted)[k] = value;
    const std::optional<Refit> result = refit(fitted, data, rows, 20);
    return result ? result->mse : infinity;
  };
  const double n = static_cast<double>(rows.size()), floor = 1e-6 * rounding_level * rounding_level;
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
      if (odd_powers(form).size() != count) return std::nullopt;  // it became a multiple of 1/2 by chance
      deviations[k] = std::sqrt(2 * std::max(m, floor) / (n * curvature));
    }
  }
  const double t = interval_reach(rows.size(), count + static_cast<std::size_t>(free_count(form)));
  const std::vector<double*> places = odd_powers(form);
  for (std::size_t k = 0; k < count; ++k) {
    const double value = *places[k], half = std::max(t * deviations[k], 1e-9);
    const std::optional<SimpleNumber> simple = simple_number(value, half);
    *places[k] = simple ? simple->value : with_meaningful_digits(value, deviations[k]);
    constants.push_back({*places[k], value, value - half, value + half, simple.has_value(), ""});
  }
  if (!refit(form, data, rows, 20)) return std::nullopt;
  return constants;
}

}  // namespace nalm::fitting
