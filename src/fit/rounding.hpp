// How exactly a column of a table is written.
#pragma once

#include <vector>

namespace nalm::fitting {

// The root mean square error that rounding to the digits of these numbers has made. A column with six digits has one of
// about 3e-7 of its size; one whose numbers all have two decimals, of about 0.003.
double rounding_error_of(const std::vector<double>& values);

}  // namespace nalm::fitting
