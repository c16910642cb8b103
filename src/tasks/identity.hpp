// The identity function, learned by ordinary networks: right where they were trained, and nowhere else.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "nalm/result.hpp"

namespace nalm {

// The mean absolute error of y = x at each of the inputs, over runs of so many seeds.
struct IdentityCurve {
  std::string model;
  std::vector<double> errors;
};
Result<std::vector<IdentityCurve>> identity_curves(std::span<const double> inputs, int seeds);

}  // namespace nalm
