// Products times powers of polynomials: every term is found at once, and those that mean nothing are left out.
#include "fit/polynomials.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "fit/cases.hpp"
#include "fit/form_algebra.hpp"
#include "nalm/fit.hpp"

namespace nalm::fitting::polynomials_test {
namespace {

struct Case {
  Data data;
  Rows rows;

  template <class Target>
  Case(const std::vector<test::Column>& columns, std::size_t count, Target target)
      : data(*prepare(test::table_of(columns, count, 3, target), {.target = "y"})) {
    rows = rows_of(data, data.train, data.train.size());
  }
  std::optional<Form> form(double power) const { return quadratic_form(data, rows, power); }
};

std::vector<test::Column> two_points(std::size_t distractors) {
  std::vector<test::Column> columns{{"m", 1, 5}, {"n", 1, 5}, {"a", 3, 5}, {"b", 1, 2}, {"c", 3, 5}, {"d", 1, 2}};
  for (std::size_t k = 0; k < distractors; ++k) columns.push_back({"z" + std::to_string(k), -1, 1});
  return columns;
}
double attraction(const double* x) { return x[0] * x[1] / (std::pow(x[2] - x[3], 2) + std::pow(x[4] - x[5], 2)); }
const char* const attraction_text = "m*n/(a^2 + b^2 + c^2 + d^2 - 2*a*b - 2*c*d)";

std::string text_of(const Case& c, Form form) {
  EXPECT_TRUE(normalise(form, c.data.negative) && refit(form, c.data, c.rows, 20));
  for (Number* number : numbers(form)) number->value = std::round(10 * number->value) / 10;
  return print(to_expression(form, c.data.columns, c.data.negative));
}

TEST(Quadratic, FindsTheSquareOfADistanceInADenominator) {
  const Case c(two_points(2), 400, [](const double* x, Xoshiro&) { return attraction(x); });
  const std::optional<Form> form = c.form(-1);
  ASSERT_TRUE(form);
  EXPECT_EQ(text_of(c, *form), attraction_text);
}

TEST(Quadratic, NoiseAddsNoTerms) {
  const Case c(two_points(0), 2000,
               [](const double* x, Xoshiro& random) { return attraction(x) + 0.01 * random.gaussian(); });
  const std::optional<Form> form = c.form(-1);
  ASSERT_TRUE(form);
  EXPECT_EQ(text_of(c, *form), attraction_text);
}

TEST(Quadratic, FindsARootOfASumOfSquares) {
  const Case c({{"a", -3, 3}, {"b", -3, 3}, {"k", 1, 4}}, 200, [](const double* x, Xoshiro&) {
    return std::sqrt(x[0] * x[0] + 3 * x[0] * x[1] + 4 * x[1] * x[1] + 2) / x[2];
  });
  const std::optional<Form> form = c.form(2);
  ASSERT_TRUE(form);
  EXPECT_EQ(text_of(c, *form), "sqrt(a^2 + 3*a*b + 4*b^2 + 2)/k");
}

TEST(Rational, FindsAllTermsOfABridge) {
  const std::vector<test::Column> columns{{"U", 1, 5}, {"a", 1, 5}, {"b", 1, 5}, {"c", 1, 5}, {"d", 1, 5}};
  const Case c(columns, 200,
               [](const double* x, Xoshiro&) { return x[0] * (x[2] / (x[1] + x[2]) - x[4] / (x[3] + x[4])); });
  const std::optional<Form> form = rational_form(c.data, c.rows, 1);
  ASSERT_TRUE(form);
  EXPECT_EQ(text_of(c, *form), "-U*(a*d - b*c)/(a*c + a*d + b*c + b*d)");
}

TEST(Rational, LeavesOutWhatCancels) {
  // Multiplied with any sum above and below it is the same: there are many ways to write it, and one without.
  const Case c({{"a", 1, 5}, {"b", 1, 5}, {"c", 1, 5}}, 200,
               [](const double* x, Xoshiro&) { return (2 * x[0] + 1) / (x[1] + x[2]); });
  const std::optional<Form> form = rational_form(c.data, c.rows, 1);
  ASSERT_TRUE(form);
  EXPECT_LE(free_count(*form), 12);
  Form fitted = *form;
  ASSERT_TRUE(normalise(fitted, c.data.negative));
  const std::optional<Refit> result = refit(fitted, c.data, c.rows, 20);
  ASSERT_TRUE(result);
  EXPECT_LT(result->mse, 1e-16);
}

TEST(Quadratic, IsNotForNoiseNorForMoreColumnsThanRowsCanTellApart) {
  const Case noise(two_points(0), 400, [](const double*, Xoshiro& random) { return 5 + random.gaussian(); });
  if (const std::optional<Form> form = noise.form(1)) {
    EXPECT_LE(form->sums[0].terms.size(), 2u);  // a mean is all there is
  }
  const Case wide(two_points(20), 60, [](const double* x, Xoshiro&) { return attraction(x); });
  EXPECT_FALSE(wide.form(-1));
}

// ---- higher degrees ------------------------------------------------------------------------------------------------

TEST(Degrees, TheFewestNumbersComeFirstAndRowsLimitThem) {
  std::size_t last = 0;
  for (const Degrees& d : degrees_for(2, 1000)) {
    const auto terms = [](int degree) { return static_cast<std::size_t>((degree + 1) * (degree + 2) / 2); };
    const std::size_t count = terms(d.above) + (d.below > 0 ? terms(d.below) : 0);
    EXPECT_GE(count, last);
    last = count;
  }
  EXPECT_GT(last, 20u);
  for (const Degrees& d : degrees_for(1, 12)) EXPECT_LE(d.above + 1 + (d.below > 0 ? d.below + 1 : 0), 6);
  EXPECT_TRUE(degrees_for(9, 30).empty());
}

std::string fitted(const test::Column& x, const test::Column& y, std::size_t rows, double (*truth)(double, double)) {
  const Table table =
      test::table_of({x, y}, rows, 6, [&](const double* row, Xoshiro&) { return truth(row[0], row[1]); });
  const Fit found = *fit(table, {.target = "y", .threads = 2});
  EXPECT_TRUE(found.is_law()) << found.reason << ": " << print(found.best().formula);
  return print(found.best().formula);
}

// As usual in collections of benchmarks: few rows, and too many terms for trainings.
TEST(Degrees, APolynomialOfFifthDegreeOfTwentyRows) {
  const auto truth = [](double a, double) { return a * a * a * a * a + a * a * a * a + a * a * a + a * a + a; };
  EXPECT_EQ(fitted({"a", -1, 1}, {"b", 0, 0}, 20, truth), "a*(a^4 + a^3 + a^2 + a + 1)");
}

TEST(Degrees, ARatioOfHigherDegreeInTwoColumns) {
  const Case c({{"a", 0.5, 4}, {"b", 0.5, 4}}, 400,
               [](const double* x, Xoshiro&) { return 20 - x[0] - x[0] * x[1] / (1 + x[0] * x[0] / 2); });
  const std::optional<Form> form = form_of_degrees(c.data, c.rows, {3, 2});
  ASSERT_TRUE(form);
  Form refitted = *form;
  EXPECT_TRUE(normalise(refitted, c.data.negative) && refit(refitted, c.data, c.rows, 20));
  EXPECT_LT(mean_squared_error(to_expression(refitted, c.data.columns, c.data.negative), c.data, c.rows), 1e-24);
  fitted({"a", 0.5, 4}, {"b", 0.5, 4}, 400, [](double a, double b) { return 20 - a - a * b / (1 + a * a / 2); });
}

// Close to a polynomial is not enough: with noise its next terms are as good.
TEST(Degrees, OnlyExactOnesAreKept) {
  const Table table = test::table_of({{"a", -1, 1}}, 60, 7, [](const double* x, Xoshiro& random) {
    return std::exp(x[0]) * std::cos(3 * x[0]) + 1e-3 * random.gaussian();
  });
  EXPECT_FALSE(fit(table, {.target = "y", .threads = 2})->is_law());
}

}  // namespace
}  // namespace nalm::fitting::polynomials_test
