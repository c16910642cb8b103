#include "numeric/student.hpp"

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace nalm::numeric {
namespace {

// Boost computes in long double otherwise, which valgrind does not have.
using InDouble = boost::math::policies::policy<boost::math::policies::promote_double<false>>;

}  // namespace

double normal_quantile(double probability) {
  return boost::math::quantile(boost::math::normal_distribution<double, InDouble>(), probability);
}

double student_quantile(double probability, double degrees_of_freedom) {
  return boost::math::quantile(boost::math::students_t_distribution<double, InDouble>(degrees_of_freedom), probability);
}

}  // namespace nalm::numeric
