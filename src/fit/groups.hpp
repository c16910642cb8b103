// FitOptions::by: groups of rows that share a formula, each with a constant of its own.
#pragma once

#include <functional>

#include "fit/data.hpp"

namespace nalm::fitting {

// Fits to the rows with the groups' constants taken out, finds the constants for that formula, and does so again until
// they stand still; once with factors, once with constants that are added. Leaves in `data` the rows without the
// constants of their groups, which is what the fit is of.
Result<Fit> fit_groups(Data& data, const FitOptions& options, const std::function<Result<Fit>(const Data&)>& run);

}  // namespace nalm::fitting
