// NAC+: golden values, the gradient where tanh saturates, and what the weights spell.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "nalm/model.hpp"

namespace nalm::nac_add_test {
namespace {

using Values = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double one = 40;  // tanh and sigmoid of this are exactly 1

Model nac_add(const Values& W_hat, const Values& M_hat, int outputs = 1) {
  Values parameters = W_hat;
  parameters.insert(parameters.end(), M_hat.begin(), M_hat.end());
  const int inputs = static_cast<int>(W_hat.size()) / outputs;
  return {{{*find_module("NAC+"), {inputs, outputs, {}}, parameters}}, {}};
}

Values outputs_of(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return *predict(model, x, precision);
}

// dy/dparameters: the gradient of (y - t)^2 with t = y - 1/2.
Values slopes(const Model& model, const Values& x, Precision precision = Precision::Double) {
  const double y = outputs_of(model, x, precision)[0];
  return gradients(model, x, Values{y - 0.5}, precision)->layers[0];
}

double weight(double W_hat, double M_hat) { return std::tanh(W_hat) / (1 + std::exp(-M_hat)); }

TEST(NacAdd, SumsInputsTimesTanhTimesSigmoid) {
  const Values W_hat = {0.3, -1.2, 2.1, 0.7, -0.4, 5}, M_hat = {0.1, 0.9, -2, 1.5, 3, -0.6}, x = {1.25, -3, 0.5};
  const Values y = outputs_of(nac_add(W_hat, M_hat, 2), x);
  for (std::size_t o = 0; o < 2; ++o) {
    double expected = 0;
    for (std::size_t i = 0; i < 3; ++i) expected += x[i] * weight(W_hat[2 * i + o], M_hat[2 * i + o]);
    EXPECT_NEAR(y[o], expected, 1e-14);
  }
}

TEST(NacAdd, SaturatedWeightsAddAndSubtractExactly) {
  const Model model = nac_add({20, -20, 0}, {one, one, one});
  EXPECT_EQ(outputs_of(model, {2, 3, 4}), Values{-1});
  EXPECT_EQ(outputs_of(model, {2, 3, 4}, Precision::Float), Values{-1});
}

TEST(NacAdd, GradientGoesThroughBothSquashings) {
  const double W_hat = 0.6, M_hat = -0.3, x = 2.5;
  const double t = std::tanh(W_hat), s = 1 / (1 + std::exp(-M_hat));
  const Values g = slopes(nac_add({W_hat}, {M_hat}), {x});
  EXPECT_NEAR(g[0], x * (1 - t * t) * s, 1e-13);
  EXPECT_NEAR(g[1], x * t * s * (1 - s), 1e-13);
}

TEST(NacAdd, TanhThatRoundsToOneStopsTheGradientInFloatOnly) {
  EXPECT_EQ(slopes(nac_add({9.3}, {0}), {2}, Precision::Float)[0], 0);
  EXPECT_EQ(slopes(nac_add({-9.3}, {0}), {2}, Precision::Float)[0], 0);
  const double t = std::tanh(9.3);
  EXPECT_NEAR(slopes(nac_add({9.3}, {0}), {2})[0], 2 * (1 - t * t) * 0.5, 1e-15);
}

// tanh(9.0109) lies half way between 1 and the float below it.
TEST(NacAdd, FloatTanhRoundsToOneExactlyWhereItShould) {
  EXPECT_NE(slopes(nac_add({9.0}, {0}), {2}, Precision::Float)[0], 0);
  EXPECT_NE(slopes(nac_add({9.010}, {0}), {2}, Precision::Float)[0], 0);
  EXPECT_EQ(slopes(nac_add({9.012}, {0}), {2}, Precision::Float)[0], 0);
}

TEST(NacAdd, SparsityErrorIsThatOfTheProductOfTheSquashings) {
  EXPECT_DOUBLE_EQ(*sparsity_error(nac_add({one, -1}, {one, 0})), weight(1, 0));
  EXPECT_DOUBLE_EQ(*sparsity_error(nac_add({one, one}, {one, 1})), 1 - weight(one, 1));
  EXPECT_EQ(*sparsity_error(nac_add({one, -one, 0}, {one, one, 3})), 0);
}

TEST(NacAdd, SpellsSumsAndDifferences) {
  const Formula formula = *ideal_formula(nac_add({one, -one, one}, {one, one, -one}), {});
  EXPECT_EQ(print(formula.outputs[0]), "x1 - x2");
  EXPECT_TRUE(formula.discrete);
  EXPECT_TRUE(formula.notes.empty());
}

TEST(NacAdd, SaysThatHalfAWeightIsNotDiscrete) {
  const Formula formula = *ideal_formula(nac_add({one}, {0}), {"unit price"});
  EXPECT_EQ(print(formula.outputs[0]), "0.5*\"unit price\"");
  EXPECT_FALSE(formula.discrete);
  EXPECT_EQ(formula.notes, std::vector<std::string>{"W = 0.5 is not a discrete value"});
}

TEST(NacAdd, UnusualInputsGoThroughTheSum) {
  const Model model = nac_add({one, 0}, {one, one});
  EXPECT_TRUE(std::isnan(outputs_of(model, {std::nan(""), 1})[0]));
  EXPECT_EQ(outputs_of(model, {-infinity, 1})[0], -infinity);
  EXPECT_TRUE(std::isnan(outputs_of(model, {1, infinity})[0]));  // times an exact 0
  EXPECT_EQ(outputs_of(model, {5e-324, 0})[0], 5e-324);
  EXPECT_EQ(outputs_of(model, {1e30, 1})[0], 1e30);
}

}  // namespace
}  // namespace nalm::nac_add_test
