// SINE-SUM: a sum whose weights are sines, so that they cannot leave [-1, 1]. A module from outside of nalm's tree.
//
//   y_o = sum_i x_i W_io,   W = sin(W_hat)
#pragma once

#include <nalm/modules/mathematics.hpp>

namespace nalm::modules {

struct SineSum {
  static constexpr ParameterInfo parameters[] = {
      {"W_hat", per_input_and_output, {Start::Kind::XavierUniform}, {}, "the angle", {}, End::Anywhere},
  };
  static constexpr Quantity weights_info[] = {
      {"W", per_input_and_output, "sin(W_hat)", Role::Weight, discrete::units},
  };
  static constexpr Operation operations[] = {Operation::Add, Operation::Subtract};

  static Recipe recipe() {
    Recipe r;
    r.training.optimiser = Adam{.learning_rate = 1e-2};
    return r;
  }

  static constexpr std::string_view differences[] = {"There is no paper."};
  static constexpr ModuleInfo info{
      .name = "SINE-SUM",
      .title = "a sum whose weights are sines",
      .citation = "none",
      .formula = "y_o = sum_i x_i*sin(W_hat_io)",
      .learned = "the sign of each input",
      .differences = differences,
      .unusual_inputs = "NaN and infinities go through the sum.",
      .parameters = parameters,
      .weights = weights_info,
      .operations = operations,
      .recipe = recipe,
  };

  template <class T, class Shape>
  static void weights(const Shape& s, const T* p, T* w) {
    for (int k = 0; k < s.inputs * s.outputs; ++k) w[k] = sin(p[k]);
  }

  template <class T, class Shape>
  static void forward(const Shape& s, const T* /*p*/, const T* W, const T* x, T* y, T* /*step*/) {
    for (int o = 0; o < s.outputs; ++o) {
      T sum = x[0] * W[o];
      for (int i = 1; i < s.inputs; ++i) sum += x[i] * W[i * s.outputs + o];
      y[o] = sum;
    }
  }

  template <class T, class Shape>
  static void backward(const Shape& s, const T* /*p*/, const T* W, const T* x, const T* /*y*/, const T* /*step*/,
                       const T* dy, T* dx, T* /*dp*/, T* dW) {
    for (int o = 0; o < s.outputs; ++o) {
      for (int i = 0; i < s.inputs; ++i) {
        dW[i * s.outputs + o] += dy[o] * x[i];
        if (dx) dx[i] += dy[o] * W[i * s.outputs + o];
      }
    }
  }

  template <class T, class Shape>
  static void pull_back(const Shape& s, const T* p, const T* /*w*/, const T* dw, T* dp) {
    for (int k = 0; k < s.inputs * s.outputs; ++k) dp[k] += dw[k] * cos(p[k]);
  }

  static Expression ideal(Readout& r, int o) {
    Expression sum = 0.0;
    for (int i = 0; i < r.inputs(); ++i) sum += r.snapped("W", i, o) * r.x(i);
    return sum;
  }
};

}  // namespace nalm::modules
