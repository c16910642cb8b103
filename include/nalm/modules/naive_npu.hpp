// NaiveNPU: the NPU without its gate.
//
//   y_o = exp(sum_i (W_re_io ln(|x_i| + eps) - W_im_io k_i)) cos(sum_i (W_re_io k_i + W_im_io ln(|x_i| + eps))),
//   k_i = pi where x_i < 0, else 0
//
// What the NPU's authors start from: an input that does not matter has no gradient that would tell it so. Built in:
// nothing but products of powers.
//
// Heim, Pevný and Šmídl, "Neural Power Units", NeurIPS 2020.
#pragma once

#include "nalm/modules/real_npu.hpp"

namespace nalm::modules {

struct NaiveNpu : RawMatrices<2> {
  static constexpr ParameterInfo parameters[] = {npu::parameter_W_re, npu::parameter_W_im};
  static constexpr Quantity weights_info[] = {npu::weight_re, npu::weight_im};
  static constexpr std::string_view logarithm_formula = "ln(|x| + 1.1920929e-7)";
  static constexpr Quantity steps[] = {
      {"logarithm", per_input, logarithm_formula},
      {"size", per_output, "exp(sum_i (W_re_io*logarithm_i - W_im_io*k_i)), k = pi where x < 0"},
      {"sine", per_output, "sin(sum_i (W_re_io*k_i + W_im_io*logarithm_i))"},
  };

  static constexpr auto& operations = npu::Mathematics<true>::operations;
  static Recipe recipe() { return npu::Mathematics<true>::recipe(); }

  static constexpr std::string_view differences[] = {
      "Trained as the NPU: L1 on all weights, learning rate 0.005.",
      "W_im starts at exactly 0, and stays there on positive inputs.",
  };
  static constexpr ModuleInfo info{
      .name = "NaiveNPU",
      .title = "Neural Power Unit without gate",
      .citation = "Heim, Pevný, Šmídl: Neural Power Units, NeurIPS 2020",
      .formula =
          "y_o = exp(sum_i (W_re_io*ln(|x_i| + eps) - W_im_io*k_i))*cos(sum_i (W_re_io*k_i + W_im_io*ln(|x_i| + "
          "eps))); k_i = pi where x_i < 0, else 0; eps = 1.1920929e-7",
      .learned = "the complex power of each input",
      .unusual_inputs =
          "0 and denormals count as eps; NaN and infinite inputs give NaN (infinity times the imaginary power, 0 or "
          "not); phases are reduced safely.",
  };

  template <class T, class Shape>
  static void prepare(const Shape& s, const T* x, T* step) {
    for (int i = 0; i < s.inputs; ++i) step[i] = log(abs(x[i]) + npu::epsilon);
  }

  template <class T, class Shape>
  static void forward(const Shape& s, const T* /*p*/, const T* w, const T* x, T* y, T* step) {
    const T *re = w, *im = w + s.inputs * s.outputs;
    T *logarithm = step, *size = logarithm + s.inputs, *sine = size + s.outputs;
    for (int o = 0; o < s.outputs; ++o) {
      T exponent = 0.0, angle = 0.0;
      for (int i = 0; i < s.inputs; ++i) {
        const int k = i * s.outputs + o;
        const T phase = negative(x[i]) * npu::pi;
        exponent += re[k] * logarithm[i] - im[k] * phase;
        angle += re[k] * phase + im[k] * logarithm[i];
      }
      real_part(exponent, angle, size[o], sine[o], y[o]);
    }
  }

  template <class T, class Shape>
  static void backward(const Shape& s, const T* /*p*/, const T* w, const T* x, const T* y, const T* step, const T* dy,
                       T* dx, T* /*dp*/, T* dw) {
    const int n = s.inputs * s.outputs;
    const T *re = w, *im = w + n;
    const T *logarithm = step, *size = logarithm + s.inputs, *sine = size + s.outputs;
    for (int o = 0; o < s.outputs; ++o) {
      const T d_exponent = dy[o] * y[o], d_angle = -(dy[o] * size[o] * sine[o]);
      for (int i = 0; i < s.inputs; ++i) {
        const int k = i * s.outputs + o;
        const T phase = negative(x[i]) * npu::pi;
        dw[k] += d_exponent * logarithm[i] + d_angle * phase;
        dw[n + k] += d_angle * logarithm[i] - d_exponent * phase;
        if (dx) dx[i] += (d_exponent * re[k] + d_angle * im[k]) * (sign(x[i]) / (abs(x[i]) + npu::epsilon));
      }
    }
  }

  static Expression ideal(Readout& r, int o) {
    std::vector<Power> powers;
    Expression exponent = 0.0, angle = 0.0;
    for (int i = 0; i < r.inputs(); ++i) {
      const double re = r.snapped("W_re", i, o);
      const double im = r.snapped("W_im", i, o);
      const bool whole = re == std::round(re) && im == 0;
      if (re != 0) powers.push_back({whole ? r.x(i) : abs(r.x(i)), re});
      if (whole) continue;
      const Expression phase = npu::pi * negative(r.x(i));
      exponent += -im * phase;
      angle += re * phase + im * log(abs(r.x(i)));
    }
    return product_of_powers(powers) * exp(exponent) * cos(angle);
  }
};

}  // namespace nalm::modules
