// The one reader of decimal numbers: correctly rounded, and neither the locale nor the standard library's version
// matters.
#pragma once

#include <limits>
#include <optional>
#include <string_view>

namespace nalm {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

// The number that a text begins with.
struct ReadNumber {
  double value = 0;
  std::size_t length = 0;  // 0: there is none
  bool in_range = true;    // otherwise the value is infinite or 0, though it was written as neither
};
ReadNumber read_number(std::string_view text);

// The whole text is one number in range; inf and nan are numbers.
std::optional<double> number_of(std::string_view text);

}  // namespace nalm
