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

namespace nalm {

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
struct Mathematics {
  static constexpr int sets = two_weights ? 2 : 1;

  static constexpr Quantity steps[] = {
      {"logarithm", per_input, nac::logarithm},
      {"summative path a", per_output, two_weights ? "sum_i x_i*WA_io" : "sum_i x_i*W_io"},
      {"multiplicative path m", per_output,
       two_weights ? "exp(sum_i WM_io*logarithm_i)" : "exp(sum_i W_io*logarithm_i)"},
      {"gate", per_output, gate_is_alone ? "sigmoid(g)" : "sigmoid(sum_i x_i*G_io)", Role::Gate, discrete::bits},
  };
  static constexpr Operation operations[] = {Operation::Add, Operation::Subtract, Operation::Multiply,
                                             Operation::Divide};
  static Recipe recipe() { return {}; }

  static constexpr std::string_view differences[] = {
      "Start values and small number as for the NALU; a gate of its own starts at 0, half open.",
      "Trained as the NALU in the survey (Adam, no regulariser), not as published.",
  };
  static constexpr std::string_view unusual_inputs =
      "NaN gives NaN; an infinite input gives infinity or NaN; 0 and denormals count as 1e-7 in the product.";

  template <class T, class Shape>
  static void weights(const Shape& s, const T* p, T* w) {
    const int n = s.inputs * s.outputs;
    for (int k = 0; k < sets; ++k) nac::weights(n, p + 2 * k * n, p + (2 * k + 1) * n, w + 3 * k * n);
    if (gate_is_alone) {
      for (int o = 0; o < s.outputs; ++o) w[3 * sets * n + o] = sigmoid(p[2 * sets * n + o]);
    }
  }

  template <class T, class Shape>
  static void prepare(const Shape& s, const T* x, T* step) {
    nac::logarithms(s.inputs, x, step);
  }

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

  template <class T, class Shape>
  static void pull_back(const Shape& s, const T* /*p*/, const T* w, const T* dw, T* dp) {
    const int n = s.inputs * s.outputs;
    for (int k = 0; k < sets; ++k) {
      nac::pull_back(n, w + 3 * k * n, dw + 3 * k * n, dp + 2 * k * n, dp + (2 * k + 1) * n);
    }
    if (gate_is_alone) {
      for (int o = 0; o < s.outputs; ++o) {
        const T gate = w[3 * sets * n + o];
        dp[2 * sets * n + o] += dw[3 * sets * n + o] * (gate * (1.0 - gate));
      }
    }
  }

  static Expression ideal(Readout& r, int o) {
    // A path that the gate has closed needs no discrete weights.
    const double alone = gate_is_alone ? r.snapped("gate", o) : 0.5;
    Expression sum = 0.0, gate = 0.0;
    std::vector<Power> powers;
    for (int i = 0; i < r.inputs(); ++i) {
      if (alone != 0) sum += r.snapped(two_weights ? "WA" : "W", i, o) * r.x(i);
      if (alone != 1) powers.push_back({abs(r.x(i)), r.snapped(two_weights ? "WM" : "W", i, o)});
      if (!gate_is_alone) gate += r.parameter("G", i, o) * r.x(i);
    }
    const Expression g = gate_is_alone ? Expression(alone) : sigmoid(gate);
    return g * sum + (1.0 - g) * product_of_powers(powers);
  }
};

inline constexpr Quantity WA{"WA", per_input_and_output, "tanh(W_hat_A)*sigmoid(M_hat_A)", Role::OfSum,
                             discrete::units};
inline constexpr Quantity tanh_A{"tanh A", per_input_and_output, "tanh(W_hat_A)"};
inline constexpr Quantity sigmoid_A{"sigmoid A", per_input_and_output, "sigmoid(M_hat_A)"};
inline constexpr Quantity WM{"WM", per_input_and_output, "tanh(W_hat_M)*sigmoid(M_hat_M)", Role::OfProduct,
                             discrete::units};
inline constexpr Quantity tanh_M{"tanh M", per_input_and_output, "tanh(W_hat_M)"};
inline constexpr Quantity sigmoid_M{"sigmoid M", per_input_and_output, "sigmoid(M_hat_M)"};
inline constexpr Quantity gate{"gate", per_output, "sigmoid(g)", Role::Gate, discrete::bits};

}  // namespace nalu_variants

struct Nalu2M : nalu_variants::Mathematics<true, false> {
  static constexpr ParameterInfo parameters[] = {nalu_variants::W_hat_A, nalu_variants::M_hat_A, nalu_variants::W_hat_M,
                                                 nalu_variants::M_hat_M, nalu_variants::gate_of_inputs};
  static constexpr Quantity weights_info[] = {nalu_variants::WA, nalu_variants::tanh_A, nalu_variants::sigmoid_A,
                                              nalu_variants::WM, nalu_variants::tanh_M, nalu_variants::sigmoid_M};
  static constexpr ModuleInfo info{
      .name = "NALU2M",
      .title = "NALU with two weight matrices",
      .citation = nalu_variants::citation,
      .formula =
          "a = sum_i x_i*WA_io; m = exp(sum_i WM_io*ln(|x_i| + 1e-7)); g = sigmoid(sum_i x_i*G_io); "
          "y_o = g*a + (1 - g)*m; each W = tanh(W_hat)*sigmoid(M_hat)",
      .learned = "as NALU, with separate weights for sum and product",
      .differences = differences,
      .unusual_inputs = unusual_inputs,
      .prepared = nac::logarithm,
      .parameters = parameters,
      .weights = weights_info,
      .steps = steps,
      .operations = operations,
      .recipe = recipe,
  };
};

struct NaluIg : nalu_variants::Mathematics<false, true> {
  static constexpr ParameterInfo parameters[] = {nac::W_hat, nac::M_hat, nalu_variants::gate_alone};
  static constexpr Quantity weights_info[] = {
      {"W", per_input_and_output, "tanh(W_hat)*sigmoid(M_hat)", Role::Weight, discrete::units},
      {"tanh", per_input_and_output, "tanh(W_hat)"},
      {"sigmoid", per_input_and_output, "sigmoid(M_hat)"},
      nalu_variants::gate,
  };
  static constexpr ModuleInfo info{
      .name = "NALUIG",
      .title = "NALU with an independent gate",
      .citation = nalu_variants::citation,
      .formula =
          "W = tanh(W_hat)*sigmoid(M_hat); a = sum_i x_i*W_io; m = exp(sum_i W_io*ln(|x_i| + 1e-7)); "
          "y_o = sigmoid(g_o)*a + (1 - sigmoid(g_o))*m",
      .learned = "as NALU, with a gate that is the same for all inputs",
      .differences = differences,
      .unusual_inputs = unusual_inputs,
      .prepared = nac::logarithm,
      .parameters = parameters,
      .weights = weights_info,
      .steps = steps,
      .operations = operations,
      .recipe = recipe,
  };
};

struct Nalu2MIg : nalu_variants::Mathematics<true, true> {
  static constexpr ParameterInfo parameters[] = {nalu_variants::W_hat_A, nalu_variants::M_hat_A, nalu_variants::W_hat_M,
                                                 nalu_variants::M_hat_M, nalu_variants::gate_alone};
  static constexpr Quantity weights_info[] = {nalu_variants::WA,  nalu_variants::tanh_A, nalu_variants::sigmoid_A,
                                              nalu_variants::WM,  nalu_variants::tanh_M, nalu_variants::sigmoid_M,
                                              nalu_variants::gate};
  static constexpr ModuleInfo info{
      .name = "NALU2MIG",
      .title = "NALU with two weight matrices and an independent gate",
      .citation = nalu_variants::citation,
      .formula =
          "a = sum_i x_i*WA_io; m = exp(sum_i WM_io*ln(|x_i| + 1e-7)); y_o = sigmoid(g_o)*a + (1 - sigmoid(g_o))*m; "
          "each W = tanh(W_hat)*sigmoid(M_hat)",
      .learned = "as NALU, with separate weights for sum and product and a gate that is the same for all inputs",
      .differences = differences,
      .unusual_inputs = unusual_inputs,
      .prepared = nac::logarithm,
      .parameters = parameters,
      .weights = weights_info,
      .steps = steps,
      .operations = operations,
      .recipe = recipe,
  };
};

}  // namespace nalm
