// sNMU: the NMU in evaluation, noise that only undecided weights feel in training, and what the weights spell.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/aligned.hpp"
#include "modules/noisy.hpp"
#include "nalm/model.hpp"
#include "simd/dispatch.hpp"
#include "train/network.hpp"

namespace nalm::snmu_test {
namespace {

using Values = std::vector<double>;
using test::Noisy;
using test::noisy_factor;
using test::noisy_slope;

constexpr double infinity = std::numeric_limits<double>::infinity();
const std::vector<std::string> both = {"sNMU", "sNMU-batch"};

Model snmu(const Values& W, int outputs = 1, const std::string& name = "sNMU") {
  return {{{*find_module(name), {static_cast<int>(W.size()) / outputs, outputs, {}}, W}}, {}};
}

Values outputs_of(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return *predict(model, x, precision);
}

// dy/dW with all noise 1: the gradient of (y - t)^2 with t = y - 1/2.
Values slopes(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return gradients(model, x, Values{outputs_of(model, x, precision)[0] - 0.5}, precision)->layers[0];
}

std::string spelled(const Values& W) { return print(ideal_formula(snmu(W), {})->outputs[0]); }

Values strengths(const Regulariser& r, const std::vector<long>& iterations) {
  Values result;
  for (const long e : iterations) result.push_back(r.coefficient(e));
  return result;
}

TEST(Snmu, EvaluatesAsTheNmuInEveryBit) {
  const Values W = {0.3, 1, 0.8, 0.1, 0, 0.7}, x = {-1.7, 2.3, 0.6};
  for (const std::string& name : both) {
    for (const Precision precision : {Precision::Float, Precision::Double}) {
      Model nmu = snmu(W, 2, name);
      nmu.layers[0].module = *find_module("NMU");
      EXPECT_EQ(outputs_of(snmu(W, 2, name), x, precision), outputs_of(nmu, x, precision)) << name;
    }
    EXPECT_NEAR(outputs_of(snmu({0.3, 0.8}, 1, name), {-1.7, 2.3})[0], 0.3876, 1e-14);  // 0.19 * 2.04
    EXPECT_EQ(outputs_of(snmu({1, 0.5, 0, 0.25, 1, 0.75}, 2, name), {2, 5, -3}), (Values{-6, 1.5 * 2 * -2}));
  }
}

TEST(Snmu, WithoutNoiseTheGradientIsTheProductOfTheOtherFactors) {
  // Factors 1.5, 2 and -2.
  EXPECT_EQ(slopes(snmu({0.5, 0.25, 0.75}), {2, 5, -3}), (Values{1 * (2 * -2), 4 * (1.5 * -2), -4 * (1.5 * 2)}));
  for (const Precision precision : {Precision::Float, Precision::Double}) {
    EXPECT_EQ(slopes(snmu({1, 1, 1}), {0, 3, 5}, precision), (Values{-15, 0, 0}));
    EXPECT_EQ(slopes(snmu({1, 1, 1}), {0, 3, 0}, precision), (Values{0, 0, 0}));
  }
}

TEST(Snmu, NoiseCancelsWhereWeightsAreDecided) {
  const Values W = {1, 0, 0, 1, 1, 1}, x = {-1.7, 2.3, 0.6};
  for (const Values& n : {Values{1, 1, 1}, Values{4.7, 1.9, 3.3}, Values{1.01, 5, 2.2}}) {
    const Noisy<double> noisy(snmu(W, 2), x, n);
    EXPECT_NEAR(noisy.training[0], -1.02, 1e-14);
    EXPECT_NEAR(noisy.training[1], 1.38, 1e-14);
  }
}

TEST(Snmu, NoiseMovesUndecidedWeights) {
  const Noisy<double> noisy(snmu({0.5}), {3}, {2.5});
  EXPECT_NEAR(noisy.training[0], 4.25 / 1.75, 1e-14);
  EXPECT_NEAR(noisy.gradient[0], 5 / 3.0625, 1e-14);
  EXPECT_EQ(noisy.evaluation[0], 2);
  const Noisy<double> two(snmu({0.3, 0.8}), {-1.7, 2.3}, {4, 2});
  EXPECT_NEAR(two.training[0], -1.34 / 1.9 * (3.88 / 1.8), 1e-14);
  EXPECT_NEAR(two.evaluation[0], 0.3876, 1e-14);
}

// Five samples are one block of four and one left over in the kernel that trains two inputs in float.
template <class S>
void expect_noise_of_its_own_for_every_sample(double tolerance) {
  const Values W = {0.3, 0.8}, x = {-1.7, 2.3, 1.5, 0.4, 2, -0.9, 0.7, 1.1, -1.2, -2.1},
               n = {4, 2, 1, 3.5, 2.25, 1.75, 4.5, 1.25, 3, 5};
  const Noisy<S> noisy(snmu(W), x, n);
  double first = 0, second = 0;
  for (std::size_t k = 0; k < 5; ++k) {
    const double a = noisy_factor(W[0], x[2 * k], n[2 * k]), b = noisy_factor(W[1], x[2 * k + 1], n[2 * k + 1]);
    EXPECT_NEAR(noisy.training[k], a * b, tolerance) << k;
    first += noisy_slope(W[0], x[2 * k], n[2 * k]) * b;
    second += a * noisy_slope(W[1], x[2 * k + 1], n[2 * k + 1]);
  }
  EXPECT_NEAR(noisy.gradient[0], first, 10 * tolerance);
  EXPECT_NEAR(noisy.gradient[1], second, 10 * tolerance);
}

TEST(Snmu, EverySampleHasNoiseOfItsOwn) {
  expect_noise_of_its_own_for_every_sample<float>(2e-6);
  expect_noise_of_its_own_for_every_sample<double>(1e-14);
}

TEST(Snmu, SparsityErrorIsTheDistanceFromZeroAndOne) {
  EXPECT_EQ(*sparsity_error(snmu({1, 0, 1})), 0);
  EXPECT_EQ(*sparsity_error(snmu({1, 0.75, 0.125})), 0.25);
}

TEST(Snmu, SpellsProducts) {
  EXPECT_EQ(spelled({1, 1}), "x1*x2");
  EXPECT_EQ(spelled({0.0004, 0.9996}), "x2");
  EXPECT_EQ(spelled({0, 0}), "1");
  const Formula formula = *ideal_formula(snmu({0.5, 1, 1, 0}, 2), {"my x", "y"});
  EXPECT_EQ(print(formula.outputs[0]), "(0.5*\"my x\" + 0.5)*y");
  EXPECT_EQ(print(formula.outputs[1]), "\"my x\"");
  EXPECT_EQ(formula.notes, std::vector<std::string>{"W = 0.5 is not a discrete value"});
  EXPECT_FALSE(formula.discrete);
}

TEST(Snmu, UnusualInputsAreThoseOfTheNmu) {
  EXPECT_TRUE(std::isnan(outputs_of(snmu({0, 1}), {std::nan(""), 0})[0]));
  EXPECT_TRUE(std::isnan(outputs_of(snmu({0, 1}), {infinity, 2})[0]));
  EXPECT_EQ(outputs_of(snmu({1, 1}), {infinity, -2})[0], -infinity);
  EXPECT_EQ(outputs_of(snmu({1}), {1e-8}, Precision::Float)[0], 0);
  EXPECT_EQ(outputs_of(snmu({1}), {1e-17})[0], 0);
  EXPECT_NEAR(outputs_of(snmu({1}), {1e-8})[0], 1e-8, 1e-16);
}

TEST(Snmu, RecipesDifferInTheirNoiseOnly) {
  for (const std::string& name : both) {
    const ModuleInfo& module = **find_module(name);
    const Recipe r = module.recipe();
    EXPECT_EQ(r.training.optimiser.kind, Optimiser::Kind::Adam);
    EXPECT_EQ(r.training.optimiser.learning_rate(), 1e-3);
    EXPECT_EQ(r.training.loss.kind, Loss::Kind::Squared);
    EXPECT_FALSE(r.training.clip_norm || r.training.clip_value);
    ASSERT_EQ(r.layers[0].regularisers.size(), 1u);
    EXPECT_EQ(r.layers[0].regularisers[0].kind, Regulariser::Kind::Sparsity);
    ASSERT_TRUE(r.training.noise);
    EXPECT_EQ(r.training.noise->lo, 1);
    EXPECT_EQ(r.training.noise->batch_adaptive, name == "sNMU-batch");
    EXPECT_EQ(r.training.iterations, 50000);
    EXPECT_EQ(strengths(r.layers[0].regularisers[0], {20000, 27500, 35000, 50000}), (Values{0, 5, 10, 10}));
  }
  EXPECT_EQ((*find_module("sNMU"))->recipe().training.noise->hi, 5);
}

TEST(Snmu, WeightsStartAroundOneHalfAndStayBetweenZeroAndOne) {
  for (const std::string& name : both) {
    const ModuleInfo& module = **find_module(name);
    ASSERT_EQ(module.parameters.size(), 1u);
    const ParameterInfo& W = module.parameters[0];
    EXPECT_EQ(W.start.kind, modules::Start::Kind::Uniform);
    EXPECT_EQ((Values{W.start.a, W.start.b}), (Values{0.25, 0.75}));
    ASSERT_TRUE(W.clamp);
    EXPECT_EQ((Values{W.clamp->lo, W.clamp->hi}), (Values{0, 1}));
    EXPECT_TRUE(module.takes_noise);
  }
}

}  // namespace
}  // namespace nalm::snmu_test
