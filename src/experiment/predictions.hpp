// Correlation and relative error of what a run's network predicts for its test rows.
#pragma once

#include <span>

#include "experiment/cell.hpp"

namespace nalm {

// Of Pearson; NaN if either side is constant.
double correlation(std::span<const double> a, std::span<const double> b);
// The mean of |prediction - target| / |target|; targets that are 0 are left out, NaN if none is left.
double mean_relative_error(std::span<const double> predictions, std::span<const double> targets);

// Of the network at a row whose parameters are stored; the kind is Correlation or Mape. Comparisons with a NaN are
// false, so what has no correlation or error fails.
Result<double> predicted_measure(const Cell& cell, const RunRecord& record, std::size_t row, std::uint32_t seed,
                                 Criterion::Kind kind);

}  // namespace nalm
