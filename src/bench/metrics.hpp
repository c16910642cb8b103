// From what a run logged to whether it succeeded, and from runs to a cell of the tables.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "bench/intervals.hpp"
#include "bench/series.hpp"
#include "nalm/model.hpp"
#include "nalm/result.hpp"

namespace nalm {

// What counts as a success.
struct Criterion {
  enum class Kind {
    Mse,          // test error below epsilon_threshold: the paper's
    LogSpaceMse,  // test error below log_space_threshold
    Pearson,      // correlation of predictions and targets at least limit; constant predictions have none and fail
    Mape,         // mean of |prediction - target| / |target| at most limit; targets that are exactly 0 are left out
  };
  Kind kind = Kind::Mse;
  double epsilon = 1e-5;  // Mse, LogSpaceMse
  double limit = 0;       // Pearson: between -1 and 1. Mape: a fraction, not per cent
};

struct RunResult {
  bool success = false;
  std::size_t best_row = 0;  // smallest validation error, the earliest of equal ones; the last if all are NaN
  long best_step = 0;
  // The first row that meets the criterion, before the best row or there; nothing if the best row does not meet it,
  // even if another one does.
  std::optional<long> solved_at;
  double validation_mse = 0, test_mse = 0, sparsity_error = 0;  // at the best row
  // Whether any row meets the criterion, and whether the last one does. Nothing where that takes predictions.
  std::optional<bool> ever, at_end;
};

// An error says that the run is not whole, or that the criterion cannot be applied to it. May be called from several
// threads.
Result<RunResult> judge(const Run& run, const Criterion& criterion);

// The model of a run as it was at a logged row.
Result<Model> model_at(const Run& run, std::size_t row);

struct CellSummary {
  int runs = 0, successes = 0;
  std::optional<int> ever, at_end;              // see RunResult
  Estimate success{}, solved_at{}, sparsity{};  // the latter two of successful runs only
  double median_solved_at = 0, median_sparsity = 0;
};

CellSummary summarise(std::span<const RunResult> runs, bool paper_intervals);

}  // namespace nalm
