// The verdict: whether the best candidate deserves to be called a formula for the data.
#pragma once

#include <string_view>

#include "fit/data.hpp"

namespace nalm::fitting {

// How a verdict speaks of the formula: it was found, or the user gave it.
struct Spoken {
  std::string_view refusal, it, its_errors;
};
inline constexpr Spoken of_a_search{"no formula found", "the best one", "the errors of the best one"};
inline constexpr Spoken of_a_user{"the formula does not hold", "it", "its errors"};

// Sets the judgement of the best candidate and Fit::reason.
void judge(Fit& fit, const Data& data, const Spoken& spoken);

}  // namespace nalm::fitting
