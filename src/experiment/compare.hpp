// Our rates and means beside published ones, and stores beside each other.
#pragma once

#include <string>
#include <vector>

#include "experiment/summary.hpp"

namespace nalm {

// ---- the rules -----------------------------------------------------------------------------------------------------

// k of n successes; n = 0 stands for a rate that is known exactly, or of which nobody said how many runs it has.
struct Rate {
  double value = 0;
  int runs = 0;
};
// a - b with Newcombe's 95 % interval, from the Wilson intervals of both.
Estimate rate_difference(const Rate& a, const Rate& b);
// Two rates agree if that interval holds 0, half a per cent aside: that is how rates are printed.
bool rates_agree(const Rate& a, const Rate& b);
// Two means agree if their intervals share a value; a number without an interval is one of no width.
bool means_agree(const Estimate& a, const Estimate& b);
// The difference of two rates of the same seeds, with Bonett and Price's interval: `only_a` runs that succeeded in a
// alone, `only_b` in b alone, of n pairs. confidence: such as 0.95.
Estimate paired_difference(int only_a, int only_b, int n, double confidence = 0.95);

// ---- with what was published ---------------------------------------------------------------------------------------

struct ComparedFigure {
  const CellResult* cell = nullptr;  // null for a mean over all settings, or over all cells of one
  const PublishedFigure* figure = nullptr;
  Estimate ours{};
  int runs = 0, successes = 0;  // behind a rate
  enum class Verdict { Equal, Agrees, Differs, ShownOnly } verdict = Verdict::ShownOnly;
  std::optional<int> allowed{};  // seed for seed: how many runs the two may differ
  bool chaotic = false;

  int difference() const;  // in runs, of a rate
};

struct Comparison {
  // Of the survey's 207 cells 171 are reproducible seed by seed; NPU and RealNPU bounce chaotically once they have
  // converged, and any change of rounding moves their counts by a few runs.
  static constexpr int allowed_reproducible = 1, allowed_chaotic = 4;
  static constexpr int reproducible_cells = 171, least_equal = 163;
  static constexpr double least_solved_at = 0.9;  // share of cells

  std::vector<ComparedFigure> figures;
  int judged = 0, agreeing = 0;
  int same_seeds = 0, same_seeds_equal = 0, reproducible = 0, reproducible_equal = 0;
  int solved_at_compared = 0, solved_at_equal = 0;
  std::string remark;               // why the answer means less than it seems to; may be empty
  std::vector<std::string> broken;  // which limits, in words; empty: it agrees

  bool agrees() const { return broken.empty(); }
};

// An error if there is nothing to compare: other settings than published, or nothing published. The results must
// outlive the comparison.
Result<Comparison> compare_with_published(const Results& results);

// The cell's value of what a published figure is about, a mean if that is one; NaN if there is none.
Estimate value_of(const CellResult& cell, const PublishedFigure& figure);

// ---- stores with each other ----------------------------------------------------------------------------------------

// One cell that a store shares with the first one.
struct ComparedCell {
  const CellResult *first = nullptr, *other = nullptr;
  int pairs = 0;  // seeds that both have
  int first_only = 0, other_only = 0, both = 0;
  Estimate difference{};  // of the rates, other - first; paired by seed where both have runs of the same seeds
  bool paired = false;
  bool differs = false;  // even though this is one of many cells
};

struct StoreComparison {
  const Results *first = nullptr, *other = nullptr;
  std::vector<ComparedCell> cells;
  std::size_t only_first = 0, only_other = 0;  // cells that the other one does not have
  Estimate difference{};                       // of all shared runs together
  int differing = 0;
};

// An error if they share no cell.
Result<StoreComparison> compare_stores(const Results& first, const Results& other);

}  // namespace nalm
