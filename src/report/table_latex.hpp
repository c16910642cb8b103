// LaTeX in the layout of the survey's tables.
#pragma once

#include <string>

#include "experiment/summary.hpp"

namespace nalm {

std::string survey_latex(const Results& results);

}  // namespace nalm
