// The LSTM that tasks over sequences compare with: c = f*c + i*g, h = o*tanh(c). Hochreiter and Schmidhuber 1997, with
// the forget gate of Gers et al. 2000.
#pragma once

#include <vector>

#include "nalm/wiring.hpp"

namespace nalm {

// Layer 0 has the three gates i, f and o, layer 1 has g, both of a step's inputs and of h; layer 2, a linear one, makes
// the output of the last h.
Stack lstm_stack(int inputs_of_step, int hidden);
// Each step sees these inputs of the network. Everything starts at 0.
Wiring lstm_wiring(const Stack& stack, int inputs, const std::vector<std::vector<int>>& steps);

}  // namespace nalm
