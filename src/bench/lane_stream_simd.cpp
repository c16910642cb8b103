// Compiled once per instruction set; see bench/lane_stream.hpp.
#include "bench/lane_stream.hpp"

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

void uniform(const std::uint32_t* words, int count, const double* lo, const double* width, double* exact,
             float* rounded) {
  const Exact lo_lower = Exact::load(lo), width_lower = Exact::load(width);
  const Exact lo_upper = Exact::load(lo + upper), width_upper = Exact::load(width + upper);
  for (int k = 0; k < count; ++k, exact += L, rounded += L) {
    const Widened<1> high = to_double(hn::ShiftRight<5>(temper(word(words, 2 * k))));
    const Widened<1> low = to_double(hn::ShiftRight<6>(temper(word(words, 2 * k + 1))));
    const Exact value_lower = lo_lower + width_lower * unit(high.lower, low.lower);
    const Exact value_upper = lo_upper + width_upper * unit(high.upper, low.upper);
    value_lower.store(exact);
    value_upper.store(exact + upper);
    narrow<1>(value_lower, value_upper).store(rounded);
  }
}

template <class F>
HWY_INLINE void over(const double* a, const double* b, int stride, int count, float* t, F f) {
  const std::size_t step = static_cast<std::size_t>(stride) * L;
  for (int k = 0; k < count; ++k, a += step, b += step, t += L) {
    narrow<1>(f(Exact::load(a), Exact::load(b)), f(Exact::load(a + upper), Exact::load(b + upper))).store(t);
  }
}

void target(Operation operation, const double* a, const double* b, int stride, int count, float* t) {
  switch (operation) {
    case Operation::Add:
      return over(a, b, stride, count, t, [](const Exact& x, const Exact& y) HWY_ATTR { return x + y; });
    case Operation::Subtract:
      return over(a, b, stride, count, t, [](const Exact& x, const Exact& y) HWY_ATTR { return x - y; });
    case Operation::Multiply:
      return over(a, b, stride, count, t, [](const Exact& x, const Exact& y) HWY_ATTR { return x * y; });
    case Operation::Divide:
      return over(a, b, stride, count, t, [](const Exact& x, const Exact& y) HWY_ATTR { return x / y; });
  }
}

}  // namespace
}  // namespace nalm::simd::NALM_TARGET

#define NALM_JOIN_2(a, b) a##b
#define NALM_JOIN(a, b) NALM_JOIN_2(a, b)

namespace nalm {

extern const StreamKernels NALM_JOIN(stream_kernels_, NALM_TARGET);
constinit const StreamKernels NALM_JOIN(stream_kernels_, NALM_TARGET) = {
    simd::NALM_TARGET::refill, simd::NALM_TARGET::uniform, simd::NALM_TARGET::target};

}  // namespace nalm
