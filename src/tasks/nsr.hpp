// What the tasks of the Neural Status Register share.
#pragma once

#include <algorithm>
#include <utility>

#include "tasks/task.hpp"

namespace nalm {

// The whole training set is every batch, as in the paper.
class FullBatch final : public RunData {
 public:
  FullBatch(Rows training, std::vector<Rows> sets) : training_(std::move(training)), sets_(std::move(sets)) {}

  void batch(long, std::span<double> x, std::span<double> t) override {
    std::copy(training_.x.begin(), training_.x.end(), x.begin());
    std::copy(training_.t.begin(), training_.t.end(), t.begin());
  }
  Rows set(int k) override { return sets_[static_cast<std::size_t>(k)]; }

 private:
  Rows training_;
  std::vector<Rows> sets_;
};

// The mean absolute error, minimised by Adam with a constant learning rate of 1e-3.
inline StackRecipe nsr_recipe(const Stack& stack, long iterations, int batch) {
  StackRecipe recipe;
  recipe.whole.loss.kind = Loss::Kind::Absolute;
  recipe.whole.iterations = iterations;
  recipe.whole.batch = batch;
  recipe.layers.resize(stack.size());
  return recipe;
}

// A whole number from lo to hi, both included.
inline double whole_number(Xoshiro& stream, double lo, double hi) {
  return lo + static_cast<double>(stream.below(static_cast<std::uint64_t>(hi - lo) + 1));
}

}  // namespace nalm
