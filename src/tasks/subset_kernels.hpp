// Compiled per instruction set: rows of random inputs, and what is asked of the sums over two subsets of them.
#pragma once

#include <cstdint>

#include "simd/compiled_targets.hpp"
#include "tasks/operation.hpp"

namespace nalm {

struct SubsetRows {
  SubsetOperation operation{};
  int inputs = 0;
  const float *in_a = nullptr, *in_b = nullptr;  // [input][lane]: 1 for inputs of the subset, 0 for others
  double lo = 0, hi = 0;
  double middle = 0, apart = 0;  // for a range of two parts: numbers from middle on are moved
};

// state: of a generator per lane (simd/xoshiro_lanes.hpp). x and t get so many rows.
using DrawRows = void (*)(const SubsetRows&, std::uint32_t* state, int rows, float* x, float* t);
struct SubsetKernels {
  DrawRows one_part, two_parts;
};

}  // namespace nalm
