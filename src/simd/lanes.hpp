// A SIMD lane is a run: Lanes<float> behaves like one float, and holds the value of one run per lane.
//
// This header is compiled once per instruction set, each time with that set's compiler flags and with NALM_TARGET naming
// it (see cmake/simd_targets.cmake). Everything lives in a namespace of that name, so that code compiled for one
// instruction set can never be linked into a program path meant for another.
//
// Same run, same bits on every target: only operations that IEEE 754 rounds correctly are used, products and sums are
// never fused, and minimum and maximum have one definition for NaN (docs/design/002-same-bits.md).
#pragma once

#include <hwy/highway.h>

#include <cstddef>

#ifndef NALM_TARGET
#error "NALM_TARGET must name the instruction set this file is compiled for"
#endif

namespace nalm::simd::NALM_TARGET {

namespace hn = hwy::HWY_NAMESPACE;

template <class Scalar>
struct __attribute__((may_alias)) Lanes {
  using D = hn::ScalableTag<Scalar>;
  using Vector = hn::Vec<D>;
  using Mask = hn::Mask<D>;
  using Bits = hn::RebindToSigned<D>;
  static constexpr std::size_t count = HWY_LANES(Scalar);

  Vector v;

  Lanes() = default;
  HWY_INLINE Lanes(Vector vector) : v(vector) {}
  HWY_INLINE Lanes(double value) : v(hn::Set(D(), static_cast<Scalar>(value))) {}

  static HWY_INLINE Lanes load(const Scalar* p) { return hn::Load(D(), p); }
  HWY_INLINE void store(Scalar* p) const { hn::Store(v, D(), p); }
};

// Plain functions per scalar type would do, but one template per operation keeps float and double alike.
#define NALM_LANES template <class S>
#define NALM_OP HWY_INLINE

NALM_LANES NALM_OP Lanes<S> operator+(Lanes<S> a, Lanes<S> b) { return hn::Add(a.v, b.v); }
NALM_LANES NALM_OP Lanes<S> operator-(Lanes<S> a, Lanes<S> b) { return hn::Sub(a.v, b.v); }
NALM_LANES NALM_OP Lanes<S> operator*(Lanes<S> a, Lanes<S> b) { return hn::Mul(a.v, b.v); }
NALM_LANES NALM_OP Lanes<S> operator/(Lanes<S> a, Lanes<S> b) { return hn::Div(a.v, b.v); }
NALM_LANES NALM_OP Lanes<S> operator-(Lanes<S> a) { return hn::Neg(a.v); }
NALM_LANES NALM_OP Lanes<S>& operator+=(Lanes<S>& a, Lanes<S> b) { return a = a + b; }
NALM_LANES NALM_OP Lanes<S>& operator-=(Lanes<S>& a, Lanes<S> b) { return a = a - b; }
NALM_LANES NALM_OP Lanes<S>& operator*=(Lanes<S>& a, Lanes<S> b) { return a = a * b; }

// Mixed with plain numbers, as in 1 - x.
NALM_LANES NALM_OP Lanes<S> operator+(double a, Lanes<S> b) { return Lanes<S>(a) + b; }
NALM_LANES NALM_OP Lanes<S> operator-(double a, Lanes<S> b) { return Lanes<S>(a) - b; }
NALM_LANES NALM_OP Lanes<S> operator*(double a, Lanes<S> b) { return Lanes<S>(a) * b; }
NALM_LANES NALM_OP Lanes<S> operator/(double a, Lanes<S> b) { return Lanes<S>(a) / b; }
NALM_LANES NALM_OP Lanes<S> operator+(Lanes<S> a, double b) { return a + Lanes<S>(b); }
NALM_LANES NALM_OP Lanes<S> operator-(Lanes<S> a, double b) { return a - Lanes<S>(b); }
NALM_LANES NALM_OP Lanes<S> operator*(Lanes<S> a, double b) { return a * Lanes<S>(b); }

NALM_LANES NALM_OP auto operator<(Lanes<S> a, Lanes<S> b) { return hn::Lt(a.v, b.v); }
NALM_LANES NALM_OP auto operator<=(Lanes<S> a, Lanes<S> b) { return hn::Le(a.v, b.v); }
NALM_LANES NALM_OP auto operator>(Lanes<S> a, Lanes<S> b) { return hn::Gt(a.v, b.v); }
NALM_LANES NALM_OP auto operator>=(Lanes<S> a, Lanes<S> b) { return hn::Ge(a.v, b.v); }
NALM_LANES NALM_OP auto operator==(Lanes<S> a, Lanes<S> b) { return hn::Eq(a.v, b.v); }
NALM_LANES NALM_OP auto operator<(Lanes<S> a, double b) { return a < Lanes<S>(b); }
NALM_LANES NALM_OP auto operator<=(Lanes<S> a, double b) { return a <= Lanes<S>(b); }
NALM_LANES NALM_OP auto operator>(Lanes<S> a, double b) { return a > Lanes<S>(b); }
NALM_LANES NALM_OP auto operator>=(Lanes<S> a, double b) { return a >= Lanes<S>(b); }
NALM_LANES NALM_OP auto operator==(Lanes<S> a, double b) { return a == Lanes<S>(b); }

template <class S, class Mask>
NALM_OP Lanes<S> where_mask(Mask mask, Lanes<S> yes, Lanes<S> no) {
  return hn::IfThenElse(mask, yes.v, no.v);
}
template <class Mask, class S>
NALM_OP Lanes<S> where(Mask mask, Lanes<S> yes, Lanes<S> no) {
  return where_mask(mask, yes, no);
}
template <class Mask, class S>
NALM_OP Lanes<S> where(Mask mask, Lanes<S> yes, double no) {
  return where_mask(mask, yes, Lanes<S>(no));
}
template <class Mask, class S>
NALM_OP Lanes<S> where(Mask mask, double yes, Lanes<S> no) {
  return where_mask(mask, Lanes<S>(yes), no);
}

// a < b ? a : b, hence b when either is NaN: what x86's instruction does, spelled out elsewhere.
NALM_LANES NALM_OP Lanes<S> min(Lanes<S> a, Lanes<S> b) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
  return hn::Min(a.v, b.v);
#else
  return hn::IfThenElse(hn::Lt(a.v, b.v), a.v, b.v);
#endif
}
NALM_LANES NALM_OP Lanes<S> max(Lanes<S> a, Lanes<S> b) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
  return hn::Max(a.v, b.v);
#else
  return hn::IfThenElse(hn::Gt(a.v, b.v), a.v, b.v);
#endif
}
// With the plain number first, so that NaN in the lanes stays NaN.
NALM_LANES NALM_OP Lanes<S> min(double a, Lanes<S> b) { return min(Lanes<S>(a), b); }
NALM_LANES NALM_OP Lanes<S> max(double a, Lanes<S> b) { return max(Lanes<S>(a), b); }

NALM_LANES NALM_OP Lanes<S> abs(Lanes<S> a) { return hn::Abs(a.v); }
NALM_LANES NALM_OP Lanes<S> sqrt(Lanes<S> a) { return hn::Sqrt(a.v); }
NALM_LANES NALM_OP Lanes<S> copysign(Lanes<S> magnitude, Lanes<S> sign) { return hn::CopySign(magnitude.v, sign.v); }

// -1, 0, 1; NaN stays NaN.
NALM_LANES NALM_OP Lanes<S> sign(Lanes<S> a) {
  return where(abs(a) > 0.0, copysign(Lanes<S>(1.0), a), a * 0.0);
}
// 1 where a < 0, else 0.
NALM_LANES NALM_OP Lanes<S> negative(Lanes<S> a) { return hn::IfThenElseZero(a < 0.0, Lanes<S>(1.0).v); }

NALM_LANES NALM_OP bool all_lanes(hn::Mask<typename Lanes<S>::D> mask) {
  return hn::AllTrue(typename Lanes<S>::D(), mask);
}

}  // namespace nalm::simd::NALM_TARGET
