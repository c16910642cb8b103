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
    Saturate,  // strength * mean max(20 - |w|, 0), once e > start and while the last validation error is < 1 (iNALU);
               // in steps of its own, if the recipe has Phases
    L1,        // strength * growth^floor(e / every), at most limit, times the sum of |w|
    Unit,      // strength * ramp as for Sparsity * mean |1 - |w||: towards -1 and 1, never 0 (RealNPU-modified)
    Grow,      // -strength * ramp as for Sparsity * mean w^2: away from 0, without end (MC-FC)
  };
  Kind kind = Kind::Sparsity;
  double strength = 0;
  double start = 0;                         // all but L1: iteration
  double end = 0;                           // Sparsity, Unit, Grow: iteration at which the full strength is reached
  double growth = 1, every = 0, limit = 0;  // L1
  std::string parameter;                    // one parameter by name; empty covers all of the layer

  static Regulariser sparsity(double strength, double start, double end, std::string parameter = {}) {
    Regulariser r;
    r.kind = Kind::Sparsity, r.strength = strength, r.start = start, r.end = end, r.parameter = std::move(parameter);
    return r;
  }
  static Regulariser unit(double strength, double start, double end, std::string parameter = {}) {
    Regulariser r = sparsity(strength, start, end, std::move(parameter));
    r.kind = Kind::Unit;
    return r;
  }
  static Regulariser grow(double strength, double start, double end) {
    Regulariser r = sparsity(strength, start, end);
    r.kind = Kind::Grow;
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

  // Whether its strength rises from start to end.
  bool has_ramp() const { return kind == Kind::Sparsity || kind == Kind::Unit || kind == Kind::Grow; }

  // The factor in front of the mean or, for L1, the sum at iteration e; Saturate's validation condition is the engine's
  // business.
  double coefficient(long e) const;
};

// What is minimised, besides regularisers: the mean over samples and outputs of one of these.
struct Loss {
  enum class Kind {
    Squared,   // (y - t)^2
    Huber,     // (y - t)^2 up to |y - t| = limit, and a straight line from there
    Relative,  // ((y - t) / t)^2
    Log,       // (ln|y| - ln|t|)^2: blind to signs; a sample with y = 0 or t = 0 has no say
    Absolute,  // |y - t|
    Own,       // what the last layer's module says (ModuleInfo::own_loss); Squared where it says nothing
  };
  Kind kind = Kind::Squared;
  double limit = 1;  // Huber

  static Loss huber(double limit) { return {Kind::Huber, limit}; }
};

// Random factors for modules that train with them (sNMU): fresh for every sample and input, uniform from lo to hi.
struct InputNoise {
  double lo = 1;
  double hi = 5;
  bool batch_adaptive = false;  // hi = lo + 1 / (standard deviation of all inputs in the batch) instead
};

// Several short trainings, and one that goes on: at iterations every, 2 every, ... the run starts afresh, and after
// `count` tries it goes on from the parameters with the smallest validation error. The optimiser starts afresh each
// time.
struct Restarts {
  int count = 1;
  long every = 5000;  // a multiple of 1000: validation errors are renewed so often
};

// iNALU: fresh parameters for a run whose validation error stays bad. The optimiser keeps its state.
struct Reinitialise {
  long every = 10;           // check in iterations e > 0 that are multiples of this
  long more_than = 5000;     // ... once more than this many errors are stored (one per iteration)
  double error_above = 1.0;  // fires if mean(first half) <= mean(second half) + sd(second half) and
                             // mean(second half) > error_above
  // All parameters uniform from -range to range instead of as at the start, and the errors of the batches are looked at
  // instead of the validation error: Schloer's own loop.
  std::optional<double> range{};
};

// The learning rate falls in a straight line, from its value at iteration start to 0 at iteration end. Adam keeps
// bouncing around a solution otherwise, by steps that do not shrink with the gradient.
struct CoolDown {
  double start = 0;
  double end = 0;

  double factor(long e) const;
};

// The learning rate is multiplied by a factor every so many iterations.
struct Decay {
  double factor = 0.1;
  long every = 10000;

  double at(long e) const;
};

// Schloer's loop for iNALU: of every `block` iterations the first `first` leave one parameter (the gate) alone, and the
// others change nothing else. Where a regulariser of kind Saturate is switched on and the error of the batch is below
// 1, two more steps follow on it alone: one that leaves the gate alone, and one for the gate.
struct Phases {
  std::string parameter;
  long block = 10;
  long first = 8;
};

// Other start values than the module's own for one parameter.
struct StartChange {
  enum class Kind {
    Uniform,  // from lo to hi
    Normal,   // mean lo, standard deviation hi
    Scaled,   // the module's own, times lo
  };
  std::string parameter;
  double lo = 0;
  double hi = 0;
  Kind kind = Kind::Uniform;
};

// What a layer wants.
struct LayerRecipe {
  std::vector<Regulariser> regularisers;
  std::vector<StartChange> starts;
  bool clamp = true;  // false: stored weights may leave the module's bounds, for ablations
};

// What a training does, with all layers alike.
struct TrainingRecipe {
  Optimiser optimiser;
  std::optional<double> clip_value;  // every gradient scalar into [-clip, clip], regularisers included
  std::optional<double> clip_norm;   // the gradient of all layers scaled down to this Euclidean norm
  std::optional<Reinitialise> reinitialise;
  Loss loss;
  std::optional<InputNoise> noise;
  std::optional<Restarts> restarts;
  std::optional<CoolDown> cool_down;
  std::optional<Decay> decay;
  std::optional<Phases> phases;
  long iterations = 50000;
  int batch = 128;
};

// Of a stack; a module's own has one layer.
struct Recipe {
  TrainingRecipe training;
  std::vector<LayerRecipe> layers = std::vector<LayerRecipe>(1);
};

}  // namespace nalm
