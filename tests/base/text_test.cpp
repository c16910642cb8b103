#include "base/text.hpp"

#include <gtest/gtest.h>

#include "base/csv.hpp"
#include "base/hash.hpp"
#include "base/json.hpp"

namespace nalm::text_test {
namespace {

using Parts = std::vector<std::string_view>;

TEST(Text, Trims) {
  EXPECT_EQ(trim(" \t a b\t "), "a b");
  EXPECT_EQ(trim(" \t "), "");
  EXPECT_EQ(trim(""), "");
}

TEST(Text, SplitsAndKeepsEmptyParts) {
  EXPECT_EQ(split("a, b ,c"), (Parts{"a", "b", "c"}));
  EXPECT_EQ(split("a,,b,"), (Parts{"a", "", "b", ""}));
  EXPECT_EQ(split(""), (Parts{""}));
  EXPECT_EQ(split("m1 m2", ' '), (Parts{"m1", "m2"}));
}

TEST(Text, DoesNotSplitInsideBrackets) {
  EXPECT_EQ(split_outside_brackets("U[1,2), [-2,2]"), (Parts{"U[1,2)", "[-2,2]"}));
  EXPECT_EQ(split_outside_brackets("NSR:1(a=1,b=(2,3)),NAU:1"), (Parts{"NSR:1(a=1,b=(2,3))", "NAU:1"}));
  // A bracket too many does not swallow what follows.
  EXPECT_EQ(split_outside_brackets("a),b,"), (Parts{"a)", "b", ""}));
}

TEST(Text, NamesAreTheSameInUpperAndLowerCase) {
  EXPECT_TRUE(same_name("RealNPU", "realnpu"));
  EXPECT_FALSE(same_name("NAU", "NAU2"));
  EXPECT_FALSE(same_name("NAC@", "NAC`"));  // 32 apart, but no letters
}

TEST(Csv, CellsComeBack) {
  for (const char* text : {"plain", "a,b", "a;b", "say \"x\"", "U[1,2)", ""}) {
    EXPECT_EQ(cells_of(csv_cell(text) + ",2"), (std::vector<std::string>{text, "2"}));
  }
  EXPECT_EQ(csv_cell("plain"), "plain");
  EXPECT_EQ(csv_cell("a \"b\""), "\"a \"\"b\"\"\"");
}

TEST(Csv, CellsOfALineThatIsNotClosedEnd) {
  EXPECT_EQ(cells_of("a,\"b,c"), std::vector<std::string>{"a"});
  EXPECT_EQ(cells_of("a,b\r\n"), (std::vector<std::string>{"a", "b"}));
}

// The test values of the algorithm's authors (Fowler, Noll, Vo).
TEST(Hash, IsFnv1a) {
  EXPECT_EQ(hash_of(""), 0xcbf29ce484222325U);
  EXPECT_EQ(hash_of("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(hash_of("foobar"), 0x85944171f73967e8U);
}

TEST(JsonNumber, IsNullWhereJsonHasNoNumber) {
  EXPECT_EQ(finite_or_null(0.5).dump(), "0.5");
  EXPECT_EQ(finite_or_null(std::nan("")).dump(), "null");
  EXPECT_EQ(finite_or_null(-INFINITY).dump(), "null");
}

}  // namespace
}  // namespace nalm::text_test
