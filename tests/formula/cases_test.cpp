// Formulas as people say them.
#include "formula/cases.hpp"

#include <gtest/gtest.h>

#include <string>

namespace nalm::formula::cases_test {
namespace {

std::string said(std::string_view text) { return print_cases(*parse_expression(text)); }

TEST(Cases, SayWhereEachSideHolds) {
  EXPECT_EQ(said("5*x - 9 + (9 - 3*x)*negative(x - 3)"), "2*x where x < 3, otherwise 5*x - 9");
  EXPECT_EQ(said("b + (a - b)*negative(a - b)"), "a where a < b, otherwise b");
  EXPECT_EQ(said("c*(1 + 4*negative(2*x))"), "5*c where 2*x < 0, otherwise c");
}

TEST(Cases, AreForOneComparison) {
  EXPECT_EQ(said("a*b + c"), "a*b + c");
  EXPECT_EQ(said("negative(a) + negative(b)"), "negative(a) + negative(b)");
}

}  // namespace
}  // namespace nalm::formula::cases_test
