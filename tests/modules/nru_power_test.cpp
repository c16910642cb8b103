// NRU-power: golden values, signs, the rule for zero, and what the weights spell.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "nalm/model.hpp"

namespace nalm::nru_power_test {
namespace {

using Values = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();

Model nru_power(const Values& W, int outputs = 1) {
  return {{{*find_module("NRU-power"), {static_cast<int>(W.size()) / outputs, outputs, {}}, W}}, {}};
}

double output_of(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return (*predict(model, x, precision))[0];
}

std::string spelled(const Values& W) { return print(ideal_formula(nru_power(W), {})->outputs[0]); }

TEST(NruPower, MultipliesPowers) {
  EXPECT_NEAR(output_of(nru_power({2, -1}), {3, 4}), 2.25, 1e-14);
  EXPECT_NEAR(output_of(nru_power({0.5, 1.5}), {9, 4}), 24, 1e-13);
  EXPECT_NEAR(output_of(nru_power({-2.5, 3}), {4, 2}), 0.25, 1e-15);
  EXPECT_NEAR(output_of(nru_power({0, 1}), {-7, 5}), 5, 1e-14);
  EXPECT_NEAR(output_of(nru_power({10}), {2}), 1024, 1e-10);
}

TEST(NruPower, FirstIndexIsTheInputAndSecondTheOutput) {
  const Values y = *predict(nru_power({2, 1, -1, 3}, 2), Values{3, 2}, Precision::Double);
  EXPECT_NEAR(y[0], 4.5, 1e-14);
  EXPECT_NEAR(y[1], 24, 1e-13);
}

TEST(NruPower, OddPowersKeepTheSignAndEvenOnesLoseIt) {
  EXPECT_NEAR(output_of(nru_power({3}), {-2}), -8, 1e-14);
  EXPECT_NEAR(output_of(nru_power({2}), {-3}), 9, 1e-14);
  EXPECT_NEAR(output_of(nru_power({-1}), {-4}), -0.25, 1e-15);
  EXPECT_NEAR(output_of(nru_power({-2}), {-5}), 0.04, 1e-16);
  EXPECT_NEAR(output_of(nru_power({1, 1}), {-3, -2}), 6, 1e-14);
  EXPECT_NEAR(output_of(nru_power({1, 2}), {-3, -2}), -12, 1e-13);
}

TEST(NruPower, PowersInBetweenHaveTheSignOfTheNearestWholeOne) {
  EXPECT_NEAR(output_of(nru_power({0.75}), {-16}), -8, 1e-13);
  EXPECT_NEAR(output_of(nru_power({0.25}), {-16}), 2, 1e-14);
  EXPECT_NEAR(output_of(nru_power({1.75}), {-16}), 128, 1e-12);
  EXPECT_NEAR(output_of(nru_power({-1.25}), {-16}), -0.03125, 1e-15);
}

// Whether the output for -4 is negative, for powers 1/2, 3/2, 5/2, ...
std::vector<bool> signs_of_halves(Precision precision) {
  std::vector<bool> negative;
  for (int whole = 0; whole <= 4; ++whole) {
    for (const double w : {whole + 0.5, -whole - 0.5}) {
      const double y = output_of(nru_power({w}), {-4}, precision);
      EXPECT_NEAR(std::fabs(y) / std::pow(4, w), 1, precision == Precision::Double ? 1e-13 : 1e-5) << w;
      negative.push_back(y < 0);
    }
  }
  return negative;
}

TEST(NruPower, HalvesDoNotCountTheSign) { EXPECT_EQ(signs_of_halves(Precision::Double), std::vector<bool>(10, false)); }

TEST(NruPower, HalvesHaveTheSameSignInFloat) {
  EXPECT_EQ(signs_of_halves(Precision::Float), signs_of_halves(Precision::Double));
}

TEST(NruPower, ZeroGivesZeroWhereverItTakesPart) {
  for (const Precision precision : {Precision::Double, Precision::Float}) {
    for (const double zero : {0.0, -0.0}) {
      EXPECT_EQ(output_of(nru_power({1, 1}), {zero, -2}, precision), 0);
      EXPECT_EQ(output_of(nru_power({0.5}), {zero}, precision), 0);
      EXPECT_EQ(output_of(nru_power({-1}), {zero}, precision), 0);
      EXPECT_EQ(output_of(nru_power({0}), {zero}, precision), 1);
      EXPECT_NEAR(output_of(nru_power({0, 2}), {zero, 3}, precision), 9, 1e-5);
    }
  }
}

TEST(NruPower, ZeroGivesZeroForLargeNegativePowersToo) {
  EXPECT_EQ(output_of(nru_power({-2, 1}), {0, 3}, Precision::Float), 0);
  EXPECT_EQ(output_of(nru_power({-9}), {0}, Precision::Double), 0);
}

TEST(NruPower, GradientLeavesTheSignAlone) {
  const double y = -2.25;  // 9/-4
  const Values slope = gradients(nru_power({2, -1}), Values{-3, -4}, Values{y - 0.5}, Precision::Double)->layers[0];
  EXPECT_NEAR(slope[0], y * std::log(3), 1e-14);
  EXPECT_NEAR(slope[1], y * std::log(4), 1e-14);
}

TEST(NruPower, GradientPassesThroughToTheLayerBelow) {
  // Linear with the identity: the gradient of its constants is that of the inputs, y*W/x.
  Model model = nru_power({2, -1});
  model.layers.insert(model.layers.begin(), {*find_module("Linear"), {2, 2, {}}, {1, 0, 0, 1, 0, 0}});
  const auto slopes = [&](const Values& x, double y) {
    return gradients(model, x, Values{y - 0.5}, Precision::Double)->layers[0];
  };
  const Values ordinary = slopes({-3, 4}, 2.25);
  EXPECT_NEAR(ordinary[4], -1.5, 1e-14);
  EXPECT_NEAR(ordinary[5], -0.5625, 1e-14);
  const Values zero = slopes({0, 4}, 0);
  EXPECT_EQ(zero[4], 0);
  EXPECT_EQ(zero[5], 0);
}

TEST(NruPower, SpellsProductsQuotientsAndRoots) {
  EXPECT_EQ(spelled({1, 1}), "x1*x2");
  EXPECT_EQ(spelled({2, -1}), "x1^2/x2");
  EXPECT_EQ(spelled({0.9996, -3.0004}), "x1/x2^3");
  EXPECT_EQ(spelled({-1, 0.0004}), "1/x1");
  EXPECT_EQ(spelled({0, 0}), "1");
  EXPECT_EQ(spelled({0.5, -1.5}), "abs(x1)^0.5/abs(x2)^1.5");
  EXPECT_TRUE(ideal_formula(nru_power({0.5, -2}), {})->discrete);
}

TEST(NruPower, SaysThatAnotherPowerIsNotDiscrete) {
  const Formula formula = *ideal_formula(nru_power({1, 0.75}), {});
  EXPECT_EQ(print(formula.outputs[0]), "x1*abs(x2)^0.75*sign(x2)");
  EXPECT_EQ(formula.notes, std::vector<std::string>{"W = 0.75 is not a discrete value"});
  EXPECT_FALSE(formula.discrete);
}

TEST(NruPower, UnusualInputsAreAsDescribed) {
  EXPECT_TRUE(std::isnan(output_of(nru_power({0, 1}), {std::nan(""), 2})));
  EXPECT_TRUE(std::isnan(output_of(nru_power({1, 1}), {std::nan(""), 2})));
  EXPECT_TRUE(std::isnan(output_of(nru_power({0, 1}), {infinity, 2})));
  EXPECT_EQ(output_of(nru_power({1, 1}), {-infinity, 2}), -infinity);
  EXPECT_EQ(output_of(nru_power({-1, 1}), {infinity, 2}), 0);
  EXPECT_NEAR(output_of(nru_power({-1}), {-1e-37}) / -1e37, 1, 1e-12);
}

TEST(NruPower, RecipeHasTheLogarithmicLossAndNoRegulariser) {
  const Recipe r = (*find_module("NRU-power"))->recipe();
  EXPECT_EQ(r.training.optimiser.kind, Optimiser::Kind::Adam);
  EXPECT_EQ(r.training.optimiser.learning_rate(), 1e-2);
  EXPECT_EQ(r.training.loss.kind, Loss::Kind::Log);
  EXPECT_TRUE(r.layers[0].regularisers.empty());
  EXPECT_FALSE(r.training.clip_norm || r.training.clip_value || r.training.noise);
}

TEST(NruPower, WeightsStartAsThoseOfTheNauAndHaveNoBounds) {
  const ModuleInfo& module = **find_module("NRU-power");
  ASSERT_EQ(module.parameters.size(), 1u);
  EXPECT_EQ(module.parameters[0].start.kind, modules::Start::Kind::Nau);
  EXPECT_FALSE(module.parameters[0].clamp);
  EXPECT_EQ(*sparsity_error(nru_power({2.5, 0.3})), 0);  // any power is as good as another
}

}  // namespace
}  // namespace nalm::nru_power_test
