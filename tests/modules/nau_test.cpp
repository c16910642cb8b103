// NAU: golden values, the gradient at the bounds, and what the weights spell.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "nalm/model.hpp"

namespace nalm::nau_test {
namespace {

using Values = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();

Model nau(const Values& W, int outputs = 1) {
  return {{{*find_module("NAU"), {static_cast<int>(W.size()) / outputs, outputs, {}}, W}}, {}};
}

Values outputs_of(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return *predict(model, x, precision);
}

// dy/dW: the gradient of (y - t)^2 with t = y - 1/2.
Values slopes(const Model& model, const Values& x, Precision precision = Precision::Double) {
  const double y = outputs_of(model, x, precision)[0];
  return gradients(model, x, Values{y - 0.5}, precision)->layers[0];
}

std::string spelled(const Values& W, const std::vector<std::string>& columns = {}) {
  return print(ideal_formula(nau(W), columns)->outputs[0]);
}

TEST(Nau, SumsWeightedInputs) {
  // First index input, second index output.
  EXPECT_EQ(outputs_of(nau({1, 0.5, -1, 0.25, 0, -0.75}, 2), {2, 8, 4}), (Values{2 - 8, 1 + 2 - 3}));
}

TEST(Nau, ClampsWeightsBeforeUse) { EXPECT_EQ(outputs_of(nau({1.5, -7}), {2, 3}), Values{-1}); }

TEST(Nau, GradientPassesAtTheBounds) {
  for (const Precision precision : {Precision::Float, Precision::Double}) {
    EXPECT_EQ(slopes(nau({1, -1, 0}), {2, 3, 4}, precision), (Values{2, 3, 4}));
  }
}

TEST(Nau, GradientIsZeroOutsideTheBounds) { EXPECT_EQ(slopes(nau({1.25, -1.25, 0.5}), {2, 3, 4}), (Values{0, 0, 4})); }

TEST(Nau, SparsityErrorIsTheDistanceFromMinusOneZeroAndOne) {
  EXPECT_EQ(*sparsity_error(nau({1, -1, 0})), 0);
  EXPECT_EQ(*sparsity_error(nau({1, -0.75, 0.125})), 0.25);
  EXPECT_EQ(*sparsity_error(nau({0.5, 1})), 0.5);
}

// std::max(worst, NaN) is worst, and would lose it.
TEST(Nau, SparsityErrorOfNanIsNan) { EXPECT_TRUE(std::isnan(*sparsity_error(nau({std::nan(""), 1})))); }

TEST(Nau, SpellsSumsAndDifferences) {
  EXPECT_EQ(spelled({1, -1}), "x1 - x2");
  EXPECT_EQ(spelled({-1, 1}), "-x1 + x2");
  EXPECT_EQ(spelled({0, 1, 0, 1}), "x2 + x4");
  EXPECT_EQ(spelled({0, 0}), "0");
}

TEST(Nau, RoundsWeightsThatAreNearlyDiscrete) {
  const Formula formula = *ideal_formula(nau({0.9995, -0.9995, 0.0005}), {});
  EXPECT_EQ(print(formula.outputs[0]), "x1 - x2");
  EXPECT_TRUE(formula.discrete);
  EXPECT_TRUE(formula.notes.empty());
}

TEST(Nau, SaysWhichWeightIsNotDiscrete) {
  const Formula formula = *ideal_formula(nau({0.83, -1}), {});
  EXPECT_EQ(print(formula.outputs[0]), "0.83*x1 - x2");
  EXPECT_FALSE(formula.discrete);
  EXPECT_EQ(formula.notes, std::vector<std::string>{"W = 0.83 is not a discrete value"});
}

TEST(Nau, QuotesColumnNamesThatAreNotIdentifiers) {
  EXPECT_EQ(spelled({1, -1}, {"price", "shipping cost"}), "price - \"shipping cost\"");
  EXPECT_EQ(spelled({1, 1}, {"a\"b", "sin"}), "\"a\\\"b\" + \"sin\"");
}

TEST(Nau, UnusualInputsGoThroughTheSum) {
  EXPECT_TRUE(std::isnan(outputs_of(nau({1, 1}), {std::nan(""), 1})[0]));
  EXPECT_TRUE(std::isnan(outputs_of(nau({1, 0}), {1, infinity})[0]));  // times an exact 0
  EXPECT_EQ(outputs_of(nau({1, -1}), {1, infinity})[0], -infinity);
  EXPECT_EQ(outputs_of(nau({-1}), {5e-324})[0], -5e-324);
  EXPECT_EQ(outputs_of(nau({1, 1}), {1e30, 0}, Precision::Float)[0], static_cast<double>(1e30F));
}

}  // namespace
}  // namespace nalm::nau_test
