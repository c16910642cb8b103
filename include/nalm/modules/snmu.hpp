// sNMU: the NMU, trained with noise that only undecided weights feel.
//
//   training:    y_o = prod_i (n_i W_io x_i + 1 - W_io) / (n_i W_io + 1 - W_io),   n_i random, fresh for every sample
//   evaluation:  y_o = prod_i (W_io x_i + 1 - W_io),   W in [0, 1], driven towards {0, 1}
//
// With W = 1 the noise cancels, with W = 0 there is none; in between it makes the loss worse, so that the run leaves
// the half-open optima in which the NMU stays on some negative ranges. Built in: nothing more than in the NMU.
//
// Mistry, Farrahi and Hare, "Improving the robustness of neural multiplication units with reversible stochasticity",
// 2022.
#pragma once

#include "nalm/modules/nmu.hpp"

namespace nalm::modules {

struct SNmu : Nmu {
  static constexpr Quantity steps[] = {
      {"noise n", per_input, "1 in evaluation"},
      {"divisor", per_input_and_output, "1 in evaluation"},
      {"factor", per_input_and_output, "W*x + 1 - W"},
      {"product before", per_input_and_output, "the factors of earlier inputs, multiplied"},
  };
  static Recipe recipe() {
    Recipe r = Nmu::recipe();
    r.training.noise = InputNoise{1, 5};
    return r;
  }

  static constexpr std::string_view training_form =
      "y_o = prod_i (n_i*W_io*x_i + 1 - W_io)/(n_i*W_io + 1 - W_io), n_i random for every sample";
  static constexpr std::string_view differences[] = {
      "The quotient is taken factor by factor, not once for the two products: the same number, and no overflow.",
      "Noise comes from a generator per run (xoshiro128++), started by the run's own stream after its start values.",
      "The paper does not give a recipe for 10 inputs; here it is that of the NRU (100000 iterations, ramp from 50000 "
      "to 75000).",
  };
  static constexpr std::string_view unusual_inputs =
      "as the NMU: NaN and infinities go through the product, infinity times an exact 0 is NaN; magnitudes far below "
      "6e-8 (float) or 1e-16 (double) vanish beside the 1 in W*x + 1 - W.";
  static constexpr ModuleInfo info{
      .name = "sNMU",
      .title = "stochastic Neural Multiplication Unit",
      .citation =
          "Mistry, Farrahi, Hare: Improving the robustness of neural multiplication units with reversible "
          "stochasticity, 2022",
      .formula = "y_o = prod_i (W_io*x_i + 1 - W_io), W in [0, 1]",
      .learned = "which inputs are multiplied (1) or ignored (0)",
      .unusual_inputs = unusual_inputs,
      .training_form = training_form,
      .takes_noise = true,
  };

  template <class T, class Shape>
  static void forward(const Shape& s, const T* p, const T* w, const T* x, T* y, T* step) {
    const auto [noise, divisor, factor, before] = unpack<steps>(s, step);
    for (T* one = noise; one < factor; ++one) *one = 1.0;  // the divisors, too
    Nmu::forward(s, p, w, x, y, factor);                   // whose steps are the last ones
  }

  template <class T, class Shape>
  static void train_forward(const Shape& s, const T* /*p*/, const T* w, const T* x, const T* n, T* y, T* step) {
    const auto [noise, divisor, factor, before] = unpack<steps>(s, step);
    for (int i = 0; i < s.inputs; ++i) noise[i] = n[i];
    for (int o = 0; o < s.outputs; ++o) {
      T product = 1.0;
      for (int i = 0; i < s.inputs; ++i) {
        const int k = i * s.outputs + o;
        const T noisy = n[i] * w[k];
        divisor[k] = noisy + (1.0 - w[k]);
        factor[k] = (noisy * x[i] + (1.0 - w[k])) / divisor[k];
        before[k] = product;
        product *= factor[k];
      }
      y[o] = product;
    }
  }

  template <class T, class Shape>
  static void backward(const Shape& s, const T* /*p*/, const T* w, const T* x, const T* /*y*/, const T* step,
                       const T* dy, T* dx, T* /*dp*/, T* dw) {
    const auto [noise, divisor, factor, before] = unpack<steps>(s, step);
    for (int o = 0; o < s.outputs; ++o) {
      T after = dy[o];
      for (int i = s.inputs - 1; i >= 0; --i) {
        const int k = i * s.outputs + o;
        const T d_numerator = before[k] * after / divisor[k];
        dw[k] += d_numerator * ((noise[i] * x[i] - 1.0) - factor[k] * (noise[i] - 1.0));
        if (dx) dx[i] += d_numerator * (noise[i] * w[k]);
        after *= factor[k];
      }
    }
  }
};

// The same with noise that grows where the inputs are close together.
struct SNmuBatch : SNmu {
  static Recipe recipe() {
    Recipe r = SNmu::recipe();
    r.training.noise = InputNoise{.lo = 1, .batch_adaptive = true};
    return r;
  }
  static constexpr ModuleInfo info{
      .name = "sNMU-batch",
      .title = "stochastic Neural Multiplication Unit, batch-adaptive noise",
      .citation = SNmu::info.citation,
      .formula = SNmu::info.formula,
      .learned = SNmu::info.learned,
      .unusual_inputs = unusual_inputs,
      .training_form =
          "y_o = prod_i (n_i*W_io*x_i + 1 - W_io)/(n_i*W_io + 1 - W_io), n_i from 1 to 1 + 1/(standard deviation of "
          "all inputs in the batch)",
      .takes_noise = true,
  };
};

}  // namespace nalm::modules
