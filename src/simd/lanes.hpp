// A SIMD lane is a run: Lanes<float> behaves like one float, and holds the value of one run per lane.
//
// Lanes<float, 4> is the same for four samples of the batch at once. A module's forward and backward pass of one sample
// is a long chain of operations that wait for each other; four chains, interleaved instruction by instruction, keep the
// processor busy. docs/design/003-engine.md has the measurements.
//
// This header is compiled once per instruction set, each time with that set's compiler flags and with NALM_TARGET
// naming it (see cmake/simd_targets.cmake). Everything lives in a namespace of that name, so that code compiled for one
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

template <class S>
using RegisterTag = hn::ScalableTag<S>;
template <class S>
using BitsTag = hn::RebindToSigned<RegisterTag<S>>;

// N of something: vectors of numbers, of integers, or masks. Plain members, copied one by one, because GCC 12 copies
// arrays and larger structs of vectors through memory.
template <class V, int N>
struct Parts;

template <class V>
struct Parts<V, 1> {
  V a;
};
template <class V>
struct Parts<V, 2> {
  V a, b;
  Parts() = default;
  HWY_INLINE Parts(V pa, V pb) : a(pa), b(pb) {}
  HWY_INLINE Parts(const Parts& p) : a(p.a), b(p.b) {}
  HWY_INLINE Parts& operator=(const Parts& p) {
    a = p.a, b = p.b;
    return *this;
  }
};
template <class V>
struct Parts<V, 4> {
  V a, b, c, d;
  Parts() = default;
  HWY_INLINE Parts(V pa, V pb, V pc, V pd) : a(pa), b(pb), c(pc), d(pd) {}
  HWY_INLINE Parts(const Parts& p) : a(p.a), b(p.b), c(p.c), d(p.d) {}
  HWY_INLINE Parts& operator=(const Parts& p) {
    a = p.a, b = p.b, c = p.c, d = p.d;
    return *this;
  }
};

// f of each part.
template <int N, class F, class... P>
HWY_INLINE auto each(F f, const P&... p) {
  using V = decltype(f(p.a...));
  if constexpr (N == 1) {
    return Parts<V, 1>{f(p.a...)};
  } else if constexpr (N == 2) {
    return Parts<V, 2>(f(p.a...), f(p.b...));
  } else {
    return Parts<V, 4>(f(p.a...), f(p.b...), f(p.c...), f(p.d...));
  }
}

template <class S, int N>
using Integers = Parts<hn::Vec<BitsTag<S>>, N>;
template <class S, int N>
using Mask = Parts<hn::Mask<RegisterTag<S>>, N>;

template <class S, int N = 1>
struct __attribute__((may_alias)) Lanes {
  using Number = S;
  using D = RegisterTag<S>;
  using Vector = hn::Vec<D>;
  static constexpr std::size_t count = HWY_LANES(S);  // runs

  Parts<Vector, N> v;

  Lanes() = default;
  HWY_INLINE Lanes(const Parts<Vector, N>& parts) : v(parts) {}
  HWY_INLINE Lanes(double value) : v(spread(hn::Set(D(), static_cast<S>(value)))) {}

  static HWY_INLINE Lanes load(const S* p) requires(N == 1) { return Parts<Vector, 1>{hn::Load(D(), p)}; }
  // Wherever p points to.
  static HWY_INLINE Lanes load_any(const S* p) requires(N == 1) { return Parts<Vector, 1>{hn::LoadU(D(), p)}; }
  HWY_INLINE void store(S* p) const requires(N == 1) { hn::Store(v.a, D(), p); }

  // The same value for all samples.
  static HWY_INLINE Lanes same(const Lanes<S, 1>& x) { return spread(x.v.a); }
  // Samples that stand stride apart.
  static HWY_INLINE Lanes gather(const Lanes<S, 1>* p, int stride) {
    if constexpr (N == 1) {
      return *p;
    } else if constexpr (N == 2) {
      return Parts<Vector, 2>(p->v.a, p[stride].v.a);
    } else {
      return Parts<Vector, 4>(p->v.a, p[stride].v.a, p[2 * stride].v.a, p[3 * stride].v.a);
    }
  }
  // The sum over the samples, always in this order.
  HWY_INLINE Lanes<S, 1> sum() const {
    if constexpr (N == 1) {
      return *this;
    } else if constexpr (N == 2) {
      return Parts<Vector, 1>{hn::Add(v.a, v.b)};
    } else {
      return Parts<Vector, 1>{hn::Add(hn::Add(v.a, v.b), hn::Add(v.c, v.d))};
    }
  }

 private:
  static HWY_INLINE Parts<Vector, N> spread(Vector x) {
    if constexpr (N == 1) {
      return {x};
    } else if constexpr (N == 2) {
      return Parts<Vector, 2>(x, x);
    } else {
      return Parts<Vector, 4>(x, x, x, x);
    }
  }
};

#define NALM_OP             \
  template <class S, int N> \
  HWY_INLINE

// An operation on lanes from Highway's on vectors, and the same mixed with plain numbers, as in 1 - x.
#define NALM_BINARY(name, function)                                                            \
  NALM_OP Lanes<S, N> name(const Lanes<S, N>& a, const Lanes<S, N>& b) {                       \
    return each<N>([](auto x, auto y) HWY_ATTR { return function(x, y); }, a.v, b.v);          \
  }                                                                                            \
  NALM_OP Lanes<S, N> name(double a, const Lanes<S, N>& b) { return name(Lanes<S, N>(a), b); } \
  NALM_OP Lanes<S, N> name(const Lanes<S, N>& a, double b) { return name(a, Lanes<S, N>(b)); }
#define NALM_UNARY(name, function)                                    \
  NALM_OP Lanes<S, N> name(const Lanes<S, N>& a) {                    \
    return each<N>([](auto x) HWY_ATTR { return function(x); }, a.v); \
  }
#define NALM_COMPARISON(name, function)                                               \
  NALM_OP Mask<S, N> name(const Lanes<S, N>& a, const Lanes<S, N>& b) {               \
    return each<N>([](auto x, auto y) HWY_ATTR { return function(x, y); }, a.v, b.v); \
  }                                                                                   \
  NALM_OP Mask<S, N> name(const Lanes<S, N>& a, double b) { return name(a, Lanes<S, N>(b)); }

NALM_BINARY(operator+, hn::Add)
NALM_BINARY(operator-, hn::Sub)
NALM_BINARY(operator*, hn::Mul)
NALM_BINARY(operator/, hn::Div)
NALM_UNARY(operator-, hn::Neg)
NALM_OP Lanes<S, N>& operator+=(Lanes<S, N>& a, const Lanes<S, N>& b) { return a = a + b; }
NALM_OP Lanes<S, N>& operator-=(Lanes<S, N>& a, const Lanes<S, N>& b) { return a = a - b; }
NALM_OP Lanes<S, N>& operator*=(Lanes<S, N>& a, const Lanes<S, N>& b) { return a = a * b; }

NALM_COMPARISON(operator<, hn::Lt)
NALM_COMPARISON(operator<=, hn::Le)
NALM_COMPARISON(operator>, hn::Gt)
NALM_COMPARISON(operator>=, hn::Ge)
NALM_COMPARISON(operator==, hn::Eq)

NALM_OP Lanes<S, N> where(const Mask<S, N>& mask, const Lanes<S, N>& yes, const Lanes<S, N>& no) {
  return each<N>([](auto m, auto y, auto n) HWY_ATTR { return hn::IfThenElse(m, y, n); }, mask, yes.v, no.v);
}
NALM_OP Lanes<S, N> where(const Mask<S, N>& mask, const Lanes<S, N>& yes, double no) {
  return where<S, N>(mask, yes, Lanes<S, N>(no));
}

// a < b ? a : b, hence b when either is NaN: what x86's instruction does, spelled out elsewhere. Called with the plain
// number first, so that NaN in the lanes stays NaN.
template <class V>
HWY_INLINE V vector_min(V a, V b) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
  return hn::Min(a, b);
#else
  return hn::IfThenElse(hn::Lt(a, b), a, b);
#endif
}
template <class V>
HWY_INLINE V vector_max(V a, V b) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
  return hn::Max(a, b);
#else
  return hn::IfThenElse(hn::Gt(a, b), a, b);
#endif
}
NALM_BINARY(min, vector_min)
NALM_BINARY(max, vector_max)

NALM_UNARY(abs, hn::Abs)
NALM_UNARY(sqrt, hn::Sqrt)
NALM_BINARY(copysign, hn::CopySignToAbs)  // of a positive magnitude

// -1, 0, 1. The sign of NaN is 1 or -1: NaN is always carried on by what stands beside it.
NALM_OP Lanes<S, N> sign(const Lanes<S, N>& a) { return where(a == 0.0, a, copysign(Lanes<S, N>(1.0), a)); }
// 1 where a < 0, else 0.
NALM_OP Lanes<S, N> negative(const Lanes<S, N>& a) { return where(a < 0.0, Lanes<S, N>(1.0), 0.0); }

}  // namespace nalm::simd::NALM_TARGET
