#include "numeric/student.hpp"

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
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

}  // namespace nalm::numeric
