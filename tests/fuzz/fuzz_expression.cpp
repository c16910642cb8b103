// Any bytes: parsing never crashes, what can be parsed prints as a text that reads back as the same formula, and every
// export of it is written.
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "nalm/expression.hpp"
#include "nalm/formula_export.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

bool same_bits(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto first = nalm::parse_expression(input);
  if (!first) {
    require(!first.error().message.empty());
    return 0;
  }
  const std::string text = nalm::print(*first);
  const auto second = nalm::parse_expression(text);
  require(second.ok());
  require(nalm::print(*second) == text);

  const std::vector<std::string> names = nalm::variables(*first);
  for (const char* format : {"text", "latex", "sympy", "python", "c", "spreadsheet", "mathml"}) {
    require(!nalm::export_formula(*first, text, names, nalm::find_format(format).value()).empty());
  }
  constexpr std::array kNumbers = {1.5,
                                   -2.0,
                                   0.0,
                                   -0.0,
                                   1e300,
                                   5e-324,
                                   -1e-7,
                                   std::numeric_limits<double>::infinity(),
                                   std::numeric_limits<double>::quiet_NaN()};
  for (std::size_t shift = 0; shift < kNumbers.size(); ++shift) {
    std::vector<double> values;
    for (std::size_t k = 0; k < names.size(); ++k) values.push_back(kNumbers[(k + shift) % kNumbers.size()]);
    const auto expected = nalm::evaluate(*first, names, values);
    const auto actual = nalm::evaluate(*second, names, values);
    const auto scaled = nalm::evaluate_with_scale(*first, names, values);
    require(expected.ok() && actual.ok() && scaled.ok());
    require(same_bits(*expected, *actual) && same_bits(*expected, scaled->value));
    require(!std::isnan(scaled->scale) && (std::isnan(*expected) || scaled->scale >= std::abs(*expected)));
  }
  return 0;
}
