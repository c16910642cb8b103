// Description length: what the choice between formulas minimises.
#pragma once

#include "fit/form.hpp"

namespace nalm::fitting {

// An error below this share of the target's size is rounding, not information.
inline constexpr double rounding_level = 1e-10;

// How many nats it takes to tell somebody a number that was fitted to so many rows.
double cost_of_free_number(std::size_t rows);

// How many nats it takes to tell somebody the errors of so many rows. mse is in units of the target's size.
double length_of_errors(double mse, std::size_t rows);

// Rows that are left to tell the errors, if so many numbers were fitted. Many rows are as good as all.
std::size_t rows_beside(std::size_t fitted, std::size_t rows);

// The errors, and the formula. The smaller the better. A formula with one more term must pay for the term with smaller
// errors; this is what keeps noise out of formulas.
double description_length(const Form& form, double mse, std::size_t rows);

// The logarithm of the number of formulas that are as simple, whatever their constants: each column is one of so many.
double length_of_structure(const Expression& formula, std::size_t columns);

// Whether one of FitOptions::functions is in it: then so many more formulas are possible.
bool has_functions(const Expression& formula);

// How much worse than another the errors are: twice the logarithm of the ratio of likelihoods.
double rise_of_errors(double mse, double before, std::size_t rows);
// A rise that chance alone would give once in 2,000 times.
inline constexpr double largest_rise = 12;

}  // namespace nalm::fitting
