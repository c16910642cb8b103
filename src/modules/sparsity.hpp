// The sparsity error of one layer from its effective weights: max over the sparse weights of min(|w|, |1 - |w||), and
// the mean of the maxima where a module has two arrays of them.
#pragma once

#include <cmath>
#include <cstddef>

#include "nalm/module.hpp"

namespace nalm {

// Computed in S, as the weights are: in float32 the distance to 1 has steps of 6e-8, and published values show them.
// Weight k stands at w[k * stride].
template <class S>
S sparsity_of_weights(const ModuleInfo& module, const LayerShape& shape, const S* w, std::size_t stride) {
  S sum = 0;
  int arrays = 0;
  for (const Quantity& q : module.weights) {
    const std::size_t size = static_cast<std::size_t>(size_of(module, q.axes, shape));
    if (q.counts_as_sparse) {
      S largest = 0;
      for (std::size_t k = 0; k < size; ++k) {
        const S magnitude = std::fabs(w[k * stride]);
        const S distance = std::fmin(magnitude, std::fabs(1 - magnitude));
        if (std::isnan(magnitude)) return magnitude;
        if (distance > largest) largest = distance;
      }
      sum += largest;
      ++arrays;
    }
    w += size * stride;
  }
  return arrays > 1 ? sum / static_cast<S>(arrays) : sum;
}

}  // namespace nalm
