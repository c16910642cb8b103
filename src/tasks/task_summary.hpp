// From what runs logged to the cells of a task's table, by every metric that the papers used.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/intervals.hpp"
#include "tasks/task_store.hpp"

namespace nalm {

// The iteration at which the first regulariser with a ramp starts; none: nothing.
std::optional<double> regularised_from(const Arm& arm);

// One run, judged.
struct TaskRunResult {
  std::uint32_t seed = 0;
  std::size_t judged_row = 0;
  bool success = false, ever = false, at_end = false;
  std::optional<long> solved_at;            // the first row that meets the goal; nothing without success
  std::optional<bool> before_regularisers;  // met the loose limit at the last row before regularisers start
  std::vector<double> values;               // of the judged row, per measure
  std::optional<double> trask;              // 100 * the judged measure / its value at the first row
};
TaskRunResult judge(const Arm& arm, const RunRecord& record, std::uint32_t seed);

struct Spread {
  double median = 0, mad = 0, mean = 0, smallest = 0, largest = 0;  // mad: median of |v - median|, as Heim has it
};
Spread spread_of(std::span<const double> values);  // values that are not numbers count as infinite

struct TaskCell {
  const Arm* arm = nullptr;
  std::vector<TaskRunResult> runs;
  int successes = 0, ever = 0, at_end = 0;
  Estimate success{};            // Wilson
  double median_solved_at = 0;   // NaN if no run succeeded
  std::vector<Spread> measures;  // in the order of Arm::measures
  Spread trask;
  std::optional<int> before_regularisers;
};
std::vector<TaskCell> summarise(const std::vector<Arm>& arms, const std::vector<StoredTaskRun>& runs);

// What was published for a cell: data/published_tasks.csv.
struct PublishedFigure {
  std::string task, model, operation, setting;
  std::string what;  // "success", "solved-at" (median), or a measure's name (median unless the remark says otherwise)
  double value = 0;
  std::string remark;         // source, and what makes it not comparable, if anything
  std::optional<int> runs{};  // behind a success rate, if known
};
inline bool is_mean(const PublishedFigure& figure) { return figure.remark.starts_with("mean of"); }
std::vector<PublishedFigure> published_figures(const Task& task);

// The checks of the preset "quick": one entry per check.
struct CheckResult {
  const Check* check = nullptr;
  double value = 0;
  bool passed = false;
};
std::vector<CheckResult> run_checks(const Task& task, const std::vector<TaskCell>& cells);

}  // namespace nalm
