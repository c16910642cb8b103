// When two forms are the same formula.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fit/form.hpp"

namespace nalm::fitting {

// Brings a form into the order and the spelling in which equal formulas are equal: no sum with a single term, no
// common factor inside a sum, no negative power inside a sum, first coefficient of a sum 1. False: it is not a formula
// (a root of something negative, no number left, ...). negative[i]: the column has negative values.
bool normalise(Form& form, const std::vector<bool>& negative);

// The same for equal formulas whatever their numbers are.
std::string key_of(const Form& form);

// A form without inner sums, if their powers are small whole numbers: (a - b)^2 becomes a^2 - 2ab + b^2.
std::optional<Form> expanded(const Form& form);

// Whether the sum stands under no root.
bool has_whole_powers(const Form& form, std::size_t sum);

// Whether every power is a whole or a half number.
bool has_half_powers(const Form& form);

// Gives this term of a sum the coefficient 1 (under a root perhaps -1), and its products the factor.
void give_the_one(Form& form, std::size_t sum, std::size_t term);

}  // namespace nalm::fitting
