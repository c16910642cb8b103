#include "numeric/student.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>

namespace nalm::numeric {
namespace {

// Boost computes in long double otherwise, which valgrind does not have.
using InDouble = boost::math::policies::policy<boost::math::policies::promote_double<false>>;

// Boost calls the C library, whose last bits differ from one to the other: 40 bits are the same everywhere, and enough.
double without_last_bits(double x) {
  int exponent;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::round(std::ldexp(fraction, 40)), exponent - 40);
}

}  // namespace

double normal_quantile(double probability) {
  return without_last_bits(boost::math::quantile(boost::math::normal_distribution<double, InDouble>(), probability));
}

double student_quantile(double probability, double degrees_of_freedom) {
  return without_last_bits(
      boost::math::quantile(boost::math::students_t_distribution<double, InDouble>(degrees_of_freedom), probability));
}

double student_tail(double t, double degrees_of_freedom) {
  return without_last_bits(boost::math::cdf(
      boost::math::complement(boost::math::students_t_distribution<double, InDouble>(degrees_of_freedom), t)));
}

double chance_of_share_left(double share, std::size_t fitted, std::size_t rows) {
  if (rows < fitted + 2 || !(share < 1)) return 1;
  if (fitted == 0) return 1;
  const double left = static_cast<double>(rows - fitted - 1) / 2, explained = static_cast<double>(fitted) / 2;
  return without_last_bits(boost::math::ibeta(left, explained, std::max(0.0, share), InDouble()));
}

}  // namespace nalm::numeric
