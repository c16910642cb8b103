// NAC+: sums and differences.
//
//   W = tanh(W_hat) * sigmoid(M_hat),   y_o = sum_i x_i W_io
//
// Trask et al., "Neural Arithmetic Logic Units", NeurIPS 2018.
#pragma once

#include "nalm/modules/nac_weights.hpp"

namespace nalm::modules {

struct NacAdd : nac::OneWeight {
  static constexpr Operation operations[] = {Operation::Add, Operation::Subtract};

  static constexpr std::string_view differences[] = {
      "Raw parameters start uniform in +-r with r from the variance of W; the reference implementation floors the fan "
      "sum at 5, so two inputs and one output give r = 9.4714: most weights start saturated. The published figures "
      "depend on it.",
      "A weight whose tanh rounds to 1 in float32 has gradient 0 for ever; in float64 it moves and other seeds "
      "succeed.",
  };
  static constexpr ModuleInfo info{
      .name = "NAC+",
      .other_name = "NAC",
      .title = "Neural Accumulator, summative",
      .citation = "Trask, Hill, Reed, Rae, Dyer, Blunsom: Neural Arithmetic Logic Units, NeurIPS 2018",
      .formula = "W = tanh(W_hat)*sigmoid(M_hat); y_o = sum_i x_i*W_io",
      .learned = "which inputs are added (1), subtracted (-1) or ignored (0)",
      .unusual_inputs =
          "NaN and infinities go through the sum: infinity times an exact 0 is NaN; zeros, denormals and "
          "1e30 are ordinary numbers.",
  };

  template <class T, class Shape>
  static void forward(const Shape& s, const T* /*p*/, const T* W, const T* x, T* y, T* /*step*/) {
    for (int o = 0; o < s.outputs; ++o) y[o] = weighted_sum(s, x, W, o);
  }

  template <class T, class Shape>
  static void backward(const Shape& s, const T* /*p*/, const T* W, const T* x, const T* /*y*/, const T* /*step*/,
                       const T* dy, T* dx, T* /*dp*/, T* dW) {
    for (int o = 0; o < s.outputs; ++o) weighted_sum_back(s, x, W, o, dy[o], dx, dW);
  }

  static Expression ideal(Readout& r, int o) {
    Expression sum = 0.0;
    for (int i = 0; i < r.inputs(); ++i) sum += r.snapped("W", i, o) * r.x(i);
    return sum;
  }
};

}  // namespace nalm::modules
