// Intervals: printed values of the paper, special cases, and how often the honest ones hold the truth.
#include "experiment/intervals.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.hpp"

namespace nalm::intervals_test {
namespace {

using Values = std::vector<double>;

Values thousands(const Values& values) {
  Values result;
  for (const double value : values) result.push_back(1000 * value);
  return result;
}

// What seeds 0 to 24 gave on this engine.
const Values nac_sub_on_20_10 = thousands({42, 44, 41, 43, 42, 44, 44, 47, 42, 45, 43,  //
                                           45, 33, 30, 44, 44, 48, 38, 26, 43, 42});
const Values nac_sub_on_1_2 = thousands({49, 50, 45, 41, 35});
const Values nau_add_on_1_2 = thousands({6, 5, 5, 6, 6, 4, 4, 4, 5, 5, 5, 5, 5, 5, 4, 5, 5, 5, 5, 4, 5, 6, 6, 5, 6});
const Values real_npu_mul_on_1_2 =
    thousands({32, 2, 2, 42, 38, 9, 10, 1, 28, 2, 30, 27, 2, 32, 10, 2, 28, 33, 2, 10, 8, 34, 42, 2, 29});
const Values nac_sub_on_20_10_sparsity = {
    1.23239852e-05, 1.87891037e-05, 1.02458865e-05, 1.6233245e-05,  1.23647987e-05, 1.94329511e-05, 1.616513e-05,
    3.03853947e-05, 1.23880754e-05, 2.16435898e-05, 1.5948128e-05,  2.02901015e-05, 5.85739497e-06, 5.08511226e-06,
    1.84917549e-05, 1.73659519e-05, 4.16191432e-05, 8.53060558e-06, 4.25971752e-06, 1.42007286e-05, 1.19146848e-05};
const Values nac_sub_on_1_2_sparsity = {4.6928045e-05, 4.97600144e-05, 4.16597529e-05, 3.75973007e-05, 3.32439999e-05};
const Values nac_div_on_1_2_sparsity = {5.21506331e-05, 4.81506306e-05};

void expect_triple(const Estimate& estimate, double value, double above, double below, double tolerance) {
  EXPECT_NEAR(estimate.value, value, tolerance * value);
  EXPECT_NEAR(estimate.hi - estimate.value, above, tolerance * above);
  EXPECT_NEAR(estimate.value - estimate.lo, below, tolerance * below);
}

void expect_nothing(const Estimate& estimate) {
  EXPECT_TRUE(std::isnan(estimate.value) && std::isnan(estimate.lo) && std::isnan(estimate.hi));
}

void expect_value_only(const Estimate& estimate, double value) {
  EXPECT_EQ(estimate.value, value);
  EXPECT_TRUE(std::isnan(estimate.lo) && std::isnan(estimate.hi));
}

void expect_no_spread(const Estimate& estimate, double value) {
  EXPECT_EQ(estimate.value, value);
  EXPECT_EQ(estimate.lo, value);
  EXPECT_EQ(estimate.hi, value);
}

TEST(Median, IsTheMiddle) {
  EXPECT_EQ(median(Values{3, 1, 2}), 2);
  EXPECT_EQ(median(Values{4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median(Values{7}), 7);
  EXPECT_TRUE(std::isnan(median({})));
}

// ---- success -------------------------------------------------------------------------------------------------------

TEST(Wilson, PercentagesArePrintedAsInThePaper) {
  struct Row {
    int successes, above, below;
  };
  for (const Row& row : {Row{0, 13, 0}, Row{25, 0, 13}, Row{1, 16, 3}, Row{2, 17, 6}, Row{3, 18, 8}, Row{21, 10, 19}}) {
    const Estimate rate = wilson(row.successes, 25);
    EXPECT_EQ(rate.value, row.successes / 25.0);
    EXPECT_EQ(std::round(100 * (rate.hi - rate.value)), row.above) << row.successes;
    EXPECT_EQ(std::round(100 * (rate.value - rate.lo)), row.below) << row.successes;
  }
}

TEST(Wilson, OtherNumbersOfRuns) {
  EXPECT_NEAR(wilson(0, 100).hi, 0.037, 5e-4);
  EXPECT_NEAR(wilson(0, 10).hi, 0.278, 5e-4);
  EXPECT_NEAR(wilson(25, 25).lo, 0.867, 5e-4);
  expect_nothing(wilson(0, 0));
}

TEST(Wilson, HoldsTheRate) {
  for (int n = 1; n <= 200; ++n) {
    for (int k = 0; k <= n; ++k) {
      const Estimate rate = wilson(k, n);
      ASSERT_LE(0, rate.lo);
      ASSERT_LE(rate.lo, rate.value);
      ASSERT_LE(rate.value, rate.hi);
      ASSERT_LE(rate.hi, 1);
    }
    EXPECT_EQ(wilson(0, n).lo, 0);
    EXPECT_EQ(wilson(n, n).hi, 1);
  }
}

// ---- the paper's rules ---------------------------------------------------------------------------------------------

TEST(PaperSolvedAt, PrintsThePaperNumbers) {
  expect_triple(paper_solved_at(nac_sub_on_20_10), 4.1e4, 2.2e3, 2.4e3, 0.025);
  expect_triple(paper_solved_at(nac_sub_on_1_2), 4.4e4, 5.2e3, 5.4e3, 0.01);
  expect_triple(paper_solved_at(nau_add_on_1_2), 5.0e3, 2.6e2, 2.6e2, 0.015);
}

TEST(PaperSolvedAt, IsTheMeanWhereTheSpreadIsSmall) {
  EXPECT_EQ(paper_solved_at(nau_add_on_1_2).value, 5040);
  EXPECT_NEAR(paper_solved_at(nac_sub_on_20_10).value, 41428.571, 1e-3);
}

// Printed for Real NPU: 1.5e4 +3.2e3 -3.1e3, with an arithmetic mean of 1.77e4 in the paper's runs.
TEST(PaperSolvedAt, IsNotTheMeanWhereTheSpreadIsLarge) {
  const Estimate estimate = paper_solved_at(real_npu_mul_on_1_2);
  EXPECT_NEAR(estimate.value, 1.571e4, 10);
  EXPECT_LT(estimate.value, 0.9 * solved_at_estimate(real_npu_mul_on_1_2).value);
  EXPECT_NEAR(estimate.hi - estimate.value, 3.3e3, 100);
  EXPECT_NEAR(estimate.value - estimate.lo, 3.2e3, 100);
}

TEST(PaperSolvedAt, SpecialCases) {
  expect_nothing(paper_solved_at({}));
  expect_value_only(paper_solved_at(Values{5000}), 5000);
  expect_no_spread(paper_solved_at(Values{5000, 5000, 5000}), 5000);
  // Student's rule for a zero: 2000 +- 12.706 * 2828.4 / sqrt(2), cut.
  const Estimate with_zero = paper_solved_at(Values{0, 4000});
  EXPECT_EQ(with_zero.lo, 0);
  EXPECT_NEAR(with_zero.hi, 2000 + 12.7062 * 2000, 1);
}

// 1.6e-5 +3.9e-6 -3.9e-6.
TEST(PaperSparsity, IsStudentsIntervalOfSmallErrors) {
  expect_triple(paper_sparsity(nac_sub_on_20_10_sparsity), 1.6e-5, 3.9e-6, 3.9e-6, 0.01);
}

// 2.2e-5 +4.0e-6 -4.3e-6 and 2.5e-5 +3e-6 -2.4e-6 in the paper, whose optimiser was not fully converged.
TEST(PaperSparsity, IsHalfOfLargerErrors) {
  expect_triple(paper_sparsity(nac_sub_on_1_2_sparsity), 2.2e-5, 4.0e-6, 4.3e-6, 0.10);
  expect_triple(paper_sparsity(nac_div_on_1_2_sparsity), 2.5e-5, 3.0e-6, 2.4e-6, 0.15);
  EXPECT_NEAR(paper_sparsity(nac_sub_on_1_2_sparsity).value, sparsity_estimate(nac_sub_on_1_2_sparsity).value / 2,
              0.02 * 2.1e-5);
}

TEST(PaperSparsity, SpecialCases) {
  expect_nothing(paper_sparsity({}));
  expect_value_only(paper_sparsity(Values{1e-6}), 1e-6);
  expect_value_only(paper_sparsity(Values{0}), 1e-16);
  expect_no_spread(paper_sparsity(Values{0, 0, 0}), 1e-16);
  // Student's interval is cut: 9.0e-6 +2.7e-5 -9.0e-6 is printed for one cell.
  const Estimate cut = paper_sparsity(Values{1e-6, 1e-6, 2.5e-5});
  EXPECT_EQ(cut.lo, 0);
  EXPECT_NEAR(cut.hi, 9e-6 + 4.302653 * 8e-6, 1e-10);
}

// ---- the honest ones -----------------------------------------------------------------------------------------------

TEST(SolvedAt, SpecialCases) {
  expect_nothing(solved_at_estimate({}));
  expect_value_only(solved_at_estimate(Values{5000}), 5000);
  expect_no_spread(solved_at_estimate(Values{5000, 5000, 5000}), 5000);
  const Estimate with_zero = solved_at_estimate(Values{0, 4000});
  EXPECT_EQ(with_zero.value, 2000);
  EXPECT_EQ(with_zero.lo, 0);
  EXPECT_NEAR(with_zero.hi, 2000 + 12.7062 * 2000, 1);
}

// The textbook limit of 3.84 gives +2.7e3 -2.5e3; Student's limit is a little wider.
TEST(SolvedAt, IsALittleWiderThanTheTextbookInterval) {
  const Estimate estimate = solved_at_estimate(nac_sub_on_20_10);
  EXPECT_NEAR(estimate.value, 41428.571, 1e-3);
  EXPECT_NEAR((estimate.hi - estimate.value) / 2.7e3, 1.04, 0.02);
  EXPECT_NEAR((estimate.value - estimate.lo) / 2.5e3, 1.04, 0.02);
}

// Where the spread is small every distribution is normal, and the interval is Student's.
TEST(SolvedAt, BecomesStudentsIntervalForSmallSpreads) {
  for (const double spread : {1e-3, 1e-5, 1e-7}) {
    const double m = 30000;
    const Values values{m * (1 - spread), m, m * (1 + spread), m * (1 + 2 * spread)};
    const double deviation = m * spread * std::sqrt(5.0 / 3);
    const Estimate estimate = solved_at_estimate(values);
    EXPECT_NEAR((estimate.hi - estimate.value) / (3.182446 * deviation / 2), 1, 10 * spread + 1e-4) << spread;
    EXPECT_NEAR((estimate.value - estimate.lo) / (3.182446 * deviation / 2), 1, 10 * spread + 1e-4) << spread;
  }
}

// Of two runs the gamma distribution hardly knows anything, and its interval reached 5e12.
TEST(SolvedAt, EndsAtTheLastIteration) {
  const Values far_apart{5000, 50000};
  EXPECT_GT(solved_at_estimate(far_apart).hi, 1e6);
  const Estimate estimate = solved_at_estimate(far_apart, 50000);
  EXPECT_EQ(estimate.value, 27500);
  EXPECT_EQ(estimate.hi, 50000);
  EXPECT_EQ(estimate.lo, solved_at_estimate(far_apart).lo);
  EXPECT_EQ(solved_at_estimate(Values{0, 4000}, 5000).hi, 5000);
  EXPECT_EQ(solved_at_estimate(nau_add_on_1_2, 50000).hi, solved_at_estimate(nau_add_on_1_2).hi);
}

TEST(Sparsity, SpecialCases) {
  expect_nothing(sparsity_estimate({}));
  expect_value_only(sparsity_estimate(Values{1e-6}), 1e-6);
  expect_no_spread(sparsity_estimate(Values{0, 0, 0}), 0);
  expect_no_spread(sparsity_estimate(Values{0.1, 0.1, 0.1}), 0.1);
  // One value above 0 tells nothing about the spread of such values.
  const Estimate one_above = sparsity_estimate(Values{0, 0, 3e-8});
  EXPECT_DOUBLE_EQ(one_above.value, 1e-8);
  EXPECT_EQ(one_above.lo, 0);
  EXPECT_NEAR(one_above.hi, 1e-8 + 4.302653e-8, 1e-13);
}

TEST(Sparsity, IsTheTrueMeanWhereThePaperPrintsHalf) {
  const Estimate estimate = sparsity_estimate(nac_sub_on_1_2_sparsity);
  EXPECT_NEAR(estimate.value, 4.18e-5, 1e-7);
  EXPECT_LT(3.3e-5, estimate.lo);
  EXPECT_LT(estimate.hi, 5.2e-5);
}

// Twice a small error is beta distributed as its gamma distribution says.
TEST(Sparsity, EqualsTheGammaIntervalForSmallErrors) {
  const Estimate as_sparsity = sparsity_estimate(nac_sub_on_20_10_sparsity);
  const Estimate as_steps = solved_at_estimate(nac_sub_on_20_10_sparsity);
  EXPECT_NEAR(as_sparsity.lo, as_steps.lo, 1e-3 * as_steps.lo);
  EXPECT_NEAR(as_sparsity.hi, as_steps.hi, 1e-3 * as_steps.hi);
}

TEST(Sparsity, ErrorsAboveOneHalfUseTheGammaDistribution) {
  const Values errors{0.1, 0.2, 0.9, 1.5};
  const Estimate as_sparsity = sparsity_estimate(errors), as_steps = solved_at_estimate(errors);
  EXPECT_EQ(as_sparsity.value, as_steps.value);
  EXPECT_NEAR(as_sparsity.lo, as_steps.lo, 1e-9);
  EXPECT_NEAR(as_sparsity.hi, as_steps.hi, 1e-9);
  EXPECT_GT(as_sparsity.hi, 0.5);
}

// Where the values above 0 hardly differ, all uncertainty is that of their share: 13 of 25, from 0.33 to 0.71.
TEST(Sparsity, ZerosWidenTheIntervalAsTheirShareDoes) {
  Values errors(12, 0.0);
  for (int k = 0; k < 13; ++k) errors.push_back(1e-6 * (1 + 0.001 * k));
  const Estimate estimate = sparsity_estimate(errors);
  EXPECT_NEAR(estimate.lo / 1e-6, 0.33, 0.02);
  EXPECT_NEAR(estimate.hi / 1e-6, 0.71, 0.02);
}

TEST(Sparsity, StaysBelowOneHalf) {
  const Estimate estimate = sparsity_estimate(Values{0.4999, 0.01, 0, 0.499999});
  EXPECT_LE(estimate.hi, 0.5);
  EXPECT_GT(estimate.lo, 0);
}

TEST(HonestIntervals, HoldTheMeanWhateverTheValues) {
  Xoshiro random(5);
  for (int round = 0; round < 400; ++round) {
    Values steps(2 + random.below(30)), errors(2 + random.below(12));
    const double zeros = random.unit();
    for (double& step : steps) step = 1000 * static_cast<double>(1 + random.below(round % 2 ? 3 : 50));
    for (double& error : errors) {
      error = random.unit() < zeros ? 0 : std::pow(10, random.between(round % 3 ? -16 : -2, -0.302));
    }
    if (round % 10 == 0) errors[0] = 0.8;
    for (const Estimate& e : {solved_at_estimate(steps), sparsity_estimate(errors), paper_solved_at(steps)}) {
      ASSERT_LE(0, e.lo) << round;
      ASSERT_LE(e.lo, e.value) << round;
      ASSERT_LE(e.value, e.hi) << round;
      ASSERT_TRUE(std::isfinite(e.hi)) << round;
    }
    const Estimate paper = paper_sparsity(errors);
    ASSERT_LE(0, paper.lo) << round;
    ASSERT_LE(paper.lo, paper.value) << round;
    ASSERT_LE(paper.value, paper.hi) << round;
    ASSERT_LE(paper.hi, 0.5) << round;
  }
}

// ---- coverage ------------------------------------------------------------------------------------------------------

// A gamma distributed number with a whole shape: a sum of exponential ones.
double gamma_number(int shape, Xoshiro& random) {
  double sum = 0;
  for (int k = 0; k < shape; ++k) sum -= std::log1p(-random.unit());
  return sum;
}

// The share of intervals that hold the true mean must be 95 %, up to five deviations of a binomial count: that fails
// with probability 6e-7, and the seed is fixed.
template <class Draw>
void expect_coverage(Estimate (*estimate)(std::span<const double>), double truth, int n, int repetitions, Draw draw) {
  Xoshiro random(99);
  int held = 0;
  Values values(static_cast<std::size_t>(n));
  for (int k = 0; k < repetitions; ++k) {
    for (double& value : values) value = draw(random);
    const Estimate e = estimate(values);
    held += e.lo <= truth && truth <= e.hi;
  }
  EXPECT_NEAR(static_cast<double>(held) / repetitions, 0.95, 5 * std::sqrt(0.95 * 0.05 / repetitions));
}

TEST(Coverage, SolvedAt) {
  for (const int n : {2, 3, 5, 25}) {
    for (const int shape : {1, 4, 25}) {
      SCOPED_TRACE(testing::Message() << n << " runs, shape " << shape);
      expect_coverage([](std::span<const double> steps) { return solved_at_estimate(steps); }, 20000, n, 2000,
                      [&](Xoshiro& random) { return 20000.0 / shape * gamma_number(shape, random); });
    }
  }
}

TEST(Coverage, Sparsity) {
  for (const int n : {3, 25}) {
    SCOPED_TRACE(n);
    expect_coverage(sparsity_estimate, 0.1, n, 1000, [](Xoshiro& random) {
      const double a = gamma_number(2, random), b = gamma_number(8, random);
      return a / (a + b) / 2;
    });
    expect_coverage(sparsity_estimate, 1e-6, n, 1000, [](Xoshiro& random) { return 1e-6 * gamma_number(1, random); });
  }
}

TEST(Coverage, SparsityWithZeros) {
  for (const double zeros : {0.3, 0.7}) {
    SCOPED_TRACE(zeros);
    expect_coverage(sparsity_estimate, (1 - zeros) * 2e-6, 25, 300,
                    [&](Xoshiro& random) { return random.unit() < zeros ? 0 : 1e-6 * gamma_number(2, random); });
  }
}

}  // namespace
}  // namespace nalm::intervals_test
