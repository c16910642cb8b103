// iNALU with shared weights: sum and product of the iNALU, both with the same W.
//
//   W = tanh(W_hat) sigmoid(M_hat)
//   a_o = sum_i x_i W_io
//   m_o = exp(min(sum_i W_io ln(max(|x_i|, 1e-7)), 20)),   s_o = prod_i (sign(x_i) |W_io| + 1 - |W_io|)
//   y_o = sigmoid(g_o) a_o + (1 - sigmoid(g_o)) m_o s_o
//
// Schlör, Ring and Hotho, "iNALU: Improved Neural Arithmetic Logic Unit", Frontiers in Artificial Intelligence 2020,
// where it is called iNALU (sw).
#pragma once

#include "nalm/modules/inalu.hpp"

namespace nalm::modules {

struct INaluShared : inalu::Mathematics<true> {
  static constexpr ParameterInfo parameters[] = {
      {"W_hat", per_input_and_output, inalu::start_W, {}, "sign and selection", {}, End::FarOutOrZero},
      {"M_hat", per_input_and_output, inalu::start_M, {}, "selection"},
      inalu::parameter_g,
  };
  static constexpr Quantity weights_info[] = {nac::W, nac::tanh_W, nac::sigmoid_W, nac::gate_alone};
  static constexpr std::string_view differences[] = {
      "All but the shared weights is this project's iNALU: floor, cap, start values, regulariser, clipping and "
      "re-initialisation, with the differences that are named there.",
  };
  static constexpr ModuleInfo info{
      .name = "iNALU-shared",
      .title = "Improved Neural Arithmetic Logic Unit with shared weights",
      .citation = INalu::info.citation,
      .formula =
          "W = tanh(W_hat)*sigmoid(M_hat); a = sum_i x_i*W_io; m = exp(min(sum_i W_io*ln(max(|x_i|, 1e-7)), 20)); "
          "s = prod_i (sign(x_i)*|W_io| + 1 - |W_io|); y_o = sigmoid(g_o)*a + (1 - sigmoid(g_o))*m*s",
      .learned = "which inputs take part, and whether their sum or their product is the output",
      .unusual_inputs =
          "as iNALU: NaN gives NaN; magnitudes below 1e-7 count as 1e-7 in the product, whose sign factor for an exact "
          "0 is 1 - |W|; products above e^20 = 4.85e8 are cut there; infinities give infinity or NaN.",
  };
};

}  // namespace nalm::modules
