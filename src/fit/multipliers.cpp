#include "fit/multipliers.hpp"

#include <algorithm>
#include <cmath>

#include "fit/refine.hpp"
#include "nalm/detail/portable.hpp"
#include "numeric/linear_algebra.hpp"

namespace nalm::fitting {

using namespace numeric;

namespace {

constexpr std::size_t rows_for_powers = 4000, fewest_rows_of_a_column = 20;
constexpr double largest_power_of_a_multiplier = 6;
// How far a power may be from a whole or half number, how well it must be known to be one by no accident, and how
// clearly nothing else may hang on the column. What passes by mistake costs time, and no more.
constexpr double largest_distance = 0.01, most_deviations_of_a_power = 2.6, largest_deviation = 0.06;
constexpr double most_deviations = 4.5;

struct Logarithms {
  Matrix of_columns;  // weighted, the constant last
  Vector of_target;   // weighted
  Vector weight;
};

// Small targets count little, as their errors are large in logarithms: in proportion to their size or, if `small` is
// above 0, only those that are not far above it. Nothing if a column is 0 somewhere.
std::optional<Logarithms> logarithms_of(const Data& data, const Rows& rows, double small) {
  const std::size_t I = data.inputs, n = rows.size();
  Logarithms logs{Matrix(n, I + 1), Vector(n, 0.0), Vector(n, 0.0)};
  for (std::size_t k = 0; k < n; ++k) {
    const double y = std::fabs(rows.y[k] / data.y_scale);
    if (y == 0) continue;
    const double size = y * rows.weight_of(k), weight = logs.weight[k] = small > 0 ? size / (size + small) : size;
    for (std::size_t i = 0; i < I; ++i) {
      if (rows.x[k][i] == 0) return std::nullopt;
      logs.of_columns(k, i) = weight * portable::log(std::fabs(rows.x[k][i] / data.x_scale[i]));
    }
    logs.of_columns(k, I) = weight;
    logs.of_target[k] = weight * portable::log(y);
  }
  return logs;
}

struct Regression {
  Vector factors, deviations;
};

// Errors are large where the target is, so that the deviations are those of White's estimate, which lets every row have
// its own.
Regression regression(const Matrix& A, const Vector& b) {
  Regression result{least_squares(A, b), Vector(A.columns, 0.0)};
  const Vector left = residuals(A, b, result.factors);
  const Matrix inverse = inverse_of_squares(A);
  for (std::size_t t = 0; t < A.columns; ++t) {
    Vector share(A.rows, 0.0);
    for (std::size_t s = 0; s < A.columns; ++s) add(share.data(), inverse(s, t), A.column(s), A.rows);
    for (std::size_t k = 0; k < A.rows; ++k) share[k] *= left[k];
    result.deviations[t] = std::sqrt(dot(share, share));
  }
  return result;
}

// A column that multiplies has a power whatever it and the others are: neither its square nor its products with them
// say more.
bool multiplies(std::size_t column, const Logarithms& logs) {
  const std::size_t I = logs.of_columns.columns - 1, n = logs.of_columns.rows;
  Matrix A(n, 2 * I + 1);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i <= I; ++i) A(k, i) = logs.of_columns(k, i);
    if (logs.weight[k] == 0) continue;
    for (std::size_t i = 0; i < I; ++i)
      A(k, I + 1 + i) = logs.of_columns(k, column) * logs.of_columns(k, i) / logs.weight[k];
  }
  const Regression found = regression(A, logs.of_target);
  for (std::size_t t = I + 1; t < A.columns; ++t)
    if (!(std::fabs(found.factors[t]) <= most_deviations * found.deviations[t] + 1e-9)) return false;
  return true;
}

}  // namespace

std::optional<Multipliers> multipliers_of(const Data& data, Powers allowed) {
  if (data.inputs < 2 || data.train.size() < fewest_rows_of_a_column * data.inputs) return std::nullopt;
  const Rows rows = rows_of(data, data.train, rows_for_powers);
  std::vector<double> sizes;
  for (std::size_t k = 0; k < rows.size(); ++k)
    sizes.push_back(std::fabs(rows.y[k] / data.y_scale) * rows.weight_of(k));
  std::sort(sizes.begin(), sizes.end());
  PowerList powers(data.inputs, 0.0);
  // Each way to weigh the rows sees columns that the other does not: the one if there is noise, the other if targets
  // are of many sizes.
  for (const double small : {0.0, 0.1 * sizes[sizes.size() / 2]}) {
    const std::optional<Logarithms> logs = logarithms_of(data, rows, small);
    if (!logs) return std::nullopt;
    const Regression found = regression(logs->of_columns, logs->of_target);
    for (std::size_t i = 0; i < data.inputs; ++i) {
      const bool whole = allowed == Powers::Integer || data.negative[i];
      const double power = whole ? std::round(found.factors[i]) : std::round(2 * found.factors[i]) / 2;
      const bool is_power =
          power != 0 && std::fabs(power) <= largest_power_of_a_multiplier && found.deviations[i] < largest_deviation &&
          std::fabs(found.factors[i] - power) <= largest_distance + most_deviations_of_a_power * found.deviations[i];
      if (powers[i] == 0 && is_power && multiplies(i, *logs)) powers[i] = power;
    }
  }
  Multipliers result{std::move(powers), {}};
  for (std::size_t i = 0; i < data.inputs; ++i)
    if (result.powers[i] == 0) result.rest.push_back(i);
  const bool some = result.rest.size() < data.inputs && !result.rest.empty();
  return some ? std::optional(std::move(result)) : std::nullopt;
}

Data divided_by(const Data& data, const Multipliers& multipliers) {
  std::vector<double> factors(data.rows, 1.0);
  for (std::size_t r = 0; r < data.rows; ++r) {
    for (std::size_t i = 0; i < data.inputs; ++i) {
      if (multipliers.powers[i] != 0) factors[r] *= portable::pow(data.row(r)[i], multipliers.powers[i]);
    }
  }
  Data rest = data;
  rest.inputs = multipliers.rest.size();
  rest.columns.clear();
  rest.x.clear();
  rest.x_scale.clear();
  rest.negative.clear();
  for (const std::size_t i : multipliers.rest) {
    rest.columns.push_back(data.columns[i]);
    rest.x_scale.push_back(data.x_scale[i]);
    rest.negative.push_back(data.negative[i]);
  }
  rest.units = data.units.divided_by(multipliers.powers, multipliers.rest);
  std::vector<double> roots(data.rows);
  for (std::size_t r = 0; r < data.rows; ++r) {
    for (const std::size_t i : multipliers.rest) rest.x.push_back(data.row(r)[i]);
    rest.y[r] /= factors[r];
    roots[r] = std::fabs(factors[r]) * data.weight_of(r);
  }
  use_weights(rest, std::move(roots), false);
  measure_target(rest);
  return rest;
}

Form multiplied_by(const Form& form, const Multipliers& multipliers) {
  const auto spread = [&](const PowerList& powers, bool multiplied) {
    PowerList all = multiplied ? multipliers.powers : PowerList(multipliers.powers.size(), 0.0);
    for (std::size_t k = 0; k < powers.size(); ++k) all[multipliers.rest[k]] = powers[k];
    return all;
  };
  Form result = form;
  for (Product& product : result.products) product.powers = spread(product.powers, true);
  for (InnerSum& sum : result.sums) {
    for (Term& term : sum.terms) term.powers = spread(term.powers, false);
  }
  return result;
}

}  // namespace nalm::fitting
