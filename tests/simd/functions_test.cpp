// Accuracy and special values of the functions over lanes, and that every target computes the same bits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/aligned.hpp"
#include "sanitized.hpp"
#include "simd/dispatch.hpp"
#include "simd/function_kernels.hpp"

namespace nalm::simd::functions_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <class S>
using Bits = std::conditional_t<sizeof(S) == 4, std::uint32_t, std::uint64_t>;
template <class S>
using Exact = std::conditional_t<sizeof(S) == 4, double, long double>;

template <class S>
const FunctionKernel<S>& kernel(const Target& target, std::string_view name) {
  for (const FunctionKernel<S>& k : function_kernels<S>(target.index)) {
    if (k.name == name) return k;
  }
  throw std::invalid_argument("no such kernel: " + std::string(name));
}

// The function of any number of values; the kernels themselves want whole blocks.
template <class S>
AlignedVector<S> apply(const FunctionKernel<S>& k, std::span<const S> in) {
  constexpr std::size_t block = 64;  // four samples of the most lanes there are
  AlignedVector<S> padded(in.begin(), in.end());
  padded.resize((in.size() + block - 1) / block * block, S(1));
  AlignedVector<S> out(padded.size());
  k.apply(padded.data(), out.data(), static_cast<int>(padded.size()));
  out.resize(in.size());
  return out;
}

template <class S>
S value(std::string_view name, double x) {
  const S in = static_cast<S>(x);
  return apply<S>(kernel<S>(active_target(), name), std::span(&in, 1))[0];
}

// ---- accuracy ------------------------------------------------------------------------------------------------------

// Errors are in units in the last place of the exact value, or of 1 where that is larger and absolute is set: a sine
// near a multiple of pi has few digits left, and nobody needs them.
struct Line {
  std::string_view function;
  double lo, hi;
  bool absolute;
  double allowed;
};

// Allowed is a little more than what was measured with twenty times as many points (the last comment); all targets have
// the same bits. In float, phases lose digits from 1e5 on.
constexpr Line float_table[] = {
    {"exp", -87.33654, 88.72283, false, 1.1},           // 1.03
    {"log", 1.17549435e-38, 3.4028234e38, false, 1.1},  // 0.95
    {"log", 0.5, 2, false, 1.1},                        // 1.04
    {"sin", -3, 3, false, 1.6},                         // 1.43
    {"sin", -10, 10, true, 0.8},                        // 0.73
    {"sin", -1e4, 1e4, true, 0.9},                      // 0.79
    {"sin", -1e5, 1e5, true, 10},                       // 8.1
    {"cos", -1.5, 1.5, false, 1.65},                    // 1.50
    {"cos", -10, 10, true, 0.85},                       // 0.78
    {"cos", -1e4, 1e4, true, 0.85},                     // 0.78
    {"cos", -1e5, 1e5, true, 10},                       // 6.4
    {"asin", -1, 1, false, 0.501},                      // 0.50
    {"acos", -1, 1, false, 0.501},                      // 0.50
    {"tanh", -20, 20, false, 0.501},                    // 0.50
    {"sigmoid", -87, 100, false, 0.501},                // 0.50
    {"sigmoid_fast", -87, 100, false, 2.6},             // 2.43
};
constexpr Line double_table[] = {
    {"exp", -708.39, 709.78, false, 1.1},                                   // 1.00
    {"exp", -745, -708.39, false, 0.85},                                    // 0.77
    {"log", 2.2250738585072014e-308, 1.7976931348623157e308, false, 0.85},  // 0.77
    {"log", 0.5, 2, false, 1},                                              // 0.88
    {"sin", -3, 3, false, 1.6},                                             // 1.41
    {"sin", -10, 10, true, 0.8},                                            // 0.71
    {"sin", -1e6, 1e6, true, 0.95},                                         // 0.84
    {"cos", -1.5, 1.5, false, 2.1},                                         // 1.87
    {"cos", -10, 10, true, 0.75},                                           // 0.66
    {"cos", -1e6, 1e6, true, 0.95},                                         // 0.86
    {"asin", -1, 1, false, 1.4},                                            // 1.25
    {"acos", -1, 1, false, 1.3},                                            // 1.16
    {"tanh", -25, 25, false, 2.7},                                          // 2.50
    {"sigmoid", -708, 100, false, 2.4},                                     // 2.21
    {"sigmoid_fast", -708, 100, false, 2.4},                                // 2.21
};

template <class E>
E exact(std::string_view name, E x) {
  if (name == "exp") return std::exp(x);
  if (name == "log") return std::log(x);
  if (name == "sin") return std::sin(x);
  if (name == "cos") return std::cos(x);
  if (name == "asin") return std::asin(x);
  if (name == "acos") return std::acos(x);
  if (name == "tanh") return std::tanh(x);
  return 1 / (1 + std::exp(-x));
}

// The distance between numbers of type S around an exact value.
template <class S, class E>
E ulp(E size) {
  int exponent;
  std::frexp(size, &exponent);
  exponent = std::max(exponent, std::numeric_limits<S>::min_exponent);
  return std::ldexp(E(1), exponent - std::numeric_limits<S>::digits);
}

// Evenly spread numbers, and random bit patterns: every size from denormal to the ends of the range. Fixed seed.
template <class S>
std::vector<S> points(double lo, double hi, int count) {
  std::mt19937_64 random(20240711);
  std::vector<S> result{static_cast<S>(lo), static_cast<S>(hi)};
  for (int k = 0; k < count; ++k) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    result.push_back(static_cast<S>(lo + (hi - lo) * unit));
    const S any = std::bit_cast<S>(static_cast<Bits<S>>(random()));
    if (any >= static_cast<S>(lo) && any <= static_cast<S>(hi)) result.push_back(any);
  }
  return result;
}

template <class S>
void expect_accurate(const Line& line, int count) {
  using E = Exact<S>;
  const std::vector<S> x = points<S>(line.lo, line.hi, count);
  const AlignedVector<S> y = apply<S>(kernel<S>(active_target(), line.function), x);
  E worst = 0;
  S where = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const E wanted = exact<E>(line.function, x[k]);
    const E size = line.absolute ? std::max(std::abs(wanted), E(1)) : std::abs(wanted);
    const E error = std::abs(static_cast<E>(y[k]) - wanted) / ulp<S>(size);
    if (!(error <= worst)) {  // NaN counts
      worst = error;
      where = x[k];
      if (std::isnan(error)) break;
    }
  }
  const std::string name =
      fmt::format("{} of {:.6g} to {:.6g}{}", line.function, line.lo, line.hi, line.absolute ? ", absolute" : "");
  testing::Test::RecordProperty(name, std::to_string(worst));
  EXPECT_LE(worst, static_cast<E>(line.allowed)) << name << ": worst at " << testing::PrintToString(where);
}

TEST(Functions, InFloatAreAsAccurateAsTheTableSays) {
  for (const Line& line : float_table) expect_accurate<float>(line, test::sanitized ? 50'000 : 1'000'000);
}

TEST(Functions, InDoubleAreAsAccurateAsTheTableSays) {
  for (const Line& line : double_table) expect_accurate<double>(line, test::sanitized ? 10'000 : 100'000);
}

// ---- special values ------------------------------------------------------------------------------------------------

template <class S>
struct SpecialValues : testing::Test {};
using NumberTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(SpecialValues, NumberTypes);

TYPED_TEST(SpecialValues, NanStaysNan) {
  for (const std::string_view name :
       {"exp", "log", "sin", "cos", "sincos", "asin", "acos", "tanh", "sigmoid", "sigmoid_fast"}) {
    EXPECT_TRUE(std::isnan(value<TypeParam>(name, nan))) << name;
    EXPECT_TRUE(std::isnan(value<TypeParam>(name, -nan))) << name;
  }
}

TYPED_TEST(SpecialValues, MinimumAndMaximumWithThePlainNumberFirstKeepNan) {
  EXPECT_TRUE(std::isnan(value<TypeParam>("min(1, x)", nan)));
  EXPECT_TRUE(std::isnan(value<TypeParam>("max(1, x)", nan)));
  EXPECT_EQ(value<TypeParam>("min(1, x)", 2), 1);
  EXPECT_EQ(value<TypeParam>("min(1, x)", -2), -2);
  EXPECT_EQ(value<TypeParam>("max(1, x)", 2), 2);
  EXPECT_EQ(value<TypeParam>("max(1, x)", -2), 1);
}

TYPED_TEST(SpecialValues, ExpReachesItsLimits) {
  EXPECT_EQ(value<TypeParam>("exp", infinity), infinity);
  EXPECT_EQ(value<TypeParam>("exp", -infinity), 0);
  EXPECT_EQ(value<TypeParam>("exp", 0), 1);
  EXPECT_EQ(value<TypeParam>("exp", -0.0), 1);
  EXPECT_EQ(value<TypeParam>("exp", -1e30), 0);
  EXPECT_EQ(value<TypeParam>("exp", 1e30), infinity);
}

TEST(ExpInFloat, OverflowsAboveTheLogarithmOfTheLargestNumber) {
  EXPECT_EQ(value<float>("exp", 88.72284), infinity);
  EXPECT_LT(value<float>("exp", 88.72283), infinity);
  EXPECT_GT(value<float>("exp", 88.72283), 3.4e38f);
}

TEST(ExpInFloat, IsZeroInsteadOfDenormal) {
  EXPECT_EQ(value<float>("exp", -87.34), 0.0f);
  EXPECT_GE(value<float>("exp", -87.33654), std::numeric_limits<float>::min());
}

TEST(ExpInDouble, OverflowsAboveTheLogarithmOfTheLargestNumberAndIsGraduallyZero) {
  EXPECT_EQ(value<double>("exp", 709.79), infinity);
  EXPECT_LT(value<double>("exp", 709.78), infinity);
  EXPECT_EQ(value<double>("exp", -746), 0);
  EXPECT_GT(value<double>("exp", -744), 0);
}

TYPED_TEST(SpecialValues, LogTreatsAllBelowTheSmallestNormalNumberAlike) {
  const TypeParam smallest = std::numeric_limits<TypeParam>::min(), lowest = value<TypeParam>("log", smallest);
  EXPECT_NEAR(static_cast<double>(lowest), std::log(static_cast<double>(smallest)), 1e-4);
  const double denormal = static_cast<double>(std::numeric_limits<TypeParam>::denorm_min());
  for (const double x : {0.0, -0.0, -1.0, denormal, -denormal, -1e30, -infinity}) {
    EXPECT_EQ(value<TypeParam>("log", x), lowest) << x;
  }
  EXPECT_EQ(value<TypeParam>("log", infinity), infinity);
  EXPECT_EQ(value<TypeParam>("log", 1), 0);
}

TYPED_TEST(SpecialValues, SquashingReachesItsLimits) {
  for (const double x : {40.0, 1e30, infinity}) {
    EXPECT_EQ(value<TypeParam>("tanh", x), 1) << x;
    EXPECT_EQ(value<TypeParam>("tanh", -x), -1) << x;
    EXPECT_EQ(value<TypeParam>("sigmoid", x), 1) << x;
    EXPECT_EQ(value<TypeParam>("sigmoid_fast", x), 1) << x;
  }
  for (const std::string_view name : {"sigmoid", "sigmoid_fast"}) {
    EXPECT_EQ(value<TypeParam>(name, -infinity), 0) << name;
    EXPECT_EQ(value<TypeParam>(name, -1e30), 0) << name;
    EXPECT_EQ(value<TypeParam>(name, 0), static_cast<TypeParam>(0.5)) << name;
  }
  EXPECT_EQ(value<TypeParam>("tanh", 0), 0);
}

TYPED_TEST(SpecialValues, TanhOfATinyNumberIsThatNumber) {
  const double denormal = static_cast<double>(std::numeric_limits<TypeParam>::denorm_min());
  for (const double x : {denormal, -denormal, 1e-30, -1e-30}) {
    EXPECT_EQ(value<TypeParam>("tanh", x), static_cast<TypeParam>(x)) << x;
  }
}

TYPED_TEST(SpecialValues, SineAndCosineOfInfinityAreNan) {
  for (const std::string_view name : {"sin", "cos"}) {
    EXPECT_TRUE(std::isnan(value<TypeParam>(name, infinity))) << name;
    EXPECT_TRUE(std::isnan(value<TypeParam>(name, -infinity))) << name;
  }
  EXPECT_EQ(value<TypeParam>("sin", 0), 0);
  EXPECT_EQ(value<TypeParam>("cos", 0), 1);
}

TYPED_TEST(SpecialValues, ArcusesEndAtOne) {
  const auto pi = static_cast<TypeParam>(3.14159265358979323846);
  EXPECT_EQ(value<TypeParam>("asin", 1), pi / 2);
  EXPECT_EQ(value<TypeParam>("asin", -1), -pi / 2);
  EXPECT_EQ(value<TypeParam>("acos", 1), 0);
  EXPECT_EQ(value<TypeParam>("acos", 0), pi / 2);
  EXPECT_EQ(value<TypeParam>("acos", -0.0), pi / 2);
  EXPECT_EQ(value<TypeParam>("acos", -1), pi);
  EXPECT_TRUE(std::signbit(value<TypeParam>("asin", -0.0)));
  const double denormal = static_cast<double>(std::numeric_limits<TypeParam>::denorm_min());
  EXPECT_EQ(value<TypeParam>("asin", denormal), static_cast<TypeParam>(denormal));
  for (const std::string_view name : {"asin", "acos"}) {
    for (const double x : {1.0000002, 2.0, 1e30, infinity}) {
      EXPECT_TRUE(std::isnan(value<TypeParam>(name, x))) << name << " of " << x;
      EXPECT_TRUE(std::isnan(value<TypeParam>(name, -x))) << name << " of " << -x;
    }
  }
}

TYPED_TEST(SpecialValues, SineAndCosineOfHugePhasesStayWithinOne) {
  std::mt19937_64 random(7);
  std::vector<TypeParam> x{std::numeric_limits<TypeParam>::max(), std::numeric_limits<TypeParam>::lowest()};
  while (x.size() < 100'000) {
    const auto any = std::bit_cast<TypeParam>(static_cast<Bits<TypeParam>>(random()));
    if (std::isfinite(any)) x.push_back(any);
  }
  for (const std::string_view name : {"sin", "cos"}) {
    const AlignedVector<TypeParam> y = apply<TypeParam>(kernel<TypeParam>(active_target(), name), x);
    for (std::size_t k = 0; k < x.size(); ++k) ASSERT_LE(std::abs(y[k]), 1) << name << " of " << x[k];
  }
}

TYPED_TEST(SpecialValues, SignAndNegativeOfZeroAreZero) {
  EXPECT_EQ(value<TypeParam>("sign", 0), 0);
  EXPECT_EQ(value<TypeParam>("sign", -0.0), 0);
  EXPECT_EQ(value<TypeParam>("sign", -3), -1);
  EXPECT_EQ(value<TypeParam>("sign", infinity), 1);
  EXPECT_EQ(value<TypeParam>("negative", -0.0), 0);
  EXPECT_EQ(value<TypeParam>("negative", -1e-30), 1);
  EXPECT_EQ(value<TypeParam>("negative", 3), 0);
}

// ---- same bits -----------------------------------------------------------------------------------------------------

// Ordinary numbers, every bit pattern there may be, and the special ones. Fixed seed.
template <class S>
std::vector<S> all_kinds_of_numbers() {
  std::mt19937_64 random(11);
  std::vector<S> x;
  using Limits = std::numeric_limits<S>;
  for (const S special : {S(0), Limits::infinity(), Limits::quiet_NaN(), Limits::max(), Limits::min(),
                          Limits::denorm_min(), S(0.5), S(1), S(1.5707963267948966), S(3.141592653589793), S(20)}) {
    x.insert(x.end(), {special, -special, std::nextafter(special, S(0)), std::nextafter(special, S(1e9))});
  }
  for (int k = 0; k < 50'000; ++k) {
    x.push_back(std::bit_cast<S>(static_cast<Bits<S>>(random())));
    x.push_back(static_cast<S>((static_cast<double>(random() >> 11) * 0x1p-53 - 0.5) * 40));
    x.push_back(static_cast<S>((static_cast<double>(random() >> 11) * 0x1p-53 - 0.5) * 2000));
  }
  return x;
}

template <class S>
Bits<S> bits_but_one_nan(S x) {
  return std::isnan(x) ? ~Bits<S>{0} : std::bit_cast<Bits<S>>(x);
}

TYPED_TEST(SpecialValues, EveryTargetGivesTheSameBits) {
  const Result<const Target*> scalar = find_target("scalar");
  ASSERT_TRUE(scalar.ok());
  const std::vector<TypeParam> x = all_kinds_of_numbers<TypeParam>();
  for (const Target& target : targets()) {
    if (!target.supported) continue;
    ASSERT_EQ(function_kernels<TypeParam>(target.index).size(), function_kernels<TypeParam>((*scalar)->index).size());
    for (const FunctionKernel<TypeParam>& k : function_kernels<TypeParam>(target.index)) {
      const AlignedVector<TypeParam> one_lane = apply<TypeParam>(kernel<TypeParam>(**scalar, k.name), x);
      const AlignedVector<TypeParam> lanes = apply<TypeParam>(k, x);
      for (std::size_t n = 0; n < x.size(); ++n) {
        ASSERT_EQ(bits_but_one_nan(lanes[n]), bits_but_one_nan(one_lane[n]))
            << k.name << " of " << x[n] << " on " << target.name << ": " << lanes[n] << " and " << one_lane[n];
      }
    }
  }
}

}  // namespace
}  // namespace nalm::simd::functions_test
