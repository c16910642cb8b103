// Every task's preset quick does what its checks promise; and would not if nothing were learned.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cctype>
#include <chrono>
#include <iostream>
#include <set>

#include "tasks/task_summary.hpp"
#include "words.hpp"

namespace nalm {
namespace {

class Quick : public testing::TestWithParam<const Task*> {
 protected:
  std::vector<CheckResult> checks(std::optional<double> learning_rate) {
    const Task& task = *GetParam();
    arms_ = task.arms("quick");
    std::vector<TaskRunId> runs;
    for (std::uint32_t seed = 0; seed < static_cast<std::uint32_t>((*find_preset(task, "quick"))->seeds); ++seed)
      for (std::size_t arm = 0; arm < arms_.size(); ++arm) runs.push_back({arm, seed});
    std::vector<StoredTaskRun> finished;
    TaskRunnerSettings settings;
    settings.learning_rate = learning_rate;
    // What does not change need not be left alone for long.
    if (learning_rate) settings.iterations = 500;
    settings.finished = [&](const TaskRunId& id, const RunRecord& record, double seconds) -> Status {
      finished.push_back({id, record, "", seconds});
      return Done{};
    };
    const auto start = std::chrono::steady_clock::now();
    const Status trained = train_task(arms_, runs, settings);
    EXPECT_TRUE(trained.ok()) << complaint(trained);
    EXPECT_EQ(finished.size(), runs.size());
    std::cout << task.name << ": " << runs.size() << " runs in "
              << std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() << " s\n";
    cells_ = summarise(arms_, finished);
    return run_checks(task, cells_);
  }

  static std::string words(const CheckResult& result) {
    const Check& check = *result.check;
    return fmt::format("{} | {} | {}: {} is {}, and should be at {} {}", check.model, check.operation, check.setting,
                       check.measure, result.value, check.at_least ? "least" : "most", check.value);
  }

  std::vector<Arm> arms_;
  std::vector<TaskCell> cells_;
};

TEST_P(Quick, KeepsItsPromises) {
  const std::vector<CheckResult> results = checks({});
  EXPECT_FALSE(results.empty()) << "a task without checks";
  for (const CheckResult& result : results) EXPECT_TRUE(result.passed) << words(result);
}

TEST_P(Quick, EveryCheckFailsWhenNothingIsLearned) {
  for (const CheckResult& result : checks(0.0)) EXPECT_FALSE(result.passed) << words(result);
}

// Cells are named in three places: in arms, checks and published figures.
TEST_P(Quick, NamesAreThoseOfArms) {
  const Task& task = *GetParam();
  ASSERT_GE(task.presets.size(), 2u);
  EXPECT_EQ(task.presets[0].name, "quick");
  const auto cell = [](std::string_view model, std::string_view operation, std::string_view setting) {
    return fmt::format("{} | {} | {}", model, operation, setting);
  };
  std::set<std::string> quick, all;
  const auto look_at = [&](const TaskPreset& preset) {
    std::set<std::string> cells;
    for (const Arm& arm : task.arms(preset.name)) {
      EXPECT_TRUE(cells.insert(arm.cell()).second) << arm.cell() << " is there twice in " << preset.name;
      bool has_goal = arm.goal.measure.empty();  // some only measure
      for (const Measure& measure : arm.measures) has_goal = has_goal || measure.name == arm.goal.measure;
      EXPECT_TRUE(has_goal) << arm.cell() << " is judged by \"" << arm.goal.measure << "\", which it does not measure";
    }
    EXPECT_FALSE(cells.empty()) << preset.name;
    all.insert(cells.begin(), cells.end());
    return cells;
  };
  quick = look_at(task.presets[0]);
  look_at(task.presets[1]);
  for (const Check& check : task.checks)
    EXPECT_TRUE(quick.contains(cell(check.model, check.operation, check.setting)))
        << cell(check.model, check.operation, check.setting);
  // The arms of large presets take seconds to make: only if nothing else explains a figure.
  std::size_t looked_at = 2;
  for (const PublishedFigure& figure : published_figures(task)) {
    const std::string name = cell(figure.model, figure.operation, figure.setting);
    while (!all.contains(name) && looked_at < task.presets.size()) look_at(task.presets[looked_at++]);
    EXPECT_TRUE(all.contains(name)) << "published, but of no preset: " << name;
    if (figure.what == "success") {
      EXPECT_TRUE(figure.value >= 0 && figure.value <= 1) << "a rate of " << figure.value;
    }
  }
}

std::string test_name(const testing::TestParamInfo<const Task*>& info) {
  std::string name(info.param->name);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}
INSTANTIATE_TEST_SUITE_P(Tasks, Quick, testing::ValuesIn(all_tasks().begin(), all_tasks().end()), test_name);

}  // namespace
}  // namespace nalm
