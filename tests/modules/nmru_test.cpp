// NMRU with and without separate sign: golden values, eps that only training has, and what the weights spell.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "nalm/model.hpp"

namespace nalm::nmru_test {
namespace {

using Values = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double pi = 3.14159265358979323846;
constexpr double epsilon = 1.1920929e-7;
const std::vector<std::string> both = {"NMRU", "NMRU-vanilla"};

Model of_module(const std::string& name, const Values& W, const Values& R, int outputs = 1) {
  Values parameters = W;
  parameters.insert(parameters.end(), R.begin(), R.end());
  return {{{*find_module(name), {static_cast<int>(W.size()) / outputs, outputs, {}}, parameters}}, {}};
}
Model nmru(const Values& W, const Values& R) { return of_module("NMRU", W, R); }
Model vanilla(const Values& W, const Values& R) { return of_module("NMRU-vanilla", W, R); }

double output_of(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return (*predict(model, x, precision))[0];
}

// Of (y - t)^2, with the y of training.
Values gradient(const Model& model, const Values& x, double t) {
  return gradients(model, x, Values{t}, Precision::Double)->layers[0];
}

Values strengths(const Regulariser& r, const std::vector<long>& iterations) {
  Values result;
  for (const long e : iterations) result.push_back(r.coefficient(e));
  return result;
}

TEST(Nmru, MultipliesInputsAndReciprocalsBlendedWithOne) {
  const Values W = {0.3, 1, 0.8, 0.1, 0, 0.7}, R = {0.6, 0, 0.2, 0.9, 1, 0.4}, x = {-1.7, 2.3, -0.6};
  const Values separate = *predict(of_module("NMRU", W, R, 2), x, Precision::Double);
  const Values together = *predict(of_module("NMRU-vanilla", W, R, 2), x, Precision::Double);
  for (std::size_t o = 0; o < 2; ++o) {
    double size = 1, half_turns = 0, product = 1;
    for (std::size_t i = 0; i < 3; ++i) {
      const double w = W[2 * i + o], v = R[2 * i + o], z = std::fabs(x[i]);
      size *= (z * w + 1 - w) * (v / z + 1 - v);
      half_turns += x[i] < 0 ? w + v : 0;
      product *= (x[i] * w + 1 - w) * (v / x[i] + 1 - v);
    }
    EXPECT_NEAR(separate[o], size * std::cos(pi * half_turns), 1e-14);
    EXPECT_NEAR(together[o], product, 1e-14);
  }
}

TEST(Nmru, SignsDifferWhereWeightsAreUndecided) {
  EXPECT_NEAR(output_of(nmru({0.5}, {0.25}), {-2}), -0.92807765030734363, 1e-14);  // 1.5 * 0.875 * cos(3/4 pi)
  EXPECT_EQ(output_of(vanilla({0.5}, {0.25}), {-2}), -0.5 * 0.625);
}

TEST(Nmru, DecidedWeightsMultiplyDivideAndCancel) {
  for (const std::string& name : both) {
    EXPECT_NEAR(output_of(of_module(name, {1, 0}, {0, 1}), {3, -2}), -1.5, 1e-14) << name;
    EXPECT_NEAR(output_of(of_module(name, {0, 0}, {1, 1}), {-2, -4}), 0.125, 1e-15) << name;
    EXPECT_NEAR(output_of(of_module(name, {1, 1}, {1, 0}), {-7, 5}), 5, 1e-14) << name;
  }
}

TEST(Nmru, EpsilonIsThereInTrainingOnly) {
  const double q = 1 / epsilon;
  for (const std::string& name : both) {
    const Model reciprocal = of_module(name, {0}, {1});
    EXPECT_NEAR(output_of(reciprocal, {0}) * 1.17549435e-38, 1, 1e-14) << name;
    const Values g = gradient(reciprocal, {0}, 0);
    EXPECT_NEAR(g[0] / (2 * q * -q), 1, 1e-12) << name;
    EXPECT_NEAR(g[1] / (2 * q * (q - 1)), 1, 1e-12) << name;
    // Added to the input, not to its magnitude: closer to 0 on the negative side.
    const double y = 1 / (-1e-6 + epsilon);
    EXPECT_NEAR(gradient(reciprocal, {-1e-6}, 0)[1] / (2 * y * (name == "NMRU" ? y + 1 : y - 1)), 1, 1e-9) << name;
  }
}

TEST(Nmru, GradientTurnsTheSignToo) {
  const double W = 0.4, R = 0.3, r = 1 / (2.5 - epsilon), t = 0.7;
  const double fx = 2.5 * W + 1 - W, fr = r * R + 1 - R, c = std::cos(pi * (W + R)), s = std::sin(pi * (W + R));
  const Values g = gradient(nmru({W}, {R}), {-2.5}, t);
  EXPECT_NEAR(g[0], 2 * (fx * fr * c - t) * (1.5 * fr * c - fx * fr * pi * s), 1e-13);
  EXPECT_NEAR(g[1], 2 * (fx * fr * c - t) * (fx * (r - 1) * c - fx * fr * pi * s), 1e-13);
}

TEST(Nmru, VanillaGradientIsThatOfTheProduct) {
  const double W = 0.4, R = 0.3, r = -1 / (2.5 - epsilon), t = 0.7;
  const double fx = -2.5 * W + 1 - W, fr = r * R + 1 - R;
  const Values g = gradient(vanilla({W}, {R}), {-2.5}, t);
  EXPECT_NEAR(g[0], 2 * (fx * fr - t) * (-3.5 * fr), 1e-13);
  EXPECT_NEAR(g[1], 2 * (fx * fr - t) * (fx * (r - 1)), 1e-13);
}

TEST(Nmru, FactorOfZeroLeavesTheGradientOfItsOwnWeight) {
  // Inputs 0 and 1/2 with weight 1: y = 0.
  for (const std::string& name : both) {
    const Values g = gradient(of_module(name, {1, 1}, {0, 0}), {0, 0.5}, -0.5);
    EXPECT_NEAR(g[0], -0.5, 1e-14) << name;
    EXPECT_EQ(g[1], 0) << name;
  }
}

TEST(Nmru, SparsityErrorIsTheMeanOfBothMaxima) {
  for (const std::string& name : both) {
    EXPECT_EQ(*sparsity_error(of_module(name, {1, 0}, {0, 1})), 0) << name;
    EXPECT_EQ(*sparsity_error(of_module(name, {1, 0.75}, {0.5, 0})), 0.375) << name;
  }
}

TEST(Nmru, SpellsProductsAndQuotients) {
  for (const std::string& name : both) {
    const auto spelled = [&](const Values& W, const Values& R) {
      return print(ideal_formula(of_module(name, W, R), {})->outputs[0]);
    };
    EXPECT_EQ(spelled({1, 1}, {0, 0}), "x1*x2") << name;
    EXPECT_EQ(spelled({0.9996, 0}, {0.0004, 1}), "x1/x2") << name;
    EXPECT_EQ(spelled({0, 0}, {1, 0}), "1/x1") << name;
    EXPECT_EQ(spelled({1, 1}, {1, 0}), "x2") << name;
    EXPECT_EQ(spelled({0, 0}, {0, 0}), "1") << name;
  }
}

TEST(Nmru, SpellsUndecidedWeightsAsTheyAre) {
  const Values W = {0.5, 1, 0}, R = {0.25, 0, 0.75}, x = {-3, -2, -5};
  for (const std::string& name : both) {
    const Formula formula = *ideal_formula(of_module(name, W, R), {});
    EXPECT_FALSE(formula.discrete) << name;
    EXPECT_EQ(formula.notes,
              (std::vector<std::string>{"W = 0.5 is not a discrete value", "R = 0.25 is not a discrete value",
                                        "R = 0.75 is not a discrete value"}));
    EXPECT_NEAR(*evaluate(formula.outputs[0], std::vector<std::string>{"x1", "x2", "x3"}, x),
                output_of(of_module(name, W, R), x), 1e-14)
        << name;
  }
}

TEST(Nmru, UnusualInputsAreAsDescribed) {
  for (const std::string& name : both) {
    EXPECT_TRUE(std::isnan(output_of(of_module(name, {0, 1}, {0, 0}), {std::nan(""), 2}))) << name;
    EXPECT_EQ(output_of(of_module(name, {1}, {0}), {0}), 0) << name;
    EXPECT_NEAR(output_of(of_module(name, {1, 0}, {0, 1}), {3, 0}) * 1.17549435e-38, 3, 1e-13) << name;
    EXPECT_EQ(output_of(of_module(name, {1}, {0}), {-infinity}), -infinity) << name;
    EXPECT_TRUE(std::isnan(output_of(of_module(name, {0}, {1}), {infinity}))) << name;
    EXPECT_EQ(output_of(of_module(name, {1}, {0}), {1e-17}), 0) << name;
    EXPECT_EQ(output_of(of_module(name, {1}, {0}), {1e-8}, Precision::Float), 0) << name;
  }
}

TEST(Nmru, RecipeClipsTheNormAndHalvesTheStrengthOverTwoTensors) {
  for (const std::string& name : both) {
    const ModuleInfo& module = **find_module(name);
    const Recipe r = module.recipe();
    EXPECT_EQ(r.training.optimiser.kind, Optimiser::Kind::Adam);
    EXPECT_EQ(r.training.optimiser.learning_rate(), 1e-2);
    EXPECT_EQ(r.training.clip_norm, 1.0);
    EXPECT_EQ(r.training.loss.kind, Loss::Kind::Squared);
    EXPECT_FALSE(r.training.clip_value || r.training.noise);
    ASSERT_EQ(r.layers[0].regularisers.size(), 1u);
    EXPECT_EQ(r.layers[0].regularisers[0].kind, Regulariser::Kind::Sparsity);
    EXPECT_TRUE(r.layers[0].regularisers[0].parameter.empty());
    EXPECT_EQ(r.training.iterations, 50000);
    EXPECT_EQ(strengths(r.layers[0].regularisers[0], {20000, 27500, 35000, 50000}), (Values{0, 2.5, 5, 5}));
  }
}

TEST(Nmru, WeightsStartAroundOneHalfAndStayBetweenZeroAndOne) {
  for (const std::string& name : both) {
    const ModuleInfo& module = **find_module(name);
    ASSERT_EQ(module.parameters.size(), 2u);
    for (const ParameterInfo& p : module.parameters) {
      EXPECT_EQ(p.start.kind, modules::Start::Kind::Uniform) << p.name;
      EXPECT_EQ((Values{p.start.a, p.start.b}), (Values{0.25, 0.75})) << p.name;
      ASSERT_TRUE(p.clamp) << p.name;
      EXPECT_EQ((Values{p.clamp->lo, p.clamp->hi}), (Values{0, 1})) << p.name;
    }
  }
}

}  // namespace
}  // namespace nalm::nmru_test
