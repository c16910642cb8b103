// What was published for the Single Module Arithmetic Task: the 207 cells that the survey printed
// (data/primer_single_module.csv), and success rates of later modules (data/later_modules.csv).
#pragma once

#include <span>
#include <string>

#include "bench/intervals.hpp"
#include "nalm/module.hpp"

namespace nalm {

struct PublishedCell {
  std::string module;
  Operation operation = Operation::Add;
  std::string range;                      // "U[1,2)"
  Estimate success, solved_at, sparsity;  // NaN where nothing was printed
  int inputs = 2;
  std::string source;  // empty: the survey

  static constexpr int runs = 25;
  int successes() const;
};

std::span<const PublishedCell> published_cells();  // the survey's
// Null if there is no such cell.
const PublishedCell* find_published(std::string_view module, Operation operation, std::string_view range,
                                    int inputs = 2);

// The mean success rate over the nine ranges, where that is all that was published. Null if it was not.
const PublishedCell* find_published_mean(std::string_view module, Operation operation, int inputs);

}  // namespace nalm
