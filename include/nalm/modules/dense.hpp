// Dense: the ordinary layer of a neural network, as a yardstick.
//
//   y_o = f(b_o + sum_i x_i W_io),   f one of relu, relu6, sigmoid, tanh
#pragma once

#include "nalm/modules/mathematics.hpp"

namespace nalm::modules {

struct Dense {
  enum Option { activation };
  // What the activation can be, in this order. A struct of its own, because these are also names of functions.
  struct Choice {
    static constexpr double relu = 0, relu6 = 1, sigmoid = 2, tanh = 3;
  };

  static constexpr OptionInfo options[] = {
      {.name = "activation",
       .meaning = "relu: max(z, 0); relu6: min(max(z, 0), 6); sigmoid: 1/(1 + exp(-z)); tanh",
       .standard = Choice::relu,
       .choices = {"relu", "relu6", "sigmoid", "tanh"}},
  };
  static constexpr ParameterInfo parameters[] = {
      {"W", per_input_and_output, {Start::Kind::XavierUniform}, {}, "the factor of the input", {}, End::Whole},
      {"b", per_output, Start::constant(0), {}, "the constant term", {}, End::Anywhere},
  };
  static constexpr Quantity weights_info[] = {
      {"W", per_input_and_output, "W as it is"},
      {"b", per_output, "b as it is"},
  };
  static constexpr Quantity steps[] = {{"sum z", per_output, "b_o + sum_i x_i*W_io"}};

  static constexpr std::string_view differences[] = {
      "Weights start as Glorot and Bengio's uniform ones for every activation, the constant terms at 0; relu and relu6 "
      "often start with He's instead, +-sqrt(6/inputs).",
      "The gradient of relu and relu6 is 0 where they bend.",
  };
  static constexpr ModuleInfo info{
      .name = "Dense",
      .title = "Dense layer with an activation",
      .citation = "the ordinary dense layer of neural networks",
      .formula = "z = b_o + sum_i x_i*W_io; y_o = max(z, 0), or min(max(z, 0), 6), sigmoid(z), tanh(z)",
      .learned = "all factors and the constant terms; any real numbers",
      .unusual_inputs =
          "NaN gives NaN; infinities go through the sum, where infinity times an exact 0 is NaN, and give the limit of "
          "the activation; zeros, denormals and 1e30 are ordinary numbers.",
  };

  template <class T>
  static T activate(double choice, const T& z) {
    if (choice == Choice::sigmoid) return sigmoid_fast(z);
    if (choice == Choice::tanh) return tanh(z);
    const T positive = max(0.0, z);
    return choice == Choice::relu6 ? min(6.0, positive) : positive;
  }

  // Of the sum. NaN is not <= 0, so that it goes through.
  template <class T>
  static T gradient(double choice, const T& y, const T& dy) {
    if (choice == Choice::sigmoid) return dy * (y * (1.0 - y));
    if (choice == Choice::tanh) return dy * (1.0 - y * y);
    const T below = choice == Choice::relu6 ? where(y >= 6.0, T(0.0), dy) : dy;
    return where(y <= 0.0, T(0.0), below);
  }

  template <class T, class Shape>
  static void weights(const Shape& s, const T* p, T* w) {
    for (int k = 0; k < (s.inputs + 1) * s.outputs; ++k) w[k] = p[k];
  }

  template <class T, class Shape>
  static void forward(const Shape& s, const T* /*p*/, const T* w, const T* x, T* y, T* z) {
    for (int o = 0; o < s.outputs; ++o) {
      z[o] = weighted_sum(s, x, w, o) + w[s.inputs * s.outputs + o];
      y[o] = activate(s.options[activation], z[o]);
    }
  }

  template <class T, class Shape>
  static void backward(const Shape& s, const T* /*p*/, const T* w, const T* x, const T* y, const T* /*z*/, const T* dy,
                       T* dx, T* /*dp*/, T* dw) {
    for (int o = 0; o < s.outputs; ++o) {
      const T dz = gradient(s.options[activation], y[o], dy[o]);
      weighted_sum_back(s, x, w, o, dz, dx, dw);
      dw[s.inputs * s.outputs + o] += dz;
    }
  }

  template <class T, class Shape>
  static void pull_back(const Shape& s, const T* /*p*/, const T* /*w*/, const T* dw, T* dp) {
    for (int k = 0; k < (s.inputs + 1) * s.outputs; ++k) dp[k] += dw[k];
  }

  static Expression ideal(Readout& r, int o) {
    Expression sum = 0.0;
    for (int i = 0; i < r.inputs(); ++i) sum += r.weight("W", i, o) * r.x(i);
    return activate(r.option(activation), sum + r.weight("b", o));
  }
};

}  // namespace nalm::modules
