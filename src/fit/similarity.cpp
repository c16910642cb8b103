#include "fit/similarity.hpp"

#include <algorithm>
#include <cmath>

#include "nalm/detail/portable.hpp"
#include "numeric/linear_algebra.hpp"

namespace nalm::fitting {

using namespace numeric;

namespace {

constexpr std::size_t most_bases = 20000;  // that are tried
constexpr double no_difference = 1e-9;
// Of a regression that says which powers a factor has; what is guessed wrongly costs time, and no more.
constexpr std::size_t rows_of_a_regression = 2000, rows_of_an_unknown = 3;
constexpr double farthest_power = 0.2, largest_power_of_a_factor = 6;

Matrix matrix_of(const TableUnits& units, const std::vector<std::size_t>& columns) {
  Matrix A(formula::base_units, columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c)
    for (std::size_t k = 0; k < A.rows; ++k) A(k, c) = units.columns[columns[c]][k];
  return A;
}

std::size_t rank_of(const TableUnits& units) {
  Basis basis;
  std::size_t rank = 0;
  for (const Dimension& dimension : units.columns) rank += basis.add({dimension.begin(), dimension.end()}) ? 1 : 0;
  return rank;
}

// The powers of the basis whose product has this dimension; nothing if there are none.
std::optional<Vector> powers_of(const Matrix& basis, const Dimension& dimension) {
  const Vector wanted(dimension.begin(), dimension.end());
  if (basis.columns == 0) return is_pure(dimension) ? std::optional(Vector{}) : std::nullopt;
  Vector powers = least_squares(basis, wanted);
  for (double& power : powers)
    if (const double twelfth = std::round(12 * power) / 12; std::fabs(power - twelfth) < no_difference) power = twelfth;
  const Vector left = residuals(basis, wanted, powers);
  return dot(left, left) < no_difference ? std::optional(std::move(powers)) : std::nullopt;
}

struct TriedBasis {
  std::vector<std::size_t> columns;
  std::vector<Vector> powers;  // of every column of the table, and perhaps of the target
  double cost = infinity;
};

// Whole powers of few columns are best: roots of the products would be roots of roots.
double cost_of(double power, bool negative, Powers allowed) {
  if (power == 0) return 0;
  if (is_whole(power)) return std::fabs(power);
  return negative || allowed == Powers::Integer ? infinity : is_whole(2 * power) ? 4 : 20;
}

TriedBasis tried(const Data& data, std::vector<std::size_t> columns, Powers allowed, bool with_target) {
  TriedBasis result{std::move(columns), {}, infinity};
  const Matrix A = matrix_of(data.units, result.columns);
  double cost = 0;
  for (std::size_t i = 0; i < data.inputs + (with_target ? 1 : 0); ++i) {
    const std::optional<Vector> powers = powers_of(A, i < data.inputs ? data.units.columns[i] : data.units.target);
    if (!powers) return result;
    for (std::size_t b = 0; b < powers->size(); ++b)
      cost += cost_of((*powers)[b], data.negative[result.columns[b]], allowed);
    result.powers.push_back(*powers);
  }
  for (const std::size_t c : result.columns) cost += data.negative[c] ? 3 : 0;
  result.cost = cost;
  return result;
}

// Of all sets of so many columns whose units the others are made of, the one with the simplest powers.
TriedBasis best_basis(const Data& data, Powers allowed, bool with_target) {
  const std::size_t rank = rank_of(data.units);
  std::vector<std::size_t> usable;
  for (std::size_t c = 0; c < data.inputs; ++c) {
    const std::vector<double> values = data.column(c);
    if (!is_pure(data.units.columns[c]) && std::none_of(values.begin(), values.end(), [](double x) { return x == 0; }))
      usable.push_back(c);
  }
  TriedBasis best;
  std::size_t count = 0;
  std::vector<std::size_t> chosen;
  const auto extend = [&](auto&& self, std::size_t first) -> void {
    if (chosen.size() == rank) {
      if (++count > most_bases) return;
      TriedBasis next = tried(data, chosen, allowed, with_target);
      if (next.cost < best.cost) best = std::move(next);
      return;
    }
    for (std::size_t k = first; k < usable.size() && count <= most_bases; ++k) {
      chosen.push_back(usable[k]);
      self(self, k + 1);
      chosen.pop_back();
    }
  };
  extend(extend, 0);
  return best;
}

std::vector<double> values_of_product(const PowerList& powers, const Data& data) {
  std::vector<double> values(data.rows, 1.0);
  for (std::size_t r = 0; r < data.rows; ++r)
    for (std::size_t i = 0; i < powers.size(); ++i)
      if (powers[i] != 0) values[r] *= portable::pow(data.row(r)[i], powers[i]);
  return values;
}

bool product_varies(const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return *high - *low > 1e-12 * std::max(std::fabs(*low), std::fabs(*high));
}

PowerList product_of(const TriedBasis& basis, const Vector& powers, double times, std::size_t columns) {
  PowerList result(columns, 0.0);
  for (std::size_t b = 0; b < basis.columns.size(); ++b) result[basis.columns[b]] = times * powers[b];
  return result;
}

// The dimensionless products of a basis that vary; nothing if one has no finite value on a row.
std::optional<std::vector<PowerList>> products_without_units(const TriedBasis& basis, const Data& data) {
  std::vector<PowerList> result;
  for (std::size_t i = 0; i < data.inputs; ++i) {
    if (std::find(basis.columns.begin(), basis.columns.end(), i) != basis.columns.end()) continue;
    PowerList product = product_of(basis, basis.powers[i], -1, data.inputs);
    product[i] += 1;
    const std::vector<double> values = values_of_product(product, data);
    if (!all_finite(values)) return std::nullopt;
    if (product_varies(values)) result.push_back(std::move(product));
  }
  return result;
}

// The powers of the basis in a regression of the target's logarithm on those of the basis and of the products, and on
// their squares: what hangs on the products need not be a product. Small targets count little, as their errors are
// large there. Nothing if there are too few rows, or a product is 0 somewhere.
std::optional<Vector> powers_by_rows(const TriedBasis& basis, const std::vector<PowerList>& products,
                                     const Data& data) {
  const std::size_t B = basis.columns.size(), K = products.size(), unknown = 1 + B + K + K * (K + 1) / 2;
  const std::size_t n = std::min(rows_of_a_regression, data.train.size());
  if (n < rows_of_an_unknown * unknown) return std::nullopt;
  std::vector<std::vector<double>> values;
  for (const PowerList& product : products) values.push_back(values_of_product(product, data));
  Matrix A(n, unknown);
  Vector b(n, 0.0);
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t r = data.train[k * data.train.size() / n];
    const double y = std::fabs(data.y[r] / data.y_scale), weight = y * data.weight_of(r);
    if (y == 0) continue;
    Vector row{1};
    for (const std::size_t c : basis.columns) row.push_back(portable::log(std::fabs(data.row(r)[c] / data.x_scale[c])));
    for (std::size_t i = 0; i < K; ++i) row.push_back(portable::log(std::fabs(values[i][r])));
    for (std::size_t i = 0; i < K; ++i)
      for (std::size_t j = i; j < K; ++j) row.push_back(row[1 + B + i] * row[1 + B + j]);
    if (!all_finite(row)) return std::nullopt;
    for (std::size_t t = 0; t < unknown; ++t) A(k, t) = weight * row[t];
    b[k] = weight * portable::log(y);
  }
  const Vector found = least_squares(A, b);
  return Vector(found.begin() + 1, found.begin() + 1 + static_cast<std::ptrdiff_t>(B));
}

}  // namespace

std::optional<Similarity> similarity_of(const Data& data, Powers allowed) {
  if (!data.units.given()) return std::nullopt;
  const TriedBasis basis = best_basis(data, allowed, true);
  if (!std::isfinite(basis.cost)) return std::nullopt;
  std::optional<std::vector<PowerList>> products = products_without_units(basis, data);
  if (!products) return std::nullopt;
  return Similarity{std::move(*products), product_of(basis, basis.powers.back(), 1, data.inputs)};
}

std::optional<Similarity> similarity_but_for_a_factor(const Data& data, Powers allowed) {
  if (!data.units.given()) return std::nullopt;
  const TriedBasis basis = best_basis(data, allowed, false);
  if (!std::isfinite(basis.cost)) return std::nullopt;
  std::optional<std::vector<PowerList>> products = products_without_units(basis, data);
  if (!products) return std::nullopt;
  std::optional<Vector> powers = powers_by_rows(basis, *products, data);
  if (!powers) return std::nullopt;
  for (std::size_t b = 0; b < powers->size(); ++b) {
    double& power = (*powers)[b];
    const bool whole = allowed == Powers::Integer || data.negative[basis.columns[b]];
    const double nearest = whole ? std::round(power) : std::round(2 * power) / 2;
    if (!(std::fabs(power - nearest) < farthest_power) || std::fabs(nearest) > largest_power_of_a_factor)
      return std::nullopt;
    power = nearest;
  }
  Similarity result{std::move(*products), product_of(basis, *powers, 1, data.inputs)};
  if (is_pure(data.units.of_product(result.factor, -1))) return std::nullopt;
  return result;
}

Data without_units(const Data& data, const Similarity& similarity) {
  Data rest = data;
  rest.units = {};
  rest.inputs = similarity.products.size();
  rest.columns.clear();
  rest.x.assign(rest.inputs * data.rows, 0.0);
  rest.x_scale.clear();
  rest.negative.clear();
  for (std::size_t k = 0; k < rest.inputs; ++k) {
    const std::vector<double> values = values_of_product(similarity.products[k], data);
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t r = 0; r < data.rows; ++r) {
      rest.x[r * rest.inputs + k] = values[r];
      if (values[r] != 0) sum += portable::log(std::fabs(values[r])), ++count;
    }
    rest.columns.push_back("product " + std::to_string(k + 1));  // with_units() puts the columns in its place
    rest.x_scale.push_back(count > 0 ? portable::exp(sum / static_cast<double>(count)) : 1);
    rest.negative.push_back(std::any_of(values.begin(), values.end(), [](double x) { return x < 0; }));
  }
  if (is_constant(similarity.factor)) return rest;
  const std::vector<double> factor = values_of_product(similarity.factor, data);
  std::vector<double> roots(data.rows);
  for (std::size_t r = 0; r < data.rows; ++r) {
    rest.y[r] /= factor[r];
    roots[r] = std::fabs(factor[r]) * data.weight_of(r);
  }
  use_weights(rest, std::move(roots), false);
  measure_target(rest);
  return rest;
}

std::optional<Form> with_units(const Form& form, const Similarity& similarity) {
  if (!form.outer.empty() && !is_constant(similarity.factor)) return std::nullopt;
  const std::size_t K = similarity.products.size(), I = similarity.factor.size();
  // Atoms stand behind the columns, there as here.
  const auto of_columns = [&](const PowerList& powers) {
    PowerList result(I, 0.0);
    for (std::size_t k = 0; k < K; ++k) add_powers(result, similarity.products[k], powers[k]);
    result.insert(result.end(), powers.begin() + static_cast<std::ptrdiff_t>(K), powers.end());
    return result;
  };
  Form result = form;
  for (Product& product : result.products) {
    product.powers = of_columns(product.powers);
    for (std::size_t i = 0; i < I; ++i) product.powers[i] += similarity.factor[i];
  }
  for (InnerSum& sum : result.sums)
    for (Term& term : sum.terms) term.powers = of_columns(term.powers);
  for (Atom& atom : result.atoms)
    for (Term& term : atom.argument.terms) term.powers = of_columns(term.powers);
  return result;
}

}  // namespace nalm::fitting
