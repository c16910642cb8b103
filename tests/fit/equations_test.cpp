// A root beside a product: the solutions of quadratic equations.
#include "fit/starts/equations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "fit/cases.hpp"
#include "fit/refine.hpp"

namespace nalm::fitting::equations_test {
namespace {

const std::vector<test::Column> columns{{"a", 1, 3}, {"b", 5, 9}, {"c", 0.5, 2}};

double root_of(const double* x, double sign) {
  return (-x[1] + sign * std::sqrt(x[1] * x[1] - 4 * x[0] * x[2])) / (2 * x[0]);
}

// The root mean square errors of the forms that are found, in units of the target's size.
template <class Target>
std::vector<double> errors(Target target) {
  const Data data = *prepare(test::table_of(columns, 150, 5, target), {.target = "y"});
  const Rows rows = rows_of(data, data.train, data.train.size());
  std::vector<double> result;
  for (const Form& form : roots_of_equations(data, Powers::Half, 2, {}))
    result.push_back(std::sqrt(mean_squared_error(form, data, rows)));
  return result;
}

TEST(RootsOfEquations, AreFoundWithEitherSign) {
  for (const double sign : {1.0, -1.0}) {
    const std::vector<double> found = errors([sign](const double* x, Xoshiro&) { return root_of(x, sign); });
    ASSERT_FALSE(found.empty()) << sign;
    for (const double error : found) EXPECT_LT(error, 1e-8) << sign;
  }
}

TEST(RootsOfEquations, AreNotSeenInNoise) {
  EXPECT_TRUE(
      errors([](const double* x, Xoshiro& random) { return root_of(x, 1) * (1 + 1e-4 * random.gaussian()); }).empty());
}

// A column with a zero has no reciprocal, and so only four powers.
TEST(RootsOfEquations, AreLookedForWithFewPowersToo) {
  Table table;
  table.columns = {"a", "y"};
  table.rows = 100;
  for (int k = 0; k < 100; ++k) {
    const double a = (k - 50) / 50.0;
    table.values.insert(table.values.end(), {a, a + std::sqrt(a * a * a * a + 1)});
  }
  const Data data = *prepare(table, {.target = "y"});
  EXPECT_FALSE(roots_of_equations(data, Powers::Half, 1, {}).empty());
}

TEST(RootsOfEquations, OfATargetWithBothSignsOfTheRootAreNone) {
  EXPECT_TRUE(errors([](const double* x, Xoshiro&) { return root_of(x, x[1] > 7 ? 1 : -1); }).empty());
}

}  // namespace
}  // namespace nalm::fitting::equations_test
