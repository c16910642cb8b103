// How far predictions scatter: what intervals for new rows are made of.
#pragma once

#include "fit/data.hpp"

namespace nalm::fitting {

// Of a formula that was fitted to the rows. Without degrees of freedom if the rows do not tell.
FitSpread spread_of(const Candidate& candidate, const Data& data, bool relative);

}  // namespace nalm::fitting
