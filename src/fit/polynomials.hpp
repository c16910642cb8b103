// Formulas of polynomials of second degree, by linear least squares.
//
// For a given product of columns and a given power of the target, all terms of
//
//   y = product * polynomial^(1/power)               m1*m2/((x1 - x2)^2 + (y1 - y2)^2)
//   y = product * (polynomial / polynomial)^(1/power)    U*(R2*R3 - R1*R4)/((R1 + R2)*(R3 + R4))
//
// are found at once, so that, unlike elsewhere in the search, none has to be guessed before the others: every product
// of at most two columns is tried, and of the best one the terms that mean nothing are left out. Nothing is returned if
// there are too many columns for the rows, or too many terms left.
#pragma once

#include <optional>

#include "fit/data.hpp"
#include "fit/form.hpp"
#include "fit/refine.hpp"

namespace nalm::fitting {

std::optional<Form> quadratic_form(const Data& data, const Rows& rows, double power);
std::optional<Form> rational_form(const Data& data, const Rows& rows, double power);

}  // namespace nalm::fitting
