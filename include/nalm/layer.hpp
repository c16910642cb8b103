// One layer as a function of a batch, and its gradient, for networks whose other parts live elsewhere, such as PyTorch.
// A layer is one run, so that a lane is a row here: sums over rows depend on how many lanes the SIMD target has, by
// rounding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nalm/stack.hpp"

namespace nalm {

// The module's own start values, in the order of Layer::parameters.
std::vector<double> start_values(const LayerSpec& layer, std::uint64_t seed);

// S is float or double. All arrays are row-major: x and noise rows x inputs, y rows x outputs. The layer has been
// through check_stack, and has parameter_count() parameters.
template <class S>
struct LayerBatch {
  const S* parameters;
  const S* x;
  std::size_t rows;
  const S* noise = nullptr;  // factors for a module that trains with some; null: 1
};

// In the form that the layer trains in, if so; otherwise as it is evaluated.
template <class S>
void layer_forward(const LayerSpec& layer, const LayerBatch<S>& batch, bool training, S* y);

// The gradient of sum dy * y for the form that the layer trains in. dx may be null.
template <class S>
void layer_backward(const LayerSpec& layer, const LayerBatch<S>& batch, const S* dy, S* dx, S* parameters);

}  // namespace nalm
