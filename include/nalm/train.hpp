// Many independent trainings of one network at once: a run per SIMD lane, bundles of runs over threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "nalm/recipe.hpp"
#include "nalm/stack.hpp"

namespace nalm {

// Fills the batch of one run in one iteration: x is batch x inputs, t is batch x outputs, row-major. It is called from
// several threads at once, always with different runs, and must depend on run and iteration only.
using BatchSource = std::function<void(int run, long iteration, std::span<double> x, std::span<double> t)>;

class Trainer {
 public:
  struct Settings {
    Stack stack;
    Recipe recipe;  // a layer of it for each of the stack; default_training() has the modules' own habits
    int runs = 1;
    Precision precision = Precision::Float;
    int threads = 0;  // 0: all processors
  };
  static Result<Trainer> create(Settings settings);

  Trainer(Trainer&&) noexcept;
  Trainer& operator=(Trainer&&) noexcept;
  ~Trainer();

  // Start values for one run, from its own stream. The same seed gives the same bits, whatever the other runs are.
  void start(int run, std::uint64_t seed);
  // As PyTorch would draw them; the paper's software draws every parameter twice, and the second draw counts.
  void start_like_torch(int run, std::uint32_t seed, int draws = 2);

  // Advances every run; bits do not depend on the number of threads or runs.
  void train(long iterations, const BatchSource& source);
  // As long as the recipe says, counted from the first iteration.
  void train(const BatchSource& source);

  // For iNALU's habits: the validation error of a run, as of now.
  void set_validation_error(int run, double error);

  long iteration() const;
  Model model(int run) const;

 private:
  struct State;
  explicit Trainer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The modules' own habits: each layer as its module wants it, the training as the last layer's module does it.
Recipe default_recipe(const Stack& stack);
Trainer::Settings default_training(const Stack& stack);

}  // namespace nalm
