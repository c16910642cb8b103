#include "tasks/task_summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/cells.hpp"

namespace nalm {

namespace assets {
extern const std::string_view published_tasks;  // data/published_tasks.csv
}

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::ptrdiff_t position(const Arm& arm, std::string_view measure) {
  for (std::size_t m = 0; m < arm.measures.size(); ++m)
    if (arm.measures[m].name == measure) return static_cast<std::ptrdiff_t>(m);
  return -1;
}

}  // namespace

std::optional<double> regularised_from(const Arm& arm) {
  std::optional<double> first;
  for (const LayerRecipe& layer : arm.recipe.layers)
    for (const Regulariser& r : layer.regularisers)
      if (r.has_ramp() && r.strength > 0) first = std::min(first.value_or(infinity), r.start);
  return first;
}

TaskRunResult judge(const Arm& arm, const RunRecord& record, std::uint32_t seed) {
  TaskRunResult result;
  result.seed = seed;
  const std::ptrdiff_t judged = position(arm, arm.goal.measure), best_by = position(arm, arm.goal.best_by);
  if (record.values.empty()) return result;
  const auto value = [&](std::size_t row, std::ptrdiff_t m) { return record.values[row][static_cast<std::size_t>(m)]; };
  const auto meets = [&](std::size_t row) {
    if (judged < 0) return false;
    return arm.goal.above ? value(row, judged) > arm.goal.limit : value(row, judged) < arm.goal.limit;
  };
  result.judged_row = record.values.size() - 1;
  if (best_by >= 0) {
    double best = infinity;
    for (std::size_t row = 0; row < record.values.size(); ++row)
      if (value(row, best_by) < best) best = value(row, best_by), result.judged_row = row;
  }
  result.values = record.values[result.judged_row];
  result.success = meets(result.judged_row);
  result.at_end = meets(record.values.size() - 1);
  const std::optional<double> from = regularised_from(arm);
  for (std::size_t row = 0; row < record.values.size(); ++row) {
    if (meets(row)) {
      result.ever = true;
      if (result.success && !result.solved_at) result.solved_at = record.steps[row];
    }
    if (arm.goal.loose_limit && from && judged >= 0 && static_cast<double>(record.steps[row]) <= *from)
      result.before_regularisers = value(row, judged) < *arm.goal.loose_limit;
  }
  if (judged >= 0 && !arm.goal.above) result.trask = 100 * value(result.judged_row, judged) / value(0, judged);
  return result;
}

Spread spread_of(std::span<const double> values) {
  std::vector<double> v(values.begin(), values.end());
  for (double& x : v)
    if (std::isnan(x)) x = infinity;
  Spread result;
  result.median = median(v);
  double sum = 0;
  for (const double x : v) sum += x;
  result.mean = v.empty() ? result.median : sum / static_cast<double>(v.size());
  const auto [lo, hi] = std::minmax_element(v.begin(), v.end());
  result.smallest = v.empty() ? result.median : *lo;
  result.largest = v.empty() ? result.median : *hi;
  for (double& x : v) x = std::isinf(x) && x == result.median ? 0 : std::fabs(x - result.median);
  result.mad = median(v);
  return result;
}

std::vector<TaskCell> summarise(const std::vector<Arm>& arms, const std::vector<StoredTaskRun>& runs) {
  std::vector<TaskCell> cells(arms.size());
  for (std::size_t a = 0; a < arms.size(); ++a) cells[a].arm = &arms[a];
  for (const StoredTaskRun& run : runs) {
    TaskCell& cell = cells[run.id.arm];
    cell.runs.push_back(judge(*cell.arm, run.record, run.id.seed));
  }
  for (TaskCell& cell : cells) {
    std::vector<double> solved_at, trask;
    for (const TaskRunResult& run : cell.runs) {
      cell.successes += run.success ? 1 : 0;
      cell.ever += run.ever ? 1 : 0;
      cell.at_end += run.at_end ? 1 : 0;
      if (run.solved_at) solved_at.push_back(static_cast<double>(*run.solved_at));
      if (run.trask) trask.push_back(*run.trask);
      if (run.before_regularisers)
        cell.before_regularisers = cell.before_regularisers.value_or(0) + (*run.before_regularisers ? 1 : 0);
    }
    cell.success = wilson(cell.successes, static_cast<int>(cell.runs.size()));
    cell.median_solved_at = median(solved_at);
    cell.trask = spread_of(trask);
    for (std::size_t m = 0; m < cell.arm->measures.size(); ++m) {
      std::vector<double> values;
      for (const TaskRunResult& run : cell.runs)
        if (m < run.values.size()) values.push_back(run.values[m]);
      cell.measures.push_back(spread_of(values));
    }
  }
  return cells;
}

std::vector<PublishedFigure> published_figures(const Task& task) {
  std::vector<PublishedFigure> figures;
  std::string_view rest = assets::published_tasks;
  for (bool header = true; !rest.empty(); header = false) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::vector<std::string> cells = cells_of(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (header || cells.size() < 7 || cells[0] != task.name) continue;
    figures.push_back({cells[0], cells[1], cells[2], cells[3], cells[4], std::stod(cells[5]), cells[6]});
    if (cells.size() > 7 && !cells[7].empty()) figures.back().runs = std::stoi(cells[7]);
  }
  return figures;
}

std::vector<CheckResult> run_checks(const Task& task, const std::vector<TaskCell>& cells) {
  std::vector<CheckResult> results;
  for (const Check& check : task.checks) {
    CheckResult result{&check, std::numeric_limits<double>::quiet_NaN(), false};
    for (const TaskCell& cell : cells) {
      const Arm& arm = *cell.arm;
      if (arm.model != check.model || arm.operation != check.operation || arm.setting != check.setting) continue;
      if (check.measure == "success") {
        result.value = cell.success.value;
      } else if (const std::ptrdiff_t m = position(arm, check.measure); m >= 0) {
        result.value = cell.measures[static_cast<std::size_t>(m)].median;
      }
    }
    result.passed = check.at_least ? result.value >= check.value : result.value <= check.value;
    results.push_back(result);
  }
  return results;
}

}  // namespace nalm
