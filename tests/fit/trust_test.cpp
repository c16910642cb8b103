// Reasons to believe a formula: errors, what lies beyond the data, and whether errors look like noise.
#include "fit/trust.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "fit/cases.hpp"
#include "fit/form_layers.hpp"
#include "sanitized.hpp"

namespace nalm::fitting::trust_test {
namespace {

using Remarks = std::vector<std::string>;

Expression formula(const char* text) { return *parse_expression(text); }

template <class Target>
Data data_of(const std::vector<test::Column>& columns, std::size_t rows, std::uint64_t seed, Target target) {
  return *prepare(test::table_of(columns, rows, seed, target), {.target = "y"});
}

double first_column(const double* x, Xoshiro&) { return 1 + x[0]; }

// ---- errors --------------------------------------------------------------------------------------------------------

TEST(ErrorOn, IsTheRootMeanSquareOverTheRows) {
  Data data = data_of({{"a", 0, 1}}, 10, 1, first_column);
  for (std::size_t r = 0; r < data.rows; ++r) data.y[r] = data.row(r)[0] + (r == 3 ? 4.0 : r == 5 ? -3.0 : 0.0);
  const FitError error = error_on(formula("a"), data, {2, 3, 4, 5});
  EXPECT_EQ(error.rows, 4u);
  EXPECT_NEAR(error.rmse, 2.5, 1e-14);
  EXPECT_NEAR(error.relative, 2.5 / data.y_deviation, 1e-14);
  EXPECT_NEAR(error.largest, 4, 1e-14);
}

TEST(ErrorOn, IsInfiniteWhereTheFormulaHasNoValue) {
  const Data data = data_of({{"a", -1, 1}}, 50, 2, first_column);
  const FitError error = error_on(formula("sqrt(a)"), data, data.train);
  EXPECT_EQ(error.rmse, std::numeric_limits<double>::infinity());
  EXPECT_EQ(error.largest, std::numeric_limits<double>::infinity());
}

TEST(ErrorOn, NoRowsIsNoError) {
  const Data data = data_of({{"a", 0, 1}}, 10, 3, first_column);
  const FitError error = error_on(formula("a"), data, {});
  EXPECT_EQ(error.rows, 0u);
  EXPECT_EQ(error.rmse, 0);
}

// ---- beyond the data -----------------------------------------------------------------------------------------------

TEST(Probe, FindsThePoleOfADifference) {
  const Data data = data_of({{"a", 4, 6}, {"b", 1, 3}, {"c", 0, 1}}, 200, 4, first_column);
  const FitProbe found = probe(formula("1/(a - b)"), data, 1);
  ASSERT_EQ(found.remarks.size(), 1u);
  EXPECT_EQ(found.remarks[0].rfind("the denominator a - b crosses zero outside of the data, first near a = 3.", 0), 0u)
      << found.remarks[0];
  double a = 0, b = 0;
  ASSERT_EQ(std::sscanf(found.remarks[0].c_str() + found.remarks[0].find("a = "), "a = %lf, b = %lf", &a, &b), 2);
  EXPECT_NEAR(a, b, 0.2);
  EXPECT_GT(found.points, 1000);
}

TEST(Probe, SaysWhetherThePoleLiesInTheData) {
  const Data data = data_of({{"a", 1, 3}, {"b", 1, 3}}, 200, 5, first_column);
  const FitProbe found = probe(formula("1/(a - b)"), data, 1);
  ASSERT_EQ(found.remarks.size(), 1u);
  EXPECT_NE(found.remarks[0].find("crosses zero inside the box of the data"), std::string::npos) << found.remarks[0];
}

TEST(Probe, FindsTheRootOfANegativeNumber) {
  const Data data = data_of({{"a", 2, 4}, {"b", 0, 2}}, 200, 6, first_column);
  const FitProbe found = probe(formula("b*sqrt(a - b)"), data, 1);
  ASSERT_EQ(found.remarks.size(), 1u);
  EXPECT_EQ(found.remarks[0].rfind("a - b is negative and has no root outside of the data, first near a = 1.9", 0), 0u)
      << found.remarks[0];
  EXPECT_GT(found.undefined, found.points / 100);
  EXPECT_LT(found.undefined, found.points / 2);
}

TEST(Probe, FindsPowersOfNegativeNumbers) {
  const Data data = data_of({{"a", 0.5, 2}}, 200, 7, first_column);
  const FitProbe found = probe(formula("a^1.5"), data, 1);
  ASSERT_EQ(found.remarks.size(), 1u);
  EXPECT_EQ(found.remarks[0].rfind("a is negative and has no root outside of the data, first near a = -0.", 0), 0u)
      << found.remarks[0];
}

TEST(Probe, FindsOverflow) {
  const Data data = data_of({{"a", 300, 500}}, 200, 8, first_column);
  const FitProbe found = probe(formula("10^(a - 250)"), data, 1);
  ASSERT_EQ(found.remarks.size(), 1u);
  EXPECT_EQ(found.remarks[0], fmt::format("the value overflows at {} of {} points", found.undefined, found.points));
  EXPECT_GT(found.undefined, 0);
}

TEST(Probe, HasNothingToSayAboutWhatIsDefinedEverywhere) {
  const Data data = data_of({{"a", -1, 3}, {"b", 2, 3}}, 200, 9, first_column);
  const FitProbe found = probe(formula("a^2*b + a/b + sqrt(a^2 + b^2)"), data, 1);
  EXPECT_EQ(found.remarks, Remarks{});
  EXPECT_EQ(found.undefined, 0);
}

TEST(Probe, LooksAtABoxTwiceAsWideOfTheColumnsInTheFormula) {
  const Data data = data_of({{"a", 4, 6}, {"b", 1, 3}}, 2000, 10, first_column);
  const FitProbe found = probe(formula("2*b"), data, 1);
  ASSERT_EQ(found.box.size(), 1u);
  EXPECT_EQ(found.box[0].column, "b");
  EXPECT_NEAR(found.box[0].low, 1, 0.01);
  EXPECT_NEAR(found.box[0].high, 3, 0.01);
  EXPECT_NEAR(found.box[0].probed_low, 0, 0.02);
  EXPECT_NEAR(found.box[0].probed_high, 4, 0.02);
}

// ---- the formula is the model --------------------------------------------------------------------------------------

TEST(Verification, TellsAModelFromItsFormula) {
  const Data data = data_of({{"a", 1, 2}, {"b", 1, 2}}, 50, 11, first_column);
  Form form{{}, {test::product(2, {1, 1}), test::product(0.1, {0, 2})}};
  const Expression text = to_expression(form, data.columns, data.negative);
  const Result<double> same = verification_error(text, to_model(form, data.columns), data, 1);
  ASSERT_TRUE(same.ok());
  EXPECT_LE(*same, largest_verification_error);
  form.products[1].coefficient.value *= 1 + 1e-9;
  const Result<double> other = verification_error(text, to_model(form, data.columns), data, 1);
  ASSERT_TRUE(other.ok());
  EXPECT_GT(*other, largest_verification_error);
}

// ---- errors that are no noise --------------------------------------------------------------------------------------

TEST(Pattern, OfAParabolaFittedByALine) {
  const Data data = data_of({{"a", 0, 1}, {"b", 0, 1}}, 1000, 12,
                            [](const double* x, Xoshiro& random) { return x[0] * x[0] + 0.01 * random.gaussian(); });
  EXPECT_FALSE(pattern_in_errors(formula("a - 1/6"), data).empty());
}

TEST(Pattern, FollowsTheColumnThatIsMissing) {
  const Data data = data_of({{"a", 0, 1}, {"b", 0, 1}}, 1000, 13,
                            [](const double* x, Xoshiro& random) { return x[0] + x[1] + 0.01 * random.gaussian(); });
  EXPECT_EQ(pattern_in_errors(formula("a + 0.5"), data), "b");
}

TEST(Pattern, IsNotSeenInNoise) {
  // The limit lies at six deviations: chance alone reaches it never.
  constexpr std::uint64_t seeds = test::sanitized ? 50 : 200;
  std::uint64_t flagged = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Data data = data_of({{"a", 0, 1}, {"b", 0, 1}, {"c", 0, 1}}, 50 + 5 * seed, seed,
                              [](const double* x, Xoshiro& random) { return x[0] * x[1] + 0.1 * random.gaussian(); });
    flagged += !pattern_in_errors(formula("a*b"), data).empty();
  }
  EXPECT_LE(100 * flagged, seeds);
}

}  // namespace
}  // namespace nalm::fitting::trust_test
