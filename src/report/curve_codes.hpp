// Learning curves in few bytes, for the pages: 16 bits per value, as base64.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nalm {

// The smallest code is for what is not a number, the largest for infinity. A thousandth of a decade is enough for a
// logarithmic axis; what is not positive has the second smallest code.
std::int16_t thousandths_of_decades(double value);
// For a linear axis from lo to hi: -32766 to 32766.
std::int16_t share_of_span(double value, double lo, double hi);

std::string base64(const std::vector<std::int16_t>& values);
std::string base64(std::string_view bytes);

}  // namespace nalm
