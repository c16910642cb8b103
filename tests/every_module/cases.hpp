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

// Every module, or one alone where the others have been seen by another program.
inline std::vector<const ModuleInfo*> tested_modules() {
  std::vector<const ModuleInfo*> modules;
  for (const ModuleInfo* module : all_modules()) {
#ifdef NALM_ONLY_MODULE
    if (module->name != NALM_ONLY_MODULE) continue;
#endif
    modules.push_back(module);
  }
  return modules;
}

// Every module, every shape, every choice of every option.
inline std::vector<ShapeCase> all_shapes() {
  std::vector<ShapeCase> cases;
  for (const ModuleInfo* module : tested_modules()) {
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

inline double whole_below(double limit, Xoshiro& random) {
  return static_cast<double>(random.below(static_cast<std::uint64_t>(limit)));
}

// Raw parameters whose effective weights are discrete: far out where they are squashed, whole numbers elsewhere.
inline Layer discrete_layer(const ShapeCase& c, Xoshiro& random) {
  Layer layer{c.module, c.shape, {}};
  for (const ParameterInfo& p : c.module->parameters) {
    if (!is_present(p, c.shape)) continue;
    const int n = size_of(*c.module, p.axes, c.shape);
    // Which input or output each softmax picks.
    std::vector<std::uint64_t> picked(static_cast<std::size_t>(n));
    for (auto& pick : picked) pick = random.below(static_cast<std::uint64_t>(c.shape.inputs));
    const int paths = dimensions(*c.module, p, c.shape).back();
    for (int k = 0; k < n; ++k) {
      double value = (random.unit() < 0.5 ? -1 : 1) * 2000.0;
      const auto one_of = [&](int which, int position, int count) {
        const std::uint64_t pick = picked[static_cast<std::size_t>(which)] % static_cast<std::uint64_t>(count);
        return pick == static_cast<std::uint64_t>(position) ? 2000.0 : 0.0;
      };
      switch (p.end) {
        case End::FarOut:
          if (p.clamp) value = p.clamp->lo + whole_below(p.clamp->hi - p.clamp->lo + 1, random);
          break;
        case End::FarOutOrZero:
          value = 2000 * (whole_below(3, random) - 1);
          break;
        case End::Whole:
          value = whole_below(3, random) - 1;
          break;
        case End::Bit:
          value = whole_below(2, random);
          break;
        case End::Zero:
          value = 0;
          break;
        case End::OneInput:
          value = one_of(k % paths, k / paths % c.shape.inputs, c.shape.inputs);
          break;
        case End::OneOutput:
          value = one_of(k / c.shape.outputs, k % c.shape.outputs, c.shape.outputs);
          break;
        case End::Anywhere:
          value = random.between(-3, 3);
          break;
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
