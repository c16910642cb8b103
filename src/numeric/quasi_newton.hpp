// The L-BFGS method: a smooth function of many parameters, from values and gradients.
#pragma once

#include <functional>
#include <limits>

#include "numeric/linear_algebra.hpp"

namespace nalm::numeric {

struct ValueAndGradient {
  double value = std::numeric_limits<double>::infinity();
  Vector gradient;
};

struct QuasiNewtonOptions {
  int steps = 1000;
  std::size_t memory = 10;                         // pairs of steps and changes of the gradient
  std::vector<double> lengths{1, 0.3, 0.1, 0.01};  // of a step: all are tried at once, and the best counts
  std::function<bool()> stop{};
};

struct Lowest {
  Vector parameters;
  double value = std::numeric_limits<double>::infinity();
  int steps = 0;
};

// evaluate gets several vectors at once, so that they can share lanes. Ends early where no step leads down.
Lowest minimise_smooth(const std::function<std::vector<ValueAndGradient>(const std::vector<Vector>&)>& evaluate,
                       Vector start, const QuasiNewtonOptions& options);

}  // namespace nalm::numeric
