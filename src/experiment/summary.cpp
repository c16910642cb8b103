#include "experiment/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiment/predictions.hpp"

namespace nalm {
namespace {

// What the judged value is compared with.
Result<double> limit_of(const Cell& cell, const Criterion& criterion, std::uint32_t seed) {
  if (criterion.kind == Criterion::Kind::Goal) return cell.goal.limit;
  if (criterion.limit) return *criterion.limit;
  if (!(criterion.epsilon > 0 && criterion.epsilon < 1))
    return Error{fmt::format("epsilon is how far weights may be off, so it lies between 0 and 1, unlike {}.",
                             criterion.epsilon)};
  const std::optional<double> limit = cell.problem ? cell.problem->limit(criterion, seed) : std::nullopt;
  if (!limit)
    return Error{fmt::format(
        "no model that is almost right is known for {}, so nothing follows from an epsilon there; use --metric "
        "threshold --limit X.",
        cell.name())};
  return *limit;
}

bool all_finite_sizes(const Cell& cell, const RunRecord& record) {
  return record.values.size() == record.rows() &&
         std::all_of(record.values.begin(), record.values.end(),
                     [&](const std::vector<double>& row) { return row.size() == cell.measures.size(); });
}

std::optional<int> count(const std::vector<RunResult>& runs, std::optional<bool> RunResult::*held) {
  int sum = 0;
  for (const RunResult& run : runs) {
    if (!(run.*held)) return std::nullopt;
    sum += *(run.*held) ? 1 : 0;
  }
  return sum;
}

}  // namespace

Result<RunResult> judge(const Cell& cell, const RunRecord& record, std::uint32_t seed, const Criterion& criterion) {
  if (record.rows() == 0)
    return Error{fmt::format("the run of {} with seed {} has no logged rows: it needs at least one to be judged.",
                             cell.name(), seed)};
  if (!all_finite_sizes(cell, record))
    return Error{
        fmt::format("the run of {} with seed {} is not whole: a row does not have all measures.", cell.name(), seed)};
  RunResult result;
  result.seed = seed;
  result.judged_row = judged_row(cell, record);
  result.judged_step = record.steps[result.judged_row];
  result.values = record.values[result.judged_row];
  result.note = record.note;
  result.facts = record.facts;
  const std::optional<std::size_t> judged = cell.position(cell.goal.measure);
  if (!judged) return result;
  const auto value = [&](std::size_t row) { return record.values[row][*judged]; };

  const Result<double> limit = limit_of(cell, criterion, seed);
  if (!limit) return limit.error();
  result.limit = *limit;
  // Whether a row meets the criterion; nothing if it cannot be told.
  Status possible = Done{};
  const auto meets = [&](std::size_t row) -> std::optional<bool> {
    if (!criterion.needs_predictions()) return cell.goal.above ? value(row) > *limit : value(row) < *limit;
    const Result<double> predicted = predicted_measure(cell, record, row, seed, criterion.kind);
    if (!predicted) {
      if (row == result.judged_row) possible = predicted.error();
      return std::nullopt;
    }
    return criterion.kind == Criterion::Kind::Correlation ? *predicted >= *limit : *predicted <= *limit;
  };
  result.success = meets(result.judged_row).value_or(false);
  if (!possible) return possible.error();
  if (!criterion.needs_predictions()) {
    result.at_end = meets(record.rows() - 1);
    result.ever = false;
    for (std::size_t row = 0; row < record.rows(); ++row) result.ever = *result.ever || *meets(row);
  }
  if (result.success) {
    std::size_t row = 0;
    while (row < result.judged_row && !meets(row).value_or(false)) ++row;
    result.solved_at = record.steps[row];
  }
  if (const std::optional<double> from = regularised_from(cell); from && cell.goal.loose_limit)
    for (std::size_t row = 0; row < record.rows() && static_cast<double>(record.steps[row]) <= *from; ++row)
      result.before_regularisers = value(row) < *cell.goal.loose_limit;
  if (!cell.goal.above) result.trask = 100 * value(result.judged_row) / value(0);
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

const Spread* CellResult::spread(std::string_view measure) const {
  const std::optional<std::size_t> m = cell->position(measure);
  return m && *m < measures.size() ? &measures[*m] : nullptr;
}

CellResult summarise(const Cell& cell, std::vector<RunResult> runs, bool paper_intervals) {
  CellResult result;
  result.cell = &cell;
  result.runs = std::move(runs);
  const auto sparsity = std::find_if(cell.measures.begin(), cell.measures.end(),
                                     [](const Measure& m) { return m.kind == Measure::Kind::Sparsity; });
  std::vector<double> steps, sparsities, trask;
  int before = 0, asked_before = 0;
  result.limit = result.runs.empty() || !result.runs.front().limit ? no_value : *result.runs.front().limit;
  for (const RunResult& run : result.runs) {
    if (run.trask) trask.push_back(*run.trask);
    if (run.limit && *run.limit != result.limit) result.limit = no_value;
    if (run.before_regularisers) ++asked_before, before += *run.before_regularisers ? 1 : 0;
    if (!run.success) continue;
    ++result.successes;
    steps.push_back(static_cast<double>(run.solved_at.value_or(run.judged_step)));
    if (sparsity != cell.measures.end())
      sparsities.push_back(run.values[static_cast<std::size_t>(sparsity - cell.measures.begin())]);
  }
  result.ever = count(result.runs, &RunResult::ever);
  result.at_end = count(result.runs, &RunResult::at_end);
  result.success = wilson(result.successes, result.run_count());
  // Runs that are more than a network end when they end.
  const double last = cell.own ? infinity : static_cast<double>(cell.iterations());
  result.solved_at = paper_intervals ? paper_solved_at(steps) : solved_at_estimate(steps, last);
  result.sparsity = paper_intervals ? paper_sparsity(sparsities) : sparsity_estimate(sparsities);
  result.median_solved_at = median(steps);
  result.median_sparsity = median(sparsities);
  result.trask = spread_of(trask);
  result.before_regularisers = wilson(before, asked_before);
  for (std::size_t m = 0; m < cell.measures.size(); ++m) {
    std::vector<double> values;
    for (const RunResult& run : result.runs) values.push_back(run.values[m]);
    result.measures.push_back(spread_of(values));
  }
  return result;
}

std::vector<std::string> Results::measure_names() const {
  std::vector<std::string> names;
  for (const Cell& cell : cells)
    for (const Measure& measure : cell.measures)
      if (std::find(names.begin(), names.end(), measure.name) == names.end()) names.push_back(measure.name);
  return names;
}

std::vector<std::string> Results::models(std::string_view operation) const {
  std::vector<Cell> some;
  for (const Cell& cell : cells)
    if (operation.empty() || cell.operation == operation) some.push_back(cell);
  return distinct(some, &Cell::model);
}
std::vector<std::string> Results::operations() const { return distinct(cells, &Cell::operation); }
std::vector<std::string> Results::settings() const { return distinct(cells, &Cell::setting); }

const CellResult* Results::find(std::string_view model, std::string_view operation, std::string_view setting) const {
  for (const CellResult& result : results)
    if (result.cell->model == model && result.cell->operation == operation && result.cell->setting == setting)
      return &result;
  return nullptr;
}

std::vector<const PublishedFigure*> Results::published_for(const Cell& cell, std::string_view what) const {
  std::vector<const PublishedFigure*> figures;
  for (const PublishedFigure& figure : published)
    if ((what.empty() || figure.what == what) && figure.model == cell.model && figure.operation == cell.operation &&
        figure.setting == cell.setting)
      figures.push_back(&figure);
  return figures;
}

Result<Results> judge_store(const Store& store, const Judgement& judgement,
                            const std::function<void(std::size_t, const RunRecord&, const RunResult&)>& seen) {
  Results results;
  results.info = store.info();
  results.judgement = judgement;
  results.cells = store.cells();
  results.published = results.task().published ? results.task().published(results.info.plan)
                                               : published_in_tasks_csv(results.task().name);
  std::vector<std::vector<RunResult>> judged(results.cells.size());
  std::size_t stored = 0;
  const Status read = store.for_each_run([&](const FinishedRun& run) -> Status {
    const Cell& cell = results.cells[run.id.cell];
    Result<RunResult> result = judge(cell, run.record, run.id.seed, judgement.criterion);
    if (!result) return result.error();
    result->seconds = run.seconds;
    if (judgement.diagnose && cell.problem && !result->success)
      result->failure = cell.problem->diagnose(cell, run.record, *result);
    if (seen) seen(run.id.cell, run.record, *result);
    judged[run.id.cell].push_back(std::move(*result));
    ++stored;
    return Done{};
  });
  if (!read) return read.error();
  for (std::size_t c = 0; c < results.cells.size(); ++c)
    results.results.push_back(summarise(results.cells[c], std::move(judged[c]), judgement.paper_intervals));
  results.missing = results.cells.size() * results.info.plan.seeds.size() - stored;
  return results;
}

std::string describe_goal(const Results& results) {
  const Criterion& criterion = results.judgement.criterion;
  const auto first =
      std::find_if(results.cells.begin(), results.cells.end(), [](const Cell& c) { return c.has_goal(); });
  if (first == results.cells.end()) return "nothing is judged";
  const bool derived = !criterion.limit;
  switch (criterion.kind) {
    case Criterion::Kind::Epsilon:
      return fmt::format("{} below that of the right model with every weight off by {:g}", first->goal.measure,
                         criterion.epsilon);
    case Criterion::Kind::LogSpace:
      return fmt::format("{} below that of the right model in log space with every power off by {:g}",
                         first->goal.measure, criterion.epsilon);
    case Criterion::Kind::Correlation:
    case Criterion::Kind::Mape: {
      const bool correlation = criterion.kind == Criterion::Kind::Correlation;
      return fmt::format(
          "{} on the test set of at {} {}", correlation ? "correlation of output and target" : "mean relative error",
          correlation ? "least" : "most",
          derived ? fmt::format("that of the right model with every weight off by {:g}", criterion.epsilon)
                  : fmt::format("{:g}", *criterion.limit));
    }
    case Criterion::Kind::Goal:
    case Criterion::Kind::Limit:
      break;
  }
  // Where cells differ, only what they share is said.
  const Goal& goal = first->goal;
  bool same_measure = true, same_row = true, same_limit = true;
  for (const Cell& cell : results.cells) {
    if (!cell.has_goal()) continue;
    same_measure = same_measure && cell.goal.measure == goal.measure && cell.goal.above == goal.above;
    same_row = same_row && cell.goal.best_by == goal.best_by;
    same_limit = same_limit && cell.goal.limit == goal.limit;
  }
  std::string words = same_measure ? fmt::format("{} {}", goal.measure, goal.above ? "above" : "below")
                                   : std::string("the judged measure within");
  if (criterion.limit) {
    words += fmt::format(" {:.4g}", *criterion.limit);
  } else if (same_limit) {
    words += fmt::format(" {:.4g}", goal.limit);
  } else if (first->problem && first->problem->limit({Criterion::Kind::Epsilon, 1e-5, {}}, 0) == goal.limit) {
    words += " that of the right model with every weight off by 1e-05";
  } else {
    words += " the limit of its cell";
  }
  if (!same_row) return words + " at the judged row";
  return words +
         (goal.best_by.empty() ? " at the last row" : fmt::format(" at the row with the smallest {}", goal.best_by));
}

std::vector<CheckResult> run_checks(const Results& results) {
  const auto matches = [](std::string_view pattern, std::string_view name) {
    if (pattern.starts_with('!')) return name != pattern.substr(1);
    return pattern.starts_with('*') ? name.ends_with(pattern.substr(1)) : pattern.empty() || name == pattern;
  };
  std::vector<CheckResult> checked;
  for (const Check& check : results.task().checks) {
    if (!check.preset.empty() && check.preset != results.info.plan.preset) continue;
    std::vector<double> values;
    int successes = 0, runs = 0;
    for (const CellResult& result : results.results) {
      const Cell& cell = *result.cell;
      if (!matches(check.model, cell.model) || !matches(check.operation, cell.operation) ||
          !matches(check.setting, cell.setting))
        continue;
      successes += result.successes;
      runs += result.run_count();
      if (const std::optional<std::size_t> m = cell.position(check.measure))
        for (const RunResult& run : result.runs) values.push_back(run.values[*m]);
    }
    if (runs == 0) continue;
    const double value = check.measure == "success" ? static_cast<double>(successes) / runs : spread_of(values).median;
    checked.push_back({&check, value, check.at_least ? value >= check.value : value <= check.value});
  }
  return checked;
}

}  // namespace nalm
