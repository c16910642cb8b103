#include "formula/known_units.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/nearest.hpp"

namespace nalm::formula {

namespace {

struct KnownUnit {
  std::string_view name;
  double scale;
  std::array<signed char, base_units> powers;  // of m, kg, s, A, K, mol, cd
  bool prefixes = false;                       // k, m, ... may stand before it
};

namespace dimension {
using Powers = std::array<signed char, base_units>;
constexpr Powers none{}, length{1}, area{2}, volume{3}, mass{0, 1}, time{0, 0, 1}, current{0, 0, 0, 1},
    temperature{0, 0, 0, 0, 1}, amount{0, 0, 0, 0, 0, 1}, light{0, 0, 0, 0, 0, 0, 1}, per_time{0, 0, -1},
    speed{1, 0, -1}, force{1, 1, -2}, pressure{-1, 1, -2}, energy{2, 1, -2}, power{2, 1, -3}, charge{0, 0, 1, 1},
    voltage{2, 1, -3, -1}, dose{2, 0, -2};
}  // namespace dimension

constexpr double half_turn = std::numbers::pi;

constexpr KnownUnit known_units[] = {
    // SI
    {"m", 1, dimension::length, true},
    {"g", 1e-3, dimension::mass, true},
    {"s", 1, dimension::time, true},
    {"A", 1, dimension::current, true},
    {"K", 1, dimension::temperature, true},
    {"mol", 1, dimension::amount, true},
    {"cd", 1, dimension::light, true},
    {"Hz", 1, dimension::per_time, true},
    {"N", 1, dimension::force, true},
    {"Pa", 1, dimension::pressure, true},
    {"J", 1, dimension::energy, true},
    {"W", 1, dimension::power, true},
    {"C", 1, dimension::charge, true},
    {"V", 1, dimension::voltage, true},
    {"F", 1, {-2, -1, 4, 2}, true},
    {"ohm", 1, {2, 1, -3, -2}, true},
    {"Ohm", 1, {2, 1, -3, -2}, true},
    {"\xCE\xA9", 1, {2, 1, -3, -2}, true},      // Greek letter
    {"\xE2\x84\xA6", 1, {2, 1, -3, -2}, true},  // Ohm sign
    {"S", 1, {-2, -1, 3, 2}, true},
    {"Wb", 1, {2, 1, -2, -1}, true},
    {"T", 1, {0, 1, -2, -1}, true},
    {"H", 1, {2, 1, -2, -2}, true},
    {"lm", 1, dimension::light, true},
    {"lx", 1, {-2, 0, 0, 0, 0, 0, 1}, true},
    {"Bq", 1, dimension::per_time, true},
    {"Gy", 1, dimension::dose, true},
    {"Sv", 1, dimension::dose, true},
    {"kat", 1, {0, 0, -1, 0, 0, 1}, true},
    {"rad", 1, dimension::none, true},
    {"sr", 1, dimension::none, true},
    // beside SI
    {"min", 60, dimension::time},
    {"h", 3600, dimension::time},
    {"hr", 3600, dimension::time},
    {"d", 86400, dimension::time},
    {"day", 86400, dimension::time},
    {"week", 604800, dimension::time},
    {"yr", 31557600, dimension::time},
    {"year", 31557600, dimension::time},
    {"deg", half_turn / 180, dimension::none},
    {"°", half_turn / 180, dimension::none},
    {"arcmin", half_turn / 10800, dimension::none},
    {"arcsec", half_turn / 648000, dimension::none},
    {"rev", 2 * half_turn, dimension::none},
    {"rpm", 2 * half_turn / 60, dimension::per_time},
    {"pH", 1, dimension::none},  // not a picohenry
    {"%", 0.01, dimension::none},
    {"ppm", 1e-6, dimension::none},
    {"ppb", 1e-9, dimension::none},
    {"L", 1e-3, dimension::volume, true},
    {"l", 1e-3, dimension::volume, true},
    {"t", 1000, dimension::mass},
    {"ha", 1e4, dimension::area},
    {"bar", 1e5, dimension::pressure, true},
    {"eV", 1.602176634e-19, dimension::energy, true},
    {"u", 1.66053906660e-27, dimension::mass},
    {"Da", 1.66053906660e-27, dimension::mass, true},
    {"Wh", 3600, dimension::energy, true},
    {"Ah", 3600, dimension::charge, true},
    {"Nm", 1, dimension::energy, true},
    {"VA", 1, dimension::power, true},
    {"M", 1000, {-3, 0, 0, 0, 0, 1}, true},
    {"cal", 4.184, dimension::energy, true},
    {"°C", 1, dimension::temperature},
    {"degC", 1, dimension::temperature},
    {"°F", 5.0 / 9, dimension::temperature},
    {"degF", 5.0 / 9, dimension::temperature},
    {"Å", 1e-10, dimension::length},
    {"AU", 149597870700, dimension::length},
    {"au", 149597870700, dimension::length},
    {"ly", 9460730472580800, dimension::length},
    {"pc", 3.0856775814913673e16, dimension::length, true},
    {"atm", 101325, dimension::pressure},
    {"mmHg", 133.322387415, dimension::pressure},
    {"Torr", 101325.0 / 760, dimension::pressure},
    {"psi", 6894.757293168361, dimension::pressure},
    {"erg", 1e-7, dimension::energy},
    {"dyn", 1e-5, dimension::force},
    {"kgf", 9.80665, dimension::force},
    {"hp", 745.6998715822702, dimension::power},
    {"in", 0.0254, dimension::length},
    {"ft", 0.3048, dimension::length},
    {"yd", 0.9144, dimension::length},
    {"mi", 1609.344, dimension::length},
    {"mile", 1609.344, dimension::length},
    {"nmi", 1852, dimension::length},
    {"mph", 0.44704, dimension::speed},
    {"kn", 1852.0 / 3600, dimension::speed},
    {"knot", 1852.0 / 3600, dimension::speed},
    {"lb", 0.45359237, dimension::mass},
    {"oz", 0.028349523125, dimension::mass},
    {"lbf", 4.4482216152605, dimension::force},
    {"gal", 0.003785411784, dimension::volume},
    // words
    {"meter", 1, dimension::length},
    {"metre", 1, dimension::length},
    {"kilogram", 1, dimension::mass},
    {"gram", 1e-3, dimension::mass},
    {"sec", 1, dimension::time},
    {"second", 1, dimension::time},
    {"minute", 60, dimension::time},
    {"hour", 3600, dimension::time},
    {"ampere", 1, dimension::current},
    {"kelvin", 1, dimension::temperature},
    {"mole", 1, dimension::amount},
    {"hertz", 1, dimension::per_time},
    {"newton", 1, dimension::force},
    {"pascal", 1, dimension::pressure},
    {"joule", 1, dimension::energy},
    {"watt", 1, dimension::power},
    {"coulomb", 1, dimension::charge},
    {"volt", 1, dimension::voltage},
    {"tesla", 1, {0, 1, -2, -1}},
    {"radian", 1, dimension::none},
    {"degree", half_turn / 180, dimension::none},
    {"percent", 0.01, dimension::none},
    {"liter", 1e-3, dimension::volume},
    {"litre", 1e-3, dimension::volume},
    {"celsius", 1, dimension::temperature},
    {"Celsius", 1, dimension::temperature},
    {"inch", 0.0254, dimension::length},
    {"foot", 0.3048, dimension::length},
};

struct Prefix {
  std::string_view name;
  double factor;
};
constexpr Prefix known_prefixes[] = {
    {"da", 1e1},        {"Y", 1e24},  {"Z", 1e21},        {"E", 1e18},  {"P", 1e15},  {"T", 1e12},
    {"G", 1e9},         {"M", 1e6},   {"k", 1e3},         {"h", 1e2},   {"d", 1e-1},  {"c", 1e-2},
    {"m", 1e-3},        {"u", 1e-6},  {"\xC2\xB5", 1e-6},  // micro sign
    {"\xCE\xBC", 1e-6},                                    // Greek letter
    {"n", 1e-9},        {"p", 1e-12}, {"f", 1e-15},       {"a", 1e-18}, {"z", 1e-21}, {"y", 1e-24}};

const KnownUnit* plain_unit(std::string_view name) {
  for (const KnownUnit& unit : known_units)
    if (unit.name == name) return &unit;
  return nullptr;
}

}  // namespace

std::optional<Unit> find_unit(std::string_view name) {
  const KnownUnit* unit = plain_unit(name);
  double factor = 1;
  for (const Prefix& prefix : known_prefixes) {
    if (unit || !name.starts_with(prefix.name)) continue;
    unit = plain_unit(name.substr(prefix.name.size()));
    if (unit && !unit->prefixes) unit = nullptr;
    factor = prefix.factor;
  }
  // Words in the plural: hours, degrees.
  if (!unit && name.size() > 4 && name.ends_with('s')) unit = plain_unit(name.substr(0, name.size() - 1)), factor = 1;
  if (!unit) return std::nullopt;
  Unit result;
  for (std::size_t k = 0; k < base_units; ++k) result.powers[k] = {unit->powers[k], 1};
  result.scale = name == "kg" ? 1 : factor * unit->scale;  // 1000 * 0.001 is not 1 to the last bit
  result.symbols = {{std::string(name), {1, 1}}};
  return result;
}

std::string unit_meant(std::string_view name) {
  if (name.size() < 2) return "";  // one letter is near every other
  std::vector<std::string_view> names{"kg", "km", "cm", "mm", "kPa", "kJ", "kW", "kWh", "MHz", "ms"};
  for (const KnownUnit& unit : known_units)
    if (unit.name.size() > 1) names.push_back(unit.name);
  const std::string nearest = did_you_mean(name, names);
  constexpr std::string_view before = " Did you mean ";
  if (nearest.empty()) return "";
  return ", perhaps " + nearest.substr(before.size(), nearest.size() - before.size() - 1);
}

std::string_view coherent_unit(const std::array<double, base_units>& powers) {
  // Not those that share their base units with others: 1/s is not always Hz, and J/kg seldom Gy.
  for (const std::string_view name : {"N", "Pa", "J", "W", "C", "V", "F", "ohm", "S", "Wb", "T", "H"}) {
    const KnownUnit& unit = *plain_unit(name);
    if (std::equal(powers.begin(), powers.end(), unit.powers.begin(),
                   [](double a, double b) { return std::fabs(a - b) < 1e-9; }))
      return unit.name;
  }
  return "";
}

}  // namespace nalm::formula
