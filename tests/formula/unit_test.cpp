#include "formula/unit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace nalm::formula {
namespace {

struct Expected {
  const char* text;
  double scale;
  std::array<double, base_units> powers;  // m, kg, s, A, K, mol, cd
};

class ReadsUnit : public testing::TestWithParam<Expected> {};

TEST_P(ReadsUnit, AsPeopleWriteIt) {
  const Result<Unit> unit = parse_unit(GetParam().text);
  ASSERT_TRUE(unit) << unit.error().message;
  EXPECT_NEAR(unit->scale / GetParam().scale, 1, 1e-12) << GetParam().text;
  for (std::size_t k = 0; k < base_units; ++k)
    EXPECT_EQ(unit->powers[k].value(), GetParam().powers[k]) << GetParam().text << ", " << base_unit_names[k];
}

INSTANTIATE_TEST_SUITE_P(
    Unit, ReadsUnit,
    testing::Values(
        Expected{"", 1, {}}, Expected{"1", 1, {}}, Expected{" - ", 1, {}}, Expected{"[kg]", 1, {0, 1}},
        Expected{"kg", 1, {0, 1}}, Expected{"g", 1e-3, {0, 1}}, Expected{"mg", 1e-6, {0, 1}}, Expected{"um", 1e-6, {1}},
        Expected{"µm", 1e-6, {1}}, Expected{"\xCE\xBCm", 1e-6, {1}}, Expected{"m/s", 1, {1, 0, -1}},
        Expected{"m/s^2", 1, {1, 0, -2}}, Expected{"m/s2", 1, {1, 0, -2}}, Expected{"m s-2", 1, {1, 0, -2}},
        Expected{"m*s^-2", 1, {1, 0, -2}}, Expected{"m.s**-2", 1, {1, 0, -2}}, Expected{"m·s⁻²", 1, {1, 0, -2}},
        Expected{"m/s/s", 1, {1, 0, -2}}, Expected{"m²", 1, {2}}, Expected{"1/s", 1, {0, 0, -1}},
        Expected{"(m/s)^2", 1, {2, 0, -2}}, Expected{"V/Hz^(1/2)", 1, {2, 1, -2.5, -1}}, Expected{"m^0.5", 1, {0.5}},
        Expected{"m^(-1/2)", 1, {-0.5}}, Expected{"J/(kg K)", 1, {2, 0, -2, 0, -1}},
        Expected{"W/(m^2*K)", 1, {0, 1, -3, 0, -1}}, Expected{"N*m^2/kg^2", 1, {3, -1, -2}},
        Expected{"km/h", 1 / 3.6, {1, 0, -1}}, Expected{"kWh", 3.6e6, {2, 1, -2}}, Expected{"hPa", 100, {-1, 1, -2}},
        Expected{"min", 60, {0, 0, 1}}, Expected{"mmol/L", 1, {-3, 0, 0, 0, 0, 1}},
        Expected{"mmHg", 133.322387415, {-1, 1, -2}}, Expected{"deg", std::numbers::pi / 180, {}},
        Expected{"°", std::numbers::pi / 180, {}}, Expected{"°C", 1, {0, 0, 0, 0, 1}},
        Expected{"degF", 5.0 / 9, {0, 0, 0, 0, 1}}, Expected{"%", 0.01, {}}, Expected{"hours", 3600, {0, 0, 1}},
        Expected{"kΩ", 1e3, {2, 1, -3, -2}}, Expected{"k\xE2\x84\xA6", 1e3, {2, 1, -3, -2}}, Expected{"pH", 1, {}},
        Expected{"ft", 0.3048, {1}}, Expected{"cd", 1, {0, 0, 0, 0, 0, 0, 1}}, Expected{"dam", 10, {1}},
        Expected{"Pa", 1, {-1, 1, -2}}, Expected{"T", 1, {0, 1, -2, -1}}, Expected{"mol", 1, {0, 0, 0, 0, 0, 1}}));

TEST(Unit, KilogramIsOneToTheLastBit) { EXPECT_EQ(parse_unit("kg")->scale, 1); }

TEST(Unit, PowersAreExactFractions) {
  EXPECT_EQ(parse_unit("m^(1/3)*m^(2/3)")->powers[0], (Fraction{1, 1}));
  EXPECT_EQ(parse_unit("s^(2/6)")->powers[2], (Fraction{1, 3}));
  EXPECT_TRUE(parse_unit("m/m")->is_number());
  EXPECT_TRUE(parse_unit("J/(N*m)")->is_number());
  EXPECT_TRUE(parse_unit("m/m")->symbols.empty());
}

TEST(Unit, WhatCannotBeReadIsNamed) {
  const auto message = [](const char* text) {
    const Result<Unit> unit = parse_unit(text);
    return unit ? std::string("read: ") + text : unit.error().message;
  };
  const auto says = [&](const char* text, const char* part) {
    EXPECT_NE(message(text).find(part), std::string::npos) << message(text);
  };
  EXPECT_EQ(message("furlong"),
            "\"furlong\" is not a unit that can be read: there is no unit \"furlong\"; write units such as kg, m/s^2, "
            "kWh, W/(m^2*K) or °C, and 1 for a pure number.");
  says("Kg", "there is no unit \"Kg\", perhaps kg");
  says("m/furlong", "there is no unit \"furlong\"");
  says("W/m2 K", "not clear without brackets");
  says("W/m2*K", "not clear without brackets");
  says("m/", "a unit is missing at its end");
  says("m*", "a unit is missing at its end");
  says("(m/s", "a bracket is not closed");
  says("m)", "\")\" is not expected there");
  says("m^", "a power is a whole number or a fraction");
  says("m^(1/0)", "a power is a whole number or a fraction");
  says("m^x", "a power is a whole number or a fraction");
  says("m-s", "a power is a whole number or a fraction");
  says("m^99999999", "a power is a whole number or a fraction");
  says("m^9999*m^9999", "its powers are too large");
  says("km^9999", "its powers are too large");
  says("1.5", "not a unit");
  says("10 m", "not a unit");
  says("m^1/2", "not a unit");
  says("kmin", "there is no unit");
  says("m, s", "not a unit");
  says("((((((((((m))))))))))", "too many brackets");
  says(std::string(300, 'm').c_str(), "a unit of 300 characters is too long");
  says("\xFF\xFE", "there is no unit");
}

TEST(Unit, Printed) {
  EXPECT_EQ(print_unit({}), "1");
  EXPECT_EQ(print_unit({{"m", 1}, {"s", -2}}), "m/s^2");
  EXPECT_EQ(print_unit({{"N", 1}, {"m", 2}, {"kg", -2}}), "N*m^2/kg^2");
  EXPECT_EQ(print_unit({{"W", 1}, {"m", -2}, {"K", -1}}), "W/(m^2*K)");
  EXPECT_EQ(print_unit({{"s", -1}}), "1/s");
  EXPECT_EQ(print_unit({{"Hz", 0.5}, {"kg", -0.75}}), "Hz^(1/2)/kg^(3/4)");
  EXPECT_EQ(print_unit({{"kg", 0.7213}}), "kg^0.7213");
}

TEST(Unit, WhatIsPrintedReadsBack) {
  for (const char* text : {"m/s^2", "N*m^2/kg^2", "W/(m^2*K)", "1/s", "V/Hz^(1/2)", "km/h", "mol/L", "°C"}) {
    std::vector<std::pair<std::string, double>> symbols;
    const Result<Unit> unit = parse_unit(text);
    for (const auto& [name, power] : unit->symbols) symbols.emplace_back(name, power.value());
    EXPECT_EQ(print_unit(symbols), text);
  }
}

}  // namespace
}  // namespace nalm::formula
