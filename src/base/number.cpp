#include "base/number.hpp"

#include <fast_float/fast_float.h>

#include <cmath>

namespace nalm {

ReadNumber read_number(std::string_view text) {
  ReadNumber number;
  const auto [end, error] = fast_float::from_chars(text.data(), text.data() + text.size(), number.value);
  if (error != std::errc()) return {};
  number.length = static_cast<std::size_t>(end - text.data());
  const std::string_view digits = text.substr(0, text.substr(0, number.length).find_first_of("eE"));
  if (std::isinf(number.value)) number.in_range = digits.find_first_of("0123456789") == digits.npos;
  if (number.value == 0) number.in_range = digits.substr(0, number.length).find_first_of("123456789") == digits.npos;
  return number;
}

std::optional<double> number_of(std::string_view text) {
  const ReadNumber number = read_number(text);
  if (number.length == 0 || number.length != text.size() || !number.in_range) return std::nullopt;
  return number.value;
}

}  // namespace nalm
