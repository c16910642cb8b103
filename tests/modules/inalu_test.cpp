// iNALU: golden values, the cap, the floor, the sign, and what the weights spell.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "nalm/model.hpp"

namespace nalm::inalu_test {
namespace {

using Values = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double one = 40;  // tanh and sigmoid of this are exactly 1

struct Parameters {
  Values W_hat_A, M_hat_A, W_hat_M, M_hat_M, g;
};

Model inalu(const Parameters& p) {
  Values all;
  for (const Values* v : {&p.W_hat_A, &p.M_hat_A, &p.W_hat_M, &p.M_hat_M, &p.g}) {
    all.insert(all.end(), v->begin(), v->end());
  }
  const int outputs = static_cast<int>(p.g.size()), inputs = static_cast<int>(p.W_hat_A.size()) / outputs;
  return {{{*find_module("iNALU"), {inputs, outputs, {}}, all}}, {}};
}

// Only the product, with raw parameters for its weights.
Model product(const Values& W_hat, const Values& M_hat) {
  return inalu({Values(W_hat.size(), 0), Values(W_hat.size(), 0), W_hat, M_hat, {-800}});
}

double output_of(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return (*predict(model, x, precision))[0];
}

// dy/dparameters: the gradient of (y - t)^2 with t = y - 1/2.
Values slopes(const Model& model, const Values& x) {
  return gradients(model, x, Values{output_of(model, x) - 0.5}, Precision::Double)->layers[0];
}

double squash(double z) { return 1 / (1 + std::exp(-z)); }
double weight(double W_hat, double M_hat) { return std::tanh(W_hat) * squash(M_hat); }
double sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

TEST(INalu, MixesSumAndSignedProduct) {
  const Parameters p = {{0.3, -1.2, 2.1, 0.7, -0.4, 5},
                        {0.1, 0.9, -2, 1.5, 3, -0.6},
                        {1.1, 0.2, -0.8, 1.7, 0.9, -2},
                        {0.4, -0.9, 1, 2.5, -1, 0.6},
                        {0.3, -0.7}};
  const Values x = {1.25, -3, 0.5}, y = *predict(inalu(p), x, Precision::Double);
  for (std::size_t o = 0; o < 2; ++o) {
    double a = 0, exponent = 0, s = 1;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t k = 2 * i + o;
      const double WM = weight(p.W_hat_M[k], p.M_hat_M[k]);
      a += x[i] * weight(p.W_hat_A[k], p.M_hat_A[k]);
      exponent += WM * std::log(std::max(std::fabs(x[i]), 1e-7));
      s *= sign_of(x[i]) * std::fabs(WM) + 1 - std::fabs(WM);
    }
    const double g = squash(p.g[o]), m = std::exp(std::min(exponent, 20.0));
    EXPECT_NEAR(y[o], g * a + (1 - g) * m * s, 1e-13);
  }
}

TEST(INalu, ProductKeepsItsSign) {
  const Model times = product({one, one}, {one, one});
  EXPECT_NEAR(output_of(times, {-2, 3}), -6, 1e-14);
  EXPECT_NEAR(output_of(times, {-2, -3}), 6, 1e-14);
  EXPECT_NEAR(output_of(product({one, -one}, {one, one}), {3, -2}), -1.5, 1e-14);
}

TEST(INalu, CapOfTwentyCutsTheProductAndItsGradient) {
  const Model model = product({2, 2}, {3, 3});
  const double WM = weight(2, 3);
  const Values below = {1e4, 1e4}, above = {1e6, 1e6};
  ASSERT_LT(2 * WM * std::log(1e4), 20);
  ASSERT_GT(2 * WM * std::log(1e6), 20);
  EXPECT_NEAR(output_of(model, above) / std::exp(20.0), 1, 1e-13);
  EXPECT_NE(slopes(model, below)[4], 0);
  const Values slope = slopes(model, above);
  for (std::size_t k = 4; k < 8; ++k) EXPECT_EQ(slope[k], 0) << k;
}

TEST(INalu, CapActsOnTheSumOfTheExponents) {
  // One exponent is above 20, their sum is not.
  EXPECT_NEAR(output_of(product({one, -one}, {one, one}), {1e10, 1e6}), 1e4, 1e-8);
}

TEST(INalu, MagnitudesBelowTheFloorCountAsTheFloor) {
  const Model model = product({one}, {one});
  EXPECT_NEAR(output_of(model, {1e-9}), 1e-7, 1e-20);
  EXPECT_NEAR(output_of(model, {-5e-324}), -1e-7, 1e-20);
  EXPECT_NEAR(output_of(model, {2e-7}), 2e-7, 1e-20);  // a maximum, not an addition
}

TEST(INalu, SignOfZeroIsZero) {
  EXPECT_EQ(output_of(product({one}, {one}), {0}), 0);
  const double WM = weight(one, 0);
  EXPECT_NEAR(output_of(product({one}, {0}), {0}), (1 - WM) * std::pow(1e-7, WM), 1e-16);
}

TEST(INalu, GradientFlowsThroughTheSignFactor) {
  const double t = std::tanh(0.8), s = squash(0.4), WM = t * s, x = -2.5;
  const double m = std::pow(2.5, WM), factor = 1 - 2 * WM;
  const double dWM = m * std::log(2.5) * factor + m * -2;
  const Values slope = slopes(product({0.8}, {0.4}), {x});
  EXPECT_NEAR(slope[2], dWM * (1 - t * t) * s, 1e-13);
  EXPECT_NEAR(slope[3], dWM * t * s * (1 - s), 1e-13);
}

TEST(INalu, GateGradientIsTheDifferenceOfThePaths) {
  const double g = squash(0.3), a = 2 * weight(1, 2), m = std::pow(2.0, weight(-1, 0.5));
  EXPECT_NEAR(slopes(inalu({{1}, {2}, {-1}, {0.5}, {0.3}}), {2})[4], (a - m) * g * (1 - g), 1e-13);
}

TEST(INalu, SparsityErrorIsTheMeanOfTwoMaximaWithoutTheGate) {
  const double A = weight(0.3, 0), M = weight(1, 0);
  EXPECT_NEAR(*sparsity_error(inalu({{0.3, one}, {0, one}, {one, 1}, {one, 0}, {0}})), (A + M) / 2, 1e-15);
  EXPECT_EQ(*sparsity_error(inalu({{one}, {one}, {-one}, {one}, {0}})), 0);
}

TEST(INalu, SpellsSumOrSignedProduct) {
  const auto spelled = [](const Model& model) { return print(ideal_formula(model, {})->outputs[0]); };
  EXPECT_EQ(spelled(inalu({{one, -one}, {one, one}, {0.3, 0.4}, {0, 0}, {one}})), "x1 - x2");
  EXPECT_EQ(spelled(product({one, -one}, {one, one})), "x1/x2");
  EXPECT_EQ(spelled(product({one, 0}, {one, one})), "x1");
}

TEST(INalu, PathBehindAClosedGateNeedsNoDiscreteWeights) {
  EXPECT_TRUE(ideal_formula(inalu({{one}, {one}, {0.3}, {0}, {one}}), {})->discrete);
  const Formula open = *ideal_formula(inalu({{one}, {one}, {one}, {one}, {0}}), {});
  EXPECT_EQ(print(open.outputs[0]), "0.5*x1 + 0.5*x1");
  EXPECT_EQ(open.notes, std::vector<std::string>{"gate = 0.5 is not a discrete value"});
}

TEST(INalu, UnusualInputsAreAsDescribed) {
  const Model times = product({one}, {one});
  EXPECT_TRUE(std::isnan(output_of(times, {std::nan("")})));
  EXPECT_NEAR(output_of(times, {1e30}, Precision::Float) / std::exp(20.0), 1, 1e-5);
  EXPECT_EQ(output_of(inalu({{one}, {one}, {one}, {one}, {one}}), {infinity}), infinity);
  EXPECT_TRUE(std::isnan(output_of(inalu({{0}, {one}, {one}, {one}, {one}}), {infinity})));
}

}  // namespace
}  // namespace nalm::inalu_test
