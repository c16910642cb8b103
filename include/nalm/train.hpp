// Many independent trainings of one network at once: a run per SIMD lane, bundles of runs over threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "nalm/recipe.hpp"
#include "nalm/stack.hpp"
#include "nalm/wiring.hpp"

namespace nalm {

// Fills the batch of one run in one iteration: x is batch x inputs, t is batch x outputs, row-major. It is called from
// several threads at once, always with different runs, and must depend on run and iteration only. An exception ends the
// training: train() gives its text as an error.
using BatchSource = std::function<void(int run, long iteration, std::span<double> x, std::span<double> t)>;

class Trainer;

// Who looks on while it trains. Neither changes a bit of what is trained.
struct TrainWatch {
  // Called by the thread that called train(), while all runs rest at the same iteration: to look at models, to set
  // validation errors, to write checkpoints.
  std::function<void(Trainer&)> progress{};
  long every = 1000;       // iterations between two calls
  std::stop_token stop{};  // train() ends early, with all runs at the same iteration
};

class Trainer {
 public:
  struct Settings {
    Stack stack;
    Recipe recipe;  // a layer of it for each of the stack; default_training() has the modules' own habits
    int runs = 1;
    Precision precision = Precision::Float;
    int threads = 0;                 // 0: all processors
    std::optional<Wiring> wiring{};  // how the layers are put together; without one, each behind the one before
  };
  // Fails for layers, a recipe or numbers that make no sense.
  static Result<Trainer> create(Settings settings);

  Trainer(Trainer&&) noexcept;
  Trainer& operator=(Trainer&&) noexcept;
  ~Trainer();

  // ---- start values: every run needs some before train() ----

  // From the run's own stream. The same seed gives the same bits, whatever the other runs are.
  Status start(int run, std::uint64_t seed);
  // As PyTorch would draw them; the paper's software draws every parameter twice, and the second draw counts.
  Status start_like_torch(int run, std::uint32_t seed, int draws = 2);
  // The numbers of a model with the same layers, such as one from load_model. The seed is for what draws later: noise,
  // re-initialisation, restarts. The optimiser starts afresh; a checkpoint keeps what it has seen.
  Status start_from(int run, const Model& model, std::uint64_t seed);

  // ---- training ----

  // Advances every run; bits do not depend on the number of threads or runs, or on calls in between.
  Status train(long iterations, const BatchSource& source, const TrainWatch& watch = {});
  // As long as the recipe says, counted from the first iteration.
  Status train(const BatchSource& source, const TrainWatch& watch = {});

  // The validation error of a run as of now (mean squared error on data it is not trained on). Recipes with restarts,
  // with a regulariser of kind Saturate or with re-initialisation (iNALU has the last two) look at the newest in every
  // iteration, so set it as often as it should count: the benchmark does so every 1000 iterations. Until the first call
  // it is infinite, and such habits do nothing.
  Status set_validation_error(int run, double error);

  // ---- what there is ----

  int runs() const;
  long iteration() const;  // how many are done
  // Of a stack. A network that is wired otherwise is no Model: layers() and predict() are for it.
  Result<Model> model(int run) const;
  Result<std::vector<Layer>> layers(int run) const;
  // What the network of a run gives for rows x inputs, row-major: rows x outputs.
  Result<std::vector<double>> predict(int run, std::span<const double> rows) const;

  // ---- checkpoints (docs/design/009-library.md) ----

  // Everything that the next iteration depends on, but for the source: training goes on from it bit for bit, also with
  // other threads, and on another machine.
  Result<std::string> checkpoint() const;
  Status save_checkpoint(const std::string& path) const;
  // source_name is what error messages call the text.
  static Result<Trainer> from_checkpoint(std::string_view json, std::string_view source_name, int threads = 0);
  static Result<Trainer> load_checkpoint(const std::string& path, int threads = 0);

 private:
  struct State;
  explicit Trainer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The modules' own habits: each layer as its module wants it, the training as the last layer's module does it.
Recipe default_recipe(const Stack& stack);
Trainer::Settings default_training(const Stack& stack);

// Numbers within sensible limits, a layer of the recipe for each of the stack, and names that its parameters have.
Status check_recipe(const Recipe& recipe, const Stack& stack);

}  // namespace nalm
