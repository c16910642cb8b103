// NRU-log: products and quotients, learned from magnitudes alone.
//
//   y_o = prod_i |x_i|^W_io * prod_i sign(x_i)^round(W_io),   W in [-1, 1], driven towards {-1, 0, 1}
//
// trained with the logarithmic loss (ln|y| - ln|t|)^2. In logarithms a product of powers is a weighted sum, so that
// loss is a quadratic function of the weights: one minimum, whatever the ranges, the signs and the number of inputs.
// The sign needs no training, because which inputs take part decides it.
//
// Built in: that the target is a product of powers of inputs, with the sign that follows.
// docs/results/redundant-inputs.md has the study from which this module came.
#pragma once

#include "nalm/modules/nru.hpp"

namespace nalm::modules {

struct NruLog : nru::ProductOfPowers<NruLog>, nru::Logarithms {
  static constexpr ParameterInfo parameters[] = {
      {"W", per_input_and_output, {Start::Kind::Nau}, Clamp{-1, 1}, "1 multiplies, -1 divides, 0 ignores the input"}};
  static constexpr Quantity weights_info[] = {
      {"W", per_input_and_output, "W as it is", Role::Weight, discrete::units},
      {"odd", per_input_and_output, "1 where |W| > 1/2, else 0"},
  };
  static constexpr Quantity steps[] = {{"logarithm", per_input, nru::logarithm}};
  static constexpr Operation operations[] = {Operation::Multiply, Operation::Divide};

  static Recipe recipe() {
    Recipe r;
    r.training.optimiser = Adam{.learning_rate = 1e-2};
    r.training.loss = {.kind = Loss::Kind::Log};
    r.layers[0].regularisers = {Regulariser::sparsity(0.1, 20000, 35000)};
    r.training.cool_down = CoolDown{20000, 50000};
    return r;
  }

  static constexpr std::string_view differences[] = {
      "There is no paper: it is the NRU with separate sign, without the gate t (|x|^0 is 1 anyway), trained with "
      "another loss.",
      "Rounding has no gradient: the sign is not learned, it follows from the powers.",
  };
  static constexpr ModuleInfo info{
      .name = "NRU-log",
      .title = "Neural Reciprocal Unit trained on logarithms",
      .citation = "this project; after Mistry, Farrahi, Hare: Learning division with neural arithmetic logic modules",
      .formula = "y_o = prod_i |x_i|^W_io*prod_i sign(x_i)^round(W_io), W in [-1, 1]",
      .learned = "which inputs are multiplied (1), divided by (-1) or ignored (0); signs follow from that",
      .unusual_inputs =
          "NaN gives NaN, and so does an infinite input with W = 0; 0 counts as 1.2e-38, so that dividing by it gives "
          "a huge number; nothing is added to the input.",
  };

  template <class T, class Shape>
  static void weights(const Shape& s, const T* p, T* w) {
    const int n = s.inputs * s.outputs;
    for (int k = 0; k < n; ++k) {
      w[k] = p[k];
      w[n + k] = negative(0.5 - abs(p[k]));
    }
  }

  // `odd` points at the weight of that name.
  template <class T>
  static T sign_factor(const T* odd, int /*n*/, const T& x) {
    return 1.0 - 2.0 * (*odd * negative(x));
  }
  template <class T>
  static T through_logarithm(const T& d_logarithm, const T& x) {
    return d_logarithm / x;
  }

  static Expression ideal(Readout& r, int o) {
    return nru::ideal(r, o, [](double w) { return std::fabs(w) > 0.5; });
  }
};

}  // namespace nalm::modules
