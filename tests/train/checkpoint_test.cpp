// Checkpoints: N iterations, saved, loaded, M more, are N + M iterations to the bit.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/random.hpp"
#include "nalm/train.hpp"

namespace nalm::checkpoint_test {
namespace {

constexpr int runs = 11;  // a bundle that is full and one that is not

void sums(int run, long iteration, std::span<double> x, std::span<double> t) {
  Xoshiro random(static_cast<std::uint64_t>(run) * 1000003u + static_cast<std::uint64_t>(iteration));
  for (double& value : x) value = random.between(0.1, 0.9);
  for (double& value : t) value = random.between(0.5, 1.5);
}

struct Case {
  std::string name;
  Recipe recipe;
  long before = 7, after = 9;
};

Reinitialise often(std::optional<double> range) {
  return {.every = 3, .more_than = 4, .error_above = 0, .range = range};
}

// Every optimiser, habit and noise, on top of what a module wants by itself.
std::vector<Case> cases_of(const Stack& stack) {
  std::vector<Case> cases;
  const Recipe own = default_recipe(stack);
  const auto add = [&](std::string name, auto change) {
    Case c{std::move(name), own};
    c.recipe.training.batch = 5;
    change(c.recipe.training, c.recipe.layers[0]);
    cases.push_back(std::move(c));
  };
  using T = TrainingRecipe;
  using L = LayerRecipe;
  add("own", [](T&, L&) {});
  add("adam", [](T& t, L&) { t.optimiser = Adam{.learning_rate = 0.03, .beta1 = 0.8, .beta2 = 0.95}; });
  add("rmsprop", [](T& t, L&) { t.optimiser = RmsProp{.first_accumulator = 1, .epsilon_inside_root = true}; });
  add("clips", [](T& t, L&) { t.clip_value = 0.05, t.clip_norm = 0.1; });
  add("schedules", [](T& t, L& l) {
    t.cool_down = CoolDown{5, 12};
    t.decay = Decay{0.5, 4};
    l.regularisers = {Regulariser::sparsity(0.1, 3, 11), Regulariser::unit(0.1, 3, 11), Regulariser::grow(0.01, 3, 11),
                      Regulariser::l1(0.01, 1, 2, 5)};
  });
  add("reinitialise", [](T& t, L&) { t.reinitialise = often({}); });
  add("reinitialise in a range", [](T& t, L&) { t.reinitialise = often(0.3); });
  add("saturate", [](T&, L& l) { l.regularisers = {Regulariser::saturate(0.1, 2)}; });
  add("phases", [&](T& t, L& l) {
    t.phases = Phases{std::string(stack[0].module->parameters[0].name), 4, 2};
    l.regularisers = {Regulariser::saturate(0.1, 2)};
  });
  add("losses", [](T& t, L&) { t.loss = Loss::huber(0.1); });
  add("noise", [](T& t, L&) { t.noise = InputNoise{0.5, 2}; });
  add("noise of the batch", [](T& t, L&) { t.noise = InputNoise{.lo = 1, .batch_adaptive = true}; });
  return cases;
}

Result<Trainer> started(const Stack& stack, const Recipe& recipe, Precision precision) {
  Trainer::Settings settings;
  settings.stack = stack;
  settings.recipe = recipe;
  settings.runs = runs;
  settings.threads = 1;
  settings.precision = precision;
  Result<Trainer> trainer = Trainer::create(settings);
  for (int run = 0; trainer && run < runs; ++run) {
    const Status done = run % 2 == 0 ? trainer->start(run, static_cast<std::uint64_t>(run))
                                     : trainer->start_like_torch(run, static_cast<std::uint32_t>(run));
    EXPECT_TRUE(done.ok());
    EXPECT_TRUE(trainer->set_validation_error(run, run % 3 == 0 ? 0.5 : 2.0 + run).ok());
  }
  return trainer;
}

void expect_to_go_on(const Stack& stack, const Case& c, Precision precision, long before, long after) {
  SCOPED_TRACE(print(stack) + ", " + c.name);
  Result<Trainer> whole = started(stack, c.recipe, precision), first = started(stack, c.recipe, precision);
  ASSERT_TRUE(whole.ok()) << whole.error().message;
  ASSERT_TRUE(whole->train(before + after, sums).ok());
  ASSERT_TRUE(first->train(before, sums).ok());
  const Result<std::string> text = first->checkpoint();
  ASSERT_TRUE(text.ok()) << text.error().message;
  Result<Trainer> second = Trainer::from_checkpoint(*text, "test", 1);
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_EQ(*second->checkpoint(), *text);
  EXPECT_EQ(second->iteration(), before);
  ASSERT_TRUE(second->train(after, sums).ok());
  // Parameters, the optimiser's numbers, errors of the past, generators: everything.
  EXPECT_EQ(*second->checkpoint(), *whole->checkpoint());
}

TEST(Checkpoint, TrainingGoesOnToTheBitForEveryModuleAndHabit) {
  for (const ModuleInfo* module : all_modules()) {
    const Stack stack{{module, default_shape(*module, 2, module->outputs_multiple_of)}};
    for (const Case& c : cases_of(stack)) {
      expect_to_go_on(stack, c, Precision::Float, c.before, c.after);
      if (HasFatalFailure()) return;
    }
    expect_to_go_on(stack, cases_of(stack).front(), Precision::Double, 3, 4);
  }
}

TEST(Checkpoint, TrainingGoesOnInTheMiddleOfRestarts) {
  const Stack stack = *parse_stack("NMU:1", 2);
  Case c{"restarts", default_recipe(stack)};
  c.recipe.training.batch = 3;
  c.recipe.training.restarts = Restarts{3, 1000};
  for (const long before : {999L, 1000L, 1001L, 2500L})
    expect_to_go_on(stack, c, Precision::Float, before, 3100 - before);
}

TEST(Checkpoint, HoldsStacksWiringsAndNumbersThatAreNotFinite) {
  const Stack stack = *parse_stack("NAU:3,NMU:1", 2);
  Case c{"stack", default_recipe(stack)};
  expect_to_go_on(stack, c, Precision::Float, 5, 5);

  Trainer::Settings settings = default_training(*parse_stack("NAU:2", 2));
  settings.wiring.emplace(2);
  const int layer = settings.wiring->layer(settings.stack, 0, 0);
  const int constant = settings.wiring->constant(0.25, 2);
  const int mixed = settings.wiring->mix({0, 1}, layer, constant);
  const int sum = settings.wiring->sum({{2, mixed}, {-1, 0}}, 0.0);
  const int product = settings.wiring->product(settings.wiring->tanh(sum), mixed);
  settings.wiring->pick({{product, 1}});
  settings.recipe.training.batch = 4;
  auto trainer = Trainer::create(settings);
  ASSERT_TRUE(trainer.ok()) << trainer.error().message;
  ASSERT_TRUE(trainer->start(0, 1).ok());
  ASSERT_TRUE(trainer->set_validation_error(0, std::nan("")).ok());
  ASSERT_TRUE(trainer->train(3, sums).ok());
  auto loaded = Trainer::from_checkpoint(*trainer->checkpoint(), "test");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  ASSERT_TRUE(loaded->train(3, sums).ok());
  ASSERT_TRUE(trainer->train(3, sums).ok());
  EXPECT_EQ(*loaded->checkpoint(), *trainer->checkpoint());
}

TEST(Checkpoint, IsAFile) {
  const std::string path = (std::filesystem::path(testing::TempDir()) / "nalm_checkpoint_test.json").string();
  auto trainer = started(*parse_stack("NAU:1", 2), default_recipe(*parse_stack("NAU:1", 2)), Precision::Float);
  ASSERT_TRUE(trainer->train(2, sums).ok());
  const Status saved = trainer->save_checkpoint(path);
  ASSERT_TRUE(saved.ok()) << saved.error().message;
  const auto loaded = Trainer::load_checkpoint(path);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(*loaded->checkpoint(), *trainer->checkpoint());
  std::filesystem::remove(path);
  EXPECT_EQ(Trainer::load_checkpoint(path).error().message,
            path + ": the file cannot be read (No such file or directory).");
  EXPECT_FALSE(trainer->save_checkpoint("/nonexistent/folder/file").ok());
}

// Every part that is missing or wrong is one sentence.
TEST(Checkpoint, BadTextIsRefusedWithASentence) {
  auto trainer = started(*parse_stack("NAU:1", 2), default_recipe(*parse_stack("NAU:1", 2)), Precision::Float);
  const std::string good = *trainer->checkpoint();
  ASSERT_TRUE(Trainer::from_checkpoint(good, "c").ok());
  const auto refusal = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    const auto result = Trainer::from_checkpoint(text, "c");
    EXPECT_FALSE(result.ok()) << from;
    return result.ok() ? "" : result.error().message;
  };
  EXPECT_EQ(Trainer::from_checkpoint("", "c").error().message,
            "c: the file ends in the middle; it seems to be truncated.");
  EXPECT_EQ(Trainer::from_checkpoint("[]", "c").error().message,
            "c: this is not a checkpoint; it should begin with {\"format\":\"nalm-checkpoint\",\"version\":1,...}.");
  EXPECT_EQ(refusal("\"version\":1", "\"version\":2"), "c: this program reads checkpoints of version 1 only.");
  EXPECT_EQ(refusal("\"float\"", "\"half\""), "c: \"precision\" should be \"float\" or \"double\".");
  EXPECT_EQ(refusal("NAU:1", "NAU:0").substr(0, 14), "c: layer \"NAU:");
  EXPECT_EQ(refusal("NAU:1", "NAU:1000000"), "c: every run should have 2000000 \"parameters\" for layer 1.");
  EXPECT_EQ(refusal("\"learning_rate\":0.001", "\"learning_rate\":-1"),
            "c: the stored recipe cannot be read: optimiser.learning_rate must be from 0 to below 1000000.");
  EXPECT_EQ(refusal("\"iteration\":0", "\"iteration\":-1").substr(0, 51),
            "c: \"iteration\" should be a whole number from 0 to 1");
  EXPECT_EQ(refusal("\"m\":[[0.0,0.0]]", "\"m\":[[0.0]]"), "c: run 0, \"m\" should be a list of 2 numbers.");
  EXPECT_EQ(refusal("\"m\":[[0.0,0.0]]", "\"m\":[[0.0,1e300]]"),
            "c: run 0, \"m\" has a number that is not one of 32 bits.");
  EXPECT_EQ(refusal("\"v\":", "\"w\":"), "c: run 0 lacks \"v\".");
  EXPECT_EQ(refusal("\"beta_powers\":[1.0,1.0]", "\"beta_powers\":1"), "c: run 0 should have two \"beta_powers\".");
  EXPECT_EQ(refusal("\"kind\":\"xoshiro\"", "\"kind\":\"dice\""),
            "c: run 0, \"stream\" is not the state of a random stream.");
  EXPECT_EQ(refusal("\"history\":[]", "\"history\":[[1]]"),
            "c: run 0, \"history\" should hold pairs of an error and a count.");
  EXPECT_EQ(refusal("\"runs\":[", "\"runs\":[3,"), "c: every run should have 2 \"parameters\" for layer 1.");
  EXPECT_EQ(Trainer::from_checkpoint(std::string(100, '['), "c").error().message,
            "c: the file has brackets nested more than 64 deep, which nothing here needs.");
  // Cut anywhere, it is refused and nothing else happens.
  for (std::size_t length = 0; length + 2 < good.size(); length += 7)
    EXPECT_FALSE(Trainer::from_checkpoint(good.substr(0, length), "c").ok()) << length;
}

TEST(Checkpoint, NeedsStartValues) {
  const auto trainer = Trainer::create(default_training(*parse_stack("NAU:1", 2)));
  EXPECT_EQ(trainer->checkpoint().error().message,
            "run 0 has no start values; call start(), start_like_torch() or start_from() for every run.");
}

}  // namespace
}  // namespace nalm::checkpoint_test
