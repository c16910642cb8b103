// Formulas that compare: the larger or smaller of two sums, steps, and one sum on this side of a condition and another
// one beyond it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fit/data.hpp"
#include "fit/refine.hpp"

namespace nalm::fitting {

struct Compared {
  Expression formula;
  Model model;
  std::vector<FitConstant> constants;
  double mse = 0;     // in units of the target's size
  double length = 0;  // description length
};

// The best condition, column against column or column against number, with a sum of columns on either side of it, and
// perhaps a column that everything is multiplied with.
std::optional<Compared> compare(const Data& data, const Rows& rows, const FitOptions& options);

}  // namespace nalm::fitting
