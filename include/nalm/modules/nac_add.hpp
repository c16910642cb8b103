// NAC+: sums and differences.
//
//   W = tanh(W_hat) * sigmoid(M_hat),   y_o = sum_i x_i W_io
//
// Trask et al., "Neural Arithmetic Logic Units", NeurIPS 2018.
#pragma once

#include "nalm/modules/nac_weights.hpp"

namespace nalm::modules {

struct NacAdd : nac::OneWeight, WeightedSum {
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
};

}  // namespace nalm::modules
