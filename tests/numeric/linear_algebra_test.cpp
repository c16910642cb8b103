// Small problems whose answers are known.
#include "numeric/linear_algebra.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace nalm::numeric::linear_algebra_test {
namespace {

Matrix columns(const std::vector<Vector>& list) {
  Matrix A(list[0].size(), list.size());
  for (std::size_t c = 0; c < list.size(); ++c) std::copy(list[c].begin(), list[c].end(), A.column(c));
  return A;
}

TEST(LinearAlgebra, LeastSquaresOfALine) {
  // Through (0,1), (1,3), (2,4), (3,4): slope 1, intercept 1.5 by hand.
  const Matrix A = columns({{0, 1, 2, 3}, {1, 1, 1, 1}});
  const Vector b{1, 3, 4, 4}, x = least_squares(A, b), rest = residuals(A, b, x);
  EXPECT_NEAR(x[0], 1, 1e-14);
  EXPECT_NEAR(x[1], 1.5, 1e-14);
  EXPECT_NEAR(dot(rest, rest), 1, 1e-13);
  EXPECT_NEAR(damped_least_squares(A, b, 0)[0], 1, 1e-13);
  // 1 / sum (x - 1.5)^2, and that times the mean of x^2.
  EXPECT_NEAR(uncertainties(A)[0], 0.2, 1e-14);
  EXPECT_NEAR(uncertainties(A)[1], 0.7, 1e-14);
}

TEST(LinearAlgebra, ColumnsOfLengthOne) {
  Matrix A = columns({{3, 4}, {0, 0}});
  EXPECT_EQ(normalise_columns(A), (Vector{5, 1}));
  EXPECT_EQ(A.values, (Vector{0.6, 0.8, 0, 0}));
}

TEST(LinearAlgebra, ABasisTakesOnlyWhatIsNew) {
  Basis basis;
  const Vector* first = basis.add({2, 0, 0});
  ASSERT_TRUE(first);
  EXPECT_EQ(*first, (Vector{1, 0, 0}));
  EXPECT_FALSE(basis.add({7, 0, 0}));
  const Vector* second = basis.add({5, 3, 4});
  ASSERT_TRUE(second);
  EXPECT_EQ(*second, (Vector{0, 0.6, 0.8}));
  EXPECT_FALSE(basis.add({1, 3, 4}));
}

TEST(LinearAlgebra, TheSmallestRatioIsAnEigenvalue) {
  const std::optional<SmallestRatio> found = smallest_ratio(columns({{2, 1}, {1, 2}}), columns({{1, 0}, {0, 1}}));
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->ratio, 1, 1e-14);
  EXPECT_NEAR(found->x[0] + found->x[1], 0, 1e-14);
}

}  // namespace
}  // namespace nalm::numeric::linear_algebra_test
