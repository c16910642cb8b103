// Training of a bundle: a network per lane, advanced in lockstep by one recipe.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "nalm/recipe.hpp"
#include "train/network.hpp"

namespace nalm {

// Everything that a run carries from one iteration to the next; numbers of a float bundle are floats, widened.
struct RunState {
  using PerLayer = std::vector<std::vector<double>>;
  PerLayer parameters, m, v;                // m and v: the optimiser's
  double beta1_power = 1, beta2_power = 1;  // Adam's, the same for all runs of a bundle
  double validation_error = 0;
  std::vector<std::pair<double, long>> history;  // errors, and how often each stood in a row
  double best_error = 0;                         // of restarts
  PerLayer best_parameters;                      // empty before the first
  std::vector<std::uint64_t> noise;              // the generator's words; empty where nothing draws
  StreamState stream;
};

template <class S>
class Bundle {
 public:
  Bundle(const Stack& stack, Recipe recipe, const simd::Target& target)
      : Bundle(stack, Wiring::of(stack), std::move(recipe), target) {}
  Bundle(const Stack& stack, Wiring wiring, Recipe recipe, const simd::Target& target);

  Network<S>& network() { return network_; }
  const Network<S>& network() const { return network_; }
  const Recipe& recipe() const { return recipe_; }
  int lanes() const { return network_.lanes(); }
  long iteration() const { return iteration_; }

  // Fresh start values for one run; the stream is kept for re-initialisation.
  void start(int lane, std::shared_ptr<StartStream> stream);

  // One iteration on a batch in lane layout. prepared: see Network.
  void step(const S* x, const S* t, int samples, const S* prepared = nullptr);

  // For checkpoints. set_state expects arrays of the sizes that state() gives.
  RunState state(int lane) const;
  void set_state(int lane, const RunState& state, std::shared_ptr<StartStream> stream);
  void set_iteration(long iteration) { iteration_ = iteration; }

  // The validation error that iNALU's regulariser and re-initialisation look at, until the next one comes.
  void set_validation_error(int lane, double error);

 private:
  void draw_noise(const S* x, int samples);
  // f(parameter, its gradients, its state in the optimiser, how many values), of one layer.
  template <class F>
  void for_each_parameter(int layer, F f);
  enum class Regularisers { All, AllButSaturate, Saturate };
  void regularise(Regularisers which);
  void clip();
  enum class Part { All, Phased, Rest };  // of the parameters: Phased are those that Phases names
  void optimise(Part part);
  void saturate_in_own_steps();
  void clamp();
  void reinitialise_where_stuck();
  void restart();
  void forget();  // what the optimiser has seen

  // Errors of past iterations of one run, as (value, how often in a row).
  struct History {
    std::vector<std::pair<double, long>> runs;
    long size = 0;
    void add(double value);
    bool is_stuck(double error_above) const;
  };

  Network<S> network_;
  Recipe recipe_;
  long iteration_ = 0;
  double beta1_power_ = 1, beta2_power_ = 1;  // Adam's beta^n
  struct OptimiserState {
    AlignedVector<S> m, v;
  };
  std::vector<OptimiserState> state_;
  std::vector<double> validation_error_, batch_error_;
  AlignedVector<S> per_lane_;  // scratch: one value per lane
  std::vector<History> history_;

  // The noise of layers that take it: a generator per lane, started by the run's own stream.
  bool noisy_ = false;
  AlignedVector<std::uint32_t> noise_state_;
  AlignedVector<S> noise_limit_, noise_mean_, layer_inputs_;

  // The best try so far of each lane, for restarts.
  struct Best {
    double error = 0;
    std::vector<std::vector<double>> parameters;
  };
  std::vector<Best> best_;
  std::vector<std::shared_ptr<StartStream>> streams_;
};

extern template class Bundle<float>;
extern template class Bundle<double>;

}  // namespace nalm
