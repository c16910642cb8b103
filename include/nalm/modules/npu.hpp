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

struct Npu : npu::Mathematics<true> {
  static constexpr ParameterInfo parameters[] = {npu::parameter_W_re, npu::parameter_W_im, npu::parameter_g};
  static constexpr Quantity weights_info[] = {npu::weight_re, npu::weight_im, npu::weight_gate};
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
