// Our cells beside the published ones.
#pragma once

#include <string>
#include <vector>

#include "report/results.hpp"

namespace nalm {

struct ComparedCell {
  const Cell* cell = nullptr;
  int successes = 0, published = 0;
  int allowed = 0;               // how many runs the two may differ
  bool inside_interval = false;  // our rate lies in the published interval; where there is none, within binomial error
  bool solved_at_compared = false, solved_at_equal = false;  // as printed, with two digits

  int difference() const { return successes - published; }
  bool outside() const { return difference() > allowed || -difference() > allowed; }
};

// A mean over the nine ranges, where no more was published.
struct ComparedMean {
  Pair pair;
  int successes = 0, runs = 0;
  double published = 0;  // from as many runs
  double allowed = 0;    // binomial error of the difference of both, 95 %

  double rate() const { return static_cast<double>(successes) / runs; }
  bool outside() const { return rate() > published + allowed || rate() < published - allowed; }
};

// NPU and RealNPU bounce chaotically once they have converged: any change of rounding moves their counts by a few runs.
// The other modules are reproducible seed by seed.
struct Comparison {
  static constexpr int allowed_reproducible = 1, allowed_chaotic = 4;
  static constexpr int reproducible_cells = 171, least_equal = 163;  // of the paper's 207
  static constexpr double least_solved_at = 0.9;                     // share of cells

  std::vector<ComparedCell> cells;
  std::vector<ComparedMean> means;
  int outside = 0, equal = 0;
  int reproducible = 0, reproducible_equal = 0;
  int solved_at_compared = 0, solved_at_equal = 0;
  std::vector<std::string> broken;  // which limits, in words; empty: it agrees

  bool agrees() const { return broken.empty(); }
};

// An error if there is nothing to compare: other settings than published, or not the survey's 25 seeds.
Result<Comparison> compare_with_paper(const Results& results);

std::string print(const Comparison& comparison, bool all_cells);

}  // namespace nalm
