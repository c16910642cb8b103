// NAC•σ and NAC•NMU: the NAC• with weights that cannot be negative.
//
//   y_o = exp(sum_i W_io ln(|x_i| + 1e-7))
//   W = sigmoid(W_hat), or W in [0, 1] as it is, driven towards {0, 1} like the NMU's
//
// The steps from NAC• to NMU: without division, then without squashing.
//
// Madsen and Johansen, "Neural Arithmetic Units", ICLR 2020.
#pragma once

#include "nalm/modules/nac_mul.hpp"
#include "nalm/modules/nmu.hpp"

namespace nalm::modules {

struct NacMulNonnegative : ProductOfMagnitudes {
  static constexpr Operation operations[] = {Operation::Multiply};

  static constexpr std::string_view citation =
      "Madsen, Johansen: Neural Arithmetic Units, ICLR 2020, the comparison of NAC* and NMU";
  static constexpr std::string_view learned =
      "which magnitudes are multiplied (1) or ignored (0); signs are lost, and there is no division";
  static constexpr std::string_view unusual_inputs =
      "as NAC*: 0 and denormals count as 1e-7; NaN gives NaN; an infinite input gives infinity, NaN where the weight "
      "is 0; results beyond the largest float are infinite.";
};

struct NacMulSigmoid : NacMulNonnegative {
  static constexpr ParameterInfo parameters[] = {{"W_hat", per_input_and_output, {Start::Kind::Nac}, {}, "selection"}};
  static constexpr Quantity weights_info[] = {
      {"W", per_input_and_output, "sigmoid(W_hat)", Role::Weight, discrete::bits}};
  static constexpr std::string_view differences[] = {"Start values and the small number of 1e-7 as for NAC*."};
  static constexpr ModuleInfo info{
      .name = "NAC*sigmoid",
      .other_name = "NAC•σ",
      .title = "Neural Accumulator, multiplicative, with weights from 0 to 1",
      .citation = citation,
      .formula = "W = sigmoid(W_hat); y_o = exp(sum_i W_io*ln(|x_i| + 1e-7))",
      .learned = learned,
      .unusual_inputs = unusual_inputs,
  };

  template <class T, class Shape>
  static void weights(const Shape& s, const T* W_hat, T* W) {
    for (int k = 0; k < s.inputs * s.outputs; ++k) W[k] = sigmoid(W_hat[k]);
  }

  template <class T, class Shape>
  static void pull_back(const Shape& s, const T* /*W_hat*/, const T* W, const T* dW, T* dW_hat) {
    for (int k = 0; k < s.inputs * s.outputs; ++k) dW_hat[k] += dW[k] * (W[k] * (1.0 - W[k]));
  }
};

struct NacMulNmu : NacMulNonnegative, RawMatrices<1> {
  static constexpr auto& parameters = Nmu::parameters;
  static constexpr auto& weights_info = Nmu::weights_info;
  static Recipe recipe() { return Nmu::recipe(); }

  static constexpr std::string_view differences[] = {
      "Weights, their start, their bounds and the regulariser are the NMU's; the small number of 1e-7 is that of "
      "NAC*."};
  static constexpr ModuleInfo info{
      .name = "NAC*NMU",
      .other_name = "NAC•NMU",
      .title = "Neural Accumulator, multiplicative, with the weights of the NMU",
      .citation = citation,
      .formula = "y_o = exp(sum_i W_io*ln(|x_i| + 1e-7)), W in [0, 1]",
      .learned = learned,
      .unusual_inputs = unusual_inputs,
  };
};

}  // namespace nalm::modules
