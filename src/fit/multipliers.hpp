// Columns that do nothing but multiply the target: y = x_i^p * (a formula of the others). Divided by them the table has
// fewer columns, and what is left is found where the whole would not be: 1/((x1 - x2)^2 + (y1 - y2)^2 + (z1 - z2)^2)
// beside three masses.
#pragma once

#include <optional>
#include <vector>

#include "fit/data.hpp"
#include "fit/form.hpp"

namespace nalm::fitting {

struct Multipliers {
  PowerList powers;               // of every column; 0 for the others
  std::vector<std::size_t> rest;  // the other columns
};

// Nothing if there are none, or if nothing is left beside them.
std::optional<Multipliers> multipliers_of(const Data& data, Powers allowed);

// The target divided by the multipliers, as a table of the other columns. Errors count as those of the target do.
Data divided_by(const Data& data, const Multipliers& multipliers);

// A form of that table as one of the whole.
Form multiplied_by(const Form& form, const Multipliers& multipliers);

}  // namespace nalm::fitting
