// A task's results, judged, and their tables as text, with what was published beside them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/columns.hpp"
#include "report/tables.hpp"
#include "tasks/task_summary.hpp"

namespace nalm {

struct TaskResults {
  TaskStoreInfo info;
  std::optional<double> limit;  // instead of the task's
  std::vector<Arm> arms;
  std::vector<TaskCell> cells;                  // they point at the arms
  std::vector<std::vector<std::string>> notes;  // [cell][run]
  std::vector<PublishedFigure> published;       // for the task, also for cells that are not here
  std::size_t missing = 0;                      // runs

  TaskResults() = default;
  TaskResults(TaskResults&&) = default;
  TaskResults& operator=(TaskResults&&) = default;

  // What was published for a cell: "success", "solved-at", "trask" or the name of a measure.
  std::vector<const PublishedFigure*> published_for(const Arm& arm, std::string_view what) const;
  // Of all cells, in the order in which they first appear.
  std::vector<std::string> measure_names() const;
};

// limit: success is below it (or above, if that is the task's way), whatever the task's own limit.
Result<TaskResults> judge_task(const TaskStore& store, std::optional<double> limit = {});

// What a table shows. Threshold is Success for results with a limit of their own.
enum class TaskMetric { All, Success, Mad, Trask, Threshold, PreRegularisation };

// For people: without columns that would be empty.
struct TaskTable {
  Columns columns{3};
  std::vector<std::string> notes;  // what the columns mean, remarks on published figures, what runs found
};
TaskTable make_task_table(const TaskResults& results, TaskMetric metric);

std::string print_task_table(const TaskResults& results, TaskMetric metric, TableFormat format);

// When a run of the task has succeeded, in words.
std::string describe_goal(const TaskResults& results);

// The cell's value of what a published figure is about, a mean if that is one; NaN if there is none.
double value_of(const TaskCell& cell, const PublishedFigure& figure);

// Every logged row: model,operation,setting,seed,step,measure,value.
Status write_series(const TaskStore& store, const std::string& path);

}  // namespace nalm
