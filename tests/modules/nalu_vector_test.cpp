// NALU-vector: golden values, what it shares with the NALU, and what the weights spell.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "nalm/model.hpp"

namespace nalm::nalu_vector_test {
namespace {

using Values = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double one = 40;  // tanh and sigmoid of this are exactly 1

Model of_module(const char* name, const std::vector<Values>& arrays, int outputs) {
  Values all;
  for (const Values& v : arrays) all.insert(all.end(), v.begin(), v.end());
  return {{{*find_module(name), {static_cast<int>(arrays[0].size()) / outputs, outputs, {}}, all}}, {}};
}
Model vector(const Values& W_hat, const Values& M_hat, const Values& G, int outputs = 1) {
  return of_module("NALU-vector", {W_hat, M_hat, G}, outputs);
}

Values outputs_of(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return *predict(model, x, precision);
}

const Values W = {0.3, -1.2, 2.1, 0.7, -0.4, 5}, M = {0.1, 0.9, -2, 1.5, 3, -0.6}, G = {0.2, -0.5, 0.7},
             G_twice = {0.2, 0.2, -0.5, -0.5, 0.7, 0.7}, x3 = {1.25, -3, 0.5};

TEST(NaluVector, SimpleWeightsByHand) {
  const Values both = {one, one};
  EXPECT_NEAR(outputs_of(vector(both, both, {0, 0}), {2, 3})[0], 5.5, 1e-6);             // half of 5 and of 6
  EXPECT_NEAR(outputs_of(vector(both, both, {std::log(3), 0}), {1, 3})[0], 3.75, 1e-6);  // 3/4 of 4, 1/4 of 3
  // Two outputs, x1 + x2 and x1 - x2 or x1*x2 and x1/x2: one gate opens both.
  const Values W_hat = {one, one, one, -one}, M_hat(4, one);
  const Values sums = outputs_of(vector(W_hat, M_hat, {800, 0}, 2), {2, 4}),
               products = outputs_of(vector(W_hat, M_hat, {-800, 0}, 2), {2, 4});
  EXPECT_EQ(sums, (Values{6, -2}));
  EXPECT_NEAR(products[0], 8, 1e-6);
  EXPECT_NEAR(products[1], 0.5, 1e-6);
}

TEST(NaluVector, IsTheNaluWithEqualGatesInEveryBit) {
  for (const Precision precision : {Precision::Float, Precision::Double}) {
    EXPECT_EQ(outputs_of(vector(W, M, G, 2), x3, precision),
              outputs_of(of_module("NALU", {W, M, G_twice}, 2), x3, precision));
  }
}

TEST(NaluVector, GateGetsTheGradientsOfAllOutputs) {
  const Values targets = {1, -2};
  const Values together = gradients(vector(W, M, G, 2), x3, targets, Precision::Double)->layers[0],
               separate = gradients(of_module("NALU", {W, M, G_twice}, 2), x3, targets, Precision::Double)->layers[0];
  ASSERT_EQ(together.size(), 15u);
  for (std::size_t k = 0; k < 12; ++k) EXPECT_NEAR(together[k], separate[k], 1e-13) << k;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(together[12 + i], separate[12 + 2 * i] + separate[12 + 2 * i + 1], 1e-13) << i;
  }
}

TEST(NaluVector, SparsityErrorDoesNotCountTheGate) {
  EXPECT_EQ(*sparsity_error(vector({one, -one}, {one, one}, {0.4, 0.4})), 0);
  EXPECT_NEAR(*sparsity_error(vector({0.3, one}, {0, one}, {0, 0})), std::tanh(0.3) / 2, 1e-15);
}

TEST(NaluVector, SpellsTheSameGateForEveryOutput) {
  const Formula formula = *ideal_formula(vector({one, one, -one, one}, Values(4, one), {0.5, -2}, 2), {});
  EXPECT_EQ(print(formula.outputs[0]),
            "sigmoid(0.5*x1 - 2*x2)*(x1 - x2) + (1 - sigmoid(0.5*x1 - 2*x2))*(abs(x1)/abs(x2))");
  EXPECT_EQ(print(formula.outputs[1]),
            "sigmoid(0.5*x1 - 2*x2)*(x1 + x2) + (1 - sigmoid(0.5*x1 - 2*x2))*(abs(x1)*abs(x2))");
  EXPECT_TRUE(formula.discrete);
}

TEST(NaluVector, SaysWhatIsNotDiscrete) {
  EXPECT_EQ(ideal_formula(vector({one}, {0}, {1}), {})->notes,
            std::vector<std::string>{"W = 0.5 is not a discrete value"});
}

TEST(NaluVector, UnusualInputsAreThoseOfTheNalu) {
  EXPECT_TRUE(std::isnan(outputs_of(vector({one}, {one}, {one}), {std::nan("")})[0]));
  EXPECT_TRUE(std::isnan(outputs_of(vector({one}, {one}, {one}), {infinity})[0]));
  EXPECT_NEAR(outputs_of(vector({one}, {one}, {one}), {0})[0], 0.5e-7, 1e-20);
}

TEST(NaluVector, StartsAndTrainsAsTheNalu) {
  const ModuleInfo &module = **find_module("NALU-vector"), &nalu = **find_module("NALU");
  ASSERT_EQ(module.parameters.size(), 3u);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(module.parameters[k].start.kind, nalu.parameters[k].start.kind) << k;
  EXPECT_EQ(size_of(module, module.parameters[2].axes, default_shape(module, 5, 3)), 5);
  EXPECT_TRUE(module.recipe().layers[0].regularisers.empty());
  EXPECT_EQ(module.operations.size(), 4u);
}

}  // namespace
}  // namespace nalm::nalu_vector_test
