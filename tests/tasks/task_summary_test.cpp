// Runs are judged as the papers say; cases by hand.
#include "tasks/task_summary.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace nalm {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

// Two measures; success is test below 0.01 at the row with the smallest validation.
Arm small_arm() {
  Arm arm;
  arm.model = "M", arm.operation = "o", arm.setting = "s";
  arm.measures = {{"validation", Measure::Kind::Mse, 0, 0}, {"test", Measure::Kind::Mse, 1, 0}};
  arm.goal = {"test", "validation", 0.01, false, {}};
  return arm;
}

RunRecord record_of(const std::vector<std::vector<double>>& values) {
  RunRecord record;
  record.values = values;
  for (std::size_t r = 0; r < values.size(); ++r) record.steps.push_back(static_cast<long>(1000 * r));
  return record;
}

TEST(Judge, TakesTheRowWithTheSmallestValidation) {
  const RunRecord record = record_of({{4, 8}, {0.5, 0.001}, {0.1, 0.002}, {0.1, 7}, {0.2, 5}});
  const TaskRunResult result = judge(small_arm(), record, 7);
  EXPECT_EQ(result.seed, 7u);
  EXPECT_EQ(result.judged_row, 2u);  // the earlier of two equal ones
  EXPECT_TRUE(result.success);
  EXPECT_TRUE(result.ever);
  EXPECT_FALSE(result.at_end);
  EXPECT_EQ(result.solved_at, 1000);
  EXPECT_EQ(result.values, (std::vector<double>{0.1, 0.002}));
  EXPECT_EQ(result.trask, 100 * 0.002 / 8);
  EXPECT_EQ(result.before_regularisers, std::nullopt);
}

TEST(Judge, SolvedAtIsOnlyOfRunsThatSucceed) {
  const TaskRunResult result = judge(small_arm(), record_of({{4, 8}, {1, 0.001}, {0.1, 0.02}}), 0);
  EXPECT_FALSE(result.success);
  EXPECT_TRUE(result.ever);
  EXPECT_EQ(result.solved_at, std::nullopt);
}

TEST(Judge, WithoutValidationTheLastRowCounts) {
  Arm arm = small_arm();
  arm.goal.best_by = "";
  EXPECT_EQ(judge(arm, record_of({{0, 1}, {9, 0.001}}), 0).judged_row, 1u);
  EXPECT_TRUE(judge(arm, record_of({{0, 1}, {9, 0.001}}), 0).success);
  EXPECT_FALSE(judge(arm, record_of({{0, 0.001}, {9, nan}}), 0).success);
  EXPECT_FALSE(judge(arm, record_of({{0, 0.01}}), 0).success) << "the limit itself is not below it";
}

TEST(Judge, ARunOfNothingButNaNFails) {
  const TaskRunResult result = judge(small_arm(), record_of({{nan, nan}, {nan, nan}}), 0);
  EXPECT_FALSE(result.success || result.ever || result.at_end);
  EXPECT_EQ(result.judged_row, 1u);
}

TEST(Judge, SomeGoalsAreAboveALimit) {
  Arm arm = small_arm();
  arm.goal = {"test", "", 0.99, true, {}};
  EXPECT_TRUE(judge(arm, record_of({{1, 0.2}, {1, 1}}), 0).success);
  EXPECT_FALSE(judge(arm, record_of({{1, 1}, {1, 0.2}}), 0).success);
  EXPECT_EQ(judge(arm, record_of({{1, 1}}), 0).trask, std::nullopt);
}

TEST(Judge, TheLooseLimitIsAskedBeforeRegularisersStart) {
  Arm arm = small_arm();
  arm.goal.loose_limit = 1.0;
  const RunRecord record = record_of({{9, 9}, {9, 2}, {9, 0.5}, {9, 3}});
  EXPECT_EQ(judge(arm, record, 0).before_regularisers, std::nullopt) << "there are none";
  arm.recipe.layers = {{{Regulariser::sparsity(1, 2500, 3000)}, {}}, {{Regulariser::sparsity(0, 10, 20)}, {}}};
  EXPECT_EQ(judge(arm, record, 0).before_regularisers, true);
  arm.recipe.layers[1].regularisers = {Regulariser::sparsity(1, 1999, 3000)};
  EXPECT_EQ(judge(arm, record, 0).before_regularisers, false);
}

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

// Two arms; the second with one run that never gets there.
struct Summary : testing::Test {
  Summary() {
    arms[1].model = "N";
    runs = {{{0, 0}, record_of({{9, 8}, {1, 0.001}}), "", 0},
            {{0, 1}, record_of({{9, 8}, {1, 0.5}}), "", 0},
            {{0, 2}, record_of({{9, 8}, {2, 9}, {1, 0.002}}), "", 0},
            {{1, 0}, record_of({{9, 8}, {1, 4}}), "", 0}};
    cells = summarise(arms, runs);
  }
  std::vector<Arm> arms{small_arm(), small_arm()};
  std::vector<StoredTaskRun> runs;
  std::vector<TaskCell> cells;
};

TEST_F(Summary, CountsAndMedians) {
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[0].successes, 2);
  EXPECT_EQ(cells[0].success.value, 2.0 / 3);
  EXPECT_EQ(cells[0].success.lo, wilson(2, 3).lo);
  EXPECT_EQ(cells[0].median_solved_at, 1500);
  EXPECT_EQ(cells[0].measures[1].median, 0.002);
  EXPECT_EQ(cells[0].trask.median, 0.025);
  EXPECT_TRUE(std::isnan(cells[1].median_solved_at));
  EXPECT_EQ(cells[1].measures[1].median, 4);
  EXPECT_EQ(cells[1].trask.median, 50);
}

TEST_F(Summary, ChecksAreAboutRatesAndMedians) {
  const Check checks[] = {
      {"M", "o", "s", "success", true, 0.6},  {"M", "o", "s", "success", true, 0.7},
      {"M", "o", "s", "test", false, 0.002},  {"M", "o", "s", "test", false, 0.001},
      {"N", "o", "s", "success", false, 0.1}, {"N", "o", "s", "no such measure", false, 1},
      {"X", "o", "s", "success", true, 0},
  };
  Task task;
  task.checks = checks;
  const std::vector<CheckResult> results = run_checks(task, cells);
  ASSERT_EQ(results.size(), std::size(checks));
  const bool wanted[] = {true, false, true, false, true, false, false};
  for (std::size_t k = 0; k < results.size(); ++k) {
    EXPECT_EQ(results[k].check, &checks[k]);
    EXPECT_EQ(results[k].passed, wanted[k]) << k;
  }
  EXPECT_EQ(results[2].value, 0.002);
  EXPECT_TRUE(std::isnan(results[6].value)) << "a cell that is not there";
}

}  // namespace
}  // namespace nalm
