// NALU: a gate between the sum of NAC+ and the product of NAC•, both with the same weights.
//
//   W = tanh(W_hat) * sigmoid(M_hat)
//   a_o = sum_i x_i W_io,   m_o = exp(sum_i W_io ln(|x_i| + 1e-7)),   g_o = sigmoid(sum_i x_i G_io)
//   y_o = g_o a_o + (1 - g_o) m_o
//
// Trask et al., "Neural Arithmetic Logic Units", NeurIPS 2018.
#pragma once

#include "nalm/modules/nac_weights.hpp"

namespace nalm::modules {

// G-NALU is the same with every tanh and sigmoid in base phi, that is, with its argument times ln(phi).
template <class Base>
struct NaluMathematics : nac::FirstWeight<Base>, nac::Logarithms {
  static constexpr ParameterInfo parameters[] = {
      nac::W_hat,
      nac::M_hat,
      {"G", per_input_and_output, {Start::Kind::XavierUniform}, {}, "gate: how the inputs choose sum or product"},
  };
  static constexpr Quantity steps[] = {
      {"logarithm", per_input, nac::logarithm},
      {"summative path a", per_output, "sum_i x_i*W_io"},
      {"multiplicative path m", per_output, "exp(sum_i W_io*logarithm_i)"},
      {"gate g", per_output, Base::gate_formula, Role::Gate, discrete::bits},
  };
  static constexpr auto& operations = all_operations;

  template <class T, class Shape>
  static void forward(const Shape& s, const T* p, const T* W, const T* x, T* y, T* step) {
    const T* G = p + 2 * s.inputs * s.outputs;
    T *logarithm = step, *a = logarithm + s.inputs, *m = a + s.outputs, *g = m + s.outputs;
    for (int o = 0; o < s.outputs; ++o) {
      T sum = x[0] * W[o], log_sum = W[o] * logarithm[0], gate = x[0] * G[o];
      for (int i = 1; i < s.inputs; ++i) {
        const int k = i * s.outputs + o;
        sum += x[i] * W[k];
        log_sum += W[k] * logarithm[i];
        gate += x[i] * G[k];
      }
      a[o] = sum;
      m[o] = exp(log_sum);
      g[o] = sigmoid_fast(gate * Base::scale);
      y[o] = g[o] * a[o] + (1.0 - g[o]) * m[o];
    }
  }

  template <class T, class Shape>
  static void backward(const Shape& s, const T* p, const T* W, const T* x, const T* /*y*/, const T* step, const T* dy,
                       T* dx, T* dp, T* dW) {
    const T* G = p + 2 * s.inputs * s.outputs;
    T* dG = dp + 2 * s.inputs * s.outputs;
    const T *logarithm = step, *a = logarithm + s.inputs, *m = a + s.outputs, *g = m + s.outputs;
    for (int o = 0; o < s.outputs; ++o) {
      const T d_sum = dy[o] * g[o];
      const T d_log_sum = dy[o] * (1.0 - g[o]) * m[o];
      const T d_gate = dy[o] * (a[o] - m[o]) * (g[o] * (1.0 - g[o])) * Base::scale;
      for (int i = 0; i < s.inputs; ++i) {
        const int k = i * s.outputs + o;
        dW[k] += d_sum * x[i] + d_log_sum * logarithm[i];
        dG[k] += d_gate * x[i];
        if (dx) dx[i] += d_sum * W[k] + d_gate * G[k] + d_log_sum * W[k] * (sign(x[i]) / nac::magnitude(x[i]));
      }
    }
  }

  static Expression ideal(Readout& r, int o) {
    return nac::ideal(r, o, "W", "W", [&](int i) { return Base::scale * r.parameter("G", i, o); });
  }
};

struct Nalu : NaluMathematics<nac::PlainBase> {
  static constexpr Quantity weights_info[] = {nac::W, nac::tanh_W, nac::sigmoid_W};
  static constexpr std::string_view differences[] = {
      "One pair W_hat, M_hat serves both paths, and its gradient is the sum of both.",
      "The gate has no bias; the small number is 1e-7, added to |x|.",
      "Start values and float32 saturation as for NAC+.",
  };
  static constexpr ModuleInfo info{
      .name = "NALU",
      .title = "Neural Arithmetic Logic Unit",
      .citation = "Trask, Hill, Reed, Rae, Dyer, Blunsom: Neural Arithmetic Logic Units, NeurIPS 2018",
      .formula =
          "W = tanh(W_hat)*sigmoid(M_hat); a = sum_i x_i*W_io; m = exp(sum_i W_io*ln(|x_i| + 1e-7)); "
          "g = sigmoid(sum_i x_i*G_io); y_o = g*a + (1 - g)*m",
      .learned =
          "which inputs take part and, through a gate that depends on the input, sum or product; signs of products "
          "are lost",
      .unusual_inputs =
          "NaN gives NaN; an infinite input mostly gives NaN (infinity times 0 in one of the paths); 0 and "
          "denormals count as 1e-7 in the product; where the product overflows the output is infinite or, "
          "with the gate fully closed, NaN.",
  };
};

}  // namespace nalm::modules
