// Results made by hand: the cells of a plan with runs that succeed as asked for.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiment/cells.hpp"
#include "experiment/summary.hpp"

namespace nalm {

inline Plan plan_of(std::string_view task, std::string_view preset, std::string models, std::string operations,
                    std::string settings, std::string_view seeds) {
  Plan plan = test::plan_of(task, preset, std::move(models), std::move(operations), std::move(settings));
  plan.seeds = *parse_seeds(seeds);
  return plan;
}

// Without runs.
inline Results results_of(const Plan& plan) {
  Results results;
  results.info.plan = plan;
  results.info.command = command_of(plan);
  Result<std::vector<Cell>> cells = cells_of(plan);
  EXPECT_TRUE(cells.ok()) << complaint(cells);
  if (cells) results.cells = std::move(*cells);
  results.published = plan.task->published ? plan.task->published(plan) : published_in_tasks_csv(plan.task->name);
  for (const Cell& cell : results.cells) results.results.push_back(summarise(cell, {}));
  return results;
}

// A task of no paper, with so many equal cells and no runs.
inline Results hand_made_results(std::size_t cells) {
  static const std::vector<TaskPreset> presets = {{"quick", "", 4, ""}, {"full", "", 4, ""}};
  static const Task task{.name = "hand-made", .title = "By hand", .source = "", .settings = "", .presets = presets};
  Results results;
  results.info.plan.task = &task;
  results.info.plan.preset = "full";
  Cell cell;
  cell.model = "NAC*", cell.operation = "mul", cell.setting = "U[1,2)";
  cell.measures = {{"validation", Measure::Kind::Mse, 0}, {"test", Measure::Kind::Mse, 1}};
  cell.goal = {"test", "validation", 1e-3, false, {}};
  results.cells.assign(cells, cell);
  return results;
}

// A judged run; `solved_at` counts for a success only.
inline RunResult run_of(const Cell& cell, std::uint32_t seed, bool success, long solved_at) {
  RunResult run;
  run.seed = seed;
  run.success = success;
  run.ever = run.at_end = success;
  if (success) run.solved_at = solved_at;
  run.values.assign(cell.measures.size(), success ? 0 : 1);
  run.limit = cell.goal.limit;
  return run;
}

// Runs with the seeds 0, 1, ..., of which the first ones succeed, all at the same iteration.
inline void set_successes(Results& results, std::size_t cell, int successes, int runs, long solved_at = 1000) {
  std::vector<RunResult> judged;
  for (int seed = 0; seed < runs; ++seed)
    judged.push_back(run_of(results.cells[cell], static_cast<std::uint32_t>(seed), seed < successes, solved_at));
  results.results[cell] = summarise(results.cells[cell], std::move(judged));
}

}  // namespace nalm
