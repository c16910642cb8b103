// What a run of the Single Module Arithmetic Task is, and what it logged.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/single_module_data.hpp"
#include "nalm/module.hpp"

namespace nalm {

// Everything that decides a run's bits, but for the recipe.
struct RunId {
  const ModuleInfo* module = nullptr;
  Operation operation = Operation::Add;
  TaskRange range;
  int inputs = 2;
  std::uint32_t seed = 0;
};

// One entry per logged row in each array. Errors are rounded to float, as the reference logs them; NaN once a run is
// lost.
struct Series {
  std::vector<long> steps;
  std::vector<float> validation_mse, test_mse;
  std::vector<double> sparsity_error;
  std::vector<float> parameters;  // rows x parameters of the module, in the order of Layer::parameters

  std::size_t rows() const { return steps.size(); }
};

struct Run {
  RunId id;
  Recipe recipe;  // as resolved for this run
  Series series;
};

}  // namespace nalm
