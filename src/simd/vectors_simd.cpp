// Compiled once per instruction set; see simd/vectors.hpp.
#include <cstring>

#include "simd/vectors.hpp"

namespace nalm::simd::NALM_TARGET {

#if defined(__AVX512F__)
constexpr std::size_t register_bytes = 64;
#elif defined(__AVX__)
constexpr std::size_t register_bytes = 32;
#else
constexpr std::size_t register_bytes = 16;
#endif
using Register = double __attribute__((vector_size(register_bytes)));

// Eight sums side by side, the same eight on every machine, and no addition waits for the last one.
static double dot(const double* a, const double* b, std::size_t n) {
  constexpr std::size_t width = sizeof(Register) / sizeof(double);
  Register sums[8 / width] = {};
  std::size_t k = 0;
  for (; k + 8 <= n; k += 8) {
    for (std::size_t r = 0; r < 8 / width; ++r) {
      Register left, right;
      std::memcpy(&left, a + k + r * width, sizeof left);
      std::memcpy(&right, b + k + r * width, sizeof right);
      sums[r] += left * right;
    }
  }
  double s[8];
  std::memcpy(s, sums, sizeof s);
  for (; k < n; ++k) s[0] += a[k] * b[k];
  return ((s[0] + s[2]) + (s[4] + s[6])) + ((s[1] + s[3]) + (s[5] + s[7]));
}

static void add(double* to, double times, const double* v, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) to[k] += times * v[k];
}

}  // namespace nalm::simd::NALM_TARGET

#define NALM_JOIN_2(a, b) a##b
#define NALM_JOIN(a, b) NALM_JOIN_2(a, b)

namespace nalm::simd {

extern const VectorKernels NALM_JOIN(vector_kernels_, NALM_TARGET);
constinit const VectorKernels NALM_JOIN(vector_kernels_, NALM_TARGET) = {NALM_TARGET::dot, NALM_TARGET::add};

}  // namespace nalm::simd
