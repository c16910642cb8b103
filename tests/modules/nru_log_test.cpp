// NRU-log: golden values, the straight slope of its loss, and what the weights spell.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/aligned.hpp"
#include "nalm/model.hpp"
#include "simd/dispatch.hpp"
#include "train/network.hpp"

namespace nalm::nru_log_test {
namespace {

using Values = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();

Model nru_log(const Values& W, int outputs = 1) {
  return {{{*find_module("NRU-log"), {static_cast<int>(W.size()) / outputs, outputs, {}}, W}}, {}};
}

double output_of(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return (*predict(model, x, precision))[0];
}

// Half the gradient of the loss of its recipe for one row.
Values slopes_of_loss(const Values& W, const Values& x, double t) {
  const Model model = nru_log(W);
  Network<double> network(model.stack(), simd::active_target());
  const std::size_t lanes = static_cast<std::size_t>(network.lanes());
  for (int lane = 0; lane < network.lanes(); ++lane) network.set_parameters(lane, 0, W);
  network.update_weights();
  AlignedVector<double> in(x.size() * lanes), targets(lanes, t);
  for (std::size_t k = 0; k < in.size(); ++k) in[k] = x[k / lanes];
  const Loss loss = model.layers[0].module->recipe().training.loss;
  network.clear_gradients();
  network.learn(in.data(), targets.data(), 1, 1.0, nullptr, loss);
  network.pull_back();
  return network.gradients(0, 0);
}

std::string spelled(const Values& W) { return print(ideal_formula(nru_log(W), {})->outputs[0]); }

Values strengths(const Regulariser& r, const std::vector<long>& iterations) {
  Values result;
  for (const long e : iterations) result.push_back(r.coefficient(e));
  return result;
}

TEST(NruLog, MultipliesPowersOfMagnitudesAndRoundedSigns) {
  const Values W = {0.7, -0.2, -0.4, 1, 0.6, -0.9}, x = {1.25, -3, -0.5};
  const Values y = *predict(nru_log(W, 2), x, Precision::Double);
  for (std::size_t o = 0; o < 2; ++o) {
    double expected = 1;
    for (std::size_t i = 0; i < 3; ++i) {
      const double w = W[2 * i + o];
      expected *= std::pow(std::fabs(x[i]), w) * (x[i] < 0 && std::fabs(w) > 0.5 ? -1 : 1);
    }
    EXPECT_NEAR(y[o], expected, 1e-14);
  }
  EXPECT_NEAR(output_of(nru_log({0.5, -0.75}), {-9, -16}), -0.375, 1e-15);  // 3 / -8: one half rounds to 0
}

TEST(NruLog, DecidedWeightsMultiplyAndDivide) {
  EXPECT_NEAR(output_of(nru_log({1, -1}), {3, -2}), -1.5, 1e-14);
  EXPECT_NEAR(output_of(nru_log({-1, -1}), {-2, -4}), 0.125, 1e-15);
  EXPECT_NEAR(output_of(nru_log({0, 1}), {-7, 5}), 5, 1e-14);
}

TEST(NruLog, GradientOfTheSquaredErrorLeavesTheSignAlone) {
  const double y = -3 * std::sqrt(2);  // 9^0.5 * -(4^0.25 * 4^0.5) / 2
  const Values slope =
      gradients(nru_log({0.5, 0.75, -0.5}), Values{9, -4, -4}, Values{y - 0.5}, Precision::Double)->layers[0];
  EXPECT_NEAR(slope[0], y * std::log(9), 1e-13);
  EXPECT_NEAR(slope[1], y * std::log(4), 1e-13);
  EXPECT_NEAR(slope[2], y * std::log(4), 1e-13);
}

TEST(NruLog, LossIsBlindToSigns) {
  const double expected = (0.3 * std::log(5) - std::log(7)) * std::log(5);
  for (const double x : {5.0, -5.0}) {
    for (const double t : {7.0, -7.0}) EXPECT_NEAR(slopes_of_loss({0.3}, {x}, t)[0], expected, 1e-14) << x << " " << t;
  }
  EXPECT_NEAR(slopes_of_loss({1, -1}, {-6, 3}, 2)[0], 0, 1e-14);
}

TEST(NruLog, SlopeOfTheLossIsAStraightLineInEveryWeight) {
  const Values x = {-2.5, 0.3};
  for (const std::size_t k : {0u, 1u}) {
    const auto slope_at = [&](double w) {
      Values W = {0.4, -0.6};
      W[k] = w;
      return slopes_of_loss(W, x, 1.7)[k];
    };
    const double rise = std::pow(std::log(std::fabs(x[k])), 2);
    EXPECT_NEAR(slope_at(0) - slope_at(-1), rise, 1e-13) << k;
    EXPECT_NEAR(slope_at(1) - slope_at(0), rise, 1e-13) << k;
  }
}

TEST(NruLog, SparsityErrorIsTheDistanceFromTheThreePowers) {
  EXPECT_EQ(*sparsity_error(nru_log({1, 0, -1})), 0);
  EXPECT_EQ(*sparsity_error(nru_log({1, -0.75, 0.125})), 0.25);
}

TEST(NruLog, SpellsProductsAndQuotients) {
  EXPECT_EQ(spelled({1, 1}), "x1*x2");
  EXPECT_EQ(spelled({0.9996, -1}), "x1/x2");
  EXPECT_EQ(spelled({-1, 0.0004}), "1/x1");
  EXPECT_EQ(spelled({0, 0}), "1");
}

TEST(NruLog, SaysThatAnotherPowerIsNotDiscrete) {
  const Formula formula = *ideal_formula(nru_log({1, 0.75, -0.25}), {});
  EXPECT_EQ(print(formula.outputs[0]), "x1*abs(x2)^0.75/abs(x3)^0.25*sign(x2)");
  EXPECT_EQ(formula.notes,
            (std::vector<std::string>{"W = 0.75 is not a discrete value", "W = -0.25 is not a discrete value"}));
  EXPECT_FALSE(formula.discrete);
}

TEST(NruLog, UnusualInputsAreAsDescribed) {
  EXPECT_TRUE(std::isnan(output_of(nru_log({0, 1}), {std::nan(""), 2})));
  EXPECT_TRUE(std::isnan(output_of(nru_log({0, 1}), {infinity, 2})));
  EXPECT_EQ(output_of(nru_log({1, 1}), {-infinity, 2}), -infinity);
  EXPECT_EQ(output_of(nru_log({-1, 1}), {infinity, 2}), 0);
  EXPECT_NEAR(output_of(nru_log({1}), {1e-30}, Precision::Float) / 1e-30, 1, 1e-5);
  EXPECT_NEAR(output_of(nru_log({-1}), {-1e-37}) / -1e37, 1, 1e-12);
}

TEST(NruLog, ZeroCountsAsTheSmallestFloatAndIsPositive) {
  EXPECT_NEAR(output_of(nru_log({1, 1}), {0, -2}) / -2.3509887e-38, 1, 1e-12);
  EXPECT_EQ(output_of(nru_log({0}), {0}), 1);
  EXPECT_NEAR(output_of(nru_log({-1}), {0}) * 1.17549435e-38, 1, 1e-12);
  EXPECT_NEAR(output_of(nru_log({-1}), {-0.0}, Precision::Float) * 1.17549435e-38, 1, 2e-5);
}

TEST(NruLog, RecipeHasTheLogarithmicLossAndAWeakRegulariser) {
  const Recipe r = (*find_module("NRU-log"))->recipe();
  EXPECT_EQ(r.training.optimiser.kind, Optimiser::Kind::Adam);
  EXPECT_EQ(r.training.optimiser.learning_rate(), 1e-2);
  EXPECT_EQ(r.training.loss.kind, Loss::Kind::Log);
  EXPECT_FALSE(r.training.clip_norm || r.training.clip_value || r.training.noise);
  ASSERT_EQ(r.layers[0].regularisers.size(), 1u);
  EXPECT_EQ(r.layers[0].regularisers[0].kind, Regulariser::Kind::Sparsity);
  EXPECT_EQ(r.training.cool_down->factor(20000), 1);
  EXPECT_EQ(r.training.cool_down->factor(50000), 0);
  EXPECT_EQ(r.training.iterations, 50000);
  EXPECT_EQ(strengths(r.layers[0].regularisers[0], {20000, 27500, 35000, 50000}), (Values{0, 0.05, 0.1, 0.1}));
}

TEST(NruLog, WeightsStartAsThoseOfTheNauAndStayWithinOne) {
  const ModuleInfo& module = **find_module("NRU-log");
  ASSERT_EQ(module.parameters.size(), 1u);
  EXPECT_EQ(module.parameters[0].start.kind, modules::Start::Kind::Nau);
  ASSERT_TRUE(module.parameters[0].clamp);
  EXPECT_EQ((Values{module.parameters[0].clamp->lo, module.parameters[0].clamp->hi}), (Values{-1, 1}));
  EXPECT_TRUE(module.training_form.empty());
}

}  // namespace
}  // namespace nalm::nru_log_test
