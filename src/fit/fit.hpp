// What the two ways to a fit share: a search, and a formula that somebody gives.
#pragma once

#include "fit/data.hpp"

namespace nalm::fitting {

// What is known before anything is fitted.
Fit begin(const Data& data, const FitOptions& options);

// Judges a formula that somebody gives, as the only candidate.
void conclude_given(Fit& fit, Candidate candidate, const Data& data, const FitOptions& options);

}  // namespace nalm::fitting
