#include "report/task_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/columns.hpp"

namespace nalm {
namespace {

// Published figures that this says of themselves were measured otherwise.
bool is_comparable(const PublishedFigure& figure) { return figure.remark.find("not comparable") == std::string::npos; }

bool agrees(const TaskCell& cell, const PublishedFigure& figure) {
  const double slack = 0.005;  // published in whole percent
  const auto holds = [&](const Estimate& interval, double value) {
    return value >= interval.lo - slack && value <= interval.hi + slack;
  };
  const int runs = static_cast<int>(cell.runs.size());
  if (figure.runs) {
    const int theirs = static_cast<int>(std::lround(figure.value * *figure.runs));
    return holds(cell.success, figure.value) || holds(wilson(theirs, *figure.runs), cell.success.value);
  }
  const Estimate wider{cell.success.value, cell.success.lo - 1.0 / runs, cell.success.hi + 1.0 / runs};
  return holds(wider, figure.value);
}

}  // namespace

bool TaskComparison::agrees() const {
  return std::all_of(figures.begin(), figures.end(), [](const ComparedFigure& f) { return !f.judged || f.agrees; });
}

Result<TaskComparison> compare_task(const TaskResults& results) {
  const TaskPlan& plan = results.info.plan;
  if (plan.iterations || plan.learning_rate)
    return Error{
        "these runs do not follow the task's settings (--iterations or --learning-rate was given); compare a run "
        "without them."};
  TaskComparison comparison;
  for (const TaskCell& cell : results.cells) {
    if (cell.runs.empty()) continue;
    for (const PublishedFigure& figure : results.published) {
      if (figure.model != cell.arm->model || figure.operation != cell.arm->operation ||
          figure.setting != cell.arm->setting)
        continue;
      ComparedFigure compared{&cell, &figure, value_of(cell, figure), false, false};
      compared.judged = figure.what == "success" && is_comparable(figure);
      compared.agrees = compared.judged && agrees(cell, figure);
      comparison.figures.push_back(compared);
    }
  }
  if (comparison.figures.empty())
    return Error{fmt::format("nothing was published for these cells of the task {}; \"nalm list {}\" shows what was.",
                             plan.task->name, plan.task->name)};
  if (plan.preset == "quick") comparison.remark = "The preset quick trains less than the papers did.";
  if (results.missing > 0)
    comparison.remark += fmt::format("{}{} runs are missing: the task is not finished.",
                                     comparison.remark.empty() ? "" : " ", results.missing);
  return comparison;
}

std::string print(const TaskComparison& comparison, bool all) {
  Columns columns(4);
  columns.add({"model", "operation", "setting", "what", "ours", "published", "difference", "verdict"});
  int judged = 0, agreeing = 0;
  for (const ComparedFigure& f : comparison.figures) {
    const bool rate = f.figure->what == "success";
    const double factor = rate ? 100 : 1;
    judged += f.judged ? 1 : 0;
    agreeing += f.agrees ? 1 : 0;
    if (!all && f.agrees) continue;
    const std::string ours = rate                 ? with_interval(f.cell->success, percent)
                             : std::isnan(f.ours) ? "-"
                                                  : fmt::format("{:.4g}", f.ours);
    columns.add({f.cell->arm->model, f.cell->arm->operation, f.cell->arm->setting,
                 rate ? "success %" : f.figure->what + (is_mean(*f.figure) ? ", mean" : ""), ours,
                 fmt::format("{:.4g}", factor * f.figure->value),
                 std::isnan(f.ours) ? "-" : fmt::format("{:+.3g}", factor * (f.ours - f.figure->value)),
                 !f.judged  ? "shown only"
                 : f.agrees ? "agrees"
                            : "DIFFERS"});
  }
  const bool something_shown = all || agreeing < static_cast<int>(comparison.figures.size());
  std::string text = something_shown ? columns.print() : "";
  const int shown = static_cast<int>(comparison.figures.size()) - judged;
  const std::string remark = comparison.remark.empty() ? "" : " " + comparison.remark;
  if (judged == 0)
    return text +
           fmt::format("No success rate was published that ours could be judged by; {} other figures are shown.{}\n",
                       shown, remark);
  text += fmt::format("{} of {} published success rates agree: one of the two lies in the other's 95 % interval.{}",
                      agreeing, judged, remark);
  return text + (comparison.agrees() ? "\nIt agrees with what was published.\n"
                                     : "\nIt does not agree with what was published.\n");
}

}  // namespace nalm
