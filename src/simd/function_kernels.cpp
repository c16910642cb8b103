#include "simd/function_kernels.hpp"

#include <cstddef>

#include "simd/compiled_targets.hpp"

namespace nalm::simd {

#define NALM_DECLARE_FUNCTIONS(target)                                          \
  extern const std::span<const FunctionKernel<float>> float_functions_##target; \
  extern const std::span<const FunctionKernel<double>> double_functions_##target;
NALM_FOR_EACH_TARGET(NALM_DECLARE_FUNCTIONS)

#define NALM_FLOAT_FUNCTIONS(target) &float_functions_##target,
#define NALM_DOUBLE_FUNCTIONS(target) &double_functions_##target,

template <>
std::span<const FunctionKernel<float>> function_kernels(int target_index) {
  static constexpr const std::span<const FunctionKernel<float>>* tables[] = {
      NALM_FOR_EACH_TARGET(NALM_FLOAT_FUNCTIONS)};
  return *tables[static_cast<std::size_t>(target_index)];
}

template <>
std::span<const FunctionKernel<double>> function_kernels(int target_index) {
  static constexpr const std::span<const FunctionKernel<double>>* tables[] = {
      NALM_FOR_EACH_TARGET(NALM_DOUBLE_FUNCTIONS)};
  return *tables[static_cast<std::size_t>(target_index)];
}

}  // namespace nalm::simd
