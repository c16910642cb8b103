// What print writes, and that it reads back as the same formula.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "nalm/expression.hpp"
#include "sanitized.hpp"

namespace nalm::round_trip_test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool same_bits(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

Expression v(std::string name) { return Expression::variable(std::move(name)); }

TEST(Print, ReadsLikeAFormula) {
  const Expression x1 = v("x1");
  const Expression x2 = v("x2");
  const Expression x3 = v("x3");
  EXPECT_EQ(print(x1 - x2), "x1 - x2");
  EXPECT_EQ(print(x1 * x2), "x1*x2");
  EXPECT_EQ(print(0.83 * x1 + -2 * x3), "0.83*x1 - 2*x3");
  EXPECT_EQ(print(exp(2 * log(abs(x1) + 1e-7))), "exp(2*log(abs(x1) + 1e-07))");
  EXPECT_EQ(print(x1 * x2 + 0.83 * pow(x3, 2)), "x1*x2 + 0.83*x3^2");
  EXPECT_EQ(print(1 * x1 + -1 * x2 + 0 * x3), "x1 - x2");
  EXPECT_EQ(print(-1 * x1 + x2), "-x1 + x2");
  EXPECT_EQ(print(min(x1, -x2) / max(x1, 2)), "min(x1, -x2)/max(x1, 2)");
}

TEST(Print, KeepsOnlyTheParenthesesItNeeds) {
  const std::vector<const char*> texts = {
      "a + b + c", "a + (b + c)", "a - b - c", "a - (b - c)",  "a - (b + c)",    "a*b*c",
      "a*(b*c)",   "a/b/c",       "a/(b*c)",   "a/b*c",        "a*(b/c)",        "(a + b)*c",
      "a*(b - c)", "a^b^c",       "(a^b)^c",   "a^(b*c)",      "(a*b)^c",        "a^(b + c)",
      "-a",        "(-a)^2",      "-a^2",      "2^-x",         "x^-1",           "x^-0.5",
      "2^-x^y",    "2^-sin(x)",   "(-2)^x",    "-2^x",         "-2*x",           "-(2*x)",
      "-(a*b)",    "-a*b",        "-(a + b)",  "-a + b",       "-a/b",           "a*(-b)",
      "a/(-b)",    "-2*a",        "a - (-2)",  "a - (-b)",     "a - (-2*b)",     "a - (-b*c)",
      "a - 2",     "-2 + a",      "0 - a",     "sin(a + b)^2", "min(a + b, -c)", "-inf/x",
      "nan*x",     "(-inf)^x",    "-0/x",      "x/0",          "(x^2)^0.5",
  };
  for (const char* text : texts) {
    const auto e = parse_expression(text);
    ASSERT_TRUE(e.ok()) << text << ": " << e.error().message;
    EXPECT_EQ(print(*e), text);
  }
}

TEST(Print, AddingANegativeTermIsSubtracting) {
  const Expression a = v("a");
  const Expression b = v("b");
  const Expression c = v("c");
  EXPECT_EQ(print(a + -2), "a - 2");
  EXPECT_EQ(print(a + -kInf), "a - inf");
  EXPECT_EQ(print(a + -b), "a - b");
  EXPECT_EQ(print(a + -2 * b), "a - 2*b");
  EXPECT_EQ(print(a + b * -2), "a - 2*b");
  EXPECT_EQ(print(a + b / -2), "a - b/2");
  EXPECT_EQ(print(a + b / -1), "a - b");
  EXPECT_EQ(print(a + -1 * b), "a - b");
  EXPECT_EQ(print(a + -2 * b * c), "a - 2*b*c");
  EXPECT_EQ(print(a + -b / c), "a - b/c");
  EXPECT_EQ(print(a + -(b * c)), "a - b*c");
  EXPECT_EQ(print(a + -(b + c)), "a - (b + c)");
  EXPECT_EQ(print(a + -1 * -b), "a + b");
  EXPECT_EQ(print(a - -2 * b), "a - (-2*b)");
  EXPECT_EQ(print(-2 + -2 * b), "-2 - 2*b");
}

TEST(Print, TimesMinusOneIsNegation) {
  const Expression a = v("a");
  const Expression b = v("b");
  EXPECT_EQ(print(-1 * a), "-a");
  EXPECT_EQ(print(a * -1), "-a");
  EXPECT_EQ(print(-1 * a * b), "-a*b");
  EXPECT_EQ(print(-1 * (a * b)), "-(a*b)");
  EXPECT_EQ(print(-1 * (-1 * a)), "a");
  EXPECT_EQ(print(pow(-1 * a, 2)), "(-a)^2");
  EXPECT_EQ(print(-1 / a), "-1/a");
}

TEST(Print, Numbers) {
  EXPECT_EQ(print(0.1), "0.1");
  EXPECT_EQ(print(-2), "-2");
  EXPECT_EQ(print(1e-7), "1e-07");
  EXPECT_EQ(print(1e300), "1e+300");
  EXPECT_EQ(print(5e-324), "5e-324");
  EXPECT_EQ(print(-0.0), "-0");
  EXPECT_EQ(print(kInf), "inf");
  EXPECT_EQ(print(-kInf), "-inf");
  EXPECT_EQ(print(kNan), "nan");
  EXPECT_EQ(print(-kNan), "nan");
}

TEST(Print, FractionsThatDoNotEnd) {
  const Expression x = v("x");
  EXPECT_EQ(print(1.0 / 3), "1/3");
  EXPECT_EQ(print(-2.0 / 3), "-2/3");
  EXPECT_EQ(print(5.0 / 7), "5/7");
  EXPECT_EQ(print(22.0 / 12), "11/6");
  EXPECT_EQ(print(100.0 / 3), "100/3");
  EXPECT_EQ(print(4.0 / 3 * x), "4/3*x");
  EXPECT_EQ(print(0.25 * x + 3.2), "0.25*x + 3.2");
  EXPECT_EQ(print(1.0 / 13), "0.07692307692307693");
  EXPECT_EQ(print(101.0 / 3), "33.666666666666664");
  EXPECT_EQ(print(std::nextafter(1.0 / 3, 1)), "0.33333333333333337");
}

TEST(Print, MultiplesOfPi) {
  const double pi = std::numbers::pi;
  EXPECT_EQ(print(pi), "pi");
  EXPECT_EQ(print(-pi), "-pi");
  EXPECT_EQ(print(2 * pi), "2*pi");
  EXPECT_EQ(print(pi / 4), "pi/4");
  EXPECT_EQ(print(-3 * pi / 4), "-3*pi/4");
  EXPECT_EQ(print(4 * pi / 3), "4*pi/3");
  EXPECT_EQ(print(1 / pi), "1/pi");
  EXPECT_EQ(print(-1 / (4 * pi)), "-1/(4*pi)");
  EXPECT_EQ(print(4 * std::pow(pi, 2)), "4*pi^2");
  EXPECT_EQ(print(-std::pow(pi, 2) / 6), "-pi^2/6");
  EXPECT_EQ(print(3.14159), "3.14159");
  EXPECT_EQ(print(std::nextafter(pi, 4)), "3.1415926535897936");
}

// The two roundings of a third of seven pi are different numbers, and each keeps its own spelling.
TEST(Print, MultiplesOfPiKeepTheOrderOfTheirRoundings) {
  const double pi = std::numbers::pi;
  ASSERT_NE(7 * pi / 3, 7.0 / 3 * pi);
  EXPECT_EQ(print(7 * pi / 3), "7*pi/3");
  EXPECT_EQ(print(7.0 / 3 * pi), "7/3*pi");
}

TEST(Print, SimpleNumbersAreParenthesisedWhereTheyStand) {
  const Expression x = v("x");
  const Expression y = v("y");
  const double third = 1.0 / 3;
  const double pi = std::numbers::pi;
  EXPECT_EQ(print(third / x), "1/3/x");
  EXPECT_EQ(print(x / third), "x/(1/3)");
  EXPECT_EQ(print(x * y * third), "x*y*(1/3)");
  EXPECT_EQ(print(x * y * pi), "x*y*pi");
  EXPECT_EQ(print(x / (2 * pi)), "x/(2*pi)");
  EXPECT_EQ(print(2 * pi * sqrt(x / y)), "2*pi*sqrt(x/y)");
  EXPECT_EQ(print(pow(x, third)), "x^(1/3)");
  EXPECT_EQ(print(pow(x, -third)), "x^(-1/3)");
  EXPECT_EQ(print(pow(x, -pi)), "x^-pi");
  EXPECT_EQ(print(pow(third, x)), "(1/3)^x");
  EXPECT_EQ(print(pow(-pi, x)), "(-pi)^x");
  EXPECT_EQ(print(pow(pi * pi, x)), "(pi^2)^x");
  EXPECT_EQ(print(x + -third), "x - 1/3");
  EXPECT_EQ(print(x - -third), "x - (-1/3)");
  EXPECT_EQ(print(x + -third * y), "x - 1/3*y");
  EXPECT_EQ(print(-(third * x)), "-(1/3*x)");
  EXPECT_EQ(print(max(third, x)), "max(1/3, x)");
}

TEST(Print, QuotesNamesThatAreNotPlain) {
  EXPECT_EQ(print(v("x_1")), "x_1");
  EXPECT_EQ(print(v("pi")), "\"pi\"");
  EXPECT_EQ(print(v("inf")), "\"inf\"");
  EXPECT_EQ(print(v("nan")), "\"nan\"");
  EXPECT_EQ(print(v("sin")), "\"sin\"");
  EXPECT_EQ(print(v("1x")), "\"1x\"");
  EXPECT_EQ(print(v("")), "\"\"");
  EXPECT_EQ(print(v("petal width")), "\"petal width\"");
  EXPECT_EQ(print(v("Größe")), "\"Größe\"");
  EXPECT_EQ(print(v("a\"b\\c")), R"("a\"b\\c")");
}

// Random trees and numbers from one generator. The standard distributions differ between libraries, so it has its own.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : engine_(seed) {}

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(engine_() % n); }

  double number() {
    static const std::vector<double> special = {0.0,
                                                -0.0,
                                                1,
                                                -1,
                                                2,
                                                -2,
                                                0.5,
                                                -0.5,
                                                3,
                                                1e-7,
                                                -1e-7,
                                                1e300,
                                                -1e300,
                                                5e-324,
                                                -5e-324,
                                                1e-310,
                                                2.2250738585072014e-308,
                                                kInf,
                                                -kInf,
                                                kNan,
                                                0.1,
                                                -0.83};
    switch (below(5)) {
      case 0:
        return std::bit_cast<double>(engine_());
      case 1:
        return static_cast<double>(static_cast<std::int64_t>(engine_() >> 11)) * 0x1p-50 - 4;
      case 2:
        return simple_number();
      default:
        return special[below(special.size())];
    }
  }

  // Fractions and multiples of pi in all orders of rounding, and now and then the number beside one.
  double simple_number() {
    const double p = static_cast<double>(below(30)) - 15;
    const double q = static_cast<double>(1 + below(14));
    const double pi = below(3) == 0 ? std::pow(std::numbers::pi, 2) : std::numbers::pi;
    const double forms[] = {p / q, p * pi / q, p / q * pi, p / (q * pi)};
    const double number = forms[below(4)];
    return below(8) == 0 ? std::nextafter(number, kInf) : number;
  }

  Expression tree(std::size_t depth) {
    if (depth == 0 || below(6) == 0) {
      return below(3) == 0 ? Expression(number()) : v(names()[below(names().size())]);
    }
    const Expression a = tree(depth - 1);
    if (below(5) == 0) return -a;
    if (below(8) == 0) return *Expression::call(function_names()[below(function_names().size() - 2)], {a});
    const Expression b = tree(depth - 1);
    switch (below(12)) {
      case 0:
      case 1:
      case 2:
        return a + b;
      case 3:
      case 4:
        return a - b;
      case 5:
      case 6:
      case 7:
        return a * b;
      case 8:
      case 9:
        return a / b;
      case 10:
        return pow(a, b);
      default:
        return *Expression::call(function_names()[function_names().size() - 1 - below(2)], {a, b});
    }
  }

  static const std::vector<std::string>& names() {
    static const std::vector<std::string> names = {"x", "y", "x1", "sin", "pi", "a \"quoted\\\" name", "Größe", ""};
    return names;
  }

  std::vector<double> point() {
    std::vector<double> values;
    for (std::size_t i = 0; i < names().size(); ++i) values.push_back(number());
    return values;
  }

 private:
  std::mt19937_64 engine_;
};

TEST(RoundTrip, RandomTreesKeepEveryBit) {
  constexpr std::size_t kTrees = test::sanitized ? 5000 : 60000;
  constexpr std::size_t kPoints = 4;
  for (std::size_t seed = 0; seed < kTrees; ++seed) {
    Generator generator(seed);
    const Expression e = generator.tree(1 + seed % 6);
    const std::string text = print(e);
    const auto again = parse_expression(text);
    ASSERT_TRUE(again.ok()) << "seed " << seed << ": " << text << ": " << again.error().message;
    ASSERT_EQ(print(*again), text) << "seed " << seed;
    for (std::size_t k = 0; k < kPoints; ++k) {
      const std::vector<double> point = generator.point();
      const double expected = evaluate(e, Generator::names(), point).value();
      const double actual = evaluate(*again, Generator::names(), point).value();
      ASSERT_TRUE(same_bits(expected, actual)) << "seed " << seed << ": " << text << ": " << expected << ", " << actual;
      const ScaledValue scaled = evaluate_with_scale(e, Generator::names(), point).value();
      ASSERT_TRUE(same_bits(expected, scaled.value)) << "seed " << seed << ": " << text;
      ASSERT_FALSE(std::isnan(scaled.scale)) << "seed " << seed << ": " << text;
      ASSERT_TRUE(std::isnan(expected) || scaled.scale >= std::abs(expected)) << "seed " << seed << ": " << text;
    }
  }
}

TEST(RoundTrip, RandomNumbersKeepEveryBit) {
  Generator generator(1);
  for (int i = 0; i < (test::sanitized ? 20000 : 200000); ++i) {
    const double number = generator.number();
    const auto again = parse_expression(print(number));
    ASSERT_TRUE(again.ok()) << number;
    ASSERT_TRUE(same_bits(again->constant(), number)) << number;
  }
}

}  // namespace
}  // namespace nalm::round_trip_test
