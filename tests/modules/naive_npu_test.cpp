// NaiveNPU: complex powers against std::complex, the NPU with open gates, and what the weights spell.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "nalm/model.hpp"

namespace nalm::naive_npu_test {
namespace {

using Values = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double pi = 3.14159265358979323846;
constexpr double epsilon = 1.1920929e-7;

Model naive_npu(const Values& W_re, const Values& W_im, int outputs = 1) {
  Values parameters = W_re;
  parameters.insert(parameters.end(), W_im.begin(), W_im.end());
  return {{{*find_module("NaiveNPU"), {static_cast<int>(W_re.size()) / outputs, outputs, {}}, parameters}}, {}};
}

Model real_powers(const Values& W) { return naive_npu(W, Values(W.size(), 0)); }

double output_of(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return (*predict(model, x, precision))[0];
}

// dy/dparameters: the gradient of (y - t)^2 with t = y - 1/2.
Values slopes(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return gradients(model, x, Values{output_of(model, x, precision) - 0.5}, precision)->layers[0];
}

std::string spelled(const Model& model) { return print(ideal_formula(model, {})->outputs[0]); }

const Values W_re = {0.7, -1.2, 1.5, 0.4, -0.8, 2}, W_im = {0.3, 0.2, -0.6, 0.1, 0.5, -0.4}, x3 = {1.25, -3, -0.5};

TEST(NaiveNpu, IsTheRealPartOfAComplexPower) {
  const Values y = *predict(naive_npu(W_re, W_im, 2), x3, Precision::Double);
  for (std::size_t o = 0; o < 2; ++o) {
    std::complex<double> exponent = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::complex<double> logarithm(std::log(std::fabs(x3[i]) + epsilon), x3[i] < 0 ? pi : 0);
      exponent += std::complex<double>(W_re[2 * i + o], W_im[2 * i + o]) * logarithm;
    }
    const double expected = std::exp(exponent).real();
    EXPECT_NEAR(y[o], expected, 1e-13 * std::max(1.0, std::fabs(expected)));
  }
  // mpmath: (2 + eps)^0.5 exp(-pi / 4) cos(pi / 2 + 0.25 ln(2 + eps))
  EXPECT_NEAR(output_of(naive_npu({0.5}, {0.25}), {-2}), -0.1111759188415971, 1e-15);
}

TEST(NaiveNpu, IsTheNpuWithOpenGates) {
  Values parameters = naive_npu(W_re, W_im, 2).layers[0].parameters;
  parameters.insert(parameters.end(), 3, 1.0);
  const Model npu = {{{*find_module("NPU"), {3, 2, {}}, parameters}}, {}};
  const Values y = *predict(naive_npu(W_re, W_im, 2), x3, Precision::Double);
  const Values gated = *predict(npu, x3, Precision::Double);
  for (std::size_t o = 0; o < 2; ++o) EXPECT_NEAR(y[o], gated[o], 1e-13 * std::max(1.0, std::fabs(y[o])));
  const Values t = {y[0] - 1, y[1] + 0.5};
  const Values own = gradients(naive_npu(W_re, W_im, 2), x3, t, Precision::Double)->layers[0];
  const Values other = gradients(npu, x3, t, Precision::Double)->layers[0];
  for (std::size_t k = 0; k < own.size(); ++k) {
    EXPECT_NEAR(own[k], other[k], 1e-11 * std::max(1.0, std::fabs(own[k]))) << k;
  }
}

TEST(NaiveNpu, WholePowersKeepTheSign) {
  EXPECT_NEAR(output_of(real_powers({2}), {-3}), 9, 1e-5);
  EXPECT_NEAR(output_of(real_powers({1, -1}), {3, -2}), -1.5, 1e-6);
  EXPECT_NEAR(output_of(real_powers({0.5}), {-4}), 0, 1e-14);
}

TEST(NaiveNpu, PositiveInputsGiveImaginaryPowersOfZeroNoGradient) {
  for (const Precision precision : {Precision::Float, Precision::Double}) {
    const Values slope = slopes(real_powers({0.7, -1.2}), {1.25, 3}, precision);
    EXPECT_NE(slope[0], 0);
    EXPECT_EQ(slope[2], 0);
    EXPECT_EQ(slope[3], 0);
  }
}

TEST(NaiveNpu, NegativeInputsMoveImaginaryPowers) {
  const double re = 0.7, im = 0.2, l = std::log(2.5 + epsilon);
  const double size = std::exp(re * l - im * pi), angle = re * pi + im * l;
  const Values slope = slopes(naive_npu({re}, {im}), {-2.5});
  EXPECT_NEAR(slope[0], size * (l * std::cos(angle) - pi * std::sin(angle)), 1e-13);
  EXPECT_NEAR(slope[1], size * (-pi * std::cos(angle) - l * std::sin(angle)), 1e-13);
}

TEST(NaiveNpu, SparsityErrorIsTheMeanOfBothPartsAndMayExceedOneHalf) {
  EXPECT_EQ(*sparsity_error(real_powers({0.75, 1})), 0.125);
  EXPECT_EQ(*sparsity_error(naive_npu({0.75, 1}, {0.5, 0})), 0.375);
  EXPECT_EQ(*sparsity_error(naive_npu({3}, {-2})), 1.5);
}

TEST(NaiveNpu, SpellsPowers) {
  EXPECT_EQ(spelled(real_powers({1, 1})), "x1*x2");
  EXPECT_EQ(spelled(naive_npu({1, -1}, {0, 0.0004})), "x1/x2");
  EXPECT_EQ(spelled(real_powers({0.0004, 2})), "x2^2");
  EXPECT_EQ(spelled(real_powers({0, 0})), "1");
}

TEST(NaiveNpu, SpellsComplexPowersInFull) {
  const Model model = naive_npu({0.5, 1, 0}, {0.25, -0.5, 0.75});
  const Formula formula = *ideal_formula(model, {});
  EXPECT_FALSE(formula.discrete);
  EXPECT_EQ(formula.notes,
            (std::vector<std::string>{"W_re = 0.5 is not a discrete value", "W_im = 0.25 is not a discrete value",
                                      "W_im = -0.5 is not a discrete value", "W_im = 0.75 is not a discrete value"}));
  const Values x = {-2, -3, -1.5};
  const double y = output_of(model, x);
  EXPECT_NEAR(*evaluate(formula.outputs[0], std::vector<std::string>{"x1", "x2", "x3"}, x) / y, 1, 1e-6);
}

TEST(NaiveNpu, UnusualInputsAreAsDescribed) {
  EXPECT_NEAR(output_of(real_powers({1}), {0}) / epsilon, 1, 1e-13);
  EXPECT_NEAR(output_of(real_powers({1}), {5e-324}) / epsilon, 1, 1e-13);
  EXPECT_NEAR(output_of(real_powers({1}), {0}, Precision::Float) / epsilon, 1, 1e-5);
  EXPECT_TRUE(std::isnan(output_of(real_powers({0, 1}), {std::nan(""), 2})));
  EXPECT_TRUE(std::isnan(output_of(real_powers({0, 1}), {infinity, 2})));
  EXPECT_TRUE(std::isnan(output_of(naive_npu({1}, {0.5}), {infinity})));
  for (const Precision precision : {Precision::Float, Precision::Double}) {
    EXPECT_LE(std::fabs(output_of(real_powers({1e20}), {-1 + epsilon}, precision)), 1);
  }
}

TEST(NaiveNpu, RecipeIsThatOfTheNpu) {
  const ModuleInfo& module = **find_module("NaiveNPU");
  const Recipe r = module.recipe();
  EXPECT_EQ(r.training.optimiser.kind, Optimiser::Kind::Adam);
  EXPECT_EQ(r.training.optimiser.learning_rate(), 5e-3);
  EXPECT_EQ(r.training.iterations, 50000);
  EXPECT_EQ(r.training.loss.kind, Loss::Kind::Squared);
  EXPECT_FALSE(r.training.clip_norm || r.training.clip_value || r.training.noise);
  ASSERT_EQ(r.layers[0].regularisers.size(), 1u);
  const Regulariser& l1 = r.layers[0].regularisers[0];
  EXPECT_EQ(l1.kind, Regulariser::Kind::L1);
  EXPECT_TRUE(l1.parameter.empty());
  const double first = 1e-7;
  EXPECT_DOUBLE_EQ(l1.coefficient(9999), first);
  EXPECT_DOUBLE_EQ(l1.coefficient(10000), 10 * first);
  EXPECT_DOUBLE_EQ(l1.coefficient(50000), 100 * first);
}

TEST(NaiveNpu, RealPowersStartAtRandomAndImaginaryOnesAtZeroWithoutBounds) {
  const ModuleInfo& module = **find_module("NaiveNPU");
  ASSERT_EQ(module.parameters.size(), 2u);
  EXPECT_EQ(module.parameters[0].start.kind, modules::Start::Kind::XavierUniform);
  EXPECT_EQ(module.parameters[1].start.kind, modules::Start::Kind::Constant);
  EXPECT_EQ(module.parameters[1].start.a, 0);
  for (const ParameterInfo& p : module.parameters) EXPECT_FALSE(p.clamp) << p.name;
}

}  // namespace
}  // namespace nalm::naive_npu_test
