// Small changes to a formula: which of them lead from what noise hides a formula behind to the formula.
#include "fit/climb.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "fit/refine.hpp"

namespace nalm::fitting::climb_test {
namespace {

// Two columns between 1 and 3, and what is made of them.
Data table_of(const std::function<double(double, double)>& truth) {
  Xoshiro random(1);
  std::string text = "a,b,y\n";
  for (int k = 0; k < 200; ++k) {
    const double a = random.between(1, 3), b = random.between(1, 3);
    text += std::to_string(a) + "," + std::to_string(b) + "," + std::to_string(truth(a, b)) + "\n";
  }
  return prepare(read_table(text, "rows").value(), {.target = "y"}).value();
}

// The smallest error of all formulas that are one change away.
double nearest_error(const Form& form, const Data& data) {
  const Rows rows = rows_of(data, data.train, data.train.size());
  const std::vector<std::string> use;
  const Judge judge{data, rows, Powers::Half, use};
  double error = infinity;
  for (const Scored& scored : neighbours_of(judge, form, 1, {})) error = std::min(error, scored.mse);
  return error;
}

// The table has six decimals.
constexpr double rounding = 1e-11;

TEST(Changes, ASumMayBeTheRootOfASumOfSquares) {
  const Data data = table_of([](double a, double b) { return std::sqrt(a * a + b * b); });
  EXPECT_LT(nearest_error({{}, {{{1, true}, {1, 0}, {}}, {{0.4, true}, {0, 1}, {}}}}, data), rounding);
  // the same inside of a product
  const Data product = table_of([](double a, double b) { return a / std::sqrt(a * a + 4 * b * b); });
  const Form sum{{{{{{1, false}, {1, 0}}, {{1.5, true}, {0, 1}}}}}, {{{1, true}, {1, 0}, {{0, -1}}}}};
  EXPECT_LT(nearest_error(sum, product), rounding);
}

TEST(Changes, ARootOfAProductMayBeAMean) {
  const Data mean = table_of([](double a, double b) { return a * a * b * (3 * a + 2 * b); });
  EXPECT_LT(nearest_error({{}, {{{5, true}, {2.5, 1.5}, {}}}}, mean), rounding);
  const Data parallel = table_of([](double a, double b) { return a * b / (a + b); });
  EXPECT_LT(nearest_error({{}, {{{0.5, true}, {0.5, 0.5}, {}}}}, parallel), rounding);
}

// From the least squares of the root to those of the reciprocal. Sums are 2.3 - a*b/9 and 3 - a*b/9, up to their scale.
TEST(Changes, ARootBesideAConstantMayBeAReciprocal) {
  const Data data = table_of([](double a, double b) { return 9 / (3 - a * b / 9) - 2; });
  const Form root{{{{{{2.33, true}, {0, 0}}, {{-1.0 / 9, false}, {1, 1}}}}},
                  {{{7.13, true}, {0, 0}, {{0, -0.5}}}, {{-3.67, true}, {0, 0}, {}}}};
  EXPECT_LT(nearest_error(root, data), rounding);
}

}  // namespace
}  // namespace nalm::fitting::climb_test
