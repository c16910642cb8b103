// NPU: complex powers against std::complex, and what makes it RealNPU.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "nalm/model.hpp"

namespace nalm::npu_test {
namespace {

using Values = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double pi = 3.14159265358979323846;
constexpr double epsilon = 1.1920929e-7;

Model npu(const Values& W_re, const Values& W_im, const Values& g) {
  const int inputs = static_cast<int>(g.size()), outputs = static_cast<int>(W_re.size()) / inputs;
  Values parameters = W_re;
  parameters.insert(parameters.end(), W_im.begin(), W_im.end());
  parameters.insert(parameters.end(), g.begin(), g.end());
  return {{{*find_module("NPU"), {inputs, outputs, {}}, parameters}}, {}};
}

Model real_npu(const Values& W, const Values& g) {
  const int inputs = static_cast<int>(g.size()), outputs = static_cast<int>(W.size()) / inputs;
  Values parameters = W;
  parameters.insert(parameters.end(), g.begin(), g.end());
  return {{{*find_module("RealNPU"), {inputs, outputs, {}}, parameters}}, {}};
}

double output_of(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return (*predict(model, x, precision))[0];
}

// dy/dparameters: the gradient of (y - t)^2 with t = y - 1/2.
Values slopes(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return gradients(model, x, Values{output_of(model, x, precision) - 0.5}, precision)->layers[0];
}

std::string spelled(const Model& model) { return print(ideal_formula(model, {})->outputs[0]); }

const Values W_re = {0.7, -1.2, 1.5, 0.4, -0.8, 2}, W_im = {0.3, 0.2, -0.6, 0.1, 0.5, -0.4}, g = {0.3, 0.9, 1.4},
             x = {1.25, -3, -0.5};

TEST(Npu, IsTheRealPartOfAComplexPower) {
  const Values y = *predict(npu(W_re, W_im, g), x, Precision::Double);
  for (std::size_t o = 0; o < 2; ++o) {
    std::complex<double> exponent = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const double gate = std::min(1.0, std::max(0.0, g[i]));
      const double r = gate * (std::fabs(x[i]) + epsilon) + (1 - gate), k = x[i] < 0 ? gate * pi : 0;
      exponent += std::complex<double>(W_re[2 * i + o], W_im[2 * i + o]) * std::complex<double>(std::log(r), k);
    }
    EXPECT_NEAR(y[o], std::exp(exponent).real(), 1e-13);
  }
}

TEST(Npu, WithoutImaginaryPowersIsRealNpuInEveryBit) {
  for (const Precision precision : {Precision::Float, Precision::Double}) {
    EXPECT_EQ(*predict(npu(W_re, Values(6, 0), g), x, precision), *predict(real_npu(W_re, g), x, precision));
  }
}

TEST(Npu, PositiveInputsGiveImaginaryPowersOfZeroNoGradient) {
  for (const Precision precision : {Precision::Float, Precision::Double}) {
    const Values slope = slopes(npu({0.7, -1.2}, {0, 0}, {0.5, 0.9}), {1.25, 3}, precision);
    EXPECT_NE(slope[0], 0);
    EXPECT_EQ(slope[2], 0);
    EXPECT_EQ(slope[3], 0);
  }
}

TEST(Npu, NegativeInputsMoveImaginaryPowers) {
  // y = exp(W_re ln r - W_im k) cos(W_re k + W_im ln r) with gate 1.
  const double re = 0.7, im = 0.2, r = 2.5 + epsilon, l = std::log(r);
  const double size = std::exp(re * l - im * pi), angle = re * pi + im * l;
  const Values slope = slopes(npu({re}, {im}, {1}), {-2.5});
  EXPECT_NEAR(slope[0], size * (l * std::cos(angle) - pi * std::sin(angle)), 1e-13);
  EXPECT_NEAR(slope[1], size * (-pi * std::cos(angle) - l * std::sin(angle)), 1e-13);
}

TEST(Npu, GateGradientPassesOnTheClosedIntervalOnly) {
  for (const double gate : {0.0, 1.0}) EXPECT_NE(slopes(npu({1.3}, {0.2}, {gate}), {-2.5})[2], 0) << gate;
  for (const double gate : {-1e-9, 1 + 1e-9}) EXPECT_EQ(slopes(npu({1.3}, {0.2}, {gate}), {-2.5})[2], 0) << gate;
}

TEST(Npu, SparsityErrorIsTheMeanOfBothPartsAndMayExceedOneHalf) {
  EXPECT_EQ(*sparsity_error(npu({0.75, 1}, {0, 0}, {0.5, 0.5})), 0.125);  // half of RealNPU's
  EXPECT_EQ(*sparsity_error(npu({0.75, 1}, {0.5, 0}, {1, 1})), 0.375);
  EXPECT_EQ(*sparsity_error(npu({3}, {-2}, {1})), 1.5);
}

TEST(Npu, SpellsRealPowersLikeRealNpu) {
  EXPECT_EQ(spelled(npu({1, -1}, {0, 0.0004}, {1, 1})), "x1/x2");
  EXPECT_EQ(spelled(npu({0, 2}, {0, 0}, {1, 1})), "x2^2");
}

TEST(Npu, SpellsImaginaryPowersInFull) {
  const Formula formula = *ideal_formula(npu({0}, {1}, {1}), {});
  EXPECT_TRUE(formula.discrete);
  EXPECT_NEAR(*evaluate(formula.outputs[0], std::vector<std::string>{"x1"}, Values{2}), std::cos(std::log(2)), 1e-15);
}

TEST(Npu, InfinityWithAnImaginaryPowerIsNan) {
  EXPECT_TRUE(std::isnan(output_of(npu({1}, {0.5}, {1}), {infinity})));
  EXPECT_EQ(output_of(npu({1}, {0}, {1}), {1e30}, Precision::Float) > 0.99e30, true);
  EXPECT_TRUE(std::isnan(output_of(npu({1}, {0}, {1}), {std::nan("")})));
}

}  // namespace
}  // namespace nalm::npu_test
