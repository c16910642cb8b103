#include "fit/stack_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/random.hpp"
#include "fit/linear_algebra.hpp"
#include "fit/refine.hpp"
#include "fit/trust.hpp"
#include "nalm/train.hpp"

namespace nalm::fitting {

namespace {

constexpr int restarts = 24;
constexpr long chunk = 1000;  // iterations between looks at the clock
constexpr std::size_t rows_for_errors = 256, rows_for_numbers = 100000;

// Layers with weights in [-1, 1] need inputs that are not far from 1; one scale for all columns keeps sums sums.
double common_scale(const Data& data) {
  double sum = 0;
  for (const double scale : data.x_scale) sum += std::log(scale);
  const double mean = std::exp(sum / static_cast<double>(data.inputs));
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
Model rounded(Model model) {
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

// Least squares for the last layer, a Linear:1 on top of what the others give. False if that is not finite.
bool refit_last_layer(Model& model, const Subset& rows, double y_scale, TrainedStack& result) {
  Model below = model;
  below.layers.pop_back();
  const Result<std::vector<double>> outputs =
      below.layers.empty() ? Result<std::vector<double>>(rows.x) : predict(below, rows.x, Precision::Double);
  if (!outputs) return false;
  const std::size_t n = rows.y.size(), K = static_cast<std::size_t>(model.layers.back().shape.inputs);
  Matrix A(n, K + 1);
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t k = 0; k < K; ++k) A(r, k) = (*outputs)[r * K + k];
    A(r, K) = 1;
  }
  if (!all_finite(A.values)) return false;
  std::vector<bool> free(K + 1, true);
  Vector values(K + 1, 0.0), deviations(K + 1, 0.0);
  double mse = 0;
  const auto solve = [&] {
    Vector rest = rows.y;
    std::vector<std::size_t> columns;
    for (std::size_t k = 0; k <= K; ++k) {
      if (free[k]) {
        columns.push_back(k);
      } else {
        for (std::size_t r = 0; r < n; ++r) rest[r] -= values[k] * A(r, k);
      }
    }
    Matrix part(n, columns.size());
    for (std::size_t k = 0; k < columns.size(); ++k) std::copy_n(A.column(columns[k]), n, part.column(k));
    const Vector found = columns.empty() ? Vector() : least_squares(part, rest);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      values[columns[k]] = found[k];
      for (std::size_t r = 0; r < n; ++r) rest[r] -= found[k] * part(r, k);
    }
    mse = dot(rest, rest) / static_cast<double>(n);
    const Vector spread = columns.empty() ? Vector() : uncertainties(part);
    for (std::size_t k = 0; k < columns.size(); ++k) deviations[columns[k]] = std::sqrt(std::max(0.0, mse * spread[k]));
  };
  solve();
  if (!all_finite(values)) return false;
  const double floor = rounding_level * rounding_level * y_scale * y_scale, start = std::max(mse, floor);
  result.constants.assign(K + 1, {});
  for (std::size_t k = 0; k <= K; ++k) {
    const double half = std::isfinite(deviations[k]) ? 2.6 * deviations[k] : 0;
    result.constants[k] = {values[k], values[k], values[k] - half, values[k] + half, false};
  }
  for (std::size_t k = 0; k <= K; ++k) {
    // The constant term may vanish, too.
    const double size = k == K ? y_scale : std::fabs(values[k]);
    const double tolerance = std::max(2.6 * deviations[k], 1e-9 * size), before = values[k];
    const std::optional<double> simple =
        std::fabs(before) <= tolerance ? std::optional<double>(0.0) : simple_number(before, tolerance);
    if (!simple) continue;
    free[k] = false;
    values[k] = *simple;
    solve();
    result.constants[k].snapped = static_cast<double>(n) * std::log(std::max(mse, floor) / start) < 12;
    if (result.constants[k].snapped) continue;
    free[k] = true;
    solve();
  }
  for (std::size_t k = 0; k <= K; ++k) result.constants[k].value = values[k];
  std::erase_if(result.constants, [](const FitConstant& c) { return c.value == 0 && c.snapped; });
  model.layers.back().parameters = values;
  result.mse = mse / (y_scale * y_scale);
  return std::isfinite(result.mse);
}

// The model with raw columns in front: rounded if the data do not object, otherwise as it was trained.
TrainedStack finished(const Model& trained, const Data& data, const Subset& rows) {
  TrainedStack result, exact;
  Model model = rounded(trained), as_trained = trained;
  const bool round = refit_last_layer(model, rows, data.y_scale, result);
  const bool keep = refit_last_layer(as_trained, rows, data.y_scale, exact);
  const double n = static_cast<double>(rows.y.size()), floor = rounding_level * rounding_level;
  if (!round || (keep && n * std::log(std::max(result.mse, floor) / std::max(exact.mse, floor)) > 40)) {
    result = std::move(exact);
    model = std::move(as_trained);
    if (!keep) result.mse = std::numeric_limits<double>::infinity();
  }
  model.columns = data.columns;
  // What the weights mean, if that is what they compute; otherwise every detail.
  result.formula = ideal_formula(model, data.columns).outputs[0];
  const Expression literal = literal_formula(model, data.columns).outputs[0];
  const Result<double> difference = verification_error(result.formula, model, data, 1, &literal);
  if (!difference || *difference > largest_verification_error) result.formula = literal;
  result.model = std::move(model);
  return result;
}

}  // namespace

Result<std::vector<TrainedStack>> train_stack(const Data& data, const FitOptions& options, const StackWatch& watch,
                                              bool& cut) {
  Result<Stack> stack = parse_stack(options.stack, static_cast<int>(data.inputs));
  if (!stack) return stack.error();
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
  settings.runs = restarts;
  settings.threads = options.threads;
  Result<Trainer> trainer = Trainer::create(settings);
  if (!trainer) return trainer.error();
  for (int run = 0; run < restarts; ++run)
    trainer->start(run, options.seed * 1000003u + static_cast<std::uint64_t>(run));

  const double scale = common_scale(data);
  const BatchSource source = [&](int run, long iteration, std::span<double> x, std::span<double> t) {
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
  for (long done = 0; done < iterations && !cut; done += chunk) {
    for (int run = 0; run < restarts; ++run) {
      const Result<std::vector<double>> y = predict(trainer->model(run), few.x, Precision::Double);
      double sum = 0;
      for (std::size_t k = 0; y && k < few.y.size(); ++k) sum += std::pow((*y)[k] - few.y[k] / data.y_scale, 2);
      trainer->set_validation_error(run, sum / static_cast<double>(few.y.size()));
    }
    trainer->train(std::min(chunk, iterations - done), source);
    if (watch.progress) watch.progress(static_cast<double>(done + chunk) / static_cast<double>(iterations));
    cut = watch.stop && watch.stop();
  }
  const Subset rows = subset(data, rows_for_numbers, 1);
  std::vector<TrainedStack> result;
  for (int run = 0; run < restarts; ++run) result.push_back(finished(trainer->model(run), data, rows));
  return result;
}

}  // namespace nalm::fitting
