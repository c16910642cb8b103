#include "fit/quadratic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fit/linear_algebra.hpp"

namespace nalm::fitting {

namespace {

constexpr std::size_t rows_per_term = 3;  // at least
constexpr std::size_t most_terms = 10;
constexpr double least_significance = 5;  // of a term, in standard deviations

// Rows of the linear problem, weighted so that its errors are those of y.
struct Problem {
  std::vector<PowerList> terms;
  Matrix A;
  Vector b;

  double mse(const Vector& factors) const {
    Vector errors = b;
    for (std::size_t t = 0; t < terms.size(); ++t) {
      for (std::size_t r = 0; r < A.rows; ++r) errors[r] -= A(r, t) * factors[t];
    }
    return dot(errors, errors) / static_cast<double>(A.rows);
  }
};

// 1, the columns that are not in the product, their squares and the products of two of them.
std::vector<PowerList> terms_without(const PowerList& product) {
  const std::size_t I = product.size();
  std::vector<PowerList> terms{PowerList(I, 0.0)};
  for (std::size_t i = 0; i < I; ++i) {
    if (product[i] != 0) continue;
    PowerList powers(I, 0.0);
    powers[i] = 1;
    terms.push_back(powers);
    for (std::size_t k = i; k < I; ++k) {
      if (product[k] != 0) continue;
      PowerList two = powers;
      two[k] += 1;
      terms.push_back(std::move(two));
    }
  }
  return terms;
}

double value_of(const PowerList& powers, const double* row, const Data& data) {
  double value = 1;
  for (std::size_t i = 0; i < powers.size(); ++i) {
    const double x = row[i] / data.x_scale[i];
    if (powers[i] == 1) value *= x;
    if (powers[i] == 2) value *= x * x;
    if (powers[i] == -1) value /= x;
  }
  return value;
}

std::optional<Problem> problem_of(const Data& data, const Rows& rows, const PowerList& product, double power) {
  Problem problem{terms_without(product), {}, Vector(rows.size())};
  if (problem.terms.size() * rows_per_term > rows.size()) return std::nullopt;
  problem.A = Matrix(rows.size(), problem.terms.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double y = rows.y[r] / data.y_scale;
    const double wanted = std::pow(y / value_of(product, rows.x[r], data), power);
    // dy/dwanted: an error of the polynomial comes to so much of y.
    const double weight = power == 1 ? y / wanted : y / (power * wanted);
    if (!std::isfinite(wanted) || !std::isfinite(weight)) return std::nullopt;
    problem.b[r] = weight * wanted;
    for (std::size_t t = 0; t < problem.terms.size(); ++t)
      problem.A(r, t) = weight * value_of(problem.terms[t], rows.x[r], data);
  }
  return problem;
}

// Leaves out the least significant term, one after the other.
Vector without_what_means_nothing(Problem& problem) {
  for (;;) {
    const Vector factors = least_squares(problem.A, problem.b);
    const double n = static_cast<double>(problem.A.rows), k = static_cast<double>(problem.terms.size());
    const double variance = problem.mse(factors) * n / std::max(1.0, n - k);
    const Vector spread = uncertainties(problem.A);
    std::size_t least = 0;
    double smallest = std::numeric_limits<double>::infinity();
    for (std::size_t t = 0; t < factors.size(); ++t) {
      const double significance = std::fabs(factors[t]) / std::sqrt(std::max(variance * std::fabs(spread[t]), 1e-300));
      if (!(significance >= smallest)) smallest = significance, least = t;
    }
    if (smallest >= least_significance || problem.terms.size() <= 1) return factors;
    problem.terms.erase(problem.terms.begin() + static_cast<std::ptrdiff_t>(least));
    const auto column = problem.A.values.begin() + static_cast<std::ptrdiff_t>(least * problem.A.rows);
    problem.A.values.erase(column, column + static_cast<std::ptrdiff_t>(problem.A.rows));
    --problem.A.columns;
  }
}

// No column, one, or two, in the numerator or the denominator.
std::vector<PowerList> products_of(std::size_t inputs) {
  std::vector<PowerList> result{PowerList(inputs, 0.0)};
  for (std::size_t i = 0; i < inputs; ++i) {
    for (const double a : {1.0, -1.0}) {
      PowerList one(inputs, 0.0);
      one[i] = a;
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

}  // namespace

std::optional<Form> quadratic_form(const Data& data, const Rows& rows, std::span<const double> powers) {
  std::optional<Problem> best;
  PowerList best_product;
  double best_power = 1, least = std::numeric_limits<double>::infinity();
  for (const PowerList& product : products_of(data.inputs)) {
    for (const double power : powers) {
      std::optional<Problem> problem = problem_of(data, rows, product, power);
      if (!problem) continue;
      const double mse = problem->mse(damped_least_squares(problem->A, problem->b, 1e-12));
      if (!(mse < least)) continue;
      least = mse, best = std::move(problem), best_product = product, best_power = power;
    }
  }
  if (!best) return std::nullopt;
  const Vector factors = without_what_means_nothing(*best);
  if (best->terms.size() > most_terms || !all_finite(factors)) return std::nullopt;

  const auto unscaled = [&](double factor, const PowerList& term) {
    for (std::size_t i = 0; i < term.size(); ++i) factor *= std::pow(data.x_scale[i], -term[i]);
    return factor;
  };
  Form form;
  form.sums.emplace_back();
  for (std::size_t t = 0; t < factors.size(); ++t)
    form.sums[0].terms.push_back({{unscaled(factors[t], best->terms[t]), true}, best->terms[t]});
  form.products.push_back({{unscaled(data.y_scale, best_product), true}, best_product, {{0, 1 / best_power}}});
  return form;
}

}  // namespace nalm::fitting
