// DMU: both branches against plain arithmetic, gates that are soft only in training, frozen operands, and the formulas.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "nalm/model.hpp"

namespace nalm::dmu_test {
namespace {

using Values = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double pi = 3.14159265358979323846;
constexpr double learned = 0, plus = 1, minus = 2;  // operands
constexpr double two = 0, one = 1;                  // gates

struct Gates {
  Values G, H;
  double b = 0, c = 0;
};

// Two inputs, one output. Frozen operands have no O.
Model dmu(const Values& O, const Gates& gates, double operands = learned, double kind = two) {
  Values parameters = O;
  parameters.insert(parameters.end(), gates.G.begin(), gates.G.end());
  parameters.push_back(gates.b);
  if (kind == two) {
    parameters.insert(parameters.end(), gates.H.begin(), gates.H.end());
    parameters.push_back(gates.c);
  }
  return {{{*find_module("DMU"), {2, 1, {operands, kind}}, parameters}}, {}};
}
// Gates that no input changes: 1 for the sum, -1 for the product.
Gates decided(double b, double c) { return {{0.1, -0.1}, {0.1, 0.1}, b, c}; }

double output_of(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return (*predict(model, x, precision))[0];
}
std::string spelled(const Model& model) { return print(ideal_formula(model, {})->outputs[0]); }
double sigmoid(double z) { return 1 / (1 + std::exp(-z)); }

TEST(Dmu, GatesChooseSumOrProductOfTheSameOperands) {
  const Values x = {3, -2};
  EXPECT_NEAR(output_of(dmu({1, 1}, decided(1, 1)), x), 1, 1e-14);
  EXPECT_NEAR(output_of(dmu({1, -1}, decided(1, 1)), x), 5, 1e-14);
  EXPECT_NEAR(output_of(dmu({1, 1}, decided(-1, -1)), x), -6, 1e-14);
  EXPECT_NEAR(output_of(dmu({1, -1}, decided(-1, -1)), x), -1.5, 1e-14);
  // The magnitude of the product with the sign of the sum.
  EXPECT_NEAR(output_of(dmu({1, 1}, decided(-1, 1)), x), 6, 1e-14);
}

TEST(Dmu, FrozenOperandsAreThoseOfTheTwoPublishedUnits) {
  const Values x = {-3, -2};
  for (const double b : {1.0, -1.0}) {
    const Gates gates = decided(b, b);
    EXPECT_EQ(output_of(dmu({}, gates, plus), x), output_of(dmu({1, 1}, gates), x));
    EXPECT_EQ(output_of(dmu({}, gates, minus), x), output_of(dmu({1, -1}, gates), x));
  }
  const auto operands = [](const char* name) { return default_shape(**find_module(name), 2, 1).options[0]; };
  EXPECT_EQ(operands("DMU"), learned);
  EXPECT_EQ(operands("DMU-add"), plus);
  EXPECT_EQ(operands("DMU-sub"), minus);
  const ModuleInfo& module = **find_module("DMU-sub");
  EXPECT_EQ(parameter_count(module, default_shape(module, 2, 1)), 6);
  EXPECT_EQ(std::vector(module.operations.begin(), module.operations.end()),
            (std::vector{Operation::Subtract, Operation::Divide}));
}

TEST(Dmu, TrainsOnAMixtureAndIsJudgedWithoutOne) {
  const Values O = {0.9, -0.4}, x = {-1.7, 0.6};
  const Gates gates{{0.3, -0.2}, {-0.5, 0.4}, 0.1, 0.25};
  const double mean = (x[0] + x[1]) / 2, variance = (x[0] - mean) * (x[0] - mean);
  const double n = (x[0] - mean) / std::sqrt(variance + 1e-5);
  const double g = sigmoid(gates.b + n * (gates.G[0] - gates.G[1])),
               h = sigmoid(gates.c + n * (gates.H[0] - gates.H[1]));
  const double R = O[0] * x[0] + O[1] * x[1], m = std::pow(1.7, O[0]) * std::pow(0.6, O[1]);
  const double cosine = std::cos(pi * 0.9);
  const double sign_R = std::tanh(R / 1e-4), t = 0.3;
  const double magnitude = g * std::fabs(R) + (1 - g) * m, sign = h * sign_R + (1 - h) * cosine;
  const double by_magnitude = sign * (std::fabs(R) - m) * g * (1 - g), by_sign = magnitude * (sign_R - cosine);
  const Values two_gates = gradients(dmu(O, gates), x, Values{t}, Precision::Double)->layers[0];
  EXPECT_NEAR(two_gates[4], 2 * (sign * magnitude - t) * by_magnitude, 1e-13);
  EXPECT_NEAR(two_gates[7], 2 * (sign * magnitude - t) * by_sign * h * (1 - h), 1e-13);
  // g is below and h above one half.
  EXPECT_LT(g, 0.5);
  EXPECT_GT(h, 0.5);
  EXPECT_NEAR(output_of(dmu(O, gates), x), m * std::tanh(R / 1e-4), 1e-14);
  // One gate for both.
  const double alike = g * sign_R + (1 - g) * cosine;
  const Values one_gate = gradients(dmu(O, gates, learned, one), x, Values{t}, Precision::Double)->layers[0];
  EXPECT_NEAR(one_gate[4], 2 * (alike * magnitude - t) * (alike * (std::fabs(R) - m) + by_sign) * g * (1 - g), 1e-13);
}

TEST(Dmu, GradientOfTheGatesIsThatOfTheMixture) {
  const Values x = {2, 3};  // all signs are 1, so that the gate of the sign has no say
  const Gates gates{{0, 0}, {0, 0}, 0.4, 0.2};
  const double g = sigmoid(0.4), y = g * 5 + (1 - g) * 6, t = 1;
  const Values slope = gradients(dmu({}, gates, plus), x, Values{t}, Precision::Double)->layers[0];
  EXPECT_NEAR(slope[2], 2 * (y - t) * (5 - 6) * g * (1 - g), 1e-12);
  EXPECT_NEAR(slope[5], 0, 1e-12);
}

TEST(Dmu, SpellsTheBranchThatNoInputChanges) {
  EXPECT_EQ(spelled(dmu({1, 1}, decided(1, 1))), "x1 + x2");
  EXPECT_EQ(spelled(dmu({1, -1}, decided(1, 1))), "x1 - x2");
  EXPECT_EQ(spelled(dmu({}, decided(-1, -1), plus)), "x1*x2");
  EXPECT_EQ(spelled(dmu({}, decided(-1, -1), minus, one)), "x1/x2");
}

TEST(Dmu, SpellsGatesThatDependOnTheInput) {
  const Model model = dmu({1, 1}, {{2, -2}, {-2, 2}, 0.1, 0.1});
  const Formula formula = *ideal_formula(model, {});
  for (const Values& x : {Values{3, 2}, Values{2, 3}, Values{-1, 4}, Values{4, -1}})
    EXPECT_NEAR(*evaluate(formula.outputs[0], std::vector<std::string>{"x1", "x2"}, x), output_of(model, x), 1e-13);
  EXPECT_FALSE(ideal_formula(dmu({0.5, 1}, decided(1, 1)), {})->discrete);
}

TEST(Dmu, UnusualInputsAreAsDescribed) {
  for (const double b : {1.0, -1.0}) {
    EXPECT_TRUE(std::isnan(output_of(dmu({1, 1}, decided(b, b)), {std::nan(""), 2})));
    EXPECT_TRUE(std::isnan(output_of(dmu({1, 1}, decided(b, b)), {infinity, 2})));
  }
  EXPECT_NEAR(output_of(dmu({1, -1}, decided(-1, -1)), {3, 0}) / std::exp(80), 1, 1e-12);
  EXPECT_NEAR(output_of(dmu({1, 1}, decided(1, 1)), {5e-5, 0}), 5e-5 * std::tanh(0.5), 1e-18);
  // A product beyond the largest float does not spoil the sum.
  EXPECT_EQ(output_of(dmu({1, 1}, decided(1, 1)), {3e18, 2e18}, Precision::Float), double{3e18f + 2e18f});
  EXPECT_TRUE(std::isnan(output_of(dmu({1, 1}, decided(1, 1)), {3e30, 1e30}, Precision::Float)));
}

TEST(Dmu, RecipesAreThePapersForFrozenOperands) {
  for (const char* name : {"DMU-add", "DMU-sub"}) {
    const Recipe r = (*find_module(name))->recipe();
    EXPECT_EQ(r.training.optimiser.learning_rate(), 1e-3);
    EXPECT_EQ(r.training.clip_norm, 0.01);
    EXPECT_EQ(r.training.iterations, 2000);
    EXPECT_TRUE(r.layers[0].regularisers.empty());
  }
  const Recipe r = (*find_module("DMU"))->recipe();
  EXPECT_EQ(r.training.clip_norm, 0.01);
  EXPECT_EQ(r.training.iterations, 50000);
  ASSERT_EQ(r.layers[0].regularisers.size(), 1u);
  EXPECT_EQ(r.layers[0].regularisers[0].parameter, "O");
}

}  // namespace
}  // namespace nalm::dmu_test
