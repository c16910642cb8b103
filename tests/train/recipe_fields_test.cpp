// Recipes as JSON: they read back to the bit, and changes say what is wrong with them.
#include "train/recipe_fields.hpp"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "nalm/module.hpp"
#include "words.hpp"

namespace nalm::recipe_fields_test {
namespace {

bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

void expect_same(const Recipe& a, const Recipe& b) {
  EXPECT_EQ(a.training.iterations, b.training.iterations);
  EXPECT_EQ(a.training.batch, b.training.batch);
  ASSERT_EQ(a.training.optimiser.kind, b.training.optimiser.kind);
  if (a.training.optimiser.kind == Optimiser::Kind::Adam) {
    const Adam &x = a.training.optimiser.adam, &y = b.training.optimiser.adam;
    EXPECT_TRUE(same_bits(x.learning_rate, y.learning_rate) && same_bits(x.beta1, y.beta1));
    EXPECT_TRUE(same_bits(x.beta2, y.beta2) && same_bits(x.epsilon, y.epsilon));
  } else {
    const RmsProp &x = a.training.optimiser.rms_prop, &y = b.training.optimiser.rms_prop;
    EXPECT_TRUE(same_bits(x.learning_rate, y.learning_rate) && same_bits(x.decay, y.decay));
    EXPECT_TRUE(same_bits(x.epsilon, y.epsilon) && same_bits(x.first_accumulator, y.first_accumulator));
    EXPECT_EQ(x.epsilon_inside_root, y.epsilon_inside_root);
  }
  ASSERT_EQ(a.layers[0].regularisers.size(), b.layers[0].regularisers.size());
  for (std::size_t k = 0; k < a.layers[0].regularisers.size(); ++k) {
    const Regulariser &x = a.layers[0].regularisers[k], &y = b.layers[0].regularisers[k];
    EXPECT_EQ(x.kind, y.kind);
    EXPECT_EQ(x.parameter, y.parameter);
    // What the kind uses: its factor, from before the start until long after the end.
    for (const long e : {0L, 1L, 9999L, 10001L, 20001L, 30000L, 60000L, 1000000L})
      EXPECT_TRUE(same_bits(x.coefficient(e), y.coefficient(e))) << e;
  }
  EXPECT_EQ(a.training.clip_value, b.training.clip_value);
  EXPECT_EQ(a.training.clip_norm, b.training.clip_norm);
  EXPECT_EQ(a.training.loss.kind, b.training.loss.kind);
  EXPECT_EQ(a.training.loss.limit, b.training.loss.limit);
  ASSERT_EQ(a.training.noise.has_value(), b.training.noise.has_value());
  if (a.training.noise) {
    EXPECT_EQ(a.training.noise->lo, b.training.noise->lo);
    EXPECT_EQ(a.training.noise->hi, b.training.noise->hi);
    EXPECT_EQ(a.training.noise->batch_adaptive, b.training.noise->batch_adaptive);
  }
  ASSERT_EQ(a.training.restarts.has_value(), b.training.restarts.has_value());
  if (a.training.restarts) {
    EXPECT_EQ(a.training.restarts->count, b.training.restarts->count);
    EXPECT_EQ(a.training.restarts->every, b.training.restarts->every);
  }
  ASSERT_EQ(a.training.cool_down.has_value(), b.training.cool_down.has_value());
  if (a.training.cool_down) {
    EXPECT_EQ(a.training.cool_down->start, b.training.cool_down->start);
    EXPECT_EQ(a.training.cool_down->end, b.training.cool_down->end);
  }
  ASSERT_EQ(a.layers[0].starts.size(), b.layers[0].starts.size());
  for (std::size_t k = 0; k < a.layers[0].starts.size(); ++k) {
    EXPECT_EQ(a.layers[0].starts[k].parameter, b.layers[0].starts[k].parameter);
    EXPECT_TRUE(same_bits(a.layers[0].starts[k].lo, b.layers[0].starts[k].lo) &&
                same_bits(a.layers[0].starts[k].hi, b.layers[0].starts[k].hi));
  }
  EXPECT_EQ(a.layers[0].clamp, b.layers[0].clamp);
  ASSERT_EQ(a.training.reinitialise.has_value(), b.training.reinitialise.has_value());
  if (!a.training.reinitialise) return;
  EXPECT_EQ(a.training.reinitialise->every, b.training.reinitialise->every);
  EXPECT_EQ(a.training.reinitialise->more_than, b.training.reinitialise->more_than);
  EXPECT_EQ(a.training.reinitialise->error_above, b.training.reinitialise->error_above);
}

TEST(RecipeAsJson, ReadsBackForEveryModule) {
  for (const ModuleInfo* module : all_modules()) {
    SCOPED_TRACE(module->name);
    const Recipe recipe = module->recipe();
    const Result<Recipe> again = recipe_from_json(to_json(recipe));
    ASSERT_TRUE(again.ok()) << complaint(again);
    expect_same(*again, recipe);
    EXPECT_EQ(to_json(*again), to_json(recipe));
  }
}

TEST(RecipeAsJson, ReadsBackWithEveryPart) {
  Recipe recipe;
  recipe.training.optimiser = RmsProp{0.1 + 0.2, 0.95, 1e-10, 1, true};
  recipe.layers[0].regularisers = {Regulariser::sparsity(0.01, 20000, 35000, "W"), Regulariser::saturate(0.05, 10000),
                                   Regulariser::l1(1e-9, 1e-7, 3, 5000), Regulariser::unit(1, 40000, 50000, "W_re"),
                                   Regulariser::grow(10, 20000, 35000)};
  recipe.training.loss = Loss::huber(1.0 / 7);
  recipe.training.noise = InputNoise{0.1, 0.5};
  recipe.training.restarts = Restarts{8, 5000};
  recipe.training.cool_down = CoolDown{30000, 45000};
  recipe.layers[0].starts = {{"W", -1.0 / 3, 0.25}, {"g", 0, 1}};
  recipe.layers[0].clamp = false;
  recipe.training.clip_value = 0.1;
  recipe.training.clip_norm = 1.0 / 3;
  recipe.training.reinitialise = Reinitialise{7, 77, 0.7};
  recipe.training.iterations = 3000000000;
  recipe.training.batch = 31;
  recipe.training.decay = Decay{0.5, 700};
  recipe.training.phases = Phases{"g", 20, 7};
  const Result<Recipe> again = recipe_from_json(to_json(recipe));
  ASSERT_TRUE(again.ok()) << complaint(again);
  expect_same(*again, recipe);
  EXPECT_EQ(to_json(*again), to_json(recipe));
  // One line for each part, and for each regulariser.
  EXPECT_EQ(recipe_in_words(recipe).size(), 19u);
}

TEST(RecipeAsJson, ReadsBackWithSeveralLayers) {
  Recipe recipe;
  recipe.layers = {{{Regulariser::sparsity(1, 2, 3)}, {}},
                   {{}, {{"W", 0.5, 2, StartChange::Kind::Normal}, {"b", 0.25, 0, StartChange::Kind::Scaled}}}};
  const Result<Recipe> again = recipe_from_json(to_json(recipe));
  ASSERT_TRUE(again.ok()) << complaint(again);
  EXPECT_EQ(to_json(*again), to_json(recipe));
  ASSERT_EQ(again->layers.size(), 2u);
  EXPECT_EQ(again->layers[1].starts[0].kind, StartChange::Kind::Normal);
}

TEST(RecipeInWords, SaysWhatAStartIs) {
  Recipe recipe;
  recipe.layers[0].starts = {{"W", 0.5, 2, StartChange::Kind::Normal}};
  EXPECT_TRUE(contains(fmt::format("{}", fmt::join(recipe_in_words(recipe), "\n")), "starts: W mean 0.5, deviation 2"));
}

TEST(ChangeRecipe, ReplacesWhatIsNamedAndNothingElse) {
  const Recipe own = (*find_module("NMRU"))->recipe();
  Recipe wanted = own;
  wanted.training.optimiser.adam.learning_rate = 0.125;
  wanted.training.clip_norm.reset();
  wanted.training.loss = Loss::huber(2);
  wanted.training.restarts = Restarts{4, 2000};
  wanted.layers[0].starts = {{"W", 0, 0.25}};
  const Result<Recipe> changed =
      change_recipe(own,
                    R"({"optimiser": {"learning_rate": 0.125}, "clip_norm": null, "loss": {"kind": "huber", "limit": 2},
          "restarts": {"count": 4, "every": 2000}, "starts": {"W": [0, 0.25]}})");
  ASSERT_TRUE(changed.ok()) << complaint(changed);
  expect_same(*changed, wanted);
  expect_same(*change_recipe(own, "{}"), own);
  EXPECT_TRUE(change_recipe(own, R"({"regularisers": []})")->layers[0].regularisers.empty());
}

TEST(ChangeRecipe, SaysWhatIsWrong) {
  const Recipe own = (*find_module("NMRU"))->recipe();
  const auto refusal = [&](std::string_view text) { return complaint(change_recipe(own, text)); };
  EXPECT_TRUE(contains(refusal(R"({"clip": 1})"), "\"clip\" is not known there"));
  EXPECT_TRUE(contains(refusal(R"({"optimiser": {"rate": 1}})"), "\"optimiser.rate\" is not known there"));
  EXPECT_TRUE(contains(refusal(R"({"loss": {"kind": "cubic"}})"),
                       R"(loss.kind must be one of squared, huber, relative, log, absolute, own, not "cubic")"));
  EXPECT_TRUE(contains(refusal(R"({"restarts": {"count": 4, "every": 1500}})"), "a multiple of 1000"));
  EXPECT_TRUE(contains(refusal(R"({"optimiser": {"learning_rate": 0}})"), "learning_rate must be above 0"));
  EXPECT_TRUE(contains(refusal(R"({"noise": {"lo": 3, "hi": 1}})"), "noise.lo must not be above noise.hi"));
  EXPECT_TRUE(contains(refusal(R"({"batch": 0})"), "batch must be"));
  EXPECT_TRUE(contains(refusal(R"({"starts": {"W": [1, 0]}})"), "starts.W must be [low, high]"));
  // Numbers that would be rounded, or that no optimiser can use, and texts of kinds without their numbers.
  EXPECT_TRUE(contains(refusal(R"({"batch": 1.9})"), "batch must be a whole number from 1 to 1000000"));
  EXPECT_TRUE(contains(refusal(R"({"optimiser": {"beta1": 2}})"), "optimiser.beta1 must be from 0 to below 1"));
  EXPECT_TRUE(
      contains(refusal(R"({"reinitialise": {"every": 0}})"), "reinitialise.every must be a whole number from 1"));
  EXPECT_TRUE(contains(refusal(R"({"regularisers": [{"kind": "l1"}]})"), "regularisers.0.strength must be above 0"));
  EXPECT_TRUE(contains(refusal(R"({"loss": {"kind": "log", "limit": 1}})"), "\"loss.limit\" is not known there"));
  EXPECT_TRUE(contains(refusal(R"({"layers": [{}, {}]})"), "there are 1 layers"));
  EXPECT_EQ(change_recipe(own, R"({"loss": {"kind": "huber"}})")->training.loss.limit, 1);
  EXPECT_EQ(change_recipe(own, R"({"loss": {"kind": "squared"}})")->training.loss.kind, Loss::Kind::Squared);
  EXPECT_EQ(change_recipe(own, R"({"batch": 1e2})")->training.batch, 100);
  for (const char* text :
       {"", "[]", "3", "{", R"({"regularisers": 3})", R"({"iterations": "many"})", R"({"starts": {"W": 1}})"})
    EXPECT_FALSE(change_recipe(own, text).ok()) << text;
}

TEST(ChangeRecipe, DeepNestingIsRefused) {
  // A reader that recurses would overflow the stack.
  const std::string deep = R"({"recipe_changes":)" + std::string(200000, '[') + std::string(200000, ']') + "}";
  EXPECT_TRUE(contains(complaint(change_recipe({}, deep)), "nested more than 64 deep"));
  EXPECT_TRUE(contains(complaint(recipe_from_json(deep)), "nested more than 64 deep"));
}

TEST(RecipeAsJson, RefusesDamagedText) {
  const std::string good = to_json((*find_module("iNALU"))->recipe());
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_TRUE(contains(complaint(recipe_from_json(good.substr(0, size))), "the stored recipe cannot be read"));
  for (const char* text : {"null", "[]", "3", "{}", R"({"iterations":"many","batch":128})"})
    EXPECT_FALSE(recipe_from_json(text).ok()) << text;
}

}  // namespace
}  // namespace nalm::recipe_fields_test
