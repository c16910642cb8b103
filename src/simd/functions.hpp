// exp, log, tanh, sigmoid, sin and cos over lanes.
//
// Own kernels, because Highway 1.0.3's have no special values (its exp of NaN is 0, which would hide a diverged run) and
// fuse products and sums where the CPU can, which would make bits depend on the target. Accuracy and special values of
// each are lines of the table in tests/simd/functions_test.cpp; float coefficients come from
// scripts/fit_polynomials.py, double ones are Taylor coefficients.
//
// Two speeds. Per-sample work uses the float kernels (about 1 ulp). The squashing of weights, once per iteration,
// decides which seeds succeed, so tanh and sigmoid go through double and are rounded once; per-sample gates use
// sigmoid_fast.
#pragma once

#include <cmath>
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
  static constexpr double round_to_integer = 12582912.0;  // 1.5 * 2^23: adding it leaves the integer in the low bits
};
template <>
struct Format<double> {
  static constexpr int mantissa_bits = 52;
  static constexpr std::int64_t bias = 1023;
  static constexpr std::int64_t sqrt_half_bits = 0x3fe6a09e667f3bcd;
  static constexpr double round_to_integer = 6755399441055744.0;  // 1.5 * 2^52
};

template <class S>
using IntLanes = hn::Vec<typename Lanes<S>::Bits>;

template <class S>
NALM_OP IntLanes<S> bits_of(Lanes<S> x) {
  return hn::BitCast(typename Lanes<S>::Bits(), x.v);
}
template <class S>
NALM_OP Lanes<S> from_bits(IntLanes<S> bits) {
  return hn::BitCast(typename Lanes<S>::D(), bits);
}
template <class S, class Int>
NALM_OP IntLanes<S> int_lanes(Int value) {
  return hn::Set(typename Lanes<S>::Bits(), static_cast<hwy::MakeSigned<S>>(value));
}

// The nearest integer, as a number and as an integer. NaN gives NaN and some integer.
template <class S>
struct Rounded {
  Lanes<S> number;
  IntLanes<S> integer;
};
template <class S>
NALM_OP Rounded<S> nearest(Lanes<S> x) {
  const Lanes<S> magic(Format<S>::round_to_integer);
  const Lanes<S> shifted = x + magic;
  return {shifted - magic, hn::Sub(bits_of(shifted), bits_of(magic))};
}

// 2^n for n inside the exponent range of normal numbers.
template <class S>
NALM_OP Lanes<S> power_of_two(IntLanes<S> n) {
  return from_bits<S>(hn::ShiftLeft<Format<S>::mantissa_bits>(hn::Add(n, int_lanes<S>(Format<S>::bias))));
}

// x * 2^n with n up to twice the exponent range, so that results may overflow to infinity or be denormal.
template <class S>
NALM_OP Lanes<S> scale_by_power(Lanes<S> x, IntLanes<S> n) {
  // An arithmetic shift by one; 64-bit lanes have no such instruction below AVX-512, hence the detour over an offset.
  IntLanes<S> half;
  if constexpr (sizeof(S) == 4) {
    half = hn::ShiftRight<1>(n);
  } else {
    half = hn::Sub(hn::BitCast(typename Lanes<S>::Bits(),
                               hn::ShiftRight<1>(hn::BitCast(hn::RebindToUnsigned<typename Lanes<S>::D>(),
                                                             hn::Add(n, int_lanes<S>(1 << 20))))),
                   int_lanes<S>(1 << 19));
  }
  return x * power_of_two<S>(half) * power_of_two<S>(hn::Sub(n, half));
}

// ---- exp -----------------------------------------------------------------------------------------------------------

// exp(x) = 2^n exp(r), |r| <= ln(2)/2; the fraction is exp(r) - 1.
template <class S>
struct ExpParts {
  IntLanes<S> n;
  Lanes<S> fraction;
};

NALM_OP ExpParts<float> exp_parts(Lanes<float> x) {
  const Rounded<float> n = nearest(x * 1.44269504);
  const Lanes<float> r = (x - n.number * 0.693359375) - n.number * -2.12194440e-4;  // ln 2 in two pieces
  Lanes<float> p = r * 0.00139517197 + 0.00836959854;
  p = p * r + 0.0416661873;
  p = p * r + 0.166665122;
  p = p * r + 0.5;
  return {n.integer, p * (r * r) + r};
}

NALM_OP ExpParts<double> exp_parts(Lanes<double> x) {
  const Rounded<double> n = nearest(x * 1.4426950408889634);
  const Lanes<double> r = (x - n.number * 0.693147180369123816490) - n.number * 1.90821492927058770002e-10;
  // Taylor: the first term left out is r^14/14! < 5e-18.
  constexpr double inverse_factorial[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                                          1.0 / 362880,     1.0 / 40320,     1.0 / 5040,     1.0 / 720,
                                          1.0 / 120,        1.0 / 24,        1.0 / 6,        1.0 / 2};
  Lanes<double> p(inverse_factorial[0]);
  for (int k = 1; k < 12; ++k) p = p * r + inverse_factorial[k];
  return {n.integer, p * (r * r) + r};
}

NALM_OP Lanes<float> exp(Lanes<float> x) {
  const ExpParts<float> e = exp_parts(min(89.0, max(-104.0, x)));
  return scale_by_power(e.fraction + 1.0, e.n);
}
NALM_OP Lanes<double> exp(Lanes<double> x) {
  const ExpParts<double> e = exp_parts(min(710.0, max(-746.0, x)));
  return scale_by_power(e.fraction + 1.0, e.n);
}

// ---- log -----------------------------------------------------------------------------------------------------------

// log(1 + f) - f for 1 + f in [sqrt(1/2), sqrt(2)]
NALM_OP Lanes<float> log1p_tail(Lanes<float> f) {
  Lanes<float> p = f * -0.0785961375 + 0.128816471;
  p = p * f + -0.131287545;
  p = p * f + 0.141811922;
  p = p * f + -0.166245535;
  p = p * f + 0.200022861;
  p = p * f + -0.250008106;
  p = p * f + 0.333333164;
  const Lanes<float> square = f * f;
  return p * (square * f) - square * 0.5;
}
NALM_OP Lanes<double> log1p_tail(Lanes<double> f) {
  // 2 atanh(s) with s = f/(2+f) is log(1+f); 2s = f - s f, and s^2 < 0.0295.
  const Lanes<double> s = f / (f + 2.0);
  const Lanes<double> square = s * s;
  Lanes<double> p(2.0 / 25);
  for (int k = 23; k >= 3; k -= 2) p = p * square + 2.0 / k;
  const Lanes<double> half = f * f * 0.5;
  return s * (half + square * p) - half;
}

// The logarithm of positive, normal, finite numbers.
template <class S>
NALM_OP Lanes<S> log_normal(Lanes<S> x, Lanes<S> exponent_offset) {
  constexpr int shift = Format<S>::mantissa_bits;
  using Unsigned = hn::RebindToUnsigned<typename Lanes<S>::D>;
  const auto bits = bits_of(x);
  // The exponent of x / sqrt(1/2); x is positive, so a logical shift of the biased value will do.
  const auto biased = hn::Add(hn::Sub(bits, int_lanes<S>(Format<S>::sqrt_half_bits)),
                              hn::ShiftLeft<shift>(int_lanes<S>(Format<S>::bias)));
  const auto field = hn::BitCast(typename Lanes<S>::Bits(), hn::ShiftRight<shift>(hn::BitCast(Unsigned(), biased)));
  const Lanes<S> f = from_bits<S>(hn::Sub(bits, hn::ShiftLeft<shift>(hn::Sub(field, int_lanes<S>(Format<S>::bias))))) - 1.0;
  // The field is a small positive integer: put it into the mantissa of round_to_integer and take that away again.
  const Lanes<S> magic(Format<S>::round_to_integer);
  const Lanes<S> e = (from_bits<S>(hn::Add(field, bits_of(magic))) - (magic + double(Format<S>::bias))) + exponent_offset;
  if constexpr (sizeof(S) == 4) {
    return e * 0.693359375 + (f + (log1p_tail(f) + e * -2.12194440e-4));
  } else {
    return e * 0.693147180369123816490 + (f + (log1p_tail(f) + e * 1.90821492927058770002e-10));
  }
}

template <class S>
HWY_NOINLINE Lanes<S> log_special(Lanes<S> x) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  // Denormals are scaled up first; log_normal is given 1 where it must not look.
  const auto denormal = x < double(std::numeric_limits<S>::min());
  constexpr double up = sizeof(S) == 4 ? 8388608.0 : 4503599627370496.0;
  const Lanes<S> scaled = where(denormal, x * up, x);
  const auto usable = hn::And(scaled > 0.0, scaled < infinity);
  const Lanes<S> offset = where(denormal, Lanes<S>(-double(Format<S>::mantissa_bits)), 0.0);
  const Lanes<S> finite = log_normal(where(usable, scaled, 1.0), offset);
  return where(usable, finite, where(x == 0.0, -infinity, where(x > 0.0, x, nan)));
}

// -inf at 0, NaN below.
template <class S>
NALM_OP Lanes<S> log(Lanes<S> x) {
  const auto normal = hn::And(x >= double(std::numeric_limits<S>::min()),
                              x <= double(std::numeric_limits<S>::max()));
  if (HWY_UNLIKELY(!all_lanes<S>(normal))) return log_special(x);
  return log_normal(x, Lanes<S>(0.0));
}

// ---- sin and cos ---------------------------------------------------------------------------------------------------

template <class S>
struct SinCos {
  Lanes<S> sin, cos;
};

// Beyond this the reduction below loses digits; such phases only occur in diverged runs. They are first reduced by the
// double nearest to 2 pi (fmod is exact, so bits agree everywhere); the result stays within [-1, 1], without a promise
// about its digits.
template <class S>
HWY_NOINLINE Lanes<S> reduce_large_phase(Lanes<S> x, double limit) {
  alignas(64) S values[Lanes<S>::count];
  x.store(values);
  for (S& value : values) {
    if (!(std::fabs(double(value)) <= limit)) value = static_cast<S>(std::fmod(double(value), 6.283185307179586));
  }
  return Lanes<S>::load(values);
}

// Turns sin and cos of the remainder r = x - n pi/2 into those of x.
template <class S>
NALM_OP SinCos<S> rotate(Lanes<S> sin_r, Lanes<S> cos_r, IntLanes<S> n) {
  constexpr int sign_shift = sizeof(S) * 8 - 2;
  const typename Lanes<S>::Bits bits;
  const auto odd = hn::RebindMask(typename Lanes<S>::D(), hn::Eq(hn::And(n, hn::Set(bits, 1)), hn::Set(bits, 1)));
  const auto two = hn::Set(bits, 2);
  const auto sin_sign = hn::ShiftLeft<sign_shift>(hn::And(n, two));
  const auto cos_sign = hn::ShiftLeft<sign_shift>(hn::And(hn::Add(n, hn::Set(bits, 1)), two));
  const Lanes<S> s = where(odd, cos_r, sin_r);
  const Lanes<S> c = where(odd, sin_r, cos_r);
  return {from_bits<S>(hn::Xor(bits_of(s), sin_sign)), from_bits<S>(hn::Xor(bits_of(c), cos_sign))};
}

NALM_OP SinCos<float> sincos(Lanes<float> x) {
  constexpr double limit = 12000.0;
  if (HWY_UNLIKELY(!all_lanes<float>(abs(x) <= limit))) x = reduce_large_phase(x, limit);
  const Rounded<float> n = nearest(x * 0.636619772);
  Lanes<float> r = x - n.number * 1.5703125;  // pi/2 in four pieces
  r = r - n.number * 0.00048375129699707031;
  r = r - n.number * 7.5495336204767227e-08;
  r = r - n.number * 2.5633440682570896e-12;
  const Lanes<float> z = r * r;
  const Lanes<float> sin_r = r + ((z * -0.000195108398 + 0.00833213143) * z + -0.166666538) * (z * r);
  const Lanes<float> cos_r = (1.0 - z * 0.5) + ((z * 2.4431205e-05 + -0.0013887306) * z + 0.0416666456) * (z * z);
  return rotate(sin_r, cos_r, n.integer);
}

NALM_OP SinCos<double> sincos(Lanes<double> x) {
  constexpr double limit = 1e6;
  if (HWY_UNLIKELY(!all_lanes<double>(abs(x) <= limit))) x = reduce_large_phase(x, limit);
  const Rounded<double> n = nearest(x * 0.63661977236758134308);
  Lanes<double> r = x - n.number * 1.57079632673412561417;  // pi/2 in three pieces
  r = r - n.number * 6.07710050630396597660e-11;
  r = r - n.number * 2.02226624879595063154e-21;
  const Lanes<double> z = r * r;
  // Taylor: the first terms left out are r^19/19! and r^20/20!, below 1e-19.
  Lanes<double> s(1.0), c(1.0);
  for (int k = 16; k >= 2; k -= 2) s = 1.0 - (z * s) * (1.0 / (k * (k + 1.0)));
  for (int k = 17; k >= 3; k -= 2) c = 1.0 - (z * c) * (1.0 / (k * (k + 1.0)));
  const Lanes<double> cos_r = 1.0 - z * 0.5 * c;
  return rotate(r * s, cos_r, n.integer);
}

template <class S>
NALM_OP Lanes<S> sin(Lanes<S> x) {
  return sincos(x).sin;
}
template <class S>
NALM_OP Lanes<S> cos(Lanes<S> x) {
  return sincos(x).cos;
}

// ---- tanh and sigmoid ----------------------------------------------------------------------------------------------

// f in double, rounded once.
template <class F>
NALM_OP Lanes<float> in_double(Lanes<float> x, F f) {
  using DF = Lanes<float>::D;
#if HWY_TARGET == HWY_SCALAR
  return hn::DemoteTo(DF(), f(Lanes<double>(hn::PromoteTo(Lanes<double>::D(), x.v))).v);
#else
  const Lanes<double>::D dd;
  const hn::Half<DF> half;
  const auto lower = hn::DemoteTo(half, f(Lanes<double>(hn::PromoteTo(dd, hn::LowerHalf(half, x.v)))).v);
  const auto upper = hn::DemoteTo(half, f(Lanes<double>(hn::PromoteTo(dd, hn::UpperHalf(half, x.v)))).v);
  return hn::Combine(DF(), upper, lower);
#endif
}

// -expm1(-2a)/(2 + expm1(-2a)) with the sign of x: no cancellation near 0.
NALM_OP Lanes<double> tanh(Lanes<double> x) {
  const ExpParts<double> e = exp_parts(max(-60.0, abs(x) * -2.0));
  const Lanes<double> power = power_of_two<double>(e.n);
  const Lanes<double> expm1 = power * e.fraction + (power - 1.0);
  return copysign(-expm1 / (expm1 + 2.0), x);
}
NALM_OP Lanes<double> sigmoid(Lanes<double> x) { return 1.0 / (exp(-x) + 1.0); }

// tanh and sigmoid of scale * x (G-NALU's golden base is a scale of ln phi).
template <class S>
NALM_OP Lanes<S> tanh(Lanes<S> x, double scale) {
  if constexpr (sizeof(S) == 8) {
    return tanh(x * scale);
  } else {
    return in_double(x, [scale](Lanes<double> d) HWY_ATTR { return tanh(d * scale); });
  }
}
template <class S>
NALM_OP Lanes<S> sigmoid(Lanes<S> x, double scale) {
  if constexpr (sizeof(S) == 8) {
    return sigmoid(x * scale);
  } else {
    return in_double(x, [scale](Lanes<double> d) HWY_ATTR { return sigmoid(d * scale); });
  }
}
NALM_OP Lanes<float> tanh(Lanes<float> x) { return tanh(x, 1.0); }
NALM_OP Lanes<float> sigmoid(Lanes<float> x) { return sigmoid(x, 1.0); }

// For gates evaluated per sample.
template <class S>
NALM_OP Lanes<S> sigmoid_fast(Lanes<S> x) {
  return 1.0 / (exp(-x) + 1.0);
}

}  // namespace nalm::simd::NALM_TARGET
