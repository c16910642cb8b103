#include "fit/compare.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "fit/climb.hpp"
#include "fit/linear_algebra.hpp"
#include "fit/trust.hpp"

namespace nalm::fitting {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t finalists = 4;

// x_a - x_b < 0, or x_a - limit < 0.
struct Condition {
  std::size_t a = 0;
  std::optional<std::size_t> b;
  double limit = 0;
  double mse = infinity;

  double value(const double* x) const { return x[a] - (b ? x[*b] : 0) - limit; }
};

struct Sides {
  Rows low, high;
};

Sides split(const Rows& rows, const Condition& condition) {
  Sides sides;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    Rows& side = condition.value(rows.x[k]) < 0 ? sides.low : sides.high;
    side.x.push_back(rows.x[k]);
    side.y.push_back(rows.y[k]);
  }
  return sides;
}

// Sum of squares that the best sum of columns leaves.
double left_by_a_line(const Data& data, const Rows& rows) {
  Matrix A(rows.size(), data.inputs + 1);
  Vector b(rows.size());
  for (std::size_t k = 0; k < rows.size(); ++k) {
    for (std::size_t i = 0; i < data.inputs; ++i) A(k, i) = rows.x[k][i] / data.x_scale[i];
    A(k, data.inputs) = 1;
    b[k] = rows.y[k] / data.y_scale;
  }
  const Vector factors = least_squares(A, b);
  for (std::size_t c = 0; c < A.columns; ++c) {
    for (std::size_t k = 0; k < A.rows; ++k) b[k] -= factors[c] * A(k, c);
  }
  return dot(b, b);
}

void try_out(Condition& condition, const Data& data, const Rows& rows) {
  const Sides sides = split(rows, condition);
  const std::size_t fewest = std::max<std::size_t>(data.inputs + 3, rows.size() / 20);
  if (sides.low.size() < fewest || sides.high.size() < fewest) return;
  condition.mse =
      (left_by_a_line(data, sides.low) + left_by_a_line(data, sides.high)) / static_cast<double>(rows.size());
}

// Where two columns can be equal, the comparison is moved halfway to the next value, so that no row lies on it.
std::vector<Condition> column_conditions(const Data& data, const Rows& rows) {
  std::vector<Condition> result;
  for (std::size_t a = 0; a < data.inputs; ++a) {
    for (std::size_t b = a + 1; b < data.inputs; ++b) {
      Condition condition{a, b};
      double least = infinity;
      bool equal = false;
      for (const double* x : rows.x) {
        const double distance = std::fabs(condition.value(x));
        equal = equal || distance == 0;
        if (distance > 0) least = std::min(least, distance);
      }
      if (!equal || !std::isfinite(least)) {
        result.push_back(condition);
        continue;
      }
      for (const double side : {0.5, -0.5}) {
        condition.limit = side * least;
        result.push_back(condition);
      }
    }
  }
  return result;
}

// The number between two values that is shortest to write.
double simplest_between(double low, double high) {
  if (low < 0 && high > 0) return 0;
  for (int digits = 1; digits < 17; ++digits) {
    const double candidate = with_digits((low + high) / 2, digits);
    if (candidate > low && candidate < high) return candidate;
  }
  return (low + high) / 2;
}

Condition best_limit(std::size_t column, const Data& data, const Rows& rows) {
  std::vector<double> values;
  for (const double* x : rows.x) values.push_back(x[column]);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  Condition best{.a = column, .b = {}};
  if (values.size() < 4) return best;
  const auto between = [&](std::size_t k) {
    Condition c{.a = column, .b = {}};
    c.limit = simplest_between(values[k - 1], values[k]);
    try_out(c, data, rows);
    return c;
  };
  // Every twentieth place first, then all places around the best of these.
  const std::size_t stride = std::max<std::size_t>(1, values.size() / 20);
  std::size_t place = 1;
  for (std::size_t k = 1; k < values.size(); k += stride) {
    if (const Condition c = between(k); c.mse < best.mse) best = c, place = k;
  }
  const std::size_t from = place > stride ? place - stride : 1, to = std::min(values.size() - 1, place + stride);
  const std::size_t step = std::max<std::size_t>(1, (to - from) / 60);
  for (std::size_t k = from; k <= to; k += step) {
    if (const Condition c = between(k); c.mse < best.mse) best = c;
  }
  return best;
}

// Factors of the columns, then the constant.
std::vector<double> factors_of(const Form& form, std::size_t columns) {
  std::vector<double> result(columns + 1, 0.0);
  for (const Product& product : form.products) {
    std::size_t place = columns;
    for (std::size_t i = 0; i < columns; ++i) place = product.powers[i] != 0 ? i : place;
    result[place] += product.coefficient.value;
  }
  return result;
}

Expression sum_of(const std::vector<double>& factors, const std::vector<std::string>& columns) {
  Expression sum = 0.0;
  for (std::size_t i = 0; i < columns.size(); ++i) sum += factors[i] * Expression::variable(columns[i]);
  return sum + factors.back();
}

// One side: as few columns as describe it, or a plain number.
bool fit_side(const Data& data, const Rows& rows, std::vector<double>& factors, double& length,
              std::vector<FitConstant>& constants) {
  const std::vector<std::string> any;
  const Judge judge{data, rows, Powers::Integer, any};
  double mean = 0, squares = 0;
  for (const double y : rows.y) mean += y;
  mean /= static_cast<double>(rows.size());
  for (const double y : rows.y) squares += (y - mean) * (y - mean);
  const double flat_mse = squares / static_cast<double>(rows.size()) / (data.y_scale * data.y_scale);
  Form flat;
  flat.products.push_back({{mean, true}, PowerList(data.inputs, 0.0), {}});
  length = description_length(flat, flat_mse, rows.size());
  factors.assign(data.inputs + 1, 0.0);
  const double deviation = std::sqrt(squares / static_cast<double>(rows.size() * rows.size()));
  const std::optional<double> simple = std::fabs(mean) <= std::max(3 * deviation, 1e-9 * data.y_scale)
                                           ? std::optional<double>(0.0)
                                           : simple_number(mean, std::max(2.6 * deviation, 1e-9 * std::fabs(mean)));
  factors.back() = simple.value_or(mean);
  std::vector<FitConstant> flat_constants{
      {factors.back(), mean, mean - 2.6 * deviation, mean + 2.6 * deviation, simple.has_value()}};

  Form form = sum_of_columns(data);
  double mse = 0, form_length = 0;
  bool plain = judge.measure(form, mse, form_length);
  if (plain) prune(judge, form, mse, form_length);
  plain = plain && form.sums.empty() && form_length < length;
  SnappedNumbers numbers;
  if (plain && snap_numbers(form, data, rows, numbers)) {
    length = description_length(form, numbers.mse, rows.size());
    factors = factors_of(form, data.inputs);
    flat_constants = numbers.constants;
  }
  constants.insert(constants.end(), flat_constants.begin(), flat_constants.end());
  return true;
}

// S = the condition's left side, D = low - high, H = high, M = the factor; then M*D, M*D*sign(S), M*H; then
// M*H + M*D/2 - M*D*sign(S)/2.
Model layers_of(const Condition& condition, const std::vector<double>& low, const std::vector<double>& high,
                std::optional<std::size_t> factor, const Data& data) {
  const int n = static_cast<int>(data.inputs);
  Model model;
  const auto add = [&](const char* module, int inputs, int outputs, std::vector<double> parameters) {
    const ModuleInfo* info = *find_module(module);
    model.layers.push_back({info, default_shape(*info, inputs, outputs), std::move(parameters)});
  };
  std::vector<double> W;
  for (std::size_t i = 0; i < data.inputs; ++i) {
    W.push_back(i == condition.a ? 1 : condition.b && i == *condition.b ? -1 : 0);
    W.push_back(low[i] - high[i]);
    W.push_back(high[i]);
    W.push_back(factor && i == *factor ? 1 : 0);
  }
  W.insert(W.end(), {-condition.limit, low.back() - high.back(), high.back(), factor ? 0.0 : 1.0});
  add("Linear", n, 4, std::move(W));
  add("NRU-power", 4, 5, {1, 2, 0, 0, 0, /* D */ 0, 0, 1, 0, 0, /* H */ 0, 0, 0, 1, 0, /* M */ 0, 0, 0, 0, 1});
  add("NRU-power", 5, 3, {/* S */ 0, 1, 0, /* S^2 */ 0, -0.5, 0, /* D */ 1, 1, 0, /* H */ 0, 0, 1, /* M */ 1, 1, 1});
  add("Linear", 3, 1, {0.5, -0.5, 1, 0});
  model.columns = data.columns;
  return model;
}

Expression formula_of(const Condition& condition, const std::vector<double>& low, const std::vector<double>& high,
                      const Data& data) {
  std::vector<double> left(data.inputs + 1, 0.0);
  left[condition.a] = 1;
  if (condition.b) left[*condition.b] = -1;
  left.back() = -condition.limit;
  // high - low = k * (left side): the two meet where the condition changes, and one of them is always the larger.
  double k = 0, worst = 0, size = 0;
  std::vector<double> difference(data.inputs + 1);
  for (std::size_t i = 0; i <= data.inputs; ++i) difference[i] = high[i] - low[i];
  k = difference[condition.a];
  for (std::size_t i = 0; i <= data.inputs; ++i) {
    worst = std::max(worst, std::fabs(difference[i] - k * left[i]));
    size = std::max({size, std::fabs(high[i]), std::fabs(low[i])});
  }
  const Expression low_sum = sum_of(low, data.columns), high_sum = sum_of(high, data.columns);
  if (k != 0 && worst <= 1e-9 * size) return k > 0 ? max(low_sum, high_sum) : min(low_sum, high_sum);
  for (double& d : difference) d = -d;
  return high_sum + sum_of(difference, data.columns) * negative(sum_of(left, data.columns));
}

}  // namespace

namespace {

// The best comparison for target / factor.
void compare_with_factor(const Data& data, const Rows& rows, const FitOptions& options,
                         std::optional<std::size_t> factor, std::optional<Compared>& best) {
  Rows divided = rows;
  for (std::size_t k = 0; factor && k < rows.size(); ++k) divided.y[k] /= rows.x[k][*factor];
  if (std::any_of(divided.y.begin(), divided.y.end(), [](double y) { return !std::isfinite(y); })) return;
  std::vector<Condition> conditions = column_conditions(data, divided);
  for (Condition& condition : conditions) try_out(condition, data, divided);
  for (std::size_t i = 0; i < data.inputs; ++i) conditions.push_back(best_limit(i, data, divided));
  std::stable_sort(conditions.begin(), conditions.end(),
                   [](const Condition& a, const Condition& b) { return a.mse < b.mse; });
  for (std::size_t k = 0; k < std::min(finalists, conditions.size()) && std::isfinite(conditions[k].mse); ++k) {
    const Sides sides = split(divided, conditions[k]);
    std::vector<double> low, high;
    double low_length = 0, high_length = 0;
    Compared compared;
    if (!fit_side(data, sides.low, low, low_length, compared.constants)) continue;
    if (!fit_side(data, sides.high, high, high_length, compared.constants)) continue;
    compared.formula = formula_of(conditions[k], low, high, data);
    if (factor) compared.formula = Expression::variable(data.columns[*factor]) * compared.formula;
    const std::vector<std::string> used = variables(compared.formula);
    if (used.empty() || std::any_of(options.use.begin(), options.use.end(), [&](const std::string& name) {
          return std::find(used.begin(), used.end(), name) == used.end();
        })) {
      continue;
    }
    compared.model = layers_of(conditions[k], low, high, factor, data);
    const double unit = data.y_scale * data.y_scale;
    compared.mse = mean_squared_error(compared.formula, data, rows) / unit;
    // The sides' descriptions without their errors, and those of the whole.
    const auto errors_only = [&](double mse, std::size_t n) { return description_length({}, mse, n); };
    const double low_mse = mean_squared_error(sum_of(low, data.columns), data, sides.low) / unit;
    const double high_mse = mean_squared_error(sum_of(high, data.columns), data, sides.high) / unit;
    compared.length = errors_only(compared.mse, rows.size()) + low_length - errors_only(low_mse, sides.low.size()) +
                      high_length - errors_only(high_mse, sides.high.size()) + 4 +
                      (factor ? 3.0 : 2.0) * std::log(static_cast<double>(data.inputs));
    if (!conditions[k].b) compared.length += 0.5 * std::log(static_cast<double>(rows.size()));
    if (!best || compared.length < best->length) best = std::move(compared);
  }
}

}  // namespace

std::optional<Compared> compare(const Data& data, const Rows& rows, const FitOptions& options) {
  std::optional<Compared> best;
  if (rows.size() < 4 * (data.inputs + 3)) return best;
  compare_with_factor(data, rows, options, std::nullopt, best);
  for (std::size_t i = 0; i < data.inputs && data.inputs <= 10; ++i) compare_with_factor(data, rows, options, i, best);
  return best;
}

}  // namespace nalm::fitting
