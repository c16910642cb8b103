// L-BFGS on functions whose minimum is known.
#include "numeric/quasi_newton.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace nalm::numeric::quasi_newton_test {
namespace {

TEST(QuasiNewton, FollowsRosenbrocksValley) {
  const auto rosenbrock = [](const std::vector<Vector>& points) {
    std::vector<ValueAndGradient> result;
    for (const Vector& p : points) {
      const double a = 1 - p[0], b = p[1] - p[0] * p[0];
      result.push_back({a * a + 100 * b * b, {-2 * a - 400 * p[0] * b, 200 * b}});
    }
    return result;
  };
  const Lowest found = minimise_smooth(rosenbrock, {-1.2, 1}, {.steps = 200});
  EXPECT_NEAR(found.parameters[0], 1, 1e-6);
  EXPECT_NEAR(found.parameters[1], 1, 1e-6);
  EXPECT_LT(found.value, 1e-12);
  EXPECT_LT(found.steps, 200);
}

TEST(QuasiNewton, NeverGoesUpAndStopsWhereNothingIsFinite) {
  // Defined for positive numbers only; the minimum is at 1.
  const auto logarithmic = [](const std::vector<Vector>& points) {
    std::vector<ValueAndGradient> result;
    for (const Vector& p : points) {
      if (p[0] > 0)
        result.push_back({p[0] - std::log(p[0]), {1 - 1 / p[0]}});
      else
        result.push_back({std::nan(""), {0}});
    }
    return result;
  };
  EXPECT_NEAR(minimise_smooth(logarithmic, {0.01}, {}).parameters[0], 1, 1e-7);
  EXPECT_EQ(minimise_smooth(logarithmic, {-1}, {}).steps, 0);
}

}  // namespace
}  // namespace nalm::numeric::quasi_newton_test
