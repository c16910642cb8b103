// Units of measurement as people write them: kg, m/s^2, N*m, W/(m2 K), kWh, km/h, °C, 1.
//
// Every unit is a product of powers of the seven SI base units and a number. Products are written with *, a dot or a
// space, powers as ^2, **2, 2 or ², also ^-1 and ^(1/2). A product behind a slash needs brackets: W/m2 K could mean
// two things, and is an error that says so.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nalm/result.hpp"

namespace nalm::formula {

// Always in lowest terms, with a denominator above 0.
struct Fraction {
  int numerator = 0, denominator = 1;
  double value() const { return static_cast<double>(numerator) / denominator; }
  friend bool operator==(const Fraction&, const Fraction&) = default;
};

inline constexpr std::size_t base_units = 7;
inline constexpr std::string_view base_unit_names[base_units] = {"m", "kg", "s", "A", "K", "mol", "cd"};

struct Unit {
  std::array<Fraction, base_units> powers{};                // of the base units
  double scale = 1;                                         // so many of the product of base units
  std::vector<std::pair<std::string, Fraction>> symbols{};  // as it was written: km, h^-1

  bool is_number() const { return powers == std::array<Fraction, base_units>{}; }
};

// An empty text, 1 and - are a pure number. Degrees Celsius and Fahrenheit are differences of temperature: what they
// count from is a constant of a formula.
Result<Unit> parse_unit(std::string_view text);

// Symbols to their powers as one unit, such as kg*m^2/s^2; "1" if there are none.
std::string print_unit(const std::vector<std::pair<std::string, double>>& symbols);

}  // namespace nalm::formula
