// Linear: golden values, gradients, and what the weights spell.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "nalm/model.hpp"
#include "nalm/modules/linear.hpp"

namespace nalm::linear_test {
namespace {

using Values = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();

// W, and one constant term per output behind it.
Model linear(const Values& W, int outputs = 1) {
  return {{{*find_module("Linear"), {static_cast<int>(W.size()) / outputs - 1, outputs, {}}, W}}, {}};
}

Values outputs_of(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return *predict(model, x, precision);
}

// W alone.
Model without_bias(const Values& W, int outputs = 1) {
  const int inputs = static_cast<int>(W.size()) / outputs;
  return {{{*find_module("Linear"), {inputs, outputs, {modules::Linear::without_bias}}, W}}, {}};
}

std::string spelled(const Values& W) { return print(ideal_formula(linear(W), {})->outputs[0]); }

TEST(Linear, SumsWeightedInputsAndAConstant) {
  for (const Precision precision : {Precision::Double, Precision::Float}) {
    EXPECT_EQ(outputs_of(linear({2, -1.5, 0.5}), {3, 4}, precision), Values{0.5});
    EXPECT_EQ(outputs_of(linear({100, -7}), {-3}, precision), Values{-307});
  }
}

TEST(Linear, FirstIndexIsTheInputAndSecondTheOutput) {
  EXPECT_EQ(outputs_of(linear({1, 2, 3, 4, 10, 20}, 2), {5, 7}), (Values{5 + 21 + 10, 10 + 28 + 20}));
}

TEST(Linear, TakesRowByRow) { EXPECT_EQ(outputs_of(linear({2, 1}), {1, 2, 3}), (Values{3, 5, 7})); }

TEST(Linear, GradientIsTheInputAndOne) {
  for (const Precision precision : {Precision::Double, Precision::Float}) {
    const Values slope = gradients(linear({2, -1, 0.5}), Values{3, 4}, Values{2}, precision)->layers[0];
    EXPECT_EQ(slope, (Values{3, 4, 1}));  // y = 2.5: half of it times two
  }
}

TEST(Linear, GradientPassesThroughToTheLayerBelow) {
  Model model = linear({3, -2, 0});
  model.layers.insert(model.layers.begin(), {*find_module("Linear"), {1, 2, {}}, {1, 1, 0, 0}});
  // y = 3*x - 2*x at x = 5; the target is half below.
  const Values slope = gradients(model, Values{5}, Values{4.5}, Precision::Double)->layers[0];
  EXPECT_EQ(slope, (Values{15, -10, 3, -2}));
}

TEST(Linear, SpellsItsNumbersAsTheyAre) {
  EXPECT_EQ(spelled({2, -1, 0.5}), "2*x1 - x2 + 0.5");
  EXPECT_EQ(spelled({0, 0.9996, 0}), "0.9996*x2");
  EXPECT_EQ(spelled({0, 0, -3}), "-3");
}

TEST(Linear, AnyNumberIsAsGoodAsAnother) {
  const Formula formula = *ideal_formula(linear({0.37, -8.1, 0.2}), {});
  EXPECT_TRUE(formula.discrete);
  EXPECT_TRUE(formula.notes.empty());
  EXPECT_EQ(*sparsity_error(linear({0.37, -8.1, 0.2})), 0);
}

TEST(Linear, UnusualInputsAreAsDescribed) {
  EXPECT_TRUE(std::isnan(outputs_of(linear({1, 1, 0}), {std::nan(""), 2})[0]));
  EXPECT_TRUE(std::isnan(outputs_of(linear({0, 1, 0}), {infinity, 2})[0]));
  EXPECT_EQ(outputs_of(linear({-2, 1, 0}), {infinity, 2}), Values{-infinity});
  EXPECT_EQ(outputs_of(linear({1, 1, 0}), {1e30, 4.9e-324}), Values{1e30});
}

TEST(Linear, CanBeABareMatrix) {
  for (const Precision precision : {Precision::Double, Precision::Float}) {
    EXPECT_EQ(outputs_of(without_bias({2, -1.5}), {3, 4}, precision), Values{0});
    EXPECT_EQ(outputs_of(without_bias({1, 2, 3, 4}, 2), {5, 7}, precision), (Values{26, 38}));
    // y = 2: half of it times two. Two inputs and one output are a kernel of their own in float.
    EXPECT_EQ(gradients(without_bias({2, -1}), Values{3, 4}, Values{1.5}, precision)->layers[0], (Values{3, 4}));
    EXPECT_EQ(gradients(without_bias({2}), Values{3}, Values{5.5}, precision)->layers[0], Values{3});
  }
  EXPECT_EQ(print(ideal_formula(without_bias({2, -1}), {})->outputs[0]), "2*x1 - x2");
  EXPECT_EQ(print(literal_formula(without_bias({2, -1}), {})->outputs[0]), "2*x1 - x2");
}

TEST(Linear, HasItsConstantTermUnlessToldOtherwise) {
  const Result<Stack> standard = parse_stack("Linear:2", 3), bare = parse_stack("Linear:2(bias=no)", 3);
  ASSERT_TRUE(standard.ok() && bare.ok());
  EXPECT_EQ(standard->front().shape.options[modules::Linear::bias], modules::Linear::with_bias);
  EXPECT_EQ(parameter_count(*standard->front().module, standard->front().shape), 8);
  EXPECT_EQ(parameter_count(*bare->front().module, bare->front().shape), 6);
  EXPECT_EQ(print(*bare), "Linear:2(bias=no)");
}

TEST(Linear, WeightsStartAsThoseOfGlorotAndConstantsAtZero) {
  const ModuleInfo& module = **find_module("Linear");
  ASSERT_EQ(module.parameters.size(), 2u);
  EXPECT_EQ(module.parameters[0].start.kind, modules::Start::Kind::XavierUniform);
  EXPECT_EQ(module.parameters[1].start.kind, modules::Start::Kind::Constant);
  EXPECT_EQ(module.parameters[1].start.a, 0);
  for (const ParameterInfo& p : module.parameters) EXPECT_FALSE(p.clamp) << p.name;
}

TEST(Linear, RecipeIsTheOrdinaryOne) {
  const Recipe r = (*find_module("Linear"))->recipe(), ordinary;
  EXPECT_EQ(r.training.optimiser.kind, ordinary.training.optimiser.kind);
  EXPECT_EQ(r.training.loss.kind, ordinary.training.loss.kind);
  EXPECT_EQ(r.training.iterations, ordinary.training.iterations);
  EXPECT_TRUE(r.layers[0].regularisers.empty());
  EXPECT_FALSE(r.training.clip_norm || r.training.clip_value || r.training.noise || r.training.restarts ||
               r.training.reinitialise);
}

}  // namespace
}  // namespace nalm::linear_test
