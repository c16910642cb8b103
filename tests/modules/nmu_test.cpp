// NMU: golden values, the gradient where factors are 0, and what the weights spell.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "nalm/model.hpp"

namespace nalm::nmu_test {
namespace {

using Values = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();

Model nmu(const Values& W, int outputs = 1) {
  return {{{*find_module("NMU"), {static_cast<int>(W.size()) / outputs, outputs, {}}, W}}, {}};
}

Values outputs_of(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return *predict(model, x, precision);
}

// dy/dW: the gradient of (y - t)^2 with t = y - 1/2.
Values slopes(const Model& model, const Values& x, Precision precision = Precision::Double) {
  const double y = outputs_of(model, x, precision)[0];
  return gradients(model, x, Values{y - 0.5}, precision)->layers[0];
}

std::string spelled(const Values& W) { return print(ideal_formula(nmu(W), {})->outputs[0]); }

TEST(Nmu, MultipliesInputsBlendedWithOne) {
  // First index input, second index output.
  EXPECT_EQ(outputs_of(nmu({1, 0.5, 0, 0.25, 1, 0.75}, 2), {2, 5, -3}), (Values{-6, 1.5 * 2 * -2}));
}

TEST(Nmu, UsesWeightsRawInTheForwardPass) { EXPECT_EQ(outputs_of(nmu({2}), {3}), Values{5}); }

TEST(Nmu, GradientIsTheProductOfTheOtherFactors) {
  // Factors 1.5, 2 and -2.
  EXPECT_EQ(slopes(nmu({0.5, 0.25, 0.75}), {2, 5, -3}), (Values{1 * (2 * -2), 4 * (1.5 * -2), -4 * (1.5 * 2)}));
}

TEST(Nmu, GradientPassesAtTheBounds) { EXPECT_EQ(slopes(nmu({0, 1}), {3, 5}), (Values{2 * 5, 4})); }

TEST(Nmu, FactorOfZeroLeavesTheGradientOfItsOwnWeight) {
  for (const Precision precision : {Precision::Float, Precision::Double}) {
    EXPECT_EQ(slopes(nmu({1, 1, 1}), {0, 3, 5}, precision), (Values{-15, 0, 0}));
    EXPECT_EQ(slopes(nmu({1, 1, 1}), {3, 5, 0}, precision), (Values{0, 0, -15}));
    EXPECT_EQ(slopes(nmu({1, 1, 1}), {0, 3, 0}, precision), (Values{0, 0, 0}));
  }
}

TEST(Nmu, SparsityErrorIsTheDistanceFromZeroAndOne) {
  EXPECT_EQ(*sparsity_error(nmu({1, 0, 1})), 0);
  EXPECT_EQ(*sparsity_error(nmu({1, 0.75, 0.125})), 0.25);
}

TEST(Nmu, SpellsProducts) {
  EXPECT_EQ(spelled({1, 0, 1}), "x1*x3");
  EXPECT_EQ(spelled({0.0004, 0.9996}), "x2");
  EXPECT_EQ(spelled({0, 0}), "1");
}

TEST(Nmu, SaysThatHalfAWeightIsNotDiscrete) {
  const Formula formula = *ideal_formula(nmu({0.5, 1}), {"my x", "y"});
  EXPECT_EQ(print(formula.outputs[0]), "(0.5*\"my x\" + 0.5)*y");
  EXPECT_EQ(formula.notes, std::vector<std::string>{"W = 0.5 is not a discrete value"});
}

TEST(Nmu, UnusualInputsGoThroughTheProduct) {
  EXPECT_TRUE(std::isnan(outputs_of(nmu({1, 1}), {std::nan(""), 0})[0]));
  EXPECT_TRUE(std::isnan(outputs_of(nmu({0, 1}), {infinity, 2})[0]));  // times an exact 0
  EXPECT_EQ(outputs_of(nmu({1, 1}), {infinity, -2})[0], -infinity);
  EXPECT_EQ(outputs_of(nmu({1, 1}), {1e30, 1e30}, Precision::Float)[0], infinity);
}

// As in the reference implementation the factor is computed as (W*x + 1) - W.
TEST(Nmu, TinyInputsVanishBesideTheOneThatIsAdded) {
  EXPECT_EQ(outputs_of(nmu({1}), {5e-324})[0], 0);
  EXPECT_EQ(outputs_of(nmu({1}), {1e-8}, Precision::Float)[0], 0);
  EXPECT_NEAR(outputs_of(nmu({1}), {1e-8})[0], 1e-8, 1e-16);
}

}  // namespace
}  // namespace nalm::nmu_test
