// Formulas that compare: the larger or smaller of two sums, steps, and one sum on this side of a condition and another
// one beyond it.
#pragma once

#include <optional>

#include "fit/candidates.hpp"
#include "fit/refine.hpp"

namespace nalm::fitting {

// The best condition, column against column or column against number, with a sum of columns on either side of it, and
// perhaps a column that everything is multiplied with.
std::optional<Finalist> compare(const Data& data, const Rows& rows, const FitOptions& options);

}  // namespace nalm::fitting
