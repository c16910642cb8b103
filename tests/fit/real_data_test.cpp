// Weights, outliers, groups, given forms and intervals of predictions.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "fit/cases.hpp"
#include "fit/data.hpp"
#include "fit/refine.hpp"
#include "fit/robust.hpp"
#include "nalm/fit.hpp"
#include "train/least_squares.hpp"

namespace nalm::fitting::real_data_test {
namespace {

Expression formula(const std::string& text) { return *parse_expression(text); }

const FitConstant& constant(const Fit& fit, const std::string& name) {
  for (const FitConstant& c : fit.best().constants)
    if (c.name == name) return c;
  static const FitConstant none;
  ADD_FAILURE() << "no constant " << name;
  return none;
}

// ---- weights -------------------------------------------------------------------------------------------------------

// With weights 1 and 4 the mean of two numbers is (a + 4 b) / 5: least squares by hand.
TEST(Weights, MoveAConstantToTheRowsThatCount) {
  Table table = *read_table("x,w,y\n1,1,3\n2,4,16\n3,1,9\n4,4,32\n5,1,15\n6,4,48\n7,1,21\n8,4,64\n", "t", Cells::Words);
  const Result<Data> data = prepare(table, {.target = "y", .inputs = {"x"}, .weights = "w"});
  ASSERT_TRUE(data.ok()) << data.error().message;
  std::vector<std::size_t> all;
  for (std::size_t r = 0; r < data->rows; ++r) all.push_back(r);
  // y = c x; rows with odd x say 3, others 8.  c = sum w x y / sum w x^2.
  Form form{{}, {{{1, true}, {1}, {}}}};
  ASSERT_TRUE(refit(form, *data, rows_of(*data, all, 100), 30));
  const double above = 3 * (1 + 9 + 25 + 49) + 4 * 8 * (4 + 16 + 36 + 64),
               below = (1 + 9 + 25 + 49) + 4 * (4 + 16 + 36 + 64);
  EXPECT_NEAR(form.products[0].coefficient.value, above / below, 1e-12);
}

// One training in a lane with weights ends where least squares with weights does: y = c x again.
TEST(Weights, CountInTheLanes) {
  const simd::Target& target = simd::active_target();
  const Stack stack = *parse_stack("Linear:1", 1);
  LeastSquares lanes(stack, 4, target);
  const std::vector<double> x{1, 2, 3, 4}, y{3, 16, 9, 32}, weights{1, 2, 1, 2};
  for (int lane = 0; lane < lanes.lanes(); ++lane) {
    lanes.set_data(lane, x, y, weights);
    lanes.set_run(lane, std::vector<double>{1, 0}, std::vector<std::uint8_t>{1, 0});
  }
  lanes.minimise(30);
  const double c = (3.0 * (1 + 9) + 4 * 8 * (4 + 16)) / ((1 + 9) + 4 * (4 + 16));
  EXPECT_NEAR(lanes.parameters(0)[0], c, 1e-9);
  double squares = 0;
  for (std::size_t k = 0; k < 4; ++k) squares += std::pow((c * x[k] - y[k]) * weights[k], 2);
  EXPECT_NEAR(lanes.mse(0), squares / 4, 1e-9);
}

// Errors of 10 % over four decades: without --relative the largest rows decide alone. Seed 3.
TEST(Weights, RelativeErrorsFindAPowerLawOverDecades) {
  const Table table = test::table_of({{"lg", -2, 2}}, 60, 3, [](const double* x, Xoshiro& random) {
    return 5 * std::pow(10, 0.75 * x[0]) * std::exp(0.1 * random.gaussian());
  });
  Table powers = table;
  for (std::size_t r = 0; r < powers.rows; ++r) powers.values[2 * r] = std::pow(10, table.at(r, 0));
  powers.columns = {"x", "y"};
  const Result<Fit> fit = fit_form(powers, {.target = "y", .relative = true}, formula("c*x^p"));
  ASSERT_TRUE(fit.ok()) << fit.error().message;
  EXPECT_GT(constant(*fit, "p").high, 0.75);
  EXPECT_LT(constant(*fit, "p").low, 0.75);
  EXPECT_GT(constant(*fit, "c").high, 5);
  EXPECT_LT(constant(*fit, "c").low, 5);
  EXPECT_NEAR(fit->best().train.rmse, 0.1, 0.04);  // a share of the target
}

// ---- given forms ---------------------------------------------------------------------------------------------------

Table michaelis(double noise) {
  return test::table_of({{"s", 0.05, 4}}, 60, 11, [noise](const double* x, Xoshiro& random) {
    return 12 * x[0] / (0.7 + x[0]) + noise * random.gaussian();
  });
}

TEST(GivenForms, HaveTheirConstantsFitted) {
  const Result<Fit> fit = fit_form(michaelis(0), {.target = "y"}, formula("Vmax*s/(K + s)"));
  ASSERT_TRUE(fit.ok()) << fit.error().message;
  EXPECT_NEAR(constant(*fit, "Vmax").value, 12, 1e-8);
  EXPECT_NEAR(constant(*fit, "K").value, 0.7, 1e-8);
  EXPECT_GT(fit->best().agreeing, 3);
}

// The intervals hold the truth: by chance they do not once in about 50 times; seed 11.
TEST(GivenForms, HaveIntervals) {
  const Result<Fit> fit = fit_form(michaelis(0.1), {.target = "y"}, formula("Vmax*s/(K + s)"));
  ASSERT_TRUE(fit.ok()) << fit.error().message;
  for (const auto& [name, truth] : {std::pair("Vmax", 12.0), std::pair("K", 0.7)}) {
    EXPECT_LT(constant(*fit, name).low, truth);
    EXPECT_GT(constant(*fit, name).high, truth);
    EXPECT_LT(constant(*fit, name).high - constant(*fit, name).low, 0.2 * truth);
  }
}

TEST(GivenForms, MayHoldWhatASearchDoesNot) {
  const Table table =
      test::table_of({{"t", 0, 3}}, 80, 2, [](const double* x, Xoshiro&) { return 4 * std::exp(-1.3 * x[0]) + 1; });
  const Result<Fit> fit = fit_form(table, {.target = "y"}, formula("a*exp(-k*t) + b"));
  ASSERT_TRUE(fit.ok());
  EXPECT_NEAR(constant(*fit, "k").value, 1.3, 1e-6);
}

// 1^c is 1 whatever c is: it stays a number, and nothing is claimed of it.
TEST(GivenForms, AConstantThatMakesNoDifferenceIsANumber) {
  const Result<Fit> fit = fit_form(michaelis(0.1), {.target = "y"}, formula("s - 1^c"));
  ASSERT_TRUE(fit.ok()) << fit.error().message;
  EXPECT_TRUE(std::isfinite(constant(*fit, "c").value));
  EXPECT_FALSE(std::isfinite(constant(*fit, "c").high));
}

TEST(GivenForms, RefuseWhatIsNoForm) {
  const Table table = michaelis(0);
  EXPECT_EQ(fit_form(table, {.target = "y"}, formula("\"\"*s")).error().message,
            "the form has a constant without a name, \"\"; write a name between the quotes.");
  EXPECT_EQ(fit_form(table, {.target = "y"}, formula("a*b")).error().message,
            "the form uses no column; the inputs are s.");
  EXPECT_EQ(fit_form(table, {.target = "y"}, formula("a*y + s")).error().message,
            "the form uses \"y\", a column that is not an input; the inputs are s.");
  EXPECT_EQ(fit_form(table, {.target = "y", .robust = true}, formula("a*s")).error().message,
            "the constants of a form are fitted to all rows alike; leave out robust, by and the stack.");
}

TEST(GivenForms, AreTheSameForAnyNumberOfThreads) {
  const Table table = michaelis(0.1);
  const Result<Fit> one = fit_form(table, {.target = "y", .threads = 1}, formula("Vmax*s/(K + s)"));
  const Result<Fit> four = fit_form(table, {.target = "y", .threads = 4}, formula("Vmax*s/(K + s)"));
  EXPECT_EQ(constant(*one, "K").value, constant(*four, "K").value);
  EXPECT_EQ(one->best().agreeing, four->best().agreeing);
}

// ---- outliers ------------------------------------------------------------------------------------------------------

TEST(Robust, FindsTheRowsThatAreFarOffAndTheFormulaBehindThem) {
  Table table = test::table_of({{"a", 1, 5}, {"b", 1, 5}}, 80, 4, [](const double* x, Xoshiro& random) {
    return 3 * x[0] * x[1] + 0.1 * random.gaussian();
  });
  for (const std::size_t r : {5U, 20U, 41U, 66U}) table.values[3 * r + 2] += r % 2 == 0 ? 60 : -45;
  const Result<Fit> fit = nalm::fit(table, {.target = "y", .robust = true});
  ASSERT_TRUE(fit.ok()) << fit.error().message;
  EXPECT_EQ(fit->outliers, (std::vector<std::size_t>{5, 20, 41, 66}));
  EXPECT_EQ(print(fit->best().formula), "3*a*b");
  EXPECT_EQ(fit->rows, 76U);
  ASSERT_FALSE(fit->notes.empty());
  EXPECT_EQ(fit->notes.back(), "4 of 80 rows are more than 4 deviations off and were left out: rows 6, 21, 42, 67");
}

// Plain noise: one row in 16,000 is so far off; seed 9.
TEST(Robust, LeavesNoiseAlone) {
  const Table table = test::table_of(
      {{"a", 1, 5}}, 60, 9, [](const double* x, Xoshiro& random) { return 2 * x[0] + 0.3 * random.gaussian(); });
  const Result<Fit> fit = nalm::fit(table, {.target = "y", .robust = true});
  ASSERT_TRUE(fit.ok());
  EXPECT_TRUE(fit->outliers.empty());
  EXPECT_EQ(fit->notes.back(), "no row is far off, so that none was left out");
}

// ---- groups --------------------------------------------------------------------------------------------------------

Table grouped(bool added, double noise = 0.05, std::uint64_t seed = 8) {
  std::string text = "kind,x,y\n";
  Xoshiro random(seed);
  for (int r = 0; r < 90; ++r) {
    const double x = random.between(1, 6);
    const int kind = r % 3;
    const double plain = 2 * x * x + 1;
    const double constants[] = {added ? 0.0 : 1.0, added ? 25.0 : 1.5, added ? -10.0 : 0.4};
    const double y = (added ? plain + constants[kind] : plain * constants[kind]) + noise * random.gaussian();
    text += fmt::format("{:c},{:.17g},{:.17g}\n", 'a' + kind, x, y);
  }
  return *read_table(text, "t", Cells::Words);
}

TEST(Groups, HaveFactors) {
  const Result<Fit> fit = nalm::fit(grouped(false), {.target = "y", .by = "kind"});
  ASSERT_TRUE(fit.ok()) << fit.error().message;
  EXPECT_FALSE(fit->groups.added);
  ASSERT_EQ(fit->groups.groups.size(), 3U);
  EXPECT_EQ(fit->groups.groups[1].name, "b");
  EXPECT_EQ(fit->groups.groups[1].rows, 30U);
  EXPECT_EQ(fit->groups.groups[0].value, 1);
  EXPECT_NEAR(fit->groups.groups[1].value, 1.5, 0.01);
  EXPECT_LT(fit->groups.groups[2].low, 0.4);
  EXPECT_GT(fit->groups.groups[2].high, 0.4);
  EXPECT_EQ(variables(fit->best().formula), std::vector<std::string>{"x"});
  EXPECT_LT(fit->best().train.relative, 0.01);
}

TEST(Groups, OrConstantsThatAreAdded) {
  const Result<Fit> fit = nalm::fit(grouped(true), {.target = "y", .by = "kind"});
  ASSERT_TRUE(fit.ok()) << fit.error().message;
  EXPECT_TRUE(fit->groups.added);
  EXPECT_NEAR(fit->groups.groups[1].value, 25, 0.1);
  EXPECT_NEAR(fit->groups.groups[2].value, -10, 0.1);
}

// The constants of the first guess are those of the means, and a formula that was fitted beside them is off by as much.
TEST(Groups, TheFormulaIsFittedBesideTheLastConstants) {
  for (std::uint64_t seed = 1; seed < 5; ++seed) {
    const Result<Fit> fit = nalm::fit(grouped(false, 0, seed), {.target = "y", .by = "kind"});
    ASSERT_TRUE(fit.ok()) << fit.error().message;
    EXPECT_EQ(print(fit->best().formula), "2*x^2 + 1");
    EXPECT_LT(fit->best().train.relative, 1e-12);
    EXPECT_TRUE(fit->is_law()) << fit->reason;
  }
}

TEST(Groups, AreNotCombinedWithWhatTheyCannot) {
  EXPECT_EQ(nalm::fit(grouped(true), {.target = "y", .by = "kind", .robust = true}).error().message,
            "only one of robust, by and relative is possible at a time; leave out the others.");
  EXPECT_TRUE(nalm::fit(grouped(true), {.target = "y", .stack = "NAU:1", .relative = true})
                  .error()
                  .message.starts_with("a stack of your own"));
}

// ---- intervals of predictions --------------------------------------------------------------------------------------

// y = c with n rows: 99 % of new rows lie within t * s * sqrt(1 + 1/n); with y = c*x the second part grows as x does.
TEST(Spread, IsThatOfTheConstantsAndOfTheRows) {
  const Table table = test::table_of(
      {{"x", 1, 3}}, 50, 6, [](const double* x, Xoshiro& random) { return 2.345 * x[0] + 0.2 * random.gaussian(); });
  const Result<Fit> fit = fit_form(table, {.target = "y"}, formula("c*x"));
  ASSERT_TRUE(fit.ok());
  ASSERT_EQ(fit->spread.values.size(), 1U);
  double squares = 0, below = 0;
  for (std::size_t r = 0; r < 50; ++r) {
    squares += std::pow(table.at(r, 1) - fit->spread.values[0] * table.at(r, 0), 2);
    below += table.at(r, 0) * table.at(r, 0);
  }
  const double variance = squares / 49, t = 2.6800;  // Student's t, 49 degrees of freedom, 99.5 %
  const std::vector<double> reach = prediction_reach(fit->spread, {"x"}, std::vector<double>{2.0, 20.0});
  ASSERT_EQ(reach.size(), 2U);
  EXPECT_NEAR(reach[0], t * std::sqrt(variance * (1 + 4 / below)), 1e-3 * reach[0]);
  EXPECT_NEAR(reach[1], t * std::sqrt(variance * (1 + 400 / below)), 1e-3 * reach[1]);
}

TEST(Spread, OfAFileIsTheSame) {
  const Table table = test::table_of(
      {{"x", 1, 3}}, 50, 6, [](const double* x, Xoshiro& random) { return 2.345 * x[0] + 0.2 * random.gaussian(); });
  const Result<Fit> fit = nalm::fit(table, {.target = "y"});
  ASSERT_TRUE(fit.ok());
  const Result<FittedModel> read = read_fitted(to_json(*fit, table, {"t", "c"}), "file");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->verdict, name_of(fit->verdict()));
  const std::vector<double> rows{1.5, 2.5};
  EXPECT_EQ(prediction_reach(read->spread, {"x"}, rows), prediction_reach(fit->spread, {"x"}, rows));
  EXPECT_EQ(prediction_reach(read->spread, {"x"}, rows).size(), 2U);
  ASSERT_EQ(read->box.size(), 1U);
  EXPECT_EQ(read->box[0].column, "x");
  EXPECT_TRUE(prediction_reach(FitSpread{}, {"x"}, rows).empty());
}

}  // namespace
}  // namespace nalm::fitting::real_data_test
