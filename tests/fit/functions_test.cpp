// Functions in formulas (--functions), and columns that only multiply.
#include "fit/functions/view.hpp"

#include <cmath>
#include <functional>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "fit/multipliers.hpp"
#include "nalm/fit.hpp"

namespace nalm::functions_test {

using namespace fitting;

struct Range {
  std::string name;
  double low, high;
};

constexpr std::uint64_t seed = 20261118;

Table table_of(const std::vector<Range>& ranges, std::size_t rows, double noise,
               const std::function<double(const double*)>& truth) {
  Xoshiro random(seed);
  Table table;
  for (const Range& range : ranges) table.columns.push_back(range.name);
  table.columns.push_back("y");
  table.rows = rows;
  std::vector<double> y;
  std::vector<std::vector<double>> x;
  double squares = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    x.emplace_back();
    for (const Range& range : ranges) x.back().push_back(random.between(range.low, range.high));
    y.push_back(truth(x.back().data()));
    squares += y.back() * y.back();
  }
  const double scale = noise * std::sqrt(squares / static_cast<double>(rows));
  for (std::size_t r = 0; r < rows; ++r) {
    table.values.insert(table.values.end(), x[r].begin(), x[r].end());
    table.values.push_back(y[r] + scale * random.gaussian());
  }
  return table;
}

Fit fitted(const Table& table, const std::string& functions) {
  Result<Fit> result = fit(table, {.target = "y", .functions = read_functions(functions), .threads = 2});
  EXPECT_TRUE(result.ok()) << result.error().message;
  return std::move(*result);
}

// The largest difference to the truth, in units of the largest value, on the box twice as wide.
double error_outside(const Fit& found, const std::vector<Range>& ranges,
                     const std::function<double(const double*)>& truth) {
  Xoshiro random(seed + 1);
  double worst = 0, size = 0;
  std::vector<std::string> names;
  for (const Range& range : ranges) names.push_back(range.name);
  for (int k = 0; k < 300; ++k) {
    std::vector<double> x;
    for (const Range& range : ranges) {
      const double half = (range.high - range.low) / 2;
      x.push_back(random.between(range.low > 0 ? range.low / 2 : range.low - half, range.high + half));
    }
    const double expected = truth(x.data()), value = *evaluate(found.best().formula, names, x);
    if (!std::isfinite(expected)) continue;
    worst = std::max(worst, std::fabs(value - expected));
    size = std::max(size, std::fabs(expected));
  }
  return worst / size;
}

void expect_law(const std::vector<Range>& ranges, const std::string& functions,
                const std::function<double(const double*)>& truth, std::size_t rows = 400) {
  const Fit found = fitted(table_of(ranges, rows, 0, truth), functions);
  EXPECT_TRUE(found.is_law()) << found.reason << ": " << print(found.best().formula);
  EXPECT_TRUE(found.verified) << found.verification_error;
  EXPECT_LT(error_outside(found, ranges, truth), 1e-9) << print(found.best().formula);
}

TEST(Functions, OfAProductInAProduct) {
  expect_law({{"n", 1, 5}, {"m", 1, 5}, {"T", 1, 5}}, "all",
             [](const double* x) { return x[0] * std::exp(-0.5 * x[1] / x[2]); });
  expect_law({{"a", 1, 3}, {"u", 1, 3}}, "sin,cos",
             [](const double* x) { return x[0] * std::sin(x[1] / 2) / (x[1] * x[1]); });
}

TEST(Functions, InASumWithColumns) {
  expect_law({{"q", 1, 5}, {"e", 1, 5}, {"v", 1, 5}, {"theta", 1, 5}}, "sin",
             [](const double* x) { return x[0] * (x[1] + x[2] * std::sin(x[3])); });
}

TEST(Functions, OfADifferenceUnderARoot) {
  expect_law(
      {{"a", 1, 5}, {"b", 1, 5}, {"s", 1, 5}, {"t", 1, 5}}, "cos",
      [](const double* x) { return std::sqrt(x[0] * x[0] + x[1] * x[1] - 2 * x[0] * x[1] * std::cos(x[2] - x[3])); },
      150);
}

TEST(Functions, AroundTheWhole) {
  expect_law({{"l", 1, 2}, {"n", 1, 5}, {"d", 2, 5}}, "all",
             [](const double* x) { return std::asin(x[0] / (x[1] * x[2])); });
  // The logarithm of a sum.
  expect_law(
      {{"x", 0.5, 4}, {"z", 1, 3}}, "all", [](const double* x) { return std::log(x[0] * x[0] + 3 * x[1]); }, 150);
}

// Numbers inside of functions are fitted like the others, with intervals.
TEST(Functions, ConstantsInsideHaveIntervals) {
  const std::vector<Range> ranges = {{"t", 0, 10}};
  const Fit found =
      fitted(table_of(ranges, 400, 0.01, [](const double* x) { return 2.5 * std::exp(-0.37 * x[0]) + 0.8; }), "exp");
  EXPECT_TRUE(found.is_law()) << found.reason;
  std::set<int> seen;
  for (const FitConstant& c : found.best().constants) {
    const double truths[] = {2.5, 0.8, -0.37};
    for (int k = 0; k < 3; ++k)
      if (c.low <= truths[k] && truths[k] <= c.high) seen.insert(k);
  }
  EXPECT_EQ(seen.size(), 3u) << print(found.best().formula);
}

// A further term that noise likes, 0.118*t*exp(-0.4174*t), is left out where the description gets shorter.
TEST(Functions, ADecayWithNoiseHasNoFurtherTerm) {
  for (const std::size_t rows : {390u, 391u, 392u, 393u}) {
    const Fit found =
        fitted(table_of({{"t", 0, 10}}, rows, 0.01, [](const double* x) { return 2.5 * std::exp(-0.37 * x[0]) + 0.8; }),
               "exp");
    EXPECT_TRUE(found.is_law()) << found.reason;
    EXPECT_EQ(found.best().constants.size(), 3u) << print(found.best().formula);
  }
}

// Its factor and its exponent change together, so that T^2*exp(-4238/T) is nearly as good.
TEST(Functions, AnExponentialOfALargeNumberThroughAReciprocal) {
  const std::vector<Range> ranges = {{"A", 1, 3}, {"T", 280, 400}};
  for (const std::size_t rows : {80u, 81u, 82u}) {
    const Fit found =
        fitted(table_of(ranges, rows, 0.02, [](const double* x) { return x[0] * std::exp(-5000 / x[1]); }), "exp");
    EXPECT_TRUE(found.is_law()) << found.reason;
    ASSERT_EQ(found.best().constants.size(), 2u) << print(found.best().formula);
    EXPECT_NEAR(found.best().constants[1].value, -5000, 200) << print(found.best().formula);
  }
}

TEST(Functions, AWaveOfAnyFrequency) {
  int laws = 0;
  for (const std::size_t rows : {60u, 61u, 62u, 63u, 64u}) {
    const Fit found = fitted(
        table_of({{"t", 0, 8}}, rows, 0.03, [](const double* x) { return 2.13 * std::sin(1.234 * x[0]); }), "sin");
    laws += found.is_law() && found.best().constants.size() == 2;
  }
  EXPECT_GE(laws, 3);
}

TEST(Functions, ArithmeticStaysArithmetic) {
  const std::vector<Range> ranges = {{"a", 1, 5}, {"b", 1, 5}};
  const auto truth = [](const double* x) { return x[0] * x[1] / (x[0] + x[1]); };
  EXPECT_EQ(print(fitted(table_of(ranges, 300, 0, truth), "all").best().formula), "a*b/(a + b)");
  EXPECT_EQ(print(fitted(table_of(ranges, 300, 0.01, truth), "exp").best().formula), "a*b/(a + b)");
}

// What is exact with simple numbers ends the search, however many of them: products with functions are looked at, sums
// with functions, which take minutes with so many columns, are not.
TEST(Functions, ArithmeticWithManyNumbersComesBeforeWhatTakesLong) {
  const std::vector<Range> ranges = {{"m", 1, 2},  {"x1", 1, 2}, {"x2", 3, 4}, {"y1", 1, 2},
                                     {"y2", 3, 4}, {"z1", 1, 2}, {"z2", 3, 4}};
  const auto square = [](double u) { return u * u; };
  const Table table = table_of(ranges, 200, 0, [&](const double* x) {
    return x[0] / (square(x[1] - x[2]) + square(x[3] - x[4]) + square(x[5] - x[6]));
  });
  const Fit plain = fitted(table, ""), found = fitted(table, "cos");
  EXPECT_EQ(print(found.best().formula), print(plain.best().formula));
  EXPECT_LT(found.restarts, 2 * plain.restarts + 10);
}

TEST(Functions, ATermThatIsOnlyRoundingIsLeftOut) {
  const std::vector<Range> ranges = {{"n", 1, 3}, {"E", 1, 3}, {"p", 1, 3}, {"t", 1, 3}, {"T", 1, 3}};
  const Table table =
      table_of(ranges, 300, 0, [](const double* x) { return x[0] * (1 + x[1] * x[2] * std::cos(x[3]) / x[4]); });
  EXPECT_EQ(print(fitted(table, "cos").best().formula), "n*(E*p*cos(t) + T)/T");
}

TEST(Functions, ARefusalNamesThem) {
  const std::vector<Range> ranges = {{"a", 1, 5}, {"u", 0, 8}};
  for (const int rows : {300, 1500}) {  // of which few and many are searched
    const Table table = table_of(ranges, rows, 0, [](const double* x) { return x[0] * std::sin(x[1]); });
    const Fit found = fitted(table, "");
    EXPECT_FALSE(found.is_law());
    ASSERT_FALSE(found.notes.empty());
    EXPECT_EQ(found.notes.back(), "a formula with sin describes these rows more shortly; try --functions sin");
  }
}

TEST(Functions, AreTheSameForAnyNumberOfThreads) {
  const std::vector<Range> ranges = {{"e", 1, 5}, {"theta", 1, 5}};
  const Table table = table_of(ranges, 60, 0.02, [](const double* x) { return x[0] + std::sin(x[1]); });
  const FitOptions one{.target = "y", .functions = read_functions("sin"), .threads = 1};
  FitOptions three = one;
  three.threads = 3;
  const Result<Fit> a = fit(table, one), b = fit(table, three);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(print(a->best().formula), print(b->best().formula));
  EXPECT_EQ(a->restarts, b->restarts);
  EXPECT_EQ(a->best().train.rmse, b->best().train.rmse);
}

TEST(Functions, UnknownOnesAreNamed) {
  const Table table = table_of({{"a", 1, 2}}, 20, 0, [](const double* x) { return x[0]; });
  const Result<Fit> found = fit(table, {.target = "y", .functions = {"sinh"}});
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().message,
            "\"sinh\" is not a function that a fit may use; there are exp, log, sin, cos, tanh, asin, acos.");
}

// ---- columns that only multiply ------------------------------------------------------------------------------------

TEST(Multipliers, AreTheColumnsThatStandInFrontOfTheRest) {
  const Table table = table_of({{"a", 1, 3}, {"x", 1, 5}, {"b", 1, 3}, {"z", 1, 5}}, 2000, 0.01, [](const double* v) {
    return v[0] * v[0] / std::sqrt(v[2]) * (v[1] - 0.7 * v[3] * v[3]);
  });
  const Result<Data> data = prepare(table, {.target = "y"});
  ASSERT_TRUE(data.ok());
  const std::optional<Multipliers> found = multipliers_of(*data, Powers::Half);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->powers, (PowerList{2, 0, -0.5, 0}));
  EXPECT_EQ(found->rest, (std::vector<std::size_t>{1, 3}));
  const Data rest = divided_by(*data, *found);
  EXPECT_EQ(rest.columns, (std::vector<std::string>{"x", "z"}));
  // A form of the rest is the whole with the multipliers in front of every product.
  Form form{{}, {{{2, true}, {1, 0}, {}}, {{-3, true}, {0, 2}, {}}}};
  EXPECT_EQ(print(to_expression(multiplied_by(form, *found), data->columns, data->negative)),
            "2*a^2*x/sqrt(b) - 3*a^2*z^2/sqrt(b)");
}

TEST(Multipliers, ThreeMassesBeforeADistance) {
  std::vector<Range> ranges = {{"G", 1, 2}, {"m1", 1, 2}, {"m2", 1, 2}};
  for (const char* name : {"x1", "y1", "z1"}) ranges.push_back({name, 3, 4});
  for (const char* name : {"x2", "y2", "z2"}) ranges.push_back({name, 1, 2});
  const auto square = [](double v) { return v * v; };
  const Table table = table_of(ranges, 1000, 0, [&](const double* v) {
    return v[0] * v[1] * v[2] / (square(v[3] - v[6]) + square(v[4] - v[7]) + square(v[5] - v[8]));
  });
  const Fit found = fitted(table, "");
  EXPECT_TRUE(found.is_law()) << found.reason;
  EXPECT_EQ(print(found.best().formula), "G*m1*m2/((x1 - x2)^2 + (y1 - y2)^2 + (z1 - z2)^2)");
}

}  // namespace nalm::functions_test
