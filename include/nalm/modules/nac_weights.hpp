// The weights that NAC+, NAC•, NALU, G-NALU and iNALU share: W = tanh(W_hat) * sigmoid(M_hat).
//
// Each raw parameter is squashed accurately, once per iteration; the squashed values are kept beside W because the
// gradient is taken from them as rounded: in float32 a saturated tanh is exactly 1, its 1 - t^2 exactly 0, and that
// weight never moves again. The published success rates depend on it.
#pragma once

#include "nalm/modules/mathematics.hpp"

namespace nalm::nac {

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
template <class T>
void logarithms(int n, const T* x, T* out) {
  for (int i = 0; i < n; ++i) out[i] = log(magnitude(x[i]));
}

inline constexpr ParameterInfo W_hat{"W_hat", per_input_and_output, {Start::Kind::Nac}, {}, "sign and selection",
                                     {},      End::FarOutOrZero};
inline constexpr ParameterInfo M_hat{"M_hat", per_input_and_output, {Start::Kind::Nac}, {}, "selection"};

}  // namespace nalm::nac
