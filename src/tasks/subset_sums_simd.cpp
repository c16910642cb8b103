// Compiled once per instruction set; see tasks/subset_sums.hpp.
#include "simd/functions.hpp"
#include "simd/xoshiro_lanes.hpp"
#include "tasks/subset_kernels.hpp"

namespace nalm::simd::NALM_TARGET {

struct SubsetSums {
  using T = Lanes<float>;
  static constexpr int L = static_cast<int>(T::count);

  static T at(const float* p, int k) { return T::load(p + k * L); }
  static void set(float* p, int k, T value) { value.store(p + k * L); }

  // Drawn and summed in one go: the additions fill the gaps in which the generator waits for itself.
  template <bool two_parts>
  static void rows(const SubsetRows& r, std::uint32_t* state, int rows, float* x, float* t) {
    XoshiroLanes<float> random(state);
    const T lo(r.lo), middle(r.middle), apart(r.apart), width = (T(r.hi) - lo) * 0x1p-24;
    const auto draw = [&]() HWY_ATTR {
      const T value = lo + width * random.next();
      if constexpr (two_parts) return value + where(value < middle, T(0.0), apart);
      return value;
    };
    for (int row = 0; row < rows; ++row, x += r.inputs * L, t += L) {
      // Two sums each: one would wait for its own last addition.
      T a0 = 0.0, a1 = 0.0, b0 = 0.0, b1 = 0.0;
      int i = 0;
      for (; i + 1 < r.inputs; i += 2) {
        const T x0 = draw(), x1 = draw();
        set(x, i, x0);
        set(x, i + 1, x1);
        a0 += x0 * at(r.in_a, i);
        a1 += x1 * at(r.in_a, i + 1);
        b0 += x0 * at(r.in_b, i);
        b1 += x1 * at(r.in_b, i + 1);
      }
      if (i < r.inputs) {
        const T x0 = draw();
        set(x, i, x0);
        a0 += x0 * at(r.in_a, i);
        b0 += x0 * at(r.in_b, i);
      }
      set(t, 0, apply(r.operation, a0 + a1, b0 + b1));
    }
    random.store(state);
  }
};

}  // namespace nalm::simd::NALM_TARGET

#define NALM_JOIN_2(a, b) a##b
#define NALM_JOIN(a, b) NALM_JOIN_2(a, b)

namespace nalm {

extern const SubsetKernels NALM_JOIN(subset_sums_, NALM_TARGET);
constinit const SubsetKernels NALM_JOIN(subset_sums_, NALM_TARGET) = {simd::NALM_TARGET::SubsetSums::rows<false>,
                                                                      simd::NALM_TARGET::SubsetSums::rows<true>};

}  // namespace nalm
