// Compiled once per instruction set; see bench/lane_stream.hpp.
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

// Words below 2^31 as doubles, in two halves.
HWY_INLINE Widened<1> to_double(WordVector y) {
  const auto bits = hn::BitCast(BitsTag<float>(), y);
#if HWY_TARGET == HWY_SCALAR
  const Exact all = Parts<Exact::Vector, 1>{hn::PromoteTo(RegisterTag<double>(), bits)};
  return {all, all};
#else
  const hn::Half<BitsTag<float>> half;
  return {Parts<Exact::Vector, 1>{hn::PromoteTo(RegisterTag<double>(), hn::LowerHalf(half, bits))},
          Parts<Exact::Vector, 1>{hn::PromoteTo(RegisterTag<double>(), hn::UpperHalf(half, bits))}};
#endif
}

// 53 bits from two words. Everything here is exact.
HWY_INLINE Exact unit(const Exact& high, const Exact& low) { return (high * 67108864.0 + low) * 0x1p-53; }

constexpr std::size_t upper = L > Exact::count ? Exact::count : 0;

void uniform(const std::uint32_t* words, int count, double* u, std::size_t stride) {
  for (int k = 0; k < count; ++k, u += stride) {
    const Widened<1> high = to_double(hn::ShiftRight<5>(temper(word(words, 2 * k))));
    const Widened<1> low = to_double(hn::ShiftRight<6>(temper(word(words, 2 * k + 1))));
    unit(high.lower, low.lower).store(u);
    unit(high.upper, low.upper).store(u + upper);
  }
}

// u -> lo + width * u, of the lower and of the upper half of the lanes.
struct Scale {
  Exact lo, width;
  Scale(const double* lo_values, const double* widths) : lo(Exact::load(lo_values)), width(Exact::load(widths)) {}
  HWY_INLINE Exact operator()(const double* u) const {
    // Not aligned: lanes may begin at any column.
    return lo + width * Exact(Parts<Exact::Vector, 1>{hn::LoadU(RegisterTag<double>(), u)});
  }
};

void inputs(const double* u, std::size_t stride, int count, const double* lo, const double* width, float* x) {
  const Scale lower(lo, width), higher(lo + upper, width + upper);
  for (int k = 0; k < count; ++k, u += stride, x += L) narrow<1>(lower(u), higher(u + upper)).store(x);
}

template <class F>
HWY_INLINE void over(const double* a, const double* b, std::size_t stride, int count, const double* lo,
                     const double* width, float* x, float* t, F f) {
  const Scale lower(lo, width), higher(lo + upper, width + upper);
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
            const double* width, float* x, float* t) {
  switch (operation) {
    case Operation::Add:
      return over(a, b, stride, count, lo, width, x, t, [](const Exact& p, const Exact& q) HWY_ATTR { return p + q; });
    case Operation::Subtract:
      return over(a, b, stride, count, lo, width, x, t, [](const Exact& p, const Exact& q) HWY_ATTR { return p - q; });
    case Operation::Multiply:
      return over(a, b, stride, count, lo, width, x, t, [](const Exact& p, const Exact& q) HWY_ATTR { return p * q; });
    case Operation::Divide:
      return over(a, b, stride, count, lo, width, x, t, [](const Exact& p, const Exact& q) HWY_ATTR { return p / q; });
  }
}

}  // namespace
}  // namespace nalm::simd::NALM_TARGET

#define NALM_JOIN_2(a, b) a##b
#define NALM_JOIN(a, b) NALM_JOIN_2(a, b)

namespace nalm {

extern const StreamKernels NALM_JOIN(stream_kernels_, NALM_TARGET);
constinit const StreamKernels NALM_JOIN(stream_kernels_, NALM_TARGET) = {
    simd::NALM_TARGET::refill, simd::NALM_TARGET::uniform, simd::NALM_TARGET::inputs, simd::NALM_TARGET::target};

}  // namespace nalm
