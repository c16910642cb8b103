// Formulas that jump: another sum from some value of a column on, and nothing that leads from one to the other.
#pragma once

#include <optional>
#include <string>

#include "fit/data.hpp"

namespace nalm::fitting {

struct Jump {
  std::string column;
  double limit = 0;  // of the column
  double size = 0;   // root mean square over the rows, in deviations of the target
};

// The largest one at a value of a single column. Where two columns are compared with each other there is no such value.
std::optional<Jump> largest_jump(const Expression& formula, const Data& data);

// The same for formulas with functions: an exponential may be as steep as a jump.
std::optional<Jump> steepest_jump(const Expression& formula, const Data& data);

}  // namespace nalm::fitting
