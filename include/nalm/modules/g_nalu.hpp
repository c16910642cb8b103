// G-NALU: NALU with the golden ratio phi as the base of every tanh and sigmoid, which flattens them.
//
//   tanh_phi(z) = (phi^2z - 1) / (phi^2z + 1) = tanh(z ln phi),   sigmoid_phi(z) = 1 / (1 + phi^-z) = sigmoid(z ln phi)
//
// Rana, Malhi and Främling, "Exploring Numerical Calculations with CalcNet", ICTAI 2019.
#pragma once

#include "nalm/modules/nalu.hpp"

namespace nalm::modules {

struct GoldenBase {
  static constexpr double scale = 0.48121182505960344750;  // ln((1 + sqrt 5)/2)
  static constexpr std::string_view gate_formula = "sigmoid(0.481212*sum_i x_i*G_io)";
};

struct GNalu : NaluMathematics<GoldenBase> {
  static constexpr Quantity weights_info[] = {
      {"W", per_input_and_output, "tanh(0.481212*W_hat)*sigmoid(0.481212*M_hat)", Role::Weight, discrete::units},
      {"tanh", per_input_and_output, "tanh(0.481212*W_hat)"},
      {"sigmoid", per_input_and_output, "sigmoid(0.481212*M_hat)"},
  };
  static constexpr std::string_view differences[] = {
      "The gate uses base phi too; the paper mentions only the weights and the product.",
      "The product phi^(sum W log_phi(|x| + 1e-7)) is written as exp(sum W ln(|x| + 1e-7)), which is the same number.",
      "Start values are NALU's, not derived anew for base phi.",
      "The CalcNet code feeds |x| to the gate; here, as in the benchmark's code, the gate sees x.",
  };
  static constexpr ModuleInfo info{
      .name = "G-NALU",
      .other_name = "GNALU",
      .title = "Golden-ratio Neural Arithmetic Logic Unit",
      .citation = "Rana, Malhi, Främling: Exploring Numerical Calculations with CalcNet, ICTAI 2019",
      .formula =
          "as NALU with tanh(z) and sigmoid(z) replaced by tanh(z*ln(phi)) and sigmoid(z*ln(phi)), "
          "phi = (1 + sqrt(5))/2",
      .learned = "as NALU",
      .unusual_inputs = "as NALU",
  };
};

}  // namespace nalm::modules
