// Problems of least squares with known solutions.
#include "numeric/levenberg_marquardt.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace nalm::numeric::levenberg_marquardt_test {
namespace {

// From residuals and their derivatives.
template <class Residuals>
LeastSquaresProblem problem(Residuals residuals) {
  return {[=](const std::vector<Vector>& trials) {
            Vector result;
            for (const Vector& at : trials) {
              Vector r;
              Matrix J;
              residuals(at, r, J);
              const double sum = dot(r, r);
              result.push_back(std::isfinite(sum) ? sum : std::numeric_limits<double>::infinity());
            }
            return result;
          },
          residuals};
}

// Rosenbrock's valley: the squares of 10*(y - x^2) and 1 - x.
LeastSquaresProblem valley() {
  return problem([](const Vector& at, Vector& r, Matrix& J) {
    r = {10 * (at[1] - at[0] * at[0]), 1 - at[0]};
    J = Matrix(2, 2);
    J(0, 0) = -20 * at[0], J(0, 1) = 10, J(1, 0) = -1;
  });
}

// NIST StRD, nonlinear regression, Misra1a (lower difficulty): y = b1*(1 - exp(-b2*x)), with the certified values.
TEST(LevenbergMarquardt, SolvesMisra1aFromTheFarStart) {
  constexpr double y[] = {10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02,
                          44.82, 50.76, 55.05, 61.01, 66.40, 75.47, 81.78};
  constexpr double x[] = {77.6,  114.9, 141.1, 190.8, 239.9, 289.0, 332.8,
                          378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0};
  const auto residuals = [=](const Vector& b, Vector& r, Matrix& J) {
    r.assign(14, 0.0);
    J = Matrix(14, 2);
    for (std::size_t k = 0; k < 14; ++k) {
      const double decay = std::exp(-b[1] * x[k]);
      r[k] = b[0] * (1 - decay) - y[k];
      J(k, 0) = 1 - decay;
      J(k, 1) = b[0] * x[k] * decay;
    }
  };
  const Minimum found = minimise(problem(residuals), {500, 0.0001}, {.least_gain = 1e-14});
  EXPECT_TRUE(found.regular);
  EXPECT_NEAR(found.parameters[0], 2.3894212918e2, 1e-7);
  EXPECT_NEAR(found.parameters[1], 5.5015643181e-4, 1e-12);
  EXPECT_NEAR(found.error, 1.2455138894e-1, 1e-10);
}

TEST(LevenbergMarquardt, FollowsRosenbrocksValley) {
  for (const std::vector<double>& factors : {std::vector<double>{1}, {0.1, 1, 10}}) {
    const Minimum found = minimise(valley(), {-1.2, 1}, {.good_enough = 1e-24, .damping = {.factors = factors}});
    EXPECT_NEAR(found.parameters[0], 1, 1e-10);
    EXPECT_NEAR(found.parameters[1], 1, 1e-10);
    EXPECT_LE(found.error, 1e-24);
  }
}

TEST(LevenbergMarquardt, EndsWhereItIsTold) {
  const double start = 24.2;  // 100*(1 - 1.44)^2 + 2.2^2
  EXPECT_NEAR(minimise(valley(), {-1.2, 1}, {.steps = 0}).error, start, 1e-12);
  EXPECT_NEAR(minimise(valley(), {-1.2, 1}, {.stop = [] { return true; }}).error, start, 1e-12);
  EXPECT_EQ(minimise(valley(), {-1.2, 1}, {.good_enough = 25}).parameters, (Vector{-1.2, 1}));
  int linearised = 0;
  LeastSquaresProblem worse = valley();
  worse.errors = [](const std::vector<Vector>& trials) { return Vector{trials[0][0] == 0 ? 1.0 : 2.0}; };
  worse.linearise = [&, inner = worse.linearise](const Vector& at, Vector& r, Matrix& J) {
    ++linearised, inner(at, r, J);
  };
  EXPECT_EQ(minimise(worse, {0, 0}, {.failures = 3}).parameters, (Vector{0, 0}));
  EXPECT_EQ(linearised, 1);  // the slopes are those of the last success
}

TEST(LevenbergMarquardt, SaysSoWhereThereAreNoSlopes) {
  const LeastSquaresProblem root = problem([](const Vector& at, Vector& r, Matrix& J) {
    r = {std::sqrt(at[0])};
    J = Matrix(1, 1);
    J(0, 0) = 0.5 / r[0];
  });
  EXPECT_FALSE(minimise(root, {-1}, {}).regular);
  EXPECT_TRUE(minimise(root, {4}, {.steps = 3}).regular);
}

}  // namespace
}  // namespace nalm::numeric::levenberg_marquardt_test
