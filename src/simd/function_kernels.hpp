// The functions of simd/functions.hpp over arrays, for the accuracy table and the benchmarks.
#pragma once

#include <span>
#include <string_view>

namespace nalm::simd {

template <class S>
struct FunctionKernel {
  std::string_view name;
  void (*apply)(const S* in, S* out, int n);  // n a multiple of 4 * lanes, arrays aligned
};

template <class S>
std::span<const FunctionKernel<S>> function_kernels(int target_index);

}  // namespace nalm::simd
