// Linear: the ordinary dense layer, for the real constants of a formula and as a yardstick.
//
//   y_o = b_o + sum_i x_i W_io,   or without b_o
#pragma once

#include "nalm/modules/mathematics.hpp"

namespace nalm::modules {

struct Linear {
  enum Option { bias };
  static constexpr double with_bias = 0, without_bias = 1;

  static constexpr OptionInfo options[] = {
      {.name = "bias",
       .meaning = "yes: a constant term per output; no: none, the bare matrix",
       .standard = with_bias,
       .choices = {"yes", "no"}},
  };
  static constexpr ParameterInfo parameters[] = {
      {"W", per_input_and_output, {Start::Kind::XavierUniform}, {}, "the factor of the input", {}, End::Whole},
      {"b", per_output, Start::constant(0), {}, "the constant term", {bias, with_bias}, End::Anywhere},
  };
  static constexpr Quantity weights_info[] = {
      {"W", per_input_and_output, "W as it is"},
      {"b", per_output, "b as it is; 0 without bias"},
  };

  static constexpr std::string_view differences[] = {
      "Weights start as Glorot and Bengio's uniform ones, the constant terms at 0."};
  static constexpr ModuleInfo info{
      .name = "Linear",
      .title = "Linear layer",
      .citation = "the ordinary dense layer without an activation",
      .formula = "y_o = b_o + sum_i x_i*W_io",
      .learned = "all factors and the constant terms; any real numbers",
      .unusual_inputs =
          "NaN and infinities go through the sum: infinity times an exact 0 is NaN; zeros, denormals and "
          "1e30 are ordinary numbers.",
  };

  template <class T, class Shape>
  static void weights(const Shape& s, const T* p, T* w) {
    const int n = s.inputs * s.outputs;
    for (int k = 0; k < n; ++k) w[k] = p[k];
    for (int k = n; k < n + s.outputs; ++k) w[k] = s.options[bias] == with_bias ? p[k] : T(0.0);
  }

  template <class T, class Shape>
  static void forward(const Shape& s, const T* /*p*/, const T* w, const T* x, T* y, T* /*step*/) {
    for (int o = 0; o < s.outputs; ++o) y[o] = weighted_sum(s, x, w, o) + w[s.inputs * s.outputs + o];
  }

  template <class T, class Shape>
  static void backward(const Shape& s, const T* /*p*/, const T* w, const T* x, const T* /*y*/, const T* /*step*/,
                       const T* dy, T* dx, T* /*dp*/, T* dw) {
    for (int o = 0; o < s.outputs; ++o) {
      weighted_sum_back(s, x, w, o, dy[o], dx, dw);
      dw[s.inputs * s.outputs + o] += dy[o];
    }
  }

  template <class T, class Shape>
  static void pull_back(const Shape& s, const T* /*p*/, const T* /*w*/, const T* dw, T* dp) {
    const int rows = s.options[bias] == with_bias ? s.inputs + 1 : s.inputs;
    for (int k = 0; k < rows * s.outputs; ++k) dp[k] += dw[k];
  }

  static Expression ideal(Readout& r, int o) {
    Expression sum = 0.0;
    for (int i = 0; i < r.inputs(); ++i) sum += r.weight("W", i, o) * r.x(i);
    return sum + r.weight("b", o);
  }
};

}  // namespace nalm::modules
