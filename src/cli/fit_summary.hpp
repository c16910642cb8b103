// What nalm fit says about a fit.
#pragma once

#include <string>

#include "nalm/fit.hpp"

namespace nalm::cli {

// "9.8136, between 9.79 and 9.84"
std::string describe(const FitConstant& constant);

// given: somebody gave the formula, or its form. again: the command that gives the same once more.
std::string summary(const Fit& fit, const FitOptions& options, bool given, const std::string& again);

}  // namespace nalm::cli
