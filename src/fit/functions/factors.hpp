// Factors that may stand in a product with functions: sin(u), exp(u) - 1, 1 - cos(u), ..., where u is a product of
// columns or a difference of two, with the usual numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fit/data.hpp"
#include "fit/form.hpp"
#include "numeric/linear_algebra.hpp"

namespace nalm::fitting {

// What a function of a product u is made into before it becomes a factor.
enum class Shape { Plain, Exponent, MinusOne, PlusOne, PlusInverse, OverArgument, Sum };

struct Entry {
  Shape shape = Shape::Plain;
  std::string_view function;
  InnerSum argument;
  numeric::Vector values;  // logarithms, or the argument itself where the function is exp
};

InnerSum times(InnerSum sum, double factor);

// Products of up to so many columns, and differences of two columns, times or divided by a third.
std::vector<InnerSum> arguments_of(std::size_t columns, std::size_t most);

// The factors that these functions of an argument make, with their logarithms on some rows, weighted.
std::vector<Entry> entries_of(const InnerSum& argument, const Data& data, const std::vector<std::size_t>& rows,
                              const numeric::Vector& weight, const std::vector<std::string>& functions);

}  // namespace nalm::fitting
