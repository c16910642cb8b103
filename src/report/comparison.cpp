#include "report/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <cmath>

#include "bench/intervals.hpp"

namespace nalm {
namespace {

// How far two rates of so many runs each may lie apart by chance: 95 % of the time, from the pooled rate.
double binomial_error(double a, int a_runs, double b, int b_runs) {
  const double pooled = (a * a_runs + b * b_runs) / (a_runs + b_runs);
  return 1.96 * std::sqrt(pooled * (1 - pooled) * (1.0 / a_runs + 1.0 / b_runs));
}

std::string printed(double value) { return fmt::format("{:.1e}", value); }

}  // namespace

Result<Comparison> compare_with_paper(const Results& results) {
  const Grid& grid = results.info.grid;
  if (grid.inputs != 2 && grid.inputs != 10)
    return Error{
        fmt::format("results were published for 2 and 10 inputs, and these runs have {}; there is nothing to "
                    "compare.",
                    grid.inputs)};
  const bool own_iterations = grid.iterations && !(grid.inputs == 10 && *grid.iterations == 100000);
  if (own_iterations || grid.learning_rate || !grid.recipe_changes.empty() || grid.log_every != 1000)
    return Error{
        "these runs do not follow the paper's protocol (--iterations, --learning-rate, --recipe or --log-every was "
        "given); "
        "compare a "
        "run without them."};
  Comparison comparison;
  for (const Cell& cell : results.cells) {
    if (!cell.published || cell.runs.empty()) continue;
    const Estimate& interval = cell.published->success;
    const double rate = cell.summary.success.value;
    if (!cell.published->source.empty()) {
      ComparedCell compared;
      compared.cell = &cell;
      compared.successes = cell.summary.successes;
      compared.published = static_cast<int>(std::lround(interval.value * cell.summary.runs));
      const double error = binomial_error(rate, cell.summary.runs, interval.value, PublishedCell::runs);
      compared.allowed = static_cast<int>(error * cell.summary.runs + 1e-9);
      compared.inside_interval = !compared.outside();
      comparison.outside += compared.outside();
      comparison.equal += compared.difference() == 0;
      comparison.cells.push_back(compared);
      continue;
    }
    bool all_seeds = cell.runs.size() == static_cast<std::size_t>(PublishedCell::runs);
    for (const JudgedRun& run : cell.runs)
      all_seeds = all_seeds && run.seed < static_cast<std::uint32_t>(PublishedCell::runs);
    if (!all_seeds)
      return Error{fmt::format("{} {} on {} has {} runs, and the paper has seeds 0 to {}; run those{}.",
                               cell.pair.module->name, name_of(cell.pair.operation), cell.range_name(),
                               cell.runs.size(), PublishedCell::runs - 1,
                               results.missing > 0 ? " (the benchmark is not finished: use --resume)" : "")};
    ComparedCell compared;
    compared.cell = &cell;
    compared.successes = cell.summary.successes;
    compared.published = cell.published->successes();
    const bool chaotic = cell.pair.module->chaotic;
    compared.allowed = chaotic ? Comparison::allowed_chaotic : Comparison::allowed_reproducible;
    compared.inside_interval = rate >= interval.lo - 0.005 && rate <= interval.hi + 0.005;  // printed in whole percent
    if (!chaotic && !std::isnan(cell.published->solved_at.lo)) {
      // By the paper's rule, whatever intervals are shown.
      std::vector<double> steps;
      for (const JudgedRun& run : cell.runs)
        if (run.result.success) steps.push_back(static_cast<double>(*run.result.solved_at));
      compared.solved_at_compared = true;
      compared.solved_at_equal =
          !steps.empty() && printed(paper_solved_at(steps).value) == printed(cell.published->solved_at.value);
    }
    comparison.outside += compared.outside();
    comparison.equal += compared.difference() == 0;
    comparison.reproducible += !chaotic;
    comparison.reproducible_equal += !chaotic && compared.difference() == 0;
    comparison.solved_at_compared += compared.solved_at_compared;
    comparison.solved_at_equal += compared.solved_at_equal;
    comparison.cells.push_back(compared);
  }
  for (const Pair& pair : grid.pairs) {
    const PublishedCell* mean = find_published_mean(pair.module->name, pair.operation, grid.inputs);
    if (!mean || grid.ranges.size() != paper_ranges().size()) continue;
    ComparedMean compared;
    compared.pair = pair;
    compared.published = mean->success.value;
    for (const Cell& cell : results.cells) {
      if (!(cell.pair == pair)) continue;
      compared.runs += cell.summary.runs;
      compared.successes += cell.summary.successes;
    }
    if (compared.runs == 0) continue;
    const int theirs = PublishedCell::runs * static_cast<int>(paper_ranges().size());
    compared.allowed = binomial_error(compared.rate(), compared.runs, compared.published, theirs);
    comparison.outside += compared.outside();
    comparison.means.push_back(compared);
  }
  if (comparison.cells.empty() && comparison.means.empty())
    return Error{"nothing was published for these cells; `nalm bench` without options runs the survey's tables."};
  if (comparison.outside > 0)
    comparison.broken.push_back(fmt::format("{} cells differ by more than allowed", comparison.outside));
  // Limits on numbers of cells only mean something for all of them.
  if (comparison.reproducible == Comparison::reproducible_cells &&
      comparison.reproducible_equal < Comparison::least_equal) {
    comparison.broken.push_back(fmt::format("only {} of {} reproducible cells are equal, and {} should be",
                                            comparison.reproducible_equal, comparison.reproducible,
                                            Comparison::least_equal));
  }
  if (comparison.reproducible == Comparison::reproducible_cells &&
      comparison.solved_at_equal < Comparison::least_solved_at * comparison.solved_at_compared) {
    comparison.broken.push_back(fmt::format("solved-at is equal in only {} of {} cells", comparison.solved_at_equal,
                                            comparison.solved_at_compared));
  }
  return comparison;
}

std::string print(const Comparison& comparison, bool all_cells) {
  std::size_t width = 7;
  for (const ComparedCell& c : comparison.cells) width = std::max(width, c.cell->pair.module->name.size());
  for (const ComparedMean& m : comparison.means) width = std::max(width, m.pair.module->name.size());
  width += 2;
  std::string text = fmt::format("{:<{}}{:<5}{:<15}{:>6}{:>7}{:>6}  {}\n", "module", width, "op", "range", "ours",
                                 "paper", "diff", "published interval, solved at");
  int shown = 0;
  for (const ComparedCell& c : comparison.cells) {
    const bool solved_differs = c.solved_at_compared && !c.solved_at_equal;
    if (!all_cells && c.difference() == 0 && !solved_differs) continue;
    ++shown;
    const Estimate& interval = c.cell->published->success;
    std::string verdict = c.outside() ? "OUTSIDE the limit" : c.difference() == 0 ? "equal" : "within the limit";
    if (c.cell->published->source.empty()) {
      verdict += fmt::format(", {} [{:.0f} %, {:.0f} %]", c.inside_interval ? "inside" : "not in", 100 * interval.lo,
                             100 * interval.hi);
    } else {
      verdict += fmt::format(" ({})", c.cell->published->source);
    }
    if (c.solved_at_compared) {
      verdict += solved_differs ? fmt::format(", solved at {:.0f} instead of {:.2g}", c.cell->summary.solved_at.value,
                                              c.cell->published->solved_at.value)
                                : ", solved at equal";
    }
    text += fmt::format("{:<{}}{:<5}{:<15}{:>6}{:>7}{:>+6}  {}\n", c.cell->pair.module->name, width,
                        name_of(c.cell->pair.operation), c.cell->range_name(), c.successes, c.published, c.difference(),
                        verdict);
  }
  if (shown == 0) text = comparison.cells.empty() ? "" : "Every cell equals the published one.\n";
  for (const ComparedMean& m : comparison.means) {
    text +=
        fmt::format("{:<{}}{:<5}mean of nine ranges: {:.1f} %, published {:.1f} %; {} (binomial error {:.1f} points)\n",
                    m.pair.module->name, width, name_of(m.pair.operation), 100 * m.rate(), 100 * m.published,
                    m.outside() ? "OUTSIDE the limit" : "within the limit", 100 * m.allowed);
  }
  if (!comparison.cells.empty())
    text += fmt::format("{} of {} cells equal the published count.", comparison.equal, comparison.cells.size());
  if (comparison.reproducible > 0)
    text += fmt::format(
        " Of the {} that are reproducible seed by seed (the survey's without NPU and RealNPU) {}. Solved-at, as "
        "printed, equal in {} of {}.",
        comparison.reproducible, comparison.reproducible_equal, comparison.solved_at_equal,
        comparison.solved_at_compared);
  if (!comparison.cells.empty()) text += "\n";
  text +=
      fmt::format("Limits: {} run ({} for NPU and RealNPU) from the survey's, the binomial error of both elsewhere. ",
                  Comparison::allowed_reproducible, Comparison::allowed_chaotic);
  if (comparison.agrees()) return text + "It agrees with what was published.\n";
  text += "It does not agree: ";
  for (std::size_t k = 0; k < comparison.broken.size(); ++k) text += (k ? "; " : "") + comparison.broken[k];
  return text + ".\n";
}

}  // namespace nalm
