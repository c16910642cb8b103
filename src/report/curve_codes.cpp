#include "report/curve_codes.hpp"

#include <algorithm>
#include <cmath>

namespace nalm {
namespace {

constexpr std::int16_t undefined = -32768, zero = -32767, infinite = 32767;
constexpr long largest_code = 32766;

}  // namespace

std::int16_t thousandths_of_decades(double value) {
  if (std::isnan(value)) return undefined;
  if (value <= 0) return zero;
  if (std::isinf(value)) return infinite;
  return static_cast<std::int16_t>(std::clamp(std::lround(1000 * std::log10(value)), -largest_code, largest_code));
}

std::int16_t share_of_span(double value, double lo, double hi) {
  if (std::isinf(value) && value > 0) return infinite;
  if (!std::isfinite(value)) return undefined;
  // Half of each first: the difference of large numbers may be infinite.
  const double share = hi > lo ? (value / 2 - lo / 2) / (hi / 2 - lo / 2) : 0;
  return static_cast<std::int16_t>(
      std::clamp(std::lround(2 * share * largest_code) - largest_code, -largest_code, largest_code));
}

std::string base64(const std::vector<std::int16_t>& values) {
  std::string bytes;
  for (const std::int16_t value : values) {
    const auto bits = static_cast<std::uint16_t>(value);
    bytes += static_cast<char>(bits & 0xff);
    bytes += static_cast<char>(bits >> 8);
  }
  return base64(bytes);
}

std::string base64(std::string_view bytes) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t k = 0; k < bytes.size(); k += 3) {
    unsigned group = 0;
    for (std::size_t j = 0; j < 3; ++j)
      group = (group << 8) | (k + j < bytes.size() ? static_cast<unsigned char>(bytes[k + j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j) text += k + j > bytes.size() ? '=' : digits[(group >> (18 - 6 * j)) & 63];
  }
  return text;
}

}  // namespace nalm
