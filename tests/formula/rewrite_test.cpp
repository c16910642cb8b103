#include "formula/rewrite.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"

namespace nalm::rewrite_test {
namespace {

std::string plain(std::string_view text) { return print(with_plain_signs(*parse_expression(text))); }

TEST(PlainSigns, NoMinusStandsBeforeASumThatBeginsWithOne) {
  EXPECT_EQ(plain("-(-(a*b) + c)"), "a*b - c");
  EXPECT_EQ(plain("-c + a*b"), "a*b - c");
  EXPECT_EQ(plain("-0.5*c + a*b - d"), "a*b - 0.5*c - d");
  EXPECT_EQ(plain("-(-a - b)"), "a + b");
  EXPECT_EQ(plain("-(a - b)"), "b - a");
  EXPECT_EQ(plain("-(-2*a*b + c - d)"), "2*a*b - c + d");
  EXPECT_EQ(plain("-3*(-(a/b) + c)"), "3*(a/b - c)");
  EXPECT_EQ(plain("x*-(c - a*b + d)"), "x*(a*b - c - d)");
}

TEST(PlainSigns, OtherFormulasStayAsTheyAre) {
  for (const std::string_view text :
       {"-(a + b)", "a - b", "-a*b", "-2*(a + b)", "-(a + b - c)", "a - (b - c)", "-a - b"})
    EXPECT_EQ(plain(text), print(*parse_expression(text)));
}

// To the last bit: a sum is turned around as a whole, or its first two terms change places. Seed 5.
TEST(PlainSigns, KeepEveryBit) {
  Xoshiro random(5);
  for (const std::string_view text :
       {"-(-(a*b) + c)", "-c + a*b + d", "-(-2*a*b + c - d)", "-0.3*(-(a/b) + c)", "x*-(c - a*b + d)"}) {
    const std::vector<std::string> names{"a", "b", "c", "d", "x"};
    const Expression before = *parse_expression(text), after = with_plain_signs(before);
    for (int k = 0; k < 1000; ++k) {
      std::array<double, 5> x{};
      for (double& value : x) value = random.between(-9, 9);
      EXPECT_EQ(*evaluate(before, names, x), *evaluate(after, names, x)) << text;
    }
  }
}

}  // namespace
}  // namespace nalm::rewrite_test
