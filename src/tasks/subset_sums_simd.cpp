// Compiled once per instruction set; see tasks/subset_sums.hpp.
#include "simd/functions.hpp"
#include "tasks/subset_kernels.hpp"

namespace nalm::simd::NALM_TARGET {

struct SubsetSums {
  using T = Lanes<float>;
  static constexpr int L = static_cast<int>(T::count);

  static T at(const float* p, int k) { return T::load(p + k * L); }

  static void sums(const float* x, const float* in_a, const float* in_b, int inputs, float* sums) {
    // Two sums each: one would wait for its own last addition.
    T a0 = 0.0, a1 = 0.0, b0 = 0.0, b1 = 0.0;
    int i = 0;
    for (; i + 1 < inputs; i += 2) {
      const T x0 = at(x, i), x1 = at(x, i + 1);
      a0 += x0 * at(in_a, i);
      a1 += x1 * at(in_a, i + 1);
      b0 += x0 * at(in_b, i);
      b1 += x1 * at(in_b, i + 1);
    }
    if (i < inputs) {
      a0 += at(x, i) * at(in_a, i);
      b0 += at(x, i) * at(in_b, i);
    }
    (a0 + a1).store(sums);
    (b0 + b1).store(sums + L);
  }
};

}  // namespace nalm::simd::NALM_TARGET

#define NALM_JOIN_2(a, b) a##b
#define NALM_JOIN(a, b) NALM_JOIN_2(a, b)

namespace nalm {

extern const SubsetKernels NALM_JOIN(subset_sums_, NALM_TARGET);
constinit const SubsetKernels NALM_JOIN(subset_sums_, NALM_TARGET) = {simd::NALM_TARGET::SubsetSums::sums};

}  // namespace nalm
