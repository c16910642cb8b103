// NPU: RealNPU with complex powers.
//
//   y_o = exp(sum_i (W_re_io ln r_i - W_im_io k_i)) cos(sum_i (W_re_io k_i + W_im_io ln r_i))
//
// with r, k and the gate of RealNPU.
//
// Heim, Pevný and Šmídl, "Neural Power Units", NeurIPS 2020.
#pragma once

#include "nalm/modules/real_npu.hpp"

namespace nalm::modules {

struct Npu : npu::GatedPowers<2> {
  static constexpr ParameterInfo parameters[] = {
      {"W_re", per_input_and_output, {Start::Kind::XavierUniform}, {}, "the power of each input", {}, End::Whole},
      {"W_im", per_input_and_output, Start::constant(0), {}, "its imaginary part", {}, End::Zero},
      {"g", per_input, npu::gate_start, {}, "gate: 1 uses the input, 0 replaces it by 1", {}, End::Bit},
  };
  static constexpr Quantity weights_info[] = {
      {"W_re", per_input_and_output, "W_re as it is", Role::Weight, discrete::whole},
      {"W_im", per_input_and_output, "W_im as it is", Role::Imaginary, discrete::whole},
      {"gate", per_input, "g clamped to [0, 1]", Role::Gate, discrete::bits},
  };
  static constexpr Quantity steps[] = {
      {"magnitude r", per_input, "gate*(|x| + eps) + 1 - gate"},
      {"logarithm", per_input, "ln(r)"},
      {"phase k", per_input, "pi*gate where x < 0, else 0"},
      {"size", per_output, "exp(sum_i (W_re_io*logarithm_i - W_im_io*k_i))"},
      {"sine", per_output, "sin(sum_i (W_re_io*k_i + W_im_io*logarithm_i))"},
  };

  static constexpr std::string_view differences[] = {
      "Everything that RealNPU's page says about gate, eps and L1; L1 covers W_im too.",
      "W_im starts at exactly 0. For positive inputs its gradient is exactly 0, so NPU and RealNPU then train alike.",
      "The sparsity error is the mean of those of W_re and W_im, so on positive ranges it is half of RealNPU's.",
  };
  static constexpr ModuleInfo info{
      .name = "NPU",
      .title = "Neural Power Unit",
      .citation = "Heim, Pevný, Šmídl: Neural Power Units, NeurIPS 2020",
      .formula =
          "r_i = g_i*(|x_i| + eps) + 1 - g_i; k_i = pi*g_i where x_i < 0, else 0; y_o = exp(sum_i (W_re_io*ln(r_i) - "
          "W_im_io*k_i))*cos(sum_i (W_re_io*k_i + W_im_io*ln(r_i))); g clamped to [0, 1], eps = 1.1920929e-7",
      .learned = "the complex power of each input and which inputs matter",
      .unusual_inputs = "as RealNPU; with an imaginary power an infinite input gives NaN",
      .chaotic = true,
  };

  template <class T, class Shape>
  static void forward(const Shape& s, const T* /*p*/, const T* w, const T* x, T* y, T* step) {
    const auto [W_re, W_im, gate] = unpack<weights_info>(s, w);
    const auto [magnitude, logarithm, phase, size, sine] = unpack<steps>(s, step);
    for (int i = 0; i < s.inputs; ++i) npu::gate_input(x[i], gate[i], magnitude[i], logarithm[i], phase[i]);
    for (int o = 0; o < s.outputs; ++o) {
      T log_sum = W_re[o] * logarithm[0] - W_im[o] * phase[0], angle = W_re[o] * phase[0] + W_im[o] * logarithm[0];
      for (int i = 1; i < s.inputs; ++i) {
        const int k = i * s.outputs + o;
        log_sum += W_re[k] * logarithm[i] - W_im[k] * phase[i];
        angle += W_re[k] * phase[i] + W_im[k] * logarithm[i];
      }
      const auto circle = sincos(angle);
      size[o] = exp(log_sum);
      sine[o] = circle.sin;
      y[o] = size[o] * circle.cos;
    }
  }

  template <class T, class Shape>
  static void backward(const Shape& s, const T* /*p*/, const T* w, const T* x, const T* y, const T* step, const T* dy,
                       T* dx, T* /*dp*/, T* dw) {
    const auto [W_re, W_im, gate] = unpack<weights_info>(s, w);
    const auto [dW_re, dW_im, d_gate] = unpack<weights_info>(s, dw);
    const auto [magnitude, logarithm, phase, size, sine] = unpack<steps>(s, step);
    for (int i = 0; i < s.inputs; ++i) {
      T d_logarithm = 0.0, d_phase = 0.0;
      for (int o = 0; o < s.outputs; ++o) {
        const int k = i * s.outputs + o;
        const T d_log_sum = dy[o] * y[o], d_angle = -(dy[o] * size[o] * sine[o]);
        dW_re[k] += d_log_sum * logarithm[i] + d_angle * phase[i];
        dW_im[k] += d_angle * logarithm[i] - d_log_sum * phase[i];
        d_logarithm += d_log_sum * W_re[k] + d_angle * W_im[k];
        d_phase += d_angle * W_re[k] - d_log_sum * W_im[k];
      }
      npu::gate_input_back(x[i], gate[i], magnitude[i], d_logarithm, d_phase, d_gate[i], dx ? dx + i : nullptr);
    }
  }

  static Expression ideal(Readout& r, int o) {
    bool real = true;
    for (int i = 0; i < r.inputs(); ++i) real &= std::fabs(r.weight("W_im", i, o)) < 1e-3;
    if (real) return npu::ideal(r, o);
    Expression log_sum = 0.0, angle = 0.0;
    for (int i = 0; i < r.inputs(); ++i) {
      const double re = r.snapped("W_re", i, o), im = r.snapped("W_im", i, o), gate = r.snapped("gate", i);
      const Expression logarithm = log(gate * abs(r.x(i)) + (1 - gate)), phase = gate * npu::pi * negative(r.x(i));
      log_sum += re * logarithm - im * phase;
      angle += re * phase + im * logarithm;
    }
    return exp(log_sum) * cos(angle);
  }
};

}  // namespace nalm::modules
