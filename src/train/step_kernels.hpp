// What happens to parameters between two batches: regularisers, clipping, the optimiser, clamping. Compiled per
// instruction set, for arrays of n values in lane layout.
#pragma once

#include <cstdint>

#include "nalm/recipe.hpp"
#include "simd/compiled_targets.hpp"

namespace nalm {

// Adam's bias corrections are taken in double, once per iteration.
struct AdamStep {
  double beta1, beta2, epsilon;
  double step_size;        // learning rate / (1 - beta1^n)
  double root_correction;  // sqrt(1 - beta2^n)
};

template <class S>
struct StepKernels {
  void (*adam)(S* p, const S* gradient, S* m, S* v, int n, const AdamStep&);
  void (*rms_prop)(S* p, const S* gradient, S* v, int n, const RmsProp&);

  // Each adds the gradient of its regulariser. coefficient already contains 1/n where the regulariser is a mean.
  void (*sparsity)(const S* p, S* gradient, int n, double coefficient);
  void (*saturate)(const S* p, S* gradient, int n, double coefficient, const S* active);  // active: 1 or 0 per lane
  void (*l1)(const S* p, S* gradient, int n, double coefficient);
  void (*unit)(const S* p, S* gradient, int n, double coefficient);
  void (*grow)(const S* p, S* gradient, int n, double coefficient);

  void (*clip_value)(S* gradient, int n, double limit);
  void (*add_squares)(const S* gradient, int n, S* sum);  // per lane
  void (*norm_to_factor)(S* sum, double limit);           // sum of squares -> factor to multiply with, per lane
  void (*multiply)(S* gradient, int n, const S* factor);  // factor per lane

  void (*clamp)(S* p, int n, double lo, double hi);

  void (*error_gradient)(const S* y, const S* t, S* dy, int n, double scale, const Loss&);
  void (*broadcast)(const S* from, S* to, int n);  // one value for all lanes
  void (*tanh)(const S* x, S* y, int n);           // of every value

  // Uniform from lo to hi, hi per lane. state: four words per lane, [word][lane].
  void (*noise)(std::uint32_t* state, S* out, int n, double lo, const S* hi);
  void (*add)(const S* x, int n, S* sum);                                    // per lane
  void (*add_squared_deviations)(const S* x, int n, const S* mean, S* sum);  // per lane
};

template <class S>
const StepKernels<S>& step_kernels(int target_index);
template <>
const StepKernels<float>& step_kernels(int target_index);
template <>
const StepKernels<double>& step_kernels(int target_index);

}  // namespace nalm
