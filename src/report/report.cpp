#include "report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include "base/json.hpp"

#include "base/number.hpp"
#include "report/comparison.hpp"
#include "report/curve_codes.hpp"
#include "report/page.hpp"
#include "report/table.hpp"
#include "train/recipe_fields.hpp"

namespace nalm {
namespace {

// A page should not be larger than some megabytes, however many runs it shows.
constexpr std::size_t most_numbers = 1'500'000, most_rows = 200, fewest_rows = 25;

// Four digits are more than the page shows; not a number and infinite: null.
Json short_number(double value) {
  return finite_or_null(std::isfinite(value) ? read_number(fmt::format("{:.4g}", value)).value : value);
}
Json numbers(const Estimate& e) { return {short_number(e.value), short_number(e.lo), short_number(e.hi)}; }
Json short_estimate(const Estimate& e, double median) {
  if (std::isnan(e.value)) return {};
  return {short_number(e.value), short_number(e.lo), short_number(e.hi), short_number(median)};
}

// ---- curves --------------------------------------------------------------------------------------------------------

// How the values of a measure are written: a span to be divided evenly, or nothing for decades.
using Span = std::optional<std::pair<double, double>>;

// What the page draws of a run, while its rows are in memory.
struct Drawn {
  std::vector<long> steps;
  std::vector<std::vector<double>> values;
  std::size_t judged = 0;  // which of these rows
};

// The rows that are drawn: evenly spread, with the first, the last and the judged one.
std::vector<std::size_t> drawn_rows(std::size_t rows, std::size_t judged, std::size_t most) {
  std::vector<std::size_t> drawn;
  if (rows <= most) most = rows + 1;
  for (std::size_t k = 0; k + 1 < most; ++k) drawn.push_back(most > 2 ? k * (rows - 1) / (most - 2) : 0);
  if (rows > 0 && !std::binary_search(drawn.begin(), drawn.end(), judged))
    drawn.insert(std::upper_bound(drawn.begin(), drawn.end(), judged), judged);
  return drawn;
}

Drawn draw(const RunRecord& record, std::size_t judged, std::size_t most) {
  Drawn drawn;
  for (const std::size_t row : drawn_rows(record.rows(), judged, most)) {
    if (row == judged) drawn.judged = drawn.steps.size();
    drawn.steps.push_back(record.steps[row]);
    drawn.values.push_back(record.values[row]);
  }
  return drawn;
}

Span span_of(const Measure& measure, std::size_t m, const std::vector<Drawn>& runs) {
  if (measure.kind == Measure::Kind::Within) return {{0, 1}};
  double lo = std::numeric_limits<double>::infinity(), hi = -lo;
  for (const Drawn& run : runs) {
    for (const std::vector<double>& row : run.values) {
      if (!std::isfinite(row[m])) continue;
      lo = std::min(lo, row[m]);
      hi = std::max(hi, row[m]);
    }
  }
  const bool linear = lo < 0 || (measure.kind == Measure::Kind::NonZero && lo <= hi);
  return linear ? Span{{lo, hi}} : Span{};
}

// Per run and row the iteration in two numbers, the lower half first, then the measures.
std::string curves_of(const std::vector<Drawn>& runs, const std::vector<Span>& spans) {
  std::vector<std::int16_t> codes;
  for (const Drawn& run : runs) {
    for (std::size_t row = 0; row < run.steps.size(); ++row) {
      const auto step = static_cast<std::uint32_t>(run.steps[row]);
      codes.push_back(static_cast<std::int16_t>(step & 0xffff));
      codes.push_back(static_cast<std::int16_t>(step >> 16));
      for (std::size_t m = 0; m < spans.size(); ++m)
        codes.push_back(spans[m] ? share_of_span(run.values[row][m], spans[m]->first, spans[m]->second)
                                 : thousandths_of_decades(run.values[row][m]));
    }
  }
  return base64(codes);
}

// ---- cells ---------------------------------------------------------------------------------------------------------

Json seed_of(const RunResult& run, const Drawn& drawn) {
  Json values = Json::array(), failure;
  for (const double value : run.values) values.push_back(short_number(value));
  if (run.failure) {
    std::string words = run.failure->kind;
    if (!run.failure->detail.empty()) words += ": " + run.failure->detail;
    if (!run.failure->when.empty()) words += fmt::format(" ({})", run.failure->when);
    failure = words;
  }
  return {{"seed", run.seed},
          {"success", run.success},
          {"solved_at", value_or_null(run.solved_at)},
          {"rows", drawn.steps.size()},
          {"judged", drawn.judged},
          {"judged_at", run.judged_step},
          {"values", std::move(values)},
          {"note", run.note},
          {"failure", std::move(failure)}};
}

Json cell_of(const Results& results, const CellResult& result, const std::vector<Drawn>& drawn,
             const Result<Comparison>& comparison) {
  const Cell& cell = *result.cell;
  std::vector<Span> spans;
  Json measures = Json::array(), seeds = Json::array(), published = Json::array(), failures = Json::object(), goal;
  for (std::size_t m = 0; m < cell.measures.size(); ++m) {
    const Span span = spans.emplace_back(span_of(cell.measures[m], m, drawn));
    const Spread& spread = result.measures[m];
    measures.push_back({{"name", cell.measures[m].name},
                        {"median", short_number(spread.median)},
                        {"mad", short_number(spread.mad)},
                        {"smallest", short_number(spread.smallest)},
                        {"largest", short_number(spread.largest)},
                        {"span", span ? Json{span->first, span->second} : Json()}});
  }
  for (std::size_t r = 0; r < result.runs.size(); ++r) {
    seeds.push_back(seed_of(result.runs[r], drawn[r]));
    if (const auto& failure = result.runs[r].failure) failures[failure->kind] = failures.value(failure->kind, 0) + 1;
  }
  for (const PublishedFigure* figure : results.published_for(cell)) {
    // What `nalm compare` would refuse to judge is not judged here.
    Json agrees;
    if (comparison)
      for (const ComparedFigure& compared : comparison->figures)
        if (compared.figure == figure && compared.verdict != ComparedFigure::Verdict::ShownOnly)
          agrees = compared.verdict != ComparedFigure::Verdict::Differs;
    published.push_back({{"what", figure->what},
                         {"value", short_number(figure->value.value)},
                         {"lo", short_number(figure->value.lo)},
                         {"hi", short_number(figure->value.hi)},
                         {"remark", figure->source},
                         {"agrees", std::move(agrees)}});
  }
  if (cell.has_goal())
    goal = {{"measure", cell.goal.measure},
            {"best_by", cell.goal.best_by},
            {"limit", short_number(result.limit)},
            {"above", cell.goal.above}};
  return {{"model", cell.model},
          {"operation", cell.operation},
          {"setting", cell.setting},
          {"goal", std::move(goal)},
          {"regularised_from", value_or_null(regularised_from(cell))},
          {"iterations", cell.iterations()},
          {"runs", result.run_count()},
          {"successes", result.successes},
          {"ever", value_or_null(result.ever)},
          {"at_end", value_or_null(result.at_end)},
          {"success", numbers(result.success)},
          {"solved_at", short_estimate(result.solved_at, result.median_solved_at)},
          {"sparsity", short_estimate(result.sparsity, result.median_sparsity)},
          {"measures", std::move(measures)},
          {"published", std::move(published)},
          {"failures", std::move(failures)},
          {"seeds", std::move(seeds)},
          {"curves", curves_of(drawn, spans)}};
}

// ---- what stands around them ---------------------------------------------------------------------------------------

std::string seeds_in_words(const std::vector<std::uint32_t>& seeds) {
  if (seeds.size() == 1) return fmt::format("{}", seeds.front());
  return fmt::format("{} per cell, {} to {}", seeds.size(), *std::min_element(seeds.begin(), seeds.end()),
                     *std::max_element(seeds.begin(), seeds.end()));
}

Json facts_of(const Results& results) {
  const StoreInfo& info = results.info;
  const Plan& plan = info.plan;
  const Result<const TaskPreset*> preset = find_preset(*plan.task, plan.preset);
  Json facts = Json::array();
  const auto tell = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) facts.push_back({name, value});
  };
  tell("Command", info.command);
  tell("Preset",
       preset && !(*preset)->meaning.empty() ? fmt::format("{}: {}", plan.preset, (*preset)->meaning) : plan.preset);
  tell(fmt::format("Only {}s", plan.task->model_word), plan.models);
  tell("Only operations", plan.operations);
  tell(fmt::format("Only {}s", plan.task->setting_word), plan.settings);
  for (const auto& [name, value] : plan.options) tell(name, value);
  for (const std::string& change : plan.changes()) tell("Not the task's own", change);
  tell("Seeds", seeds_in_words(plan.seeds));
  tell("Begun", info.created);
  tell("Time worked", fmt::format("{:.0f} s on {} thread{}", info.seconds, info.threads, info.threads == 1 ? "" : "s"));
  tell("Version", fmt::format("{}, SIMD target {}", info.version, info.simd_target));
  return facts;
}

// Cells with the same recipe stand together: [names, recipe], models that have it with all their operations by name.
Json recipes_of(const Results& results) {
  std::vector<std::pair<std::string, std::vector<std::string>>> recipes;
  for (const Cell& cell : results.cells) {
    if (cell.own) continue;
    const std::string recipe = to_json(cell.recipe);
    auto at = std::find_if(recipes.begin(), recipes.end(), [&](const auto& entry) { return entry.first == recipe; });
    if (at == recipes.end()) at = recipes.insert(recipes.end(), {recipe, {}});
    const std::string name = fmt::format("{} {}", cell.model, cell.operation);
    if (at->second.empty() || at->second.back() != name) at->second.push_back(name);
  }
  Json pairs = Json::array();
  for (const auto& [recipe, names] : recipes) pairs.push_back({names, recipe});
  return pairs;
}

Json tables_of(const Results& results) {
  Json tables = Json::array();
  for (const PeoplesTable& table : tables_for_people(results, "")) {
    const std::vector<std::vector<std::string>>& rows = table.columns.rows();
    tables.push_back({{"title", table.title},
                      {"headings", rows.front()},
                      {"rows", std::vector<std::vector<std::string>>(rows.begin() + 1, rows.end())},
                      {"left", table.columns.left()},
                      {"notes", table.notes}});
  }
  return tables;
}

Json comparison_of(const Result<Comparison>& comparison) {
  if (!comparison) return {{"agrees", nullptr}, {"words", comparison.error().message}};
  return {{"agrees", comparison->judged > 0 ? Json(comparison->agrees()) : Json()},
          {"words", print(*comparison, false)},
          {"remark", comparison->remark}};
}

}  // namespace

Result<std::string> report_data(const Store& store, const Judgement& wanted) {
  Judgement judgement = wanted;
  judgement.diagnose = true;
  std::size_t numbers_per_row = 1;
  for (const Cell& cell : store.cells()) numbers_per_row += (2 + cell.measures.size()) * store.info().plan.seeds.size();
  const std::size_t most = std::clamp(most_numbers / numbers_per_row, fewest_rows, most_rows);
  std::vector<std::vector<Drawn>> drawn(store.cells().size());
  const Result<Results> judged =
      judge_store(store, judgement, [&](std::size_t cell, const RunRecord& record, const RunResult& result) {
        drawn[cell].push_back(draw(record, result.judged_row, most));
      });
  if (!judged) return judged.error();
  const Results& results = *judged;
  const Task& task = results.task();
  // By another criterion the rates are other rates than the published ones.
  const Result<Comparison> comparison =
      wanted.criterion.kind == Criterion::Kind::Goal
          ? compare_with_published(results)
          : Result<Comparison>(Error{"judged by another criterion than the published figures: not compared."});
  Json data{{"task", task.name},
            {"title", task.title},
            {"source", task.source},
            {"preset", results.info.plan.preset},
            {"settings_text", task.settings},
            {"differences", task.differences},
            {"version", results.info.version},
            {"command", results.info.command},
            {"created", results.info.created},
            {"goal", describe_goal(results)},
            {"intervals", judgement.paper_intervals ? "paper" : "honest"},
            {"changes", results.info.plan.changes()},
            {"missing", results.missing},
            {"layout", task.layout == Task::Layout::Grid   ? "grid"
                       : task.layout == Task::Layout::Runs ? "runs"
                                                           : "cells"},
            {"words", {{"model", task.model_word}, {"setting", task.setting_word}}},
            {"facts", facts_of(results)},
            {"recipes", recipes_of(results)},
            {"models", results.models()},
            {"operations", results.operations()},
            {"settings", results.settings()},
            {"measures", Json::array()},
            {"comparison", comparison_of(comparison)},
            {"tables", tables_of(results)},
            {"reproduce", {results.info.command + " --out again", "nalm compare again"}},
            {"cells", Json::array()}};
  for (const std::string& name : results.measure_names()) {
    const auto is_share = [&](const Cell& cell) {
      const std::optional<std::size_t> m = cell.position(name);
      return m && cell.measures[*m].kind == Measure::Kind::Within;
    };
    data["measures"].push_back(
        {{"name", name}, {"share", std::any_of(results.cells.begin(), results.cells.end(), is_share)}});
  }
  for (std::size_t c = 0; c < results.results.size(); ++c)
    data["cells"].push_back(cell_of(results, results.results[c], drawn[c], comparison));
  return data.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<std::string> report_page(const Store& store, const Judgement& judgement) {
  const Result<std::string> data = report_data(store, judgement);
  if (!data) return data.error();
  return make_page(fmt::format("nalm: {}", store.info().plan.task->title), assets::page_report, *data);
}

Result<std::string> comparison_page(std::span<const StoreComparison> comparisons, std::span<const std::string> names) {
  Json data{{"title", "Results side by side"},
            {"names", names},
            {"words", print(comparisons, names, false)},
            {"commands", Json::array({comparisons.front().first->info.command})},
            {"others", Json::array()}};
  for (std::size_t k = 0; k < comparisons.size(); ++k) {
    const StoreComparison& comparison = comparisons[k];
    data["commands"].push_back(comparison.other->info.command);
    Json cells = Json::array();
    for (const ComparedCell& c : comparison.cells)
      cells.push_back({{"model", c.first->cell->model},
                       {"operation", c.first->cell->operation},
                       {"setting", c.first->cell->setting},
                       {"first", numbers(c.first->success)},
                       {"other", numbers(c.other->success)},
                       {"runs", {c.first->run_count(), c.other->run_count()}},
                       {"difference", numbers(c.difference)},
                       {"paired", c.paired},
                       {"differs", c.differs}});
    data["others"].push_back({{"name", names[k + 1]},
                              {"difference", numbers(comparison.difference)},
                              {"differing", comparison.differing},
                              {"cells", std::move(cells)}});
  }
  return make_page("nalm: results side by side", assets::page_comparison,
                   data.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace nalm
