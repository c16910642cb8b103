// Dense: golden values of its activations, gradients where they bend, and what the weights spell.
#include "nalm/modules/dense.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "nalm/model.hpp"

namespace nalm::dense_test {
namespace {

using Values = std::vector<double>;
using Choice = modules::Dense::Choice;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Precision precisions[] = {Precision::Double, Precision::Float};

// W, one constant term per output behind it, and the slope of prelu.
Model dense(double activation, const Values& W, int outputs = 1) {
  const int slopes = activation == Choice::prelu ? 1 : 0;
  return {{{*find_module("Dense"), {(static_cast<int>(W.size()) - slopes) / outputs - 1, outputs, {activation}}, W}},
          {}};
}

Values outputs_of(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return *predict(model, x, precision);
}

// dy/dparameters: the gradient of (y - t)^2 with t = y - 1/2.
Values slopes(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return gradients(model, x, Values{outputs_of(model, x, precision)[0] - 0.5}, precision)->layers[0];
}

std::string spelled(const Model& model) { return print(ideal_formula(model, {})->outputs[0]); }

TEST(Dense, ReluCutsBelowZero) {
  for (const Precision precision : precisions) {
    EXPECT_EQ(outputs_of(dense(Choice::relu, {2, -1.5, 0.5}), {3, 4, 4, 3, 1, 9}, precision), (Values{0.5, 4, 0}));
  }
}

TEST(Dense, Relu6CutsAboveSixToo) {
  for (const Precision precision : precisions) {
    EXPECT_EQ(outputs_of(dense(Choice::relu6, {1, 1}), {-2, 0, 4.5, 5, 7}, precision), (Values{0, 1, 5.5, 6, 6}));
  }
}

TEST(Dense, SigmoidAndTanhSquash) {
  EXPECT_EQ(outputs_of(dense(Choice::sigmoid, {1, 0}), {0}), Values{0.5});
  EXPECT_NEAR(outputs_of(dense(Choice::sigmoid, {1, -1}), {1 + std::log(3)})[0], 0.75, 1e-15);
  EXPECT_EQ(outputs_of(dense(Choice::tanh, {1, 0}), {0}), Values{0});
  EXPECT_NEAR(outputs_of(dense(Choice::tanh, {1, -1}), {1 + std::log(2)})[0], 0.6, 1e-15);
}

TEST(Dense, FirstIndexIsTheInputAndSecondTheOutput) {
  EXPECT_EQ(outputs_of(dense(Choice::relu, {1, 2, 3, 4, 10, -50}, 2), {5, 7}), (Values{36, 0}));
}

TEST(Dense, GradientIsTheInputAndOneWhereReluIsOpen) {
  for (const Precision precision : precisions) {
    EXPECT_EQ(slopes(dense(Choice::relu, {2, -1, 0.5}), {3, 4}, precision), (Values{3, 4, 1}));
    EXPECT_EQ(slopes(dense(Choice::relu, {2, -1, -7}), {3, 4}, precision), (Values{0, 0, 0}));
    EXPECT_EQ(slopes(dense(Choice::relu6, {2, -1, 0.5}), {3, 4}, precision), (Values{3, 4, 1}));
    EXPECT_EQ(slopes(dense(Choice::relu6, {2, -1, 7}), {3, 4}, precision), (Values{0, 0, 0}));
  }
}

TEST(Dense, GradientIsZeroWhereReluBends) {
  EXPECT_EQ(slopes(dense(Choice::relu, {1, 0}), {0}), (Values{0, 0}));
  EXPECT_EQ(slopes(dense(Choice::relu6, {1, 0}), {0}), (Values{0, 0}));
  EXPECT_EQ(slopes(dense(Choice::relu6, {1, 0}), {6}), (Values{0, 0}));
}

TEST(Dense, GradientOfSigmoidAndTanhComesFromTheOutput) {
  const Values s = slopes(dense(Choice::sigmoid, {0.5, 0.2}), {2}), t = slopes(dense(Choice::tanh, {0.5, 0.2}), {2});
  const double y = 1 / (1 + std::exp(-1.2)), z = std::tanh(1.2);
  EXPECT_NEAR(s[0], 2 * y * (1 - y), 1e-14);
  EXPECT_NEAR(s[1], y * (1 - y), 1e-14);
  EXPECT_NEAR(t[0], 2 * (1 - z * z), 1e-14);
  EXPECT_NEAR(t[1], 1 - z * z, 1e-14);
}

TEST(Dense, GradientPassesThroughToTheLayerBelow) {
  Model model = dense(Choice::relu, {3, -2, 0});
  model.layers.insert(model.layers.begin(), {*find_module("Dense"), {1, 2, {Choice::relu6}}, {1, 2, 0, 0}});
  // relu6 of 5 and 10, so y = 3*5 - 2*6; only the first is open.
  const Values slope = gradients(model, Values{5}, Values{2.5}, Precision::Double)->layers[0];
  EXPECT_EQ(slope, (Values{15, 0, 3, 0}));
}

// Values and slopes from the definitions, at one place on each side of every bend.
TEST(Dense, OtherActivationsHaveTheirKnownValuesAndSlopes) {
  struct Case {
    double activation, z, y, slope;
  };
  const double e = std::exp(-2.0), s = modules::Dense::selu_scale, a = modules::Dense::selu_alpha, t = std::tanh(2.0);
  const Case cases[] = {
      {Choice::hardtanh, 0.5, 0.5, 1},
      {Choice::hardtanh, 2, 1, 0},
      {Choice::hardtanh, -2, -1, 0},
      {Choice::leaky_relu, 2, 2, 1},
      {Choice::leaky_relu, -2, -0.02, 0.01},
      {Choice::elu, 2, 2, 1},
      {Choice::elu, -2, e - 1, e},
      {Choice::selu, 2, 2 * s, s},
      {Choice::selu, -2, s * a * (e - 1), s * a * e},
      {Choice::softplus, 2, std::log(1 + std::exp(2.0)), 1 / (1 + e)},
      {Choice::softplus, -2, std::log(1 + e), e / (1 + e)},
      {Choice::softsign, 3, 0.75, 1.0 / 16},
      {Choice::softsign, -1, -0.5, 0.25},
      {Choice::tanhshrink, 2, 2 - t, t * t},
      {Choice::hardshrink, 0.25, 0, 0},
      {Choice::hardshrink, -2, -2, 1},
      {Choice::softshrink, 0.25, 0, 0},
      {Choice::softshrink, 2, 1.5, 1},
      {Choice::softshrink, -2, -1.5, 1},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(testing::Message() << modules::Dense::options[0].choices[static_cast<std::size_t>(c.activation)]
                                    << " at " << c.z);
    const Model model = dense(c.activation, {1, 0});
    EXPECT_NEAR(outputs_of(model, {c.z})[0], c.y, 1e-14);
    EXPECT_NEAR(outputs_of(model, {c.z}, Precision::Float)[0], c.y, 1e-6);
    EXPECT_NEAR(slopes(model, {c.z})[1], c.slope, 1e-14);
  }
}

TEST(Dense, PreluLearnsItsSlope) {
  const Model model = dense(Choice::prelu, {1, 0, 0.25});
  EXPECT_EQ(outputs_of(model, {2, -2}), (Values{2, -0.5}));
  EXPECT_EQ(slopes(model, {2}), (Values{2, 1, 0}));
  EXPECT_EQ(slopes(model, {-2}), (Values{-0.5, 0.25, -2}));
  EXPECT_EQ(spelled(model), "max(0, x1) + 0.25*min(0, x1)");
}

TEST(Dense, SpellsItsNumbersAsTheyAre) {
  EXPECT_EQ(spelled(dense(Choice::relu, {2, -1, 0.5})), "max(0, 2*x1 - x2 + 0.5)");
  EXPECT_EQ(spelled(dense(Choice::relu6, {2, -1, 0.5})), "min(6, max(0, 2*x1 - x2 + 0.5))");
  EXPECT_EQ(spelled(dense(Choice::sigmoid, {0, 0.9996, 0})), "sigmoid(0.9996*x2)");
  EXPECT_EQ(spelled(dense(Choice::tanh, {0.37, 0})), "tanh(0.37*x1)");
  EXPECT_TRUE(ideal_formula(dense(Choice::tanh, {0.37, 0}), {})->discrete);
  EXPECT_EQ(*sparsity_error(dense(Choice::relu, {0.37, -8.1, 0.2})), 0);
}

TEST(Dense, ReluIsStandardAndOthersAreNamed) {
  const Result<Stack> stack = parse_stack(
      "Dense:4,Dense:3(activation=relu6),Dense:2(activation=sigmoid),"
      "Dense:1(activation=tanh)",
      2);
  ASSERT_TRUE(stack.ok()) << stack.error().message;
  for (std::size_t k = 0; k < 4; ++k)
    EXPECT_EQ((*stack)[k].shape.options[modules::Dense::activation], static_cast<double>(k));
  EXPECT_FALSE(parse_stack("Dense:1(activation=linear)", 2).ok());
}

TEST(Dense, UnusualInputsAreAsDescribed) {
  for (const double activation : {Choice::relu, Choice::relu6, Choice::sigmoid, Choice::tanh}) {
    for (const Precision precision : precisions) {
      EXPECT_TRUE(std::isnan(outputs_of(dense(activation, {1, 1, 0}), {std::nan(""), 2}, precision)[0]));
      EXPECT_TRUE(std::isnan(outputs_of(dense(activation, {0, 1, 0}), {infinity, 2}, precision)[0]));
      // A run that has met NaN does not look as if nothing were left to learn.
      EXPECT_TRUE(
          std::isnan(gradients(dense(activation, {1, 0}), Values{std::nan("")}, Values{1}, precision)->layers[0][1]));
    }
  }
  const Values both = {-infinity, infinity};
  EXPECT_EQ(outputs_of(dense(Choice::relu, {1, 0}), both), (Values{0, infinity}));
  EXPECT_EQ(outputs_of(dense(Choice::relu6, {1, 0}), both), (Values{0, 6}));
  EXPECT_EQ(outputs_of(dense(Choice::sigmoid, {1, 0}), both), (Values{0, 1}));
  EXPECT_EQ(outputs_of(dense(Choice::tanh, {1, 0}), both), (Values{-1, 1}));
  EXPECT_EQ(outputs_of(dense(Choice::relu, {1, 1, 0}), {1e30, 4.9e-324}), Values{1e30});
}

TEST(Dense, StartsAndTrainsAsTheLinearLayer) {
  const ModuleInfo &module = **find_module("Dense"), &linear = **find_module("Linear");
  ASSERT_EQ(module.parameters.size(), 3u);  // and the slope of prelu
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(module.parameters[k].start.kind, linear.parameters[k].start.kind);
    EXPECT_EQ(module.parameters[k].start.a, linear.parameters[k].start.a);
    EXPECT_FALSE(module.parameters[k].clamp);
  }
  EXPECT_TRUE(module.recipe().layers[0].regularisers.empty());
}

}  // namespace
}  // namespace nalm::dense_test
