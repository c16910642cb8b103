#include "report/task_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/write_file.hpp"

namespace nalm {
namespace {

// The parts of a table.
struct Parts {
  bool success = false, measures = false, trask = false, before = false, notes = false;
};
Parts parts_of(TaskMetric metric) {
  switch (metric) {
    case TaskMetric::All:
      return {true, true, true, true, true};
    case TaskMetric::Success:
    case TaskMetric::Threshold:
      return {.success = true};
    case TaskMetric::Mad:
      return {.measures = true};
    case TaskMetric::Trask:
      return {.trask = true};
    case TaskMetric::PreRegularisation:
      return {.before = true};
  }
  return {};
}

std::string text_of(const Spread& spread) {
  if (std::isnan(spread.median)) return "";
  return fmt::format("{:.3g} +- {:.2g}", spread.median, spread.mad);
}

// Some arms only measure.
bool has_goal(const Arm& arm) { return !arm.goal.measure.empty(); }

std::optional<std::size_t> position(const Arm& arm, std::string_view measure) {
  for (std::size_t m = 0; m < arm.measures.size(); ++m)
    if (arm.measures[m].name == measure) return m;
  return {};
}

const Spread* spread_of(const TaskCell& cell, std::string_view measure) {
  const std::optional<std::size_t> m = position(*cell.arm, measure);
  return m && *m < cell.measures.size() ? &cell.measures[*m] : nullptr;
}

// How many runs were below the loose limit before regularisers start, of those that have one.
Estimate before_regularisers(const TaskCell& cell) {
  const auto has = [](const TaskRunResult& run) { return run.before_regularisers.has_value(); };
  return wilson(cell.before_regularisers.value_or(0),
                static_cast<int>(std::count_if(cell.runs.begin(), cell.runs.end(), has)));
}

// Remarks on published figures, each with a letter.
class Remarks {
 public:
  std::string mark(const std::string& remark) {
    if (remark.empty()) return "";
    auto at = std::find(remarks_.begin(), remarks_.end(), remark);
    if (at == remarks_.end()) at = remarks_.insert(at, remark);
    return fmt::format(" ({})", letters(static_cast<std::size_t>(at - remarks_.begin())));
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (std::size_t k = 0; k < remarks_.size(); ++k) lines.push_back(fmt::format("({}) {}", letters(k), remarks_[k]));
    return lines;
  }

 private:
  static std::string letters(std::size_t k) {
    const std::string last(1, static_cast<char>('a' + k % 26));
    return k < 26 ? last : letters(k / 26 - 1) + last;
  }
  std::vector<std::string> remarks_;
};

std::string title_of(const TaskResults& results) {
  return fmt::format("{} ({}, preset {})", results.info.plan.task->title, results.info.plan.task->name,
                     results.info.plan.preset);
}

// ---- for programs --------------------------------------------------------------------------------------------------

std::string csv(const TaskResults& results, TaskMetric metric) {
  const Parts parts = parts_of(metric);
  const std::vector<std::string> measures = results.measure_names();
  std::string text = "model,operation,setting,runs";
  if (parts.success)
    text +=
        ",limit,successes,success,success_lo,success_hi,success_published,ever,at_end,solved_at,solved_at_published";
  if (parts.measures)
    for (const std::string& m : measures)
      for (const char* what : {"median", "mad", "published"}) text += "," + csv_cell(fmt::format("{}_{}", m, what));
  if (parts.trask) text += ",trask_median,trask_mad,trask_published";
  if (parts.before) text += ",before_regularisers,before_regularisers_lo,before_regularisers_hi";
  text += ",published_remarks\n";
  for (const TaskCell& cell : results.cells) {
    const Arm& arm = *cell.arm;
    std::vector<std::string> remarks;
    const auto published = [&](std::string_view what) {
      std::vector<std::string> values;
      for (const PublishedFigure* figure : results.published_for(arm, what)) {
        values.push_back(csv_number(figure->value));
        if (std::find(remarks.begin(), remarks.end(), figure->remark) == remarks.end())
          remarks.push_back(figure->remark);
      }
      return fmt::format("{}", fmt::join(values, ";"));
    };
    text += fmt::format("{},{},{},{}", csv_cell(arm.model), csv_cell(arm.operation), csv_cell(arm.setting),
                        cell.runs.size());
    if (parts.success && !has_goal(arm)) text += std::string(10, ',');
    if (parts.success && has_goal(arm))
      text += fmt::format(",{},{},{},{},{},{},{},{},{},{}", csv_number(arm.goal.limit), cell.successes,
                          csv_number(cell.success.value), csv_number(cell.success.lo), csv_number(cell.success.hi),
                          published("success"), cell.ever, cell.at_end, csv_number(cell.median_solved_at),
                          published("solved-at"));
    if (parts.measures) {
      for (const std::string& measure : measures) {
        const Spread* spread = spread_of(cell, measure);
        text += spread
                    ? fmt::format(",{},{},{}", csv_number(spread->median), csv_number(spread->mad), published(measure))
                    : std::string(",,,");
      }
    }
    if (parts.trask)
      text += fmt::format(",{},{},{}", csv_number(cell.trask.median), csv_number(cell.trask.mad), published("trask"));
    if (parts.before) {
      const Estimate before = before_regularisers(cell);
      text += fmt::format(",{},{},{}", csv_number(before.value), csv_number(before.lo), csv_number(before.hi));
    }
    text += fmt::format(",{}\n", csv_cell(fmt::format("{}", fmt::join(remarks, "; "))));
  }
  return text;
}

// Everything, whatever the metric: who reads JSON can choose.
std::string json_of(const TaskResults& results) {
  using Json = nlohmann::ordered_json;
  const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(); };
  const auto estimate = [&](const Estimate& e) {
    return Json{{"value", number(e.value)}, {"lo", number(e.lo)}, {"hi", number(e.hi)}};
  };
  const auto spread = [&](const Spread& s) {
    return Json{{"median", number(s.median)},
                {"mad", number(s.mad)},
                {"mean", number(s.mean)},
                {"smallest", number(s.smallest)},
                {"largest", number(s.largest)}};
  };
  const auto optional = [](const auto& value) { return value ? Json(*value) : Json(); };
  const auto goal_of = [&](const Arm& arm) {
    if (!has_goal(arm)) return Json();
    return Json{{"measure", arm.goal.measure},
                {"best_by", arm.goal.best_by.empty() ? Json() : Json(arm.goal.best_by)},
                {arm.goal.above ? "above" : "below", number(arm.goal.limit)}};
  };
  Json cells = Json::array();
  for (std::size_t c = 0; c < results.cells.size(); ++c) {
    const TaskCell& cell = results.cells[c];
    const Arm& arm = *cell.arm;
    Json measures = Json::object(), published = Json::array(), runs = Json::array();
    for (std::size_t m = 0; m < cell.measures.size(); ++m) measures[arm.measures[m].name] = spread(cell.measures[m]);
    for (const PublishedFigure& figure : results.published)
      if (figure.model == arm.model && figure.operation == arm.operation && figure.setting == arm.setting)
        published.push_back({{"what", figure.what}, {"value", number(figure.value)}, {"remark", figure.remark}});
    for (std::size_t r = 0; r < cell.runs.size(); ++r) {
      const TaskRunResult& run = cell.runs[r];
      Json values = Json::object();
      for (std::size_t m = 0; m < run.values.size(); ++m) values[arm.measures[m].name] = number(run.values[m]);
      runs.push_back({{"seed", run.seed},
                      {"success", run.success},
                      {"ever", run.ever},
                      {"at_end", run.at_end},
                      {"solved_at", optional(run.solved_at)},
                      {"before_regularisers", optional(run.before_regularisers)},
                      {"trask", run.trask ? number(*run.trask) : Json()},
                      {"values", std::move(values)},
                      {"note", results.notes[c][r]}});
    }
    cells.push_back({{"model", arm.model},
                     {"operation", arm.operation},
                     {"setting", arm.setting},
                     {"goal", goal_of(arm)},
                     {"runs", cell.runs.size()},
                     {"successes", cell.successes},
                     {"ever", cell.ever},
                     {"at_end", cell.at_end},
                     {"success", estimate(cell.success)},
                     {"solved_at", {{"median", number(cell.median_solved_at)}}},
                     {"measures", std::move(measures)},
                     {"trask", spread(cell.trask)},
                     {"before_regularisers", estimate(before_regularisers(cell))},
                     {"published", std::move(published)},
                     {"seeds", std::move(runs)}});
  }
  const Json all{{"version", results.info.version},    {"task", results.info.plan.task->name},
                 {"preset", results.info.plan.preset}, {"command", results.info.command},
                 {"goal", describe_goal(results)},     {"missing", results.missing},
                 {"cells", std::move(cells)}};
  return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::vector<const PublishedFigure*> TaskResults::published_for(const Arm& arm, std::string_view what) const {
  std::vector<const PublishedFigure*> figures;
  for (const PublishedFigure& figure : published)
    if (figure.what == what && figure.model == arm.model && figure.operation == arm.operation &&
        figure.setting == arm.setting)
      figures.push_back(&figure);
  return figures;
}

std::vector<std::string> TaskResults::measure_names() const {
  std::vector<std::string> names;
  for (const Arm& arm : arms)
    for (const Measure& measure : arm.measures)
      if (std::find(names.begin(), names.end(), measure.name) == names.end()) names.push_back(measure.name);
  return names;
}

Result<TaskResults> judge_task(const TaskStore& store, std::optional<double> limit) {
  const Result<std::vector<StoredTaskRun>> runs = store.runs();
  if (!runs) return runs.error();
  const Result<std::vector<TaskRunId>> missing = store.missing();
  if (!missing) return missing.error();
  TaskResults results;
  results.info = store.info();
  results.limit = limit;
  results.arms = store.arms();
  if (limit)
    for (Arm& arm : results.arms) arm.goal.limit = *limit;
  results.cells = summarise(results.arms, *runs);
  results.notes.resize(results.arms.size());
  for (const StoredTaskRun& run : *runs) results.notes[run.id.arm].push_back(run.record.note);
  results.published = published_figures(*results.info.plan.task);
  results.missing = missing->size();
  return results;
}

std::string describe_goal(const TaskResults& results) {
  // Where arms differ, only what they share is said.
  const auto judged = std::find_if(results.arms.begin(), results.arms.end(), has_goal);
  if (judged == results.arms.end()) return "nothing is judged";
  const Goal& first = judged->goal;
  bool same_measure = true, same_row = true, same_limit = true;
  for (const Arm& arm : results.arms) {
    if (!has_goal(arm)) continue;
    same_measure = same_measure && arm.goal.measure == first.measure && arm.goal.above == first.above;
    same_row = same_row && arm.goal.best_by == first.best_by;
    same_limit = same_limit && arm.goal.limit == first.limit;
  }
  std::string words = same_measure ? fmt::format("{} {}", first.measure, first.above ? "above" : "below")
                                   : std::string("the judged measure within");
  words += same_limit ? fmt::format(" {:.4g}", first.limit) : std::string(" the limit of its cell");
  if (!same_row) return words + " at the judged row";
  return words +
         (first.best_by.empty() ? " at the last row" : fmt::format(" at the row with the smallest {}", first.best_by));
}

double value_of(const TaskCell& cell, const PublishedFigure& figure) {
  if (figure.what == "success") return cell.success.value;
  if (figure.what == "solved-at") return cell.median_solved_at;
  if (figure.what == "trask") return cell.trask.median;
  const Spread* spread = spread_of(cell, figure.what);
  if (!spread) return std::nan("");
  return is_mean(figure) ? spread->mean : spread->median;
}

TaskTable make_task_table(const TaskResults& results, TaskMetric metric) {
  const Parts parts = parts_of(metric);
  const std::vector<std::string> measures = results.measure_names();
  TaskTable table;
  Remarks remarks;
  std::vector<std::string> heading{"model", "operation", "setting"};
  const auto head = [&](std::initializer_list<std::string> names) { heading.insert(heading.end(), names); };
  if (parts.success) head({"solved", "ever", "at end", "success % [95 %]", "published", "solved at", "published"});
  if (parts.measures)
    for (const std::string& measure : measures) head({measure, "published"});
  if (parts.trask) head({"% of start", "published"});
  if (parts.before) head({"before regularisers % [95 %]"});
  table.columns.add(heading);
  for (const TaskCell& cell : results.cells) {
    const Arm& arm = *cell.arm;
    const auto published = [&](std::string_view what, double factor = 1) {
      std::string figures;
      for (const PublishedFigure* figure : results.published_for(arm, what))
        figures += fmt::format("{}{:.4g}{}", figures.empty() ? "" : " / ", factor * figure->value,
                               remarks.mark(figure->remark));
      return figures;
    };
    std::vector<std::string> row{arm.model, arm.operation, arm.setting};
    if (parts.success && !has_goal(arm)) row.resize(row.size() + 7);
    if (parts.success && has_goal(arm)) {
      row.push_back(fmt::format("{}/{}", cell.successes, cell.runs.size()));
      row.push_back(std::to_string(cell.ever));
      row.push_back(std::to_string(cell.at_end));
      row.push_back(with_interval(cell.success, percent));
      row.push_back(published("success", 100));
      row.push_back(std::isnan(cell.median_solved_at) ? "-" : fmt::format("{:.0f}", cell.median_solved_at));
      row.push_back(published("solved-at"));
    }
    if (parts.measures) {
      for (const std::string& measure : measures) {
        const Spread* spread = spread_of(cell, measure);
        row.push_back(spread ? text_of(*spread) : "");
        row.push_back(spread ? published(measure) : "");
      }
    }
    if (parts.trask) {
      row.push_back(text_of(cell.trask));
      row.push_back(published("trask"));
    }
    if (parts.before) {
      const Estimate before = before_regularisers(cell);
      const bool none = std::isnan(before.value);
      row.push_back(!none ? with_interval(before, percent) : metric == TaskMetric::PreRegularisation ? "-" : "");
    }
    table.columns.add(std::move(row));
  }
  table.columns.drop_empty();

  if (parts.success && std::any_of(results.arms.begin(), results.arms.end(), has_goal))
    table.notes.push_back(
        fmt::format("Solved: {}; ever: at any logged iteration; at end: at the last one. Success with Wilson's "
                    "interval; solved at: the median first such iteration of the runs that succeeded.",
                    describe_goal(results)));
  if (parts.measures)
    table.notes.push_back("Measures at the judged row: median +- median of the absolute deviations from it.");
  const auto any_cell = [&](auto has) { return std::any_of(results.cells.begin(), results.cells.end(), has); };
  if (parts.trask && any_cell([](const TaskCell& c) { return !std::isnan(c.trask.median); }))
    table.notes.push_back("% of start: 100 * the judged error / that of the untrained network.");
  if (parts.before && any_cell([](const TaskCell& c) { return c.before_regularisers.has_value(); }))
    table.notes.push_back(
        "Before regularisers: runs whose weights were good enough to be rounded at the last row before the "
        "regularisers start.");
  const std::vector<std::string> lines = remarks.lines();
  if (!lines.empty()) table.notes.push_back(fmt::format("Published: {}", fmt::join(lines, "; ")));
  if (parts.notes) {
    // What most runs of a cell found.
    for (std::size_t c = 0; c < results.cells.size(); ++c) {
      std::map<std::string, int> counts;
      for (const std::string& note : results.notes[c])
        if (!note.empty()) ++counts[note];
      const auto most = std::max_element(counts.begin(), counts.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
      if (most != counts.end())
        table.notes.push_back(fmt::format("{}: {} ({} of {} runs)", results.arms[c].cell(), most->first, most->second,
                                          results.notes[c].size()));
    }
  }
  if (results.missing > 0)
    table.notes.push_back(fmt::format("{} runs are missing: the task is not finished.", results.missing));
  return table;
}

std::string print_task_table(const TaskResults& results, TaskMetric metric, TableFormat format) {
  switch (format) {
    case TableFormat::Csv:
      return csv(results, metric);
    case TableFormat::Json:
      return json_of(results);
    case TableFormat::Terminal: {
      const TaskTable table = make_task_table(results, metric);
      return fmt::format("{}\n{}\n{}\n", title_of(results), table.columns.print(), fmt::join(table.notes, "\n"));
    }
    case TableFormat::Markdown: {
      const TaskTable table = make_task_table(results, metric);
      return fmt::format("### {}\n\n{}\n{}\n", title_of(results), table.columns.markdown(),
                         fmt::join(table.notes, "\n\n"));
    }
    case TableFormat::Latex: {
      const TaskTable table = make_task_table(results, metric);
      return "% Needs \\usepackage{booktabs}.\n" +
             table.columns.latex(fmt::format("{}. {}", title_of(results), fmt::join(table.notes, " ")));
    }
  }
  return "";
}

Status write_series(const TaskStore& store, const std::string& path) {
  const Result<std::vector<StoredTaskRun>> runs = store.runs();
  if (!runs) return runs.error();
  FileWriter file(path);
  file.write("model,operation,setting,seed,step,measure,value\n");
  for (const StoredTaskRun& run : *runs) {
    const Arm& arm = store.arms()[run.id.arm];
    const std::string name =
        fmt::format("{},{},{},{}", csv_cell(arm.model), csv_cell(arm.operation), csv_cell(arm.setting), run.id.seed);
    for (std::size_t r = 0; r < run.record.steps.size(); ++r)
      for (std::size_t m = 0; m < arm.measures.size(); ++m)
        file.write(fmt::format("{},{},{},{}\n", name, run.record.steps[r], csv_cell(arm.measures[m].name),
                               run.record.values[r][m]));
  }
  return file.finish();
}

}  // namespace nalm
