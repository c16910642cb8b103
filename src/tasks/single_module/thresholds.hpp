// How large a mean squared error may be before a run counts as failed: the error of a model that is almost right.
#pragma once

#include <span>

#include "nalm/module.hpp"
#include "nalm/result.hpp"
#include "tasks/single_module/data.hpp"

namespace nalm {

// Refuses what is no range (ends out of order or not finite, two parts of different width), and for division every
// test range that touches zero: the mean of 1/x^2 is infinite there, so no error separates good models from bad ones.
Status check_test_range(Operation operation, const Range& test);

// The exact mean squared error, over the test range, of the right model with every weight off by epsilon: operands
// times 1 - epsilon (a divisor times 1 + epsilon), every other input adding epsilon |x| to a sum or multiplying a
// product by 1 - epsilon |x|. Two operands and inputs - 2 others. Only magnitudes matter, so ranges may be negative,
// in two parts or on both sides of zero.
//
// NaN where check_test_range refuses the range: then no error is below it. (Infinity would call every run a success.)
double epsilon_threshold(Operation operation, const Range& test, int inputs, double epsilon = 1e-5);

// The same for a model that multiplies in log space: powers 1 - epsilon of the operands, -(1 - epsilon) of a divisor,
// and epsilon of every other input. Sums know no log space: add and sub keep their epsilon_threshold.
double log_space_threshold(Operation operation, const Range& test, int inputs, double epsilon = 1e-5);

// What a model gives that is almost right. Alike: the one behind epsilon_threshold. Opposed: the second operand's
// weight, or power in a product, is 1 + epsilon where the first one's is 1 - epsilon, and other inputs are as in the
// former.
enum class Almost { Alike, Opposed };
double almost_right(Operation operation, std::span<const double> x, std::size_t first_operand, double epsilon,
                    Almost almost);

}  // namespace nalm
