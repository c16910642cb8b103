#include "fit/polynomials.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "nalm/detail/portable.hpp"
#include "numeric/linear_algebra.hpp"

namespace nalm::fitting {

using namespace numeric;

namespace {

constexpr std::size_t rows_per_term = 3;  // at least
constexpr std::size_t rows_per_exact_term = 2, most_terms_of_a_degree = 36, most_terms_below = 10;
constexpr std::size_t most_terms = 10;
constexpr double least_significance = 5;  // of a term, in standard deviations

// ---- products and terms --------------------------------------------------------------------------------------------

// No column, one, or two, in the numerator or the denominator.
std::vector<PowerList> products_of(std::size_t inputs) {
  std::vector<PowerList> result{PowerList(inputs, 0.0)};
  for (std::size_t i = 0; i < inputs; ++i) {
    for (const double a : {1.0, -1.0}) {
      PowerList one = power_of_column(inputs, i, a);
      result.push_back(one);
      for (std::size_t k = i + 1; k < inputs; ++k) {
        for (const double b : {1.0, -1.0}) {
          one[k] = b;
          result.push_back(one);
        }
        one[k] = 0;
      }
    }
  }
  return result;
}

// 1, the columns that are not in the product, their squares and the products of two of them.
std::vector<PowerList> terms_without(const PowerList& product) {
  const std::size_t I = product.size();
  std::vector<PowerList> terms{PowerList(I, 0.0)};
  for (std::size_t i = 0; i < I; ++i) {
    if (product[i] != 0) continue;
    terms.push_back(power_of_column(I, i, 1));
    for (std::size_t k = i; k < I; ++k) {
      if (product[k] != 0) continue;
      terms.push_back(power_of_column(I, i, 1));
      terms.back()[k] += 1;
    }
  }
  return terms;
}

// All products of columns with at most so many factors. Those with fewer come first.
std::vector<PowerList> terms_up_to(int degree, std::size_t inputs) {
  std::vector<PowerList> terms{PowerList(inputs, 0.0)};
  std::size_t begin = 0;
  for (int d = 1; d <= degree; ++d) {
    const std::size_t end = terms.size();
    for (std::size_t t = begin; t < end; ++t) {
      std::size_t last = inputs;
      while (last > 0 && terms[t][last - 1] == 0) --last;
      for (std::size_t i = last > 0 ? last - 1 : 0; i < inputs; ++i) {
        PowerList term = terms[t];
        ++term[i];
        terms.push_back(std::move(term));
      }
    }
    begin = end;
  }
  return terms;
}

double value_of(const PowerList& powers, const double* row, const Data& data) {
  double value = 1;
  for (std::size_t i = 0; i < powers.size(); ++i) {
    if (powers[i] == 0) continue;
    const double x = row[i] / data.x_scale[i];
    for (double power = powers[i]; power > 0; --power) value *= x;
    if (powers[i] == -1) value /= x;
  }
  return value;
}

// A number of the scaled data in the units of the data.
double unscaled(double factor, const PowerList& term, const Data& data) {
  for (std::size_t i = 0; i < term.size(); ++i) factor *= portable::pow(data.x_scale[i], -term[i]);
  return factor;
}

// ---- what the polynomials must give --------------------------------------------------------------------------------

// dy / d(y / factor)^power. A square near 0 must not outweigh all others: its noise is not that small.
double weight_of_power(double y, double factor, double power) {
  constexpr double small = 0.1;
  const double size = power > 1 ? std::max(y, small) : y;
  return size / (power * portable::pow(size / factor, power));
}

struct Wanted {
  std::vector<PowerList> above, below;
  Matrix above_values, below_values;  // row by row
  Vector goal;                        // (y / product)^power
  Vector weight;                      // dy/dgoal: an error of the goal comes to so much of y
};

Matrix values_of(const std::vector<PowerList>& terms, const Data& data, const Rows& rows) {
  Matrix values(rows.size(), terms.size());
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t t = 0; t < terms.size(); ++t) values(r, t) = value_of(terms[t], rows.x[r], data);
  return values;
}

// Without terms below there is no denominator.
std::optional<Wanted> wanted(const Data& data, const Rows& rows, const PowerList& product, double power,
                             std::vector<PowerList> above, std::vector<PowerList> below) {
  Wanted w{std::move(above), std::move(below), {}, {}, Vector(rows.size()), Vector(rows.size())};
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double y = rows.y[r] / data.y_scale, factor = value_of(product, rows.x[r], data);
    if (std::fabs(power) != 1 && !(y / factor > 0)) {
      w.goal[r] = w.weight[r] = 0;  // by noise
    } else {
      w.goal[r] = power == 1 ? y / factor : portable::pow(y / factor, power);
      w.weight[r] = (power == 1 ? factor : weight_of_power(y, factor, power)) * rows.weight_of(r);
    }
    if (!std::isfinite(w.goal[r]) || !std::isfinite(w.weight[r])) return std::nullopt;
  }
  w.above_values = values_of(w.above, data, rows);
  w.below_values = values_of(w.below, data, rows);
  return w;
}

// ---- leaving out ---------------------------------------------------------------------------------------------------

// A x = b; each column of A is a term of the numerator or of the denominator.
struct Linear {
  struct Column {
    PowerList powers;
    bool below;
  };
  std::vector<Column> columns;
  Matrix A;
  Vector b;

  void add(PowerList powers, bool below, const Vector& values) {
    columns.push_back({std::move(powers), below});
    A.values.insert(A.values.end(), values.begin(), values.end());
    A.rows = values.size();
    ++A.columns;
  }
  void remove(std::size_t k) {
    columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(k));
    const auto first = A.values.begin() + static_cast<std::ptrdiff_t>(k * A.rows);
    A.values.erase(first, first + static_cast<std::ptrdiff_t>(A.rows));
    --A.columns;
  }
};

double mean_squared_error(const Matrix& A, const Vector& b, const Vector& x) {
  const Vector errors = residuals(A, b, x);
  return dot(errors, errors) / static_cast<double>(A.rows);
}

// Leaves out the least significant term, one after the other.
Vector without_what_means_nothing(Linear& problem) {
  for (;;) {
    const Vector x = least_squares(problem.A, problem.b);
    const double n = static_cast<double>(problem.A.rows), k = static_cast<double>(x.size());
    const double variance = mean_squared_error(problem.A, problem.b, x) * n / std::max(1.0, n - k);
    const Vector spread = uncertainties(problem.A);
    std::size_t least = 0;
    double smallest = infinity;
    for (std::size_t t = 0; t < x.size(); ++t) {
      const double significance = std::fabs(x[t]) / std::sqrt(std::max(variance * std::fabs(spread[t]), 1e-300));
      if (!(significance >= smallest)) smallest = significance, least = t;
    }
    if (smallest >= least_significance || x.size() <= 1) return x;
    problem.remove(least);
  }
}

// What is left of the terms of the numerator.
std::optional<Form> form_of_polynomial(Linear problem, const PowerList& product, double power, const Data& data) {
  const Vector x = without_what_means_nothing(problem);
  if (x.size() > most_terms || !all_finite(x)) return std::nullopt;
  Form form;
  form.sums.emplace_back();
  for (std::size_t t = 0; t < x.size(); ++t) {
    const PowerList& powers = problem.columns[t].powers;
    form.sums[0].terms.push_back({{unscaled(x[t], powers, data), true}, powers});
  }
  form.products.push_back({{unscaled(data.y_scale, product, data), true}, product, {{0, 1 / power}}});
  return form;
}

Linear numerator_of(const Wanted& w) {
  const std::size_t n = w.goal.size();
  Linear problem;
  for (std::size_t t = 0; t < w.above.size(); ++t) {
    Vector column(n);
    for (std::size_t r = 0; r < n; ++r) column[r] = w.weight[r] * w.above_values(r, t);
    problem.add(w.above[t], false, column);
  }
  for (std::size_t r = 0; r < n; ++r) problem.b.push_back(w.weight[r] * w.goal[r]);
  return problem;
}

// goal * denominator = numerator. Of what the best numerator leaves of goal * denominator, the share is a quotient of
// quadratic forms in the denominator's factors: its smallest value is a generalised eigenvalue.
std::optional<SmallestRatio> denominator_of(const Wanted& w, const Rows& rows) {
  const std::size_t T = w.below.size(), n = rows.size();
  Matrix X(n, T), values = w.above_values;
  for (std::size_t t = 0; t < w.above.size(); ++t)
    for (std::size_t r = 0; r < n; ++r) values(r, t) *= rows.weight_of(r);
  for (std::size_t t = 0; t < T; ++t)
    for (std::size_t r = 0; r < n; ++r) X(r, t) = w.goal[r] * w.below_values(r, t) * rows.weight_of(r);
  Matrix left(T, T), whole(T, T);
  for (std::size_t t = 0; t < T; ++t) {
    const Vector column(X.column(t), X.column(t) + n);
    const Vector rest = residuals(values, column, damped_least_squares(values, column, 1e-12));
    for (std::size_t s = 0; s < T; ++s) {
      left(s, t) = dot(X.column(s), rest.data(), n);
      whole(s, t) = dot(X.column(s), X.column(t), n);
    }
  }
  for (std::size_t t = 0; t < T; ++t) {
    whole(t, t) *= 1 + 1e-12;
    for (std::size_t s = 0; s < t; ++s) left(s, t) = left(t, s) = 0.5 * (left(s, t) + left(t, s));
  }
  return smallest_ratio(left, whole);
}

// With one factor of the denominator as 1 the rest is linear. Errors are weighted as those of y.
std::optional<Form> form_of_ratio(const Wanted& w, const Vector& below, const PowerList& product, double power,
                                  const Data& data) {
  const std::size_t n = w.goal.size(), T = w.below.size();
  Vector denominator(n, 0.0);
  std::size_t pivot = 0;
  double largest = 0;
  for (std::size_t t = 0; t < T; ++t) {
    const double size = std::fabs(below[t]) * std::sqrt(dot(w.below_values.column(t), w.below_values.column(t), n));
    if (size > largest) largest = size, pivot = t;
    for (std::size_t r = 0; r < n; ++r) denominator[r] += below[t] * w.below_values(r, t);
  }
  const auto weighted = [&](const Matrix& values, std::size_t t, double sign, bool times_goal) {
    Vector column(n);
    for (std::size_t r = 0; r < n; ++r) {
      const double weight = w.weight[r] * below[pivot] / denominator[r];
      column[r] = sign * weight * values(r, t) * (times_goal ? w.goal[r] : 1);
    }
    return column;
  };
  Linear problem;
  for (std::size_t t = 0; t < w.above.size(); ++t)
    problem.add(w.above[t], false, weighted(w.above_values, t, 1, false));
  for (std::size_t t = 0; t < T; ++t)
    if (t != pivot) problem.add(w.below[t], true, weighted(w.below_values, t, -1, true));
  problem.b = weighted(w.below_values, pivot, 1, true);
  if (!all_finite(problem.A.values) || !all_finite(problem.b)) return std::nullopt;
  const Vector x = without_what_means_nothing(problem);
  if (x.size() > most_terms || !all_finite(x)) return std::nullopt;
  Form form;
  form.sums.resize(2);
  form.sums[1].terms.push_back({{unscaled(1, w.below[pivot], data), true}, w.below[pivot]});
  for (std::size_t t = 0; t < x.size(); ++t) {
    const auto& [powers, is_below] = problem.columns[t];
    form.sums[is_below ? 1 : 0].terms.push_back({{unscaled(x[t], powers, data), true}, powers});
  }
  if (form.sums[0].terms.empty()) return std::nullopt;
  form.products.push_back({{unscaled(data.y_scale, product, data), true}, product, {{0, 1 / power}, {1, -1 / power}}});
  return form;
}

}  // namespace

std::optional<Form> quadratic_form(const Data& data, const Rows& rows, double power) {
  std::optional<Linear> best;
  PowerList best_product;
  double least = infinity;
  for (const PowerList& product : products_of(data.inputs)) {
    std::vector<PowerList> terms = terms_without(product);
    if (terms.size() * rows_per_term > rows.size()) continue;
    const std::optional<Wanted> w = wanted(data, rows, product, power, std::move(terms), {});
    if (!w) continue;
    Linear problem = numerator_of(*w);
    const double mse = mean_squared_error(problem.A, problem.b, damped_least_squares(problem.A, problem.b, 1e-12));
    if (mse < least) least = mse, best = std::move(problem), best_product = product;
  }
  if (!best) return std::nullopt;
  return form_of_polynomial(std::move(*best), best_product, power, data);
}

std::optional<Form> rational_form(const Data& data, const Rows& rows, double power) {
  std::optional<Wanted> best;
  PowerList best_product;
  Vector below;
  double least = infinity;
  for (const PowerList& product : products_of(data.inputs)) {
    const std::vector<PowerList> terms = terms_without(product);
    if (2 * terms.size() * rows_per_term > rows.size()) continue;
    std::optional<Wanted> w = wanted(data, rows, product, power, terms, terms);
    if (!w) continue;
    const std::optional<SmallestRatio> share = denominator_of(*w, rows);
    if (!share || !(std::max(share->ratio, 0.0) < least)) continue;
    least = std::max(share->ratio, 0.0), best = std::move(w), best_product = product, below = share->x;
  }
  if (!best) return std::nullopt;
  return form_of_ratio(*best, below, best_product, power, data);
}

std::vector<Degrees> degrees_for(std::size_t inputs, std::size_t rows) {
  constexpr int highest = 8, highest_below = 4;
  std::vector<std::pair<std::size_t, Degrees>> sorted;
  for (int below = 0; below <= highest_below; ++below) {
    const std::size_t B = below > 0 ? terms_up_to(below, inputs).size() : 0;
    if (B > most_terms_below) break;
    for (int above = below > 0 ? 1 : 3; above <= highest; ++above) {
      const std::size_t terms = B + terms_up_to(above, inputs).size();
      if (terms > most_terms_of_a_degree || terms * rows_per_exact_term > rows) break;
      sorted.push_back({terms, {above, below}});
    }
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Degrees> result;
  for (const auto& [terms, degrees] : sorted) result.push_back(degrees);
  return result;
}

std::optional<Form> form_of_degrees(const Data& data, const Rows& rows, const Degrees& degrees) {
  const PowerList one(data.inputs, 0.0);
  const std::optional<Wanted> w =
      wanted(data, rows, one, 1, terms_up_to(degrees.above, data.inputs),
             degrees.below > 0 ? terms_up_to(degrees.below, data.inputs) : std::vector<PowerList>{});
  if (!w) return std::nullopt;
  if (degrees.below == 0) return form_of_polynomial(numerator_of(*w), one, 1, data);
  const std::optional<SmallestRatio> share = denominator_of(*w, rows);
  if (!share) return std::nullopt;
  return form_of_ratio(*w, share->x, one, 1, data);
}

}  // namespace nalm::fitting
