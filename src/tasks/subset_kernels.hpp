// Compiled per instruction set: rows of random inputs, and what is asked of the sums over two subsets of them.
#pragma once

#include <cmath>
#include <cstdint>

#include "simd/compiled_targets.hpp"

namespace nalm {

enum class SubsetOperation { Add, Subtract, Multiply, Divide, Square, Root };

// T is a number, or the lanes of an instruction set.
template <class T>
T apply(SubsetOperation operation, T a, T b) {
  using std::sqrt;
  switch (operation) {
    case SubsetOperation::Add:
      return a + b;
    case SubsetOperation::Subtract:
      return a - b;
    case SubsetOperation::Multiply:
      return a * b;
    case SubsetOperation::Divide:
      return a / b;
    case SubsetOperation::Square:
      return a * a;
    case SubsetOperation::Root:
      return sqrt(a);
  }
  return a;
}

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
