// Errors of rows that lie side by side are alike if something is missing in a formula, and are not if they are noise.
#pragma once

#include <string>

#include "fit/tangent.hpp"

namespace nalm::fitting {

struct Pattern {
  double strength = 0;  // in standard deviations of what chance gives
  std::string along;    // a column, "the prediction" or "neighbouring rows"
};

// The strongest along the prediction, along each column, and among neighbours in the space of all columns and of those
// in the formula.
Pattern pattern_in(const Candidate& candidate, const Data& data, const Places& places, const Tangent& tangent);

}  // namespace nalm::fitting
