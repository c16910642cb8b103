// The numbers of a formula: least squares with error bars, and rounding to simple numbers where the data allow it.
#pragma once

#include <optional>
#include <vector>

#include "fit/data.hpp"
#include "fit/form.hpp"

namespace nalm::fitting {

// Rows to fit to.
struct Rows {
  std::vector<const double*> x;
  std::vector<double> y;

  std::size_t size() const { return y.size(); }
};
Rows rows_of(const Data& data, const std::vector<std::size_t>& indices, std::size_t at_most);

struct Refit {
  double mse = 0;
  std::vector<double> deviations;  // standard error of each free number
};

// Moves the free numbers of the form to the least squares; Levenberg-Marquardt with Eigen's solvers. False if it does
// not come to a finite error.
bool refit(Form& form, const Data& data, const Rows& rows, int steps, Refit& result);

// The mean squared error of a formula; infinite where it is not defined.
double mean_squared_error(const Expression& formula, const Data& data, const Rows& rows);

// An error below this share of the target's size is rounding, not information.
inline constexpr double rounding_level = 1e-10;

// How many nats it takes to tell somebody the target: the errors, and the formula. The smaller the better. A formula
// with one more term must pay for the term with smaller errors; this is what keeps noise out of formulas.
double description_length(const Form& form, double mse, std::size_t rows);

// Rounded to so many decimal digits.
double with_digits(double value, int digits);

// A whole number, simple fraction, multiple of pi or short decimal this close, unless one would be so by accident.
std::optional<double> simple_number(double value, double tolerance);

// Powers that are not multiples of 1/2 (of FitOptions::powers any) are numbers like the others: moves them to the least
// squares, and rounds them to simple fractions where that is one by no accident. Their intervals are added to the list.
bool polish_powers(Form& form, const Data& data, const Rows& rows, std::vector<FitConstant>& powers);

struct SnappedNumbers {
  std::vector<FitConstant> constants;
  double mse = 0;
};
// Rounds numbers of the form to whole numbers, simple fractions, multiples of pi or short decimals where the error does
// not rise beyond noise, and writes the rest with the digits that mean something.
bool snap_numbers(Form& form, const Data& data, const Rows& rows, SnappedNumbers& result);

}  // namespace nalm::fitting
