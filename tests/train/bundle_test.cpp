// The engine: a run's bits depend on nothing but the run, and each part of an iteration does what the recipe says.
#include "train/bundle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/aligned.hpp"
#include "modules/registry.hpp"
#include "nalm/model.hpp"
#include "nalm/train.hpp"
#include "train/start_values.hpp"

namespace nalm::bundle_test {
namespace {

using Values = std::vector<double>;

Stack stack_of(std::string_view text, int inputs) {
  const Result<Stack> stack = parse_stack(text, inputs);
  EXPECT_TRUE(stack.ok()) << stack.error().message;
  return *stack;
}

// ---- one run, with a look inside -----------------------------------------------------------------------------------

// Every lane does the same; lane 0 is looked at.
template <class S>
class OneRun {
 public:
  OneRun(const Stack& stack, const Recipe& recipe) : bundle_(stack, recipe, simd::active_target()) {}

  Bundle<S>& bundle() { return bundle_; }
  void set(int layer, const Values& values) {
    for (int l = 0; l < bundle_.lanes(); ++l) bundle_.network().set_parameters(l, layer, values);
  }
  void set_validation_error(double error) {
    for (int l = 0; l < bundle_.lanes(); ++l) bundle_.set_validation_error(l, error);
  }
  void step(const Values& x, const Values& t) {
    const AlignedVector<S> wide_x = spread(x), wide_t = spread(t);
    bundle_.step(wide_x.data(), wide_t.data(), static_cast<int>(t.size()) / bundle_.network().outputs());
  }
  Values parameters(int layer = 0) const { return bundle_.network().parameters(0, layer); }
  Values gradients(int layer = 0) const { return bundle_.network().gradients(0, layer); }  // of the last step

  AlignedVector<S> spread(const Values& values) const {
    AlignedVector<S> result;
    for (const double v : values)
      result.insert(result.end(), static_cast<std::size_t>(bundle_.lanes()), static_cast<S>(v));
    return result;
  }

 private:
  Bundle<S> bundle_;
};

Recipe plain_recipe(const Optimiser& optimiser = Adam{}) {
  Recipe recipe;
  recipe.training.optimiser = optimiser;
  recipe.layers.resize(1);
  return recipe;
}

Values random_values(Xoshiro& random, std::size_t n, double lo = -1, double hi = 1) {
  Values values(n);
  random.uniform(values, lo, hi);
  return values;
}

// ---- optimisers ----------------------------------------------------------------------------------------------------

// Adam in float as PyTorch computes it; bias corrections in double.
struct ScalarAdam {
  Adam settings;
  std::vector<float> m, v;
  int n = 0;

  ScalarAdam(const Adam& a, std::size_t size) : settings(a), m(size), v(size) {}

  Values step(Values p, const Values& gradient) {
    ++n;
    const float beta1 = static_cast<float>(settings.beta1), rest1 = static_cast<float>(1 - settings.beta1);
    const float beta2 = static_cast<float>(settings.beta2), rest2 = static_cast<float>(1 - settings.beta2);
    const float size = static_cast<float>(settings.learning_rate / (1 - std::pow(settings.beta1, n)));
    const float correction = static_cast<float>(std::sqrt(1 - std::pow(settings.beta2, n)));
    for (std::size_t k = 0; k < p.size(); ++k) {
      const float g = static_cast<float>(gradient[k]);
      m[k] = beta1 * m[k] + rest1 * g;
      v[k] = beta2 * v[k] + rest2 * g * g;
      const float root = std::sqrt(v[k]) / correction + static_cast<float>(settings.epsilon);
      p[k] = static_cast<float>(p[k]) - size * m[k] / root;
    }
    return p;
  }
};

void expect_floats_near(const Values& values, const Values& wanted) {
  ASSERT_EQ(values.size(), wanted.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    EXPECT_FLOAT_EQ(static_cast<float>(values[k]), static_cast<float>(wanted[k])) << k;
  }
}

// Runs a bundle and an optimiser side by side: each step starts from the bundle's parameters and gradients.
template <class ScalarOptimiser>
void expect_same_steps(const Optimiser& settings, ScalarOptimiser optimiser) {
  OneRun<float> run(stack_of("NAC+:1", 2), plain_recipe(settings));
  run.set(0, {0.3, -0.4, 0.1, 2});
  Xoshiro random(1);
  for (int e = 0; e < 200; ++e) {
    const Values before = run.parameters();
    run.step(random_values(random, 16), random_values(random, 8));
    ASSERT_NO_FATAL_FAILURE(expect_floats_near(run.parameters(), optimiser.step(before, run.gradients()))) << e;
    if (testing::Test::HasFailure()) return;
  }
}

TEST(AdamSteps, AreThoseOfAScalarProgram) {
  expect_same_steps(Adam{}, ScalarAdam(Adam{}, 4));
  const Adam fast{.learning_rate = 5e-3, .beta1 = 0.8, .beta2 = 0.99, .epsilon = 1e-3};
  expect_same_steps(fast, ScalarAdam(fast, 4));
}

TEST(AdamSteps, AddEpsilonAfterTheBiasCorrection) {
  // A gradient of 1e-9 is below epsilon: the first step is lr * 1e-9 / (1e-9 + 1e-8), not lr.
  Recipe recipe = plain_recipe(Adam{.learning_rate = 1});
  recipe.layers[0].regularisers = {Regulariser::l1(1e-9, 1e-9)};
  OneRun<float> run(stack_of("NAU:1", 2), recipe);
  run.set(0, {0.5, -0.5});
  run.step({0, 0}, {0});
  EXPECT_NEAR(run.parameters()[0], 0.5 - 1.0 / 11, 1e-6);
  EXPECT_NEAR(run.parameters()[1], -0.5 + 1.0 / 11, 1e-6);
}

TEST(AdamSteps, LeaveAParameterWithoutGradientAlone) {
  OneRun<float> run(stack_of("NAU:1", 2), plain_recipe());
  run.set(0, {0.5, -0.25});
  for (int e = 0; e < 10; ++e) run.step({0, 1}, {0.5});
  EXPECT_EQ(run.parameters()[0], 0.5);
  EXPECT_NE(run.parameters()[1], -0.25);
}

struct ScalarRmsProp {
  float rate, decay, rest, epsilon;
  bool inside;
  std::vector<float> v;

  Values step(Values p, const Values& gradient) {
    for (std::size_t k = 0; k < p.size(); ++k) {
      const float g = static_cast<float>(gradient[k]);
      v[k] = decay * v[k] + rest * g * g;
      const float root = inside ? std::sqrt(v[k] + epsilon) : std::sqrt(v[k]) + epsilon;
      p[k] = static_cast<float>(p[k]) - rate * g / root;
    }
    return p;
  }
};

TEST(RmsPropSteps, OfTensorFlowStartAtOneWithEpsilonInsideTheRoot) {
  const RmsProp settings{
      .learning_rate = 1e-2, .decay = 0.9, .epsilon = 1e-3, .first_accumulator = 1, .epsilon_inside_root = true};
  expect_same_steps(settings, ScalarRmsProp{1e-2f, 0.9f, 0.1f, 1e-3f, true, std::vector<float>(4, 1.0f)});
}

TEST(RmsPropSteps, OfFluxStartAtZeroWithEpsilonOutsideTheRoot) {
  const RmsProp settings{.learning_rate = 5e-3, .decay = 0.9, .epsilon = 1e-2};
  expect_same_steps(settings, ScalarRmsProp{5e-3f, 0.9f, 0.1f, 1e-2f, false, std::vector<float>(4, 0.0f)});
}

TEST(RmsPropSteps, DifferInTheirFirstStep) {
  // Gradient 2*(0.5*1 - 0) = 1 for the one weight that has an input.
  const auto first_step = [](const RmsProp& settings) {
    OneRun<float> run(stack_of("NAU:1", 2), plain_recipe(settings));
    run.set(0, {0.5, 0});
    run.step({1, 0}, {0});
    return 0.5 - run.parameters()[0];
  };
  const RmsProp tensor_flow{.learning_rate = 0.01, .first_accumulator = 1, .epsilon_inside_root = true};
  EXPECT_NEAR(first_step(tensor_flow), 0.01, 1e-7);                               // v = 0.9 + 0.1
  EXPECT_NEAR(first_step({.learning_rate = 0.01}), 0.01 / std::sqrt(0.1), 1e-7);  // v = 0.1
}

TEST(Training, OfNauIsThatOfAScalarProgram) {
  // Everything by hand: forward, gradient, Adam, clamp. Sums are taken in another order, so not the same bits.
  OneRun<float> run(stack_of("NAU:1", 2), default_recipe(stack_of("NAU:1", 2)));
  Values w{-0.4, 0.3};
  run.set(0, w);
  ScalarAdam adam(Adam{}, 2);
  Xoshiro random(3);
  for (int e = 0; e < 1000; ++e) {
    const Values x = random_values(random, 2 * 128, 1, 2);
    Values t, gradient(2);
    for (std::size_t k = 0; k < 128; ++k) {
      t.push_back(x[2 * k] + x[2 * k + 1]);
      const double dy = 2 * (w[0] * x[2 * k] + w[1] * x[2 * k + 1] - static_cast<float>(t[k])) / 128;
      gradient[0] += dy * x[2 * k];
      gradient[1] += dy * x[2 * k + 1];
    }
    run.step(x, t);
    w = adam.step(w, gradient);
    for (double& value : w) value = std::clamp(value, -1.0, 1.0);
    ASSERT_NEAR(run.parameters()[0], w[0], 1e-4) << e;
    ASSERT_NEAR(run.parameters()[1], w[1], 1e-4) << e;
  }
  EXPECT_GT(w[0], 0);  // it did learn
}

// ---- clipping ------------------------------------------------------------------------------------------------------

TEST(Clipping, ByValueCutsEveryScalar) {
  const Stack stack = stack_of("NAU:2,NMU:1", 2);
  Recipe recipe = plain_recipe();
  OneRun<double> free(stack, recipe);
  recipe.training.clip_value = 0.1;
  OneRun<double> clipped(stack, recipe);
  for (OneRun<double>* run : {&free, &clipped}) {
    run->set(0, {0.5, -0.5, 0.001, 0.3});
    run->set(1, {0.5, 0.01});
    run->step({1, 0.01, -1, 0.02}, {3, -1});
  }
  bool some_cut = false, some_kept = false;
  for (int layer : {0, 1}) {
    const Values wanted = free.gradients(layer), got = clipped.gradients(layer);
    for (std::size_t k = 0; k < got.size(); ++k) {
      EXPECT_EQ(got[k], std::clamp(wanted[k], -0.1, 0.1));
      (std::abs(wanted[k]) > 0.1 ? some_cut : some_kept) = true;
    }
  }
  EXPECT_TRUE(some_cut);
  EXPECT_TRUE(some_kept);
}

TEST(Clipping, ByNormScalesTheGradientOfAllLayers) {
  const Stack stack = stack_of("NAU:2,NMU:1", 2);
  const auto gradients = [&](std::optional<double> limit) {
    Recipe recipe = plain_recipe();
    recipe.training.clip_norm = limit;
    OneRun<double> run(stack, recipe);
    run.set(0, {0.5, -0.5, 0.1, 0.3});
    run.set(1, {0.5, 0.1});
    run.step({1, 2, -1, 0.5}, {3, -1});
    Values all = run.gradients(0);
    for (const double g : run.gradients(1)) all.push_back(g);
    return all;
  };
  const auto norm = [](const Values& values) {
    double sum = 0;
    for (const double v : values) sum += v * v;
    return std::sqrt(sum);
  };
  const Values free = gradients({}), clipped = gradients(0.25);
  ASSERT_GT(norm(free), 0.5);
  EXPECT_NEAR(norm(clipped), 0.25, 1e-6);
  for (std::size_t k = 0; k < free.size(); ++k) EXPECT_NEAR(clipped[k], free[k] * 0.25 / norm(free), 1e-6) << k;
  EXPECT_EQ(gradients(2 * norm(free)), free);  // never scaled up
}

TEST(Clipping, ByValueComesAfterTheRegularisers) {
  Recipe recipe = plain_recipe();
  recipe.layers[0].regularisers = {Regulariser::l1(5, 5)};
  recipe.training.clip_value = 0.1;
  OneRun<float> run(stack_of("NAU:1", 2), recipe);
  run.set(0, {0.5, -0.5});
  run.step({0, 0}, {0});
  EXPECT_EQ(run.gradients(), (Values{0.1f, -0.1f}));
}

// ---- regularisers --------------------------------------------------------------------------------------------------

TEST(Regularisers, OfSparsityRampUpLinearly) {
  const Regulariser r = Regulariser::sparsity(0.01, 20000, 35000);
  EXPECT_EQ(r.coefficient(0), 0);
  EXPECT_EQ(r.coefficient(20000), 0);
  EXPECT_NEAR(r.coefficient(20001), 0.01 / 15000, 1e-18);
  EXPECT_DOUBLE_EQ(r.coefficient(27500), 0.005);
  EXPECT_LT(r.coefficient(34999), 0.01);
  EXPECT_EQ(r.coefficient(35000), 0.01);
  EXPECT_EQ(r.coefficient(50000), 0.01);
}

TEST(Regularisers, OfL1GrowTenfoldTwice) {
  const Regulariser mul = Regulariser::l1(1e-7, 1e-5), div = Regulariser::l1(1e-9, 1e-7);
  for (const auto& [e, factor] : {std::pair(0L, 1.0),
                                  {9999L, 1.0},
                                  {10000L, 10.0},
                                  {19999L, 10.0},
                                  {20000L, 100.0},
                                  {29999L, 100.0},
                                  {30000L, 100.0},
                                  {50000L, 100.0}}) {
    EXPECT_NEAR(mul.coefficient(e), 1e-7 * factor, 1e-19) << e;
    EXPECT_NEAR(div.coefficient(e), 1e-9 * factor, 1e-21) << e;
  }
}

TEST(Regularisers, OfSaturationStartAfterTheirIteration) {
  const Regulariser r = Regulariser::saturate(0.05, 10000);
  EXPECT_EQ(r.coefficient(0), 0);
  EXPECT_EQ(r.coefficient(10000), 0);
  EXPECT_EQ(r.coefficient(10001), 0.05);
}

TEST(Regularisers, OfTheModulesAreThoseOfThePaper) {
  const auto only = [](const char* module) {
    const std::vector<Regulariser> all = (*find_module(module))->recipe().layers[0].regularisers;
    EXPECT_EQ(all.size(), 1u) << module;
    return all.at(0);
  };
  EXPECT_EQ(only("NAU").coefficient(50000), 0.01);
  EXPECT_EQ(only("NAU").coefficient(27500), 0.005);
  EXPECT_EQ(only("NMU").coefficient(50000), 10);
  EXPECT_EQ(only("NMU").coefficient(20000), 0);
  EXPECT_EQ(only("iNALU").coefficient(10001), 0.05);
  for (const char* npu : {"NPU", "RealNPU"}) {
    EXPECT_EQ(only(npu).coefficient(0), 1e-7);
    EXPECT_NEAR(only(npu).coefficient(50000), 1e-5, 1e-18);
    EXPECT_EQ((*find_module(npu))->recipe().training.optimiser.learning_rate(), 5e-3);
  }
  for (const char* other : {"NAC+", "NAC*", "NALU", "G-NALU"}) {
    EXPECT_TRUE((*find_module(other))->recipe().layers[0].regularisers.empty()) << other;
  }
}

// The gradient of a regulariser alone: with inputs of zero, a NAU gets none from the data.
Values regulariser_gradient(const Regulariser& r, const Values& weights, double validation_error = 0.5) {
  const ModuleInfo* nau = *find_module("NAU");
  const Stack stack{{nau, default_shape(*nau, static_cast<int>(weights.size()), 1)}};
  Recipe recipe = plain_recipe();
  recipe.layers[0].regularisers = {r};
  OneRun<double> run(stack, recipe);
  run.set(0, weights);
  run.set_validation_error(validation_error);
  run.step(Values(weights.size()), {0});
  return run.gradients();
}

TEST(Regularisers, OfSparsityPullToZeroOrOne) {
  // min(|w|, |1 - |w||): slopes 1, -1 and, beyond 1, 1 again; nothing at 0 and at the tie. Mean over seven.
  const double c = 0.7 / 7;
  EXPECT_EQ(regulariser_gradient(Regulariser::sparsity(0.7, 0, 0), {0.3, 0.7, -0.3, -0.7, 0, 0.5, 1}),
            (Values{c, -c, -c, c, 0, 0, 0}));
}

TEST(Regularisers, OfSaturationPushAwayFromZeroUpToTwenty) {
  const double c = 0.05 / 4;
  const Regulariser r = Regulariser::saturate(0.05, -1);
  EXPECT_EQ(regulariser_gradient(r, {0.3, -0.3, 0, 25}), (Values{-c, c, 0, 0}));
  EXPECT_EQ(regulariser_gradient(r, {19.9, -19.9, -25, 0}), (Values{-c, c, 0, 0}));
}

TEST(Regularisers, OfSaturationWaitForASmallValidationError) {
  const Regulariser r = Regulariser::saturate(0.05, -1);
  EXPECT_EQ(regulariser_gradient(r, {0.3, -0.3}, 1), (Values{0, 0}));
  EXPECT_EQ(regulariser_gradient(r, {0.3, -0.3}, 0.999), (Values{-0.025, 0.025}));
  EXPECT_EQ(regulariser_gradient(r, {0.3, -0.3}, std::nan("")), (Values{0, 0}));
  EXPECT_EQ(regulariser_gradient(Regulariser::saturate(0.05, 0), {0.3, -0.3}), (Values{0, 0}));  // e > start
}

TEST(Regularisers, OfL1AreNotDividedByTheNumberOfWeights) {
  EXPECT_EQ(regulariser_gradient(Regulariser::l1(1e-7, 1e-5), {0.3, -0.9, 0}), (Values{1e-7, -1e-7, 0}));
}

TEST(Regularisers, WatchTheValidationErrorOfTheirOwnLane) {
  const Stack stack = stack_of("NAU:1", 2);
  Recipe recipe = plain_recipe();
  recipe.layers[0].regularisers = {Regulariser::saturate(0.05, -1)};
  Bundle<float> bundle(stack, recipe, simd::active_target());
  const std::size_t lanes = static_cast<std::size_t>(bundle.lanes());
  for (int l = 0; l < bundle.lanes(); ++l) {
    bundle.network().set_parameters(l, 0, Values{0.3, -0.3});
    bundle.set_validation_error(l, l % 2 == 0 ? 0.5 : 2.0);
  }
  const AlignedVector<float> x(2 * lanes), t(lanes);
  bundle.step(x.data(), t.data(), 1);
  for (int l = 0; l < bundle.lanes(); ++l) {
    EXPECT_EQ(bundle.network().gradients(l, 0)[0] != 0, l % 2 == 0) << l;
  }
}

TEST(Regularisers, CoverOneParameterIfItIsNamed) {
  const Stack stack = stack_of("RealNPU:1", 2);
  Recipe recipe = plain_recipe();
  recipe.layers[0].regularisers = {Regulariser::l1(0.5, 0.5)};
  recipe.layers[0].regularisers[0].parameter = "g";
  OneRun<double> run(stack, recipe);
  run.set(0, {0.3, -0.3, 1.5, -0.5});  // gates outside [0, 1] get nothing from the data
  run.step({1, 1}, {1});
  EXPECT_NE(run.gradients()[0], 0.5);
  EXPECT_EQ(run.gradients()[2], 0.5);
  EXPECT_EQ(run.gradients()[3], -0.5);
}

TEST(Regularisers, EnterTheIterationsTheRecipeSays) {
  // NAU as the paper trains it, on data that give no gradient; weights are put back before iterations of interest.
  const Stack stack = stack_of("NAU:1", 2);
  OneRun<float> run(stack, default_recipe(stack));
  const Values zero{0, 0}, target{0};
  const auto gradient_at = [&](long e) {
    while (run.bundle().iteration() < e) run.step(zero, target);
    run.set(0, {0.3, -0.7});
    run.step(zero, target);
    return run.gradients();
  };
  EXPECT_EQ(gradient_at(0), (Values{0, 0}));
  EXPECT_EQ(gradient_at(20000), (Values{0, 0}));
  EXPECT_EQ(gradient_at(27500), (Values{0.0025f, 0.0025f}));
  EXPECT_EQ(gradient_at(35000), (Values{0.005f, 0.005f}));
}

// ---- clamping ------------------------------------------------------------------------------------------------------

TEST(Clamping, KeepsNauWithinOneAndLeavesAdamAlone) {
  // A target out of reach drives both weights to the bound; then it changes sides, and the moments show in the way
  // back.
  OneRun<float> run(stack_of("NAU:1", 2), plain_recipe(Adam{.learning_rate = 0.02}));
  run.set(0, {0.95, -0.95});
  ScalarAdam adam(Adam{.learning_rate = 0.02}, 2);
  bool reached = false, left = false;
  for (int e = 0; e < 200; ++e) {
    const Values before = run.parameters();
    run.step({1, -1.5}, {e < 100 ? 5.0 : -5.0});
    Values wanted = adam.step(before, run.gradients());
    for (double& w : wanted) w = std::clamp(w, -1.0, 1.0);
    expect_floats_near(run.parameters(), wanted);
    reached = reached || run.parameters() == Values{1, -1};
    left = left || (reached && run.parameters()[0] < 1);
    if (HasFailure()) return;
  }
  EXPECT_TRUE(reached);
  EXPECT_TRUE(left);
}

TEST(Clamping, KeepsNmuBetweenZeroAndOne) {
  OneRun<float> run(stack_of("NMU:1", 2), plain_recipe(Adam{.learning_rate = 0.1}));
  run.set(0, {0.5, 0.5});
  for (int e = 0; e < 50; ++e) run.step({3, 0.5}, {100});
  EXPECT_EQ(run.parameters(), (Values{1, 0}));
}

TEST(Clamping, IsLeftOutWhereTheRecipeSaysSo) {
  Recipe recipe = plain_recipe(Adam{.learning_rate = 0.1});
  recipe.layers[0].clamp = false;
  OneRun<float> run(stack_of("NMU:1", 2), recipe);
  run.set(0, {0.5, 0.5});
  for (int e = 0; e < 50; ++e) run.step({3, 0.5}, {100});
  EXPECT_GT(run.parameters()[0], 1.5);
  EXPECT_LT(run.parameters()[1], 0);
}

TEST(Clamping, DoesNotTouchTheGatesOfNpu) {
  Recipe recipe = plain_recipe(Adam{.learning_rate = 0.1});
  recipe.layers[0].regularisers = {Regulariser::l1(1, 1)};
  OneRun<float> run(stack_of("RealNPU:1", 2), recipe);
  run.set(0, {5, -5, 7, -7});
  run.step({1, 1}, {1});
  EXPECT_NEAR(run.parameters()[2], 6.9, 1e-5);
  EXPECT_NEAR(run.parameters()[3], -6.9, 1e-5);
}

TEST(Clamping, LetsNanThrough) {
  OneRun<float> run(stack_of("NAU:1", 2), plain_recipe());
  run.set(0, {0.5, 0.5});
  run.step({std::nan(""), 1}, {1});
  EXPECT_TRUE(std::isnan(run.parameters()[0]));
}

// ---- re-initialisation ---------------------------------------------------------------------------------------------

// An iNALU with its own recipe, one sample per iteration.
class StuckINalu {
 public:
  StuckINalu() : run_(stack_, default_recipe(stack_)) {
    for (int l = 0; l < run_.bundle().lanes(); ++l) run_.bundle().start(l, std::make_shared<TorchStream>(0));
    start_values(*stack_[0].module, stack_[0].shape, expected_);
  }

  // One iteration; whether it ended with fresh values: those that the stream has next.
  bool step(double validation_error) {
    const Values before = run_.parameters();
    run_.set_validation_error(validation_error);
    run_.step({1.5, 1.25}, {2});
    const Values updated = adam_.step(before, run_.gradients());
    TorchStream next = expected_;
    const Values fresh = start_values(*stack_[0].module, stack_[0].shape, next);
    if (run_.parameters() == fresh) {
      expected_ = next;
      return true;
    }
    expect_floats_near(run_.parameters(), updated);  // Adam goes on as if nothing had happened
    return false;
  }

 private:
  Stack stack_ = stack_of("iNALU:1", 2);
  OneRun<float> run_;
  TorchStream expected_{0};
  ScalarAdam adam_{Adam{}, 9};
};

template <class Error>
std::vector<int> iterations_that_reinitialise(int last, Error validation_error_at) {
  StuckINalu run;
  std::vector<int> result;
  for (int e = 0; e <= last && !testing::Test::HasFailure(); ++e) {
    if (run.step(validation_error_at(e))) result.push_back(e);
  }
  return result;
}

TEST(Reinitialisation, FiresAfterFiveThousandStoredErrorsAndAgainAfterAsMany) {
  // 5001 errors are stored at iteration 5000; then the list is empty, and holds 5001 again at 10001: checked at 10010.
  EXPECT_EQ(iterations_that_reinitialise(10020, [](int) { return 2.0; }), (std::vector<int>{5000, 10010}));
}

TEST(Reinitialisation, DoesNotFireWhileTheErrorIsBelowOne) {
  EXPECT_TRUE(iterations_that_reinitialise(5100, [](int) { return 0.99; }).empty());
  EXPECT_TRUE(iterations_that_reinitialise(5100, [](int) { return 1.0; }).empty());  // strictly above
}

TEST(Reinitialisation, DoesNotFireWhileTheErrorFalls) {
  EXPECT_TRUE(iterations_that_reinitialise(5100, [](int e) { return e < 1000 ? 10.0 : 2.0; }).empty());
}

TEST(Reinitialisation, ComparesWithTheSpreadOfTheSecondHalf) {
  // The second half alternates between 2 and 4: mean 3, deviation 1. A first half of 3.9 is stuck, one of 4.1 falls.
  const auto errors = [](double first) { return [first](int e) { return e < 2500 ? first : e % 2 == 0 ? 2.0 : 4.0; }; };
  EXPECT_EQ(iterations_that_reinitialise(5000, errors(3.9)), std::vector<int>{5000});
  EXPECT_TRUE(iterations_that_reinitialise(5000, errors(4.1)).empty());
}

TEST(Reinitialisation, ChecksEveryTenthIteration) {
  const auto sudden = [](int e) { return e < 5004 ? 0.5 : 1e6; };
  EXPECT_EQ(iterations_that_reinitialise(5030, sudden), std::vector<int>{5010});
}

TEST(Reinitialisation, OfOneLaneLeavesTheOthersAlone) {
  const Stack stack = stack_of("iNALU:1", 2);
  Recipe recipe = default_recipe(stack);
  recipe.training.reinitialise = Reinitialise{10, 15, 1};
  Bundle<float> bundle(stack, recipe, simd::active_target());
  if (bundle.lanes() == 1) GTEST_SKIP() << "one lane";
  for (int l = 0; l < bundle.lanes(); ++l) {
    bundle.start(l, std::make_shared<TorchStream>(0));
    bundle.set_validation_error(l, l == 1 ? 2 : 0.5);
  }
  const std::size_t lanes = static_cast<std::size_t>(bundle.lanes());
  const AlignedVector<float> x(2 * lanes, 1.5f), t(lanes, 2.0f);
  for (int e = 0; e < 21; ++e) bundle.step(x.data(), t.data(), 1);
  TorchStream stream(0);
  start_values(*stack[0].module, stack[0].shape, stream);
  EXPECT_EQ(bundle.network().parameters(1, 0), start_values(*stack[0].module, stack[0].shape, stream));
  EXPECT_EQ(bundle.network().parameters(2, 0), bundle.network().parameters(0, 0));
  EXPECT_NE(bundle.network().parameters(1, 0), bundle.network().parameters(0, 0));
}

// ---- learning is forward and backward ------------------------------------------------------------------------------

// Relative to the largest gradient: the sums are taken in another order.
void expect_near_relative(const Values& values, const Values& wanted, double tolerance) {
  ASSERT_EQ(values.size(), wanted.size());
  double largest = 0;
  for (const double v : wanted) largest = std::max(largest, std::abs(v));
  ASSERT_GT(largest, 0);
  for (std::size_t k = 0; k < values.size(); ++k) EXPECT_NEAR(values[k], wanted[k], tolerance * largest) << k;
}

template <class S>
void expect_learn_is_forward_and_backward(const ModuleInfo& info, const LayerShape& shape, double tolerance) {
  const Stack stack{{&info, shape}};
  const simd::Target& target = simd::active_target();
  Network<S> network(stack, target);
  const std::size_t lanes = static_cast<std::size_t>(network.lanes());
  Xoshiro random(5);
  Values parameters = start_values(info, shape, random);
  for (int l = 0; l < network.lanes(); ++l) network.set_parameters(l, 0, parameters);
  const int samples = 31, in = shape.inputs, out = shape.outputs;
  const Values x = random_values(random, static_cast<std::size_t>(samples * in), 0.1, 0.9);
  const Values t = random_values(random, static_cast<std::size_t>(samples * out), 0.1, 0.9);
  AlignedVector<S> wide_x, wide_t;
  for (const double v : x) wide_x.insert(wide_x.end(), lanes, static_cast<S>(v));
  for (const double v : t) wide_t.insert(wide_t.end(), lanes, static_cast<S>(v));
  const double scale = 2.0 / (samples * out);

  network.update_weights();
  network.clear_gradients();
  network.learn(wide_x.data(), wide_t.data(), samples, scale);
  network.pull_back();
  const Values learned = network.gradients(network.lanes() - 1, 0);

  // The same with the separate kernels.
  const LayerKernels<S>& kernels = entry_of(info).kernels[static_cast<std::size_t>(target.index)]->template of<S>();
  const auto buffer = [&](int n) { return AlignedVector<S>(static_cast<std::size_t>(std::max(n, 1)) * lanes); };
  const int steps = quantity_count(info, info.steps, shape), weights = quantity_count(info, info.weights, shape);
  int room = 0;
  for (const ParameterInfo& p : info.parameters) room += size_of(info, p.axes, shape);
  AlignedVector<S> p = buffer(room), dp = buffer(room), w = buffer(weights), dw = buffer(weights);
  AlignedVector<S> y = buffer(samples * out), dy = buffer(samples * out), step = buffer(samples * steps);
  for (std::size_t k = 0; k < parameters.size() * lanes; ++k) p[k] = static_cast<S>(parameters[k / lanes]);
  kernels.weights(shape, p.data(), w.data());
  kernels.forward(shape, p.data(), w.data(), wide_x.data(), y.data(), step.data(), steps, samples);
  double mse = 0;
  for (std::size_t k = 0; k < y.size(); ++k) {
    const S difference = y[k] - wide_t[k];
    mse += static_cast<double>(difference) * static_cast<double>(difference);
  }
  mse /= static_cast<double>(y.size());
  // The error is that of the model; the gradient belongs to the form that it trains in, here without noise.
  if (kernels.training_forward) {
    const AlignedVector<S> noise(static_cast<std::size_t>(samples * in) * lanes, S(1));
    kernels.training_forward(shape, p.data(), w.data(), wide_x.data(), noise.data(), y.data(), step.data(), steps,
                             samples);
  }
  for (std::size_t k = 0; k < y.size(); ++k) dy[k] = (y[k] - wide_t[k]) * static_cast<S>(scale);
  kernels.backward(shape, p.data(), w.data(), wide_x.data(), y.data(), step.data(), steps, dy.data(), nullptr,
                   dp.data(), dw.data(), samples);
  kernels.pull_back(shape, p.data(), w.data(), dw.data(), dp.data());
  Values separate;
  for (std::size_t k = 0; k < parameters.size(); ++k) separate.push_back(static_cast<double>(dp[k * lanes]));
  expect_near_relative(learned, separate, tolerance);

  // And as the library's users get it.
  Model model;
  for (double& v : parameters) v = static_cast<double>(static_cast<S>(v));
  model.layers.push_back({&info, shape, parameters});
  const Result<Gradients> gradient = gradients(model, x, t, sizeof(S) == 4 ? Precision::Float : Precision::Double);
  ASSERT_TRUE(gradient.ok()) << gradient.error().message;
  EXPECT_EQ(learned, gradient->layers.at(0));
  EXPECT_NEAR(gradient->mse, mse, tolerance * mse);
}

TEST(Learning, IsForwardAndBackwardForEveryModule) {
  for (const ModuleInfo* info : all_modules()) {
    const int outputs = info->outputs_multiple_of;
    for (const auto& [inputs, columns] : {std::pair(2, outputs), std::pair(3, 2 * outputs)}) {
      SCOPED_TRACE(std::string(info->name) + " " + std::to_string(inputs) + " to " + std::to_string(columns));
      expect_learn_is_forward_and_backward<float>(*info, default_shape(*info, inputs, columns), 1e-5);
      expect_learn_is_forward_and_backward<double>(*info, default_shape(*info, inputs, columns), 1e-13);
    }
  }
}

TEST(Learning, AddsUpOverBatches) {
  const Stack stack = stack_of("NAU:2,NMU:1", 2);
  OneRun<double> layout(stack, plain_recipe());
  Network<double>& network = layout.bundle().network();
  for (int l = 0; l < network.lanes(); ++l) {
    network.set_parameters(l, 0, Values{0.5, -0.5, 0.1, 0.3});
    network.set_parameters(l, 1, Values{0.4, 0.6});
  }
  Xoshiro random(8);
  const std::size_t samples = 70;  // more than two tiles
  const AlignedVector<double> x = layout.spread(random_values(random, 2 * samples)),
                              t = layout.spread(random_values(random, samples));
  const std::size_t lanes = static_cast<std::size_t>(network.lanes());
  network.update_weights();
  network.clear_gradients();
  network.learn(x.data(), t.data(), static_cast<int>(samples), 1);
  network.pull_back();
  const Values whole = network.gradients(0, 0);
  network.clear_gradients();
  network.learn(x.data(), t.data(), 40, 1);
  network.learn(x.data() + 40 * 2 * lanes, t.data() + 40 * lanes, static_cast<int>(samples) - 40, 1);
  network.pull_back();
  expect_near_relative(network.gradients(0, 0), whole, 1e-13);
}

}  // namespace
}  // namespace nalm::bundle_test
