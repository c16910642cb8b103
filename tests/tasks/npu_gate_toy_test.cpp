// The table of the NPU's toy example: tests/tasks/reference_values.py prints it.
#include "tasks/npu_gate_toy.hpp"

#include <gtest/gtest.h>

namespace nalm::npu_gate_toy_test {
namespace {

TEST(NpuGateToy, HasTheGradientsAndLossesOfTheTable) {
  struct Row {
    double w1, w2;
    ToyLoss naive, half, shut;  // loss, gradient norm
  };
  const Row rows[] = {
      {1, 0, {0, 0}, {.0833, .1968}, {0, 0}},
      {.5, .2, {.5131, 2.3772}, {.2194, .3240}, {.0706, .2770}},
      {1, .5, {.9691, 1.2287}, {.2182, .4098}, {0, 0}},
      {.5, .9, {1.2546, .2730}, {.4566, .4159}, {.0706, .2770}},
      {2, .9, {1.1965, .4689}, {.2350, .4519}, {.5333, 1.3836}},
      {0, .9, {1.2639, .2397}, {.5378, .3725}, {.3333, .9997}},
  };
  for (const Row& row : rows) {
    const std::pair<ToyGate, ToyLoss> cells[] = {{{1, 1}, row.naive}, {{.5, .5}, row.half}, {{1, 0}, row.shut}};
    for (const auto& [gate, expected] : cells) {
      const ToyLoss at = gate_toy_loss(gate, row.w1, row.w2, 100);
      EXPECT_NEAR(at.loss, expected.loss, 0.01 * expected.loss + 1e-5) << row.w1 << ", " << row.w2;
      EXPECT_NEAR(at.gradient_norm, expected.gradient_norm, 0.01 * expected.gradient_norm + 1e-5)
          << row.w1 << ", " << row.w2;
    }
  }
}

// By hand: with gate (1,0) and w1 = 0 the output is 1, the loss the mean of (1 - x)^2, and the gradient that of
// 2 (1 - x) ln x, which is -1.
TEST(NpuGateToy, AgreesWithWhatCanBeIntegratedByHand) {
  const ToyLoss at = gate_toy_loss({1, 0}, 0, 0.9, 200);
  EXPECT_NEAR(at.loss, 1.0 / 3, 1e-5);
  EXPECT_NEAR(at.gradient_norm, 1, 1e-3);
}

TEST(NpuGateToy, ShutGateHidesTheSecondPower) {
  EXPECT_EQ(gate_toy_loss({1, 0}, 0.5, 0.2, 20).gradient_norm, gate_toy_loss({1, 0}, 0.5, 0.9, 20).gradient_norm);
}

}  // namespace
}  // namespace nalm::npu_gate_toy_test
