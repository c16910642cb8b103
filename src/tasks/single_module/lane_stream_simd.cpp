// Compiled once per instruction set; see lane_stream.hpp.
#include "tasks/single_module/lane_stream.hpp"

#include "simd/functions.hpp"

namespace nalm::simd::NALM_TARGET {
namespace {

using Words = hn::RebindToUnsigned<RegisterTag<float>>;
using WordVector = hn::Vec<Words>;
constexpr std::size_t L = HWY_LANES(float);

HWY_INLINE WordVector word(const std::uint32_t* state, int k) {
  return hn::Load(Words(), state + static_cast<std::size_t>(k) * L);
}

HWY_INLINE void twist(std::uint32_t* state, int k, int next, int far) {
  const Words d;
  const WordVector y =
      hn::Or(hn::And(word(state, k), hn::Set(d, 0x80000000u)), hn::And(word(state, next), hn::Set(d, 0x7fffffffu)));
  // 0 - 1 is all ones: the matrix where the last bit is set.
  const WordVector odd = hn::Sub(hn::Zero(d), hn::And(y, hn::Set(d, 1u)));
  const WordVector matrix = hn::And(odd, hn::Set(d, 0x9908b0dfu));
  hn::Store(hn::Xor(hn::Xor(word(state, far), hn::ShiftRight<1>(y)), matrix), d,
            state + static_cast<std::size_t>(k) * L);
}

void refill(std::uint32_t* state) {
  constexpr int n = 624, m = 397;
  for (int k = 0; k < n - m; ++k) twist(state, k, k + 1, k + m);
  for (int k = n - m; k < n - 1; ++k) twist(state, k, k + 1, k + m - n);
  twist(state, n - 1, 0, m - 1);
}

HWY_INLINE WordVector temper(WordVector y) {
  const Words d;
  y = hn::Xor(y, hn::ShiftRight<11>(y));
  y = hn::Xor(y, hn::And(hn::ShiftLeft<7>(y), hn::Set(d, 0x9d2c5680u)));
  y = hn::Xor(y, hn::And(hn::ShiftLeft<15>(y), hn::Set(d, 0xefc60000u)));
  return hn::Xor(y, hn::ShiftRight<18>(y));
}

using Exact = Lanes<double>;
constexpr std::size_t upper = L > Exact::count ? Exact::count : 0;

// 2^26 times 27 bits of one word, and 26 bits of the next. Everything here is exact.
void numbers(const std::uint32_t* words, int count, double* n, std::size_t row, std::size_t again) {
  for (int k = 0; k < count; ++k, n += row) {
    const WordVector high = hn::ShiftRight<5>(temper(word(words, 2 * k)));
    const WordVector low = hn::ShiftRight<6>(temper(word(words, 2 * k + 1)));
#if HWY_TARGET == HWY_SCALAR
    n[0] = n[again] = hn::GetLane(high) * 0x1p26 + hn::GetLane(low);
#else
    // As the lowest bits of 2^78 and of 2^52: cheaper than a conversion.
    const hn::RepartitionToWide<Words> wide;
    const RegisterTag<double> d;
    const WordVector above_high = hn::Set(Words(), 0x44d00000u), above_low = hn::Set(Words(), 0x43300000u);
    const auto both = hn::Set(d, 0x1p78 + 0x1p52);
    const auto lower = hn::Add(hn::Sub(hn::BitCast(d, hn::ZipLower(wide, high, above_high)), both),
                               hn::BitCast(d, hn::ZipLower(wide, low, above_low)));
    const auto higher = hn::Add(hn::Sub(hn::BitCast(d, hn::ZipUpper(wide, high, above_high)), both),
                                hn::BitCast(d, hn::ZipUpper(wide, low, above_low)));
    hn::StoreU(lower, d, n);
    hn::StoreU(higher, d, n + upper);
    if (again > 0) {
      hn::StoreU(lower, d, n + again);
      hn::StoreU(higher, d, n + again + upper);
    }
#endif
  }
}

// n -> lo + step * n, of the lower and of the upper half of the lanes.
struct Scale {
  Exact lo, step;
  Scale(const double* lo_values, const double* steps) : lo(Exact::load(lo_values)), step(Exact::load(steps)) {}
  HWY_INLINE Exact operator()(const double* n) const { return lo + step * Exact::load_any(n); }
};

void inputs(const double* n, std::size_t row, int count, const double* lo, const double* step, float* x) {
  const Scale lower(lo, step), higher(lo + upper, step + upper);
  for (int k = 0; k < count; ++k, n += row, x += L) narrow<1>(lower(n), higher(n + upper)).store(x);
}

template <class F>
HWY_INLINE void over(const double* a, const double* b, std::size_t stride, int count, const double* lo,
                     const double* step, float* x, float* t, F f) {
  const Scale lower(lo, step), higher(lo + upper, step + upper);
  for (int k = 0; k < count; ++k, a += stride, b += stride, t += L) {
    const Exact a_lower = lower(a), a_higher = higher(a + upper), b_lower = lower(b), b_higher = higher(b + upper);
    if (x) {
      narrow<1>(a_lower, a_higher).store(x);
      narrow<1>(b_lower, b_higher).store(x + L);
      x += 2 * L;
    }
    narrow<1>(f(a_lower, b_lower), f(a_higher, b_higher)).store(t);
  }
}

void target(Operation operation, const double* a, const double* b, std::size_t stride, int count, const double* lo,
            const double* step, float* x, float* t) {
  switch (operation) {
    case Operation::Add:
      return over(a, b, stride, count, lo, step, x, t, [](const Exact& p, const Exact& q) HWY_ATTR { return p + q; });
    case Operation::Subtract:
      return over(a, b, stride, count, lo, step, x, t, [](const Exact& p, const Exact& q) HWY_ATTR { return p - q; });
    case Operation::Multiply:
      return over(a, b, stride, count, lo, step, x, t, [](const Exact& p, const Exact& q) HWY_ATTR { return p * q; });
    case Operation::Divide:
      return over(a, b, stride, count, lo, step, x, t, [](const Exact& p, const Exact& q) HWY_ATTR { return p / q; });
  }
}

HWY_INLINE void spread_from(const float* const* sources, std::size_t different, const std::int32_t* source,
                            std::size_t count, float* x) {
  const RegisterTag<float> d;
  hn::Mask<RegisterTag<float>> own[L];
  for (std::size_t s = 0; s < L; ++s)
    own[s] = hn::RebindMask(
        d, hn::Eq(hn::Load(BitsTag<float>(), source), hn::Set(BitsTag<float>(), static_cast<std::int32_t>(s))));
  for (std::size_t k = 0; k < count; ++k, x += L) {
    auto value = hn::Set(d, sources[0][k]);
    for (std::size_t s = 1; s < different; ++s) value = hn::IfThenElse(own[s], hn::Set(d, sources[s][k]), value);
    hn::Store(value, d, x);
  }
}

void spread(const float* const* sources, std::size_t different, const std::int32_t* source, std::size_t count,
            float* x) {
  // Two are the rule: their masks stay in registers.
  if (different == 1) return spread_from(sources, 1, source, count, x);
  if (different == 2) return spread_from(sources, 2, source, count, x);
  spread_from(sources, different, source, count, x);
}

}  // namespace
}  // namespace nalm::simd::NALM_TARGET

#define NALM_JOIN_2(a, b) a##b
#define NALM_JOIN(a, b) NALM_JOIN_2(a, b)

namespace nalm {

extern const StreamKernels NALM_JOIN(stream_kernels_, NALM_TARGET);
constinit const StreamKernels NALM_JOIN(stream_kernels_, NALM_TARGET) = {
    simd::NALM_TARGET::refill, simd::NALM_TARGET::numbers, simd::NALM_TARGET::inputs, simd::NALM_TARGET::target,
    simd::NALM_TARGET::spread};

}  // namespace nalm
