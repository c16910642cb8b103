// NAC*: golden values, zeros, infinities, and what the weights spell.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "nalm/model.hpp"

namespace nalm::nac_mul_test {
namespace {

using Values = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double one = 40;  // tanh and sigmoid of this are exactly 1

Model nac_mul(const Values& W_hat, const Values& M_hat, int outputs = 1) {
  Values parameters = W_hat;
  parameters.insert(parameters.end(), M_hat.begin(), M_hat.end());
  const int inputs = static_cast<int>(W_hat.size()) / outputs;
  return {{{*find_module("NAC*"), {inputs, outputs, {}}, parameters}}, {}};
}

// Weights of 1, -1 and 0.
Model discrete(const Values& W) {
  Values W_hat;
  for (double w : W) W_hat.push_back(w * one);
  return nac_mul(W_hat, Values(W.size(), one));
}

Values outputs_of(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return *predict(model, x, precision);
}

// dy/dparameters: the gradient of (y - t)^2 with t = y - 1/2.
Values slopes(const Model& model, const Values& x, Precision precision = Precision::Double) {
  const double y = outputs_of(model, x, precision)[0];
  return gradients(model, x, Values{y - 0.5}, precision)->layers[0];
}

double weight(double W_hat, double M_hat) { return std::tanh(W_hat) / (1 + std::exp(-M_hat)); }

std::string spelled(const Model& model) { return print(ideal_formula(model, {})->outputs[0]); }

TEST(NacMul, MultipliesPowersOfMagnitudes) {
  const Values W_hat = {0.3, -1.2, 2.1, 0.7, -0.4, 5}, M_hat = {0.1, 0.9, -2, 1.5, 3, -0.6}, x = {1.25, -3, 0.5};
  const Values y = outputs_of(nac_mul(W_hat, M_hat, 2), x);
  for (std::size_t o = 0; o < 2; ++o) {
    double expected = 1;
    for (std::size_t i = 0; i < 3; ++i) {
      expected *= std::pow(std::fabs(x[i]) + 1e-7, weight(W_hat[2 * i + o], M_hat[2 * i + o]));
    }
    EXPECT_NEAR(y[o], expected, 1e-14 * expected);
  }
}

TEST(NacMul, LosesTheSign) {
  const double expected = (2 + 1e-7) / (3 + 1e-7);
  EXPECT_NEAR(outputs_of(discrete({1, -1}), {2, 3})[0], expected, 1e-15);
  EXPECT_NEAR(outputs_of(discrete({1, -1}), {-2, 3})[0], expected, 1e-15);
}

TEST(NacMul, GradientOfAWeightIsTheLogarithmTimesTheOutput) {
  const double W_hat = 0.6, M_hat = -0.3, x = -2.5;
  const double t = std::tanh(W_hat), s = 1 / (1 + std::exp(-M_hat)), logarithm = std::log(2.5 + 1e-7);
  const double dW = std::exp(t * s * logarithm) * logarithm;
  const Values g = slopes(nac_mul({W_hat}, {M_hat}), {x});
  EXPECT_NEAR(g[0], dW * (1 - t * t) * s, 1e-13);
  EXPECT_NEAR(g[1], dW * t * s * (1 - s), 1e-13);
}

TEST(NacMul, TanhThatRoundsToOneStopsTheGradientInFloatOnly) {
  EXPECT_EQ(slopes(nac_mul({9.3}, {0}), {2}, Precision::Float)[0], 0);
  EXPECT_NE(slopes(nac_mul({9.3}, {0}), {2})[0], 0);
}

TEST(NacMul, SparsityErrorIsThatOfTheProductOfTheSquashings) {
  EXPECT_DOUBLE_EQ(*sparsity_error(nac_mul({one, 1}, {one, 0})), weight(1, 0));
  EXPECT_EQ(*sparsity_error(discrete({1, -1, 0})), 0);
}

TEST(NacMul, SpellsProductsAndQuotientsOfMagnitudes) {
  EXPECT_EQ(spelled(discrete({1, -1})), "abs(x1)/abs(x2)");
  EXPECT_EQ(spelled(discrete({1, 0, 1})), "abs(x1)*abs(x3)");
  EXPECT_EQ(spelled(discrete({0, -1})), "1/abs(x2)");
  EXPECT_EQ(spelled(discrete({0})), "1");
  EXPECT_EQ(spelled(nac_mul({one}, {0})), "abs(x1)^0.5");
}

TEST(NacMul, ZeroAndDenormalsCountAsTheSmallNumber) {
  EXPECT_NEAR(outputs_of(discrete({1}), {0})[0], 1e-7, 1e-20);
  EXPECT_NEAR(outputs_of(discrete({-1}), {5e-324})[0], 1e7, 1e-6);
  EXPECT_NEAR(outputs_of(discrete({1}), {0}, Precision::Float)[0], 1e-7, 1e-12);
}

TEST(NacMul, InfinityGivesInfinityZeroOrNan) {
  EXPECT_EQ(outputs_of(discrete({1}), {-infinity})[0], infinity);
  EXPECT_EQ(outputs_of(discrete({-1}), {infinity})[0], 0);
  EXPECT_TRUE(std::isnan(outputs_of(discrete({0}), {infinity})[0]));
  EXPECT_TRUE(std::isnan(outputs_of(discrete({1}), {std::nan("")})[0]));
}

TEST(NacMul, ProductsBeyondTheLargestFloatAreInfinite) {
  EXPECT_EQ(outputs_of(discrete({1, 1}), {1e30, 1e30}, Precision::Float)[0], infinity);
  EXPECT_NEAR(outputs_of(discrete({1, 1}), {1e30, 1e30})[0] / 1e60, 1, 1e-12);
}

}  // namespace
}  // namespace nalm::nac_mul_test
