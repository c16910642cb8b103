// The weights that NAC+, NAC•, NALU, G-NALU and iNALU share: W = tanh(W_hat) * sigmoid(M_hat).
//
// Each raw parameter is squashed accurately, once per iteration; the squashed values are kept beside W because the
// gradient is taken from them as rounded: in float32 a saturated tanh is exactly 1, its 1 - t^2 exactly 0, and that
// weight never moves again. The published success rates depend on it.
#pragma once

#include "nalm/modules/mathematics.hpp"

namespace nalm::modules::nac {

// W_hat, M_hat: n raw values each. out: W, then tanh(W_hat), then sigmoid(M_hat), n values each.
template <class T>
void weights(int n, const T* W_hat, const T* M_hat, T* out, double scale = 1.0) {
  for (int k = 0; k < n; ++k) {
    const T t = tanh(W_hat[k], scale), s = sigmoid(M_hat[k], scale);
    out[k] = t * s;
    out[n + k] = t;
    out[2 * n + k] = s;
  }
}

template <class T>
void pull_back(int n, const T* weights, const T* dW, T* dW_hat, T* dM_hat, double scale = 1.0) {
  for (int k = 0; k < n; ++k) {
    const T t = weights[n + k], s = weights[2 * n + k];
    dW_hat[k] += dW[k] * ((1.0 - t * t) * s) * scale;
    dM_hat[k] += dW[k] * (t * (s * (1.0 - s))) * scale;
  }
}

// The products of NAC•, NALU and G-NALU are sums of logarithms. The small number keeps the logarithm of 0 finite.
inline constexpr double epsilon = 1e-7;
inline constexpr std::string_view logarithm = "ln(|x| + 1e-7)";

template <class T>
T magnitude(const T& x) {
  return abs(x) + epsilon;
}
struct Logarithms {
  template <class T>
  static T inside_logarithm(const T& x) {
    return magnitude(x);
  }
  template <class T, class Shape>
  static void prepare(const Shape& s, const T* x, T* step) {
    for (int i = 0; i < s.inputs; ++i) step[i] = log(inside_logarithm(x[i]));
  }
};

inline constexpr ParameterInfo W_hat{"W_hat", per_input_and_output, {Start::Kind::Nac}, {}, "sign and selection",
                                     {},      End::FarOutOrZero};
inline constexpr ParameterInfo M_hat{"M_hat", per_input_and_output, {Start::Kind::Nac}, {}, "selection"};
inline constexpr Quantity W{"W", per_input_and_output, "tanh(W_hat)*sigmoid(M_hat)", Role::Weight, discrete::units};
inline constexpr Quantity tanh_W{"tanh", per_input_and_output, "tanh(W_hat)"};
inline constexpr Quantity sigmoid_W{"sigmoid", per_input_and_output, "sigmoid(M_hat)"};
// The same of sum and product each.
inline constexpr Quantity WA{"WA", per_input_and_output, "tanh(W_hat_A)*sigmoid(M_hat_A)", Role::OfSum,
                             discrete::units};
inline constexpr Quantity tanh_A{"tanh A", per_input_and_output, "tanh(W_hat_A)"};
inline constexpr Quantity sigmoid_A{"sigmoid A", per_input_and_output, "sigmoid(M_hat_A)"};
inline constexpr Quantity WM{"WM", per_input_and_output, "tanh(W_hat_M)*sigmoid(M_hat_M)", Role::OfProduct,
                             discrete::units};
inline constexpr Quantity tanh_M{"tanh M", per_input_and_output, "tanh(W_hat_M)"};
inline constexpr Quantity sigmoid_M{"sigmoid M", per_input_and_output, "sigmoid(M_hat_M)"};
inline constexpr Quantity gate_alone{"gate", per_output, "sigmoid(g)", Role::Gate, discrete::bits};

// One W, from the first two parameters. Base::scale: times the arguments of tanh and sigmoid.
template <class Base>
struct FirstWeight {
  template <class T, class Shape>
  static void weights(const Shape& s, const T* p, T* w) {
    const int n = s.inputs * s.outputs;
    nac::weights(n, p, p + n, w, Base::scale);
  }

  template <class T, class Shape>
  static void pull_back(const Shape& s, const T* /*p*/, const T* w, const T* dw, T* dp) {
    const int n = s.inputs * s.outputs;
    nac::pull_back(n, w, dw, dp, dp + n, Base::scale);
  }
};

struct PlainBase {
  static constexpr double scale = 1.0;
  static constexpr std::string_view gate_formula = "sigmoid(sum_i x_i*G_io)";
};

// NAC+ and NAC•: one W and nothing else.
struct OneWeight : FirstWeight<PlainBase> {
  static constexpr ParameterInfo parameters[] = {W_hat, M_hat};
  static constexpr Quantity weights_info[] = {W, tanh_W, sigmoid_W};
};

// iNALU and the variants of the NALU: one W for both paths, or one each, and perhaps a gate that does not look at the
// input behind them.
template <int sets, bool gate_is_alone>
struct Paths {
  template <class T, class Shape>
  static void weights(const Shape& s, const T* p, T* w) {
    const int n = s.inputs * s.outputs;
    for (int k = 0; k < sets; ++k) nac::weights(n, p + 2 * k * n, p + (2 * k + 1) * n, w + 3 * k * n);
    if (!gate_is_alone) return;
    for (int o = 0; o < s.outputs; ++o) w[3 * sets * n + o] = sigmoid(p[2 * sets * n + o]);
  }

  template <class T, class Shape>
  static void pull_back(const Shape& s, const T* /*p*/, const T* w, const T* dw, T* dp) {
    const int n = s.inputs * s.outputs;
    for (int k = 0; k < sets; ++k)
      nac::pull_back(n, w + 3 * k * n, dw + 3 * k * n, dp + 2 * k * n, dp + (2 * k + 1) * n);
    if (!gate_is_alone) return;
    for (int o = 0; o < s.outputs; ++o) {
      const T gate = w[3 * sets * n + o];
      dp[2 * sets * n + o] += dw[3 * sets * n + o] * (gate * (1.0 - gate));
    }
  }
};

// The sum, or the product of powers of magnitudes, as a gate has it that depends on the input, and so stays in the
// formula. G: the gate's weight of an input.
template <class GateWeight>
Expression ideal(Readout& r, int o, std::string_view of_sum, std::string_view of_product, GateWeight G) {
  Expression sum = 0.0, gate = 0.0;
  std::vector<Power> powers;
  for (int i = 0; i < r.inputs(); ++i) {
    sum += r.snapped(of_sum, i, o) * r.x(i);
    powers.push_back({abs(r.x(i)), r.snapped(of_product, i, o)});
    gate += G(i) * r.x(i);
  }
  const Expression g = sigmoid(gate);
  return g * sum + (1.0 - g) * product_of_powers(powers);
}

}  // namespace nalm::modules::nac
