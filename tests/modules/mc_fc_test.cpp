// MC-FC and its multiplicative variants: golden values, what one output leaves to learn, and what the weights spell.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "nalm/model.hpp"

namespace nalm::mc_fc_test {
namespace {

using Values = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double pi = 3.14159265358979323846;
constexpr double epsilon = 1.1920929e-7;
constexpr double open = 40;  // sigmoid of this is exactly 1
const std::vector<std::string> all_four = {"MC-FC", "MulMC-FC", "MulMC-FC-iNALU", "MulMC-FC-RealNPU"};
const std::vector<std::string> products = {"MulMC-FC", "MulMC-FC-iNALU", "MulMC-FC-RealNPU"};
const double ln3 = std::log(3.0);

struct Parameters {
  Values r, w, b, alpha, g;
};

// Parameters that a module does not have are left out.
Model of_module(const std::string& name, const Parameters& p) {
  Values all = p.r;
  all.insert(all.end(), p.w.begin(), p.w.end());
  all.insert(all.end(), p.b.begin(), p.b.end());
  if (name != "MC-FC") all.insert(all.end(), p.alpha.begin(), p.alpha.end());
  if (name == "MulMC-FC-RealNPU") all.insert(all.end(), p.g.begin(), p.g.end());
  const int outputs = static_cast<int>(p.w.size()), inputs = static_cast<int>(p.r.size()) / outputs;
  return {{{*find_module(name), {inputs, outputs, {}}, all}}, {}};
}

// One output that keeps everything.
Model whole(const std::string& name, std::size_t inputs) {
  return of_module(name, {Values(inputs, 0.3), {open}, {0}, {0}, Values(inputs, 1)});
}

Values outputs_of(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return *predict(model, x, precision);
}

// dy/dparameters of a model with one output: the gradient of (y - t)^2 with t = y - 1/2.
Values slopes(const Model& model, const Values& x) {
  return gradients(model, x, Values{outputs_of(model, x)[0] - 0.5}, Precision::Double)->layers[0];
}

std::string spelled(const Model& model) { return print(ideal_formula(model, {})->outputs[0]); }

double squash(double z) { return 1 / (1 + std::exp(-z)); }

const Parameters three_by_two = {
    {0.3, -1.2, 2.1, 0.7, -0.4, 1.6}, {0.5, -0.8}, {0.2, 0.1}, {-0.3, 0.4}, {0.9, 0.35, 0.6}};

// The definition on one output.
double expected_output(const std::string& name, const Parameters& p, const Values& x, std::size_t o) {
  double sum = 0, exponent = 0, signs = 1, half_turns = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double J = std::exp(p.r[2 * i + o]) / (std::exp(p.r[2 * i]) + std::exp(p.r[2 * i + 1]));
    sum += x[i] * J;
    exponent += J * std::log(name == "MulMC-FC" ? x[i] : std::fabs(x[i]) + epsilon);
    signs *= (x[i] < 0 ? -J : J) + 1 - J;
    half_turns += x[i] < 0 ? J * p.g[i] : 0;
  }
  const double gate = squash(p.w[o] + p.b[o]);
  if (name == "MC-FC") return gate * sum;
  const double size = std::exp(gate * exponent + p.alpha[o]);
  return name == "MulMC-FC-iNALU" ? size * signs : name == "MulMC-FC-RealNPU" ? size * std::cos(pi * half_turns) : size;
}

TEST(McFc, SharesInputsAmongOutputs) {
  const Values x = {1.25, -3, -0.5}, positive = {1.25, 3, 0.5};
  for (const std::string& name : all_four) {
    const Values& row = name == "MulMC-FC" ? positive : x;
    const Values y = outputs_of(of_module(name, three_by_two), row);
    for (std::size_t o = 0; o < 2; ++o) EXPECT_NEAR(y[o], expected_output(name, three_by_two, row, o), 1e-14) << name;
  }
}

TEST(McFc, OneToThreeAtHalfAGate) {
  const Parameters p = {{0, ln3}, {0.5, -2}, {-0.5, 2}, {0, 0}, {1}};
  const auto expect = [&](const std::string& name, double x, double first, double second) {
    const Values y = outputs_of(of_module(name, p), {x});
    EXPECT_NEAR(y[0], first, 1e-7) << name;
    EXPECT_NEAR(y[1], second, 1e-7) << name;
  };
  expect("MC-FC", -8, -1, -3);
  expect("MulMC-FC", 16, 1.4142135623730951, 2.8284271247461903);           // 16^(1/8), 16^(3/8)
  expect("MulMC-FC-iNALU", -16, 0.70710678118654757, -1.4142135623730951);  // times 1/2 and -1/2
  expect("MulMC-FC-RealNPU", -16, 1, -2);                                   // times cos(pi/4) and cos(3/4 pi)
}

TEST(McFc, OneOutputHasEverythingWhateverItLearns) {
  EXPECT_EQ(outputs_of(whole("MC-FC", 3), {2, 3, -10})[0], -5);
  for (const std::string& name : products) EXPECT_NEAR(outputs_of(whole(name, 3), {2, 3, 0.5})[0], 3, 1e-5) << name;
  EXPECT_NEAR(outputs_of(whole("MulMC-FC-iNALU", 3), {2, -3, 0.5})[0], -3, 1e-5);
  EXPECT_NEAR(outputs_of(whole("MulMC-FC-RealNPU", 3), {2, -3, -0.5})[0], 3, 1e-5);
  for (const std::string& name : all_four) {
    const Values slope = slopes(of_module(name, {{0.7, -1.3}, {0.2}, {0.1}, {0.4}, {0.5, 0.5}}), {2, 3});
    EXPECT_EQ(slope[0], 0) << name;
    EXPECT_EQ(slope[1], 0) << name;
    EXPECT_NE(slope[2], 0) << name;
  }
}

TEST(McFc, GateAndFactorGetTheRest) {
  const double gate = squash(0.3), change = gate * (1 - gate), sum = std::log(6), size = std::exp(gate * sum + 0.4);
  const Values added = slopes(of_module("MC-FC", {{0.7, -1.3}, {0.2}, {0.1}, {}, {}}), {2, 3});
  EXPECT_NEAR(added[2], 5 * change, 1e-14);
  EXPECT_NEAR(added[3], 5 * change, 1e-14);
  const Values slope = slopes(of_module("MulMC-FC", {{0.7, -1.3}, {0.2}, {0.1}, {0.4}, {}}), {2, 3});
  EXPECT_NEAR(slope[2], size * sum * change, 1e-13);
  EXPECT_NEAR(slope[3], size * sum * change, 1e-13);
  EXPECT_NEAR(slope[4], size, 1e-13);
}

TEST(McFc, SignGateTurnsTheProduct) {
  const double half_turns = 0.3, size = 6;
  const Values slope = slopes(of_module("MulMC-FC-RealNPU", {{0, 0}, {open}, {0}, {0}, {0.3, 0.8}}), {-2, 3});
  EXPECT_NEAR(slope[5], -size * std::sin(pi * half_turns) * pi, 1e-5);
  EXPECT_EQ(slope[6], 0);
}

TEST(McFc, SignFactorOfZeroStillMovesItsShare) {
  // A share of one half of a negative input: -1/2 + 1 - 1/2. Only the first output has an error.
  const Model model = of_module("MulMC-FC-iNALU", {{0, 0}, {open, open}, {0, 0}, {0, 0}, {}});
  EXPECT_EQ(outputs_of(model, {-4}), (Values{0, 0}));
  const Values g = gradients(model, Values{-4}, Values{-1, 0}, Precision::Double)->layers[0];
  EXPECT_NEAR(g[0], -1, 1e-6);  // J (1 - J) times -2 sqrt(4)
  EXPECT_NEAR(g[1], 1, 1e-6);
}

TEST(McFc, SparsityErrorIsTheMeanOverSharesGatesAndSignGates) {
  const Parameters p = {{0, ln3}, {0, open}, {0, 0}, {0.3, 0.3}, {0.125}};
  EXPECT_NEAR(*sparsity_error(of_module("MC-FC", p)), (0.25 + 0.5) / 2, 1e-15);
  EXPECT_NEAR(*sparsity_error(of_module("MulMC-FC", p)), (0.25 + 0.5) / 2, 1e-15);
  EXPECT_NEAR(*sparsity_error(of_module("MulMC-FC-iNALU", p)), (0.25 + 0.5) / 2, 1e-15);
  EXPECT_NEAR(*sparsity_error(of_module("MulMC-FC-RealNPU", p)), (0.25 + 0.5 + 0.125) / 3, 1e-15);
  for (const std::string& name : products) EXPECT_EQ(*sparsity_error(whole(name, 2)), 0) << name;
}

TEST(McFc, SpellsTheSumOrTheProductOfAll) {
  EXPECT_EQ(spelled(whole("MC-FC", 2)), "x1 + x2");
  EXPECT_EQ(spelled(of_module("MC-FC", {{0, 0}, {-open}, {0}, {}, {}})), "0");
  for (const std::string& name : products) {
    EXPECT_EQ(spelled(whole(name, 2)), "x1*x2") << name;
    const Formula two = *ideal_formula(
        of_module(name, {{open, -open, -open, open}, {open, open}, {0, 0}, {0.0004, 0}, {1, 1}}), {"a", "my b"});
    EXPECT_EQ(print(two.outputs[0]), "a") << name;
    EXPECT_EQ(print(two.outputs[1]), "\"my b\"") << name;
    EXPECT_TRUE(two.discrete) << name;
  }
  EXPECT_EQ(spelled(of_module("MulMC-FC-RealNPU", {{0, 0}, {open}, {0}, {0}, {0, 1}})), "abs(x1)*x2");
  EXPECT_EQ(spelled(of_module("MulMC-FC", {{0, 0}, {-open}, {0}, {0}, {}})), "1");
}

TEST(McFc, SaysWhatIsNotDiscrete) {
  const Formula half = *ideal_formula(of_module("MC-FC", {{0, 0}, {0}, {0}, {}, {}}), {});
  EXPECT_EQ(print(half.outputs[0]), "0.5*(x1 + x2)");
  EXPECT_EQ(half.notes, std::vector<std::string>{"gate = 0.5 is not a discrete value"});
  const Parameters p = {{0, ln3, -ln3, 0}, {0, 0}, {0, 0}, {0.5, -0.25}, {0.75, 0.25}};
  for (const std::string& name : products) {
    const Formula formula = *ideal_formula(of_module(name, p), {});
    EXPECT_FALSE(formula.discrete) << name;
    const std::vector<std::string> first = {"gate = 0.5 is not a discrete value", "alpha = 0.5 is not a discrete value",
                                            "J = 0.25 is not a discrete value"};
    ASSERT_GE(formula.notes.size(), 3u) << name;
    EXPECT_EQ(std::vector<std::string>(formula.notes.begin(), formula.notes.begin() + 3), first) << name;
    const Values x = {name == "MulMC-FC" ? 16.0 : -16.0, 3};
    const Values y = outputs_of(of_module(name, p), x);
    for (std::size_t o = 0; o < 2; ++o) {
      EXPECT_NEAR(*evaluate(formula.outputs[o], std::vector<std::string>{"x1", "x2"}, x), y[o], 1e-6) << name;
    }
  }
}

TEST(McFc, UnusualInputsAreAsDescribed) {
  const Parameters closed = {{0, 0}, {-800}, {0}, {0}, {1, 1}};
  const Parameters no_share = {{800, 0}, {open, open}, {0, 0}, {0, 0}, {1}};  // all goes to the first output
  for (const std::string& name : all_four) {
    EXPECT_TRUE(std::isnan(outputs_of(whole(name, 2), {std::nan(""), 2})[0])) << name;
    EXPECT_EQ(outputs_of(whole(name, 2), {infinity, 2})[0], infinity) << name;
    EXPECT_TRUE(std::isnan(outputs_of(of_module(name, closed), {infinity, 2})[0])) << name;
    EXPECT_EQ(outputs_of(of_module(name, no_share), {infinity})[0], infinity) << name;
    EXPECT_TRUE(std::isnan(outputs_of(of_module(name, no_share), {infinity})[1])) << name;
  }
  EXPECT_EQ(outputs_of(whole("MC-FC", 2), {-infinity, 2})[0], -infinity);
  EXPECT_EQ(outputs_of(whole("MulMC-FC-iNALU", 2), {-infinity, 2})[0], -infinity);
}

TEST(McFc, OnlyTheProductWithoutASignNeedsPositiveInputs) {
  for (const std::string& name : all_four) EXPECT_EQ((*find_module(name))->positive_inputs, name == "MulMC-FC") << name;
  for (const double x : {-2.0, -1e-30, -infinity}) {
    EXPECT_TRUE(std::isnan(outputs_of(whole("MulMC-FC", 2), {x, 2})[0])) << x;
  }
  EXPECT_NEAR(outputs_of(whole("MulMC-FC", 1), {0})[0] / 1.3817869668e-76, 1, 1e-9);  // the smallest float, squared
  EXPECT_EQ(outputs_of(whole("MulMC-FC", 1), {0}, Precision::Float)[0], 0);
}

TEST(McFc, ZeroCountsAsEpsilonAndItsSignAsZero) {
  EXPECT_EQ(outputs_of(whole("MulMC-FC-iNALU", 2), {0, 2})[0], 0);
  EXPECT_NEAR(outputs_of(whole("MulMC-FC-iNALU", 1), {-5e-324})[0] / epsilon, -1, 1e-13);
  for (const double x : {0.0, 5e-324}) {
    EXPECT_NEAR(outputs_of(whole("MulMC-FC-RealNPU", 1), {x})[0] / epsilon, 1, 1e-13) << x;
  }
}

TEST(McFc, RecipesPushSharesAndGatesOutwardsAndLeaveAlphaAlone) {
  const Recipe sum = (*find_module("MC-FC"))->recipe();
  ASSERT_EQ(sum.layers[0].regularisers.size(), 1u);
  EXPECT_EQ(sum.layers[0].regularisers[0].parameter, "");
  for (const std::string& name : all_four) {
    const Recipe r = (*find_module(name))->recipe();
    EXPECT_EQ(r.training.optimiser.kind, Optimiser::Kind::Adam) << name;
    EXPECT_EQ(r.training.optimiser.learning_rate(), 1e-3) << name;
    EXPECT_EQ(r.training.iterations, 50000) << name;
    EXPECT_EQ(r.training.loss.kind, Loss::Kind::Squared) << name;
    EXPECT_FALSE(r.training.clip_norm || r.training.clip_value || r.training.noise) << name;
    std::vector<std::string> covered;
    for (const Regulariser& regulariser : r.layers[0].regularisers) {
      covered.push_back(regulariser.parameter);
      const auto kind = regulariser.parameter == "g" ? Regulariser::Kind::Sparsity : Regulariser::Kind::Grow;
      EXPECT_EQ(regulariser.kind, kind) << name;
      EXPECT_EQ(regulariser.coefficient(20000), 0) << name;
      EXPECT_EQ(regulariser.coefficient(27500), 5) << name;
      EXPECT_EQ(regulariser.coefficient(50000), 10) << name;
    }
    std::vector<std::string> expected = {"r", "w", "b"};
    if (name == "MC-FC") expected = {""};
    if (name == "MulMC-FC-RealNPU") expected.push_back("g");
    EXPECT_EQ(covered, expected) << name;
  }
}

TEST(McFc, SharesAndGatesStartOrthogonalAndOnlyTheSignGateIsClamped) {
  const std::span<const ParameterInfo> parameters = (*find_module("MulMC-FC-RealNPU"))->parameters;
  ASSERT_EQ(parameters.size(), 5u);
  EXPECT_EQ(parameters[0].start.kind, modules::Start::Kind::Orthogonal);
  EXPECT_EQ(parameters[1].start.kind, modules::Start::Kind::Orthogonal);
  for (std::size_t k = 2; k < 5; ++k) EXPECT_EQ(parameters[k].start.kind, modules::Start::Kind::Constant) << k;
  EXPECT_EQ((Values{parameters[2].start.a, parameters[3].start.a, parameters[4].start.a}), (Values{0, 0, 0.5}));
  ASSERT_TRUE(parameters[4].clamp);
  EXPECT_EQ((Values{parameters[4].clamp->lo, parameters[4].clamp->hi}), (Values{0, 1}));
  for (std::size_t k = 0; k < 4; ++k) EXPECT_FALSE(parameters[k].clamp) << k;
  EXPECT_EQ((*find_module("MC-FC"))->parameters.size(), 3u);
  EXPECT_EQ((*find_module("MulMC-FC"))->parameters.size(), 4u);
  EXPECT_EQ((*find_module("MulMC-FC-iNALU"))->parameters.size(), 4u);
}

}  // namespace
}  // namespace nalm::mc_fc_test
