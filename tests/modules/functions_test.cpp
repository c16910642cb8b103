// Functions: the same bits as formulas, what is left out where a weight is 0, gradients, and what the weights spell.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "nalm/model.hpp"
#include "nalm/modules/functions.hpp"

namespace nalm::functions_test {
namespace {

using Values = std::vector<double>;
using modules::Functions;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr const char* names[] = {"identity", "exp", "log", "sin", "cos", "tanh", "asin", "acos"};

// One input and one output, and the factor of each function.
Model layer(const Values& factors, int inputs = 1, int outputs = 1) {
  return {{{*find_module("Functions"), {inputs, outputs, {}}, factors}}, {}};
}
Model one(int function) {
  Values factors(Functions::count, 0.0);
  factors[static_cast<std::size_t>(function)] = 1;
  return layer(factors);
}

double output_of(const Model& model, double x, Precision precision = Precision::Double) {
  return (*predict(model, Values{x}, precision))[0];
}

TEST(Functions, OneOfThemHasTheBitsOfTheFormula) {
  Xoshiro random(5);
  const std::vector<std::string> x1 = {"x1"};
  for (int f = 0; f < Functions::count; ++f) {
    const Expression formula = literal_formula(one(f), {})->outputs[0];
    Values points = {0.0, 0.5,  1.0,   -0.5,   -1.0,     2.0,       -2.0,   710.0, -750.0,
                     1e5, -1e5, 1e-30, 5e-324, infinity, -infinity, 1e-310, 1.5,   999999.0};
    for (int k = 0; k < 1000; ++k) points.push_back(random.between(-2, 2));
    for (int k = 0; k < 1000; ++k) points.push_back(random.between(-100, 100));
    for (const double x : points) {
      const double expected = *evaluate(formula, x1, Values{x}), y = output_of(one(f), x);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(y)) << names[f] << " of " << x << " is " << y;
      } else {
        EXPECT_EQ(y, expected) << names[f] << " of " << x;
      }
      if (std::fabs(x) > 50) continue;
      const double single = output_of(one(f), x, Precision::Float);
      const double rounded = *evaluate(formula, x1, Values{static_cast<double>(static_cast<float>(x))});
      if (std::isfinite(rounded)) {
        EXPECT_NEAR(single, rounded, 2e-7 * (1 + std::fabs(rounded))) << names[f] << " of " << x;
      } else {
        EXPECT_TRUE(std::isnan(single) || single == rounded) << names[f] << " of " << x;
      }
    }
  }
}

// Values by Python's math module.
TEST(Functions, WeighsAndAdds) {
  EXPECT_DOUBLE_EQ(output_of(layer({2, 0, 0, 0, 0, 0, 0, 0}), 0.3), 0.6);
  EXPECT_NEAR(output_of(layer({1, 2, 3, 4, 5, 6, 7, 8}), 0.3), 19.35611610950091, 1e-13);
}

TEST(Functions, FirstIndexIsTheInputAndSecondTheOutput) {
  Values factors(Functions::count * 4, 0.0);
  const auto at = [&](Functions::Index f, int i, int o) -> double& {
    return factors[static_cast<std::size_t>((f * 2 + i) * 2 + o)];
  };
  at(Functions::identity, 0, 0) = 1;
  at(Functions::exponential, 1, 0) = 2;
  at(Functions::cosine, 0, 1) = 3;
  const Values y = *predict(layer(factors, 2, 2), Values{0.5, 2}, Precision::Double);
  EXPECT_EQ(y, (Values{0.5 + 2 * modules::exp(2.0), 3 * modules::cos(0.5)}));
}

TEST(Functions, WhatHasNoWeightDoesNotSpoilTheSum) {
  for (const Precision precision : {Precision::Double, Precision::Float}) {
    for (const double x : {-3.0, 0.0, 2.0, 1000.0, -1e30, 1e30}) {
      EXPECT_EQ(output_of(one(Functions::identity), x, precision),
                static_cast<float>(x) * (precision == Precision::Float) + x * (precision == Precision::Double));
    }
    EXPECT_TRUE(std::isnan(output_of(layer({1, 0, 1e-9, 0, 0, 0, 0, 0}), -3, precision)));
    EXPECT_EQ(output_of(layer({1, 1e-9, 0, 0, 0, 0, 0, 0}), 1000, precision), infinity);
    // Gradients neither: that of the factor of exp(1000) or log(-3) counts as 0, the others are there.
    for (const double x : {-3.0, 1000.0}) {
      const auto slope = gradients(one(Functions::identity), Values{x}, Values{x - 0.5}, precision);
      for (const double g : slope->layers[0]) EXPECT_TRUE(std::isfinite(g)) << x;
      EXPECT_FLOAT_EQ(static_cast<float>(slope->layers[0][0]), static_cast<float>(x));
      EXPECT_FLOAT_EQ(static_cast<float>(slope->inputs[0]), 1);
    }
    EXPECT_TRUE(std::isnan(gradients(one(Functions::logarithm), Values{-3}, Values{1}, precision)->layers[0][2]));
  }
}

TEST(Functions, GradientsAreTheValuesAndTheSlopes) {
  const double x = 0.3;
  const auto found =
      gradients(layer({1, 2, 3, 4, 5, 6, 7, 8}), Values{x}, Values{19.35611610950091 - 0.5}, Precision::Double);
  const Values values = {x,           std::exp(x),  std::log(x),  std::sin(x),
                         std::cos(x), std::tanh(x), std::asin(x), std::acos(x)};
  for (std::size_t f = 0; f < values.size(); ++f) EXPECT_NEAR(found->layers[0][f], values[f], 1e-12) << names[f];
  const double t = std::tanh(x), arc = 1 / std::sqrt(1 - x * x);
  EXPECT_NEAR(found->inputs[0],
              1 + 2 * std::exp(x) + 3 / x + 4 * std::cos(x) - 5 * std::sin(x) + 6 * (1 - t * t) + 7 * arc - 8 * arc,
              1e-11);
}

TEST(Functions, SpellsItsSum) {
  EXPECT_EQ(print(ideal_formula(one(Functions::arcsine), {})->outputs[0]), "asin(x1)");
  EXPECT_EQ(print(ideal_formula(layer({1, 0, -2.5, 0, 0, 0, 0, 0}), {})->outputs[0]), "x1 - 2.5*log(x1)");
  EXPECT_EQ(print(ideal_formula(layer({0, 0, 0, 0, 0, 0, 0, 0}), {})->outputs[0]), "0");
  EXPECT_TRUE(ideal_formula(layer({0.37, 0, 0, 0, 0, 0, 0, 8.1}), {})->discrete);
}

TEST(Functions, IsNotOfTheSingleModuleTask) { EXPECT_TRUE((*find_module("Functions"))->operations.empty()); }

}  // namespace
}  // namespace nalm::functions_test
