// NRU-power: products of any powers, the layer that `nalm fit` builds formulas from.
//
//   y_o = prod_i |x_i|^W_io * prod_i sign(x_i)^round(W_io),   W any real number
//
// The NRU-log without its bounds: squares, roots and higher powers are weights too. The sign counts where W rounds to
// an odd number; halves, which could go either way, do not. An input that is 0 makes the product exactly 0 unless its
// power is 0.
//
// Built in: that an output is a product of powers of inputs, with the sign that follows.
#pragma once

#include <limits>

#include "nalm/detail/portable.hpp"
#include "nalm/modules/nru.hpp"

namespace nalm::modules {

struct NruPower : nru::ProductOfPowers<NruPower> {
  static constexpr double pi = 3.14159265358979323846;
  static constexpr std::string_view logarithm_formula = "ln|x|, and 0 for x = 0";

  static constexpr ParameterInfo parameters[] = {
      {"W", per_input_and_output, {Start::Kind::Nau}, {}, "the power of the input; 0 ignores it", {}, End::Whole}};
  static constexpr double usual_powers[] = {-4, -3, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 4};
  static constexpr Quantity weights_info[] = {
      {"W", per_input_and_output, "W as it is", Role::Detail, {usual_powers}},
      {"odd", per_input_and_output, "1 where W rounds to an odd number, else 0; halves count as even"},
      {"used", per_input_and_output, "0 where W is 0, else 1"},
  };
  static constexpr Quantity steps[] = {{"logarithm", per_input, logarithm_formula}};

  static Recipe recipe() {
    Recipe r;
    r.training.optimiser = Adam{.learning_rate = 1e-2};
    r.training.loss = {.kind = Loss::Kind::Log};
    return r;
  }

  static constexpr std::string_view differences[] = {
      "There is no paper: it is the NRU-log with weights that are not clamped.",
      "Rounding has no gradient: the sign is not learned, it follows from the powers.",
  };
  static constexpr ModuleInfo info{
      .name = "NRU-power",
      .title = "Neural Reciprocal Unit with any powers",
      .citation = "this project; after Mistry, Farrahi, Hare: Learning division with neural arithmetic logic modules",
      .formula = "y_o = prod_i |x_i|^W_io*prod_i sign(x_i)^round(W_io)",
      .learned = "the power of every input; signs follow from that",
      .unusual_inputs =
          "NaN gives NaN, and so does an infinite input with W = 0; 0 gives 0 wherever its W is not 0, negative W "
          "included.",
  };

  template <class T, class Shape>
  static void weights(const Shape& s, const T* p, T* w) {
    const int n = s.inputs * s.outputs;
    for (int k = 0; k < n; ++k) {
      w[k] = p[k];
      w[n + k] = negative(cos(pi * p[k]) + half_is_even);  // the cosine is negative around odd numbers
      w[2 * n + k] = abs(sign(p[k]));
    }
  }

  // The cosine of a half is 0 up to rounding, which differs between the precisions.
  static constexpr double half_is_even = 1e-4;

  static bool counts_sign(double power) { return portable::cos(pi * power) + half_is_even < 0; }

  template <class T, class Shape>
  static void prepare(const Shape& s, const T* x, T* step) {
    for (int i = 0; i < s.inputs; ++i) step[i] = abs(sign(x[i])) * log(max(smallest<T>(), abs(x[i])));
  }

  // 1 or -1; 0 for an input that is 0, unless it does not take part. `odd` points at the weight of that name, and
  // `used` stands n behind it.
  template <class T>
  static T sign_factor(const T* odd, int n, const T& x) {
    return (1.0 - odd[n] * (1.0 - abs(sign(x)))) * (1.0 - 2.0 * (odd[0] * negative(x)));
  }
  template <class T>
  static T through_logarithm(const T& d_logarithm, const T& x) {
    return where(x == 0.0, T(0.0), d_logarithm / x);
  }

  static Expression ideal(Readout& r, int o) { return nru::ideal(r, o, counts_sign); }

 private:
  // The smallest normal number, so that the logarithm is finite: of float where T is lanes of floats, else of double.
  template <class T>
  static constexpr double smallest() {
    if constexpr (requires { typename T::Number; }) return std::numeric_limits<typename T::Number>::min();
    return std::numeric_limits<double>::min();
  }
};

}  // namespace nalm::modules
