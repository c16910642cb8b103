// NALU2M, NALUIG and NALU2MIG: the NALU with separate weights for sum and product (2M), with a gate that does not look
// at the input (IG), or with both.
//
//   WA, WM = tanh(W_hat) sigmoid(M_hat), one W for both without 2M
//   a_o = sum_i x_i WA_io,   m_o = exp(sum_i WM_io ln(|x_i| + 1e-7))
//   g_o = sigmoid(sum_i x_i G_io),   or sigmoid(g_o) with IG
//   y_o = g_o a_o + (1 - g_o) m_o
//
// Built in: the sign of a product is lost, as in the NALU.
//
// Passo et al., 2025.
#pragma once

#include "nalm/modules/nac_weights.hpp"

namespace nalm::modules {

namespace nalu_variants {

inline constexpr ParameterInfo gate_of_inputs{
    "G", per_input_and_output, {Start::Kind::XavierUniform}, {}, "gate: how the inputs choose sum or product"};
inline constexpr ParameterInfo gate_alone{
    "g", per_output, Start::constant(0), {}, "gate: sum (large) or product (negative)"};
inline constexpr ParameterInfo W_hat_A{"W_hat_A", per_input_and_output, {Start::Kind::Nac}, {}, "sum: sign, selection",
                                       {},        End::FarOutOrZero};
inline constexpr ParameterInfo M_hat_A{"M_hat_A", per_input_and_output, {Start::Kind::Nac}, {}, "sum: selection"};
inline constexpr ParameterInfo W_hat_M{
    "W_hat_M", per_input_and_output, {Start::Kind::Nac}, {}, "product: sign, selection", {}, End::FarOutOrZero};
inline constexpr ParameterInfo M_hat_M{"M_hat_M", per_input_and_output, {Start::Kind::Nac}, {}, "product: selection"};

inline constexpr std::string_view citation = "Passo et al., 2025; the formulas are all that is taken from it";

template <bool two_weights, bool gate_is_alone>
struct Mathematics : nac::Paths<two_weights ? 2 : 1, gate_is_alone>, nac::Logarithms {
  static constexpr int sets = two_weights ? 2 : 1;

  static constexpr Quantity steps[] = {
      {"logarithm", per_input, nac::logarithm},
      {"summative path a", per_output, two_weights ? "sum_i x_i*WA_io" : "sum_i x_i*W_io"},
      {"multiplicative path m", per_output,
       two_weights ? "exp(sum_i WM_io*logarithm_i)" : "exp(sum_i W_io*logarithm_i)"},
      {"gate", per_output, gate_is_alone ? "sigmoid(g)" : "sigmoid(sum_i x_i*G_io)", Role::Gate, discrete::bits},
  };
  static constexpr auto& operations = all_operations;

  static constexpr std::string_view differences[] = {
      "Start values and small number as for the NALU; a gate of its own starts at 0, half open.",
      "Trained as the NALU in the survey (Adam, no regulariser), not as published.",
  };
  static constexpr std::string_view unusual_inputs =
      "NaN gives NaN; an infinite input gives infinity or NaN; 0 and denormals count as 1e-7 in the product.";

  template <class T, class Shape>
  static void forward(const Shape& s, const T* p, const T* w, const T* x, T* y, T* step) {
    const int n = s.inputs * s.outputs;
    const T *WA = w, *WM = w + 3 * (sets - 1) * n, *alone = w + 3 * sets * n, *G = p + 2 * sets * n;
    T *logarithm = step, *a = logarithm + s.inputs, *m = a + s.outputs, *g = m + s.outputs;
    for (int o = 0; o < s.outputs; ++o) {
      T sum = 0.0, log_sum = 0.0, gate = 0.0;
      for (int i = 0; i < s.inputs; ++i) {
        const int k = i * s.outputs + o;
        sum += x[i] * WA[k];
        log_sum += WM[k] * logarithm[i];
        if constexpr (!gate_is_alone) gate += x[i] * G[k];
      }
      a[o] = sum;
      m[o] = exp(log_sum);
      if constexpr (gate_is_alone) {
        g[o] = alone[o];
      } else {
        g[o] = sigmoid_fast(gate);
      }
      y[o] = g[o] * a[o] + (1.0 - g[o]) * m[o];
    }
  }

  template <class T, class Shape>
  static void backward(const Shape& s, const T* p, const T* w, const T* x, const T* /*y*/, const T* step, const T* dy,
                       T* dx, T* dp, T* dw) {
    const int n = s.inputs * s.outputs;
    const T *WA = w, *WM = w + 3 * (sets - 1) * n, *G = p + 2 * sets * n;
    T *dWA = dw, *dWM = dw + 3 * (sets - 1) * n, *d_alone = dw + 3 * sets * n, *dG = dp + 2 * sets * n;
    const T *logarithm = step, *a = logarithm + s.inputs, *m = a + s.outputs, *g = m + s.outputs;
    for (int o = 0; o < s.outputs; ++o) {
      const T d_sum = dy[o] * g[o];
      const T d_log_sum = dy[o] * (1.0 - g[o]) * m[o];
      T d_gate = dy[o] * (a[o] - m[o]);
      if constexpr (gate_is_alone) {
        d_alone[o] += d_gate;
      } else {
        d_gate *= g[o] * (1.0 - g[o]);
      }
      for (int i = 0; i < s.inputs; ++i) {
        const int k = i * s.outputs + o;
        dWA[k] += d_sum * x[i];
        dWM[k] += d_log_sum * logarithm[i];
        if constexpr (!gate_is_alone) dG[k] += d_gate * x[i];
        if (dx) {
          dx[i] += d_sum * WA[k] + d_log_sum * WM[k] * (sign(x[i]) / nac::magnitude(x[i]));
          if constexpr (!gate_is_alone) dx[i] += d_gate * G[k];
        }
      }
    }
  }

  static Expression ideal(Readout& r, int o) {
    const std::string_view of_sum = two_weights ? "WA" : "W", of_product = two_weights ? "WM" : "W";
    if (!gate_is_alone) return nac::ideal(r, o, of_sum, of_product, [&](int i) { return r.parameter("G", i, o); });
    // A path that the gate has closed needs no discrete weights.
    const double gate = r.snapped("gate", o);
    Expression sum = 0.0;
    std::vector<Power> powers;
    for (int i = 0; i < r.inputs(); ++i) {
      if (gate != 0) sum += r.snapped(of_sum, i, o) * r.x(i);
      if (gate != 1) powers.push_back({abs(r.x(i)), r.snapped(of_product, i, o)});
    }
    return gate * sum + (1.0 - gate) * product_of_powers(powers);
  }
};

}  // namespace nalu_variants

struct Nalu2M : nalu_variants::Mathematics<true, false> {
  static constexpr ParameterInfo parameters[] = {nalu_variants::W_hat_A, nalu_variants::M_hat_A, nalu_variants::W_hat_M,
                                                 nalu_variants::M_hat_M, nalu_variants::gate_of_inputs};
  static constexpr Quantity weights_info[] = {nac::WA, nac::tanh_A, nac::sigmoid_A,
                                              nac::WM, nac::tanh_M, nac::sigmoid_M};
  static constexpr ModuleInfo info{
      .name = "NALU2M",
      .title = "NALU with two weight matrices",
      .citation = nalu_variants::citation,
      .formula =
          "a = sum_i x_i*WA_io; m = exp(sum_i WM_io*ln(|x_i| + 1e-7)); g = sigmoid(sum_i x_i*G_io); "
          "y_o = g*a + (1 - g)*m; each W = tanh(W_hat)*sigmoid(M_hat)",
      .learned = "as NALU, with separate weights for sum and product",
      .unusual_inputs = unusual_inputs,
  };
};

struct NaluIg : nalu_variants::Mathematics<false, true> {
  static constexpr ParameterInfo parameters[] = {nac::W_hat, nac::M_hat, nalu_variants::gate_alone};
  static constexpr Quantity weights_info[] = {nac::W, nac::tanh_W, nac::sigmoid_W, nac::gate_alone};
  static constexpr ModuleInfo info{
      .name = "NALUIG",
      .title = "NALU with an independent gate",
      .citation = nalu_variants::citation,
      .formula =
          "W = tanh(W_hat)*sigmoid(M_hat); a = sum_i x_i*W_io; m = exp(sum_i W_io*ln(|x_i| + 1e-7)); "
          "y_o = sigmoid(g_o)*a + (1 - sigmoid(g_o))*m",
      .learned = "as NALU, with a gate that is the same for all inputs",
      .unusual_inputs = unusual_inputs,
  };
};

struct Nalu2MIg : nalu_variants::Mathematics<true, true> {
  static constexpr ParameterInfo parameters[] = {nalu_variants::W_hat_A, nalu_variants::M_hat_A, nalu_variants::W_hat_M,
                                                 nalu_variants::M_hat_M, nalu_variants::gate_alone};
  static constexpr Quantity weights_info[] = {nac::WA,     nac::tanh_A,    nac::sigmoid_A, nac::WM,
                                              nac::tanh_M, nac::sigmoid_M, nac::gate_alone};
  static constexpr ModuleInfo info{
      .name = "NALU2MIG",
      .title = "NALU with two weight matrices and an independent gate",
      .citation = nalu_variants::citation,
      .formula =
          "a = sum_i x_i*WA_io; m = exp(sum_i WM_io*ln(|x_i| + 1e-7)); y_o = sigmoid(g_o)*a + (1 - sigmoid(g_o))*m; "
          "each W = tanh(W_hat)*sigmoid(M_hat)",
      .learned = "as NALU, with separate weights for sum and product and a gate that is the same for all inputs",
      .unusual_inputs = unusual_inputs,
  };
};

}  // namespace nalm::modules
