// sNMRU: the NMRU with the noise of the sNMU.
//
//   training:    y_o = prod_j (n_i |z_j| W_jo + 1 - W_jo) / (n_i W_jo + 1 - W_jo) * cos(pi sum_j [z_j < 0] W_jo),
//                z = (x, 1/(x + eps)), n_i random, fresh for every sample and input
//   evaluation:  the NMRU
//
// Never published: a part of the study in docs/results/redundant-inputs.md. Built in: nothing more than in the NMRU.
#pragma once

#include "nalm/modules/nmru.hpp"

namespace nalm::modules {

struct SNmru : NmruMathematics<true> {
  static constexpr Quantity steps[] = {Nmru::steps[0],
                                       Nmru::steps[1],
                                       Nmru::steps[2],
                                       Nmru::steps[3],
                                       Nmru::steps[4],
                                       Nmru::steps[5],
                                       Nmru::steps[6],
                                       {"noise n", per_input, "1 in evaluation"},
                                       {"divisor of x", per_input_and_output, "1 in evaluation"},
                                       {"divisor of 1/x", per_input_and_output, "1 in evaluation"}};
  static Recipe recipe() {
    Recipe r = NmruMathematics::recipe();
    r.training.noise = InputNoise{1, 5};
    return r;
  }

  static constexpr std::string_view differences[] = {
      "There is no paper: noise as for the sNMU, everything else as for the NMRU."};
  static constexpr ModuleInfo info{
      .name = "sNMRU",
      .title = "stochastic Neural Multiplicative Reciprocal Unit",
      .citation = "this project; after Mistry, Farrahi, Hare (TMLR 2022; sNMU 2022)",
      .formula = Nmru::info.formula,
      .learned = Nmru::info.learned,
      .unusual_inputs = unusual_inputs,
      .training_form =
          "the same with every factor (z*W + 1 - W) as (n*z*W + 1 - W)/(n*W + 1 - W), n_i random for every sample, and "
          "1/|x_i + eps| for 1/|x_i|",
      .takes_noise = true,
  };

  template <class T, class Shape>
  static void forward(const Shape& s, const T* p, const T* w, const T* x, T* y, T* step) {
    NmruMathematics::forward(s, p, w, x, y, step);
    T* extra = step + s.inputs + 3 * s.inputs * s.outputs + 3 * s.outputs;
    for (int k = 0; k < s.inputs + 2 * s.inputs * s.outputs; ++k) extra[k] = 1.0;
  }

  template <class T, class Shape>
  static void train_forward(const Shape& s, const T* /*p*/, const T* w, const T* x, const T* n, T* y, T* step) {
    const auto [W, R] = unpack<weights_info>(s, w);
    const auto [reciprocal, factor_x, before, factor_r, sine, cosine, magnitude, noise, divisor_x, divisor_r] =
        unpack<steps>(s, step);
    for (int i = 0; i < s.inputs; ++i) {
      reciprocal[i] = 1.0 / abs(x[i] + epsilon);
      noise[i] = n[i];
    }
    for (int o = 0; o < s.outputs; ++o) {
      T product = 1.0, half_turns = 0.0;
      for (int i = 0; i < s.inputs; ++i) {
        const int k = i * s.outputs + o;
        divisor_x[k] = n[i] * W[k] + (1.0 - W[k]);
        divisor_r[k] = n[i] * R[k] + (1.0 - R[k]);
        factor_x[k] = (n[i] * abs(x[i]) * W[k] + (1.0 - W[k])) / divisor_x[k];
        factor_r[k] = (n[i] * reciprocal[i] * R[k] + (1.0 - R[k])) / divisor_r[k];
        before[k] = product;
        product *= factor_x[k] * factor_r[k];
        half_turns += negative(x[i]) * (W[k] + R[k]);
      }
      const auto circle = sincos(half_turns * pi);
      sine[o] = circle.sin;
      cosine[o] = circle.cos;
      magnitude[o] = product;
      y[o] = product * circle.cos;
    }
  }

  template <class T, class Shape>
  static void backward(const Shape& s, const T* /*p*/, const T* w, const T* x, const T* /*y*/, const T* step,
                       const T* dy, T* dx, T* /*dp*/, T* dw) {
    const auto [W, R] = unpack<weights_info>(s, w);
    const auto [dW, dR] = unpack<weights_info>(s, dw);
    const auto [reciprocal, factor_x, before, factor_r, sine, cosine, magnitude, noise, divisor_x, divisor_r] =
        unpack<steps>(s, step);
    for (int o = 0; o < s.outputs; ++o) {
      T after = dy[o] * cosine[o];
      const T d_angle = -(dy[o] * magnitude[o] * sine[o]) * pi;
      for (int i = s.inputs - 1; i >= 0; --i) {
        const int k = i * s.outputs + o;
        const T d_x = before[k] * factor_r[k] * after / divisor_x[k];
        const T d_r = before[k] * factor_x[k] * after / divisor_r[k];
        const T from_angle = d_angle * negative(x[i]);
        dW[k] += d_x * ((noise[i] * abs(x[i]) - 1.0) - factor_x[k] * (noise[i] - 1.0)) + from_angle;
        dR[k] += d_r * ((noise[i] * reciprocal[i] - 1.0) - factor_r[k] * (noise[i] - 1.0)) + from_angle;
        if (dx) {
          const T d_size = d_x * (noise[i] * W[k]) - d_r * (noise[i] * R[k]) * (reciprocal[i] * reciprocal[i]);
          dx[i] += d_size * sign(x[i]);
        }
        after *= factor_x[k] * factor_r[k];
      }
    }
  }
};

}  // namespace nalm::modules
