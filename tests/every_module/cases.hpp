// Random layers of every module and shape, for the tests that run over the whole registry.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "nalm/model.hpp"
#include "sanitized.hpp"
#include "train/start_values.hpp"

namespace nalm::test {

inline const std::vector<int> inputs_to_try = sanitized ? std::vector{1, 2, 3} : std::vector{1, 2, 3, 10, 100};
inline constexpr int outputs_to_try[] = {1, 2, 3};

struct ShapeCase {
  const ModuleInfo* module;
  LayerShape shape;
};

inline std::string name_of(const ShapeCase& c) {
  return std::string(c.module->name) + " " + std::to_string(c.shape.inputs) + "x" + std::to_string(c.shape.outputs);
}

// Every module, every shape, every choice of every option.
inline std::vector<ShapeCase> all_shapes() {
  std::vector<ShapeCase> cases;
  for (const ModuleInfo* module : all_modules()) {
    for (int inputs : inputs_to_try) {
      for (int outputs : outputs_to_try) {
        std::vector<LayerShape> shapes{default_shape(*module, inputs, outputs * module->outputs_multiple_of)};
        for (std::size_t o = 0; o < module->options.size(); ++o) {
          const OptionInfo& option = module->options[o];
          std::vector<LayerShape> more;
          for (LayerShape shape : shapes) {
            if (option.choices[0].empty()) {
              if (option.whole) shape.options[o] = 3;
              more.push_back(shape);
            }
            for (std::size_t c = 0; c < option.choices.size() && !option.choices[c].empty(); ++c) {
              shape.options[o] = static_cast<double>(c);
              more.push_back(shape);
            }
          }
          shapes = more;
        }
        for (const LayerShape& shape : shapes) cases.push_back({module, shape});
      }
    }
  }
  return cases;
}

inline Layer random_layer(const ShapeCase& c, Xoshiro& random) {
  return {c.module, c.shape, start_values(*c.module, c.shape, random)};
}

// Raw parameters whose effective weights are discrete: far out where they are squashed, whole numbers elsewhere.
inline Layer discrete_layer(const ShapeCase& c, Xoshiro& random) {
  Layer layer{c.module, c.shape, {}};
  for (const ParameterInfo& p : c.module->parameters) {
    if (!is_present(p, c.shape)) continue;
    const int n = size_of(*c.module, p.axes, c.shape);
    const std::vector<int> dims = dimensions(*c.module, p, c.shape);
    // Which input each path of a softmax picks.
    std::vector<std::uint64_t> picked(static_cast<std::size_t>(n));
    for (auto& pick : picked) pick = random.below(static_cast<std::uint64_t>(c.shape.inputs));
    for (int k = 0; k < n; ++k) {
      const double coin = random.unit() < 0.5 ? -1 : 1;
      const std::string name(p.name);
      double value = coin * 1000;
      if (p.clamp) {
        value =
            p.clamp->lo + static_cast<double>(random.below(static_cast<std::uint64_t>(p.clamp->hi - p.clamp->lo) + 1));
      } else if (name == "W_re" || name == "W") {
        value = static_cast<double>(random.below(3)) - 1;
      } else if (name == "W_im") {
        value = 0;
      } else if (name == "g" && p.start.kind == Start::Kind::Constant && p.start.a == 0.5) {
        value = static_cast<double>(random.below(2));  // the gate of the power units, clamped when it is used
      } else if (name == "r") {
        // Which output each input goes to.
        value = k % c.shape.outputs == static_cast<int>(picked[static_cast<std::size_t>(k / c.shape.outputs)] %
                                                        static_cast<std::uint64_t>(c.shape.outputs))
                    ? 1000
                    : 0;
      } else if (name == "alpha") {
        value = 0;
      } else if (name.rfind("W_hat", 0) == 0 && c.module->name != "NAC*sigmoid") {  // whose W_hat is not under a tanh
        value = 1000 * (static_cast<double>(random.below(3)) - 1);
      } else if (name == "V1" || name == "V2") {
        const int paths = dims.back(), input = k / paths % c.shape.inputs, path = k % paths;
        value = picked[static_cast<std::size_t>(path)] == static_cast<std::uint64_t>(input) ? 1000 : 0;
      } else if (name == "w_sign" || name == "w_zero" || name == "b") {
        value = random.between(-3, 3);
      }
      layer.parameters.push_back(value);
    }
  }
  return layer;
}

// Inputs that keep sums and products of many of them in range.
inline std::vector<double> random_rows(const ModuleInfo& module, int inputs, int rows, Xoshiro& random) {
  std::vector<double> x;
  for (int k = 0; k < rows * inputs; ++k) {
    if (module.truth_values) {
      x.push_back(random.between(0.1, 0.9));
    } else {
      const double sign = random.unit() < 0.3 && !module.positive_inputs ? -1 : 1;
      x.push_back(sign * std::exp(random.between(-1, 1) / std::sqrt(static_cast<double>(inputs))));
    }
  }
  return x;
}

inline Model model_of(Layer layer) {
  Model model;
  model.layers.push_back(std::move(layer));
  return model;
}

}  // namespace nalm::test
