#include "train/step_kernels.hpp"

#include <cstddef>

namespace nalm {

#define NALM_DECLARE_STEPS(target)                      \
  extern const StepKernels<float> float_steps_##target; \
  extern const StepKernels<double> double_steps_##target;
NALM_FOR_EACH_TARGET(NALM_DECLARE_STEPS)

#define NALM_FLOAT_STEPS(target) &float_steps_##target,
#define NALM_DOUBLE_STEPS(target) &double_steps_##target,

template <>
const StepKernels<float>& step_kernels(int target_index) {
  static constexpr const StepKernels<float>* tables[] = {NALM_FOR_EACH_TARGET(NALM_FLOAT_STEPS)};
  return *tables[static_cast<std::size_t>(target_index)];
}

template <>
const StepKernels<double>& step_kernels(int target_index) {
  static constexpr const StepKernels<double>* tables[] = {NALM_FOR_EACH_TARGET(NALM_DOUBLE_STEPS)};
  return *tables[static_cast<std::size_t>(target_index)];
}

}  // namespace nalm
