// Accuracy and special values of the functions on one double, and bits that no machine may change.
#include "nalm/detail/portable.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string_view>

namespace nalm::portable_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// ---- accuracy ------------------------------------------------------------------------------------------------------

struct Line {
  std::string_view function;
  double (*f)(double);
  long double (*exact)(long double);
  double lo, hi;
  bool by_exponent;  // points are exp(lo) to exp(hi)
  double allowed;    // in units in the last place, a little more than what was measured
};

const Line table[] = {
    {"exp", portable::exp, std::exp, -708, 709, false, 1.1},
    {"expm1", portable::expm1, std::expm1, -2, 2, false, 2.2},
    {"expm1 near 0", portable::expm1, std::expm1, -40, -1, true, 2.0},
    {"log", portable::log, std::log, -745, 709, true, 0.9},
    {"log near 1", portable::log, std::log, 0.5, 2, false, 1.0},
    {"log1p", portable::log1p, std::log1p, -0.9, 1, false, 1.4},
    {"log1p near 0", portable::log1p, std::log1p, -40, -1, true, 1.4},
    {"log10", portable::log10, std::log10, -745, 709, true, 0.51},
    {"log10 near 1", portable::log10, std::log10, 0.9, 1.1, false, 0.51},
    {"sin", portable::sin, std::sin, -10, 10, false, 2.0},
    {"sin", portable::sin, std::sin, -1e6, 1e6, false, 3.0},
    {"sin of large angles", portable::sin, std::sin, 13.8, 43, true, 3.2},
    {"cos", portable::cos, std::cos, -10, 10, false, 2.1},
    {"cos of large angles", portable::cos, std::cos, 13.8, 43, true, 3.2},
    {"asin", portable::asin, std::asin, -1, 1, false, 1.4},
    {"asin near 0", portable::asin, std::asin, -40, -1, true, 1.4},
    {"acos", portable::acos, std::acos, -1, 1, false, 1.3},
    {"acos near 1", portable::acos, std::acos, 0.9999, 1, false, 1.3},
    {"tanh", portable::tanh, std::tanh, -20, 20, false, 3.0},
    {"x^(1/3)", [](double x) { return portable::pow(x, 1.0 / 3); },
     [](long double x) { return std::pow(x, static_cast<long double>(1.0 / 3)); }, -700, 700, true, 0.52},
    {"x^-7", [](double x) { return portable::pow(x, -7); }, [](long double x) { return std::pow(x, -7.0L); }, -100, 100,
     true, 0.52},
    {"x^1e6 near 1", [](double x) { return portable::pow(x, 1e6); }, [](long double x) { return std::pow(x, 1e6L); },
     0.9995, 1.0005, false, 0.56},
    {"10^x", [](double x) { return portable::pow(10, x); }, [](long double x) { return std::pow(10.0L, x); }, -307, 308,
     false, 0.52},
};

TEST(Portable, IsAsAccurateAsItsTable) {
  if (std::numeric_limits<long double>::digits < 64) GTEST_SKIP() << "long double is no wider than double here";
  for (const Line& line : table) {
    std::mt19937_64 random(2026);
    double worst = 0, at = 0;
    for (int k = 0; k < 100'000; ++k) {
      const double u = static_cast<double>(random() >> 11) * 0x1p-53, along = line.lo + (line.hi - line.lo) * u;
      const double x = line.by_exponent ? std::exp(along) : along;
      const long double exact = line.exact(x);
      const double near = static_cast<double>(exact),
                   place = std::nextafter(std::fabs(near), infinity) - std::fabs(near);
      const double error = std::fabs(static_cast<double>((line.f(x) - exact) / place));
      if (!(error <= worst)) worst = error, at = x;
    }
    EXPECT_LE(worst, line.allowed) << fmt::format("{} at {}", line.function, at);
  }
}

TEST(Portable, PowersOfTenAreExactWhereTheyCanBe) {
  for (int k = 0; k <= 22; ++k) {
    double power = 1;
    for (int n = 0; n < k; ++n) power *= 10;
    EXPECT_EQ(portable::pow(10, k), power);
    EXPECT_EQ(portable::log10(power), k);
  }
}

// Payne and Hanek's reduction against a number that is known: sin of 10^22 is the usual trap.
TEST(Portable, HugeAngles) {
  EXPECT_DOUBLE_EQ(portable::sin(1e22), -0.8522008497671888);
  EXPECT_DOUBLE_EQ(portable::cos(1e22), 0.5232147853951389);
  EXPECT_DOUBLE_EQ(portable::sin(std::numeric_limits<double>::max()), 0.004961954789184062);
  EXPECT_DOUBLE_EQ(portable::cos(-std::numeric_limits<double>::max()), -0.9999876894265599);
}

// ---- special values ------------------------------------------------------------------------------------------------

TEST(Portable, SpecialValuesAreThoseOfTheCStandard) {
  const double values[] = {0.0,    -0.0,    1,          -1,    2,      -2,       0.5,       -0.5,
                           3,      -3,      2.5,        1e308, -1e308, 5e-324,   -5e-324,   1e-310,
                           0x1p70, -0x1p70, 0x1p53 + 2, 1e17,  -1e17,  infinity, -infinity, nan};
  const auto same = [](double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return std::signbit(a) == std::signbit(b) && (a == b || std::fabs(a - b) <= 1e-15 * std::fabs(b));
  };
  const auto check = [&](std::string_view name, auto f, auto expected) {
    for (const double x : values) EXPECT_TRUE(same(f(x), expected(x))) << fmt::format("{}({})", name, x);
  };
  check("exp", portable::exp, [](double x) { return std::exp(x); });
  check("expm1", portable::expm1, [](double x) { return std::expm1(x); });
  check("log", portable::log, [](double x) { return std::log(x); });
  check("log1p", portable::log1p, [](double x) { return std::log1p(x); });
  check("log10", portable::log10, [](double x) { return std::log10(x); });
  check("sin", portable::sin, [](double x) { return std::sin(x); });
  check("cos", portable::cos, [](double x) { return std::cos(x); });
  check("asin", portable::asin, [](double x) { return std::asin(x); });
  check("acos", portable::acos, [](double x) { return std::acos(x); });
  check("tanh", portable::tanh, [](double x) { return std::tanh(x); });
  for (const double y : values)
    check(
        fmt::format("pow(., {})", y), [y](double x) { return portable::pow(x, y); },
        [y](double x) { return std::pow(x, y); });
}

// ---- the same everywhere -------------------------------------------------------------------------------------------

// A hash over results: what another compiler, another target or a changed flag (contraction, fast-math) would break.
TEST(Portable, BitsAreTheSameOnEveryMachine) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&](double x) { hash = (hash ^ std::bit_cast<std::uint64_t>(x)) * 0x100000001b3u; };
  for (int k = 1; k <= 20'000; ++k) {
    const double x = k * 0.0137;
    add(portable::exp(x - 100)), add(portable::expm1(x / 100)), add(portable::log(x)), add(portable::log1p(x));
    add(portable::log10(x)), add(portable::pow(x, 1.7)), add(portable::pow(x, -0.3 * x)), add(portable::sin(x));
    add(portable::cos(x * 1e9)), add(portable::tanh(x / 50)), add(portable::hypot(x, 3));
    add(portable::asin(k / 2e4)), add(portable::acos(k / 1e4 - 1));
  }
  EXPECT_EQ(hash, 13728209603556879647u);
}

}  // namespace
}  // namespace nalm::portable_test
