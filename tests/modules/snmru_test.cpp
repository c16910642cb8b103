// sNMRU: the NMRU in evaluation, noise that only undecided weights feel in training, and what the weights spell.
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

namespace nalm::snmru_test {
namespace {

using Values = std::vector<double>;
using test::Noisy;
using test::noisy_factor;
using test::noisy_slope;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double pi = 3.14159265358979323846;
constexpr double epsilon = 1.1920929e-7;

Model of_module(const char* name, const Values& W, const Values& R, int outputs = 1) {
  Values parameters = W;
  parameters.insert(parameters.end(), R.begin(), R.end());
  return {{{*find_module(name), {static_cast<int>(W.size()) / outputs, outputs, {}}, parameters}}, {}};
}

Model snmru(const Values& W, const Values& R, int outputs = 1) { return of_module("sNMRU", W, R, outputs); }

Values outputs_of(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return *predict(model, x, precision);
}

std::string spelled(const Model& model) { return print(ideal_formula(model, {})->outputs[0]); }

const Values W6 = {0.3, 1, 0.8, 0.1, 0, 0.7}, R6 = {0.6, 0, 0.2, 0.9, 1, 0.4}, x3 = {-1.7, 2.3, -0.6};

TEST(Snmru, EvaluatesAsTheNmruInEveryBit) {
  for (const Precision precision : {Precision::Float, Precision::Double}) {
    EXPECT_EQ(outputs_of(snmru(W6, R6, 2), x3, precision), outputs_of(of_module("NMRU", W6, R6, 2), x3, precision));
  }
  EXPECT_NEAR(outputs_of(snmru({0.5}, {0.25}), {-2})[0], -0.92807765030734363, 1e-14);  // 1.5 * 0.875 * cos(3/4 pi)
  EXPECT_NEAR(outputs_of(snmru({1, 0}, {0, 1}), {3, -2})[0], -1.5, 1e-14);
}

TEST(Snmru, WithoutNoiseItLearnsAsTheNmru) {
  const Values t = {0.7, -1.3};
  const Values own = gradients(snmru(W6, R6, 2), x3, t, Precision::Double)->layers[0];
  const Values nmru = gradients(of_module("NMRU", W6, R6, 2), x3, t, Precision::Double)->layers[0];
  ASSERT_EQ(own.size(), nmru.size());
  for (std::size_t k = 0; k < own.size(); ++k) EXPECT_NEAR(own[k], nmru[k], 1e-12) << k;
}

TEST(Snmru, NoiseCancelsWhereWeightsAreDecided) {
  for (const Values& n : {Values{1, 1, 1}, Values{4.7, 1.9, 3.3}, Values{1.01, 5, 2.2}}) {
    const Noisy<double> noisy(snmru({1, 0, 0}, {0, 1, 0}), {3, -1.5, -7}, n);
    EXPECT_NEAR(noisy.training[0], 3 / (-1.5 + epsilon), 1e-13);
    EXPECT_NEAR(noisy.evaluation[0], -2, 1e-14);
  }
}

TEST(Snmru, NoiseMovesUndecidedWeights) {
  // 2.5 / 1.5 * 1 / 1.25 * cos(3/4 pi), with eps in the reciprocal.
  const Noisy<double> noisy(snmru({0.5}, {0.25}), {-2}, {2});
  EXPECT_NEAR(noisy.training[0], -4 * std::sqrt(2.0) / 6, 1e-7);
  EXPECT_NEAR(noisy.evaluation[0], -0.92807765030734363, 1e-14);
}

// Five samples are one block of four and one left over in the kernel that trains two inputs in float.
template <class S>
void expect_noise_of_its_own_for_every_sample(double tolerance) {
  const Values W = {0.3, 0.8}, R = {0.6, 0.1}, x = {-1.7, 2.3, 1.5, 0.4, 2, -0.9, 0.7, 1.1, -1.2, -2.1},
               n = {4, 2, 1, 3.5, 2.25, 1.75, 4.5, 1.25, 3, 5};
  const Noisy<S> noisy(snmru(W, R), x, n);
  Values expected(4);
  for (std::size_t k = 0; k < 5; ++k) {
    double size = 1, half_turns = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      const double z = x[2 * k + i], m = n[2 * k + i];
      size *= noisy_factor(W[i], std::fabs(z), m) * noisy_factor(R[i], 1 / std::fabs(z + epsilon), m);
      half_turns += z < 0 ? W[i] + R[i] : 0;
    }
    EXPECT_NEAR(noisy.training[k], size * std::cos(pi * half_turns), tolerance) << k;
    for (std::size_t i = 0; i < 2; ++i) {
      const double z = x[2 * k + i], m = n[2 * k + i], r = 1 / std::fabs(z + epsilon);
      const double turning = z < 0 ? -pi * size * std::sin(pi * half_turns) : 0;
      const double straight = size * std::cos(pi * half_turns);
      expected[i] += straight * noisy_slope(W[i], std::fabs(z), m) / noisy_factor(W[i], std::fabs(z), m) + turning;
      expected[2 + i] += straight * noisy_slope(R[i], r, m) / noisy_factor(R[i], r, m) + turning;
    }
  }
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(noisy.gradient[k], expected[k], 20 * tolerance) << k;
}

TEST(Snmru, EverySampleHasNoiseOfItsOwn) {
  expect_noise_of_its_own_for_every_sample<float>(2e-6);
  expect_noise_of_its_own_for_every_sample<double>(1e-13);
}

TEST(Snmru, SparsityErrorIsTheMeanOfBothMaxima) {
  EXPECT_EQ(*sparsity_error(snmru({1, 0}, {0, 1})), 0);
  EXPECT_EQ(*sparsity_error(snmru({1, 0.75}, {0.5, 0})), 0.375);
}

TEST(Snmru, SpellsProductsAndQuotients) {
  EXPECT_EQ(spelled(snmru({1, 1}, {0, 0})), "x1*x2");
  EXPECT_EQ(spelled(snmru({0.9996, 0}, {0.0004, 1})), "x1/x2");
  EXPECT_EQ(spelled(snmru({1, 0}, {1, 0})), "1");
  const Formula formula = *ideal_formula(snmru({1}, {0.25}), {});
  EXPECT_EQ(formula.notes, std::vector<std::string>{"R = 0.25 is not a discrete value"});
  EXPECT_FALSE(formula.discrete);
  EXPECT_NEAR(*evaluate(formula.outputs[0], std::vector<std::string>{"x1"}, Values{-2}),
              outputs_of(snmru({1}, {0.25}), {-2})[0], 1e-14);
}

TEST(Snmru, UnusualInputsAreThoseOfTheNmru) {
  EXPECT_TRUE(std::isnan(outputs_of(snmru({0, 1}, {0, 0}), {std::nan(""), 2})[0]));
  EXPECT_EQ(outputs_of(snmru({1}, {0}), {0})[0], 0);
  EXPECT_NEAR(outputs_of(snmru({0}, {1}), {0})[0] * 1.17549435e-38, 1, 1e-14);
  EXPECT_EQ(outputs_of(snmru({1}, {0}), {-infinity})[0], -infinity);
  EXPECT_TRUE(std::isnan(outputs_of(snmru({0}, {1}), {infinity})[0]));
  EXPECT_EQ(outputs_of(snmru({1}, {0}), {1e-17})[0], 0);
}

TEST(Snmru, RecipeIsThatOfTheNmruWithNoise) {
  const ModuleInfo &module = **find_module("sNMRU"), &nmru = **find_module("NMRU");
  EXPECT_TRUE(module.takes_noise);
  const Recipe own = module.recipe(), other = nmru.recipe();
  ASSERT_TRUE(own.training.noise);
  EXPECT_EQ((Values{own.training.noise->lo, own.training.noise->hi}), (Values{1, 5}));
  EXPECT_FALSE(own.training.noise->batch_adaptive);
  EXPECT_FALSE(other.training.noise);
  EXPECT_EQ(own.training.optimiser.learning_rate(), 1e-2);
  EXPECT_EQ(own.training.clip_norm, 1.0);
  EXPECT_EQ(own.training.loss.kind, Loss::Kind::Squared);
  EXPECT_EQ(own.training.iterations, other.training.iterations);
  ASSERT_EQ(own.layers[0].regularisers.size(), 1u);
  EXPECT_EQ(own.layers[0].regularisers[0].kind, Regulariser::Kind::Sparsity);
  for (const long e : {20000, 27500, 35000, 62500, 75000}) {
    EXPECT_EQ(own.layers[0].regularisers[0].coefficient(e), other.layers[0].regularisers[0].coefficient(e)) << e;
  }
}

TEST(Snmru, WeightsStartAroundOneHalfAndStayBetweenZeroAndOne) {
  const ModuleInfo& module = **find_module("sNMRU");
  ASSERT_EQ(module.parameters.size(), 2u);
  for (const ParameterInfo& p : module.parameters) {
    EXPECT_EQ(p.start.kind, modules::Start::Kind::Uniform) << p.name;
    EXPECT_EQ((Values{p.start.a, p.start.b}), (Values{0.25, 0.75})) << p.name;
    ASSERT_TRUE(p.clamp) << p.name;
    EXPECT_EQ((Values{p.clamp->lo, p.clamp->hi}), (Values{0, 1})) << p.name;
  }
}

}  // namespace
}  // namespace nalm::snmru_test
