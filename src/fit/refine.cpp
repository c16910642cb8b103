#include "fit/refine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fit/form_algebra.hpp"
#include "fit/tape.hpp"
#include "numeric/levenberg_marquardt.hpp"
#include "numeric/student.hpp"

namespace nalm::fitting {

using namespace numeric;

namespace {

// A formula with slots on some rows: values and derivatives, block by block.
class Residuals {
 public:
  Residuals(const Expression& formula, const Data& data, const Rows& rows)
      : tape_(formula, data.columns, 0, rows.x), rows_(rows), scale_(1) {}
  Residuals(const Expression& formula, std::size_t slots, const Data& data, const Rows& rows)
      : tape_(formula, data.columns, static_cast<int>(slots), rows.x), rows_(rows), scale_(1 / data.y_scale) {}
  Residuals(const Form& form, const Data& data, const Rows& rows)
      : tape_(to_expression(form, data.columns, data.negative, true), data.columns, free_count(form), rows.x),
        rows_(rows),
        scale_(1 / data.y_scale) {}

  double mse(const Vector& values) {
    double sum = 0, y[Tape::block];
    for_each_block([&](std::size_t first, std::size_t count) {
      tape_.run(first, count, values, y);
      for (std::size_t k = 0; k < count; ++k) {
        const double r = (y[k] - rows_.y[first + k]) * scale_ * rows_.weight_of(first + k);
        sum += r * r;
      }
    });
    return std::isnan(sum) ? infinity : sum / static_cast<double>(rows_.size());
  }

  void linearise(const Vector& values, Vector& r, Matrix& J) {
    J = Matrix(rows_.size(), values.size());
    r.resize(rows_.size());
    double y[Tape::block];
    std::vector<double> d(values.size() * Tape::block);
    for_each_block([&](std::size_t first, std::size_t count) {
      tape_.run(first, count, values, y, d.data());
      for (std::size_t k = 0; k < count; ++k)
        r[first + k] = (y[k] - rows_.y[first + k]) * scale_ * rows_.weight_of(first + k);
      for (std::size_t s = 0; s < values.size(); ++s) {
        for (std::size_t k = 0; k < count; ++k)
          J(first + k, s) = d[s * Tape::block + k] * scale_ * rows_.weight_of(first + k);
      }
    });
  }

 private:
  template <class Visit>
  void for_each_block(Visit visit) {
    for (std::size_t first = 0; first < rows_.size(); first += Tape::block) {
      visit(first, std::min(Tape::block, rows_.size() - first));
    }
  }

  Tape tape_;
  const Rows& rows_;
  double scale_;
};

}  // namespace

Rows rows_of(const Data& data, const std::vector<std::size_t>& indices, std::size_t at_most) {
  Rows rows;
  const std::size_t count = std::min(at_most, indices.size());
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t r = indices[k * indices.size() / count];
    rows.x.push_back(data.row(r));
    rows.y.push_back(data.y[r]);
    if (!data.weight.empty()) rows.weight.push_back(data.weight[r]);
  }
  return rows;
}

namespace {

// The least squares, and the slopes there with columns of length 1.
struct Settled {
  Minimum best;
  Matrix slopes;
  Vector lengths;
};

std::optional<Settled> settle(Residuals& residuals, Vector values, int steps) {
  const LeastSquaresProblem problem{[&](const std::vector<Vector>& trials) { return Vector{residuals.mse(trials[0])}; },
                                    [&](const Vector& at, Vector& r, Matrix& J) { residuals.linearise(at, r, J); }};
  Minimum best = minimise(problem, std::move(values),
                          {.steps = steps, .failures = 8, .least_gain = 1e-9, .damping = {.start = 1e-6}});
  Vector r;
  Matrix J;
  residuals.linearise(best.parameters, r, J);
  if (!best.regular || !all_finite(J.values) || !all_finite(r) || !std::isfinite(best.error)) return std::nullopt;
  // One step without the loss of digits of the normal equations, and the error bars.
  const Vector lengths = normalise_columns(J), direction = least_squares(J, r);
  Vector last = best.parameters;
  for (std::size_t s = 0; s < last.size(); ++s) last[s] -= direction[s] / lengths[s];
  // A number that makes no difference, as c in 1^c, may have gone anywhere.
  if (const double error = residuals.mse(last); all_finite(last) && error <= best.error) best = {last, error, true};
  return Settled{std::move(best), std::move(J), lengths};
}

// With noise the numbers of (a - b)^2 + (c - d)^2 are not quite 1, -2, 1, and its root has no value where it is nearly
// 0: rounded to halves of the first one they may give a start that has.
bool round_under_roots(Form& form) {
  constexpr double nearly = 0.1;
  bool rounded = false;
  for (std::size_t s = 0; s < form.sums.size(); ++s) {
    if (has_whole_powers(form, s)) continue;
    const double first = form.sums[s].terms[0].coefficient.value;
    for (Term& term : form.sums[s].terms) {
      const double ratio = term.coefficient.value / first, half = std::round(2 * ratio) / 2;
      if (!term.coefficient.free || half == ratio || !(std::fabs(ratio - half) < nearly * std::fabs(half))) continue;
      term.coefficient.value = half * first;
      rounded = true;
    }
  }
  return rounded;
}

double variance_of(double mse, std::size_t rows, std::size_t fitted) {
  const double n = static_cast<double>(rows);
  return mse * n / std::max(1.0, n - static_cast<double>(fitted));
}

Matrix covariance_of(const Matrix& slopes, const Vector& lengths, double variance) {
  Matrix result = inverse_of_squares(slopes);
  for (std::size_t i = 0; i < result.rows; ++i) {
    for (std::size_t j = 0; j < result.columns; ++j) result(i, j) *= variance / (lengths[i] * lengths[j]);
  }
  return result;
}

}  // namespace

std::optional<Linearised> linearised(const Form& form, const Data& data, const Rows& rows) {
  Linearised result;
  Residuals(form, data, rows).linearise(free_values(form), result.errors, result.slopes);
  if (!all_finite(result.slopes.values) || !all_finite(result.errors)) return std::nullopt;
  return result;
}

std::optional<Refit> refit(Form& form, const Data& data, const Rows& rows, int steps) {
  Residuals residuals(form, data, rows);
  Vector values = free_values(form);
  if (values.empty()) {
    const double mse = residuals.mse(values);
    return std::isfinite(mse) ? std::optional<Refit>({mse, {}}) : std::nullopt;
  }
  std::optional<Settled> settled = settle(residuals, std::move(values), steps);
  if (!settled && round_under_roots(form)) settled = settle(residuals, free_values(form), steps);
  if (!settled) return std::nullopt;
  const auto& [best, J, lengths] = *settled;
  set_free_values(form, best.parameters);
  const double variance = variance_of(best.error, rows.size(), lengths.size());
  Refit result{best.error, uncertainties(J)};
  for (std::size_t s = 0; s < lengths.size(); ++s) {
    result.deviations[s] = std::sqrt(std::max(0.0, variance * result.deviations[s])) / lengths[s];
  }
  return result;
}

std::optional<Solved> solve(const Expression& formula, std::vector<double>& values, const Data& data, const Rows& rows,
                            int steps) {
  Residuals residuals(formula, values.size(), data, rows);
  if (values.empty()) {
    const double mse = residuals.mse(values);
    return std::isfinite(mse) ? std::optional<Solved>({mse, {}}) : std::nullopt;
  }
  const std::optional<Settled> settled = settle(residuals, values, steps);
  if (!settled) return std::nullopt;
  values = settled->best.parameters;
  const double variance = variance_of(settled->best.error, rows.size(), values.size());
  return Solved{settled->best.error, covariance_of(settled->slopes, settled->lengths, variance)};
}

double mean_squared_error(const Expression& formula, const std::vector<double>& values, const Data& data,
                          const Rows& rows) {
  return Residuals(formula, values.size(), data, rows).mse(values);
}

std::optional<Matrix> covariance_at(const Expression& formula, const std::vector<double>& values, const Data& data,
                                    const Rows& rows) {
  Residuals residuals(formula, values.size(), data, rows);
  Vector r;
  Matrix J;
  residuals.linearise(values, r, J);
  if (!all_finite(J.values) || !all_finite(r)) return std::nullopt;
  const Vector lengths = normalise_columns(J);
  return covariance_of(J, lengths, variance_of(residuals.mse(values), rows.size(), values.size()));
}

double mean_squared_error(const Expression& formula, const Data& data, const Rows& rows) {
  return Residuals(formula, data, rows).mse({});
}

double mean_squared_error(const Form& form, const Data& data, const Rows& rows) {
  return Residuals(form, data, rows).mse(free_values(form));
}

double interval_reach(std::size_t rows, std::size_t fitted) {
  return student_quantile(0.995, rows > fitted ? static_cast<double>(rows - fitted) : 1);
}

}  // namespace nalm::fitting
