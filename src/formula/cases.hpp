// Formulas with a comparison as people say them.
#pragma once

#include <string>

#include "nalm/expression.hpp"

namespace nalm::formula {

// "2*x where x < 3, otherwise 5*x - 9" for a formula with one comparison; what print() writes for any other.
std::string print_cases(const Expression& formula);

}  // namespace nalm::formula
