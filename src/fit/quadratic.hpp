// A product of few columns times a power of a polynomial of second degree in the others, as in
// m1*m2/((x1 - x2)^2 + (y1 - y2)^2).
#pragma once

#include <optional>
#include <span>

#include "fit/data.hpp"
#include "fit/form.hpp"
#include "fit/refine.hpp"

namespace nalm::fitting {

// (y / product)^power is the polynomial. For given product and power all of its terms at once are linear least squares,
// so that, unlike elsewhere in the search, none has to be guessed before the others: every product of at most two
// columns is tried with each of the powers, and of the best one the terms that mean nothing are left out. Nothing if
// there are too many columns for the rows, or too many terms left.
std::optional<Form> quadratic_form(const Data& data, const Rows& rows, std::span<const double> powers);

}  // namespace nalm::fitting
