// What counts as a success, where it is not the task's own goal.
#pragma once

#include <optional>

namespace nalm {

struct Criterion {
  enum class Kind {
    Goal,         // the task's own: for the single module task Epsilon with 1e-5
    Epsilon,      // judged error below that of the right model with every weight off by epsilon
    LogSpace,     // the same with every power off by epsilon
    Limit,        // judged measure below the limit, or above it where that is the task's way
    Correlation,  // of predictions and targets, at least the limit; constant predictions have none and fail
    Mape,         // mean of |prediction - target| / |target|, at most the limit; targets that are 0 are left out
  };
  Kind kind = Kind::Goal;
  double epsilon = 1e-5;
  // Limit, Correlation, Mape; without one the last two take that of the model whose weights are off by epsilon.
  std::optional<double> limit{};

  bool needs_predictions() const { return kind == Kind::Correlation || kind == Kind::Mape; }
};

// How to judge a store.
struct Judgement {
  Criterion criterion;
  bool paper_intervals = false;
  bool diagnose = false;  // why runs failed
};

}  // namespace nalm
