// NRU with and without separate sign: golden values, the gate of training, and what the weights spell.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "nalm/model.hpp"

namespace nalm::nru_test {
namespace {

using Values = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();
const std::vector<std::string> both = {"NRU", "NRU-separate"};

Model of_module(const std::string& name, const Values& W, int outputs = 1) {
  return {{{*find_module(name), {static_cast<int>(W.size()) / outputs, outputs, {}}, W}}, {}};
}
Model nru(const Values& W) { return of_module("NRU", W); }
Model separate(const Values& W) { return of_module("NRU-separate", W); }

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

TEST(Nru, BlendsPowersWithOne) {
  const Values W = {0.7, -0.2, -0.4, 1, 0.6, -0.9}, x = {1.25, -3, -0.5};
  const Values signed_powers = *predict(of_module("NRU", W, 2), x, Precision::Double);
  const Values separate_signs = *predict(of_module("NRU-separate", W, 2), x, Precision::Double);
  for (std::size_t o = 0; o < 2; ++o) {
    double with_signs = 1, size = 1, signs = 1;
    for (std::size_t i = 0; i < 3; ++i) {
      const double w = W[2 * i + o], t = std::fabs(w), s = x[i] < 0 ? -1 : 1, power = std::pow(std::fabs(x[i]), w);
      with_signs *= s * power * t + 1 - t;
      size *= power * t + 1 - t;
      if (t > 0.5) signs *= s;
    }
    EXPECT_NEAR(signed_powers[o], with_signs, 1e-14);
    EXPECT_NEAR(separate_signs[o], size * signs, 1e-14);
  }
}

TEST(Nru, SignsDifferWhereWeightsAreUndecided) {
  EXPECT_NEAR(output_of(nru({0.75}), {-16}), -5.75, 1e-13);  // -8 * 0.75 + 0.25
  EXPECT_NEAR(output_of(separate({0.75}), {-16}), -6.25, 1e-13);
  EXPECT_NEAR(output_of(nru({-0.5}), {-4}), 0.25, 1e-14);
  EXPECT_NEAR(output_of(separate({-0.5}), {-4}), 0.75, 1e-14);  // one half rounds to 0
}

TEST(Nru, DecidedWeightsMultiplyAndDivideWithTheirSigns) {
  for (const std::string& name : both) {
    EXPECT_NEAR(output_of(of_module(name, {1, -1}), {3, -2}), -1.5, 1e-14) << name;
    EXPECT_NEAR(output_of(of_module(name, {-1, -1}), {-2, -4}), 0.125, 1e-15) << name;
    EXPECT_NEAR(output_of(of_module(name, {0, 1}), {-7, 5}), 5, 1e-14) << name;
  }
}

TEST(Nru, TrainsWithTheGateOpen) {
  for (const std::string& name : both) {
    // 9^0.5 in training, half of it and a half in evaluation.
    const Gradients g = *gradients(of_module(name, {0.5}), Values{9}, Values{1}, Precision::Double);
    EXPECT_NEAR(g.mse, 1, 1e-14) << name;
    EXPECT_NEAR(g.layers[0][0], 26.366694928034633, 1e-12) << name;  // 2 (3 - 1) 3 ln 9
    const Values decided = gradient(of_module(name, {1, -1}), {3, -2}, 1);
    EXPECT_NEAR(decided[0], 7.5 * std::log(3), 1e-13) << name;
    EXPECT_NEAR(decided[1], 7.5 * std::log(2), 1e-13) << name;
  }
}

TEST(Nru, OnlySeparateSignsAreRoundedWhileTraining) {
  EXPECT_NEAR(gradient(nru({0.25}), {-16}, 1)[0], 12 * std::log(16), 1e-12);  // y = -2
  EXPECT_NEAR(gradient(separate({0.25}), {-16}, 1)[0], 4 * std::log(16), 1e-12);
  EXPECT_NEAR(gradient(separate({0.75}), {-16}, -7)[0], 44.3614195558365, 1e-12);  // y = -8: 16 ln 16
}

TEST(Nru, GateOfTrainingClosesNearZeroAndAtZeroNothingMoves) {
  const double W = 0.0005, x = 9, th = std::tanh(0.5), gate = th * th, power = std::pow(x, W);
  const double y = power * gate + 1 - gate;
  const double slope = gate * power * std::log(x) + (power - 1) * 2 * th * (1 - gate) * 1000;
  for (const std::string& name : both) {
    EXPECT_NEAR(gradient(of_module(name, {W}), {x}, -3)[0], 2 * (y + 3) * slope, 1e-11) << name;
    EXPECT_EQ(gradient(of_module(name, {0, 1}), {x, 2}, -3)[0], 0) << name;
  }
}

TEST(Nru, SparsityErrorIsTheDistanceFromTheThreePowers) {
  for (const std::string& name : both) {
    EXPECT_EQ(*sparsity_error(of_module(name, {1, 0, -1})), 0) << name;
    EXPECT_EQ(*sparsity_error(of_module(name, {1, -0.75, 0.125})), 0.25) << name;
  }
}

TEST(Nru, SpellsProductsAndQuotients) {
  for (const std::string& name : both) {
    const auto spelled = [&](const Values& W) { return print(ideal_formula(of_module(name, W), {})->outputs[0]); };
    EXPECT_EQ(spelled({1, 1}), "x1*x2") << name;
    EXPECT_EQ(spelled({0.9996, -1}), "x1/x2") << name;
    EXPECT_EQ(spelled({-1, 0.0004}), "1/x1") << name;
    EXPECT_EQ(spelled({0, 0}), "1") << name;
  }
}

TEST(Nru, SaysThatHalfAWeightIsNotDiscrete) {
  const Formula formula = *ideal_formula(nru({1, 0.5}), {});
  EXPECT_EQ(print(formula.outputs[0]), "x1*(0.5*(sign(x2)*abs(x2)^0.5) + 0.5)");
  EXPECT_EQ(formula.notes, std::vector<std::string>{"W = 0.5 is not a discrete value"});
  EXPECT_FALSE(formula.discrete);
  const Formula separated = *ideal_formula(separate({-0.75, -0.25}), {});
  EXPECT_EQ(separated.notes,
            (std::vector<std::string>{"W = -0.75 is not a discrete value", "W = -0.25 is not a discrete value"}));
  const Values x = {-3, -2};
  EXPECT_NEAR(*evaluate(separated.outputs[0], std::vector<std::string>{"x1", "x2"}, x),
              output_of(separate({-0.75, -0.25}), x), 1e-14);
}

TEST(Nru, UnusualInputsGoThroughTheProduct) {
  for (const std::string& name : both) {
    EXPECT_TRUE(std::isnan(output_of(of_module(name, {0, 1}), {std::nan(""), 2}))) << name;
    EXPECT_TRUE(std::isnan(output_of(of_module(name, {0, 1}), {infinity, 2}))) << name;
    EXPECT_EQ(output_of(of_module(name, {1, 1}), {-infinity, 2}), -infinity) << name;
    EXPECT_EQ(output_of(of_module(name, {-1, 1}), {infinity, 2}), 0) << name;
    EXPECT_NEAR(output_of(of_module(name, {1}), {1e-30}, Precision::Float) / 1e-30, 1, 1e-5) << name;
    EXPECT_NEAR(output_of(of_module(name, {-1}), {-1e-37}) / -1e37, 1, 1e-12) << name;
  }
}

TEST(Nru, ZeroCountsAsTheSmallestFloatAndIsPositive) {
  for (const std::string& name : both) {
    EXPECT_NEAR(output_of(of_module(name, {1, 1}), {0, -2}) / -2.3509887e-38, 1, 1e-12) << name;
    EXPECT_EQ(output_of(of_module(name, {0}), {0}), 1) << name;
    EXPECT_NEAR(output_of(of_module(name, {-1}), {0}) * 1.17549435e-38, 1, 1e-12) << name;
    EXPECT_NEAR(output_of(of_module(name, {-1}), {-0.0}, Precision::Float) * 1.17549435e-38, 1, 2e-5) << name;
  }
}

TEST(Nru, RecipeHasLargeStepsAndAStrongRegulariser) {
  for (const std::string& name : both) {
    const Recipe r = (*find_module(name))->recipe();
    EXPECT_EQ(r.training.optimiser.kind, Optimiser::Kind::Adam);
    EXPECT_EQ(r.training.loss.kind, Loss::Kind::Squared);
    EXPECT_FALSE(r.training.clip_norm || r.training.clip_value || r.training.noise);
    ASSERT_EQ(r.layers[0].regularisers.size(), 1u);
    EXPECT_EQ(r.layers[0].regularisers[0].kind, Regulariser::Kind::Sparsity);
    EXPECT_EQ(r.training.optimiser.learning_rate(), 1);
    EXPECT_EQ(r.training.iterations, 50000);
    EXPECT_EQ(strengths(r.layers[0].regularisers[0], {20000, 27500, 35000, 50000}), (Values{0, 5, 10, 10}));
  }
}

TEST(Nru, WeightsStartAsThoseOfTheNauAndStayWithinOne) {
  for (const std::string& name : both) {
    const ModuleInfo& module = **find_module(name);
    ASSERT_EQ(module.parameters.size(), 1u);
    const ParameterInfo& W = module.parameters[0];
    EXPECT_EQ(W.start.kind, modules::Start::Kind::Nau);
    ASSERT_TRUE(W.clamp);
    EXPECT_EQ((Values{W.clamp->lo, W.clamp->hi}), (Values{-1, 1}));
    EXPECT_FALSE(module.takes_noise);
  }
}

}  // namespace
}  // namespace nalm::nru_test
