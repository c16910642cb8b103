// The NPU's toy example of its gate: one unit r1^w1 * r2^w2 should learn f(x1, x2) = x1.
#pragma once

#include "nalm/model.hpp"

namespace nalm {

struct ToyGate {
  double first = 1, second = 1;
};

// The unit with both gates 1 is the NaiveNPU, any other the NPU. W_im is 0.
Model gate_toy_model(const ToyGate& gate, double w1, double w2);

struct ToyLoss {
  double loss = 0;           // mean squared error
  double gradient_norm = 0;  // of the loss, with respect to w1 and w2
};
// Over x1 ~ U(0, 2) and x2 ~ U(0, 0.05), by the midpoint rule with so many points for x2 and five times as
// many for x1.
ToyLoss gate_toy_loss(const ToyGate& gate, double w1, double w2, int points);

}  // namespace nalm
