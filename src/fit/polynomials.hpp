// Formulas of polynomials, by linear least squares.
//
// For a given product of columns and a given power of the target, all terms of second degree of
//
//   y = product * polynomial^(1/power)               m1*m2/((x1 - x2)^2 + (y1 - y2)^2)
//   y = product * (polynomial / polynomial)^(1/power)    U*(R2*R3 - R1*R4)/((R1 + R2)*(R3 + R4))
//
// are found at once, so that, unlike elsewhere in the search, none has to be guessed before the others: every product
// of at most two columns is tried, and of the best one the terms that mean nothing are left out. Nothing is returned if
// there are too many columns for the rows, or too many terms left.
#pragma once

#include <optional>
#include <vector>

#include "fit/data.hpp"
#include "fit/form.hpp"
#include "fit/refine.hpp"

namespace nalm::fitting {

std::optional<Form> quadratic_form(const Data& data, const Rows& rows, double power);
std::optional<Form> rational_form(const Data& data, const Rows& rows, double power);

// Polynomials and ratios of polynomials of higher degree: x^5 + x^4 + x^3 + x^2 + x, or 20 - x - x*y/(1 + x^2/2) over
// one denominator.
struct Degrees {
  int above, below;  // 0: no denominator
};

// What so few columns and so many rows allow, the fewest numbers first: of a ratio that has more than it needs there
// are many ways to write it.
std::vector<Degrees> degrees_for(std::size_t inputs, std::size_t rows);
std::optional<Form> form_of_degrees(const Data& data, const Rows& rows, const Degrees& degrees);

}  // namespace nalm::fitting
