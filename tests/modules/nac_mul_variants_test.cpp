// NAC*sigmoid and NAC*NMU: golden values, what they share with NAC* and NMU, and what the weights spell.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "nalm/model.hpp"

namespace nalm::nac_mul_variants_test {
namespace {

using Values = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double one = 40, zero = -800;  // the sigmoid of these is exactly 1 and 0

Model of_module(const char* name, const Values& W, int outputs) {
  return {{{*find_module(name), {static_cast<int>(W.size()) / outputs, outputs, {}}, W}}, {}};
}
Model squashed(const Values& W_hat, int outputs = 1) { return of_module("NAC*sigmoid", W_hat, outputs); }
Model clamped(const Values& W, int outputs = 1) { return of_module("NAC*NMU", W, outputs); }

Values outputs_of(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return *predict(model, x, precision);
}

// dy/dparameters: the gradient of (y - t)^2 with t = y - 1/2.
Values slopes(const Model& model, const Values& x) {
  return gradients(model, x, Values{outputs_of(model, x)[0] - 0.5}, Precision::Double)->layers[0];
}

std::string spelled(const Model& model) { return print(ideal_formula(model, {})->outputs[0]); }

double squash(double z) { return 1 / (1 + std::exp(-z)); }

TEST(NacMulVariants, MultiplyPowersOfMagnitudes) {
  // Half of 4 and a quarter of 16: 2 * 2; then 4 and half of 16: 4 * 4.
  const Values W = {0.5, 1, 0.25, 0.5}, x = {4, -16};
  for (std::size_t o = 0; o < 2; ++o) EXPECT_NEAR(outputs_of(clamped(W, 2), x)[o], o == 0 ? 4 : 16, 1e-5);
  const double third = -std::log(2);  // whose sigmoid is 1/3
  EXPECT_NEAR(outputs_of(squashed({0, third}), {4, -8})[0], 4, 1e-6);
  EXPECT_NEAR(outputs_of(squashed({0, third}), {-4, 8}, Precision::Float)[0], 4, 1e-5);
}

TEST(NacMulVariants, SameWeightsGiveTheSameBitsAsTheNacMul) {
  const Values x = {1.25, -3};
  for (const Precision precision : {Precision::Float, Precision::Double}) {
    // tanh(40) is 1, so the weight of NAC* is the sigmoid alone.
    const Model nac_mul{{{*find_module("NAC*"), {2, 1, {}}, {one, one, 0.3, -0.7}}}, {}};
    const Values wanted = outputs_of(nac_mul, x, precision);
    EXPECT_EQ(outputs_of(squashed({0.3, -0.7}), x, precision), wanted);
  }
}

TEST(NacMulVariants, GradientOfAWeightIsTheLogarithmTimesTheOutput) {
  const double logarithm = std::log(2.5 + 1e-7), W = squash(0.6);
  EXPECT_NEAR(slopes(clamped({0.3}), {-2.5})[0], std::exp(0.3 * logarithm) * logarithm, 1e-13);
  EXPECT_NEAR(slopes(squashed({0.6}), {-2.5})[0], std::exp(W * logarithm) * logarithm * W * (1 - W), 1e-13);
}

TEST(NacMulVariants, GradientPassesAtTheBoundsOfTheClamp) {
  const double logarithm = std::log(3 + 1e-7);
  EXPECT_NEAR(slopes(clamped({0}), {3})[0], logarithm, 1e-13);
  EXPECT_NEAR(slopes(clamped({1}), {3})[0], (3 + 1e-7) * logarithm, 1e-13);
}

TEST(NacMulVariants, SparsityErrorIsThatOfW) {
  EXPECT_EQ(*sparsity_error(clamped({1, 0, 1})), 0);
  EXPECT_EQ(*sparsity_error(clamped({1, 0.75, 0.125})), 0.25);
  EXPECT_EQ(*sparsity_error(squashed({one, zero})), 0);
  EXPECT_NEAR(*sparsity_error(squashed({one, -1})), squash(-1), 1e-15);
}

TEST(NacMulVariants, SpellProductsOfMagnitudes) {
  EXPECT_EQ(spelled(clamped({1, 0, 1})), "abs(x1)*abs(x3)");
  EXPECT_EQ(spelled(clamped({0.0004, 0.9996})), "abs(x2)");
  EXPECT_EQ(spelled(squashed({one, zero, one})), "abs(x1)*abs(x3)");
  EXPECT_EQ(spelled(squashed({zero})), "1");
  const Formula half = *ideal_formula(squashed({0}), {});
  EXPECT_EQ(print(half.outputs[0]), "abs(x1)^0.5");
  EXPECT_EQ(half.notes, std::vector<std::string>{"W = 0.5 is not a discrete value"});
}

TEST(NacMulVariants, UnusualInputsAreAsDescribed) {
  for (const auto& [all, nothing] :
       {std::pair(clamped({1}), clamped({0})), std::pair(squashed({one}), squashed({zero}))}) {
    EXPECT_NEAR(outputs_of(all, {0})[0], 1e-7, 1e-20);
    EXPECT_NEAR(outputs_of(all, {5e-324})[0], 1e-7, 1e-20);
    EXPECT_TRUE(std::isnan(outputs_of(all, {std::nan("")})[0]));
    EXPECT_EQ(outputs_of(all, {-infinity})[0], infinity);
    EXPECT_TRUE(std::isnan(outputs_of(nothing, {infinity})[0]));
  }
  EXPECT_EQ(outputs_of(clamped({1, 1}), {1e30, 1e30}, Precision::Float)[0], infinity);
}

TEST(NacMulVariants, HaveOtherNames) {
  EXPECT_EQ((*find_module("NAC•σ"))->name, "NAC*sigmoid");
  EXPECT_EQ((*find_module("nac•nmu"))->name, "NAC*NMU");
}

TEST(NacMulVariants, OneTrainsAsTheNacMulAndOneAsTheNmu) {
  const ModuleInfo &sigmoid = **find_module("NAC*sigmoid"), &nmu = **find_module("NAC*NMU");
  EXPECT_EQ(sigmoid.parameters[0].start.kind, modules::Start::Kind::Nac);
  EXPECT_FALSE(sigmoid.parameters[0].clamp);
  EXPECT_TRUE(sigmoid.recipe().layers[0].regularisers.empty());
  const ParameterInfo& W = nmu.parameters[0];
  EXPECT_EQ(W.start.kind, modules::Start::Kind::Uniform);
  EXPECT_EQ(W.start.a, 0.25);
  EXPECT_EQ(W.start.b, 0.75);
  ASSERT_TRUE(W.clamp);
  EXPECT_EQ(W.clamp->lo, 0);
  EXPECT_EQ(W.clamp->hi, 1);
  const Recipe r = nmu.recipe();
  ASSERT_EQ(r.layers[0].regularisers.size(), 1u);
  EXPECT_EQ(r.layers[0].regularisers[0].kind, Regulariser::Kind::Sparsity);
  EXPECT_EQ(r.layers[0].regularisers[0].strength, 10);
  for (const ModuleInfo* module : {&sigmoid, &nmu}) {
    ASSERT_EQ(module->operations.size(), 1u);
    EXPECT_EQ(module->operations[0], Operation::Multiply);
  }
}

}  // namespace
}  // namespace nalm::nac_mul_variants_test
