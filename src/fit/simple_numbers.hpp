// Numbers that are simpler to write than others.
#pragma once

#include <optional>

namespace nalm::fitting {

// Rounded to so many decimal digits.
double with_digits(double value, int digits);

// As many digits as the error bar allows: rounding moves the number by a hundredth of that at most.
double with_meaningful_digits(double value, double deviation);

struct SimpleNumber {
  double value;
  double accident;  // the chance that a number as simple lies so close
};
inline constexpr double largest_accident = 0.02;

// A whole number, simple fraction, multiple of pi or short decimal within the tolerance, unless one would be so by
// accident.
std::optional<SimpleNumber> simple_number(double value, double tolerance);

}  // namespace nalm::fitting
