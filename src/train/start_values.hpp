// Start values of a layer's parameters, as its module asks for them.
#pragma once

#include <vector>

#include "base/random.hpp"
#include "nalm/module.hpp"

namespace nalm {

// Tensors are drawn in the order of ModuleInfo::parameters; constants draw nothing.
std::vector<double> start_values(const ModuleInfo& module, const LayerShape& shape, StartStream& stream,
                                 std::span<const StartChange> changes = {});

// The half-width r of NAC's uniform start values: max(fan, 5) * V(r) = 2, where V is the variance of
// tanh(a) * sigmoid(b) for a, b uniform in (-r, r).
double nac_range(int fan);

}  // namespace nalm
