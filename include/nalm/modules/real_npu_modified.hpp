// RealNPU-modified: the RealNPU, kept within bounds and driven to whole powers and decided gates.
//
// The formula is RealNPU's. What changes is how it is trained: W in [-1, 1] and g in [0, 1] are clamped after every
// step, and two regularisers pull W to -1 or 1 (whether an input matters is the gate's business) and g to 0 or 1.
// Built in: that powers are -1 or 1.
//
// Mistry, Farrahi and Hare, "Learning division with neural arithmetic logic modules", TMLR 2022.
#pragma once

#include "nalm/modules/real_npu.hpp"

namespace nalm::modules {

struct RealNpuModified : RealNpu {
  static constexpr ParameterInfo parameters[] = {
      {"W_re", per_input_and_output, {Start::Kind::Nau}, Clamp{-1, 1}, "the power of each input"},
      {"g", per_input, npu::gate_start, Clamp{0, 1}, "gate: 1 uses the input, 0 replaces it by 1"},
  };

  static Recipe recipe() {
    Recipe r;
    r.training.optimiser = Adam{.learning_rate = 5e-3};
    const double start = 40000, end = 50000;
    r.layers[0].regularisers = {Regulariser::unit(1, start, end, "W_re"), Regulariser::sparsity(1, start, end, "g"),
                                Regulariser::l1(1e-9, 1e-7)};
    return r;
  }

  static constexpr std::string_view differences[] = {
      "eps stays in evaluation, as in the RealNPU: on U[-2,2) that, and not the weights, decides which step is best.",
      "The two regularisers have the strength 1 and the same ramp; L1 is the same for both operations, unlike "
      "RealNPU's.",
  };
  static constexpr ModuleInfo info{
      .name = "RealNPU-modified",
      .title = "Neural Power Unit, real, modified for division",
      .citation = "Mistry, Farrahi, Hare: Learning division with neural arithmetic logic modules, TMLR 2022",
      .formula = RealNpu::info.formula,
      .learned = "which inputs matter (gate), and whether they multiply (W = 1) or divide (W = -1)",
      .unusual_inputs = RealNpu::info.unusual_inputs,
  };
};

}  // namespace nalm::modules
