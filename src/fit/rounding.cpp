#include "fit/rounding.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "base/number.hpp"
#include "nalm/detail/portable.hpp"

namespace nalm::fitting {

namespace {

// A number as it is written shortest: its first digit stands for 10^first, its last one for 10^last.
struct Digits {
  int first = 0, last = 0;
};

Digits digits_of(double value) {
  char buffer[40];
  const auto [end, error] =
      std::to_chars(buffer, buffer + sizeof buffer, std::fabs(value), std::chars_format::scientific);
  const std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  const std::size_t e = text.find('e');
  int exponent = 0;
  const std::size_t from = e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(text.data() + from, end, exponent);
  return {exponent, exponent - static_cast<int>(e > 1 ? e - 2 : 0)};
}

}  // namespace

double rounding_error_of(const std::vector<double>& values) {
  int most_digits = 1, last_place = 400;
  std::vector<Digits> all;
  for (const double value : values) {
    if (value == 0 || !std::isfinite(value)) continue;
    all.push_back(digits_of(value));
    most_digits = std::max(most_digits, all.back().first - all.back().last + 1);
    last_place = std::min(last_place, all.back().last);
  }
  double squares = 0;
  for (const Digits& d : all) {
    const double unit = portable::pow(10, std::max(last_place, d.first - most_digits + 1));
    squares += unit * unit / 12;
  }
  return all.empty() ? 0 : std::sqrt(squares / static_cast<double>(values.size()));
}

}  // namespace nalm::fitting
