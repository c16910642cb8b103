// NAC•: products, quotients and powers of magnitudes.
//
//   W = tanh(W_hat) * sigmoid(M_hat),   y_o = exp(sum_i W_io ln(|x_i| + 1e-7))
//
// Trask et al., "Neural Arithmetic Logic Units", NeurIPS 2018.
#pragma once

#include "nalm/modules/nac_weights.hpp"

namespace nalm::modules {

// Of modules whose effective weights begin with W.
struct ProductOfMagnitudes : nac::Logarithms {
  static constexpr Quantity steps[] = {{"logarithm", per_input, nac::logarithm}};

  template <class T, class Shape>
  static void forward(const Shape& s, const T* /*p*/, const T* W, const T* /*x*/, T* y, T* step) {
    for (int o = 0; o < s.outputs; ++o) y[o] = exp(weighted_sum(s, step, W, o));
  }

  template <class T, class Shape>
  static void backward(const Shape& s, const T* /*p*/, const T* W, const T* x, const T* y, const T* step, const T* dy,
                       T* dx, T* /*dp*/, T* dW) {
    const T* logarithm = step;
    for (int i = 0; i < s.inputs; ++i) {
      for (int o = 0; o < s.outputs; ++o) {
        const T d_sum = dy[o] * y[o];
        dW[i * s.outputs + o] += d_sum * logarithm[i];
        if (dx) dx[i] += d_sum * W[i * s.outputs + o] * (sign(x[i]) / nac::magnitude(x[i]));
      }
    }
  }

  static Expression ideal(Readout& r, int o) {
    std::vector<Power> powers;
    for (int i = 0; i < r.inputs(); ++i) {
      powers.push_back({abs(r.x(i)), r.snapped("W", i, o)});
    }
    return product_of_powers(powers);
  }
};

struct NacMul : nac::OneWeight, ProductOfMagnitudes {
  static constexpr Operation operations[] = {Operation::Multiply, Operation::Divide};

  static constexpr std::string_view differences[] = {
      "As in the reference implementation this is NAC+ between a logarithm and an exponential: the same weights, start "
      "values and gradients.",
      "The small number is 1e-7, added to |x|; the output is always positive, so the sign of a product is never "
      "learned.",
      "Start values and float32 saturation as for NAC+.",
  };
  static constexpr ModuleInfo info{
      .name = "NAC*",
      .other_name = "NAC•",
      .title = "Neural Accumulator, multiplicative",
      .citation = "Trask, Hill, Reed, Rae, Dyer, Blunsom: Neural Arithmetic Logic Units, NeurIPS 2018",
      .formula = "W = tanh(W_hat)*sigmoid(M_hat); y_o = exp(sum_i W_io*ln(|x_i| + 1e-7))",
      .learned = "which magnitudes are multiplied (1), divided by (-1) or ignored (0); signs are lost",
      .unusual_inputs =
          "0 and denormals count as 1e-7; NaN gives NaN; an infinite input gives infinity or 0 by the sign "
          "of its weight, NaN where the weight is 0; results beyond the largest float are infinite.",
  };
};

}  // namespace nalm::modules
