// A generator of random numbers per lane: xoshiro128++ (Blackman and Vigna).
//
// Compiled once per instruction set, as lanes.hpp is.
#pragma once

#include <cstdint>

#include "simd/lanes.hpp"

namespace nalm::simd::NALM_TARGET {

// For as many lanes as there are of S. The state is four words per lane, [word][lane].
template <class S>
class XoshiroLanes {
  using T = Lanes<S>;
  static constexpr std::size_t L = T::count;
  using Words = hn::CappedTag<std::uint32_t, HWY_LANES(S)>;
  using Bits = hn::CappedTag<std::int32_t, HWY_LANES(S)>;

 public:
  explicit HWY_INLINE XoshiroLanes(const std::uint32_t* state)
      : a_(hn::LoadU(Words(), state)),
        b_(hn::LoadU(Words(), state + L)),
        c_(hn::LoadU(Words(), state + 2 * L)),
        d_(hn::LoadU(Words(), state + 3 * L)) {}

  HWY_INLINE void store(std::uint32_t* state) const {
    hn::StoreU(a_, Words(), state);
    hn::StoreU(b_, Words(), state + L);
    hn::StoreU(c_, Words(), state + 2 * L);
    hn::StoreU(d_, Words(), state + 3 * L);
  }

  // A whole number below 2^24: exact in both precisions.
  HWY_INLINE T next() {
    const auto sum = hn::Add(a_, d_);
    const auto word = hn::Add(hn::Or(hn::ShiftLeft<7>(sum), hn::ShiftRight<25>(sum)), a_);
    const auto t = hn::ShiftLeft<9>(b_);
    c_ = hn::Xor(c_, a_);
    d_ = hn::Xor(d_, b_);
    b_ = hn::Xor(b_, c_);
    a_ = hn::Xor(a_, d_);
    c_ = hn::Xor(c_, t);
    d_ = hn::Or(hn::ShiftLeft<11>(d_), hn::ShiftRight<21>(d_));
    return number(hn::BitCast(Bits(), hn::ShiftRight<8>(word)));
  }

 private:
  static HWY_INLINE T number(hn::Vec<Bits> whole) {
    if constexpr (sizeof(S) == sizeof(float)) {
      return Parts<typename T::Vector, 1>{hn::ConvertTo(typename T::D(), whole)};
    } else {
      return Parts<typename T::Vector, 1>{hn::PromoteTo(typename T::D(), whole)};
    }
  }

  hn::Vec<Words> a_, b_, c_, d_;
};

}  // namespace nalm::simd::NALM_TARGET
