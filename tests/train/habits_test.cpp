// Training habits that modules ask for in their recipes: losses, noise, restarts, start values, further regularisers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/aligned.hpp"
#include "nalm/model.hpp"
#include "nalm/train.hpp"
#include "train/bundle.hpp"
#include "train/start_values.hpp"

namespace nalm::habits_test {
namespace {

using Values = std::vector<double>;

Stack stack_of(std::string_view text, int inputs) { return *parse_stack(text, inputs); }

Recipe recipe_with(const std::function<void(TrainingRecipe&)>& change, std::vector<Regulariser> regularisers = {}) {
  Recipe recipe;
  change(recipe.training);
  recipe.layers[0].regularisers = std::move(regularisers);
  return recipe;
}

AlignedVector<double> in_all_lanes(const Values& values, int lanes) {
  AlignedVector<double> result;
  for (const double v : values) result.insert(result.end(), static_cast<std::size_t>(lanes), v);
  return result;
}

// ---- losses --------------------------------------------------------------------------------------------------------

// The gradient of one step of a stack whose layers have these parameters, lane 0, first layer.
Values gradient_of(const Stack& stack, const Loss& loss, const std::vector<Values>& parameters, const Values& x,
                   const Values& t) {
  Bundle<double> bundle(stack, recipe_with([&](TrainingRecipe& r) { r.loss = loss; }), simd::active_target());
  for (int l = 0; l < bundle.lanes(); ++l)
    for (std::size_t k = 0; k < parameters.size(); ++k)
      bundle.network().set_parameters(l, static_cast<int>(k), parameters[k]);
  const AlignedVector<double> wide_x = in_all_lanes(x, bundle.lanes()), wide_t = in_all_lanes(t, bundle.lanes());
  bundle.step(wide_x.data(), wide_t.data(), static_cast<int>(t.size()));
  return bundle.network().gradients(0, 0);
}

double mean_loss(const Loss& loss, const Stack& stack, const std::vector<Values>& parameters, const Values& x,
                 const Values& t) {
  Model model;
  for (std::size_t k = 0; k < stack.size(); ++k)
    model.layers.push_back({stack[k].module, stack[k].shape, parameters[k]});
  const Values y = *predict(model, x, Precision::Double);
  double sum = 0;
  for (std::size_t k = 0; k < t.size(); ++k) {
    const double d = y[k] - t[k];
    switch (loss.kind) {
      case Loss::Kind::Own:  // these modules have none
      case Loss::Kind::Squared:
        sum += d * d;
        break;
      case Loss::Kind::Huber:
        sum += std::fabs(d) <= loss.limit ? d * d : loss.limit * (2 * std::fabs(d) - loss.limit);
        break;
      case Loss::Kind::Relative:
        sum += d * d / (t[k] * t[k]);
        break;
      case Loss::Kind::Log:
        sum += std::pow(std::log(std::fabs(y[k] / t[k])), 2);
        break;
      case Loss::Kind::Absolute:
        sum += std::fabs(d);
        break;
    }
  }
  return sum / static_cast<double>(t.size());
}

TEST(Losses, HaveTheGradientOfTheirFormula) {
  const Values x = {1.3, 0.7, -2.1, 0.4, 0.9, -1.6}, t = {2.5, -0.3, 4};
  // One layer, and a stack: they take different ways through the engine.
  const std::vector<std::pair<Stack, std::vector<Values>>> cases = {
      {stack_of("NAU:1", 2), {{0.6, -0.4}}},
      {stack_of("NAU:2,NMU:1", 2), {{0.6, -0.4, 0.3, 0.8}, {0.7, 0.4}}},
  };
  for (const Loss& loss : {Loss{}, Loss::huber(0.5), Loss::huber(100), Loss{Loss::Kind::Relative},
                           Loss{Loss::Kind::Log}, Loss{Loss::Kind::Absolute}}) {
    for (const auto& one : cases) {
      const Stack& stack = one.first;
      const std::vector<Values>& parameters = one.second;
      const Values gradient = gradient_of(stack, loss, parameters, x, t);
      for (std::size_t k = 0; k < gradient.size(); ++k) {
        const auto at = [&](double change) {
          std::vector<Values> changed = parameters;
          changed[0][k] += change;
          return mean_loss(loss, stack, changed, x, t);
        };
        const double slope = (at(1e-6) - at(-1e-6)) / 2e-6;
        EXPECT_NEAR(gradient[k], slope, 1e-6 * std::max(1.0, std::fabs(slope)))
            << static_cast<int>(loss.kind) << " " << loss.limit << " " << stack.size() << " " << k;
      }
    }
  }
}

TEST(Losses, OfLogarithmsIgnoreSamplesWithoutOne) {
  const Stack stack = stack_of("NAU:1", 1);
  const Loss log{Loss::Kind::Log};
  EXPECT_EQ(gradient_of(stack, log, {{0.5}}, {2}, {0}), Values{0});                                        // t = 0
  EXPECT_EQ(gradient_of(stack, log, {{0.5}}, {0}, {2}), Values{0});                                        // y = 0
  EXPECT_EQ(gradient_of(stack, log, {{0.5}}, {2}, {std::numeric_limits<double>::infinity()}), Values{0});  // t infinite
  EXPECT_EQ(gradient_of(stack, Loss{Loss::Kind::Relative}, {{0.5}}, {2}, {0}), Values{0});
  // The sign of neither matters.
  EXPECT_EQ(gradient_of(stack, log, {{0.5}}, {3}, {2}), gradient_of(stack, log, {{0.5}}, {-3}, {2}));
  EXPECT_EQ(gradient_of(stack, log, {{0.5}}, {3}, {2}), gradient_of(stack, log, {{0.5}}, {3}, {-2}));
}

// ---- regularisers --------------------------------------------------------------------------------------------------

// What a regulariser adds to the gradient of these weights, at an iteration in which it has its full strength.
Values pulled(const Regulariser& regulariser, const Values& W) {
  const Stack stack = stack_of("NAU:1", static_cast<int>(W.size()));
  const Values x(W.size(), 0.0);
  Bundle<double> bundle(stack, recipe_with([](TrainingRecipe&) {}, {regulariser}), simd::active_target());
  for (int l = 0; l < bundle.lanes(); ++l) bundle.network().set_parameters(l, 0, W);
  const AlignedVector<double> wide_x = in_all_lanes(x, bundle.lanes()), wide_t = in_all_lanes({0}, bundle.lanes());
  bundle.step(wide_x.data(), wide_t.data(), 1);
  return bundle.network().gradients(0, 0);
}

TEST(Regularisers, OfUnitsPullToOneAndMinusOneButNeverToZero) {
  EXPECT_EQ(pulled(Regulariser::unit(8, 0, 0), {0.1, -0.1, 0.9, -1.5}), (Values{-2, 2, -2, -2}));
  EXPECT_EQ(pulled(Regulariser::unit(8, 0, 0), {1, -1}), (Values{0, 0}));
}

TEST(Regularisers, OfGrowthPushAwayFromZero) {
  EXPECT_EQ(pulled(Regulariser::grow(8, 0, 0), {0.5, -0.25}), (Values{-4, 2}));
}

TEST(Regularisers, OfUnitsAndGrowthHaveTheRampOfSparsity) {
  for (const long e : {0L, 20000L, 27500L, 35000L, 90000L}) {
    const double wanted = Regulariser::sparsity(10, 20000, 35000).coefficient(e);
    EXPECT_EQ(Regulariser::unit(10, 20000, 35000).coefficient(e), wanted);
    EXPECT_EQ(Regulariser::grow(10, 20000, 35000).coefficient(e), wanted);
  }
}

// ---- noise ---------------------------------------------------------------------------------------------------------

// The noise of one step on these inputs, of one lane.
Values noise_of(const InputNoise& noise, const Values& x, std::uint64_t seed, int lane, int steps = 1) {
  Bundle<float> bundle(stack_of("sNMU:1", 2), recipe_with([&](TrainingRecipe& r) { r.noise = noise; }),
                       simd::active_target());
  for (int l = 0; l < bundle.lanes(); ++l)
    bundle.start(l, std::make_shared<Xoshiro>(seed + static_cast<std::uint64_t>(std::abs(l - lane))));
  AlignedVector<float> wide_x, wide_t;
  for (const double v : x) wide_x.insert(wide_x.end(), static_cast<std::size_t>(bundle.lanes()), static_cast<float>(v));
  wide_t.resize(wide_x.size() / 2);
  const int samples = static_cast<int>(x.size()) / 2;
  for (int k = 0; k < steps; ++k) bundle.step(wide_x.data(), wide_t.data(), samples);
  const float* drawn = bundle.network().noise(0, samples);
  Values result;
  for (std::size_t k = 0; k < x.size(); ++k)
    result.push_back(drawn[k * static_cast<std::size_t>(bundle.lanes()) + static_cast<std::size_t>(lane)]);
  return result;
}

Values spread_inputs(std::size_t n) {
  Xoshiro random(3);
  Values x(n);
  random.uniform(x, 1, 2);
  return x;
}

TEST(Noise, IsUniformBetweenItsBounds) {
  const Values noise = noise_of({1, 5}, spread_inputs(20000), 11, 0);
  double sum = 0, squares = 0;
  for (const double n : noise) {
    EXPECT_TRUE(n >= 1 && n < 5.0001) << n;
    sum += n;
    squares += (n - 3) * (n - 3);
  }
  const double count = static_cast<double>(noise.size());
  EXPECT_NEAR(sum / count, 3, 0.03);               // four standard errors
  EXPECT_NEAR(squares / count, 16.0 / 12, 0.035);  // the variance
  EXPECT_GT(std::set<double>(noise.begin(), noise.end()).size(), 19900u);
}

TEST(Noise, BelongsToTheRunNotToTheLane) {
  const Values x = spread_inputs(64);
  const int last = Bundle<float>(stack_of("sNMU:1", 2), {}, simd::active_target()).lanes() - 1;
  EXPECT_EQ(noise_of({1, 5}, x, 11, 0), noise_of({1, 5}, x, 11, last));
  EXPECT_NE(noise_of({1, 5}, x, 11, 0), noise_of({1, 5}, x, 12, 0));
  EXPECT_NE(noise_of({1, 5}, x, 11, 0), noise_of({1, 5}, x, 11, 0, 2));  // fresh in every step
}

TEST(Noise, OfTheBatchIsBoundedByTheSpreadOfItsInputs) {
  const Values x = spread_inputs(20000);
  double mean = 0, squares = 0;
  for (const double v : x) mean += v / static_cast<double>(x.size());
  for (const double v : x) squares += (v - mean) * (v - mean);
  const double deviation = std::sqrt(squares / static_cast<double>(x.size() - 1));
  const Values noise = noise_of({.lo = 1, .batch_adaptive = true}, x, 11, 0);
  EXPECT_NEAR(*std::max_element(noise.begin(), noise.end()), 1 + 1 / deviation, 2e-3);
  EXPECT_NEAR(*std::min_element(noise.begin(), noise.end()), 1, 2e-3);
  // Inputs that are all the same have no spread, and get no noise.
  for (const double n : noise_of({.lo = 1, .batch_adaptive = true}, Values(64, 1.5), 11, 0)) EXPECT_EQ(n, 1);
}

TEST(Noise, OfAHigherLayerLooksAtTheInputsOfThatLayer) {
  // The layer below multiplies by 4, so that the noise has a quarter of the width.
  const Stack stack = stack_of("NAU:2,sNMU-batch:1", 2);
  Recipe recipe = default_recipe(stack);
  recipe.training.optimiser.set_learning_rate(1e-30);
  const Values x = spread_inputs(20000);
  double widths[2];
  for (const double scale : {1.0, 0.25}) {
    Bundle<double> bundle(stack, recipe, simd::active_target());
    for (int l = 0; l < bundle.lanes(); ++l) {
      bundle.start(l, std::make_shared<Xoshiro>(5));
      bundle.network().set_parameters(l, 0, Values{scale, 0, 0, scale});
    }
    const AlignedVector<double> wide_x = in_all_lanes(x, bundle.lanes()),
                                wide_t = in_all_lanes(Values(x.size() / 2, 1.0), bundle.lanes());
    bundle.step(wide_x.data(), wide_t.data(), static_cast<int>(x.size() / 2));
    const double* noise = bundle.network().noise(1, static_cast<int>(x.size() / 2));
    double largest = 0;
    for (std::size_t k = 0; k < x.size(); ++k)
      largest = std::max(largest, noise[k * static_cast<std::size_t>(bundle.lanes())]);
    widths[scale == 1 ? 0 : 1] = largest - 1;
  }
  EXPECT_NEAR(widths[1] / widths[0], 4, 1e-6);
}

// ---- restarts ------------------------------------------------------------------------------------------------------

// Parameters at the beginning of every iteration of a run whose validation errors are told.
std::vector<Values> restarted(const Restarts& rule, long iterations, const std::function<double(long)>& error) {
  const Stack stack = stack_of("NMU:1", 2);
  Bundle<double> bundle(stack, recipe_with([&](TrainingRecipe& r) { r.restarts = rule; }), simd::active_target());
  for (int l = 0; l < bundle.lanes(); ++l) bundle.start(l, std::make_shared<Xoshiro>(5));
  const AlignedVector<double> x = in_all_lanes({1.5, 1.25}, bundle.lanes()), t = in_all_lanes({1.9}, bundle.lanes());
  std::vector<Values> result;
  for (long e = 0; e <= iterations; ++e) {
    for (int l = 0; l < bundle.lanes(); ++l) bundle.set_validation_error(l, error(e));
    result.push_back(bundle.network().parameters(0, 0));
    bundle.step(x.data(), t.data(), 1);
  }
  return result;
}

TEST(Restarts, GoOnFromTheTryWithTheSmallestError) {
  // Tries end before iterations 10, 20 and 30; the second one has the smallest error.
  const auto error = [](long e) { return e <= 10 ? 3.0 : e <= 20 ? 1.0 : 2.0; };
  const std::vector<Values> told = restarted({3, 10}, 40, error), plain = restarted({1, 10}, 40, error);
  EXPECT_TRUE(std::equal(told.begin(), told.begin() + 11, plain.begin()));  // the first try is an ordinary run
  const auto distance = [](const Values& a, const Values& b) {
    return std::fabs(a[0] - b[0]) + std::fabs(a[1] - b[1]);
  };
  EXPECT_GT(distance(told[10], told[11]), 0.05);  // fresh start values
  EXPECT_GT(distance(told[20], told[21]), 0.05);
  EXPECT_LT(distance(told[31], told[20]), 0.003);  // one step from the end of the second try
  EXPECT_LT(distance(told[40], told[31]), 0.02);   // and no restart after that
}

TEST(Restarts, TakeAnotherTryRatherThanNaN) {
  const double nan = std::nan("");
  const auto distance = [](const Values& a, const Values& b) {
    return std::fabs(a[0] - b[0]) + std::fabs(a[1] - b[1]);
  };
  const std::vector<Values> first = restarted({2, 10}, 30, [&](long e) { return e <= 10 ? nan : 2.0; });
  EXPECT_LT(distance(first[21], first[20]), 0.003);
  const std::vector<Values> second = restarted({2, 10}, 30, [&](long e) { return e <= 10 ? 2.0 : nan; });
  EXPECT_LT(distance(second[21], second[10]), 0.003);
}

// ---- cooling down --------------------------------------------------------------------------------------------------

TEST(CoolDown, FallsInAStraightLine) {
  const CoolDown rule{100, 200};
  EXPECT_EQ(rule.factor(0), 1);
  EXPECT_EQ(rule.factor(100), 1);
  EXPECT_EQ(rule.factor(150), 0.5);
  EXPECT_EQ(rule.factor(200), 0);
  EXPECT_EQ(rule.factor(1000), 0);
  EXPECT_EQ((CoolDown{100, 100}.factor(99)), 1);
  EXPECT_EQ((CoolDown{100, 100}.factor(100)), 0);
}

TEST(CoolDown, ShrinksTheStepsAndNothingElse) {
  for (const Optimiser& optimiser : {Optimiser(Adam{0.125}), Optimiser(RmsProp{0.125})}) {
    const auto after = [&](std::optional<CoolDown> rule, int steps) {
      Bundle<double> bundle(stack_of("NMU:1", 2),
                            recipe_with([&](TrainingRecipe& r) { r.optimiser = optimiser, r.cool_down = rule; }),
                            simd::active_target());
      for (int l = 0; l < bundle.lanes(); ++l) bundle.network().set_parameters(l, 0, Values{0.25, 0.5});
      const AlignedVector<double> x = in_all_lanes({3, 2}, bundle.lanes()), t = in_all_lanes({6}, bundle.lanes());
      for (int k = 0; k < steps; ++k) bundle.step(x.data(), t.data(), 1);
      return bundle.network().parameters(0, 0)[0];
    };
    const double plain = after(std::nullopt, 1) - 0.25;
    EXPECT_NE(plain, 0);
    EXPECT_NEAR(after(CoolDown{-1, 1}, 1) - 0.25, plain / 2, 1e-15);  // iteration 0 is half way
    EXPECT_EQ(after(CoolDown{1, 1}, 5), after(std::nullopt, 1));      // nothing moves after the end
    EXPECT_EQ(after(CoolDown{9, 10}, 5), after(std::nullopt, 5));
  }
}

// ---- start values --------------------------------------------------------------------------------------------------

TEST(StartChanges, ReplaceTheStartValuesOfOneParameter) {
  const ModuleInfo& module = **find_module("RealNPU-modified");
  const LayerShape shape = default_shape(module, 50, 1);
  Xoshiro random(4);
  const StartChange change{"W_re", 0.25, 0.375};
  const Values values = start_values(module, shape, random, std::span(&change, 1));
  for (std::size_t k = 0; k < 50; ++k) EXPECT_TRUE(values[k] >= 0.25 && values[k] <= 0.375) << values[k];
  for (std::size_t k = 50; k < 100; ++k) EXPECT_EQ(values[k], 0.5);
}

TEST(StartValues, OfMcFcAreOrthonormal) {
  const ModuleInfo& module = **find_module("MC-FC");
  Xoshiro random(4);
  for (const std::pair<int, int>& size : {std::pair(2, 1), std::pair(5, 3), std::pair(2, 4)}) {
    const int inputs = size.first, outputs = size.second;
    const Values p = start_values(module, default_shape(module, inputs, outputs), random);
    const auto r = [&](int i, int o) { return p[static_cast<std::size_t>(i * outputs + o)]; };
    const bool by_rows = inputs <= outputs;
    const int vectors = by_rows ? inputs : outputs, length = by_rows ? outputs : inputs;
    for (int a = 0; a < vectors; ++a) {
      for (int b = 0; b < vectors; ++b) {
        double product = 0;
        for (int k = 0; k < length; ++k) product += by_rows ? r(a, k) * r(b, k) : r(k, a) * r(k, b);
        EXPECT_NEAR(product, a == b, 1e-6) << inputs << " " << outputs << " " << a << " " << b;
      }
    }
  }
  // One value is 1 or -1, and both occur.
  std::set<double> seen;
  for (int k = 0; k < 20; ++k) seen.insert(start_values(module, default_shape(module, 2, 1), random)[2]);
  EXPECT_EQ(seen, (std::set<double>{-1, 1}));
}

}  // namespace
}  // namespace nalm::habits_test
