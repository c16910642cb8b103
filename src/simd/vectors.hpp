// Sums over vectors of numbers in the widest instructions that this machine has, with the same bits in all of them.
#pragma once

#include <cstddef>

#include "simd/dispatch.hpp"

namespace nalm::simd {

struct VectorKernels {
  double (*dot)(const double* a, const double* b, std::size_t n);
  void (*add)(double* to, double times, const double* v, std::size_t n);  // to += times * v
};

const VectorKernels& vector_kernels(const Target& target = active_target());

}  // namespace nalm::simd
