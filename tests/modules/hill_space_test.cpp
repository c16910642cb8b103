// Hill Space: sums and real parts of powers, plateaus that only evaluation has, and what the weights spell.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "nalm/model.hpp"

namespace nalm {
namespace {

using Values = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double pi = 3.14159265358979323846;
const std::vector<std::string> both = {"HillSpace-add", "HillSpace-exp"};

Model of_module(const std::string& name, const Values& W_hat, const Values& M_hat, int outputs = 1) {
  Values parameters = W_hat;
  parameters.insert(parameters.end(), M_hat.begin(), M_hat.end());
  return {{{*find_module(name), {static_cast<int>(W_hat.size()) / outputs, outputs, {}}, parameters}}, {}};
}

// Weights of -1, 0 and 1.
Model decided(const std::string& name, const Values& W) {
  Values W_hat, M_hat;
  for (const double w : W) W_hat.push_back(40 * w), M_hat.push_back(w == 0 ? -40 : 40);
  return of_module(name, W_hat, M_hat);
}

double output_of(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return (*predict(model, x, precision))[0];
}
double weight(double w, double m) { return std::tanh(w) / (1 + std::exp(-m)); }

const Values W_hat = {0.7, -1.2, 1.5, 0.4, -0.8, 2}, M_hat = {0.3, 0.2, -0.6, 1.1, 0.5, -0.4}, x3 = {1.25, -3, -0.5};

TEST(HillSpace, SumsAndTakesTheRealPartOfPowers) {
  const Values sums = *predict(of_module("HillSpace-add", W_hat, M_hat, 2), x3, Precision::Double);
  const Values powers = *predict(of_module("HillSpace-exp", W_hat, M_hat, 2), x3, Precision::Double);
  for (std::size_t o = 0; o < 2; ++o) {
    double sum = 0;
    std::complex<double> product = 1;
    for (std::size_t i = 0; i < 3; ++i) {
      const double W = weight(W_hat[2 * i + o], M_hat[2 * i + o]);
      sum += W * x3[i];
      product *= std::pow(std::complex<double>(x3[i]), W);
    }
    EXPECT_NEAR(sums[o], sum, 1e-14);
    EXPECT_NEAR(powers[o], product.real(), 1e-13);
  }
}

TEST(HillSpace, DecidedWeightsAddSubtractMultiplyAndDivide) {
  EXPECT_EQ(output_of(decided("HillSpace-add", {1, 1, 0}), {3, -2, 7}), 1);
  EXPECT_EQ(output_of(decided("HillSpace-add", {1, -1, 0}), {3, -2, 7}), 5);
  EXPECT_NEAR(output_of(decided("HillSpace-exp", {1, 1, 0}), {3, -2, 7}), -6, 1e-14);
  EXPECT_NEAR(output_of(decided("HillSpace-exp", {1, -1, 0}), {-3, -2, 7}), 1.5, 1e-14);
}

TEST(HillSpace, PlateausAreThereInEvaluationOnly) {
  // tanh(8) = 1 - 2.3e-7 and sigmoid(15) = 1 - 3.1e-7 are on the plateau, tanh(7) = 1 - 1.7e-6 is not.
  EXPECT_EQ(output_of(of_module("HillSpace-add", {8}, {15}), {1}), 1);
  EXPECT_EQ(output_of(of_module("HillSpace-add", {-8}, {15}), {1}), -1);
  EXPECT_EQ(output_of(of_module("HillSpace-add", {8}, {-15}), {1}), 0);
  EXPECT_NEAR(output_of(of_module("HillSpace-add", {7}, {40}), {1}), std::tanh(7), 1e-15);
  EXPECT_NE(output_of(of_module("HillSpace-add", {7}, {40}), {1}), 1);
  // The gradient of (y - 2)^2 at x = 2 is 0 on the plateau, and not below it.
  const double W = weight(8, 15), t = std::tanh(8), s = 1 / (1 + std::exp(-15));
  for (const std::string& name : both) {
    const bool sum = name == "HillSpace-add";
    const double y = sum ? 2 * W : std::pow(2, W), slope = sum ? 2 : std::log(2) * y;
    const Values g = gradients(of_module(name, {8}, {15}), Values{2}, Values{2}, Precision::Double)->layers[0];
    EXPECT_NEAR(g[0] / (2 * (y - 2) * slope * (1 - t * t) * s), 1, 1e-6) << name;
  }
}

TEST(HillSpace, GradientTurnsTheSignToo) {
  const double w = 0.7, m = 0.4, W = weight(w, m), t = std::tanh(w), s = 1 / (1 + std::exp(-m)), target = 0.3;
  const double size = std::pow(2.5, W), y = size * std::cos(pi * W);
  const double slope = std::log(2.5) * y - pi * size * std::sin(pi * W);
  const Values g =
      gradients(of_module("HillSpace-exp", {w}, {m}), Values{-2.5}, Values{target}, Precision::Double)->layers[0];
  EXPECT_NEAR(g[0], 2 * (y - target) * slope * (1 - t * t) * s, 1e-13);
  EXPECT_NEAR(g[1], 2 * (y - target) * slope * t * s * (1 - s), 1e-13);
}

TEST(HillSpace, SpellsFormulas) {
  const auto spelled = [](const std::string& name, const Values& W) {
    return print(ideal_formula(decided(name, W), {})->outputs[0]);
  };
  EXPECT_EQ(spelled("HillSpace-add", {1, -1}), "x1 - x2");
  EXPECT_EQ(spelled("HillSpace-exp", {1, 1}), "x1*x2");
  EXPECT_EQ(spelled("HillSpace-exp", {1, -1}), "x1/x2");
  EXPECT_EQ(spelled("HillSpace-exp", {0, 0}), "1");
}

TEST(HillSpace, SpellsUndecidedWeightsAsTheyAre) {
  for (const std::string& name : both) {
    const Model model = of_module(name, {0.7, 40}, {0.4, 40});
    const Formula formula = *ideal_formula(model, {});
    EXPECT_FALSE(formula.discrete) << name;
    const Values x = {-3, -2};
    EXPECT_NEAR(*evaluate(formula.outputs[0], std::vector<std::string>{"x1", "x2"}, x), output_of(model, x), 1e-13);
  }
}

TEST(HillSpace, UnusualInputsAreAsDescribed) {
  for (const std::string& name : both) {
    EXPECT_TRUE(std::isnan(output_of(decided(name, {0, 1}), {std::nan(""), 2}))) << name;
    EXPECT_TRUE(std::isnan(output_of(decided(name, {0, 1}), {infinity, 2}))) << name;
  }
  EXPECT_NEAR(output_of(decided("HillSpace-exp", {1, -1}), {3, 0}) * 1.17549435e-38, 3, 1e-13);
  EXPECT_EQ(output_of(decided("HillSpace-add", {1, 1}), {1e30, 1e30}, Precision::Float), 2 * double{1e30f});
}

TEST(HillSpace, StartsAtZeroAndTrainsFast) {
  for (const std::string& name : both) {
    const ModuleInfo& module = **find_module(name);
    for (const ParameterInfo& p : module.parameters) {
      EXPECT_EQ(p.start.kind, modules::Start::Kind::Uniform) << p.name;
      EXPECT_EQ((Values{p.start.a, p.start.b}), (Values{-0.02, 0.02})) << p.name;
      EXPECT_FALSE(p.clamp) << p.name;
    }
    const Recipe r = module.recipe();
    EXPECT_EQ(r.training.optimiser.learning_rate(), 0.3);
    EXPECT_EQ(r.training.iterations, 50000);
    EXPECT_TRUE(r.layers[0].regularisers.empty());
  }
}

}  // namespace
}  // namespace nalm
