// Rates, means and medians of a cell's runs, with 95 % intervals: honest ones, and those the paper printed.
#pragma once

#include <limits>
#include <span>

#include "base/number.hpp"

namespace nalm {

// A number with its 95 % interval. No runs: everything is NaN. One run: there is a value, but lo and hi are NaN. All
// runs equal: lo = value = hi, which says that nothing varied, not that nothing could.
struct Estimate {
  double value, lo, hi;
};

// The middle value, or the mean of the middle two; NaN of nothing.
double median(std::span<const double> values);

// k of n with Wilson's score interval.
Estimate wilson(int successes, int runs);

// ---- honest --------------------------------------------------------------------------------------------------------

// The arithmetic mean. The interval holds the means that a gamma distribution can have: those whose likelihood, at the
// shape that suits each mean best, is not too far below the largest. How far is too far comes from Student's t, as
// n ln(1 + t^2 / (n - 1)), instead of its limit for many values, 3.84: with 3.84 the interval of five values misses the
// mean twice as often as it should.
//
// A gamma distribution never gives 0 (a run that was solved before its first step); with such values the interval is
// Student's, cut at 0.
//
// Nothing is solved after the last iteration, so no mean lies there; a gamma distribution of a few values does not know
// that.
Estimate solved_at_estimate(std::span<const double> steps, double last = std::numeric_limits<double>::infinity());

// The arithmetic mean. The interval is built like that of solved_at_estimate, from a beta distribution for twice the
// values, which lie between 0 and 1/2. Two cases need more:
// - Exact zeros are common, and the beta distribution has none. They get a probability of their own, which is estimated
//   too: the mean is the share of other values times their beta mean, and the interval holds the products that neither
//   the share nor the values contradict too much.
// - NPU's weights are not bounded, so its error can be above 1/2. A cell with such a value uses the gamma distribution,
//   which the beta distribution resembles wherever errors are small.
// With fewer than two different values above 0 no distribution can be fitted: the interval is Student's, cut to [0,
// 1/2]. The beta distribution's best mean is not exactly the arithmetic one; the interval is widened to hold the
// latter. Where few of few runs are above 0 the interval is too narrow (of ten runs, three above 0: 90 instead of 95
// %).
Estimate sparsity_estimate(std::span<const double> errors);

// ---- as printed in the paper ---------------------------------------------------------------------------------------

// A gamma likelihood whose variance stays at the sample variance. The value is the arithmetic mean where the spread is
// small, the most likely mean of that likelihood otherwise. Student's interval, cut at 0, where all values are equal or
// one is 0.
Estimate paper_solved_at(std::span<const double> steps);

// Student's interval, cut to [0, 1/2], of values raised to at least 1e-16 - but where the paper's beta fit worked, its
// result: about half of the true mean, because the fit doubles the mean and not the values.
Estimate paper_sparsity(std::span<const double> errors);

}  // namespace nalm
