#include "fit/groups.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fit/description.hpp"
#include "fit/refine.hpp"
#include "fit/tangent.hpp"
#include "fit/trust.hpp"

namespace nalm::fitting {

using namespace numeric;

namespace {

constexpr int rounds_of_groups = 3;
constexpr double as_short = 0.1;        // nats
constexpr double standing_still = 0.5;  // standard errors of a constant
constexpr double rounding = 1e-12;

using Constants = std::vector<double>;  // one per group, that of the first being 1 or 0

// The constants of the means.
Constants first_guess(const Data& data, bool added) {
  std::vector<double> sums(data.groups.size(), 0.0), counts(data.groups.size(), 0.0);
  for (std::size_t r = 0; r < data.rows; ++r) {
    const double weight = data.weight_of(r) * data.weight_of(r);
    sums[data.group[r]] += weight * data.y[r];
    counts[data.group[r]] += weight;
  }
  Constants constants;
  for (std::size_t g = 0; g < sums.size(); ++g) {
    const double mean = sums[g] / counts[g], first = sums[0] / counts[0], ratio = mean / first;
    constants.push_back(added ? mean - first : std::isfinite(ratio) && ratio > 0 ? ratio : 1);
  }
  return constants;
}

// Errors stay those of the target: what is divided by a factor counts that factor times as much.
Data without_constants(const Data& data, const Constants& constants, bool added) {
  Data rest = data;
  if (!added) rest.weight.assign(data.rows, 1.0);
  for (std::size_t r = 0; r < data.rows; ++r) {
    const double constant = constants[data.group[r]];
    rest.y[r] = added ? data.y[r] - constant : data.y[r] / constant;
    if (!added) rest.weight[r] = data.weight_of(r) * std::fabs(constant);
  }
  measure_target(rest);
  return rest;
}

// Of a formula that is taken as it is, so that each group's constant is a problem of its own; the first group's
// interval is that of the others' unit.
struct GroupConstants {
  Constants constants, deviations;
  double mse = infinity;  // in units of the target's size
};

GroupConstants constants_for(const Expression& formula, const Data& data, bool added) {
  const std::vector<double> f = predictions(formula, data);
  const std::size_t groups = data.groups.size();
  GroupConstants found{Constants(groups, added ? 0.0 : 1.0), Constants(groups, 0.0)};
  std::vector<double> above(groups, 0.0), below(groups, 0.0);
  for (std::size_t r = 0; r < data.rows; ++r) {
    const double weight = data.weight_of(r) * data.weight_of(r), slope = added ? 1 : f[r];
    above[data.group[r]] += weight * slope * (added ? data.y[r] - f[r] : data.y[r]);
    below[data.group[r]] += weight * slope * slope;
  }
  for (std::size_t g = 0; g < groups; ++g) found.constants[g] = above[g] / below[g];
  double squares = 0;
  for (std::size_t r = 0; r < data.rows; ++r) {
    const double constant = found.constants[data.group[r]];
    const double error = (added ? f[r] + constant : f[r] * constant) - data.y[r], weighted = error * data.weight_of(r);
    squares += weighted * weighted;
  }
  const double n = static_cast<double>(data.rows), variance = squares / std::max(1.0, n - static_cast<double>(groups));
  if (!std::isfinite(squares)) return found;
  found.mse = squares / n / (data.y_scale * data.y_scale);
  const double first = found.constants[0], first_variance = variance / below[0];
  for (std::size_t g = 0; g < groups; ++g) {
    const double own = variance / below[g];
    if (added) {
      found.constants[g] -= first;
      found.deviations[g] = g == 0 ? 0 : std::sqrt(own + first_variance);
    } else {
      const double ratio = found.constants[g] / first;
      found.deviations[g] = g == 0 ? 0 : std::sqrt(own + ratio * ratio * first_variance) / std::fabs(first);
      found.constants[g] = ratio;
    }
  }
  return found;
}

// What the constants come to if the formula's own numbers move with them: a few steps of least squares for all of them.
Constants beside_its_numbers(Candidate candidate, const Data& data, Constants constants, bool added) {
  constexpr int steps = 6;
  const std::size_t others = constants.size() - 1;
  Places places;
  for (std::size_t r = 0; r < data.rows; ++r) places.x.push_back(data.row(r)), places.row.push_back(r);
  double whole = added ? 0 : 1;  // beside the formula
  for (int step = 0; step < steps; ++step) {
    const Tangent tangent(candidate, data, places);
    const std::vector<Vector>& derivatives = tangent.derivatives();
    Matrix A(data.rows, others + 1 + derivatives.size());
    Vector b, sizes;
    for (std::size_t r = 0; r < data.rows; ++r) {
      const double f = tangent.values()[r], constant = constants[data.group[r]], weight = data.weight_of(r);
      if (data.group[r] > 0) A(r, data.group[r] - 1) = weight * (added ? 1 : whole * f);
      A(r, others) = weight * (added ? 1 : constant * f);
      for (std::size_t k = 0; k < derivatives.size(); ++k)
        A(r, others + 1 + k) = weight * (added ? 1 : whole * constant) * derivatives[k][r];
      b.push_back(weight * (data.y[r] - (added ? f + whole + constant : whole * f * constant)));
    }
    for (std::size_t k = 0; k < A.columns; ++k) {
      sizes.push_back(std::sqrt(dot(A.column(k), A.column(k), A.rows)));
      for (std::size_t r = 0; r < A.rows; ++r) A(r, k) /= sizes[k];
    }
    if (!all_finite(A.values) || !all_finite(b)) break;
    const Vector moved = damped_least_squares(A, b, 1e-12);
    for (std::size_t g = 0; g < others; ++g) constants[g + 1] += moved[g] / sizes[g];
    whole += moved[others] / sizes[others];
    for (FitConstant& c : candidate.constants) {
      if (c.slot.empty()) continue;
      const std::size_t k = others + 1 + static_cast<std::size_t>(slot_number(c.slot));
      c.value += moved[k] / sizes[k];
    }
  }
  return constants;
}

struct Attempt {
  Fit fit;
  Data data;
  GroupConstants found;
  double length = infinity;
};

Result<Attempt> attempt(const Data& data, bool added, const std::function<Result<Fit>(const Data&)>& run) {
  Constants constants = first_guess(data, added);
  Attempt best;
  for (int round = 0; round < rounds_of_groups; ++round) {
    Data rest = without_constants(data, constants, added);
    Result<Fit> fit = run(rest);
    if (!fit) return fit.error();
    if (fit->candidates.empty()) {
      if (round == 0) best.fit = std::move(*fit), best.data = std::move(rest);
      break;
    }
    const bool cut = fit->cut;
    GroupConstants found = constants_for(fit->best().formula, data, added);
    const double length = length_of_errors(found.mse, data.rows) + 2 * fit->best().size;
    const Constants next = beside_its_numbers(fit->best(), data, found.constants, added);
    bool still = true;
    for (std::size_t g = 0; g < constants.size(); ++g) {
      const double moved = std::fabs(next[g] - constants[g]), size = added ? data.y_deviation : constants[g];
      still = still && moved <= std::max(standing_still * found.deviations[g], rounding * std::fabs(size));
    }
    constants = next;
    const bool usable = std::isfinite(found.mse) &&
                        (added || std::all_of(constants.begin(), constants.end(), [](double c) { return c > 0; }));
    // The constants were measured with this formula, and are beside the next one when its own are fitted: so the later
    // one of two that are as short.
    if (usable && (length < best.length + as_short || best.fit.candidates.empty()))
      best = {std::move(*fit), std::move(rest), std::move(found), length};
    if (!usable || still || cut) break;
  }
  return best;
}

}  // namespace

Result<Fit> fit_groups(Data& data, const FitOptions& options, const std::function<Result<Fit>(const Data&)>& run) {
  Result<Attempt> factors = attempt(data, false, run);
  if (!factors) return factors.error();
  Result<Attempt> offsets = attempt(data, true, run);
  if (!offsets) return offsets.error();
  const bool added = offsets->length < factors->length;
  Attempt& best = added ? *offsets : *factors;
  Fit fit = std::move(best.fit);
  fit.groups.column = options.by;
  fit.groups.added = added;
  const double reach = interval_reach(data.rows, data.groups.size());
  for (std::size_t g = 0; g < best.found.constants.size(); ++g) {
    const double value = best.found.constants[g], half = reach * best.found.deviations[g];
    const auto rows = static_cast<std::size_t>(std::count(data.group.begin(), data.group.end(), g));
    fit.groups.groups.push_back({data.groups[g], rows, value, value - half, value + half});
  }
  data = std::move(best.data);
  return fit;
}

}  // namespace nalm::fitting
