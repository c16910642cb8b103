// What the tasks of the Neural Status Register share.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "experiment/task.hpp"
#include "tasks/lstm.hpp"

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
inline Recipe nsr_recipe(const Stack& stack, long iterations, int batch) {
  Recipe recipe;
  recipe.training.loss.kind = Loss::Kind::Absolute;
  recipe.training.iterations = iterations;
  recipe.training.batch = batch;
  recipe.layers.resize(stack.size());
  return recipe;
}

// A whole number from lo to hi, both included.
inline double whole_number(Xoshiro& stream, double lo, double hi) {
  return lo + static_cast<double>(stream.below(static_cast<std::uint64_t>(hi - lo) + 1));
}

// The answer of a stack about node `from`: one output of a register, or the only one of a baseline, which has several
// layers.
inline Wiring::Port answer_of(Wiring& wiring, const Stack& stack, int from, int output_of_register) {
  for (int k = 0; k < static_cast<int>(stack.size()); ++k) from = wiring.layer(stack, k, from);
  return {from, stack.size() == 1 ? output_of_register : 0};
}

// A register that goes along a sequence: trained on short ones of small numbers, tested on longer ones of larger
// numbers.
struct SequenceTask {
  static constexpr int rows = 400, training_length = 5, training_limit = 10, redundancy = 10;
  static constexpr std::array test_lengths{5, 10, 20, 50};
  using MakeWiring = Wiring (*)(const Stack& stack, int length);

  std::string_view operation, purpose;  // purpose: of the random numbers
  std::span<const int> test_limits;
  int goal_limit;  // of the longest sequences
  MakeWiring wiring, recurrent_wiring;
  int inputs_of_step;  // of the recurrent one
  Rows (*draw)(Xoshiro& stream, int length, int limit, bool for_test);

  Cell cell(long iterations) const {
    return cell("NSR", fmt::format("redundancy {}", redundancy),
                stack_of(fmt::format("NSR:2(redundancy={})", redundancy), 2), wiring, iterations);
  }

  // The preset baselines has the same recurrence with something else in the place of the register, and an LSTM.
  std::vector<Cell> cells(std::string_view preset, long quick_iterations) const {
    if (preset == "baselines") return baselines(50000);
    return {cell(preset == "quick" ? quick_iterations : 50000)};
  }
  std::vector<Cell> baselines(long iterations) const;

  Cell cell(std::string_view model, std::string setting, Stack stack, MakeWiring make, long iterations) const {
    Cell cell(model, operation, setting);
    cell.stack = std::move(stack);
    cell.wiring = make(cell.stack, training_length);
    cell.recipe = nsr_recipe(cell.stack, iterations, rows);
    cell.precision = Precision::Double;
    for (const int length : test_lengths) {
      for (const int limit : test_limits) {
        cell.measures.push_back(
            {measure(length, limit), Measure::Kind::Mae, static_cast<int>(cell.set_wirings.size())});
        cell.set_wirings.push_back(make(cell.stack, length));
      }
    }
    cell.goal = {.measure = measure(test_lengths.back(), goal_limit), .limit = 0.1};
    cell.data = [task = *this](std::uint32_t seed) {
      Xoshiro stream = stream_of(task.purpose, seed);
      Rows training = task.draw(stream, training_length, training_limit, false);
      std::vector<Rows> sets;
      for (const int length : test_lengths)
        for (const int limit : task.test_limits) sets.push_back(task.draw(stream, length, limit, true));
      return std::make_unique<FullBatch>(std::move(training), std::move(sets));
    };
    return cell;
  }

  static std::string measure(int length, int limit) { return fmt::format("mae of {} up to {}", length, limit); }
};

}  // namespace nalm
