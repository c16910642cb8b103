// FitOptions::relative: errors are logarithms of predicted over true, which small ones in proportion to the target are.
#pragma once

#include <functional>
#include <optional>

#include "fit/data.hpp"

namespace nalm::fitting {

// Rows whose errors f - y, weighted, are those of log f - log y to first order around a formula f0: at f0 both the sum
// of squares and its slopes are equal. The target is f0*(1 + log(y/f0)) and the weight 1/f0. Nothing if f0 is not
// positive.
std::optional<Data> around(const Expression& formula, const Data& data);

// Fits with weights of 1/y, and then around what was found until that is found again. Leaves in `data` the rows of the
// last fit.
Result<Fit> fit_relative(Data& data, const std::function<Result<Fit>(const Data&)>& run);

}  // namespace nalm::fitting
