#include "fit/stack_fit.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <stop_token>

#include <fmt/format.h>

#include "base/random.hpp"
#include "fit/description.hpp"
#include "fit/refine.hpp"
#include "fit/simple_numbers.hpp"
#include "fit/tape.hpp"
#include "fit/trust.hpp"
#include "formula/rewrite.hpp"
#include "nalm/detail/portable.hpp"
#include "nalm/train.hpp"
#include "numeric/linear_algebra.hpp"

namespace nalm::fitting {

using namespace numeric;

namespace {

constexpr int stack_restarts = 24;
constexpr long chunk = 1000;  // iterations between looks at the clock
constexpr std::size_t rows_for_errors = 256;
constexpr double longest_formula = 1000;
constexpr std::chrono::seconds to_finish(1);  // of the restarts when the fit is cut, those that can be read by then

// Layers with weights in [-1, 1] need inputs that are not far from 1; one scale for all columns keeps sums sums.
double common_scale(const Data& data) {
  double sum = 0;
  for (const double scale : data.x_scale) sum += portable::log(scale);
  const double mean = portable::exp(sum / static_cast<double>(data.inputs));
  return mean > 0.2 && mean < 20 ? 1 : mean;
}

struct Subset {
  std::vector<double> x, y;
};

Subset subset(const Data& data, std::size_t at_most, double scale) {
  Subset result;
  const std::size_t count = std::min(at_most, data.train.size());
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t r = data.train[k * data.train.size() / count];
    for (std::size_t i = 0; i < data.inputs; ++i) result.x.push_back(data.row(r)[i] / scale);
    result.y.push_back(data.y[r]);
  }
  return result;
}

// Weights that are kept within bounds, rounded to whole numbers.
Model nearest_weights(Model model) {
  for (Layer& layer : model.layers) {
    std::size_t next = 0;
    for (const ParameterInfo& p : layer.module->parameters) {
      if (!is_present(p, layer.shape)) continue;
      const int n = size_of(*layer.module, p.axes, layer.shape);
      for (int k = 0; k < n; ++k, ++next) {
        if (p.clamp) layer.parameters[next] = std::round(layer.parameters[next]);
      }
    }
  }
  return model;
}

// Least squares for some of the columns; the numbers of the others stay.
struct Solution {
  Vector values, half_widths;  // of 99 % intervals; 0 for what stays
  double mse = 0;
};

Solution solve(const Matrix& A, const Vector& b, Vector values, const std::vector<bool>& free) {
  Matrix part;
  part.rows = A.rows;
  Vector fixed = values;
  std::vector<std::size_t> which;
  for (std::size_t k = 0; k < A.columns; ++k) {
    if (!free[k]) continue;
    fixed[k] = 0;
    which.push_back(k);
    part.values.insert(part.values.end(), A.column(k), A.column(k) + A.rows);
    ++part.columns;
  }
  Vector rest = residuals(A, b, fixed), found, spread;
  if (!which.empty()) found = least_squares(part, rest), spread = uncertainties(part);
  rest = residuals(part, rest, found);
  const double n = static_cast<double>(A.rows), squares = dot(rest, rest);
  const double variance = squares / std::max(1.0, n - static_cast<double>(which.size()));
  Solution result{std::move(values), Vector(A.columns, 0.0), squares / n};
  for (std::size_t k = 0; k < which.size(); ++k) {
    const double half = interval_reach(A.rows, which.size()) * std::sqrt(std::max(0.0, variance * spread[k]));
    result.values[which[k]] = found[k];
    result.half_widths[which[k]] = std::isfinite(half) ? half : 0;
  }
  return result;
}

// A model whose last layer is fitted to the rows.
struct Refitted {
  Model model;
  std::vector<FitConstant> constants;  // one per number of the last layer
  double mse = infinity;
};

// Its mse is infinite if there are no finite numbers.
Refitted refit_last_layer(Model model, const Subset& rows, double y_scale) {
  Refitted result;
  Model below = model;
  below.layers.pop_back();
  const Result<std::vector<double>> outputs =
      below.layers.empty() ? Result<std::vector<double>>(rows.x) : predict(below, rows.x, Precision::Double);
  if (!outputs) return result;
  const std::size_t n = rows.y.size(), K = static_cast<std::size_t>(model.layers.back().shape.inputs);
  Matrix A(n, K + 1);
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t k = 0; k < K; ++k) A(r, k) = (*outputs)[r * K + k];
    A(r, K) = 1;
  }
  if (!all_finite(A.values)) return result;
  std::vector<bool> free(K + 1, true);
  Solution last = solve(A, rows.y, Vector(K + 1, 0.0), free);
  if (!all_finite(last.values)) return result;
  for (std::size_t k = 0; k <= K; ++k) {
    const double value = last.values[k], half = last.half_widths[k];
    result.constants.push_back({value, value, value - half, value + half, false, slot_name(static_cast<int>(k))});
  }
  const double unit = y_scale * y_scale, start = last.mse / unit;
  for (std::size_t k = 0; k <= K; ++k) {
    // The constant term may vanish, too.
    const double value = last.values[k], size = k == K ? y_scale : std::fabs(value);
    const double tolerance = std::max(last.half_widths[k], 1e-9 * size);
    const std::optional<SimpleNumber> simple =
        std::fabs(value) <= tolerance ? SimpleNumber{0, 0} : simple_number(value, tolerance);
    if (!simple) continue;
    Vector values = last.values;
    values[k] = simple->value;
    free[k] = false;
    const Solution other = solve(A, rows.y, std::move(values), free);
    result.constants[k].snapped = rise_of_errors(other.mse / unit, start, n) < largest_rise;
    free[k] = !result.constants[k].snapped;
    if (!free[k]) last = other;
  }
  for (std::size_t k = 0; k <= K; ++k) result.constants[k].value = last.values[k];
  model.layers.back().parameters = last.values;
  result.model = std::move(model);
  result.mse = last.mse / unit;
  if (!std::isfinite(result.mse)) result.mse = infinity;
  return result;
}

// The formula of the layers below with variables for the numbers of the last one.
Expression open_formula(Model model, const std::vector<FitConstant>& constants, const Data& data, bool literal) {
  model.layers.pop_back();
  std::vector<Expression> outputs;
  for (const std::string& column : data.columns) outputs.push_back(Expression::variable(column));
  if (!model.layers.empty()) {
    outputs = (literal ? literal_formula(model, data.columns) : ideal_formula(model, data.columns))->outputs;
  }
  outputs.push_back(1.0);
  Expression sum = 0.0;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (constants[k].value != 0) sum += Expression::variable(constants[k].slot) * outputs[k];
  }
  return sum;
}

// The model with raw columns in front: rounded if the data do not object, otherwise as it was trained.
Finalist finished(const Model& trained, const Data& data, const Subset& rows) {
  constexpr double largest_rise_by_rounding = 40;
  Refitted chosen = refit_last_layer(nearest_weights(trained), rows, data.y_scale);
  Refitted exact = refit_last_layer(trained, rows, data.y_scale);
  if (!std::isfinite(chosen.mse) ||
      (std::isfinite(exact.mse) && rise_of_errors(chosen.mse, exact.mse, rows.y.size()) > largest_rise_by_rounding)) {
    chosen = std::move(exact);
  }
  Finalist result;
  result.mse = chosen.mse;
  if (!std::isfinite(result.mse)) return result;
  Candidate& c = result.candidate;
  c.model = std::move(chosen.model);
  c.model.columns = data.columns;
  // What the weights mean, if that is what they compute; otherwise every detail.
  c.formula = with_plain_signs(ideal_formula(c.model, data.columns)->outputs[0]);
  const Expression literal = literal_formula(c.model, data.columns)->outputs[0];
  const Result<double> difference = verification_error(c.formula, c.model, data, 1, &literal);
  const bool is_literal = !difference || *difference > largest_verification_error;
  if (is_literal) c.formula = literal;
  c.open_formula = open_formula(c.model, chosen.constants, data, is_literal);
  c.constants = std::move(chosen.constants);
  std::erase_if(c.constants, [](const FitConstant& constant) { return constant.value == 0; });
  result.key = print(c.formula);
  return result;
}

// Written out, an output names every output below it: a formula of thousands of terms takes minutes to check, and
// nobody reads it.
Status check_size(const Stack& stack, const std::string& text) {
  double terms = stack.front().shape.inputs;
  for (const LayerSpec& layer : stack) terms *= layer.shape.outputs;
  if (terms <= longest_formula) return Done{};
  return Error{
      fmt::format("the stack {} spells a formula of {:.6g} terms, and at most {:g} can be checked; use fewer outputs, "
                  "fewer layers, "
                  "or fewer columns with --inputs.",
                  text, terms, longest_formula)};
}

}  // namespace

Result<std::vector<Finalist>> train_stack(const Data& data, const FitOptions& options, const StackWatch& watch,
                                          bool& cut) {
  Result<Stack> stack = parse_stack(options.stack, static_cast<int>(data.inputs));
  if (!stack) return stack.error();
  if (Status small = check_size(*stack, options.stack); !small) return small.error();
  const ModuleInfo* linear = *find_module("Linear");
  const int outputs = stack->back().shape.outputs;
  // Its numbers are found by least squares in the end, a constant term among them.
  const bool has_linear =
      stack->back().module == linear && stack->back().shape == default_shape(*linear, stack->back().shape.inputs, 1);
  if (!has_linear) stack->push_back({linear, default_shape(*linear, outputs, 1)});
  Trainer::Settings settings = default_training(*stack);
  // The habits of the user's last layer; the Linear layer behind it has none.
  if (stack->size() > 1) settings.recipe.training = (*stack)[stack->size() - 2].module->recipe().training;
  settings.recipe.training.loss = {};
  settings.runs = stack_restarts;
  settings.threads = options.threads;
  Result<Trainer> trainer = Trainer::create(settings);
  if (!trainer) return trainer.error();
  for (int run = 0; run < stack_restarts; ++run) {
    const std::uint64_t seed = options.seed * 1000003u + static_cast<std::uint64_t>(run);
    if (Status started = trainer->start(run, seed); !started) return started.error();
  }

  const double scale = common_scale(data);
  // An iteration of a large stack takes long: the trainer is told to rest as soon as somebody wants an end.
  std::stop_source enough;
  const BatchSource source = [&](int run, long iteration, std::span<double> x, std::span<double> t) {
    if (watch.stop && watch.stop()) enough.request_stop();
    Xoshiro random(options.seed + static_cast<std::uint64_t>(iteration) * 0x9e3779b97f4a7c15u +
                   static_cast<std::uint64_t>(run) * 0xd1342543de82ef95u);
    for (std::size_t k = 0; k < t.size(); ++k) {
      const std::size_t r = data.train[random.below(data.train.size())];
      for (std::size_t i = 0; i < data.inputs; ++i) x[k * data.inputs + i] = data.row(r)[i] / scale;
      t[k] = data.y[r] / data.y_scale;
    }
  };
  const Subset few = subset(data, rows_for_errors, scale);
  const long iterations = settings.recipe.training.iterations;
  std::array<double, stack_restarts> errors{};  // at the last look
  for (long done = 0; done < iterations && !cut; done += chunk) {
    for (int run = 0; run < stack_restarts; ++run) {
      const Result<std::vector<double>> y = predict(*trainer->model(run), few.x, Precision::Double);
      double sum = 0;
      for (std::size_t k = 0; y && k < few.y.size(); ++k) sum += portable::pow((*y)[k] - few.y[k] / data.y_scale, 2);
      const double error = sum / static_cast<double>(few.y.size());
      errors[static_cast<std::size_t>(run)] = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
      if (Status set = trainer->set_validation_error(run, error); !set) return set.error();
    }
    const TrainWatch ends{.progress = nullptr, .every = chunk, .stop = enough.get_token()};
    if (Status trained = trainer->train(std::min(chunk, iterations - done), source, ends); !trained)
      return trained.error();
    if (watch.progress) watch.progress(static_cast<double>(done + chunk) / static_cast<double>(iterations));
    cut = watch.stop && watch.stop();
  }
  const Subset rows = subset(data, rows_for_numbers, 1);
  std::vector<int> order(stack_restarts);
  std::iota(order.begin(), order.end(), 0);
  const auto at = [](int run) { return static_cast<std::size_t>(run); };
  if (cut) std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return errors[at(a)] < errors[at(b)]; });
  std::vector<Finalist> result;
  const auto begin = std::chrono::steady_clock::now();
  for (const int run : order) {
    cut = cut || (watch.stop && watch.stop());
    if (cut && !result.empty() && std::chrono::steady_clock::now() - begin > to_finish) break;
    result.push_back(finished(*trainer->model(run), data, rows));
  }
  return result;
}

}  // namespace nalm::fitting
