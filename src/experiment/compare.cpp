#include "experiment/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "nalm/detail/portable.hpp"
#include "numeric/student.hpp"

namespace nalm {
namespace {

constexpr double half_a_percent = 0.005;

Estimate interval_of(const Rate& rate) {
  if (rate.runs == 0) return {rate.value, rate.value, rate.value};
  return wilson(static_cast<int>(std::lround(rate.value * rate.runs)), rate.runs);
}

std::string printed(double value) { return fmt::format("{:.1e}", value); }

bool is_chaotic(const Cell& cell) { return cell.stack.size() == 1 && cell.stack.front().module->chaotic; }

// Whether our runs are those with the seeds 0, 1, ..., runs - 1.
bool has_seeds(const CellResult& cell, int runs) {
  std::vector<bool> there(static_cast<std::size_t>(runs), false);
  for (const RunResult& run : cell.runs)
    if (run.seed < there.size()) there[run.seed] = true;
  return cell.run_count() == runs && std::all_of(there.begin(), there.end(), [](bool b) { return b; });
}

void judge_rate(ComparedFigure& compared) {
  const PublishedFigure& figure = *compared.figure;
  const int theirs = figure.runs.value_or(0);
  if (figure.same_seeds && compared.cell && has_seeds(*compared.cell, theirs)) {
    compared.allowed = compared.chaotic ? Comparison::allowed_chaotic : Comparison::allowed_reproducible;
    const int difference = std::abs(compared.difference());
    compared.verdict = difference == 0                   ? ComparedFigure::Verdict::Equal
                       : difference <= *compared.allowed ? ComparedFigure::Verdict::Agrees
                                                         : ComparedFigure::Verdict::Differs;
    return;
  }
  compared.verdict = rates_agree({compared.ours.value, compared.runs}, {figure.value.value, theirs})
                         ? ComparedFigure::Verdict::Agrees
                         : ComparedFigure::Verdict::Differs;
}

// Where our runs are theirs, the mean must be the same as printed, by the paper's rule, whatever intervals are shown.
void judge_solved_at(ComparedFigure& compared) {
  const PublishedFigure& figure = *compared.figure;
  if (!figure.same_seeds || compared.chaotic || std::isnan(figure.value.lo) ||
      !has_seeds(*compared.cell, figure.runs.value_or(0)))
    return;
  std::vector<double> steps;
  for (const RunResult& run : compared.cell->runs)
    if (run.success) steps.push_back(static_cast<double>(*run.solved_at));
  const bool equal = !steps.empty() && printed(paper_solved_at(steps).value) == printed(figure.value.value);
  compared.verdict = equal                                      ? ComparedFigure::Verdict::Equal
                     : means_agree(compared.ours, figure.value) ? ComparedFigure::Verdict::Agrees
                                                                : ComparedFigure::Verdict::Differs;
}

// A rate of all settings of a model and operation, if all settings that the task has were run; or of all cells of a
// setting.
std::optional<ComparedFigure> pooled(const Results& results, const PublishedFigure& figure) {
  ComparedFigure compared;
  compared.figure = &figure;
  int cells = 0;
  std::vector<double> values;  // of a measure, over all runs
  for (const CellResult& result : results.results) {
    if (figure.is_of_all_cells() ? result.cell->setting != figure.setting
                                 : result.cell->model != figure.model || result.cell->operation != figure.operation)
      continue;
    if (const auto position = result.cell->position(figure.what))
      for (const RunResult& run : result.runs) values.push_back(run.values[*position]);
    compared.successes += result.successes;
    compared.runs += result.run_count();
    ++cells;
  }
  if (compared.runs == 0 || !results.info.plan.settings.empty() || cells < 2) return std::nullopt;
  compared.ours = wilson(compared.successes, compared.runs);
  if (figure.what == "success") return compared;
  const Spread spread = spread_of(values);
  compared.ours = {figure.mean ? spread.mean : spread.median, no_value, no_value};
  return compared;
}

void count(Comparison& comparison, const ComparedFigure& compared) {
  using Verdict = ComparedFigure::Verdict;
  const bool equal = compared.verdict == Verdict::Equal;
  if (compared.figure->what == "solved-at") {
    if (compared.verdict == Verdict::ShownOnly) return;
    ++comparison.solved_at_compared;
    comparison.solved_at_equal += equal ? 1 : 0;
    return;
  }
  if (compared.verdict == Verdict::ShownOnly) return;
  ++comparison.judged;
  comparison.agreeing += compared.verdict != Verdict::Differs ? 1 : 0;
  if (!compared.allowed) return;
  ++comparison.same_seeds;
  comparison.same_seeds_equal += equal ? 1 : 0;
  comparison.reproducible += compared.chaotic ? 0 : 1;
  comparison.reproducible_equal += !compared.chaotic && equal ? 1 : 0;
}

}  // namespace

Estimate rate_difference(const Rate& a, const Rate& b) {
  const Estimate x = interval_of(a), y = interval_of(b);
  const double difference = a.value - b.value;
  return {difference, difference - portable::hypot(a.value - x.lo, y.hi - b.value),
          difference + portable::hypot(x.hi - a.value, b.value - y.lo)};
}

bool rates_agree(const Rate& a, const Rate& b) {
  const Estimate difference = rate_difference(a, b);
  return difference.lo <= half_a_percent && difference.hi >= -half_a_percent;
}

bool means_agree(const Estimate& a, const Estimate& b) {
  const auto lo = [](const Estimate& e) { return std::isnan(e.lo) ? e.value : e.lo; };
  const auto hi = [](const Estimate& e) { return std::isnan(e.hi) ? e.value : e.hi; };
  return lo(a) <= hi(b) && lo(b) <= hi(a);
}

Estimate paired_difference(int only_a, int only_b, int n, double confidence) {
  if (n == 0) return {no_value, no_value, no_value};
  const double z = numeric::normal_quantile(0.5 + confidence / 2);
  // Bonett and Price add one pair of each kind that disagrees.
  const double a = (only_a + 1.0) / (n + 2.0), b = (only_b + 1.0) / (n + 2.0);
  const double error = z * std::sqrt((a + b - (a - b) * (a - b)) / (n + 2.0));
  return {static_cast<double>(only_a - only_b) / n, std::max(-1.0, a - b - error), std::min(1.0, a - b + error)};
}

int ComparedFigure::difference() const { return successes - static_cast<int>(std::lround(figure->value.value * runs)); }

Estimate value_of(const CellResult& cell, const PublishedFigure& figure) {
  if (figure.what == "success") return cell.success;
  if (figure.what == "solved-at")
    return figure.mean ? cell.solved_at : Estimate{cell.median_solved_at, no_value, no_value};
  if (figure.what == "sparsity") return cell.sparsity;
  if (figure.what == "trask") return {cell.trask.median, no_value, no_value};
  const Spread* spread = cell.spread(figure.what);
  return {!spread ? no_value : figure.mean ? spread->mean : spread->median, no_value, no_value};
}

Result<Comparison> compare_with_published(const Results& results) {
  const Plan& plan = results.info.plan;
  if (const std::vector<std::string> changes = plan.changes(); !changes.empty())
    return Error{fmt::format("these runs do not follow the task's settings ({} was given); compare a run without that.",
                             fmt::join(changes, " "))};
  Comparison comparison;
  for (const PublishedFigure& figure : results.published) {
    ComparedFigure compared;
    if (figure.setting == PublishedFigure::all_settings || figure.is_of_all_cells()) {
      const std::optional<ComparedFigure> all = pooled(results, figure);
      if (!all) continue;
      compared = *all;
    } else {
      compared.cell = results.find(figure.model, figure.operation, figure.setting);
      if (!compared.cell || compared.cell->runs.empty()) continue;
      compared.figure = &figure;
      compared.ours = value_of(*compared.cell, figure);
      compared.runs = compared.cell->run_count();
      compared.successes = compared.cell->successes;
      compared.chaotic = is_chaotic(*compared.cell->cell);
    }
    if (figure.what == "success" && figure.comparable) judge_rate(compared);
    if (figure.what == "solved-at" && compared.cell) judge_solved_at(compared);
    count(comparison, compared);
    comparison.figures.push_back(compared);
  }
  if (comparison.figures.empty())
    return Error{fmt::format("nothing was published for these cells of the task {}; \"nalm list {}\" shows what was.",
                             plan.task->name, plan.task->name)};
  // The order of the cells, whatever that of the files.
  std::stable_sort(comparison.figures.begin(), comparison.figures.end(),
                   [](const ComparedFigure& a, const ComparedFigure& b) {
                     return a.cell && b.cell ? a.cell < b.cell : a.cell && !b.cell;
                   });
  if (plan.preset == "quick") comparison.remark = "The preset quick trains less than the papers did.";
  if (results.missing > 0)
    comparison.remark += fmt::format("{}{} runs are missing: the task is not finished.",
                                     comparison.remark.empty() ? "" : " ", results.missing);
  if (comparison.agreeing < comparison.judged)
    comparison.broken.push_back(fmt::format("{} of {} rates differ by more than allowed",
                                            comparison.judged - comparison.agreeing, comparison.judged));
  // Limits on numbers of cells only mean something for all of them.
  if (comparison.reproducible == Comparison::reproducible_cells) {
    if (comparison.reproducible_equal < Comparison::least_equal)
      comparison.broken.push_back(fmt::format("only {} of {} reproducible cells are equal, and {} should be",
                                              comparison.reproducible_equal, comparison.reproducible,
                                              Comparison::least_equal));
    if (comparison.solved_at_equal < Comparison::least_solved_at * comparison.solved_at_compared)
      comparison.broken.push_back(fmt::format("solved-at is equal in only {} of {} cells", comparison.solved_at_equal,
                                              comparison.solved_at_compared));
  }
  return comparison;
}

Result<StoreComparison> compare_stores(const Results& first, const Results& other) {
  StoreComparison comparison;
  comparison.first = &first;
  comparison.other = &other;
  int first_only = 0, other_only = 0, pairs = 0;
  for (const CellResult& a : first.results) {
    const CellResult* b = other.find(a.cell->model, a.cell->operation, a.cell->setting);
    if (!b || b->runs.empty() || a.runs.empty()) {
      ++comparison.only_first;
      continue;
    }
    ComparedCell cell{&a, b};
    std::map<std::uint32_t, bool> successes;
    for (const RunResult& run : a.runs) successes[run.seed] = run.success;
    for (const RunResult& run : b->runs) {
      const auto at = successes.find(run.seed);
      if (at == successes.end()) continue;
      ++cell.pairs;
      cell.first_only += at->second && !run.success ? 1 : 0;
      cell.other_only += !at->second && run.success ? 1 : 0;
      cell.both += at->second && run.success ? 1 : 0;
    }
    // Runs without a partner would be thrown away by a paired interval: with few pairs the rates say more.
    cell.paired = 2 * cell.pairs >= std::max(a.run_count(), b->run_count());
    cell.difference = cell.paired
                          ? paired_difference(cell.other_only, cell.first_only, cell.pairs)
                          : rate_difference({b->success.value, b->run_count()}, {a.success.value, a.run_count()});
    first_only += cell.first_only, other_only += cell.other_only, pairs += cell.pairs;
    comparison.cells.push_back(cell);
  }
  if (comparison.cells.empty())
    return Error{fmt::format("{} and {} share no cell of model, operation and setting; there is nothing to compare.",
                             first.info.command, other.info.command)};
  comparison.only_other = other.results.size() - comparison.cells.size();
  comparison.difference = paired_difference(other_only, first_only, pairs);
  // One of twenty 95 % intervals misses by chance; a claim about one of many cells needs a wider one.
  const double confidence = 1 - 0.05 / static_cast<double>(comparison.cells.size());
  for (ComparedCell& cell : comparison.cells) {
    if (cell.paired) {
      const Estimate wide = paired_difference(cell.other_only, cell.first_only, cell.pairs, confidence);
      cell.differs = wide.lo > 0 || wide.hi < 0;
    } else {
      // Newcombe's interval has one width; it is stretched as far as the normal quantiles are apart.
      const double factor = numeric::normal_quantile(0.5 + confidence / 2) / numeric::normal_quantile(0.975);
      const Estimate& d = cell.difference;
      cell.differs = d.value - factor * (d.value - d.lo) > 0 || d.value + factor * (d.hi - d.value) < 0;
    }
    comparison.differing += cell.differs ? 1 : 0;
  }
  return comparison;
}

}  // namespace nalm
