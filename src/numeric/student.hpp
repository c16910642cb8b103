// Student's t, the normal distribution, and what least squares leave of noise.
#pragma once

#include <cstddef>

namespace nalm::numeric {

// The value that t stays below with this probability. A two-sided interval of 99 % reaches student_quantile(0.995, n -
// k) standard errors either way, if n values were fitted with k numbers.
double student_quantile(double probability, double degrees_of_freedom);

// The chance that t is larger than this.
double student_tail(double t, double degrees_of_freedom);

// The chance that so many numbers, fitted beside the mean, leave no more than this share of the squares of so many rows
// of noise.
double chance_of_share_left(double share, std::size_t fitted, std::size_t rows);

// The value that a standard normal one stays below with this probability: 1.96 for 0.975.
double normal_quantile(double probability);

}  // namespace nalm::numeric
