// RealNPU-modified: the formula of the RealNPU, its own bounds and regularisers, and what the weights spell.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "nalm/model.hpp"

namespace nalm::real_npu_modified_test {
namespace {

using Values = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double pi = 3.14159265358979323846;
constexpr double epsilon = 1.1920929e-7;

Model modified(const Values& W, const Values& g) {
  const int inputs = static_cast<int>(g.size()), outputs = static_cast<int>(W.size()) / inputs;
  Values parameters = W;
  parameters.insert(parameters.end(), g.begin(), g.end());
  return {{{*find_module("RealNPU-modified"), {inputs, outputs, {}}, parameters}}, {}};
}

Model ungated(const Values& W) { return modified(W, Values(W.size(), 1)); }

double output_of(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return (*predict(model, x, precision))[0];
}

std::string spelled(const Model& model) { return print(ideal_formula(model, {})->outputs[0]); }

Values strengths(const Regulariser& r, const std::vector<long>& iterations) {
  Values result;
  for (const long e : iterations) result.push_back(r.coefficient(e));
  return result;
}

TEST(RealNpuModified, MultipliesGatedPowers) {
  const Values W = {0.7, -0.2, 1, 0.4, -0.8, -1}, g = {0.3, 0.9, 1}, x = {1.25, -3, -0.5};
  const Values y = *predict(modified(W, g), x, Precision::Double);
  for (std::size_t o = 0; o < 2; ++o) {
    double size = 1, angle = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      size *= std::pow(g[i] * (std::fabs(x[i]) + epsilon) + (1 - g[i]), W[2 * i + o]);
      angle += x[i] < 0 ? W[2 * i + o] * g[i] * pi : 0;
    }
    EXPECT_NEAR(y[o], size * std::cos(angle), 1e-13);
  }
  // mpmath: sqrt(4 + eps) / (0.25 (3 + eps) + 0.75) cos(-pi / 4)
  EXPECT_NEAR(output_of(modified({0.5, -1}, {1, 0.25}), {4, -3}), 0.94280903689908017, 1e-14);
}

TEST(RealNpuModified, ComputesAndLearnsAsTheRealNpuInEveryBit) {
  const Model own = modified({0.7, -0.2, 1, 0.4, -0.8, -1}, {0.3, 0, 1});
  Model plain = own;
  plain.layers[0].module = *find_module("RealNPU");
  const Values x = {1.25, -3, -0.5}, t = {0.3, -2};
  for (const Precision precision : {Precision::Float, Precision::Double}) {
    EXPECT_EQ(*predict(own, x, precision), *predict(plain, x, precision));
    EXPECT_EQ(gradients(own, x, t, precision)->layers, gradients(plain, x, t, precision)->layers);
  }
}

TEST(RealNpuModified, EpsilonStaysInEvaluation) {
  EXPECT_NEAR(output_of(ungated({-1}), {1e-4}), 1 / (1e-4 + epsilon), 1e-8);
  EXPECT_NEAR(output_of(ungated({1, -1}), {3, -2}), -1.5, 1e-6);
}

TEST(RealNpuModified, SparsityErrorLooksAtPowersOnly) {
  EXPECT_EQ(*sparsity_error(modified({1, -1}, {0.5, 0.5})), 0);
  EXPECT_EQ(*sparsity_error(modified({1, -0.75}, {1, 1})), 0.25);
}

TEST(RealNpuModified, SpellsProductsAndQuotients) {
  EXPECT_EQ(spelled(ungated({1, 1})), "x1*x2");
  EXPECT_EQ(spelled(ungated({0.9996, -1})), "x1/x2");
  EXPECT_EQ(spelled(modified({1, -1}, {0, 1})), "1/x2");
  EXPECT_EQ(spelled(modified({1, -1}, {0, 0.0004})), "1");
}

TEST(RealNpuModified, SaysThatPowersAndGatesAreNotDiscrete) {
  const Formula formula = *ideal_formula(modified({0.5, 1}, {1, 0.25}), {});
  EXPECT_FALSE(formula.discrete);
  EXPECT_EQ(formula.notes,
            (std::vector<std::string>{"W_re = 0.5 is not a discrete value", "gate = 0.25 is not a discrete value"}));
  const std::vector<std::string> names = {"x1", "x2"};
  EXPECT_NEAR(*evaluate(formula.outputs[0], names, Values{4, 5}), 4, 1e-14);
  EXPECT_NEAR(*evaluate(formula.outputs[0], names, Values{4, -5}), 4 * std::cos(pi / 4), 1e-14);
}

TEST(RealNpuModified, UnusualInputsAreThoseOfTheRealNpu) {
  EXPECT_NEAR(output_of(ungated({1}), {0}) / epsilon, 1, 1e-13);
  EXPECT_NEAR(output_of(ungated({1}), {5e-324}) / epsilon, 1, 1e-13);
  EXPECT_EQ(output_of(modified({1}, {0}), {0}), 1);
  EXPECT_TRUE(std::isnan(output_of(modified({0}, {0}), {std::nan("")})));
  EXPECT_EQ(output_of(ungated({1}), {infinity}), infinity);
  EXPECT_EQ(output_of(ungated({-1}), {infinity}), 0);
  EXPECT_TRUE(std::isnan(output_of(ungated({0}), {infinity})));
  EXPECT_TRUE(std::isnan(output_of(modified({1}, {0}), {infinity})));
}

TEST(RealNpuModified, RecipeDrivesPowersToUnitsAndGatesToADecision) {
  const ModuleInfo& module = **find_module("RealNPU-modified");
  const Recipe r = module.recipe();
  EXPECT_EQ(r.training.optimiser.kind, Optimiser::Kind::Adam);
  EXPECT_EQ(r.training.optimiser.learning_rate(), 5e-3);
  EXPECT_EQ(r.training.loss.kind, Loss::Kind::Squared);
  EXPECT_FALSE(r.training.clip_norm || r.training.clip_value || r.training.noise);
  EXPECT_EQ(r.training.iterations, 50000);
  ASSERT_EQ(r.layers[0].regularisers.size(), 3u);
  const Regulariser &power = r.layers[0].regularisers[0], &gate = r.layers[0].regularisers[1],
                    &l1 = r.layers[0].regularisers[2];
  EXPECT_EQ(power.kind, Regulariser::Kind::Unit);
  EXPECT_EQ(power.parameter, "W_re");
  EXPECT_EQ(gate.kind, Regulariser::Kind::Sparsity);
  EXPECT_EQ(gate.parameter, "g");
  for (const Regulariser* ramp : {&power, &gate}) {
    EXPECT_EQ(strengths(*ramp, {40000, 45000, 50000}), (Values{0, 0.5, 1}));
  }
  EXPECT_EQ(l1.kind, Regulariser::Kind::L1);
  EXPECT_TRUE(l1.parameter.empty());
  EXPECT_DOUBLE_EQ(l1.coefficient(9999), 1e-9);
  EXPECT_DOUBLE_EQ(l1.coefficient(10000), 1e-8);
  EXPECT_DOUBLE_EQ(l1.coefficient(100000), 1e-7);
}

TEST(RealNpuModified, BothParametersAreClampedUnlikeThoseOfTheRealNpu) {
  const ModuleInfo& module = **find_module("RealNPU-modified");
  ASSERT_EQ(module.parameters.size(), 2u);
  const ParameterInfo &W = module.parameters[0], &g = module.parameters[1];
  EXPECT_EQ(W.start.kind, modules::Start::Kind::Nau);
  EXPECT_EQ(g.start.kind, modules::Start::Kind::Constant);
  EXPECT_EQ(g.start.a, 0.5);
  ASSERT_TRUE(W.clamp && g.clamp);
  EXPECT_EQ((Values{W.clamp->lo, W.clamp->hi}), (Values{-1, 1}));
  EXPECT_EQ((Values{g.clamp->lo, g.clamp->hi}), (Values{0, 1}));
  for (const ParameterInfo& p : (*find_module("RealNPU"))->parameters) EXPECT_FALSE(p.clamp) << p.name;
}

}  // namespace
}  // namespace nalm::real_npu_modified_test
