// NALU: golden values, the gradient that both paths share, and what the weights spell.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "nalm/model.hpp"

namespace nalm::nalu_test {
namespace {

using Values = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double one = 40;  // tanh and sigmoid of this are exactly 1

Model nalu(const Values& W_hat, const Values& M_hat, const Values& G, int outputs = 1) {
  Values parameters = W_hat;
  parameters.insert(parameters.end(), M_hat.begin(), M_hat.end());
  parameters.insert(parameters.end(), G.begin(), G.end());
  const int inputs = static_cast<int>(W_hat.size()) / outputs;
  return {{{*find_module("NALU"), {inputs, outputs, {}}, parameters}}, {}};
}

Values outputs_of(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return *predict(model, x, precision);
}

double squash(double z) { return 1 / (1 + std::exp(-z)); }
double weight(double W_hat, double M_hat) { return std::tanh(W_hat) * squash(M_hat); }

TEST(Nalu, MixesSumAndProductByAGate) {
  const Values W_hat = {0.3, -1.2, 2.1, 0.7, -0.4, 5}, M_hat = {0.1, 0.9, -2, 1.5, 3, -0.6}, x = {1.25, -3, 0.5},
               G = {0.2, -0.5, 0.7, 0.1, -0.3, 0.4};
  const Values y = outputs_of(nalu(W_hat, M_hat, G, 2), x);
  for (std::size_t o = 0; o < 2; ++o) {
    double a = 0, m = 1, z = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const double W = weight(W_hat[2 * i + o], M_hat[2 * i + o]);
      a += x[i] * W;
      m *= std::pow(std::fabs(x[i]) + 1e-7, W);
      z += x[i] * G[2 * i + o];
    }
    EXPECT_NEAR(y[o], squash(z) * a + (1 - squash(z)) * m, 1e-13);
  }
}

// The worked example of the survey's Appendix C: W = (1, -1, 0), gate 1.
TEST(Nalu, ExampleOfTheSurveySubtracts) {
  const Model model = nalu({20, -20, 0}, {40, 40, 40}, {20, 0, 0});
  EXPECT_NEAR(outputs_of(model, {2, 3, 4})[0], -1, 1e-15);
  EXPECT_NEAR(outputs_of(model, {2, 3, 4}, Precision::Float)[0], -1, 1e-6);
  // The gate looks at the input: a negative first input divides instead.
  EXPECT_NEAR(outputs_of(model, {-2, 3, 4})[0], (2 + 1e-7) / (3 + 1e-7), 1e-13);
}

TEST(Nalu, GradientsOfBothPathsMeetInTheSharedWeight) {
  const double W_hat = 0.6, M_hat = -0.3, G = 0.4, x = 2.5;
  const double t = std::tanh(W_hat), s = squash(M_hat), g = squash(G * x), logarithm = std::log(x + 1e-7);
  const double a = x * t * s, m = std::exp(t * s * logarithm), y = g * a + (1 - g) * m;
  const Values slope = gradients(nalu({W_hat}, {M_hat}, {G}), Values{x}, Values{y - 0.5}, Precision::Double)->layers[0];
  const double dW = g * x + (1 - g) * m * logarithm;
  EXPECT_NEAR(slope[0], dW * (1 - t * t) * s, 1e-13);
  EXPECT_NEAR(slope[1], dW * t * s * (1 - s), 1e-13);
  EXPECT_NEAR(slope[2], (a - m) * g * (1 - g) * x, 1e-13);
}

TEST(Nalu, SparsityErrorDoesNotCountTheGate) {
  EXPECT_EQ(*sparsity_error(nalu({one, -one}, {one, one}, {0.5, 0.3})), 0);
  EXPECT_DOUBLE_EQ(*sparsity_error(nalu({1, -one}, {0, one}, {0.5, 0.5})), weight(1, 0));
}

TEST(Nalu, SpellsTheGateBecauseItDependsOnTheInput) {
  const Formula formula = *ideal_formula(nalu({one, -one}, {one, one}, {0.5, -2}), {});
  EXPECT_EQ(print(formula.outputs[0]),
            "sigmoid(0.5*x1 - 2*x2)*(x1 - x2) + (1 - sigmoid(0.5*x1 - 2*x2))*(abs(x1)/abs(x2))");
  EXPECT_TRUE(formula.discrete);
}

TEST(Nalu, GateOfWeightZeroIsOneHalf) {
  const Formula formula = *ideal_formula(nalu({one, one}, {one, one}, {0, 0}), {"a b", "c"});
  EXPECT_EQ(print(formula.outputs[0]), "0.5*(\"a b\" + c) + 0.5*(abs(\"a b\")*abs(c))");
}

TEST(Nalu, UnusualInputsAreAsDescribed) {
  const Model sum = nalu({one}, {one}, {40});
  EXPECT_TRUE(std::isnan(outputs_of(sum, {std::nan("")})[0]));
  EXPECT_TRUE(std::isnan(outputs_of(sum, {infinity})[0]));  // the closed product is 0 times infinity
  EXPECT_NEAR(outputs_of(nalu({one}, {one}, {0}), {0})[0], 0.5e-7, 1e-20);
  const Model half = nalu({one, one}, {one, one}, {0, 0});
  EXPECT_EQ(outputs_of(half, {1e30, 1e30}, Precision::Float)[0], infinity);
  EXPECT_TRUE(std::isnan(outputs_of(nalu({one, one}, {one, one}, {1, 1}), {1e30, 1e30}, Precision::Float)[0]));
}

}  // namespace
}  // namespace nalm::nalu_test
