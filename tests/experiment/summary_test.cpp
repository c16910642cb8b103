// Success, solved-at and judged rows of hand-made runs, by every criterion; summaries of cells; checks.
#include "experiment/summary.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "experiment/cells.hpp"
#include "experiment/predictions.hpp"
#include "tasks/single_module/data.hpp"
#include "tasks/single_module/thresholds.hpp"
#include "words.hpp"

namespace nalm::summary_test {
namespace {

using Errors = std::vector<float>;
using Kind = Criterion::Kind;
using test::record_of;
using test::single_module_cell;

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// A cell whose threshold at epsilon = 1/2 is exactly a float.
const Cell& exact_cell() {
  static const Cell cell = single_module_cell("NAU", "add", "[1,2)", "[0,6)");
  return cell;
}
constexpr Criterion half{.kind = Kind::Epsilon, .epsilon = 0.5};
constexpr float threshold = 10.5f;
constexpr float below = 10.4f, above = 10.6f;

// Rows of the single module task at 0, 1000, 2000, ...; the sparsity error of a row is a tenth of its number.
RunRecord run_of(const Errors& validation, const Errors& test) {
  std::vector<std::vector<double>> values;
  for (std::size_t row = 0; row < validation.size(); ++row)
    values.push_back({validation[row], test[row], 0.1 * static_cast<double>(row)});
  return record_of(values);
}

RunResult judged(const Cell& cell, const RunRecord& record, const Criterion& criterion = {}, std::uint32_t seed = 0) {
  const Result<RunResult> result = judge(cell, record, seed, criterion);
  EXPECT_TRUE(result.ok()) << complaint(result);
  return result ? *result : RunResult{};
}
RunResult judged(const RunRecord& record) { return judged(exact_cell(), record, half); }

// ---- rows, limits and steps ----------------------------------------------------------------------------------------

TEST(Judge, TheThresholdOfTheseTestsIsAFloat) {
  EXPECT_EQ(epsilon_threshold(Operation::Add, {0, 6, {}}, 2, 0.5), threshold);
  EXPECT_EQ(judged(run_of({1}, {1})).limit, threshold);
}

TEST(Judge, TheBestRowHasTheSmallestValidationError) {
  const RunResult result = judged(run_of({3, 1, 2}, {above, below, above}));
  EXPECT_EQ(result.judged_row, 1u);
  EXPECT_EQ(result.judged_step, 1000);
  EXPECT_EQ(result.values, (std::vector<double>{1, below, 0.1}));
  EXPECT_TRUE(result.success);
}

TEST(Judge, TheEarliestOfEqualRowsWins) {
  EXPECT_EQ(judged(run_of({3, 1, 1}, {above, below, above})).judged_row, 1u);
  EXPECT_EQ(judged(run_of({1, 1, 1}, {above, below, above})).judged_row, 0u);
}

TEST(Judge, RowsThatAreNotANumberAreSkipped) {
  const RunResult result = judged(run_of({not_a_number, 5, 4, not_a_number}, {below, below, below, below}));
  EXPECT_EQ(result.judged_row, 2u);
  EXPECT_EQ(judged(run_of({not_a_number, infinity}, {below, below})).judged_row, 1u);
}

TEST(Judge, IfNoRowIsANumberTheLastCounts) {
  const RunResult result = judged(run_of({not_a_number, not_a_number}, {not_a_number, not_a_number}));
  EXPECT_EQ(result.judged_row, 1u);
  EXPECT_FALSE(result.success);
  EXPECT_FALSE(result.solved_at.has_value());
}

TEST(Judge, SuccessIsStrictlyBelowTheThreshold) {
  EXPECT_FALSE(judged(run_of({1}, {threshold})).success);
  EXPECT_TRUE(judged(run_of({1}, {std::nextafter(threshold, 0.0f)})).success);
  EXPECT_FALSE(judged(run_of({1}, {not_a_number})).success);
}

TEST(Judge, SolvedAtIsTheFirstRowBelowTheThreshold) {
  EXPECT_EQ(judged(run_of({5, 4, 3, 2}, {above, below, above, below})).solved_at, 1000);
  EXPECT_EQ(judged(run_of({1, 4, 3, 2}, {below, above, above, below})).solved_at, 0);
  EXPECT_EQ(judged(run_of({5, 4, 3, 2}, {above, above, above, below})).solved_at, 3000);
  EXPECT_EQ(judged(run_of({5, 4, 3, 2}, {not_a_number, above, threshold, below})).solved_at, 3000);
}

TEST(Judge, ADipBelowTheThresholdIsNoSuccess) {
  const RunResult result = judged(run_of({5, 4, 3}, {above, below, above}));
  EXPECT_FALSE(result.success);
  EXPECT_FALSE(result.solved_at.has_value());
}

TEST(Judge, TellsWhetherAnyRowAndTheLastOneSolveIt) {
  RunResult result = judged(run_of({3, 1, 2}, {below, above, below}));
  EXPECT_FALSE(result.success);
  EXPECT_EQ(result.ever, true);
  EXPECT_EQ(result.at_end, true);
  result = judged(run_of({3, 1, 2}, {above, below, above}));
  EXPECT_TRUE(result.success);
  EXPECT_EQ(result.ever, true);
  EXPECT_EQ(result.at_end, false);
  EXPECT_EQ(judged(run_of({3, 1, 2}, {above, above, above})).ever, false);
  const std::vector<RunResult> runs = {judged(run_of({1, 2}, {below, above})), judged(run_of({1, 2}, {above, below}))};
  const CellResult summary = summarise(exact_cell(), runs);
  EXPECT_EQ(summary.successes, 1);
  EXPECT_EQ(summary.ever, 2);
  EXPECT_EQ(summary.at_end, 1);
}

TEST(Judge, ThePapersCriterionIsTheDefault) {
  const Cell cell = single_module_cell("NAU", "add", "6");
  EXPECT_TRUE(judged(cell, run_of({1}, {6.66e-9f})).success);
  EXPECT_FALSE(judged(cell, run_of({1}, {6.67e-9f})).success);
  EXPECT_EQ(judged(cell, run_of({1}, {1})).limit, judged(cell, run_of({1}, {1}), {.kind = Kind::Epsilon}).limit);
}

TEST(Judge, LogSpaceHasAThresholdOfItsOwn) {
  const Cell cell = single_module_cell("NMU", "mul", "8");
  const Range& range = paper_ranges()[8].test;
  const double plain = epsilon_threshold(Operation::Multiply, range, 2),
               in_log_space = log_space_threshold(Operation::Multiply, range, 2);
  ASSERT_GT(in_log_space, 2 * plain);
  const RunRecord record = run_of({1}, {static_cast<float>((plain + in_log_space) / 2)});
  EXPECT_FALSE(judged(cell, record).success);
  EXPECT_TRUE(judged(cell, record, {.kind = Kind::LogSpace}).success);
}

TEST(Judge, ALimitOfOnesOwnTakesThePlaceOfTheGoals) {
  const RunRecord record = run_of({1}, {0.5});
  EXPECT_TRUE(judged(exact_cell(), record, {.kind = Kind::Limit, .limit = 0.51}).success);
  EXPECT_FALSE(judged(exact_cell(), record, {.kind = Kind::Limit, .limit = 0.5}).success);
}

TEST(Judge, WhatCannotBeJudgedSaysWhy) {
  const auto refusal = [](const RunRecord& record, const Criterion& criterion = half) {
    return complaint(judge(exact_cell(), record, 7, criterion));
  };
  EXPECT_TRUE(contains(refusal(run_of({}, {})), "NAU | add | U[1,2) with seed 7 has no logged rows"));
  RunRecord torn = run_of({1, 2}, {1, 2});
  torn.values[1].pop_back();
  EXPECT_TRUE(contains(refusal(torn), "not whole"));
  torn = run_of({1, 2}, {1, 2});
  torn.values.pop_back();
  EXPECT_TRUE(contains(refusal(torn), "not whole"));
  for (const double epsilon : {0.0, 1.0, -1.0, nan})
    for (const Kind kind : {Kind::Epsilon, Kind::LogSpace, Kind::Correlation, Kind::Mape})
      EXPECT_TRUE(contains(refusal(run_of({1}, {1}), {.kind = kind, .epsilon = epsilon}), "epsilon")) << epsilon;
  EXPECT_TRUE(contains(refusal(run_of({1}, {1}), {.kind = Kind::Mape, .limit = 1}), "were not stored"));
}

// ---- goals of other tasks ------------------------------------------------------------------------------------------

// Two measures; success is test below 0.01 at the row with the smallest validation.
Cell small_cell() {
  Cell cell;
  cell.model = "M", cell.operation = "o", cell.setting = "s";
  cell.measures = {{"validation", Measure::Kind::Mse, 0, 0}, {"test", Measure::Kind::Mse, 1, 0}};
  cell.goal = {"test", "validation", 0.01, false, {}};
  return cell;
}

TEST(Goal, TakesTheRowWithTheSmallestValidation) {
  const RunRecord record = record_of({{4, 8}, {0.5, 0.001}, {0.1, 0.002}, {0.1, 7}, {0.2, 5}});
  const RunResult result = judged(small_cell(), record, {}, 7);
  EXPECT_EQ(result.seed, 7u);
  EXPECT_EQ(result.judged_row, 2u);  // the earlier of two equal ones
  EXPECT_TRUE(result.success);
  EXPECT_EQ(result.ever, true);
  EXPECT_EQ(result.at_end, false);
  EXPECT_EQ(result.solved_at, 1000);
  EXPECT_EQ(result.values, (std::vector<double>{0.1, 0.002}));
  EXPECT_EQ(result.trask, 100 * 0.002 / 8);
  EXPECT_EQ(result.before_regularisers, std::nullopt);
}

TEST(Goal, SolvedAtIsOnlyOfRunsThatSucceed) {
  const RunResult result = judged(small_cell(), record_of({{4, 8}, {1, 0.001}, {0.1, 0.02}}));
  EXPECT_FALSE(result.success);
  EXPECT_EQ(result.ever, true);
  EXPECT_EQ(result.solved_at, std::nullopt);
}

TEST(Goal, WithoutValidationTheLastRowCounts) {
  Cell cell = small_cell();
  cell.goal.best_by = "";
  EXPECT_EQ(judged(cell, record_of({{0, 1}, {9, 0.001}})).judged_row, 1u);
  EXPECT_TRUE(judged(cell, record_of({{0, 1}, {9, 0.001}})).success);
  EXPECT_FALSE(judged(cell, record_of({{0, 0.001}, {9, nan}})).success);
  EXPECT_FALSE(judged(cell, record_of({{0, 0.01}})).success) << "the limit itself is not below it";
}

TEST(Goal, ARunOfNothingButNaNFails) {
  const RunResult result = judged(small_cell(), record_of({{nan, nan}, {nan, nan}}));
  EXPECT_FALSE(result.success);
  EXPECT_EQ(result.ever, false);
  EXPECT_EQ(result.at_end, false);
  EXPECT_EQ(result.judged_row, 1u);
}

TEST(Goal, MayBeAboveALimit) {
  Cell cell = small_cell();
  cell.goal = {"test", "", 0.99, true, {}};
  EXPECT_TRUE(judged(cell, record_of({{1, 0.2}, {1, 1}})).success);
  EXPECT_FALSE(judged(cell, record_of({{1, 1}, {1, 0.2}})).success);
  EXPECT_EQ(judged(cell, record_of({{1, 1}})).trask, std::nullopt);
  EXPECT_TRUE(judged(cell, record_of({{1, 0.6}}), {.kind = Kind::Limit, .limit = 0.5}).success);
}

TEST(Goal, TheLooseLimitIsAskedBeforeRegularisersStart) {
  Cell cell = small_cell();
  cell.goal.loose_limit = 1.0;
  const RunRecord record = record_of({{9, 9}, {9, 2}, {9, 0.5}, {9, 3}});
  EXPECT_EQ(judged(cell, record).before_regularisers, std::nullopt) << "there are none";
  cell.recipe.layers = {{{Regulariser::sparsity(1, 2500, 3000)}, {}}, {{Regulariser::sparsity(0, 10, 20)}, {}}};
  EXPECT_EQ(judged(cell, record).before_regularisers, true);
  cell.recipe.layers[1].regularisers = {Regulariser::sparsity(1, 1999, 3000)};
  EXPECT_EQ(judged(cell, record).before_regularisers, false);
}

TEST(Goal, MayBeMissing) {
  Cell cell = small_cell();
  cell.goal = {};
  const RunResult result = judged(cell, record_of({{4, 8}, {1, 0}}));
  EXPECT_FALSE(result.success);
  EXPECT_EQ(result.values, (std::vector<double>{1, 0}));
  EXPECT_EQ(result.limit, std::nullopt);
}

TEST(Goal, NothingFollowsFromAnEpsilonWhereNoModelIsKnown) {
  const std::string message = complaint(judge(small_cell(), record_of({{1, 1}}), 0, half));
  EXPECT_TRUE(contains(message, "no model that is almost right is known for M | o | s")) << message;
  EXPECT_TRUE(contains(message, "--metric threshold --limit")) << message;
}

// ---- criteria on predictions ---------------------------------------------------------------------------------------

// These parameters at the rows of a run whose validation error falls.
RunRecord run_with(const std::vector<std::vector<double>>& parameters) {
  Errors falling;
  for (std::size_t row = 0; row < parameters.size(); ++row)
    falling.push_back(static_cast<float>(parameters.size() - row));
  RunRecord record = run_of(falling, falling);
  record.parameters = parameters;
  return record;
}

Cell nau_cell(std::string operation = "add", std::string setting = "6", int inputs = 2) {
  return single_module_cell("NAU", std::move(operation), std::move(setting), "", inputs);
}

TEST(Correlation, ScaledPredictionsCorrelate) {
  const Criterion criterion{.kind = Kind::Correlation, .limit = 0.999};
  EXPECT_TRUE(judged(nau_cell(), run_with({{0.5, 0.5}}), criterion).success);
  EXPECT_FALSE(judged(nau_cell(), run_with({{0.5, 0.5}})).success);
  EXPECT_FALSE(judged(nau_cell(), run_with({{-0.5, -0.5}}), criterion).success);
}

// cov(x1, x1 + x2) / (sd sd) = 1/sqrt(2); 10000 rows give two digits.
TEST(Correlation, IsPearsons) {
  EXPECT_TRUE(judged(nau_cell(), run_with({{1, 0}}), {.kind = Kind::Correlation, .limit = 0.68}).success);
  EXPECT_FALSE(judged(nau_cell(), run_with({{1, 0}}), {.kind = Kind::Correlation, .limit = 0.73}).success);
  EXPECT_NEAR(correlation(std::vector<double>{1, 2, 3, 4}, std::vector<double>{1, 3, 2, 4}), 0.8, 1e-15);
  EXPECT_TRUE(std::isnan(correlation(std::vector<double>{0.1, 0.1, 0.1}, std::vector<double>{1, 2, 3})));
}

TEST(Correlation, ConstantPredictionsFail) {
  const Criterion any{.kind = Kind::Correlation, .limit = -1};
  EXPECT_FALSE(judged(nau_cell(), run_with({{0, 0}}), any).success);
  // NMU with weights 0 gives 1.
  EXPECT_FALSE(judged(single_module_cell("NMU", "mul", "6"), run_with({{0, 0}}), any).success);
}

TEST(Correlation, LostPredictionsFail) {
  const RunRecord lost = run_with({{nan, 1}});
  EXPECT_FALSE(judged(nau_cell(), lost, {.kind = Kind::Correlation, .limit = -1}).success);
  EXPECT_FALSE(judged(nau_cell(), lost, {.kind = Kind::Mape, .limit = 1e30}).success);
}

TEST(Mape, IsTheMeanRelativeError) {
  const RunRecord record = run_with({{0.99f, 0.99f}});
  EXPECT_TRUE(judged(nau_cell(), record, {.kind = Kind::Mape, .limit = 0.0101}).success);
  EXPECT_FALSE(judged(nau_cell(), record, {.kind = Kind::Mape, .limit = 0.0099}).success);
  EXPECT_TRUE(judged(nau_cell(), run_with({{1, 1}}), {.kind = Kind::Mape, .limit = 1e-6}).success);
  EXPECT_DOUBLE_EQ(mean_relative_error(std::vector<double>{3, 7, -1}, std::vector<double>{2, 0, -4}), 0.625);
  EXPECT_TRUE(std::isnan(mean_relative_error(std::vector<double>{1}, std::vector<double>{0})));
}

TEST(Mape, SolvedAtIsTheFirstRowThatPasses) {
  const Criterion criterion{.kind = Kind::Mape, .limit = 0.01};
  EXPECT_EQ(judged(nau_cell(), run_with({{0, 0}, {1, 1}, {0, 0}, {1, 1}}), criterion).solved_at, 1000);
  EXPECT_EQ(judged(nau_cell(), run_with({{0, 0}, {0, 0}, {0, 0}, {1, 1}}), criterion).solved_at, 3000);
  const RunResult failed = judged(nau_cell(), run_with({{0, 0}, {1, 1}, {0, 0}}), criterion);
  EXPECT_FALSE(failed.success);
  EXPECT_FALSE(failed.solved_at.has_value());
}

// Then nobody knows how it was at other rows.
TEST(Mape, TheJudgedRowIsEnough) {
  RunRecord record = run_with({{0, 0}, {1, 1}, {1, 1}});
  record.parameters[0].clear();
  record.parameters[1].clear();
  const RunResult result = judged(nau_cell(), record, {.kind = Kind::Mape, .limit = 0.01});
  EXPECT_TRUE(result.success);
  EXPECT_EQ(result.solved_at, 2000);
  EXPECT_EQ(result.ever, std::nullopt);
  EXPECT_EQ(result.at_end, std::nullopt);
}

// The operands of seeds 0 and 2 stand at 5 and 8; every test set is kept apart from the others.
TEST(Mape, UsesTheTestSetOfTheRun) {
  const Criterion criterion{.kind = Kind::Mape, .limit = 1e-5};
  const std::vector<double> at_5{0, 0, 0, 0, 0, 1, 1, 0, 0, 0}, at_8{0, 0, 0, 0, 0, 0, 0, 0, 1, 1};
  const Cell wide = nau_cell("add", "6", 10);
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE(judged(wide, run_with({at_5}), criterion, 0).success);
    EXPECT_TRUE(judged(wide, run_with({at_8}), criterion, 2).success);
    EXPECT_FALSE(judged(wide, run_with({at_8}), criterion, 0).success);
    const RunRecord minus = run_with({{1, -1}});
    EXPECT_FALSE(judged(nau_cell(), minus, criterion).success);
    EXPECT_TRUE(judged(nau_cell("sub"), minus, {.kind = Kind::Mape, .limit = 1e-4}).success);
    // The mean of |2 x2 / (x1 + x2)| is 1 on positive ranges; in the two-part range sums come close to 0.
    EXPECT_TRUE(judged(nau_cell(), minus, {.kind = Kind::Mape, .limit = 1.05}).success);
    EXPECT_FALSE(judged(nau_cell("add", "4"), minus, {.kind = Kind::Mape, .limit = 1.05}).success);
  }
}

TEST(ModelAt, IsTheModelOfThatRow) {
  const RunRecord record = run_with({{0.25, 0.5}, {0.75, 1}});
  EXPECT_EQ(model_at(nau_cell(), record, 0)->layers[0].parameters, (std::vector<double>{0.25, 0.5}));
  EXPECT_EQ(model_at(nau_cell(), record, 1)->layers[0].parameters, (std::vector<double>{0.75, 1}));
  EXPECT_TRUE(contains(complaint(model_at(nau_cell(), record, 2)), "were not stored"));
}

TEST(ModelAt, SaysWhyThereIsNone) {
  const Cell cell = nau_cell();
  EXPECT_TRUE(contains(complaint(model_at(cell, run_with({{}}), 0)), "were not stored"));
  for (const std::size_t wrong : {1u, 3u}) {
    const RunRecord record = run_with({std::vector<double>(wrong, 1.0)});
    EXPECT_TRUE(contains(complaint(model_at(cell, record, 0)),
                         std::to_string(wrong) + " parameters are stored for NAU | add | U[1,2), which is not what"));
  }
  Cell wired = cell;
  wired.wiring = Wiring::of(cell.stack);
  EXPECT_TRUE(contains(complaint(model_at(wired, run_with({{1, 1}}), 0)), "are wired, not stacked"));
  EXPECT_TRUE(contains(complaint(model_at(small_cell(), run_with({{1, 1}}), 0)), "is not one network"));
}

// ---- limits that follow from epsilon -------------------------------------------------------------------------------

double derived_limit(const Cell& cell, Kind kind, double epsilon) {
  return *cell.problem->limit({.kind = kind, .epsilon = epsilon}, 0);
}
Cell cell_for(Operation operation, std::string setting = "6") {
  const std::string models[] = {"NAU", "NAU", "NMU", "NRU"};
  return single_module_cell(models[static_cast<std::size_t>(operation)], std::string(name_of(operation)),
                            std::move(setting));
}

// Every weight 1 - epsilon: sums are too small by epsilon, products by both factors, a quotient's divisor is too large.
TEST(DerivedLimit, MapeIsThatOfWeightsThatAreAllOff) {
  for (const double e : {0.2, 1e-3}) {
    const std::pair<Operation, double> wanted[] = {{Operation::Add, e},
                                                   {Operation::Subtract, e},
                                                   {Operation::Multiply, 1 - (1 - e) * (1 - e)},
                                                   {Operation::Divide, 1 - (1 - e) / (1 + e)}};
    for (const auto& [operation, error] : wanted)
      EXPECT_NEAR(derived_limit(cell_for(operation), Kind::Mape, e) / error, 1, 2e-3) << name_of(operation) << " " << e;
  }
}

// The mean of x^power on [2,6).
double power_mean(double power) {
  if (power == -1) return std::log(3.0) / 4;
  return (std::pow(6, power + 1) - std::pow(2, power + 1)) / (4 * (power + 1));
}
// Of x1^a x2^b and x1^c x2^d.
double correlation_of_powers(double a, double b, double c, double d) {
  const auto covariance = [](double p, double q, double r, double s) {
    return power_mean(p + r) * power_mean(q + s) - power_mean(p) * power_mean(q) * power_mean(r) * power_mean(s);
  };
  return covariance(a, b, c, d) / std::sqrt(covariance(a, b, a, b) * covariance(c, d, c, d));
}

// One weight, or power, 1 - epsilon and the other one 1 + epsilon: what all share does not show in a correlation.
TEST(DerivedLimit, CorrelationIsThatOfWeightsThatAreOffInOppositeDirections) {
  for (const double e : {0.2, 0.01}) {
    const double sums = 1 / std::sqrt(1 + e * e);
    const std::pair<Operation, double> wanted[] = {
        {Operation::Add, sums},
        {Operation::Subtract, sums},
        {Operation::Multiply, correlation_of_powers(1, 1, 1 - e, 1 + e)},
        {Operation::Divide, correlation_of_powers(1, -1, 1 - e, -1 - e)},
    };
    for (const auto& [operation, value] : wanted) {
      const double limit = derived_limit(cell_for(operation), Kind::Correlation, e);
      EXPECT_LT(limit, 1) << name_of(operation);
      EXPECT_NEAR((1 - limit) / (1 - value), 1, 0.06) << name_of(operation) << " " << e;
    }
  }
}

TEST(DerivedLimit, SeparatesWhatIsAlmostRightFromWhatIsNot) {
  constexpr double e = 0.1;
  struct Case {
    Operation operation;
    std::vector<double> right, wrong;
  };
  const Case cases[] = {{Operation::Add, {1, 1}, {1, 0}},
                        {Operation::Subtract, {1, -1}, {1, 1}},
                        {Operation::Multiply, {1, 1}, {1, 0}},
                        {Operation::Divide, {1, -1}, {1, 0}}};
  for (const auto& [operation, right, wrong] : cases) {
    for (const Kind kind : {Kind::Correlation, Kind::Mape}) {
      const Criterion criterion{.kind = kind, .epsilon = e};
      const Cell cell = cell_for(operation);
      EXPECT_TRUE(judged(cell, run_with({right}), criterion).success) << cell.name();
      EXPECT_FALSE(judged(cell, run_with({wrong}), criterion).success) << cell.name();
      EXPECT_EQ(judged(cell, run_with({right}), criterion).limit, derived_limit(cell, kind, e)) << cell.name();
    }
  }
  const Criterion by_mape{.kind = Kind::Mape, .epsilon = e}, correlated{.kind = Kind::Correlation, .epsilon = e};
  for (const double sign : {1.0, -1.0}) {
    const Cell cell = nau_cell(sign > 0 ? "add" : "sub");
    EXPECT_TRUE(judged(cell, run_with({{1 - 0.9 * e, sign * (1 - 0.9 * e)}}), by_mape).success) << cell.name();
    EXPECT_FALSE(judged(cell, run_with({{1 - 1.1 * e, sign * (1 - 1.1 * e)}}), by_mape).success) << cell.name();
    // Half of them, because NAU's weights stay below 1 and correlations do not see a factor.
    EXPECT_TRUE(judged(cell, run_with({{0.5 * (1 - 0.9 * e), sign * 0.5 * (1 + 0.9 * e)}}), correlated).success);
    EXPECT_FALSE(judged(cell, run_with({{0.5 * (1 - 1.1 * e), sign * 0.5 * (1 + 1.1 * e)}}), correlated).success);
  }
}

TEST(DerivedLimit, IsOfTheTestRowsOfTheRange) {
  for (const Operation operation : all_operations)
    for (const char* setting : {"0", "4", "8"})
      for (const Kind kind : {Kind::Correlation, Kind::Mape}) {
        const double limit = derived_limit(cell_for(operation, setting), kind, 0.01);
        EXPECT_TRUE(limit > 0 && limit < 1) << name_of(operation) << " " << setting << " " << limit;
      }
}

// ---- summaries -----------------------------------------------------------------------------------------------------

TEST(SpreadOf, MedianAndItsAbsoluteDeviation) {
  const double values[] = {1, 2, 4, 8, 100};
  const Spread spread = spread_of(values);
  EXPECT_EQ(spread.median, 4);
  EXPECT_EQ(spread.mad, 3);  // of 3, 2, 0, 4, 96
  EXPECT_EQ(spread.mean, 23);
  EXPECT_EQ(spread.smallest, 1);
  EXPECT_EQ(spread.largest, 100);
  const double even[] = {1, 3};
  EXPECT_EQ(spread_of(even).median, 2);
  EXPECT_EQ(spread_of(even).mad, 1);
  EXPECT_TRUE(std::isnan(spread_of({}).median));
}

TEST(SpreadOf, WhatIsNotANumberIsTheWorst) {
  const double values[] = {nan, 1, 2};
  EXPECT_EQ(spread_of(values).median, 2);
  EXPECT_EQ(spread_of(values).mad, 1);
  EXPECT_EQ(spread_of(values).largest, infinity);
  const double mostly[] = {nan, 1, nan};
  EXPECT_EQ(spread_of(mostly).median, infinity);
  EXPECT_EQ(spread_of(mostly).mad, 0);
}

RunResult success(long solved_at, double sparsity) {
  RunResult result;
  result.success = true;
  result.solved_at = solved_at;
  result.values = {1, 1, sparsity};
  return result;
}

RunResult failure() {
  RunResult result;
  result.values = {1, 1, 0.4};
  result.judged_step = 77000;
  return result;
}

TEST(Summarise, CountsSuccessfulRunsOnly) {
  const CellResult summary = summarise(
      exact_cell(), {success(1000, 0), failure(), success(3000, 1e-6), success(8000, 5e-6), failure()}, false);
  EXPECT_EQ(summary.run_count(), 5);
  EXPECT_EQ(summary.successes, 3);
  EXPECT_EQ(summary.success.value, 0.6);
  EXPECT_EQ(summary.solved_at.value, 4000);
  EXPECT_EQ(summary.median_solved_at, 3000);
  EXPECT_DOUBLE_EQ(summary.sparsity.value, 2e-6);
  EXPECT_EQ(summary.median_sparsity, 1e-6);
  EXPECT_EQ(summary.solved_at.hi, solved_at_estimate(std::vector<double>{1000, 3000, 8000}, 50000).hi);
  EXPECT_EQ(summary.sparsity.hi, sparsity_estimate(std::vector<double>{0, 1e-6, 5e-6}).hi);
}

TEST(Summarise, PaperIntervalsAreThePapers) {
  const CellResult summary =
      summarise(exact_cell(), {success(1000, 0), success(3000, 1e-6), success(8000, 5e-6)}, true);
  EXPECT_EQ(summary.solved_at.hi, paper_solved_at(std::vector<double>{1000, 3000, 8000}).hi);
  EXPECT_EQ(summary.sparsity.hi, paper_sparsity(std::vector<double>{0, 1e-6, 5e-6}).hi);
  EXPECT_EQ(summary.success.hi, wilson(3, 3).hi);
}

TEST(Summarise, WithoutSuccessesThereIsOnlyARate) {
  const CellResult summary = summarise(exact_cell(), {failure(), failure()});
  EXPECT_EQ(summary.success.value, 0);
  EXPECT_TRUE(std::isnan(summary.solved_at.value) && std::isnan(summary.sparsity.value));
  EXPECT_TRUE(std::isnan(summary.median_solved_at) && std::isnan(summary.median_sparsity));
  EXPECT_TRUE(std::isnan(summarise(exact_cell(), {}, true).success.value));
}

// Nothing is solved after the last iteration: two runs far apart gave [1241, 5256330363673].
TEST(Summarise, NothingIsSolvedAfterTheLastIteration) {
  const std::vector<std::vector<long>> solved = {{5000, 50000}, {1000, 50000}, {0, 50000}, {49000, 50000, 50000}};
  for (const std::vector<long>& steps : solved) {
    std::vector<RunResult> runs;
    for (const long step : steps) runs.push_back(success(step, 0));
    const Estimate estimate = summarise(exact_cell(), runs).solved_at;
    EXPECT_LE(estimate.hi, 50000);
    EXPECT_LE(estimate.value, estimate.hi);
    EXPECT_LE(estimate.lo, estimate.value);
  }
  EXPECT_EQ(summarise(exact_cell(), {success(5000, 0), success(50000, 0)}).solved_at.hi, 50000);
  // Of the cell as it was trained.
  Cell shorter = exact_cell();
  shorter.recipe.training.iterations = 6000;
  EXPECT_EQ(summarise(shorter, {success(1000, 0), success(6000, 0)}).solved_at.hi, 6000);
}

// A run that is more than a network has no recipe, and ends when it ends.
TEST(Summarise, OwnRunsHaveNoLastIteration) {
  Cell cell = small_cell();
  cell.own = [](const OwnRunSettings&) -> Result<RunRecord> { return RunRecord{}; };
  std::vector<RunResult> runs = {success(900000, 0), success(1000000, 0)};
  for (RunResult& run : runs) run.values.resize(2);
  const Estimate estimate = summarise(cell, runs).solved_at;
  EXPECT_EQ(estimate.value, 950000);
  EXPECT_GE(estimate.hi, estimate.value);
}

TEST(Summarise, TheLimitIsThatOfAllRunsOrOfNone) {
  std::vector<RunResult> runs = {success(0, 0), success(0, 0)};
  EXPECT_TRUE(std::isnan(summarise(exact_cell(), runs).limit));
  runs[0].limit = runs[1].limit = 0.25;
  EXPECT_EQ(summarise(exact_cell(), runs).limit, 0.25);
  runs[1].limit = 0.5;
  EXPECT_TRUE(std::isnan(summarise(exact_cell(), runs).limit));
}

// ---- results of a whole task ---------------------------------------------------------------------------------------

// Two cells; the second with one run that never gets there.
struct SmallResults : testing::Test {
  SmallResults() {
    results.info.plan.task = &task;
    results.info.plan.preset = "quick";
    results.cells = {small_cell(), small_cell()};
    results.cells[1].model = "N";
    const auto add = [&](std::size_t cell, const std::vector<RunRecord>& records) {
      std::vector<RunResult> runs;
      for (const RunRecord& record : records) runs.push_back(judged(results.cells[cell], record));
      results.results.push_back(summarise(results.cells[cell], runs));
    };
    add(0, {record_of({{9, 8}, {1, 0.001}}), record_of({{9, 8}, {1, 0.5}}), record_of({{9, 8}, {2, 9}, {1, 0.002}})});
    add(1, {record_of({{9, 8}, {1, 4}})});
  }
  Task task;
  Results results;
};

TEST_F(SmallResults, CountsAndMedians) {
  const std::vector<CellResult>& cells = results.results;
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[0].successes, 2);
  EXPECT_EQ(cells[0].success.value, 2.0 / 3);
  EXPECT_EQ(cells[0].success.lo, wilson(2, 3).lo);
  EXPECT_EQ(cells[0].median_solved_at, 1500);
  EXPECT_EQ(cells[0].measures[1].median, 0.002);
  EXPECT_EQ(cells[0].spread("test")->median, 0.002);
  EXPECT_EQ(cells[0].spread("no such measure"), nullptr);
  EXPECT_EQ(cells[0].trask.median, 0.025);
  EXPECT_TRUE(std::isnan(cells[1].median_solved_at));
  EXPECT_EQ(cells[1].measures[1].median, 4);
  EXPECT_EQ(cells[1].trask.median, 50);
}

TEST_F(SmallResults, AreFoundByTheirNames) {
  EXPECT_EQ(results.find("N", "o", "s"), &results.results[1]);
  EXPECT_EQ(results.find("N", "o", "t"), nullptr);
  EXPECT_EQ(results.models(), (std::vector<std::string>{"M", "N"}));
  EXPECT_TRUE(results.models("p").empty());
  EXPECT_EQ(results.operations(), std::vector<std::string>{"o"});
  EXPECT_EQ(results.settings(), std::vector<std::string>{"s"});
  EXPECT_EQ(results.measure_names(), (std::vector<std::string>{"validation", "test"}));
}

TEST_F(SmallResults, SayWhatSuccessIs) {
  EXPECT_EQ(describe_goal(results), "test below 0.01 at the row with the smallest validation");
  results.judgement.criterion = {.kind = Kind::Limit, .limit = 0.5};
  EXPECT_EQ(describe_goal(results), "test below 0.5 at the row with the smallest validation");
  results.judgement.criterion = {};
  results.cells[1].goal.limit = 0.02;
  EXPECT_EQ(describe_goal(results), "test below the limit of its cell at the row with the smallest validation");
  for (Cell& cell : results.cells) cell.goal = {};
  EXPECT_EQ(describe_goal(results), "nothing is judged");
}

TEST_F(SmallResults, ChecksAreAboutRatesAndMedians) {
  task.checks = {
      {"M", "o", "s", "success", true, 0.6},
      {"M", "o", "s", "success", true, 0.7},
      {"M", "o", "s", "test", false, 0.002},
      {"M", "o", "s", "test", false, 0.001},
      {"N", "o", "s", "success", false, 0.1},
      {"N", "o", "s", "no such measure", false, 1},
      // Of several cells together.
      {"", "", "", "success", true, 0.5},
      {"!M", "", "*", "success", true, 0.1},
      {"M", "o", "s", "success", true, 0.6, ""},
  };
  const std::vector<CheckResult> checked = run_checks(results);
  ASSERT_EQ(checked.size(), task.checks.size());
  const bool wanted[] = {true, false, true, false, true, false, true, false, true};
  for (std::size_t k = 0; k < checked.size(); ++k) {
    EXPECT_EQ(checked[k].check, &task.checks[k]);
    EXPECT_EQ(checked[k].passed, wanted[k]) << k;
  }
  EXPECT_EQ(checked[2].value, 0.002);
  EXPECT_TRUE(std::isnan(checked[5].value)) << "a measure that is not there";
  EXPECT_EQ(checked[6].value, 0.5);
  EXPECT_EQ(checked[7].value, 0);
}

TEST_F(SmallResults, ChecksWithoutRunsOrOfOtherPresetsAreNotMade) {
  task.checks = {{"X", "o", "s", "success", true, 0}, {"M", "o", "s", "success", true, 0, "full"}};
  EXPECT_TRUE(run_checks(results).empty());
}

TEST(JudgeStore, JudgesEveryRun) {
  const test::TemporaryFolder temporary;
  Plan plan = test::plan_of("single-module", "primer", "NAU", "add", "6,7");
  plan.seeds = {4, 2};
  Result<Store> store = Store::create((temporary.path() / "results").string(), {plan, "", "1", "", "", 1, 0});
  ASSERT_TRUE(store.ok()) << complaint(store);
  FinishedRuns finished;
  finished.runs = {{{0, 2}, run_of({2, 1}, {1, 0}), 0.5},
                   {{1, 4}, run_of({2, 1}, {0, 1}), 0.25},
                   {{0, 4}, run_of({1, 2}, {0, 1}), 1}};
  ASSERT_TRUE(store->add(finished, 0).ok());
  std::vector<std::pair<std::size_t, std::uint32_t>> seen;
  const Result<Results> results = judge_store(*store, {.criterion = {}, .diagnose = true},
                                              [&](std::size_t cell, const RunRecord& record, const RunResult& run) {
                                                EXPECT_EQ(record.rows(), 2u);
                                                seen.emplace_back(cell, run.seed);
                                              });
  ASSERT_TRUE(results.ok()) << complaint(results);
  EXPECT_EQ(seen, (std::vector<std::pair<std::size_t, std::uint32_t>>{{0, 4}, {0, 2}, {1, 4}}));
  EXPECT_EQ(results->missing, 1u);
  EXPECT_EQ(results->published.empty(), false);
  ASSERT_EQ(results->results.size(), 2u);
  EXPECT_EQ(results->results[0].cell, &results->cells[0]);
  EXPECT_EQ(results->results[0].successes, 2);
  EXPECT_EQ(results->results[0].runs[1].solved_at, 1000);
  EXPECT_EQ(results->results[0].runs[1].seconds, 0.5);
  EXPECT_FALSE(results->results[0].runs[1].failure.has_value());
  EXPECT_EQ(results->results[1].successes, 0);
  EXPECT_TRUE(results->results[1].runs[0].failure.has_value());
  EXPECT_EQ(results->published_for(results->cells[0], "success").size(), 1u);
}

}  // namespace
}  // namespace nalm::summary_test
