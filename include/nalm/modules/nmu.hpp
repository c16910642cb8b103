// NMU: products.
//
//   y_o = prod_i (W_io x_i + 1 - W_io),   W in [0, 1], driven towards {0, 1}
//
// Madsen and Johansen, "Neural Arithmetic Units", ICLR 2020.
#pragma once

#include "nalm/modules/mathematics.hpp"

namespace nalm::modules {

struct Nmu : RawMatrices<1> {
  static constexpr ParameterInfo parameters[] = {
      {"W", per_input_and_output, Start::uniform(0.25, 0.75), Clamp{0, 1}, "1 multiplies by the input, 0 ignores it"}};
  static constexpr Quantity weights_info[] = {{"W", per_input_and_output, "W as it is", Role::Weight, discrete::bits}};
  static constexpr Quantity steps[] = {
      {"factor", per_input_and_output, "W*x + 1 - W"},
      {"product before", per_input_and_output, "the factors of earlier inputs, multiplied"},
  };
  static constexpr Operation operations[] = {Operation::Multiply};

  static Recipe recipe() {
    Recipe r;
    r.layers[0].regularisers = {Regulariser::sparsity(10, 20000, 35000)};
    return r;
  }

  static constexpr std::string_view differences[] = {
      "The paper clamps weights before use; here, as in the reference implementation, they are used raw and the stored "
      "weights are clamped after every step.",
      "The gradient is the product of the other factors, not the product divided by this one, so factors of 0 are "
      "fine.",
  };
  static constexpr ModuleInfo info{
      .name = "NMU",
      .title = "Neural Multiplication Unit",
      .citation = "Madsen, Johansen: Neural Arithmetic Units, ICLR 2020",
      .formula = "y_o = prod_i (W_io*x_i + 1 - W_io), W in [0, 1]",
      .learned = "which inputs are multiplied (1) or ignored (0)",
      .unusual_inputs =
          "NaN and infinities go through the product: infinity times an exact 0 is NaN; products beyond the largest "
          "float are infinite; zeros are ordinary, but magnitudes far below 6e-8 (float) or 1e-16 (double) vanish "
          "beside the 1 in W*x + 1 - W.",
  };

  template <class T, class Shape>
  static void forward(const Shape& s, const T* /*p*/, const T* w, const T* x, T* y, T* step) {
    const auto [factor, before] = unpack<steps>(s, step);
    for (int o = 0; o < s.outputs; ++o) {
      T product = 1.0;
      for (int i = 0; i < s.inputs; ++i) {
        const int k = i * s.outputs + o;
        factor[k] = w[k] * x[i] + 1.0 - w[k];
        before[k] = product;
        product *= factor[k];
      }
      y[o] = product;
    }
  }

  template <class T, class Shape>
  static void backward(const Shape& s, const T* /*p*/, const T* w, const T* x, const T* /*y*/, const T* step,
                       const T* dy, T* dx, T* /*dp*/, T* dw) {
    const auto [factor, before] = unpack<steps>(s, step);
    for (int o = 0; o < s.outputs; ++o) {
      T after = dy[o];
      for (int i = s.inputs - 1; i >= 0; --i) {
        const int k = i * s.outputs + o;
        const T d_factor = before[k] * after;
        dw[k] += d_factor * (x[i] - 1.0);
        if (dx) dx[i] += d_factor * w[k];
        after *= factor[k];
      }
    }
  }

  static Expression ideal(Readout& r, int o) {
    Expression product = 1.0;
    for (int i = 0; i < r.inputs(); ++i) {
      const double w = r.snapped("W", i, o);
      product *= w * r.x(i) + (1 - w);
    }
    return product;
  }
};

}  // namespace nalm::modules
