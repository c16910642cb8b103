// Gated NAU/NMU: a gate between a NAU and an NMU, each with weights of its own.
//
//   a_o = sum_i x_i W_nau_io,   m_o = prod_i (W_nmu_io x_i + 1 - W_nmu_io),   g_o = sigmoid(sum_i x_i G_io)
//   y_o = g_o a_o + (1 - g_o) m_o
//
// Madsen and Johansen, "Neural Arithmetic Units", ICLR 2020, who ask whether gating works for their units.
#pragma once

#include "nalm/modules/nau.hpp"
#include "nalm/modules/nmu.hpp"

namespace nalm::modules {

struct GatedNauNmu {
  static constexpr ParameterInfo parameters[] = {
      {"W_nau", per_input_and_output, Nau::parameters[0].start, Clamp{-1, 1}, "sum: subtract, ignore or add"},
      {"W_nmu", per_input_and_output, Nmu::parameters[0].start, Clamp{0, 1}, "product: ignore or multiply"},
      {"G", per_input_and_output, {Start::Kind::XavierUniform}, {}, "gate: how the inputs choose sum or product"},
  };
  static constexpr Quantity weights_info[] = {
      {"W_nau", per_input_and_output, "W_nau clamped to [-1, 1]", Role::OfSum, discrete::units},
      {"W_nmu", per_input_and_output, "W_nmu as it is", Role::OfProduct, discrete::bits},
  };
  static constexpr Quantity steps[] = {
      {"factor", per_input_and_output, "W_nmu*x + 1 - W_nmu"},
      {"product before", per_input_and_output, "the factors of earlier inputs, multiplied"},
      {"sum a", per_output, "sum_i x_i*W_nau_io"},
      {"product m", per_output, "the product of the factors"},
      {"gate g", per_output, "sigmoid(sum_i x_i*G_io)", Role::Gate, discrete::bits},
  };
  static constexpr Operation operations[] = {Operation::Add, Operation::Subtract, Operation::Multiply};

  // G is no selection, so it is left alone.
  static Recipe recipe() {
    Recipe r;
    r.layers[0].regularisers = {Regulariser::sparsity(10, 20000, 35000, "W_nau"),
                                Regulariser::sparsity(10, 20000, 35000, "W_nmu")};
    return r;
  }

  static constexpr std::string_view differences[] = {
      "Start values and bounds of the weights as for NAU and NMU; the gate is that of the NALU, without a bias.",
      "Both weights are regularised as the NMU's are.",
  };
  static constexpr ModuleInfo info{
      .name = "Gated",
      .other_name = "GatedNAU/NMU",
      .title = "Gated NAU/NMU",
      .citation = "Madsen, Johansen: Neural Arithmetic Units, ICLR 2020, the appendix on gating",
      .formula =
          "a = sum_i x_i*W_nau_io, W_nau in [-1, 1]; m = prod_i (W_nmu_io*x_i + 1 - W_nmu_io), W_nmu in [0, 1]; "
          "g = sigmoid(sum_i x_i*G_io); y_o = g*a + (1 - g)*m",
      .learned =
          "which inputs are added and which multiplied and, through a gate that depends on the input, which of "
          "the two is the output",
      .unusual_inputs =
          "NaN gives NaN; an infinite input mostly gives NaN (infinity times 0 in one of the paths); zeros are "
          "ordinary; where the product overflows the output is infinite or, with the gate fully open, NaN.",
  };

  template <class T, class Shape>
  static void weights(const Shape& s, const T* p, T* w) {
    const auto [raw_nau, raw_nmu, G] = unpack<parameters>(s, p);
    const auto [W_nau, W_nmu] = unpack<weights_info>(s, w);
    Nau::weights(s, raw_nau, W_nau);
    Nmu::weights(s, raw_nmu, W_nmu);
  }

  template <class T, class Shape>
  static void forward(const Shape& s, const T* p, const T* w, const T* x, T* y, T* step) {
    const auto [raw_nau, raw_nmu, G] = unpack<parameters>(s, p);
    const auto [W_nau, W_nmu] = unpack<weights_info>(s, w);
    const auto [factor, before, a, m, g] = unpack<steps>(s, step);
    Nau::forward(s, raw_nau, W_nau, x, a, step);
    Nmu::forward(s, raw_nmu, W_nmu, x, m, step);  // whose steps are the first ones
    for (int o = 0; o < s.outputs; ++o) {
      g[o] = sigmoid_fast(weighted_sum(s, x, G, o));
      y[o] = g[o] * a[o] + (1.0 - g[o]) * m[o];
    }
  }

  template <class T, class Shape>
  static void backward(const Shape& s, const T* p, const T* w, const T* x, const T* /*y*/, const T* step, const T* dy,
                       T* dx, T* dp, T* dw) {
    const auto [raw_nau, raw_nmu, G] = unpack<parameters>(s, p);
    const auto [d_raw_nau, d_raw_nmu, dG] = unpack<parameters>(s, dp);
    const auto [W_nau, W_nmu] = unpack<weights_info>(s, w);
    const auto [dW_nau, dW_nmu] = unpack<weights_info>(s, dw);
    const auto [factor, before, a, m, g] = unpack<steps>(s, step);
    for (int o = 0; o < s.outputs; ++o) {
      const T d_sum = dy[o] * g[o];
      const T d_gate = dy[o] * (a[o] - m[o]) * (g[o] * (1.0 - g[o]));
      T after = dy[o] * (1.0 - g[o]);
      for (int i = s.inputs - 1; i >= 0; --i) {
        const int k = i * s.outputs + o;
        const T d_factor = before[k] * after;
        dW_nau[k] += d_sum * x[i];
        dW_nmu[k] += d_factor * (x[i] - 1.0);
        dG[k] += d_gate * x[i];
        if (dx) dx[i] += d_sum * W_nau[k] + d_factor * W_nmu[k] + d_gate * G[k];
        after *= factor[k];
      }
    }
  }

  template <class T, class Shape>
  static void pull_back(const Shape& s, const T* p, const T* w, const T* dw, T* dp) {
    const int n = s.inputs * s.outputs;
    Nau::pull_back(s, p, w, dw, dp);
    Nmu::pull_back(s, p + n, w + n, dw + n, dp + n);
  }

  static Expression ideal(Readout& r, int o) {
    Expression sum = 0.0, product = 1.0, gate = 0.0;
    for (int i = 0; i < r.inputs(); ++i) {
      const double w = r.snapped("W_nmu", i, o);
      sum += r.snapped("W_nau", i, o) * r.x(i);
      product *= w * r.x(i) + (1 - w);
      gate += r.parameter("G", i, o) * r.x(i);
    }
    // The gate depends on the input, so it stays in the formula.
    const Expression g = sigmoid(gate);
    return g * sum + (1.0 - g) * product;
  }
};

}  // namespace nalm::modules
