// Dense: the ordinary layer of a neural network, as a yardstick.
//
//   y_o = f(b_o + sum_i x_i W_io),   f one of the activations that Trask et al. show to fail at the identity function
#pragma once

#include "nalm/modules/mathematics.hpp"

namespace nalm::modules {

struct Dense {
  enum Option { activation };
  // What the activation can be, in this order. A struct of its own, because these are also names of functions.
  struct Choice {
    static constexpr double relu = 0, relu6 = 1, sigmoid = 2, tanh = 3, hardtanh = 4, leaky_relu = 5, prelu = 6,
                            elu = 7, selu = 8, softplus = 9, softsign = 10, tanhshrink = 11, hardshrink = 12,
                            softshrink = 13;
  };
  static constexpr double leak = 0.01, shrinkage = 0.5;
  // Klambauer et al. 2017: with these two the mean 0 and the variance 1 of a sum reproduce themselves.
  static constexpr double selu_scale = 1.0507009873554804934, selu_alpha = 1.6732632423543772848;

  static constexpr OptionInfo options[] = {
      {.name = "activation",
       .meaning =
           "relu: max(z, 0); relu6: min(max(z, 0), 6); sigmoid: 1/(1 + exp(-z)); tanh; hardtanh: z cut to [-1, 1]; "
           "leaky_relu, prelu: below 0 the slope is 0.01 or learned; elu, selu: below 0 exp(z) - 1, scaled for selu; "
           "softplus: ln(1 + exp(z)); softsign: z/(1 + |z|); tanhshrink: z - tanh(z); hardshrink, softshrink: 0 where "
           "|z| <= 0.5, elsewhere z, or z moved towards 0 by 0.5",
       .standard = Choice::relu,
       .choices = {"relu", "relu6", "sigmoid", "tanh", "hardtanh", "leaky_relu", "prelu", "elu", "selu", "softplus",
                   "softsign", "tanhshrink", "hardshrink", "softshrink"}},
  };
  static constexpr ParameterInfo parameters[] = {
      {"W", per_input_and_output, {Start::Kind::XavierUniform}, {}, "the factor of the input", {}, End::Whole},
      {"b", per_output, Start::constant(0), {}, "the constant term", {}, End::Anywhere},
      {"slope",
       Axis::One,
       Start::constant(0.25),
       {},
       "prelu: the slope below 0, one for all outputs",
       {activation, Choice::prelu},
       End::Anywhere},
  };
  static constexpr Quantity weights_info[] = {
      {"W", per_input_and_output, "W as it is"},
      {"b", per_output, "b as it is"},
      {"slope", Axis::One, "the slope as it is; 0 without prelu"},
  };
  static constexpr Quantity steps[] = {{"sum z", per_output, "b_o + sum_i x_i*W_io"}};

  static constexpr std::string_view differences[] = {
      "Weights start as Glorot and Bengio's uniform ones for every activation, the constant terms at 0; relu and relu6 "
      "often start with He's instead, +-sqrt(6/inputs).",
      "The gradient of relu, relu6 and hardtanh is 0 where they bend, that of the shrinking ones too; leaky_relu and "
      "prelu have that of below 0 there.",
  };
  static constexpr ModuleInfo info{
      .name = "Dense",
      .title = "Dense layer with an activation",
      .citation = "the ordinary dense layer of neural networks",
      .formula = "z = b_o + sum_i x_i*W_io; y_o = max(z, 0), or one of 13 other activations of z",
      .learned = "all factors and the constant terms, and the slope of prelu; any real numbers",
      .unusual_inputs =
          "NaN gives NaN; infinities go through the sum, where infinity times an exact 0 is NaN, and give the limit of "
          "the activation, but NaN for softsign; zeros, denormals and 1e30 are ordinary numbers.",
  };

  // On lanes, numbers and expressions: no comparisons.
  template <class T>
  static T activate(double choice, const T& z, const T& slope) {
    if (choice == Choice::sigmoid) return sigmoid_fast(z);
    if (choice == Choice::tanh) return tanh(z);
    if (choice == Choice::hardtanh) return min(1.0, max(-1.0, z));
    if (choice == Choice::softsign) return z / (1.0 + abs(z));
    if (choice == Choice::tanhshrink) return z - tanh(z);
    if (choice == Choice::hardshrink) return z * negative(shrinkage - abs(z));
    if (choice == Choice::softshrink) return z - min(shrinkage, max(-shrinkage, z));
    const T positive = max(0.0, z);
    if (choice == Choice::softplus) return positive + log(1.0 + exp(-abs(z)));
    if (choice == Choice::leaky_relu) return positive + leak * min(0.0, z);
    if (choice == Choice::prelu) return positive + slope * min(0.0, z);
    if (choice == Choice::elu) return positive + (exp(min(0.0, z)) - 1.0);
    if (choice == Choice::selu) return selu_scale * (positive + selu_alpha * (exp(min(0.0, z)) - 1.0));
    return choice == Choice::relu6 ? min(6.0, positive) : positive;
  }

  // Of the sum. NaN is not <= 0, so that it goes through.
  template <class T>
  static T gradient(double choice, const T& z, const T& y, const T& slope, const T& dy) {
    if (choice == Choice::sigmoid) return dy * (y * (1.0 - y));
    if (choice == Choice::tanh) return dy * (1.0 - y * y);
    if (choice == Choice::hardtanh) return where(abs(z) >= 1.0, T(0.0), dy);
    if (choice == Choice::softsign) return dy / ((1.0 + abs(z)) * (1.0 + abs(z)));
    if (choice == Choice::tanhshrink) return dy * (tanh(z) * tanh(z));
    if (choice == Choice::hardshrink || choice == Choice::softshrink) return where(abs(z) <= shrinkage, T(0.0), dy);
    if (choice == Choice::softplus) return dy * sigmoid_fast(z);
    if (choice == Choice::leaky_relu) return where(z <= 0.0, leak * dy, dy);
    if (choice == Choice::prelu) return where(z <= 0.0, slope * dy, dy);
    if (choice == Choice::elu) return where(z <= 0.0, dy * (y + 1.0), dy);
    if (choice == Choice::selu) return where(z <= 0.0, dy * (y + selu_scale * selu_alpha), selu_scale * dy);
    const T below = choice == Choice::relu6 ? where(y >= 6.0, T(0.0), dy) : dy;
    return where(y <= 0.0, T(0.0), below);
  }

  template <class T, class Shape>
  static void weights(const Shape& s, const T* p, T* w) {
    const int n = (s.inputs + 1) * s.outputs;
    for (int k = 0; k < n; ++k) w[k] = p[k];
    w[n] = s.options[activation] == Choice::prelu ? p[n] : T(0.0);
  }

  template <class T, class Shape>
  static void forward(const Shape& s, const T* /*p*/, const T* w, const T* x, T* y, T* z) {
    const auto [W, b, slope] = unpack<weights_info>(s, w);
    for (int o = 0; o < s.outputs; ++o) {
      z[o] = weighted_sum(s, x, W, o) + b[o];
      y[o] = activate(s.options[activation], z[o], *slope);
    }
  }

  template <class T, class Shape>
  static void backward(const Shape& s, const T* /*p*/, const T* w, const T* x, const T* y, const T* z, const T* dy,
                       T* dx, T* /*dp*/, T* dw) {
    const auto [W, b, slope] = unpack<weights_info>(s, w);
    const auto [dW, db, d_slope] = unpack<weights_info>(s, dw);
    for (int o = 0; o < s.outputs; ++o) {
      const T dz = gradient(s.options[activation], z[o], y[o], *slope, dy[o]);
      weighted_sum_back(s, x, W, o, dz, dx, dW);
      db[o] += dz;
      if (s.options[activation] == Choice::prelu) *d_slope += dy[o] * min(0.0, z[o]);
    }
  }

  template <class T, class Shape>
  static void pull_back(const Shape& s, const T* /*p*/, const T* /*w*/, const T* dw, T* dp) {
    const int n = (s.inputs + 1) * s.outputs;
    for (int k = 0; k < n; ++k) dp[k] += dw[k];
    if (s.options[activation] == Choice::prelu) dp[n] += dw[n];
  }

  static Expression ideal(Readout& r, int o) {
    Expression sum = 0.0;
    for (int i = 0; i < r.inputs(); ++i) sum += r.weight("W", i, o) * r.x(i);
    return activate(r.option(activation), sum + r.weight("b", o), Expression(r.weight("slope", 0)));
  }
};

}  // namespace nalm::modules
