#include "report/task_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "report/curve_codes.hpp"
#include "report/page.hpp"
#include "report/task_comparison.hpp"

namespace nalm {
namespace {

using nlohmann::json;

// A page should not be larger than some megabytes, however many runs it shows.
constexpr std::size_t most_numbers = 1'500'000, most_rows = 200, fewest_rows = 25;

// Four digits are more than the page shows; not a number and infinite: null.
json number(double value) { return std::isfinite(value) ? json(std::stod(fmt::format("{:.4g}", value))) : json(); }

template <class T>
json optional(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

// How the values of a measure are written: a span to be divided evenly, or nothing for decades.
using Span = std::optional<std::pair<double, double>>;

Span span_of(const Measure& measure, std::size_t m, const std::vector<const StoredTaskRun*>& runs) {
  if (measure.kind == Measure::Kind::Within) return {{0, 1}};
  double lo = std::numeric_limits<double>::infinity(), hi = -lo;
  for (const StoredTaskRun* run : runs) {
    for (const std::vector<double>& row : run->record.values) {
      if (!std::isfinite(row[m])) continue;
      lo = std::min(lo, row[m]);
      hi = std::max(hi, row[m]);
    }
  }
  const bool linear = lo < 0 || (measure.kind == Measure::Kind::NonZero && lo <= hi);
  return linear ? Span{{lo, hi}} : Span{};
}

// The rows that are drawn: evenly spread, with the first, the last and the judged one.
std::vector<std::size_t> drawn_rows(std::size_t rows, std::size_t judged, std::size_t most) {
  std::vector<std::size_t> drawn;
  if (rows <= most) most = rows + 1;
  for (std::size_t k = 0; k + 1 < most; ++k) drawn.push_back(most > 2 ? k * (rows - 1) / (most - 2) : 0);
  if (rows > 0 && !std::binary_search(drawn.begin(), drawn.end(), judged))
    drawn.insert(std::upper_bound(drawn.begin(), drawn.end(), judged), judged);
  return drawn;
}

json goal_of(const Arm& arm) {
  if (arm.goal.measure.empty()) return {};
  return {{"measure", arm.goal.measure},
          {"best_by", arm.goal.best_by},
          {"limit", number(arm.goal.limit)},
          {"above", arm.goal.above}};
}

// The cell with its runs. Curves: per run and row the iteration in two numbers, the lower half first, then the
// measures.
json cell_of(const TaskCell& cell, const std::vector<const StoredTaskRun*>& runs, std::size_t most) {
  const Arm& arm = *cell.arm;
  std::vector<Span> spans;
  json measures = json::array(), seeds = json::array();
  for (std::size_t m = 0; m < arm.measures.size(); ++m) {
    const Span span = spans.emplace_back(span_of(arm.measures[m], m, runs));
    const Spread& spread = cell.measures[m];
    measures.push_back({{"name", arm.measures[m].name},
                        {"median", number(spread.median)},
                        {"mad", number(spread.mad)},
                        {"smallest", number(spread.smallest)},
                        {"largest", number(spread.largest)},
                        {"span", span ? json{span->first, span->second} : json()}});
  }
  std::vector<std::int16_t> curves;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const RunRecord& record = runs[r]->record;
    const TaskRunResult& result = cell.runs[r];
    const std::vector<std::size_t> rows = drawn_rows(record.steps.size(), result.judged_row, most);
    for (const std::size_t row : rows) {
      const auto step = static_cast<std::uint32_t>(record.steps[row]);
      curves.push_back(static_cast<std::int16_t>(step & 0xffff));
      curves.push_back(static_cast<std::int16_t>(step >> 16));
      for (std::size_t m = 0; m < spans.size(); ++m) {
        const double value = record.values[row][m];
        curves.push_back(spans[m] ? share_of_span(value, spans[m]->first, spans[m]->second)
                                  : thousandths_of_decades(value));
      }
    }
    json values = json::array();
    for (const double value : result.values) values.push_back(number(value));
    const auto judged = std::find(rows.begin(), rows.end(), result.judged_row) - rows.begin();
    seeds.push_back({{"seed", result.seed},
                     {"success", result.success},
                     {"solved_at", optional(result.solved_at)},
                     {"rows", rows.size()},
                     {"judged", judged},
                     {"judged_at", rows.empty() ? json() : json(record.steps[result.judged_row])},
                     {"values", std::move(values)},
                     {"note", record.note}});
  }
  return {{"model", arm.model},
          {"operation", arm.operation},
          {"setting", arm.setting},
          {"goal", goal_of(arm)},
          {"regularised_from", optional(regularised_from(arm))},
          {"runs", runs.size()},
          {"successes", cell.successes},
          {"success", {number(cell.success.value), number(cell.success.lo), number(cell.success.hi)}},
          {"solved_at", number(cell.median_solved_at)},
          {"measures", std::move(measures)},
          {"published", json::array()},
          {"seeds", std::move(seeds)},
          {"curves", base64(curves)}};
}

json seeds_in_words(const std::vector<std::uint32_t>& seeds) {
  if (seeds.empty()) return "none";
  if (seeds.size() == 1) return fmt::format("{}", seeds.front());
  return fmt::format("{} per cell, {} to {}", seeds.size(), *std::min_element(seeds.begin(), seeds.end()),
                     *std::max_element(seeds.begin(), seeds.end()));
}

json facts_of(const TaskStoreInfo& info) {
  const TaskPlan& plan = info.plan;
  const Result<const TaskPreset*> preset = find_preset(*plan.task, plan.preset);
  json facts = json::array();
  const auto tell = [&](std::string_view name, const json& value) { facts.push_back({name, value}); };
  tell("Command", info.command);
  tell("Preset",
       preset && !(*preset)->meaning.empty() ? fmt::format("{}: {}", plan.preset, (*preset)->meaning) : plan.preset);
  const auto tell_filter = [&](std::string_view name, const std::string& names) {
    if (!names.empty()) tell(name, names);
  };
  tell_filter("Only models", plan.models);
  tell_filter("Only operations", plan.operations);
  tell_filter("Only settings", plan.settings);
  if (plan.iterations) tell("Iterations", fmt::format("{}, not those of the task", *plan.iterations));
  if (plan.learning_rate) tell("Learning rate", fmt::format("{}, not that of the task", *plan.learning_rate));
  if (plan.log_every) tell("Logged every", fmt::format("{} iterations", *plan.log_every));
  tell("Seeds", seeds_in_words(plan.seeds));
  tell("Begun", info.created);
  tell("Time worked", fmt::format("{:.0f} s on {} thread{}", info.seconds, info.threads, info.threads == 1 ? "" : "s"));
  tell("Version", fmt::format("{}, SIMD target {}", info.version, info.simd_target));
  return facts;
}

}  // namespace

std::string task_page_data(const TaskResults& results, const std::vector<StoredTaskRun>& runs) {
  const TaskStoreInfo& info = results.info;
  const Task& task = *info.plan.task;
  const TaskTable table = make_task_table(results, TaskMetric::All);
  const std::vector<std::vector<std::string>>& rows = table.columns.rows();
  json data{{"task", task.name},
            {"title", task.title},
            {"source", task.source},
            {"preset", info.plan.preset},
            {"settings", task.settings},
            {"differences", task.differences},
            {"version", info.version},
            {"command", info.command},
            {"created", info.created},
            {"goal", describe_goal(results)},
            {"missing", results.missing},
            {"facts", facts_of(info)},
            {"measures", json::array()},
            {"cells", json::array()},
            {"remark", ""},
            {"table",
             {{"headings", rows.front()},
              {"rows", std::vector<std::vector<std::string>>(rows.begin() + 1, rows.end())},
              {"left", table.columns.left()},
              {"notes", table.notes}}}};
  for (const std::string& name : results.measure_names()) {
    const auto is_share = [&](const Arm& arm) {
      return std::any_of(arm.measures.begin(), arm.measures.end(), [&](const Measure& measure) {
        return measure.name == name && measure.kind == Measure::Kind::Within;
      });
    };
    data["measures"].push_back(
        {{"name", name}, {"share", std::any_of(results.arms.begin(), results.arms.end(), is_share)}});
  }

  std::vector<std::vector<const StoredTaskRun*>> runs_of(results.cells.size());
  std::size_t numbers_per_row = 1;
  for (const StoredTaskRun& run : runs) {
    runs_of[run.id.arm].push_back(&run);
    numbers_per_row += 2 + results.arms[run.id.arm].measures.size();
  }
  const std::size_t most = std::clamp(most_numbers / numbers_per_row, fewest_rows, most_rows);
  const Result<TaskComparison> comparison = compare_task(results);
  for (std::size_t c = 0; c < results.cells.size(); ++c) {
    const Arm& arm = results.arms[c];
    json cell = cell_of(results.cells[c], runs_of[c], most);
    for (const PublishedFigure& figure : results.published) {
      if (figure.model != arm.model || figure.operation != arm.operation || figure.setting != arm.setting) continue;
      json agrees;
      if (comparison)
        for (const ComparedFigure& compared : comparison->figures)
          if (compared.figure == &figure && compared.judged) agrees = compared.agrees;
      cell["published"].push_back({{"what", figure.what},
                                   {"value", number(figure.value)},
                                   {"remark", figure.remark},
                                   {"agrees", std::move(agrees)}});
    }
    data["cells"].push_back(std::move(cell));
  }
  if (comparison) data["remark"] = comparison->remark;
  return data.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<std::string> task_page(const TaskStore& store) {
  const Result<TaskResults> results = judge_task(store);
  if (!results) return results.error();
  const Result<std::vector<StoredTaskRun>> runs = store.runs();
  if (!runs) return runs.error();
  return make_page(fmt::format("nalm: {}", results->info.plan.task->title), PageScript::Task,
                   task_page_data(*results, *runs));
}

}  // namespace nalm
