// Schloer's loop, learning rates that fall, and the absolute error: habits of tasks other than the single module one.
#include <gtest/gtest.h>

#include <cmath>

#include "nalm/model.hpp"
#include "train/bundle.hpp"

namespace nalm::phases_test {
namespace {

// One iNALU layer with two inputs; its parameters in order, with the gate last.
struct OneLayer {
  explicit OneLayer(Recipe recipe, const char* text = "iNALU:1")
      : stack(*parse_stack(text, 2)), bundle(stack, std::move(recipe), simd::active_target()) {
    lanes = static_cast<std::size_t>(bundle.lanes());
    for (int l = 0; l < bundle.lanes(); ++l) bundle.start(l, std::make_shared<Xoshiro>(5));
  }
  std::vector<double> parameters(int lane = 0) const { return bundle.network().parameters(lane, 0); }
  // One row, with a target per lane.
  void step(double x1, double x2, const std::vector<double>& targets) {
    AlignedVector<double> x(2 * lanes), t(lanes);
    for (std::size_t l = 0; l < lanes; ++l) {
      x[l] = x1, x[lanes + l] = x2;
      t[l] = targets[l % targets.size()];
    }
    bundle.step(x.data(), t.data(), 1);
  }

  Stack stack;
  Bundle<double> bundle;
  std::size_t lanes = 0;
};

Recipe with_phases() {
  Recipe recipe;
  recipe.training.optimiser = RmsProp{.learning_rate = 0.01, .first_accumulator = 1, .epsilon_inside_root = true};
  recipe.training.phases = Phases{"g", 10, 8};
  recipe.layers.resize(1);
  return recipe;
}

TEST(Phases, TheGateRestsFirstAndThenMovesAlone) {
  OneLayer layer(with_phases());
  for (int e = 0; e < 20; ++e) {
    const std::vector<double> before = layer.parameters();
    layer.step(2, 3, {100});
    const std::vector<double> after = layer.parameters();
    const bool gate_moved = before.back() != after.back();
    const bool others_moved = !std::equal(before.begin(), before.end() - 1, after.begin());
    EXPECT_EQ(gate_moved, e % 10 >= 8) << e;
    EXPECT_EQ(others_moved, e % 10 < 8) << e;
  }
}

TEST(Phases, SaturationIsAStepOfItsOwnForRunsWhoseBatchWentWell) {
  Recipe recipe = with_phases();
  recipe.layers[0].regularisers = {Regulariser::saturate(0.05, -1)};
  // Without a learning signal only the regulariser moves parameters: away from 0, the gate as well.
  recipe.training.optimiser.rms_prop.epsilon_inside_root = true;
  OneLayer layer(recipe);
  if (layer.lanes < 2) GTEST_SKIP() << "one lane only";
  // What the network computes is the first lane's target; the second is far off.
  const Model model = layer.bundle.network().model(0);
  const double y = (*predict(model, std::vector<double>{2, 3}, Precision::Double))[0];
  const std::vector<double> before = layer.parameters(0);
  layer.step(2, 3, {y, y + 50});
  const std::vector<double> good = layer.parameters(0), bad = layer.parameters(1);
  for (std::size_t k = 0; k < before.size(); ++k) {
    if (before[k] == 0) continue;
    EXPECT_GT(std::fabs(good[k]), std::fabs(before[k])) << k;
  }
  // The gate of the other one had no step at all.
  EXPECT_EQ(bad.back(), before.back());
}

TEST(Phases, StuckRunsStartAgainInTheRange) {
  Recipe recipe = with_phases();
  recipe.training.optimiser.set_learning_rate(0);
  recipe.training.reinitialise = Reinitialise{10, 15, 1, 2.0};
  OneLayer layer(recipe);
  const std::vector<double> before = layer.parameters();
  for (int e = 0; e < 20; ++e) layer.step(2, 3, {1e3});
  EXPECT_EQ(layer.parameters(), before);  // 20 errors, but looked at in iterations 10 and 20 only
  layer.step(2, 3, {1e3});
  const std::vector<double> after = layer.parameters();
  EXPECT_NE(after, before);
  double largest = 0;
  for (const double value : after) largest = std::max(largest, std::fabs(value));
  EXPECT_LE(largest, 2);
  EXPECT_GT(largest, 0.5);
}

TEST(Decay, MultipliesTheLearningRate) {
  const Decay decay{0.1, 20};
  EXPECT_EQ(decay.at(0), 1);
  EXPECT_EQ(decay.at(19), 1);
  EXPECT_DOUBLE_EQ(decay.at(20), 0.1);
  EXPECT_DOUBLE_EQ(decay.at(59), 0.01);
  // Adam's first step is the learning rate, whatever the gradient.
  Recipe recipe;
  recipe.training.optimiser = Adam{.learning_rate = 0.25};
  recipe.training.decay = Decay{0.5, 1};
  recipe.layers.resize(1);
  OneLayer layer(recipe, "Linear:1");
  std::vector<double> before = layer.parameters();
  layer.step(2, 3, {1e6});
  EXPECT_NEAR(layer.parameters()[0] - before[0], 0.25, 1e-9);
  before = layer.parameters();
  layer.step(2, 3, {1e6});
  EXPECT_NEAR(layer.parameters()[0] - before[0], 0.125, 1e-5);
}

TEST(AbsoluteLoss, HasASlopeThatDoesNotGrowWithTheError) {
  for (const double target : {1e3, 1e6, -1e6}) {
    Recipe recipe;
    recipe.training.loss.kind = Loss::Kind::Absolute;
    recipe.layers.resize(1);
    OneLayer layer(recipe, "Linear:1");
    Network<double>& network = layer.bundle.network();
    const AlignedVector<double> x(2 * layer.lanes, 2.0), t(layer.lanes, target);
    network.update_weights();
    network.clear_gradients();
    // The factor of a mean over one sample: the slope of |y - t| is 1 or -1 times the input.
    network.learn(x.data(), t.data(), 1, 2, nullptr, recipe.training.loss);
    network.pull_back();
    EXPECT_EQ(network.gradients(0, 0), (target > 0 ? std::vector<double>{-2, -2, -1} : std::vector<double>{2, 2, 1}));
  }
}

}  // namespace
}  // namespace nalm::phases_test
