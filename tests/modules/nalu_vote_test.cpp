// NALU-vote: its two parts, the loss that each of them has, the vote, and what the weights spell.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/aligned.hpp"
#include "nalm/model.hpp"
#include "nalm/train.hpp"
#include "simd/dispatch.hpp"
#include "train/network.hpp"

namespace nalm::nalu_vote_test {
namespace {

using Values = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();

// W_sum, then W_product, then the choices.
Model nalu_vote(const Values& parameters, int outputs = 1) {
  const int inputs = (static_cast<int>(parameters.size()) - outputs) / (2 * outputs);
  return {{{*find_module("NALU-vote"), {inputs, outputs, {}}, parameters}}, {}};
}

double output_of(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return (*predict(model, x, precision))[0];
}

// Half the gradient of its own loss for one row: of a layer that is the whole network, or of one that stands behind a
// NAU that passes its inputs on, whose gradient comes first.
template <class S>
Values slopes(const Values& parameters, const Values& x, double t, const Values* below = nullptr) {
  const Model model = nalu_vote(parameters);
  Stack stack = model.stack();
  if (below)
    stack.insert(stack.begin(), parse_stack("NAU:" + std::to_string(x.size()), static_cast<int>(x.size()))->front());
  Network<S> network(stack, simd::active_target());
  const std::size_t lanes = static_cast<std::size_t>(network.lanes());
  for (int lane = 0; lane < network.lanes(); ++lane) {
    if (below) network.set_parameters(lane, 0, *below);
    network.set_parameters(lane, below ? 1 : 0, parameters);
  }
  network.update_weights();
  AlignedVector<S> in(x.size() * lanes), targets(lanes, static_cast<S>(t));
  for (std::size_t k = 0; k < in.size(); ++k) in[k] = static_cast<S>(x[k / lanes]);
  network.clear_gradients();
  network.learn(in.data(), targets.data(), 1, 1.0, nullptr, Loss{Loss::Kind::Own});
  network.pull_back();
  Values result = below ? network.gradients(0, 0) : Values();
  for (const double slope : network.gradients(0, below ? 1 : 0)) result.push_back(slope);
  return result;
}

std::string spelled(const Values& parameters) { return print(ideal_formula(nalu_vote(parameters), {})->outputs[0]); }

void expect_near(const Values& found, const Values& wanted, double within) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k) EXPECT_NEAR(found[k], wanted[k], within) << k;
}

TEST(NaluVote, TheChoiceTakesTheSumOrTheProduct) {
  EXPECT_NEAR(output_of(nalu_vote({0.5, -1, 1, -1, 1}), {6, -4}), 7, 1e-14);
  EXPECT_NEAR(output_of(nalu_vote({0.5, -1, 1, -1, 0}), {6, -4}), -1.5, 1e-14);
  EXPECT_NEAR(output_of(nalu_vote({0.5, -1, 1, -1, 0.51}), {6, -4}), 7, 1e-14);
  EXPECT_NEAR(output_of(nalu_vote({0.5, -1, 1, -1, 0.5}), {6, -4}), -1.5, 1e-14);
  // 9^0.5 / 16^0.75; one half rounds to 0, so that only the second sign counts.
  EXPECT_NEAR(output_of(nalu_vote({0, 0, 0.5, -0.75, 0}), {-9, -16}), -0.375, 1e-15);
}

TEST(NaluVote, EveryOutputHasAChoiceOfItsOwn) {
  const Values y = *predict(nalu_vote({1, 0, 1, 1, 0, 1, 0, 1, 1, 0}, 2), Values{3, 5}, Precision::Double);
  expect_near(y, {8, 15}, 1e-13);
}

// By hand: a = 0.2*5 - 0.4*3 = -0.2, exponent = 0.3 ln 5 - 0.6 ln 3.
TEST(NaluVote, EachPartLearnsWithALossOfItsOwnWhicheverIsChosen) {
  const double of_logarithm = 0.3 * std::log(5) - 0.6 * std::log(3) - std::log(2);
  for (const double choice : {0.0, 1.0}) {
    const Values wanted = {-2.2 * 5, -2.2 * -3, of_logarithm * std::log(5), of_logarithm * std::log(3), -1};
    expect_near(slopes<double>({0.2, 0.4, 0.3, -0.6, choice}, {5, -3}, 2), wanted, 1e-13);
    expect_near(slopes<float>({0.2, 0.4, 0.3, -0.6, choice}, {5, -3}, 2), wanted, 1e-5);
  }
}

TEST(NaluVote, TheProductLearnsFromMagnitudesAndNothingFromZero) {
  const Values parameters = {0, 0, 0.3, -0.6, 1};
  const Values plus = slopes<double>(parameters, {5, -3}, 2), minus = slopes<double>(parameters, {-5, 3}, -2);
  EXPECT_EQ(plus[2], minus[2]);
  EXPECT_EQ(plus[3], minus[3]);
  const Values zero = slopes<double>(parameters, {5, -3}, 0);
  EXPECT_EQ(zero[2], 0);
  EXPECT_EQ(zero[3], 0);
}

TEST(NaluVote, EverySampleHasOneVoteHoweverLargeItsTargetIs) {
  const Values parameters = {1, 1, 1, 1, 1};                   // 5 or 6 for x = 2 and 3
  EXPECT_EQ(slopes<double>(parameters, {2, 3}, 5.25)[4], -1);  // nearer to the sum: the choice rises
  EXPECT_EQ(slopes<double>(parameters, {2, 3}, 5.75)[4], 1);
  EXPECT_EQ(slopes<double>(parameters, {2, 3}, 1e30)[4], 0);  // too far away to tell
  EXPECT_EQ(slopes<double>(parameters, {2, 3}, 1e6)[4], 1);
  EXPECT_EQ(slopes<double>(parameters, {2, 2}, 7)[4], 0);  // 4 and 4
}

TEST(NaluVote, LayersBelowLearnFromTheChosenPart) {
  const Values identity = {1, 0, 0, 1}, x = {5, -3};
  const double of_logarithm = 0.3 * std::log(5) - 0.6 * std::log(3) - std::log(2);
  const Values sum = slopes<double>({0.2, 0.4, 0.3, -0.6, 1}, x, 2, &identity);
  expect_near({sum[0], sum[1], sum[2], sum[3]}, {-2.2 * 0.2 * 5, -2.2 * 0.4 * 5, -2.2 * 0.2 * -3, -2.2 * 0.4 * -3},
              1e-13);
  const Values product = slopes<double>({0.2, 0.4, 0.3, -0.6, 0}, x, 2, &identity);
  const double first = of_logarithm * 0.3 / 5, second = of_logarithm * -0.6 / -3;
  expect_near({product[0], product[1], product[2], product[3]}, {first * 5, second * 5, first * -3, second * -3},
              1e-13);
}

TEST(NaluVote, TheFastShapeLearnsAsTheOthersDo) {
  // Two inputs and one output have kernels of their own from four samples on, and 9 samples need both.
  const Values parameters = {0.2, 0.4, 0.3, -0.6, 1};
  Network<float> network(nalu_vote(parameters).stack(), simd::active_target());
  const std::size_t lanes = static_cast<std::size_t>(network.lanes());
  for (int lane = 0; lane < network.lanes(); ++lane) network.set_parameters(lane, 0, parameters);
  network.update_weights();
  AlignedVector<float> x(18 * lanes), t(9 * lanes);
  Values wanted(5, 0.0);
  for (std::size_t row = 0; row < 9; ++row) {
    const Values in = {1.5 + static_cast<double>(row), -0.75 - 0.5 * static_cast<double>(row)};
    const double target = row % 2 ? 3.0 : -1.25;
    for (std::size_t l = 0; l < lanes; ++l) {
      x[(2 * row) * lanes + l] = static_cast<float>(in[0]);
      x[(2 * row + 1) * lanes + l] = static_cast<float>(in[1]);
      t[row * lanes + l] = static_cast<float>(target);
    }
    const Values slope = slopes<double>(parameters, in, target);
    for (std::size_t k = 0; k < 5; ++k) wanted[k] += slope[k];
  }
  network.clear_gradients();
  network.learn(x.data(), t.data(), 9, 1.0, nullptr, Loss{Loss::Kind::Own});
  network.pull_back();
  expect_near(network.gradients(0, 0), wanted, 1e-3);
}

TEST(NaluVote, SparsityErrorLooksAtTheChosenPart) {
  EXPECT_EQ(*sparsity_error(nalu_vote({1, 0, 0.75, 0.5, 1})), 0);
  EXPECT_EQ(*sparsity_error(nalu_vote({1, 0.125, 1, -1, 0})), 0);
  EXPECT_EQ(*sparsity_error(nalu_vote({1, 0.125, 0.75, -1, 0})), 0.25);
}

TEST(NaluVote, SpellsTheChosenPart) {
  EXPECT_EQ(spelled({1, -1, 0.3, 0.2, 1}), "x1 - x2");
  EXPECT_EQ(spelled({0.3, 0.2, 0.9996, -1, 0.2}), "x1/x2");
  const Formula formula = *ideal_formula(nalu_vote({1, 1, 1, 0.75, 0}), {});
  EXPECT_EQ(formula.notes, (std::vector<std::string>{"W_product = 0.75 is not a discrete value"}));
}

TEST(NaluVote, RoundsWhatIsChosen) {
  const Result<Model> model = rounded(nalu_vote({0.3, 0.2, 0.9996, -0.9999, 0.0004}));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->layers[0].parameters, (Values{0.3, 0.2, 1, -1, 0}));
}

TEST(NaluVote, UnusualInputsAreAsDescribed) {
  EXPECT_TRUE(std::isnan(output_of(nalu_vote({1, 1, 1, 1, 1}), {std::nan(""), 2})));
  EXPECT_TRUE(std::isnan(output_of(nalu_vote({1, 1, 1, 0, 0}), {2, infinity})));
  EXPECT_NEAR(output_of(nalu_vote({1, 1, -1, 1, 0}), {0, 2}) / 1.65e38, 1, 0.01);
  EXPECT_NEAR(output_of(nalu_vote({1, 1, 1, 1, 0}), {1e30, 1e30}) / 1.65e38, 1, 0.01);
  EXPECT_EQ(output_of(nalu_vote({1, 1, 1, 1, 1}), {1e30, 1e30}, Precision::Float), 2e30f);
}

TEST(NaluVote, HasItsOwnLossAndVotes) {
  const ModuleInfo& module = **find_module("NALU-vote");
  EXPECT_FALSE(module.own_loss.empty());
  EXPECT_EQ(module.recipe().training.loss.kind, Loss::Kind::Own);
  EXPECT_EQ(module.operations.size(), 4u);
}

// A loss of its own that a module does not have is the squared error.
TEST(NaluVote, OtherModulesHaveNoLossOfTheirOwn) {
  const Model model{{{*find_module("NAU"), {1, 1, {}}, {0.5}}}, {}};
  for (const auto kind : {Loss::Kind::Own, Loss::Kind::Squared}) {
    Network<double> network(model.stack(), simd::active_target());
    const std::size_t lanes = static_cast<std::size_t>(network.lanes());
    for (int lane = 0; lane < network.lanes(); ++lane) network.set_parameters(lane, 0, Values{0.5});
    network.update_weights();
    AlignedVector<double> x(lanes, 4), t(lanes, 5);
    network.clear_gradients();
    network.learn(x.data(), t.data(), 1, 1.0, nullptr, Loss{kind});
    network.pull_back();
    EXPECT_EQ(network.gradients(0, 0), Values{-12});
  }
}

}  // namespace
}  // namespace nalm::nalu_vote_test
