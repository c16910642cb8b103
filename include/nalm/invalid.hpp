// Results that mean nothing. Units that divide add a small number to their input, or have a smallest one, so that
// dividing by 0 gives a huge number and not infinity.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "nalm/model.hpp"

namespace nalm {

enum class Invalid {
  No,
  NotFinite,  // the result itself
  Pole,       // the result is a number, but the ideal formula has none there
};
std::string_view name_of(Invalid reason);  // "" for No

// Of every row; rows and results as for predict. Fails where the model has no ideal formula.
Result<std::vector<Invalid>> invalid_rows(const Model& model, std::span<const double> rows,
                                          std::span<const double> results);

}  // namespace nalm
