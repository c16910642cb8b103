// Functions: weighted sums of functions of single inputs, the layer that `nalm fit --functions` builds formulas from.
//
//   y_o = sum_i (A_io x_i + B_io exp(x_i) + C_io log(x_i) + ... + H_io acos(x_i))
//
// A function whose weight is exactly 0 is not added, so that it cannot spoil the sum where it overflows or is not
// defined. With a single weight of 1 the output is that function's value, to the last bit of what the formula gives.
//
// After the equation learner, whose layers are such functions of weighted sums: Martius and Lampert, "Extrapolation and
// learning equations", 2016.
#pragma once

#include <limits>
#include <type_traits>

#include "nalm/modules/mathematics.hpp"

namespace nalm::modules {

struct Functions {
  static constexpr int count = 8;  // the identity, and seven that are computed

  // In the order of the parameters.
  enum Index { identity, exponential, logarithm, sine, cosine, hyperbolic_tangent, arcsine, arccosine };

  static constexpr ParameterInfo parameters[] = {
      {"identity", per_input_and_output, {Start::Kind::XavierUniform}, {}, "the factor of x", {}, End::Anywhere},
      {"exp", per_input_and_output, {Start::Kind::XavierUniform}, {}, "the factor of exp(x)", {}, End::Anywhere},
      {"log", per_input_and_output, {Start::Kind::XavierUniform}, {}, "the factor of log(x)", {}, End::Anywhere},
      {"sin", per_input_and_output, {Start::Kind::XavierUniform}, {}, "the factor of sin(x)", {}, End::Anywhere},
      {"cos", per_input_and_output, {Start::Kind::XavierUniform}, {}, "the factor of cos(x)", {}, End::Anywhere},
      {"tanh", per_input_and_output, {Start::Kind::XavierUniform}, {}, "the factor of tanh(x)", {}, End::Anywhere},
      {"asin", per_input_and_output, {Start::Kind::XavierUniform}, {}, "the factor of asin(x)", {}, End::Anywhere},
      {"acos", per_input_and_output, {Start::Kind::XavierUniform}, {}, "the factor of acos(x)", {}, End::Anywhere},
  };
  static constexpr Quantity weights_info[] = {
      {"identity", per_input_and_output, "as it is"}, {"exp", per_input_and_output, "as it is"},
      {"log", per_input_and_output, "as it is"},      {"sin", per_input_and_output, "as it is"},
      {"cos", per_input_and_output, "as it is"},      {"tanh", per_input_and_output, "as it is"},
      {"asin", per_input_and_output, "as it is"},     {"acos", per_input_and_output, "as it is"},
  };
  static constexpr Quantity steps[] = {
      {"x", per_input, "x"},          {"exp", per_input, "exp(x)"},   {"log", per_input, "log(x)"},
      {"sin", per_input, "sin(x)"},   {"cos", per_input, "cos(x)"},   {"tanh", per_input, "tanh(x)"},
      {"asin", per_input, "asin(x)"}, {"acos", per_input, "acos(x)"},
  };

  static constexpr std::string_view differences[] = {
      "Martius and Lampert apply one function to each weighted sum; here every output weighs all functions of every "
      "input, and the sums before them are a Linear layer.",
      "Their functions are the identity, sin, cos, the sigmoid and the product of two sums; products are the business "
      "of NRU-power here.",
  };
  static constexpr ModuleInfo info{
      .name = "Functions",
      .title = "Weighted functions of single inputs",
      .citation = "this project; after Martius, Lampert: Extrapolation and learning equations, 2016",
      .formula =
          "y_o = sum_i (A_io*x_i + B_io*exp(x_i) + C_io*log(x_i) + D_io*sin(x_i) + E_io*cos(x_i) + F_io*tanh(x_i) + "
          "G_io*asin(x_i) + H_io*acos(x_i)), without those whose factor is 0",
      .learned = "the factor of every function of every input; any real numbers",
      .unusual_inputs =
          "NaN gives NaN where the input has a factor that is not 0; the logarithm of 0 is -infinity and that of a "
          "negative number NaN, asin and acos are NaN outside of [-1, 1], and sin and cos lose digits from 1e6 on (1e5 "
          "in single precision).",
      .truth_values = true,  // where all of them are defined
  };

  // On lanes the logarithm takes everything below the smallest normal number for that number; this one does not.
  template <class T>
  static T true_log(const T& x) {
    if constexpr (requires { typename T::Number; }) {
      constexpr double smallest = std::numeric_limits<typename T::Number>::min();
      const T above_0 = where(x < smallest, log(x * 0x1p54) - 54 * 0.6931471805599453, log(x));
      const T at_0 =
          where(x == 0.0, T(-std::numeric_limits<double>::infinity()), T(std::numeric_limits<double>::quiet_NaN()));
      return where(x > 0.0, above_0, at_0);
    } else {
      return log(x);
    }
  }

  // Adds the product unless the factor is 0. A formula leaves such products out by itself.
  template <class T>
  static void add(T& sum, const T& factor, const T& value) {
    if constexpr (std::is_same_v<T, Expression>) {
      sum += factor * value;
    } else {
      sum = where(factor == 0.0, sum, sum + factor * value);
    }
  }

  template <class T, class Shape>
  static void weights(const Shape& s, const T* p, T* w) {
    for (int k = 0; k < count * s.inputs * s.outputs; ++k) w[k] = p[k];
  }

  template <class T, class Shape>
  static void forward(const Shape& s, const T* /*p*/, const T* w, const T* x, T* y, T* step) {
    const int n = s.inputs;
    for (int i = 0; i < n; ++i) {
      const auto circle = sincos(x[i]);
      step[identity * n + i] = x[i];
      step[exponential * n + i] = exp(x[i]);
      step[logarithm * n + i] = true_log(x[i]);
      step[sine * n + i] = circle.sin;
      step[cosine * n + i] = circle.cos;
      step[hyperbolic_tangent * n + i] = tanh(x[i]);
      step[arcsine * n + i] = asin(x[i]);
      step[arccosine * n + i] = acos(x[i]);
    }
    for (int o = 0; o < s.outputs; ++o) {
      T sum(0.0);
      for (int k = 0; k < count * n; ++k) add(sum, w[k * s.outputs + o], step[k]);
      y[o] = sum;
    }
  }

  template <class T, class Shape>
  static void backward(const Shape& s, const T* /*p*/, const T* w, const T* x, const T* /*y*/, const T* step,
                       const T* dy, T* dx, T* /*dp*/, T* dw) {
    const int n = s.inputs;
    for (int i = 0; i < n; ++i) {
      const T& exp_x = step[exponential * n + i];
      const T& tanh_x = step[hyperbolic_tangent * n + i];
      const T arc = 1.0 / sqrt((1.0 - x[i]) * (1.0 + x[i]));
      const T slopes[count] = {
          T(1.0), exp_x, 1.0 / x[i], step[cosine * n + i], -step[sine * n + i], (1.0 - tanh_x) * (1.0 + tanh_x),
          arc,    -arc};
      for (int f = 0; f < count; ++f) {
        const int k = f * n + i;
        // What takes no part and is not defined here does not spoil the gradients of other rows.
        const T usable = where(step[k] - step[k] == 0.0, step[k], T(0.0));
        for (int o = 0; o < s.outputs; ++o) {
          const T& factor = w[k * s.outputs + o];
          dw[k * s.outputs + o] += dy[o] * where(factor == 0.0, usable, step[k]);
          if (dx) add(dx[i], factor, slopes[f] * dy[o]);
        }
      }
    }
  }

  template <class T, class Shape>
  static void pull_back(const Shape& s, const T* /*p*/, const T* /*w*/, const T* dw, T* dp) {
    for (int k = 0; k < count * s.inputs * s.outputs; ++k) dp[k] += dw[k];
  }

  static Expression ideal(Readout& r, int o) {
    using Function = Expression (*)(const Expression&);
    constexpr Function functions[count] = {[](const Expression& x) { return x; },
                                           nalm::exp,
                                           nalm::log,
                                           nalm::sin,
                                           nalm::cos,
                                           nalm::tanh,
                                           nalm::asin,
                                           nalm::acos};
    Expression sum = 0.0;
    for (int f = 0; f < count; ++f) {
      for (int i = 0; i < r.inputs(); ++i) sum += r.weight(parameters[f].name, i, o) * functions[f](r.x(i));
    }
    return sum;
  }
};

}  // namespace nalm::modules
