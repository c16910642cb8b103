// Every task's preset quick does what its checks promise; and would not if nothing were learned.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cctype>
#include <chrono>
#include <iostream>
#include <set>

#include "experiment/summary.hpp"
#include "words.hpp"

namespace nalm::quick_test {
namespace {

Plan plan_of(const Task& task, const TaskPreset& preset) {
  Plan plan;
  plan.task = &task;
  plan.preset = preset.name;
  for (std::uint32_t k = 0; k < static_cast<std::uint32_t>(preset.seeds); ++k)
    plan.seeds.push_back(task.first_seed + k);
  return plan;
}

// The cells of a plan, of which nothing was run yet.
Results results_of(const Plan& plan) {
  Results results;
  results.info.plan = plan;
  Result<std::vector<Cell>> cells = cells_of(plan);
  EXPECT_TRUE(cells.ok()) << complaint(cells);
  if (cells) results.cells = std::move(*cells);
  return results;
}

class Quick : public testing::TestWithParam<const Task*> {
 protected:
  static const TaskPreset& quick() { return **find_preset(*GetParam(), "quick"); }

  std::vector<CheckResult> checks(std::optional<double> learning_rate) {
    const Task& task = *GetParam();
    Plan plan = plan_of(task, quick());
    plan.learning_rate = learning_rate;
    // What does not change need not be left alone for long.
    if (learning_rate) plan.iterations = 500;
    results_ = results_of(plan);
    std::vector<RunId> runs;
    for (const std::uint32_t seed : plan.seeds)
      for (std::size_t cell = 0; cell < results_.cells.size(); ++cell) runs.push_back({cell, seed});
    std::vector<std::vector<RunResult>> judged(results_.cells.size());
    std::size_t finished = 0;
    ExecutorSettings settings;
    settings.finished = [&](const FinishedRuns& some) -> Status {
      for (const FinishedRun& run : some.runs) {
        Result<RunResult> result = judge(results_.cells[run.id.cell], run.record, run.id.seed);
        if (!result) return result.error();
        judged[run.id.cell].push_back(std::move(*result));
        ++finished;
      }
      return Done{};
    };
    const auto start = std::chrono::steady_clock::now();
    const Status trained = task.execute(results_.cells, runs, settings);
    EXPECT_TRUE(trained.ok()) << complaint(trained);
    EXPECT_EQ(finished, runs.size());
    std::cout << task.name << ": " << runs.size() << " runs in "
              << std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() << " s\n";
    for (std::size_t c = 0; c < judged.size(); ++c)
      results_.results.push_back(summarise(results_.cells[c], std::move(judged[c])));
    return run_checks(results_);
  }

  static std::string words(const CheckResult& result) {
    const Check& check = *result.check;
    return fmt::format("{} | {} | {}: {} is {}, and should be at {} {}", check.model, check.operation, check.setting,
                       check.measure, result.value, check.at_least ? "least" : "most", check.value);
  }

  Results results_;
};

TEST_P(Quick, KeepsItsPromises) {
  const std::vector<CheckResult> results = checks({});
  EXPECT_FALSE(results.empty()) << "a task without checks";
  for (const CheckResult& result : results) EXPECT_TRUE(result.passed) << words(result);
}

TEST_P(Quick, EveryCheckFailsWhenNothingIsLearned) {
  const std::vector<CheckResult> results = checks(0.0);
  EXPECT_FALSE(results.empty());
  for (const CheckResult& result : results) EXPECT_FALSE(result.passed) << words(result);
}

// Cells are named in three places: in presets, checks and published figures.
TEST_P(Quick, NamesAreThoseOfCells) {
  const Task& task = *GetParam();
  ASSERT_GE(task.presets.size(), 2u);
  EXPECT_NE(task.default_preset().name, "quick");
  const auto name = [](std::string_view model, std::string_view operation, std::string_view setting) {
    return fmt::format("{} | {} | {}", model, operation, setting);
  };
  std::set<std::string> all;
  std::set<const Check*> checked;
  const auto look_at = [&](const TaskPreset& preset) {
    Results results = results_of(plan_of(task, preset));
    std::set<std::string> here;
    for (const Cell& cell : results.cells) {
      EXPECT_TRUE(here.insert(cell.name()).second) << cell.name() << " is there twice in " << preset.name;
      EXPECT_TRUE(!cell.has_goal() || cell.position(cell.goal.measure))  // some only measure
          << cell.name() << " is judged by \"" << cell.goal.measure << "\", which it does not measure";
      EXPECT_TRUE(cell.goal.best_by.empty() || cell.position(cell.goal.best_by)) << cell.name();
      all.insert(name(cell.model, cell.operation, PublishedFigure::all_settings));
      all.insert(name(PublishedFigure::all_cells, PublishedFigure::all_cells, cell.setting));
      RunResult run;  // as if there were one of each
      run.values.resize(cell.measures.size());
      results.results.push_back(summarise(cell, {run}));
    }
    EXPECT_FALSE(here.empty()) << preset.name;
    all.insert(here.begin(), here.end());
    for (const CheckResult& result : run_checks(results)) checked.insert(result.check);
  };
  look_at(quick());
  look_at(task.default_preset());
  for (const Check& check : task.checks)
    EXPECT_TRUE(checked.contains(&check)) << name(check.model, check.operation, check.setting) << " is no cell";
  // The cells of large presets take seconds to make: only if nothing else explains a figure.
  std::size_t looked_at = 0;
  for (const TaskPreset& preset : task.presets) {
    for (const PublishedFigure& figure :
         task.published ? task.published(plan_of(task, preset)) : published_in_tasks_csv(task.name)) {
      const std::string wanted = name(figure.model, figure.operation, figure.setting);
      while (!all.contains(wanted) && looked_at < task.presets.size()) look_at(task.presets[looked_at++]);
      EXPECT_TRUE(all.contains(wanted)) << "published, but of no preset: " << wanted;
      if (figure.what == "success") {
        EXPECT_TRUE(figure.value.value >= 0 && figure.value.value <= 1) << "a rate of " << figure.value.value;
      }
    }
    if (!task.published) break;
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
}  // namespace nalm::quick_test
