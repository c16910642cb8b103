// Same run, same bits: trainings do not depend on lane, company or SIMD target.
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
#include "nalm/train.hpp"
#include "sanitized.hpp"
#include "train/start_values.hpp"

namespace nalm::same_bits_test {
namespace {

using Values = std::vector<double>;

Stack stack_of(std::string_view text, int inputs) {
  const Result<Stack> stack = parse_stack(text, inputs);
  EXPECT_TRUE(stack.ok()) << stack.error().message;
  return *stack;
}

// ---- same run, same bits -------------------------------------------------------------------------------------------

// A stack with one layer of this module, or one above the other.
struct Case {
  std::string name;
  Stack stack;
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const ModuleInfo* info : all_modules()) {
    const int outputs = info->outputs_multiple_of;
    for (const auto& [inputs, columns] : {std::pair(2, outputs), std::pair(3, 2 * outputs)}) {
      cases.push_back({std::string(info->name) + " " + std::to_string(inputs) + " to " + std::to_string(columns),
                       Stack{{info, default_shape(*info, inputs, columns)}}});
    }
  }
  for (const char* text : {"NAU:2,NMU:1", "NLRL:3,NAC+:2,NSR:2", "NAU:2,sNMU:1", "NAU:2,sNMU-batch:2"})
    cases.push_back({text, stack_of(text, 4)});
  return cases;
}

// What every run does: start values, and batches of numbers that suit all modules.
template <class S>
class Run {
 public:
  Run(std::uint64_t seed, bool is_nan, const ModuleInfo& module) : seed_(seed), data_(seed + 1000), is_nan_(is_nan) {
    if (module.positive_inputs) lowest_ = 0.5;
    if (module.truth_values) lowest_ = 0.1, highest_ = 0.9;
  }

  std::shared_ptr<StartStream> start() const { return std::make_shared<Xoshiro>(seed_); }

  S next() { return is_nan_ ? std::numeric_limits<S>::quiet_NaN() : static_cast<S>(data_.between(lowest_, highest_)); }

 private:
  std::uint64_t seed_;
  Xoshiro data_;
  bool is_nan_;
  double lowest_ = -1.5, highest_ = 1.5;
};

// Every part of an iteration, from the first one on.
Recipe eventful_recipe(const Stack& stack) {
  Recipe recipe = default_recipe(stack);
  for (LayerRecipe& layer : recipe.layers) {
    layer.regularisers = {Regulariser::sparsity(0.01, 20, 100), Regulariser::saturate(0.001, 50),
                          Regulariser::l1(1e-5, 1e-3, 10, 100), Regulariser::unit(0.01, 30, 60),
                          Regulariser::grow(0.001, 30, 60)};
  }
  recipe.training.clip_value = 0.5;
  recipe.training.clip_norm = 1;
  recipe.training.reinitialise = Reinitialise{10, 250, 1};
  recipe.training.restarts = Restarts{3, 40};
  return recipe;
}

constexpr int batch = 30;  // not a multiple of the samples in flight
constexpr int iterations = test::sanitized ? 130 : 300;

template <class S>
std::vector<Values> parameters_of(const Network<S>& network, int lane) {
  std::vector<Values> result;
  for (int k = 0; k < network.layer_count(); ++k) result.push_back(network.parameters(lane, k));
  return result;
}

// The parameters of a run in a lane of its own among other runs.
template <class S>
std::vector<Values> train(const Stack& stack, const Recipe& recipe, const simd::Target& target, int lane, bool with_nan,
                          unsigned seed = 7, std::optional<Wiring> wiring = {}) {
  Bundle<S> bundle(stack, wiring ? *wiring : Wiring::of(stack), recipe, target);
  const int lanes = bundle.lanes();
  std::vector<Run<S>> runs;
  for (int l = 0; l < lanes; ++l) {
    runs.emplace_back(l == lane ? seed : static_cast<unsigned>(100 + 10 * lane + l), with_nan && l != lane,
                      *stack.front().module);
    bundle.start(l, runs.back().start());
    bundle.set_validation_error(l, l == lane ? 0.5 : 2);
  }
  const int inputs = bundle.network().inputs(), outputs = bundle.network().outputs();
  AlignedVector<S> x(static_cast<std::size_t>(batch * inputs * lanes)),
      t(static_cast<std::size_t>(batch * outputs * lanes));
  for (int e = 0; e < iterations; ++e) {
    for (auto* values : {&x, &t}) {
      for (std::size_t k = 0; k < values->size(); ++k) (*values)[k] = runs[k % static_cast<std::size_t>(lanes)].next();
    }
    bundle.step(x.data(), t.data(), batch);
  }
  return parameters_of(bundle.network(), lane);
}

void expect_same_bits(const std::vector<Values>& a, const std::vector<Values>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t layer = 0; layer < a.size(); ++layer) {
    ASSERT_EQ(a[layer].size(), b[layer].size());
    for (std::size_t k = 0; k < a[layer].size(); ++k) {
      ASSERT_TRUE(std::isfinite(a[layer][k])) << "layer " << layer << ", parameter " << k;
      ASSERT_EQ(std::bit_cast<std::uint64_t>(a[layer][k]), std::bit_cast<std::uint64_t>(b[layer][k]))
          << "layer " << layer << ", parameter " << k << ": " << a[layer][k] << " and " << b[layer][k];
    }
  }
}

template <class S>
struct SameRunSameBits : testing::Test {};
using NumberTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(SameRunSameBits, NumberTypes);

template <class S>
void expect_same_everywhere(const Stack& stack, const Recipe& recipe, std::optional<Wiring> wiring = {}) {
  const std::vector<Values> alone = train<S>(stack, recipe, **simd::find_target("scalar"), 0, false, 7, wiring);
  for (const simd::Target& target : simd::targets()) {
    if (!target.supported) continue;
    const int lanes = target.lanes<S>();
    for (const int lane : std::set{0, lanes / 2, lanes - 1}) {
      SCOPED_TRACE(std::string(target.name) + ", lane " + std::to_string(lane));
      expect_same_bits(alone, train<S>(stack, recipe, target, lane, false, 7, wiring));
    }
    SCOPED_TRACE(std::string(target.name) + ", beside NaN");
    expect_same_bits(alone, train<S>(stack, recipe, target, lanes / 2, true, 7, wiring));
  }
}

TYPED_TEST(SameRunSameBits, InEveryLaneOfEveryTargetForEveryModule) {
  for (const Case& c : all_cases()) {
    SCOPED_TRACE(c.name);
    expect_same_everywhere<TypeParam>(c.stack, default_recipe(c.stack));
  }
}

TYPED_TEST(SameRunSameBits, WithEveryRegulariserAndClippingToo) {
  for (const Case& c : all_cases()) {
    SCOPED_TRACE(c.name);
    expect_same_everywhere<TypeParam>(c.stack, eventful_recipe(c.stack));
  }
}

// Its gradient is a sum over places and samples, and how many samples at a time must not hang on the lanes.
TYPED_TEST(SameRunSameBits, WithALayerInSeveralPlaces) {
  constexpr int places = 25, width = 4;
  Stack stack = stack_of("NAU:2", width + 2);
  stack.push_back(stack_of("Linear:1", 2).front());
  Wiring wiring(places * width);
  int state = wiring.constant(1, 2);
  for (int place = 0; place < places; ++place) {
    std::vector<Wiring::Port> ports{{state, 0}, {state, 1}};
    for (int i = 0; i < width; ++i) ports.push_back({0, place * width + i});
    state = wiring.layer(stack, 0, wiring.pick(std::move(ports)));
  }
  wiring.layer(stack, 1, state);
  expect_same_everywhere<TypeParam>(stack, default_recipe(stack), wiring);
}

TYPED_TEST(SameRunSameBits, WithRmsPropToo) {
  const Stack stack = stack_of("NAU:2,NMU:1", 4);
  Recipe recipe = default_recipe(stack);
  recipe.training.optimiser = RmsProp{.learning_rate = 1e-3};
  expect_same_everywhere<TypeParam>(stack, recipe);
}

TYPED_TEST(SameRunSameBits, AndAnotherRunGivesOthers) {  // otherwise the tests above prove nothing
  const Stack stack = stack_of("NAU:1", 2);
  const Recipe recipe = default_recipe(stack);
  const simd::Target& target = simd::active_target();
  const std::vector<Values> seven = train<TypeParam>(stack, recipe, target, 0, false);
  EXPECT_NE(train<TypeParam>(stack, recipe, target, 0, false, 8), seven);
  EXPECT_NE(seven[0],
            start_values(*stack[0].module, stack[0].shape, *Run<TypeParam>(7, false, *stack[0].module).start()));
}

}  // namespace
}  // namespace nalm::same_bits_test
