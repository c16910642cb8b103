// G-NAC: NAC+ with the golden ratio phi as the base of tanh and sigmoid, as in the G-NALU.
//
//   W = tanh(W_hat ln phi) * sigmoid(M_hat ln phi),   y_o = sum_i x_i W_io
//
// Rana, Malhi and Främling, "Exploring Numerical Calculations with CalcNet", ICTAI 2019.
#pragma once

#include "nalm/modules/g_nalu.hpp"
#include "nalm/modules/nac_add.hpp"

namespace nalm::modules {

struct GNac : nac::FirstWeight<GoldenBase>, WeightedSum {
  static constexpr auto& parameters = NacAdd::parameters;
  static constexpr auto& operations = NacAdd::operations;
  static constexpr auto& weights_info = GNalu::weights_info;
  static constexpr std::string_view differences[] = {"Start values are NAC+'s, not derived anew for base phi."};
  static constexpr ModuleInfo info{
      .name = "G-NAC",
      .title = "Golden-ratio Neural Accumulator",
      .citation = GNalu::info.citation,
      .formula = "W = tanh(W_hat*ln(phi))*sigmoid(M_hat*ln(phi)), phi = (1 + sqrt(5))/2; y_o = sum_i x_i*W_io",
      .learned = NacAdd::info.learned,
      .unusual_inputs = NacAdd::info.unusual_inputs,
  };
};

}  // namespace nalm::modules
