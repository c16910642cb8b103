// Sums over time steps: limits that a network can reach.
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.hpp"
#include "experiment/task.hpp"

namespace nalm::recurrent_arithmetic_test {
namespace {

// The right weights, in the precision of the networks: a thousand steps of a - b lose this to rounding.
double lost_to_rounding() {
  constexpr int rows = 400, steps = 1000;
  Xoshiro random(7);
  double squares = 0;
  for (int r = 0; r < rows; ++r) {
    float a = 0, b = 0;
    double exact = 0;
    for (int step = 0; step < steps; ++step) {
      float x[3];
      for (float& value : x) value = static_cast<float>(random.between(1, 2));
      a += x[0] + x[1], b += x[1] + x[2];
      exact += double{x[0]} - double{x[2]};
    }
    squares += std::pow(double{a} - double{b} - exact, 2);
  }
  return squares / rows;
}

TEST(RecurrentArithmetic, TheRightWeightsAreBelowEveryLimit) {
  for (const Cell& cell : (*find_task("recurrent-arithmetic"))->preset_cells("full")) {
    EXPECT_GT(cell.goal.limit, 2 * lost_to_rounding()) << cell.operation;
    EXPECT_LT(cell.goal.limit, 0.1) << cell.operation;
  }
}

}  // namespace
}  // namespace nalm::recurrent_arithmetic_test
