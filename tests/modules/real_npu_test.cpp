// RealNPU: golden values, the gate's gradient at its bounds, and what the weights spell.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "nalm/model.hpp"

namespace nalm::real_npu_test {
namespace {

using Values = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double pi = 3.14159265358979323846;
constexpr double epsilon = 1.1920929e-7;

Model real_npu(const Values& W, const Values& g) {
  const int inputs = static_cast<int>(g.size()), outputs = static_cast<int>(W.size()) / inputs;
  Values parameters = W;
  parameters.insert(parameters.end(), g.begin(), g.end());
  return {{{*find_module("RealNPU"), {inputs, outputs, {}}, parameters}}, {}};
}

Model ungated(const Values& W) { return real_npu(W, Values(W.size(), 1)); }

double output_of(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return (*predict(model, x, precision))[0];
}

// dy/dparameters: the gradient of (y - t)^2 with t = y - 1/2.
Values slopes(const Model& model, const Values& x) {
  return gradients(model, x, Values{output_of(model, x) - 0.5}, Precision::Double)->layers[0];
}

std::string spelled(const Model& model) { return print(ideal_formula(model, {})->outputs[0]); }

TEST(RealNpu, MultipliesGatedPowers) {
  const Values W = {0.7, -1.2, 1.5, 0.4, -0.8, 2}, g = {0.3, 0.9, 1.4}, x = {1.25, -3, -0.5};
  const Values y = *predict(real_npu(W, g), x, Precision::Double);
  for (std::size_t o = 0; o < 2; ++o) {
    double size = 1, angle = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const double gate = std::min(1.0, std::max(0.0, g[i]));
      size *= std::pow(gate * (std::fabs(x[i]) + epsilon) + (1 - gate), W[2 * i + o]);
      angle += x[i] < 0 ? W[2 * i + o] * gate * pi : 0;
    }
    EXPECT_NEAR(y[o], size * std::cos(angle), 1e-13);
  }
}

TEST(RealNpu, WholePowersKeepTheSign) {
  EXPECT_NEAR(output_of(ungated({1}), {-3}), -3, 1e-6);
  EXPECT_NEAR(output_of(ungated({2}), {-3}), 9, 1e-5);
  EXPECT_NEAR(output_of(ungated({1, -1}), {-3, -2}), 1.5, 1e-6);
  EXPECT_NEAR(output_of(ungated({0.5}), {-4}), 0, 1e-14);  // the root of a negative number is imaginary
}

TEST(RealNpu, ClosedGateReplacesTheInputByOne) {
  EXPECT_EQ(output_of(real_npu({3}, {0}), {-7}), 1);
  EXPECT_EQ(output_of(real_npu({3}, {-2}), {-7}), 1);
}

TEST(RealNpu, GateGradientPassesOnTheClosedInterval) {
  const double W = 1.3, x = -2.5, size = 2.5 + epsilon;
  for (const double g : {0.0, 0.4, 1.0}) {
    const double r = g * size + (1 - g), angle = W * g * pi;
    const double expected =
        W * std::pow(r, W - 1) * (size - 1) * std::cos(angle) - std::pow(r, W) * std::sin(angle) * W * pi;
    EXPECT_NEAR(slopes(real_npu({W}, {g}), {x})[1], expected, 1e-12) << g;
  }
}

TEST(RealNpu, GateGradientIsExactlyZeroOutside) {
  for (const double g : {-1e-9, -3.0, 1 + 1e-9, 2.5}) {
    EXPECT_EQ(slopes(real_npu({1.3}, {g}), {-2.5})[1], 0) << g;
  }
}

TEST(RealNpu, SparsityErrorLooksAtPowersOnlyAndMayExceedOneHalf) {
  EXPECT_EQ(*sparsity_error(real_npu({1, -1}, {0.5, 0.5})), 0);
  EXPECT_EQ(*sparsity_error(ungated({1, 1.75})), 0.75);
  EXPECT_EQ(*sparsity_error(ungated({-3})), 2);
}

TEST(RealNpu, SpellsPowers) {
  EXPECT_EQ(spelled(ungated({1, -1})), "x1/x2");
  EXPECT_EQ(spelled(ungated({1, 1})), "x1*x2");
  EXPECT_EQ(spelled(ungated({0.9996, -2.0004})), "x1/x2^2");
  EXPECT_EQ(spelled(real_npu({1, 1}, {0, 1})), "x2");
  EXPECT_EQ(spelled(ungated({0})), "1");
}

TEST(RealNpu, SpellsTheRootWithItsPhase) {
  const Formula formula = *ideal_formula(ungated({0.5}), {"side length"});
  EXPECT_FALSE(formula.discrete);
  EXPECT_EQ(formula.notes, std::vector<std::string>{"W_re = 0.5 is not a discrete value"});
  const std::vector<std::string> names = {"side length"};
  EXPECT_DOUBLE_EQ(*evaluate(formula.outputs[0], names, Values{9}), 3);
  EXPECT_NEAR(*evaluate(formula.outputs[0], names, Values{-9}), 0, 1e-15);
}

TEST(RealNpu, UnusualInputsAreAsDescribed) {
  EXPECT_NEAR(output_of(ungated({1}), {0}) / epsilon, 1, 1e-13);
  EXPECT_NEAR(output_of(ungated({1}), {0}, Precision::Float) / epsilon, 1, 1e-5);
  EXPECT_TRUE(std::isnan(output_of(ungated({1}), {std::nan("")})));
  EXPECT_EQ(output_of(ungated({1}), {infinity}), infinity);
  EXPECT_EQ(output_of(ungated({-1}), {infinity}), 0);
  EXPECT_TRUE(std::isnan(output_of(ungated({0}), {infinity})));
  EXPECT_TRUE(std::isnan(output_of(real_npu({1}, {0}), {infinity})));
}

TEST(RealNpu, CosineStaysBoundedForHugePowers) {
  for (const Precision precision : {Precision::Float, Precision::Double}) {
    EXPECT_LE(std::fabs(output_of(ungated({1e20}), {-1 + epsilon}, precision)), 1);
  }
}

}  // namespace
}  // namespace nalm::real_npu_test
