// Quantiles of Student's t and of the normal distribution.
#pragma once

namespace nalm::numeric {

// The value that t stays below with this probability. A two-sided interval of 99 % reaches student_quantile(0.995, n -
// k) standard errors either way, if n values were fitted with k numbers.
double student_quantile(double probability, double degrees_of_freedom);

// The same for a standard normal value: 1.96 for 0.975.
double normal_quantile(double probability);

}  // namespace nalm::numeric
