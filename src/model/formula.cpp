// What a model's weights spell, and how it computes, step by step.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "modules/registry.hpp"
#include "modules/sparsity.hpp"
#include "nalm/model.hpp"

namespace nalm {

namespace {

std::vector<double> weights_of(const Layer& layer) {
  std::vector<double> w(static_cast<std::size_t>(quantity_count(*layer.module, layer.module->weights, layer.shape)));
  entry_of(*layer.module).weights(layer.shape, layer.parameters.data(), w.data());
  return w;
}

std::vector<Expression> as_variables(const Model& model, const std::vector<std::string>& columns) {
  std::vector<Expression> x;
  for (int i = 0; i < model.inputs(); ++i) {
    const std::size_t k = static_cast<std::size_t>(i);
    x.push_back(Expression::variable(k < columns.size() ? columns[k] : "x" + std::to_string(i + 1)));
  }
  return x;
}

std::vector<ExplainedArray> explained(const Layer& layer, std::span<const Quantity> quantities,
                                      const std::vector<double>& values) {
  std::vector<ExplainedArray> result;
  std::size_t next = 0;
  for (const Quantity& q : quantities) {
    const std::size_t size = static_cast<std::size_t>(size_of(*layer.module, q.axes, layer.shape));
    ExplainedArray array{std::string(q.name), std::string(q.formula), {}, {}};
    array.dimensions = dimensions(
        *layer.module, {.name = q.name, .axes = q.axes, .start = {}, .clamp = {}, .meaning = {}}, layer.shape);
    array.values.assign(values.begin() + static_cast<std::ptrdiff_t>(next),
                        values.begin() + static_cast<std::ptrdiff_t>(next + size));
    next += size;
    result.push_back(std::move(array));
  }
  return result;
}

}  // namespace

double formula_size(const Model& model) {
  double size = 1;
  for (const Layer& layer : model.layers) {
    size *= static_cast<double>(std::max<std::size_t>(1, layer.parameters.size())) / std::max(1, layer.shape.outputs);
  }
  return size;
}

Result<Formula> literal_formula(const Model& model, const std::vector<std::string>& columns) {
  if (Status whole = check_model(model); !whole) return whole.error();
  Formula formula;
  formula.outputs = as_variables(model, columns);
  for (const Layer& layer : model.layers) {
    const std::vector<double> weights = weights_of(layer);
    const std::vector<Expression> p(layer.parameters.begin(), layer.parameters.end());
    const std::vector<Expression> w(weights.begin(), weights.end());
    std::vector<Expression> y(static_cast<std::size_t>(layer.shape.outputs));
    std::vector<Expression> steps(
        static_cast<std::size_t>(quantity_count(*layer.module, layer.module->steps, layer.shape)));
    entry_of(*layer.module).formula(layer.shape, p.data(), w.data(), formula.outputs.data(), y.data(), steps.data());
    formula.outputs = std::move(y);
  }
  return formula;
}

Result<Formula> ideal_formula(const Model& model, const std::vector<std::string>& columns) {
  if (Status whole = check_model(model); !whole) return whole.error();
  Formula formula;
  formula.outputs = as_variables(model, columns);
  for (std::size_t k = 0; k < model.layers.size(); ++k) {
    const Layer& layer = model.layers[k];
    const std::vector<double> weights = weights_of(layer);
    Readout readout(*layer.module, layer.shape, layer.parameters, weights, formula.outputs);
    std::vector<Expression> y;
    for (int o = 0; o < layer.shape.outputs; ++o) y.push_back(entry_of(*layer.module).ideal(readout, o));
    if (!readout.problem.empty()) return Error{readout.problem};
    for (const std::string& note : readout.notes) {
      formula.notes.push_back(model.layers.size() == 1 ? note : fmt::format("layer {}: {}", k + 1, note));
    }
    formula.discrete = formula.discrete && readout.discrete;
    formula.outputs = std::move(y);
  }
  return formula;
}

Result<std::vector<ExplainedLayer>> explain(const Model& model, std::span<const double> input) {
  if (Status whole = check_model(model); !whole) return whole.error();
  if (input.size() != static_cast<std::size_t>(model.inputs())) {
    return Error{fmt::format("the model has {} inputs, but {} numbers were given.", model.inputs(), input.size())};
  }
  std::vector<ExplainedLayer> result;
  std::vector<double> x(input.begin(), input.end());
  for (const Layer& layer : model.layers) {
    const std::vector<double> w = weights_of(layer);
    std::vector<double> y(static_cast<std::size_t>(layer.shape.outputs));
    std::vector<double> steps(
        static_cast<std::size_t>(quantity_count(*layer.module, layer.module->steps, layer.shape)));
    entry_of(*layer.module).numbers(layer.shape, layer.parameters.data(), w.data(), x.data(), y.data(), steps.data());
    result.push_back(
        {layer.module, x, explained(layer, layer.module->weights, w), explained(layer, layer.module->steps, steps), y});
    x = std::move(y);
  }
  return result;
}

Result<double> sparsity_error(const Model& model) {
  if (Status whole = check_model(model); !whole) return whole.error();
  double worst = 0;
  for (const Layer& layer : model.layers) {
    const std::vector<double> w = weights_of(layer);
    const double error = sparsity_of_weights(*layer.module, layer.shape, w.data(), 1);
    worst = error > worst || std::isnan(error) ? error : worst;  // std::max would lose NaN
  }
  return worst;
}

}  // namespace nalm
