// G-NALU: NALU in base phi.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "nalm/model.hpp"

namespace nalm::g_nalu_test {
namespace {

using Values = std::vector<double>;

const double phi = (1 + std::sqrt(5.0)) / 2;

Model model_of(const char* module, const Values& W_hat, const Values& M_hat, const Values& G, int outputs = 1) {
  Values parameters = W_hat;
  parameters.insert(parameters.end(), M_hat.begin(), M_hat.end());
  parameters.insert(parameters.end(), G.begin(), G.end());
  const int inputs = static_cast<int>(W_hat.size()) / outputs;
  return {{{*find_module(module), {inputs, outputs, {}}, parameters}}, {}};
}

double golden_tanh(double z) { return (std::pow(phi, 2 * z) - 1) / (std::pow(phi, 2 * z) + 1); }
double golden_sigmoid(double z) { return 1 / (1 + std::pow(phi, -z)); }

const Values W_hat = {0.3, -1.2, 2.1, 0.7, -0.4, 5}, M_hat = {0.1, 0.9, -2, 1.5, 3, -0.6}, x = {1.25, -3, 0.5},
             G = {0.2, -0.5, 0.7, 0.1, -0.3, 0.4};

TEST(GNalu, SquashesInBasePhiEverywhere) {
  const Values y = *predict(model_of("G-NALU", W_hat, M_hat, G, 2), x, Precision::Double);
  for (std::size_t o = 0; o < 2; ++o) {
    double a = 0, exponent = 0, z = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const double W = golden_tanh(W_hat[2 * i + o]) * golden_sigmoid(M_hat[2 * i + o]);
      a += x[i] * W;
      exponent += W * std::log(std::fabs(x[i]) + 1e-7) / std::log(phi);
      z += x[i] * G[2 * i + o];
    }
    const double g = golden_sigmoid(z);
    EXPECT_NEAR(y[o], g * a + (1 - g) * std::pow(phi, exponent), 1e-13);
  }
}

TEST(GNalu, IsNaluWithArgumentsTimesTheLogarithmOfPhi) {
  const auto scaled = [](Values v) {
    for (double& value : v) value *= std::log(phi);
    return v;
  };
  const Values golden = *predict(model_of("G-NALU", W_hat, M_hat, G, 2), x, Precision::Double);
  const Values plain = *predict(model_of("NALU", scaled(W_hat), scaled(M_hat), scaled(G), 2), x, Precision::Double);
  for (std::size_t o = 0; o < 2; ++o) EXPECT_NEAR(golden[o], plain[o], 1e-13);
}

TEST(GNalu, GradientCarriesTheLogarithmOfPhi) {
  const double w = 0.6, m_hat = -0.3, gate = 0.4, input = 2.5;
  const double t = golden_tanh(w), s = golden_sigmoid(m_hat), g = golden_sigmoid(gate * input);
  const double logarithm = std::log(input + 1e-7), a = input * t * s, m = std::exp(t * s * logarithm);
  const double y = g * a + (1 - g) * m;
  const Values slope =
      gradients(model_of("G-NALU", {w}, {m_hat}, {gate}), Values{input}, Values{y - 0.5}, Precision::Double)->layers[0];
  const double dW = g * input + (1 - g) * m * logarithm;
  EXPECT_NEAR(slope[0], dW * std::log(phi) * (1 - t * t) * s, 1e-13);
  EXPECT_NEAR(slope[1], dW * std::log(phi) * t * s * (1 - s), 1e-13);
  EXPECT_NEAR(slope[2], (a - m) * std::log(phi) * g * (1 - g) * input, 1e-13);
}

TEST(GNalu, SaturatesLaterThanNalu) {
  const auto slope = [](const char* module) {
    return gradients(model_of(module, {9.3}, {0}, {40}), Values{2}, Values{0}, Precision::Float)->layers[0][0];
  };
  EXPECT_EQ(slope("NALU"), 0);
  EXPECT_NE(slope("G-NALU"), 0);
}

TEST(GNalu, SparsityErrorIsThatOfTheGoldenWeight) {
  EXPECT_NEAR(*sparsity_error(model_of("G-NALU", {1}, {0}, {0.5})), golden_tanh(1) * 0.5, 1e-15);
}

TEST(GNalu, SpellsTheSameOperationsAsNalu) {
  const Formula formula = *ideal_formula(model_of("GNALU", {90, -90}, {90, 90}, {0, 0}), {});
  EXPECT_EQ(print(formula.outputs[0]), "0.5*(x1 - x2) + 0.5*(abs(x1)/abs(x2))");
}

TEST(GNalu, UnusualInputsAreAsForNalu) {
  const Model model = model_of("G-NALU", {90}, {90}, {0});
  EXPECT_TRUE(std::isnan((*predict(model, Values{std::nan("")}, Precision::Double))[0]));
  EXPECT_NEAR((*predict(model, Values{0}, Precision::Double))[0], 0.5e-7, 1e-20);
}

}  // namespace
}  // namespace nalm::g_nalu_test
