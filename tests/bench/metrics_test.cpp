// Success, solved-at and best rows of hand-made runs, by every criterion; summaries of cells.
#include "bench/metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "bench/thresholds.hpp"

namespace nalm {
namespace {

using Errors = std::vector<float>;
using Kind = Criterion::Kind;

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

// A test range whose threshold at epsilon = 1/2 is exactly a float.
const TaskRange exact_range{{1, 2, {}}, {0, 6, {}}};
constexpr Criterion half{.kind = Kind::Mse, .epsilon = 0.5};
constexpr float threshold = 10.5f;
constexpr float below = 10.4f, above = 10.6f;

// Rows at 0, 1000, 2000, ...; the sparsity error of a row is a tenth of its number.
Run run_of(const Errors& validation, const Errors& test, const TaskRange& range = exact_range) {
  Run run;
  run.id = {*find_module("NAU"), Operation::Add, range, 2, 0};
  for (std::size_t row = 0; row < validation.size(); ++row) {
    run.series.steps.push_back(static_cast<long>(1000 * row));
    run.series.sparsity_error.push_back(0.1 * static_cast<double>(row));
  }
  run.series.validation_mse = validation;
  run.series.test_mse = test;
  return run;
}

RunResult judged(const Run& run, const Criterion& criterion = half) {
  const Result<RunResult> result = judge(run, criterion);
  EXPECT_TRUE(result.ok()) << (result ? "" : result.error().message);
  return result ? *result : RunResult{};
}

std::string complaint(const Run& run, const Criterion& criterion = half) {
  const Result<RunResult> result = judge(run, criterion);
  return result ? "" : result.error().message;
}

TEST(Judge, TheThresholdOfTheseTestsIsAFloat) {
  EXPECT_EQ(epsilon_threshold(Operation::Add, exact_range.test, 2, 0.5), threshold);
}

TEST(Judge, TheBestRowHasTheSmallestValidationError) {
  const RunResult result = judged(run_of({3, 1, 2}, {above, below, above}));
  EXPECT_EQ(result.best_row, 1u);
  EXPECT_EQ(result.best_step, 1000);
  EXPECT_EQ(result.validation_mse, 1);
  EXPECT_EQ(result.test_mse, below);
  EXPECT_EQ(result.sparsity_error, 0.1);
  EXPECT_TRUE(result.success);
}

TEST(Judge, TheEarliestOfEqualRowsWins) {
  EXPECT_EQ(judged(run_of({3, 1, 1}, {above, below, above})).best_row, 1u);
  EXPECT_EQ(judged(run_of({1, 1, 1}, {above, below, above})).best_row, 0u);
}

TEST(Judge, RowsThatAreNotANumberAreSkipped) {
  const RunResult result = judged(run_of({not_a_number, 5, 4, not_a_number}, {below, below, below, below}));
  EXPECT_EQ(result.best_row, 2u);
  EXPECT_EQ(judged(run_of({not_a_number, infinity}, {below, below})).best_row, 1u);
}

TEST(Judge, IfNoRowIsANumberTheLastCounts) {
  const RunResult result = judged(run_of({not_a_number, not_a_number}, {not_a_number, not_a_number}));
  EXPECT_EQ(result.best_row, 1u);
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
  const CellSummary summary = summarise(runs, false);
  EXPECT_EQ(summary.successes, 1);
  EXPECT_EQ(summary.ever, 2);
  EXPECT_EQ(summary.at_end, 1);
}

TEST(Judge, ThePapersCriterionIsTheDefault) {
  const TaskRange& range = paper_ranges()[6];
  EXPECT_TRUE(judged(run_of({1}, {6.66e-9f}, range), {}).success);
  EXPECT_FALSE(judged(run_of({1}, {6.67e-9f}, range), {}).success);
}

TEST(Judge, LogSpaceHasAThresholdOfItsOwn) {
  nalm::Run run = run_of({1}, {1}, paper_ranges()[8]);
  run.id = {*find_module("NMU"), Operation::Multiply, paper_ranges()[8], 2, 0};
  const double plain = epsilon_threshold(Operation::Multiply, paper_ranges()[8].test, 2),
               in_log_space = log_space_threshold(Operation::Multiply, paper_ranges()[8].test, 2);
  ASSERT_GT(in_log_space, 2 * plain);
  run.series.test_mse = {static_cast<float>((plain + in_log_space) / 2)};
  EXPECT_FALSE(judged(run, {}).success);
  EXPECT_TRUE(judged(run, {.kind = Kind::LogSpaceMse}).success);
}

TEST(Judge, WhatCannotBeJudgedSaysWhy) {
  EXPECT_NE(complaint(run_of({}, {})).find("no logged rows"), std::string::npos);
  EXPECT_NE(complaint(run_of({1, 2}, {1})).find("not whole"), std::string::npos);
  EXPECT_NE(complaint(run_of({1}, {1}), {.epsilon = 0}).find("epsilon"), std::string::npos);
  EXPECT_NE(complaint(run_of({1}, {1}), {.kind = Kind::Pearson, .limit = 2}).find("correlation"), std::string::npos);
  EXPECT_NE(complaint(run_of({1}, {1}), {.kind = Kind::Mape, .limit = -1}).find("relative"), std::string::npos);
  EXPECT_NE(complaint(run_of({1}, {1}), {.kind = Kind::Mape, .limit = 1}).find("stored"), std::string::npos);
  nalm::Run division = run_of({1}, {1});
  division.id.operation = Operation::Divide;
  EXPECT_NE(complaint(division).find("touches 0"), std::string::npos);
}

// ---- criteria on predictions ---------------------------------------------------------------------------------------

// NAU, adding, with these weights at its rows; the validation error falls.
Run nau_run(const std::vector<std::vector<float>>& rows, int inputs = 2, std::uint32_t seed = 0) {
  Errors falling;
  for (std::size_t row = 0; row < rows.size(); ++row) falling.push_back(static_cast<float>(rows.size() - row));
  nalm::Run run = run_of(falling, falling, paper_ranges()[6]);
  run.id.inputs = inputs;
  run.id.seed = seed;
  for (const std::vector<float>& row : rows) {
    run.series.parameters.insert(run.series.parameters.end(), row.begin(), row.end());
  }
  return run;
}

TEST(Pearson, ScaledPredictionsCorrelate) {
  const Criterion criterion{.kind = Kind::Pearson, .limit = 0.999};
  EXPECT_TRUE(judged(nau_run({{0.5, 0.5}}), criterion).success);
  EXPECT_FALSE(judged(nau_run({{0.5, 0.5}}), {}).success);
  EXPECT_FALSE(judged(nau_run({{-0.5, -0.5}}), criterion).success);
}

// cov(x1, x1 + x2) / (sd sd) = 1/sqrt(2); 10000 rows give two digits.
TEST(Pearson, IsTheCorrelation) {
  EXPECT_TRUE(judged(nau_run({{1, 0}}), {.kind = Kind::Pearson, .limit = 0.68}).success);
  EXPECT_FALSE(judged(nau_run({{1, 0}}), {.kind = Kind::Pearson, .limit = 0.73}).success);
}

TEST(Pearson, ConstantPredictionsFail) {
  EXPECT_FALSE(judged(nau_run({{0, 0}}), {.kind = Kind::Pearson, .limit = -1}).success);
  nalm::Run ones = nau_run({{0, 0}});  // NMU with weights 0 gives 1
  ones.id.module = *find_module("NMU");
  EXPECT_FALSE(judged(ones, {.kind = Kind::Pearson, .limit = -1}).success);
}

TEST(Pearson, LostPredictionsFail) {
  EXPECT_FALSE(judged(nau_run({{not_a_number, 1}}), {.kind = Kind::Pearson, .limit = -1}).success);
  EXPECT_FALSE(judged(nau_run({{not_a_number, 1}}), {.kind = Kind::Mape, .limit = 1e30}).success);
}

TEST(Mape, IsTheMeanRelativeError) {
  const nalm::Run run = nau_run({{0.99f, 0.99f}});
  EXPECT_TRUE(judged(run, {.kind = Kind::Mape, .limit = 0.0101}).success);
  EXPECT_FALSE(judged(run, {.kind = Kind::Mape, .limit = 0.0099}).success);
  EXPECT_TRUE(judged(nau_run({{1, 1}}), {.kind = Kind::Mape, .limit = 1e-6}).success);
}

TEST(Mape, SolvedAtIsTheFirstRowThatPasses) {
  const Criterion criterion{.kind = Kind::Mape, .limit = 0.01};
  EXPECT_EQ(judged(nau_run({{0, 0}, {1, 1}, {0, 0}, {1, 1}}), criterion).solved_at, 1000);
  EXPECT_EQ(judged(nau_run({{0, 0}, {0, 0}, {0, 0}, {1, 1}}), criterion).solved_at, 3000);
  const RunResult failed = judged(nau_run({{0, 0}, {1, 1}, {0, 0}}), criterion);
  EXPECT_FALSE(failed.success);
  EXPECT_FALSE(failed.solved_at.has_value());
}

// The operands of seeds 0 and 2 stand at 5 and 8; every test set is kept apart from the others.
TEST(Mape, UsesTheTestSetOfTheRun) {
  const Criterion criterion{.kind = Kind::Mape, .limit = 1e-5};
  const std::vector<float> at_5{0, 0, 0, 0, 0, 1, 1, 0, 0, 0}, at_8{0, 0, 0, 0, 0, 0, 0, 0, 1, 1};
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE(judged(nau_run({at_5}, 10, 0), criterion).success);
    EXPECT_TRUE(judged(nau_run({at_8}, 10, 2), criterion).success);
    EXPECT_FALSE(judged(nau_run({at_8}, 10, 0), criterion).success);
    nalm::Run minus = nau_run({{1, -1}});
    EXPECT_FALSE(judged(minus, criterion).success);
    minus.id.operation = Operation::Subtract;
    EXPECT_TRUE(judged(minus, {.kind = Kind::Mape, .limit = 1e-4}).success);
    // The mean of |2 x2 / (x1 + x2)| is 1 on positive ranges; in the two-part range sums come close to 0.
    nalm::Run subtracting = nau_run({{1, -1}});
    EXPECT_TRUE(judged(subtracting, {.kind = Kind::Mape, .limit = 1.05}).success);
    subtracting.id.range = paper_ranges()[4];
    EXPECT_FALSE(judged(subtracting, {.kind = Kind::Mape, .limit = 1.05}).success);
  }
}

TEST(ModelAt, IsTheModelOfThatRow) {
  const nalm::Run run = nau_run({{0.25f, 0.5f}, {0.75f, 1}});
  EXPECT_EQ(model_at(run, 0)->layers[0].parameters, (std::vector<double>{0.25, 0.5}));
  EXPECT_EQ(model_at(run, 1)->layers[0].parameters, (std::vector<double>{0.75, 1}));
  EXPECT_FALSE(model_at(run, 2));
}

// ---- summaries -----------------------------------------------------------------------------------------------------

RunResult success(long solved_at, double sparsity) {
  RunResult result;
  result.success = true;
  result.solved_at = solved_at;
  result.sparsity_error = sparsity;
  return result;
}

RunResult failure() {
  RunResult result;
  result.sparsity_error = 0.4;
  result.best_step = 77000;
  return result;
}

TEST(Summary, CountsSuccessfulRunsOnly) {
  const std::vector<RunResult> runs{success(1000, 0), failure(), success(3000, 1e-6), success(8000, 5e-6), failure()};
  const CellSummary summary = summarise(runs, false);
  EXPECT_EQ(summary.runs, 5);
  EXPECT_EQ(summary.successes, 3);
  EXPECT_EQ(summary.success.value, 0.6);
  EXPECT_EQ(summary.solved_at.value, 4000);
  EXPECT_EQ(summary.median_solved_at, 3000);
  EXPECT_DOUBLE_EQ(summary.sparsity.value, 2e-6);
  EXPECT_EQ(summary.median_sparsity, 1e-6);
  EXPECT_EQ(summary.solved_at.hi, solved_at_estimate(std::vector<double>{1000, 3000, 8000}).hi);
  EXPECT_EQ(summary.sparsity.hi, sparsity_estimate(std::vector<double>{0, 1e-6, 5e-6}).hi);
}

TEST(Summary, PaperIntervalsAreThePapers) {
  const std::vector<RunResult> runs{success(1000, 0), success(3000, 1e-6), success(8000, 5e-6)};
  const CellSummary summary = summarise(runs, true);
  EXPECT_EQ(summary.solved_at.hi, paper_solved_at(std::vector<double>{1000, 3000, 8000}).hi);
  EXPECT_EQ(summary.sparsity.hi, paper_sparsity(std::vector<double>{0, 1e-6, 5e-6}).hi);
  EXPECT_EQ(summary.success.hi, wilson(3, 3).hi);
}

TEST(Summary, WithoutSuccessesThereIsOnlyARate) {
  const CellSummary summary = summarise(std::vector<RunResult>{failure(), failure()}, false);
  EXPECT_EQ(summary.success.value, 0);
  EXPECT_TRUE(std::isnan(summary.solved_at.value) && std::isnan(summary.sparsity.value));
  EXPECT_TRUE(std::isnan(summary.median_solved_at) && std::isnan(summary.median_sparsity));
  EXPECT_TRUE(std::isnan(summarise({}, true).success.value));
}

}  // namespace
}  // namespace nalm
