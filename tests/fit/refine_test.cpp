// The numbers of a formula: least squares, error bars, and rounding where the data allow it.
#include "fit/refine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "fit/cases.hpp"
#include "fit/description.hpp"
#include "fit/simple_numbers.hpp"
#include "fit/snap.hpp"
#include "sanitized.hpp"

namespace nalm::fitting::refine_test {
namespace {

using test::product;
using test::term;
using Values = std::vector<double>;

// A table and a form with start values, and what refining makes of them on all rows.
struct Problem {
  Data data;
  Form form;

  Rows rows() const {
    std::vector<std::size_t> all(data.rows);
    for (std::size_t r = 0; r < data.rows; ++r) all[r] = r;
    return rows_of(data, all, data.rows);
  }
  Refit refit() {
    const std::optional<Refit> result = fitting::refit(form, data, rows(), 40);
    EXPECT_TRUE(result);
    return result.value_or(Refit{});
  }
  SnappedNumbers snap() {
    const std::optional<SnappedNumbers> result = snap_numbers(form, data, rows());
    EXPECT_TRUE(result);
    return result.value_or(SnappedNumbers{});
  }
  double length() {
    const Refit result = refit();
    return description_length(form, result.mse, data.rows);
  }
};

template <class Target>
Problem problem(Form form, std::size_t rows, std::uint64_t seed, Target target) {
  const Table table = test::table_of({{"a", 1, 3}, {"b", 0.5, 2}}, rows, seed, target);
  return {*prepare(table, {.target = "y"}), std::move(form)};
}

// c*a*b, from c = 1.
Form factor() { return {{}, {product(1, {1, 1})}}; }

// y = c*a*b with noise of this share.
Problem noisy_product(double c, double noise, std::size_t rows, std::uint64_t seed) {
  return problem(factor(), rows, seed,
                 [&](const double* x, Xoshiro& random) { return c * x[0] * x[1] * (1 + noise * random.gaussian()); });
}

// ---- least squares -------------------------------------------------------------------------------------------------

TEST(Refit, FindsTheNumbersOfASum) {
  Problem p = problem({{}, {product(1, {1, 1}), product(1, {0, 2}), product(1, {0, 0})}}, 50, 1,
                      [](const double* x, Xoshiro&) { return 3.7 * x[0] * x[1] - 0.25 * x[1] * x[1] - 1200; });
  EXPECT_LT(p.refit().mse, 1e-28);
  const Values found = free_values(p.form), expected = {3.7, -0.25, -1200};
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(found[k] / expected[k], 1, 1e-9) << k;
}

// The sum under the root is 0 where a = b, so that numbers a little off have no value there.
TEST(Refit, StartsWhereARootHasAValue) {
  Form form{{{{term(1, {2, 0}), term(-2.01, {1, 1}), term(1.002, {0, 2})}}}, {product(1, {0, 0}, {{0, 0.5}})}};
  form.sums[0].terms[0].coefficient.free = false;
  Problem p = problem(
      form, 400, 3, [](const double* x, Xoshiro& random) { return std::fabs(x[0] - x[1]) + 0.01 * random.gaussian(); });
  EXPECT_FALSE(std::isfinite(mean_squared_error(p.form, p.data, p.rows())));
  EXPECT_LT(std::sqrt(p.refit().mse) * p.data.y_scale, 0.011);
  EXPECT_NEAR(free_values(p.form)[1], -2, 1e-2);
}

TEST(Refit, FindsTheNumbersOfARatio) {
  Form form{{{{term(1, {1, 0}), term(1, {0, 1}), term(1, {0, 0})}}}, {product(1, {0, 0}, {{0, -1}})}};
  form.sums[0].terms[0].coefficient.free = false;
  Problem p = problem(form, 50, 2, [](const double* x, Xoshiro&) { return 2.5 / (x[0] + 1.75 * x[1] + 0.5); });
  EXPECT_LT(p.refit().mse, 1e-28);
  const Values found = free_values(p.form), expected = {2.5, 1.75, 0.5};
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(found[k], expected[k], 1e-10) << k;
}

TEST(Refit, LeavesFixedNumbersAlone) {
  Form form{{}, {product(7, {1, 0}), product(1, {0, 1})}};
  form.products[0].coefficient.free = false;
  Problem p = problem(form, 50, 3, [](const double* x, Xoshiro&) { return 2 * x[0] + 3 * x[1]; });
  p.refit();
  EXPECT_EQ(p.form.products[0].coefficient.value, 7);
  EXPECT_NE(p.form.products[1].coefficient.value, 1);
}

TEST(Refit, SaysSoWhereTheFormulaHasNoValue) {
  Form form{{{{term(-1, {1, 0}), term(-1, {0, 1})}}}, {product(1, {0, 0}, {{0, 0.5}})}};
  form.sums[0].terms[0].coefficient.free = false;
  Problem p = problem(form, 50, 4, [](const double* x, Xoshiro&) { return 2 * x[0]; });
  EXPECT_FALSE(refit(p.form, p.data, p.rows(), 40));
}

TEST(Refit, StandardErrorsAreThoseOfTheTextbook) {
  // One factor: the noise over the length of a*b.
  Problem p = problem(factor(), 400, 5,
                      [](const double* x, Xoshiro& random) { return 2 * x[0] * x[1] + 0.1 * random.gaussian(); });
  const Refit result = p.refit();
  double squares = 0;
  for (std::size_t r = 0; r < p.data.rows; ++r) squares += std::pow(p.data.row(r)[0] * p.data.row(r)[1], 2);
  EXPECT_NEAR(result.deviations[0] / (0.1 / std::sqrt(squares)), 1, 0.15);
}

TEST(MeanSquaredError, IsInfiniteWhereTheFormulaHasNoValue) {
  const Problem p = noisy_product(1, 0, 20, 6);
  EXPECT_EQ(mean_squared_error(*parse_expression("a*b"), p.data, p.rows()), 0);
  EXPECT_NEAR(mean_squared_error(*parse_expression("a*b + 2"), p.data, p.rows()), 4, 1e-14);
  EXPECT_EQ(mean_squared_error(*parse_expression("sqrt(-a)"), p.data, p.rows()),
            std::numeric_limits<double>::infinity());
}

// ---- error bars ----------------------------------------------------------------------------------------------------

TEST(ErrorBars, HoldTheTruthNinetyNineTimesInAHundred) {
  // By chance more than 12 of 300 intervals of 99 % miss once in 70,000 times; the seeds are fixed.
  constexpr int repetitions = test::sanitized ? 50 : 300;
  int hold = 0;
  double widest = 0;
  for (std::uint64_t seed = 1; seed <= repetitions; ++seed) {
    Form form{{{{term(1, {1, 0}), term(1, {0, 1})}}}, {product(1, {0, 0}, {{0, -1}})}};
    form.sums[0].terms[0].coefficient.free = false;
    Problem p = problem(form, 60, seed, [](const double* x, Xoshiro& random) {
      return 7.3517 / (x[0] + 1.8371 * x[1]) + 0.02 * random.gaussian();
    });
    const std::vector<FitConstant> constants = p.snap().constants;
    ASSERT_EQ(constants.size(), 2u) << seed;
    hold += constants[1].low <= 1.8371 && 1.8371 <= constants[1].high;
    widest = std::max(widest, constants[1].high - constants[1].low);
  }
  EXPECT_GE(hold, repetitions * 96 / 100);
  EXPECT_LT(widest, 0.2);
}

TEST(ErrorBars, AreRightForFewRowsToo) {
  // Six rows and one number leave five degrees of freedom. The chance of failing is as above.
  constexpr int repetitions = test::sanitized ? 50 : 300;
  int hold = 0;
  for (std::uint64_t seed = 1; seed <= repetitions; ++seed) {
    const std::vector<FitConstant> constants = noisy_product(4.3719, 0.03, 6, 1000 + seed).snap().constants;
    hold += constants[0].low <= 4.3719 && 4.3719 <= constants[0].high;
  }
  EXPECT_GE(hold, repetitions * 96 / 100);
}

TEST(ErrorBars, ReachAsFarAsStudentsTSays) {
  // Table values for four degrees of freedom and for very many: NIST/SEMATECH e-Handbook, table 1.3.6.7.2.
  EXPECT_NEAR(interval_reach(6, 2), 4.604, 5.1e-4);
  EXPECT_NEAR(interval_reach(100000, 2), 2.576, 5.1e-4);
}

// ---- simple numbers ------------------------------------------------------------------------------------------------

TEST(SnapNumbers, RoundsInExactData) {
  for (const double c : {0.5, 2.0, 9.81, 4 * std::numbers::pi / 3, -1.0, 1.0 / 3, 1000.0, 0.001, 6.02e23}) {
    Problem p = noisy_product(c, 0, 100, 7);
    const SnappedNumbers numbers = p.snap();
    ASSERT_EQ(numbers.constants.size(), 1u);
    EXPECT_TRUE(numbers.constants[0].snapped) << c;
    EXPECT_EQ(numbers.constants[0].value, c);
    EXPECT_EQ(p.form.products[0].coefficient.value, c);
    EXPECT_FALSE(p.form.products[0].coefficient.free) << c;
  }
}

TEST(SnapNumbers, KeepsTheDigitsOfAnExactNumberThatIsNotSimple) {
  Problem p = noisy_product(1.2345678901234, 0, 100, 8);
  const SnappedNumbers numbers = p.snap();
  EXPECT_FALSE(numbers.constants[0].snapped);
  EXPECT_NEAR(numbers.constants[0].value, 1.2345678901234, 1e-13);
}

TEST(SnapNumbers, LeavesNineEightOneAloneInNoise) {
  Problem p = noisy_product(9.81, 0.01, 200, 9);
  const FitConstant c = p.snap().constants[0];
  EXPECT_FALSE(c.snapped);
  EXPECT_LE(c.low, 9.81);
  EXPECT_GE(c.high, 9.81);
  EXPECT_NEAR(c.value, 9.81, 0.05);
  // As many digits as mean something, no more.
  EXPECT_LE(fmt::format("{}", c.value).size(), 7u) << c.value;
}

TEST(SnapNumbers, RoundsAWholeNumberInNoise) {
  Problem p = noisy_product(2, 0.01, 200, 10);
  const FitConstant c = p.snap().constants[0];
  EXPECT_TRUE(c.snapped);
  EXPECT_EQ(c.value, 2);
  EXPECT_NE(c.estimate, 2);
  EXPECT_LT(c.low, c.estimate);
  EXPECT_LT(c.estimate, c.high);
}

TEST(SnapNumbers, DoesNotRoundToANumberOutsideOfTheErrorBar) {
  // An error bar of about 0.001: twenty of them lie between 3.02 and 3.
  Problem p = noisy_product(3.02, 0.0055, 200, 11);
  const FitConstant c = p.snap().constants[0];
  EXPECT_NEAR(c.high - c.low, 0.005, 0.003);
  EXPECT_NE(c.value, 3);
  EXPECT_NEAR(c.value, 3.02, 0.004);
}

// A number costs ln(5000)/2 + 1 nats: 1, which is no number, may be 3.2 standard errors off. Here it is 2.9, and 2
// would not do.
TEST(SnapNumbers, OneMayBeFartherOffThanOtherNumbers) {
  for (const double truth : {1.0, 2.0}) {
    Problem p = noisy_product(truth, 0.01, 5000, 12);
    const FitConstant at_truth = p.snap().constants[0];
    const double deviation = (at_truth.high - at_truth.low) / 2 / 2.58;
    Problem off = noisy_product(truth + truth - at_truth.estimate + 2.9 * deviation, 0.01, 5000, 12);
    EXPECT_EQ(off.snap().constants[0].snapped, truth == 1) << off.snap().constants[0].estimate;
  }
}

TEST(SimpleNumber, IsOneThatNoAccidentBringsSoClose) {
  EXPECT_EQ(simple_number(2.0000001, 1e-6)->value, 2.0);
  EXPECT_EQ(simple_number(0.33333334, 1e-6)->value, 1.0 / 3);
  EXPECT_EQ(simple_number(3.1415926, 1e-6)->value, std::numbers::pi);
  EXPECT_EQ(simple_number(9.81000001, 1e-6)->value, 9.81);
  EXPECT_EQ(simple_number(2.1, 0.05), std::nullopt);
  EXPECT_EQ(simple_number(1.02, 0.05)->value, 1.0);  // the number that nobody writes
  EXPECT_EQ(simple_number(1.02, 0.15), std::nullopt);
  EXPECT_EQ(simple_number(1.234567891, 1e-9), std::nullopt);
}

// ---- description length --------------------------------------------------------------------------------------------

TEST(DescriptionLength, PrefersTheSmallerFormulaForNoise) {
  // y is 2*a*b and noise; another term explains a little of the noise.
  constexpr int repetitions = 200;
  int smaller = 0;
  for (std::uint64_t seed = 1; seed <= repetitions; ++seed) {
    Problem plain = noisy_product(2, 0.05, 100, seed), more = plain;
    more.form.products.push_back(product(1, {0, 2}));
    smaller += plain.length() < more.length();
  }
  // A term costs more than ten nats: chance gives as much once in a million times.
  EXPECT_EQ(smaller, repetitions);
}

TEST(DescriptionLength, PrefersTheLargerFormulaForATermThatIsThere) {
  Problem more = problem({{}, {product(1, {1, 1}), product(1, {0, 2})}}, 100, 12, [](const double* x, Xoshiro& random) {
    return 2 * x[0] * x[1] + 0.5 * x[1] * x[1] + 0.05 * random.gaussian();
  });
  Problem plain = more;
  plain.form = factor();
  EXPECT_LT(more.length(), plain.length());
}

TEST(DescriptionLength, DoesNotTellErrorsOfRoundingApart) {
  const Problem p = noisy_product(2, 0, 100, 13);
  EXPECT_EQ(description_length(p.form, 1e-25, 100), description_length(p.form, 0, 100));
  EXPECT_GT(description_length(p.form, 1e-12, 100), description_length(p.form, 0, 100));
}

}  // namespace
}  // namespace nalm::fitting::refine_test
