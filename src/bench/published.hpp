// The 207 cells that the paper printed for the Single Module Arithmetic Task (data/primer_single_module.csv).
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
  Estimate success, solved_at, sparsity;  // NaN where the paper printed nothing

  static constexpr int runs = 25;
  int successes() const;
};

std::span<const PublishedCell> published_cells();
// Null if the paper has no such cell.
const PublishedCell* find_published(std::string_view module, Operation operation, std::string_view range);

}  // namespace nalm
