// The layers of a network: a stack is what is trained, a model is a stack with its numbers.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nalm/module.hpp"
#include "nalm/result.hpp"

namespace nalm {

struct LayerSpec {
  const ModuleInfo* module = nullptr;
  LayerShape shape;
};

// The layers of a network, first layer first; each has as many inputs as the one before has outputs.
using Stack = std::vector<LayerSpec>;

// "NAU:2,NMU:1" for a number of inputs: module, colon, outputs; options in brackets, as in "NSR:2(redundancy=2)".
Result<Stack> parse_stack(std::string_view text, int inputs);
std::string print(const Stack& stack);

// Every layer on its own, and that they fit together.
Status check_stack(const Stack& stack);

enum class Precision { Float, Double };

struct Layer {
  const ModuleInfo* module = nullptr;
  LayerShape shape;
  std::vector<double> parameters;  // tensors in the order of ModuleInfo::parameters, row-major, absent ones left out
};

// Made by load_model, parse_model, a Trainer, or by hand; check_model tells whether it is whole.
struct Model {
  std::vector<Layer> layers;
  std::vector<std::string> columns;  // names of the inputs, or empty

  // Of a fit, otherwise empty: the name of the output, the formula that the layers spell, in terms of the columns, and
  // numbers that stand in it by name.
  std::string target{};
  std::string formula{};
  std::vector<std::pair<std::string, double>> constants{};

  // 0 for a model without layers.
  int inputs() const { return layers.empty() ? 0 : layers.front().shape.inputs; }
  int outputs() const { return layers.empty() ? 0 : layers.back().shape.outputs; }
  Stack stack() const;
  // The columns, or x1, x2, ... where there are none.
  std::vector<std::string> column_names() const;
};

// At least one layer, layers that fit together, and as many parameters as each needs.
Status check_model(const Model& model);
// The same of layers that need not follow each other, as in a network that is wired.
Status check_layers(const std::vector<Layer>& layers);

}  // namespace nalm
