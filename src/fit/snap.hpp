// Rounding the numbers of a formula to simple ones where the data allow it.
#pragma once

#include <optional>
#include <vector>

#include "fit/refine.hpp"

namespace nalm::fitting {

struct SnappedNumbers {
  std::vector<FitConstant> constants;  // in the order of the slots that they have in the form before
  double mse = 0;
};
// Rounds numbers of the form to whole numbers, simple fractions, multiples of pi or short decimals where the error does
// not rise beyond noise, and writes the rest with the digits that mean something. Nothing if there is no finite error.
std::optional<SnappedNumbers> snap_numbers(Form& form, const Data& data, const Rows& rows);

// Powers that are not multiples of 1/2 (of FitOptions::powers any) are numbers like the others: moves them to the least
// squares, and rounds them to simple fractions where that is one by no accident. Gives their intervals.
std::optional<std::vector<FitConstant>> polish_powers(Form& form, const Data& data, const Rows& rows);

}  // namespace nalm::fitting
