#include "fit/compare.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/threads.hpp"
#include "fit/climb.hpp"
#include "fit/form_layers.hpp"
#include "fit/simple_numbers.hpp"
#include "fit/snap.hpp"
#include "fit/tape.hpp"
#include "nalm/detail/portable.hpp"
#include "numeric/linear_algebra.hpp"

namespace nalm::fitting {

using namespace numeric;

namespace {

constexpr std::size_t finalists = 4;

// x_a - x_b < 0, or x_a - limit < 0.
struct Condition {
  std::size_t a = 0;
  std::optional<std::size_t> b;
  double limit = 0;
  double mse = infinity;

  double value(const double* x) const { return x[a] - (b ? x[*b] : 0) - limit; }
};

struct SplitRows {
  Rows low, high;
};

SplitRows split(const Rows& rows, const Condition& condition) {
  SplitRows sides;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    Rows& side = condition.value(rows.x[k]) < 0 ? sides.low : sides.high;
    side.x.push_back(rows.x[k]);
    side.y.push_back(rows.y[k]);
    if (!rows.weight.empty()) side.weight.push_back(rows.weight[k]);
  }
  return sides;
}

// Sum of squares that the best sum of columns leaves.
double left_by_a_line(const Data& data, const Rows& rows) {
  Matrix A(rows.size(), data.inputs + 1);
  Vector b(rows.size());
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const double weight = rows.weight_of(k);
    for (std::size_t i = 0; i < data.inputs; ++i) A(k, i) = rows.x[k][i] / data.x_scale[i] * weight;
    A(k, data.inputs) = weight;
    b[k] = rows.y[k] / data.y_scale * weight;
  }
  // The better ones are fitted with care later; here a column that is a sum of others only must not break anything.
  constexpr double damping = 1e-10;
  const Vector left = residuals(A, b, damped_least_squares(A, b, damping));
  return dot(left, left);
}

void try_out(Condition& condition, const Data& data, const Rows& rows) {
  const SplitRows sides = split(rows, condition);
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

// One sum of columns.
struct Side {
  std::vector<double> factors;         // of the columns, and the constant term
  std::vector<FitConstant> constants;  // the numbers in it
  std::vector<std::size_t> places;     // which factor each of them is
  double length = 0;                   // description length

  // The factors as they stand in a formula: numbers, or variables in the place of the constants.
  std::vector<Expression> written(bool open) const {
    std::vector<Expression> result(factors.begin(), factors.end());
    for (std::size_t k = 0; open && k < constants.size(); ++k) {
      if (!constants[k].slot.empty()) result[places[k]] = Expression::variable(constants[k].slot);
    }
    return result;
  }
};

Expression sum_of(const std::vector<Expression>& factors, const std::vector<std::string>& columns) {
  Expression sum = 0.0;
  for (std::size_t i = 0; i < columns.size(); ++i) sum += factors[i] * Expression::variable(columns[i]);
  return sum + factors.back();
}

// A plain number.
Side flat_side(const Data& data, const Rows& rows) {
  const double n = static_cast<double>(rows.size());
  double mean = 0, total = 0, squares = 0;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const double weight = rows.weight_of(k) * rows.weight_of(k);
    mean += rows.y[k] * weight, total += weight;
  }
  mean /= total;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const double error = (rows.y[k] - mean) * rows.weight_of(k);
    squares += error * error;
  }
  const double reach = interval_reach(rows.size(), 1) * std::sqrt(squares / (n - 1) / total);
  const std::optional<SimpleNumber> simple = std::fabs(mean) <= std::max(reach, 1e-9 * data.y_scale)
                                                 ? SimpleNumber{0, 0}
                                                 : simple_number(mean, std::max(reach, 1e-9 * std::fabs(mean)));
  Side side;
  side.factors.assign(data.inputs + 1, 0.0);
  side.factors.back() = simple ? simple->value : with_meaningful_digits(mean, std::sqrt(squares / (n - 1) / total));
  side.constants.push_back({side.factors.back(), mean, mean - reach, mean + reach, simple.has_value(), ""});
  side.places.push_back(data.inputs);
  const Form flat{{}, {{{mean, true}, PowerList(data.inputs, 0.0), {}}}};
  side.length = description_length(flat, squares / n / (data.y_scale * data.y_scale), rows.size());
  return side;
}

// As few columns as describe the rows, or a plain number. Slots of the formula are numbered from the given one on.
Side fit_side(const Data& data, const Rows& rows, std::size_t first_slot) {
  Side side = flat_side(data, rows);
  const std::vector<std::string> any;
  const Judge judge{data, rows, Powers::Integer, any};
  std::optional<Scored> line = judge.measure(sum_of_columns(data));
  if (line) prune(judge, *line);
  if (line && line->form.sums.empty() && line->length < side.length) {
    if (std::optional<SnappedNumbers> numbers = snap_numbers(line->form, data, rows)) {
      side = {std::vector<double>(data.inputs + 1, 0.0),
              std::move(numbers->constants),
              {},
              description_length(line->form, numbers->mse, rows.size())};
      for (const Product& product : line->form.products) {
        const auto column = std::find_if(product.powers.begin(), product.powers.end(), [](double p) { return p != 0; });
        side.places.push_back(static_cast<std::size_t>(column - product.powers.begin()));
        side.factors[side.places.back()] += product.coefficient.value;
      }
    }
  }
  for (std::size_t k = 0; k < side.constants.size(); ++k) {
    const bool is_written = side.constants[k].value != 0;
    side.constants[k].slot = is_written ? slot_name(static_cast<int>(first_slot + k)) : "";
  }
  return side;
}

// S = the condition's left side, D = low - high, H = high, M = the factor; then M*D, M*D*sign(S), M*H; then
// M*H + M*D/2 - M*D*sign(S)/2.
Model layers_of(const Condition& condition, const std::vector<double>& low, const std::vector<double>& high,
                std::optional<std::size_t> factor, const Data& data) {
  Model model;
  model.columns = data.columns;
  std::vector<double> W;
  for (std::size_t i = 0; i < data.inputs; ++i) {
    W.push_back(i == condition.a ? 1 : condition.b && i == *condition.b ? -1 : 0);
    W.push_back(low[i] - high[i]);
    W.push_back(high[i]);
    W.push_back(factor && i == *factor ? 1 : 0);
  }
  W.insert(W.end(), {-condition.limit, low.back() - high.back(), high.back(), factor ? 0.0 : 1.0});
  add_layer(model, "Linear", data.inputs, 4, std::move(W));
  add_layer(model, "NRU-power", 4, 5,
            {1, 2, 0, 0, 0, /* D */ 0, 0, 1, 0, 0, /* H */ 0, 0, 0, 1, 0, /* M */ 0, 0, 0, 0, 1});
  add_layer(model, "NRU-power", 5, 3,
            {/* S */ 0, 1, 0, /* S^2 */ 0, -0.5, 0, /* D */ 1, 1, 0, /* H */ 0, 0, 1, /* M */ 1, 1, 1});
  add_layer(model, "Linear", 3, 1, {0.5, -0.5, 1, 0});
  return model;
}

Expression formula_of(const Condition& condition, const Side& low, const Side& high, std::optional<std::size_t> factor,
                      const Data& data, bool open) {
  std::vector<double> left(data.inputs + 1, 0.0);
  left[condition.a] = 1;
  if (condition.b) left[*condition.b] = -1;
  left.back() = -condition.limit;
  // high - low = k * (left side): the two meet where the condition changes, and one of them is always the larger.
  const double k = high.factors[condition.a] - low.factors[condition.a];
  double worst = 0, size = 0;
  for (std::size_t i = 0; i <= data.inputs; ++i) {
    worst = std::max(worst, std::fabs(high.factors[i] - low.factors[i] - k * left[i]));
    size = std::max({size, std::fabs(high.factors[i]), std::fabs(low.factors[i])});
  }
  const std::vector<Expression> l = low.written(open), h = high.written(open);
  Expression formula = sum_of(h, data.columns);
  if (k != 0 && worst <= 1e-9 * size) {
    const Expression other = sum_of(l, data.columns);
    formula = k > 0 ? max(other, formula) : min(other, formula);
  } else {
    std::vector<Expression> difference;
    for (std::size_t i = 0; i <= data.inputs; ++i) difference.push_back(l[i] - h[i]);
    formula += sum_of(difference, data.columns) * negative(sum_of({left.begin(), left.end()}, data.columns));
  }
  return factor ? Expression::variable(data.columns[*factor]) * formula : formula;
}

// The best comparison for target / factor.
std::optional<Finalist> compare_with_factor(const Data& data, const Rows& rows, const FitOptions& options,
                                            std::optional<std::size_t> factor) {
  std::optional<Finalist> best;
  Rows divided = rows;
  for (std::size_t k = 0; factor && k < rows.size(); ++k) divided.y[k] /= rows.x[k][*factor];
  if (!all_finite(divided.y)) return best;
  std::vector<Condition> conditions = column_conditions(data, divided);
  for (Condition& condition : conditions) try_out(condition, data, divided);
  for (std::size_t i = 0; i < data.inputs; ++i) conditions.push_back(best_limit(i, data, divided));
  std::stable_sort(conditions.begin(), conditions.end(),
                   [](const Condition& a, const Condition& b) { return a.mse < b.mse; });
  for (std::size_t k = 0; k < std::min(finalists, conditions.size()) && std::isfinite(conditions[k].mse); ++k) {
    const Condition& condition = conditions[k];
    const SplitRows sides = split(divided, condition);
    const Side low = fit_side(data, sides.low, 0), high = fit_side(data, sides.high, low.constants.size());
    Finalist compared;
    Candidate& c = compared.candidate;
    c.formula = formula_of(condition, low, high, factor, data, false);
    const std::vector<std::string> used = variables(c.formula);
    if (used.empty() || std::any_of(options.use.begin(), options.use.end(), [&](const std::string& name) {
          return std::find(used.begin(), used.end(), name) == used.end();
        })) {
      continue;
    }
    c.open_formula = formula_of(condition, low, high, factor, data, true);
    c.constants = low.constants;
    c.constants.insert(c.constants.end(), high.constants.begin(), high.constants.end());
    c.model = layers_of(condition, low.factors, high.factors, factor, data);
    const double unit = data.y_scale * data.y_scale;
    compared.mse = mean_squared_error(c.formula, data, rows) / unit;
    // The sides' descriptions without their errors, and those of the whole.
    const auto without_errors = [&](const Side& side, const Rows& of) {
      const double mse = mean_squared_error(sum_of(side.written(false), data.columns), data, of) / unit;
      return side.length - length_of_errors(mse, of.size());
    };
    compared.length = length_of_errors(compared.mse, rows.size()) + without_errors(low, sides.low) +
                      without_errors(high, sides.high) + 4 +
                      (factor ? 3.0 : 2.0) * portable::log(static_cast<double>(data.inputs));
    if (!condition.b) compared.length += 0.5 * portable::log(static_cast<double>(rows.size()));
    if (!best || compared.length < best->length) best = std::move(compared);
  }
  return best;
}

}  // namespace

std::optional<Finalist> compare(const Data& data, const Rows& rows, const FitOptions& options) {
  std::optional<Finalist> best;
  if (rows.size() < 4 * (data.inputs + 3)) return best;
  std::vector<std::optional<std::size_t>> factors = {std::nullopt};
  for (std::size_t i = 0; i < data.inputs && data.inputs <= 10; ++i) factors.push_back(i);
  std::vector<std::optional<Finalist>> compared(factors.size());
  parallel_for(static_cast<int>(factors.size()), options.threads, [&](int k) {
    const auto place = static_cast<std::size_t>(k);
    compared[place] = compare_with_factor(data, rows, options, factors[place]);
  });
  for (std::optional<Finalist>& c : compared)
    if (c && (!best || c->length < best->length)) best = std::move(c);
  return best;
}

}  // namespace nalm::fitting
