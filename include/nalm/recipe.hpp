// Training habits as data: a module's header states its recipe, a task may override any field, the engine executes it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace nalm {

struct Adam {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;  // added to the bias-corrected root
};

struct RmsProp {
  double learning_rate = 1e-2;
  double decay = 0.9;
  double epsilon = 1e-8;
  double first_accumulator = 0.0;    // TensorFlow 1 starts at 1, Flux at 0
  bool epsilon_inside_root = false;  // TensorFlow 1: inside, Flux: outside
};

struct Optimiser {
  enum class Kind { Adam, RmsProp };
  Kind kind = Kind::Adam;
  Adam adam;
  RmsProp rms_prop;

  Optimiser() = default;
  Optimiser(const Adam& a) : kind(Kind::Adam), adam(a) {}
  Optimiser(const RmsProp& r) : kind(Kind::RmsProp), rms_prop(r) {}

  double learning_rate() const { return kind == Kind::Adam ? adam.learning_rate : rms_prop.learning_rate; }
  void set_learning_rate(double value) { adam.learning_rate = rms_prop.learning_rate = value; }
};

// What is added to the loss at iteration e, for each parameter tensor it covers.
struct Regulariser {
  enum class Kind {
    Sparsity,  // strength * clip((e - start) / (end - start), 0, 1) * mean min(|w|, |1 - |w||)
    Saturate,  // strength * mean max(20 - |w|, 0), once e > start and while the last validation error is < 1 (iNALU)
    L1,        // strength * growth^floor(e / every), at most limit, times the sum of |w|
  };
  Kind kind = Kind::Sparsity;
  double strength = 0;
  double start = 0;                         // Sparsity, Saturate: iteration
  double end = 0;                           // Sparsity: iteration at which the full strength is reached
  double growth = 1, every = 0, limit = 0;  // L1
  std::string parameter;                    // one parameter by name; empty covers all of the layer

  static Regulariser sparsity(double strength, double start, double end, std::string parameter = {}) {
    Regulariser r;
    r.kind = Kind::Sparsity, r.strength = strength, r.start = start, r.end = end, r.parameter = std::move(parameter);
    return r;
  }
  static Regulariser saturate(double strength, double start) {
    Regulariser r;
    r.kind = Kind::Saturate, r.strength = strength, r.start = start;
    return r;
  }
  static Regulariser l1(double strength, double limit, double growth = 10, double every = 10000) {
    Regulariser r;
    r.kind = Kind::L1, r.strength = strength, r.limit = limit, r.growth = growth, r.every = every;
    return r;
  }

  // The factor in front of the mean (Sparsity, Saturate) or the sum (L1) at iteration e; Saturate's validation
  // condition is the engine's business.
  double coefficient(long e) const;
};

// iNALU: fresh parameters for a run whose validation error stays bad. The optimiser keeps its state.
struct Reinitialise {
  long every = 10;           // check in iterations e > 0 that are multiples of this
  long more_than = 5000;     // ... once more than this many errors are stored (one per iteration)
  double error_above = 1.0;  // fires if mean(first half) <= mean(second half) + sd(second half) and
                             // mean(second half) > error_above
};

struct Recipe {
  Optimiser optimiser;
  std::vector<Regulariser> regularisers;
  std::optional<double> clip_value;  // every gradient scalar into [-clip, clip], regularisers included
  std::optional<double> clip_norm;   // the gradient of all layers scaled down to this Euclidean norm
  std::optional<Reinitialise> reinitialise;
  long iterations = 50000;
  int batch = 128;
};

}  // namespace nalm
