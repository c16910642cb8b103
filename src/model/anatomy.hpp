// What a layer computes from what, found by running its own forward pass on symbols: the pictures of modules and the
// numbers that `nalm explain` fills in come from the same code that is trained.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "nalm/model.hpp"

namespace nalm {

struct AnatomyPart {
  enum class Kind { Input, Parameter, Weight, Step, Output };
  Kind kind = Kind::Input;
  std::size_t index = 0;             // in the module's table of parameters, weights or steps
  std::string name;                  // as the table has it; "x" and "y"
  std::vector<std::string> symbols;  // one for each value: x1, W_1, ...
  // Steps and outputs: each value in terms of the symbols of the parts that it uses.
  std::vector<Expression> formulas{};
  std::vector<std::size_t> uses{};  // parts, in order
};

// Inputs, parameters, weights, steps, outputs: what the outputs depend on, everything after what it uses. Products and
// sums that forward keeps on the way, for its gradient, are no parts: they are written out where they are used.
struct Anatomy {
  std::vector<AnatomyPart> parts;
};
Anatomy anatomy_of(const ModuleInfo& module, const LayerShape& shape);

// The values of all symbols for one input.
std::vector<std::pair<std::string, double>> values_of(const Anatomy& anatomy, const Layer& layer,
                                                      const ExplainedLayer& explained);

}  // namespace nalm
