// Gradient check: a module's backward pass against differences of its forward pass, in double.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nalm/module.hpp"

namespace nalm {

struct CheckSettings {
  std::uint64_t seed = 1;
  int cases = 20;  // random parameters and inputs, at least one per shape
  std::vector<int> inputs = {1, 2, 3, 10};
  std::vector<int> outputs = {1, 2, 3};  // for NSR: comparisons
  double tolerance = 1e-6;               // relative to the largest gradient of the tensor
};

// One parameter, or the inputs (named "inputs").
struct CheckedGradient {
  std::string name{};
  double worst_error = 0;                           // relative to the largest gradient of the tensor
  std::string worst_place{};                        // shape and entry where that was
  double worst_backward = 0, worst_difference = 0;  // what backward and what differences of forward gave there
  long compared = 0;
  long at_kinks = 0;  // entries left out because the function has a kink within the step
};

struct ModuleCheck {
  const ModuleInfo* module = nullptr;
  std::vector<CheckedGradient> gradients;
  // Every error within the tolerance, and not more than a fifth of the entries left out.
  bool passed = true;
};

// Every choice of every option is tried in turn.
Result<ModuleCheck> check_gradients(const ModuleInfo& module, const CheckSettings& settings);

}  // namespace nalm
