// Levenberg and Marquardt's method for one problem at a time. (train/least_squares.hpp has it for a bundle of runs.)
#pragma once

#include <functional>
#include <limits>

#include "numeric/linear_algebra.hpp"

namespace nalm::numeric {

struct LeastSquaresProblem {
  // Something that grows with the sum of squares, for each of these vectors of parameters; infinite where there is
  // none.
  std::function<Vector(const std::vector<Vector>&)> errors;
  // Residuals, and their derivatives: one row per residual, one column per parameter.
  std::function<void(const Vector& parameters, Vector& residuals, Matrix& slopes)> linearise;
};

// Damping is that of parameters in whose units all slopes are equally large (Marquardt's scaling).
struct Damping {
  double start = 1e-3, least = 1e-12, most = 1e8;  // it ends beyond most
  std::vector<double> factors{1};                  // all are tried at once, and the best counts
  double after_success = 0.1, after_failure = 10;
};

struct MinimiseOptions {
  int steps = 100;
  int failures = std::numeric_limits<int>::max();  // in a row, after which it ends
  double good_enough = 0;                          // an error that needs no further step
  double least_gain = 0;                           // ends after a step that gains a smaller share than this
  Damping damping{};
  std::function<bool()> stop{};
};

struct Minimum {
  Vector parameters;
  double error = std::numeric_limits<double>::infinity();
  bool regular = true;  // false: it ended because residuals or slopes were not finite
};

Minimum minimise(const LeastSquaresProblem& problem, Vector start, const MinimiseOptions& options);

}  // namespace nalm::numeric
