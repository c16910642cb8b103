// Compiled per instruction set: sums over two subsets of the inputs.
#pragma once

#include "simd/compiled_targets.hpp"

namespace nalm {

struct SubsetKernels {
  // Of one row, for every lane. in_a and in_b are 1 for inputs of the subset, 0 for others; sums gets those of a, then
  // those of b.
  void (*sums)(const float* x, const float* in_a, const float* in_b, int inputs, float* sums);
};

}  // namespace nalm
