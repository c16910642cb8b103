// NALU(v): the NALU with one gate for all outputs; its gate weights are a vector.
//
//   W = tanh(W_hat) * sigmoid(M_hat)
//   a_o = sum_i x_i W_io,   m_o = exp(sum_i W_io ln(|x_i| + 1e-7)),   g = sigmoid(sum_i x_i G_i)
//   y_o = g a_o + (1 - g) m_o
//
// Schlör, Ring and Hotho, "iNALU: Improved Neural Arithmetic Logic Unit", Frontiers in Artificial Intelligence 2020,
// where it is compared with the NALU, called NALU(m).
#pragma once

#include "nalm/modules/nalu.hpp"

namespace nalm::modules {

// Weights and their pull-back, the logarithms, operations and recipe are the NALU's.
struct NaluVector : NaluMathematics<nac::PlainBase> {
  static constexpr ParameterInfo parameters[] = {
      nac::W_hat,
      nac::M_hat,
      {"G", per_input, {Start::Kind::XavierUniform}, {}, "gate: how the inputs choose sum or product, for all outputs"},
  };
  static constexpr auto& weights_info = Nalu::weights_info;
  static constexpr Quantity steps[] = {
      {"logarithm", per_input, nac::logarithm},
      {"summative path a", per_output, "sum_i x_i*W_io"},
      {"multiplicative path m", per_output, "exp(sum_i W_io*logarithm_i)"},
      {"gate g", {Axis::One}, "sigmoid(sum_i x_i*G_i)", Role::Gate, discrete::bits},
  };
  static constexpr std::string_view differences[] = {
      "All but the gate is the NALU: one pair W_hat, M_hat, the small number 1e-7, start values and training.",
      "The range of G's start values counts all outputs of the layer, as the NALU's does, although G serves them all "
      "at once.",
  };
  static constexpr ModuleInfo info{
      .name = "NALU-vector",
      .title = "NALU with one gate for all outputs",
      .citation = "Schlör, Ring, Hotho: iNALU: Improved Neural Arithmetic Logic Unit, Frontiers in AI 2020",
      .formula =
          "W = tanh(W_hat)*sigmoid(M_hat); a = sum_i x_i*W_io; m = exp(sum_i W_io*ln(|x_i| + 1e-7)); "
          "g = sigmoid(sum_i x_i*G_i); y_o = g*a + (1 - g)*m",
      .learned = "as NALU, but all outputs of a layer are sums, or all are products",
      .unusual_inputs = Nalu::info.unusual_inputs,
  };

  template <class T, class Shape>
  static void forward(const Shape& s, const T* p, const T* W, const T* x, T* y, T* step) {
    const T* G = p + 2 * s.inputs * s.outputs;
    T *logarithm = step, *a = logarithm + s.inputs, *m = a + s.outputs, *g = m + s.outputs;
    T gate = x[0] * G[0];
    for (int i = 1; i < s.inputs; ++i) gate += x[i] * G[i];
    *g = sigmoid_fast(gate);
    for (int o = 0; o < s.outputs; ++o) {
      T sum = x[0] * W[o], log_sum = W[o] * logarithm[0];
      for (int i = 1; i < s.inputs; ++i) {
        const int k = i * s.outputs + o;
        sum += x[i] * W[k];
        log_sum += W[k] * logarithm[i];
      }
      a[o] = sum;
      m[o] = exp(log_sum);
      y[o] = *g * a[o] + (1.0 - *g) * m[o];
    }
  }

  template <class T, class Shape>
  static void backward(const Shape& s, const T* p, const T* W, const T* x, const T* /*y*/, const T* step, const T* dy,
                       T* dx, T* dp, T* dW) {
    const T* G = p + 2 * s.inputs * s.outputs;
    T* dG = dp + 2 * s.inputs * s.outputs;
    const T *logarithm = step, *a = logarithm + s.inputs, *m = a + s.outputs, *g = m + s.outputs;
    T d_gate = 0.0;
    for (int o = 0; o < s.outputs; ++o) {
      const T d_sum = dy[o] * *g;
      const T d_log_sum = dy[o] * (1.0 - *g) * m[o];
      d_gate += dy[o] * (a[o] - m[o]);
      for (int i = 0; i < s.inputs; ++i) {
        const int k = i * s.outputs + o;
        dW[k] += d_sum * x[i] + d_log_sum * logarithm[i];
        if (dx) dx[i] += d_sum * W[k] + d_log_sum * W[k] * (sign(x[i]) / nac::magnitude(x[i]));
      }
    }
    d_gate *= *g * (1.0 - *g);
    for (int i = 0; i < s.inputs; ++i) {
      dG[i] += d_gate * x[i];
      if (dx) dx[i] += d_gate * G[i];
    }
  }

  static Expression ideal(Readout& r, int o) {
    return nac::ideal(r, o, "W", "W", [&](int i) { return r.parameter("G", i); });
  }
};

}  // namespace nalm::modules
