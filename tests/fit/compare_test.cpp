// Formulas that compare: their intervals, and the places of their constants.
#include "fit/compare.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "fit/cases.hpp"
#include "sanitized.hpp"

namespace nalm::fitting::compare_test {
namespace {

constexpr double below = 5.3719, above = 105.137;

// Four rows on one side of a step and twelve on the other.
Data step(std::uint64_t seed) {
  Xoshiro random(seed);
  Table table;
  table.columns = {"x", "y"};
  table.has_header = true;
  table.rows = 16;
  for (std::size_t k = 0; k < table.rows; ++k) {
    const double x = static_cast<double>(k < 4 ? k : k + 7);
    table.values.insert(table.values.end(), {x, (x < 10 ? below : above) + random.gaussian()});
  }
  return *prepare(table, {.target = "y"});
}

std::optional<Finalist> compared(const Data& data) {
  Rows rows;
  for (std::size_t r = 0; r < data.rows; ++r) rows.x.push_back(data.row(r)), rows.y.push_back(data.y[r]);
  return compare(data, rows, {.target = "y"});
}

// Three degrees of freedom. By chance more than 12 of 300 intervals of 99 % miss once in 70,000 times; the seeds are
// fixed.
TEST(Compare, IntervalsOfFewRowsHoldTheTruthNinetyNineTimesInAHundred) {
  constexpr int repetitions = test::sanitized ? 50 : 300;
  int hold = 0;
  for (std::uint64_t seed = 1; seed <= repetitions; ++seed) {
    const std::optional<Finalist> found = compared(step(seed));
    ASSERT_TRUE(found) << seed;
    const FitConstant& c = found->candidate.constants[0];
    hold += c.low <= below && below <= c.high;
  }
  EXPECT_GE(hold, repetitions * 96 / 100);
}

// The mean of four rows with a deviation of 1 has a standard error of 0.5: not seventeen digits.
TEST(Compare, APlainNumberHasTheDigitsThatItsRowsGive) {
  const std::optional<Finalist> found = compared(step(1));
  ASSERT_TRUE(found);
  for (const FitConstant& c : found->candidate.constants)
    EXPECT_EQ(c.value, std::round(c.value * 1e4) / 1e4) << c.value;
}

TEST(Compare, ConstantsKnowTheirPlaces) {
  const Data data = step(1);
  const std::optional<Finalist> found = compared(data);
  ASSERT_TRUE(found);
  const Candidate& c = found->candidate;
  std::vector<std::pair<std::string, double>> values;
  for (const FitConstant& constant : c.constants) values.push_back({constant.slot, constant.value});
  EXPECT_EQ(print(with_values(c.open_formula, values)), print(c.formula));
  // What is not theirs stays: with both at 0 nothing is left.
  for (auto& [slot, value] : values) value = 0;
  EXPECT_EQ(print(with_values(c.open_formula, values)), "0");
}

}  // namespace
}  // namespace nalm::fitting::compare_test
