// Ways to write the same formula with other numbers in it.
#pragma once

#include <vector>

#include "fit/form.hpp"

namespace nalm::fitting {

// Which term of a sum has the coefficient 1, whether a factor stands before a sum or inside of it, and squares of sums.
// The form itself is the first.
std::vector<Form> spellings(const Form& form);

}  // namespace nalm::fitting
