// Student's t distribution.
#pragma once

namespace nalm::numeric {

// The value that t stays below with this probability. A two-sided interval of 99 % reaches student_quantile(0.995, n -
// k) standard errors either way, if n values were fitted with k numbers.
double student_quantile(double probability, double degrees_of_freedom);

}  // namespace nalm::numeric
