// The gradient of a loss with respect to one output, up to the factor 2 / (samples x outputs).
#pragma once

#include <limits>

#include "nalm/recipe.hpp"

namespace nalm {

// Not compiled into the kernels: most trainings minimise the squared error, which needs none of this. What it calls is
// compiled into it, so that nothing compiled for one instruction set can be used by others.
template <class T>
[[gnu::noinline, gnu::flatten]] T loss_gradient(const Loss& loss, const T& y, const T& t) {
  const T difference = y - t;
  switch (loss.kind) {
    case Loss::Kind::Squared:
    case Loss::Kind::Own:  // of a module that has none; others have own_backward
      break;
    case Loss::Kind::Huber:
      return min(loss.limit, max(-loss.limit, difference));
    case Loss::Kind::Relative:
      return where(t == 0.0, T(0.0), difference / (t * t));
    case Loss::Kind::Absolute:
      return 0.5 * sign(difference);
    case Loss::Kind::Log: {
      // Where either is 0, infinite or NaN the logarithm says nothing.
      const T ratio = abs(y / t);
      const T slope = where(ratio < std::numeric_limits<double>::infinity(), log(ratio) / y, 0.0);
      return where(ratio > 0.0, slope, 0.0);
    }
  }
  return difference;
}

}  // namespace nalm
