// exp, log, tanh, sigmoid, sin, cos, asin and acos over lanes.
//
// Own kernels, because Highway 1.0.3's have no special values (its exp of NaN is 0, which would hide a diverged run)
// and fuse products and sums where the CPU can, which would make bits depend on the target. Accuracy and special values
// of each are lines of the table in tests/simd/functions_test.cpp; float coefficients come from
// scripts/fit_polynomials.py, double ones are Taylor coefficients but for asin.
//
// Two speeds. Per-sample work uses the float kernels (about 1 ulp). The squashing of weights, once per iteration,
// decides which seeds succeed, so tanh and sigmoid go through double and are rounded once; per-sample gates use
// sigmoid_fast.
#pragma once

#include <cstdint>
#include <limits>

#include "simd/lanes.hpp"

namespace nalm::simd::NALM_TARGET {

// ---- bits of a floating-point number ------------------------------------------------------------------------------

template <class S>
struct Format;
template <>
struct Format<float> {
  static constexpr int mantissa_bits = 23;
  static constexpr std::int32_t bias = 127;
  static constexpr std::int32_t sqrt_half_bits = 0x3f3504f3;
  static constexpr std::int32_t magic_bits = 0x4b400000;
  static constexpr double magic = 12582912.0;  // 1.5 * 2^23: adding it leaves the integer in the low bits
};
template <>
struct Format<double> {
  static constexpr int mantissa_bits = 52;
  static constexpr std::int64_t bias = 1023;
  static constexpr std::int64_t sqrt_half_bits = 0x3fe6a09e667f3bcd;
  static constexpr std::int64_t magic_bits = 0x4338000000000000;
  static constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52
};

NALM_OP Integers<S, N> bits_of(const Lanes<S, N>& x) {
  return each<N>([](auto v) HWY_ATTR { return hn::BitCast(BitsTag<S>(), v); }, x.v);
}
NALM_OP Lanes<S, N> from_bits(const Integers<S, N>& bits) {
  return each<N>([](auto v) HWY_ATTR { return hn::BitCast(RegisterTag<S>(), v); }, bits);
}

// The nearest integer, as a number and as an integer. NaN gives NaN and some integer.
template <class S, int N>
struct Rounded {
  Lanes<S, N> number;
  Integers<S, N> integer;
};
NALM_OP Rounded<S, N> nearest(const Lanes<S, N>& x) {
  const Lanes<S, N> shifted = x + Format<S>::magic;
  return {shifted - Format<S>::magic,
          each<N>([](auto v) HWY_ATTR { return hn::Sub(v, hn::Set(BitsTag<S>(), Format<S>::magic_bits)); },
                  bits_of(shifted))};
}

// 2^n for n inside the exponent range of normal numbers.
NALM_OP Lanes<S, N> power_of_two(const Integers<S, N>& n) {
  return from_bits<S, N>(each<N>(
      [](auto v) HWY_ATTR {
        return hn::ShiftLeft<Format<S>::mantissa_bits>(hn::Add(v, hn::Set(BitsTag<S>(), Format<S>::bias)));
      },
      n));
}

// x * 2^n with n up to twice the exponent range, so that results may overflow to infinity or be denormal.
template <int N>
HWY_INLINE Lanes<double, N> scale_by_power(const Lanes<double, N>& x, const Integers<double, N>& n) {
  // 64-bit lanes have no arithmetic shift below AVX-512: shift an offset, hence positive, number instead.
  const Integers<double, N> half = each<N>(
      [](auto v) HWY_ATTR {
        const BitsTag<double> tag;
        const hn::RebindToUnsigned<RegisterTag<double>> positive;
        const auto shifted = hn::ShiftRight<1>(hn::BitCast(positive, hn::Add(v, hn::Set(tag, 1 << 20))));
        return hn::Sub(hn::BitCast(tag, shifted), hn::Set(tag, 1 << 19));
      },
      n);
  const Integers<double, N> rest = each<N>([](auto v, auto h) HWY_ATTR { return hn::Sub(v, h); }, n, half);
  return x * power_of_two<double, N>(half) * power_of_two<double, N>(rest);
}

// ---- exp -----------------------------------------------------------------------------------------------------------

// exp(x) = 2^n exp(r), |r| <= ln(2)/2; the fraction is exp(r) - 1.
template <class S, int N>
struct ExpParts {
  Integers<S, N> n;
  Lanes<S, N> fraction;
};

// Polynomials are evaluated in pairs of terms rather than term after term: fewer operations wait for each other.
template <int N>
HWY_INLINE ExpParts<float, N> exp_parts(const Lanes<float, N>& x) {
  const Rounded<float, N> n = nearest(x * 1.44269504);
  const Lanes<float, N> r = (x - n.number * 0.693359375) - n.number * -2.12194440e-4;  // ln 2 in two pieces
  const Lanes<float, N> r2 = r * r;
  const Lanes<float, N> high = (r * 0.00836959854 + 0.0416661873) + r2 * 0.00139517197;
  const Lanes<float, N> p = (r * 0.166665122 + 0.5) + high * r2;
  return {n.integer, p * r2 + r};
}

template <int N>
HWY_INLINE ExpParts<double, N> exp_parts(const Lanes<double, N>& x) {
  const Rounded<double, N> n = nearest(x * 1.4426950408889634);
  const Lanes<double, N> r = (x - n.number * 0.693147180369123816490) - n.number * 1.90821492927058770002e-10;
  const Lanes<double, N> r2 = r * r, r4 = r2 * r2;
  // Taylor: the first term left out is r^14/14! < 5e-18.
  const Lanes<double, N> a = (r * (1.0 / 6) + 1.0 / 2) + (r * (1.0 / 120) + 1.0 / 24) * r2;
  const Lanes<double, N> b = (r * (1.0 / 5040) + 1.0 / 720) + (r * (1.0 / 362880) + 1.0 / 40320) * r2;
  const Lanes<double, N> c = (r * (1.0 / 39916800) + 1.0 / 3628800) + (r * (1.0 / 6227020800) + 1.0 / 479001600) * r2;
  return {n.integer, (a + (b + c * r4) * r4) * r2 + r};
}

// In float the power of two goes straight into the exponent bits. Results below the smallest normal number are 0.
template <int N>
HWY_INLINE Lanes<float, N> exp(const Lanes<float, N>& x) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const ExpParts<float, N> e = exp_parts(x);
  const Lanes<float, N> inside = from_bits<float, N>(each<N>(
      [](auto p, auto n) HWY_ATTR { return hn::Add(p, hn::ShiftLeft<23>(n)); }, bits_of(e.fraction + 1.0), e.n));
  // From here on exp overflows; NaN takes this way too, and stays NaN.
  const Lanes<float, N> result = where(x <= 88.72283, inside, max(infinity, x));
  return where(x < -87.33654, Lanes<float, N>(0.0), result);
}
template <int N>
HWY_INLINE Lanes<double, N> exp(const Lanes<double, N>& x) {
  const ExpParts<double, N> e = exp_parts(min(710.0, max(-746.0, x)));
  return scale_by_power(e.fraction + 1.0, e.n);
}

// ---- log -----------------------------------------------------------------------------------------------------------

// x = 2^exponent (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), for positive normal numbers.
template <class S, int N>
struct LogParts {
  Lanes<S, N> exponent, f;
};

template <int N>
HWY_INLINE LogParts<float, N> log_parts(const Lanes<float, N>& x) {
  const auto from_half = each<N>(
      [](auto v) HWY_ATTR { return hn::Sub(v, hn::Set(BitsTag<float>(), Format<float>::sqrt_half_bits)); }, bits_of(x));
  const Lanes<float, N> exponent =
      each<N>([](auto v) HWY_ATTR { return hn::ConvertTo(RegisterTag<float>(), hn::ShiftRight<23>(v)); }, from_half);
  const Lanes<float, N> mantissa = from_bits<float, N>(each<N>(
      [](auto v) HWY_ATTR {
        const BitsTag<float> tag;
        return hn::Add(hn::And(v, hn::Set(tag, 0x7fffff)), hn::Set(tag, Format<float>::sqrt_half_bits));
      },
      from_half));
  return {exponent, mantissa - 1.0};
}

template <int N>
HWY_INLINE LogParts<double, N> log_parts(const Lanes<double, N>& x) {
  const Integers<double, N> bits = bits_of(x);
  // The biased exponent of x / sqrt(1/2); x is positive, so a logical shift will do.
  const Integers<double, N> field = each<N>(
      [](auto v) HWY_ATTR {
        const BitsTag<double> tag;
        const hn::RebindToUnsigned<RegisterTag<double>> positive;
        const auto biased = hn::Add(v, hn::Set(tag, (Format<double>::bias << 52) - Format<double>::sqrt_half_bits));
        return hn::BitCast(tag, hn::ShiftRight<52>(hn::BitCast(positive, biased)));
      },
      bits);
  const Lanes<double, N> mantissa = from_bits<double, N>(each<N>(
      [](auto v, auto e) HWY_ATTR {
        return hn::Add(hn::Sub(v, hn::ShiftLeft<52>(e)), hn::Set(BitsTag<double>(), Format<double>::bias << 52));
      },
      bits, field));
  // The field is a small positive integer: put it into the mantissa of the magic number and take that away again.
  const Lanes<double, N> exponent =
      from_bits<double, N>(each<N>(
          [](auto v) HWY_ATTR { return hn::Add(v, hn::Set(BitsTag<double>(), Format<double>::magic_bits)); }, field)) -
      (Format<double>::magic + static_cast<double>(Format<double>::bias));
  return {exponent, mantissa - 1.0};
}

// exponent * ln 2 + log(1 + f)
template <int N>
HWY_INLINE Lanes<float, N> log_sum(const LogParts<float, N>& x) {
  const Lanes<float, N>& f = x.f;
  const Lanes<float, N> f2 = f * f, f4 = f2 * f2;
  const Lanes<float, N> low = (f * 0.333333075 + -0.499999881) + (f * 0.200030163 + -0.250015229) * f2;
  const Lanes<float, N> high = (f * 0.141634688 + -0.166111499) + (f * 0.13004832 + -0.132087946) * f2;
  const Lanes<float, N> p = low + (high + f4 * -0.0782338008) * f4;
  return x.exponent * 0.693359375 + (f + (p * f2 + x.exponent * -2.12194440e-4));
}
template <int N>
HWY_INLINE Lanes<double, N> log_sum(const LogParts<double, N>& x) {
  // 2 atanh(s) with s = f/(2+f) is log(1+f); 2s = f - s f, and s^2 < 0.0295.
  const Lanes<double, N>& f = x.f;
  const Lanes<double, N> s = f / (f + 2.0);
  const Lanes<double, N> square = s * s;
  Lanes<double, N> p(2.0 / 25);
  for (int k = 23; k >= 3; k -= 2) p = p * square + 2.0 / k;
  const Lanes<double, N> half = f * f * 0.5;
  const Lanes<double, N> tail = s * (half + square * p) - half;
  return x.exponent * 0.693147180369123816490 + (f + (tail + x.exponent * 1.90821492927058770002e-10));
}

// Of positive normal numbers, and of nothing else.
NALM_OP Lanes<S, N> log_of_normal(const Lanes<S, N>& x) { return log_sum(log_parts(x)); }

// Whatever is below the smallest normal number, zero and negative numbers included, counts as that number: every module
// adds an epsilon or sets a floor before it takes a logarithm, so none of this happens.
NALM_OP Lanes<S, N> log(const Lanes<S, N>& x) {
  const Lanes<S, N> positive = max(static_cast<double>(std::numeric_limits<S>::min()), x);
  return where(positive < std::numeric_limits<double>::infinity(), log_of_normal(positive), positive);
}

// ---- sin and cos ---------------------------------------------------------------------------------------------------

template <class S, int N>
struct SinCos {
  Lanes<S, N> sin, cos;
};

// The reduction by multiples of pi/2 loses digits once the multiple no longer fits the pieces (beyond 1e5 in float),
// and breaks down as neighbouring numbers come to lie a radian apart. Only diverged runs have such phases; this keeps
// their sine and cosine within [-1, 1], the same everywhere. It changes nothing for other phases, and NaN stays NaN.
NALM_OP Lanes<S, N> within_quarter_turn(const Lanes<S, N>& r) { return min(1.0, max(-1.0, r)); }

// Turns sin and cos of the remainder r = x - n pi/2 into those of x.
NALM_OP SinCos<S, N> rotate(const Lanes<S, N>& sin_r, const Lanes<S, N>& cos_r, const Integers<S, N>& n) {
  constexpr static int sign_shift = sizeof(S) * 8 - 2;
  const Mask<S, N> odd = each<N>(
      [](auto v) HWY_ATTR {
        const BitsTag<S> tag;
        return hn::RebindMask(RegisterTag<S>(), hn::Eq(hn::And(v, hn::Set(tag, 1)), hn::Set(tag, 1)));
      },
      n);
  const auto flip = [](auto number, auto quadrant) HWY_ATTR {
    const BitsTag<S> tag;
    return hn::Xor(number, hn::ShiftLeft<sign_shift>(hn::And(quadrant, hn::Set(tag, 2))));
  };
  const Integers<S, N> next = each<N>([](auto v) HWY_ATTR { return hn::Add(v, hn::Set(BitsTag<S>(), 1)); }, n);
  return {from_bits<S, N>(each<N>(flip, bits_of(where(odd, cos_r, sin_r)), n)),
          from_bits<S, N>(each<N>(flip, bits_of(where(odd, sin_r, cos_r)), next))};
}

template <int N>
HWY_INLINE SinCos<float, N> sincos(const Lanes<float, N>& x) {
  const Rounded<float, N> n = nearest(x * 0.636619772);
  Lanes<float, N> r = x - n.number * 1.5703125;  // pi/2 in three pieces
  r = r - n.number * 0.00048375129699707031;
  r = within_quarter_turn(r - n.number * 7.5497894158615964e-08);
  const Lanes<float, N> z = r * r;
  const Lanes<float, N> sin_r = r + ((z * -0.000195108398 + 0.00833213143) * z + -0.166666538) * (z * r);
  const Lanes<float, N> cos_r = (1.0 - z * 0.5) + ((z * 2.4431205e-05 + -0.0013887306) * z + 0.0416666456) * (z * z);
  return rotate(sin_r, cos_r, n.integer);
}

template <int N>
HWY_INLINE SinCos<double, N> sincos(const Lanes<double, N>& x) {
  const Rounded<double, N> n = nearest(x * 0.63661977236758134308);
  Lanes<double, N> r = x - n.number * 1.57079632673412561417;  // pi/2 in three pieces
  r = r - n.number * 6.07710050630396597660e-11;
  r = within_quarter_turn(r - n.number * 2.02226624879595063154e-21);
  const Lanes<double, N> z = r * r;
  // Taylor: the first terms left out are r^19/19! and r^20/20!, below 1e-19.
  Lanes<double, N> s(1.0), c(1.0);
  for (int k = 16; k >= 2; k -= 2) s = 1.0 - (z * s) * (1.0 / (k * (k + 1.0)));
  for (int k = 17; k >= 3; k -= 2) c = 1.0 - (z * c) * (1.0 / (k * (k + 1.0)));
  return rotate(r * s, 1.0 - z * 0.5 * c, n.integer);
}

NALM_OP Lanes<S, N> sin(const Lanes<S, N>& x) { return sincos(x).sin; }
NALM_OP Lanes<S, N> cos(const Lanes<S, N>& x) { return sincos(x).cos; }

// ---- tanh and sigmoid ----------------------------------------------------------------------------------------------

// Float lanes as two halves of double lanes; the scalar target needs only the lower one.
template <int N>
struct Widened {
  Lanes<double, N> lower, upper;
};
template <int N>
HWY_INLINE Widened<N> widen(const Lanes<float, N>& x) {
#if HWY_TARGET == HWY_SCALAR
  const Lanes<double, N> all = each<N>([](auto v) HWY_ATTR { return hn::PromoteTo(RegisterTag<double>(), v); }, x.v);
  return {all, all};
#else
  return {each<N>(
              [](auto v) HWY_ATTR {
                return hn::PromoteTo(RegisterTag<double>(), hn::LowerHalf(hn::Half<RegisterTag<float>>(), v));
              },
              x.v),
          each<N>(
              [](auto v) HWY_ATTR {
                return hn::PromoteTo(RegisterTag<double>(), hn::UpperHalf(hn::Half<RegisterTag<float>>(), v));
              },
              x.v)};
#endif
}
template <int N>
HWY_INLINE Lanes<float, N> narrow(const Lanes<double, N>& lower, const Lanes<double, N>& upper) {
  return each<N>(
      [](auto l, [[maybe_unused]] auto u) HWY_ATTR {
#if HWY_TARGET == HWY_SCALAR
        return hn::DemoteTo(RegisterTag<float>(), l);
#else
        const hn::Half<RegisterTag<float>> half;
        return hn::Combine(RegisterTag<float>(), hn::DemoteTo(half, u), hn::DemoteTo(half, l));
#endif
      },
      lower.v, upper.v);
}
// f in double, rounded once.
template <int N, class F>
HWY_INLINE Lanes<float, N> in_double(const Lanes<float, N>& x, F f) {
  const Widened<N> wide = widen(x);
#if HWY_TARGET == HWY_SCALAR
  const Lanes<double, N> result = f(wide.lower);
  return narrow(result, result);
#else
  return narrow<N>(f(wide.lower), f(wide.upper));
#endif
}

// -expm1(-2a)/(2 + expm1(-2a)) with the sign of x: no cancellation near 0.
template <int N>
HWY_INLINE Lanes<double, N> tanh(const Lanes<double, N>& x) {
  const ExpParts<double, N> e = exp_parts(max(-60.0, abs(x) * -2.0));
  const Lanes<double, N> power = power_of_two<double, N>(e.n);
  const Lanes<double, N> expm1 = power * e.fraction + (power - 1.0);
  return copysign(abs(expm1) / (expm1 + 2.0), x);
}
template <int N>
HWY_INLINE Lanes<double, N> sigmoid(const Lanes<double, N>& x) {
  return 1.0 / (exp(-x) + 1.0);
}

// tanh and sigmoid of scale * x (G-NALU's golden base is a scale of ln phi).
NALM_OP Lanes<S, N> tanh(const Lanes<S, N>& x, double scale) {
  if constexpr (sizeof(S) == 8) {
    return tanh(x * scale);
  } else {
    return in_double(x, [scale](const Lanes<double, N>& d) HWY_ATTR { return tanh(d * scale); });
  }
}
NALM_OP Lanes<S, N> sigmoid(const Lanes<S, N>& x, double scale) {
  if constexpr (sizeof(S) == 8) {
    return sigmoid(x * scale);
  } else {
    return in_double(x, [scale](const Lanes<double, N>& d) HWY_ATTR { return sigmoid(d * scale); });
  }
}
template <int N>
HWY_INLINE Lanes<float, N> tanh(const Lanes<float, N>& x) {
  return tanh(x, 1.0);
}
template <int N>
HWY_INLINE Lanes<float, N> sigmoid(const Lanes<float, N>& x) {
  return sigmoid(x, 1.0);
}

// For gates evaluated per sample.
NALM_OP Lanes<S, N> sigmoid_fast(const Lanes<S, N>& x) { return 1.0 / (exp(-x) + 1.0); }

// ---- asin and acos -------------------------------------------------------------------------------------------------

// asin(root) = root + rest, where root is |x| up to 1/2, and sqrt((1 - |x|)/2) beyond: asin(x) = pi/2 - 2 asin(root)
// there. Beyond 1 the root is NaN.
template <int N>
struct ArcParts {
  Mask<double, N> inner;
  Lanes<double, N> root, rest;
};
template <int N>
HWY_INLINE ArcParts<N> arc_parts(const Lanes<double, N>& x) {
  const Lanes<double, N> size = abs(x);
  const Mask<double, N> inner = size <= 0.5;
  const Lanes<double, N> z = where(inner, size * size, (1.0 - size) * 0.5);
  const Lanes<double, N> root = where(inner, size, sqrt(z));
  const Lanes<double, N> z2 = z * z, z4 = z2 * z2;
  const Lanes<double, N> a =
      (z * 0.07500000000344825 + 0.16666666666665375) + (z * 0.03038195939601085 + 0.04464285682195926) * z2;
  const Lanes<double, N> b =
      (z * 0.017359795737241793 + 0.022371751928581828) + (z * 0.012174945226064576 + 0.01388434982005421) * z2;
  const Lanes<double, N> c =
      (z * 0.01959435937134651 + 0.006503511058559159) + (z * 0.03198169691454114 + -0.016326712032498983) * z2;
  return {inner, root, (a + (b + c * z4) * z4) * z * root};
}

// pi/2 and what it lacks.
inline constexpr double half_pi = 1.5707963267948966, half_pi_rest = 6.123233995736766e-17;

template <int N>
HWY_INLINE Lanes<double, N> asin(const Lanes<double, N>& x) {
  const ArcParts<N> a = arc_parts(x);
  const Lanes<double, N> sum = a.root + a.rest;
  const Lanes<double, N> lost = a.rest - (sum - a.root);  // in rounding the sum, which counts twice in what follows
  return copysign(where(a.inner, sum, (half_pi - sum * 2.0) + (half_pi_rest - lost * 2.0)), x);
}
template <int N>
HWY_INLINE Lanes<double, N> acos(const Lanes<double, N>& x) {
  const ArcParts<N> a = arc_parts(x);
  const Lanes<double, N> twice = (a.root + a.rest) * 2.0;
  const Lanes<double, N> outer = where(x < 0.0, 2 * half_pi - (twice - 2 * half_pi_rest), twice);
  return where(a.inner, half_pi - (x - (half_pi_rest - copysign(a.rest, x))), outer);
}
template <int N>
HWY_INLINE Lanes<float, N> asin(const Lanes<float, N>& x) {
  return in_double(x, [](const Lanes<double, N>& d) HWY_ATTR { return asin(d); });
}
template <int N>
HWY_INLINE Lanes<float, N> acos(const Lanes<float, N>& x) {
  return in_double(x, [](const Lanes<double, N>& d) HWY_ATTR { return acos(d); });
}

}  // namespace nalm::simd::NALM_TARGET
