// The public way to train: same run, same bits, for any number of threads and any company.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <mutex>

#include "base/random.hpp"
#include "nalm/model.hpp"
#include "nalm/train.hpp"
#include "train/recipe_fields.hpp"

namespace nalm {
namespace {

// Depends on run and iteration only, as a batch source must.
void products(int run, long iteration, std::span<double> x, std::span<double> t) {
  Xoshiro random(static_cast<std::uint64_t>(run) * 1000003u + static_cast<std::uint64_t>(iteration));
  const std::size_t inputs = x.size() / t.size();
  for (double& value : x) value = random.between(-2, 2);
  for (std::size_t k = 0; k < t.size(); ++k) t[k] = x[k * inputs] * x[k * inputs + 1];
}

std::vector<std::vector<std::uint64_t>> trained_bits(const Stack& stack, int runs, int threads, Precision precision,
                                                     int pieces = 1) {
  Trainer::Settings settings = default_training(stack);
  settings.runs = runs;
  settings.threads = threads;
  settings.precision = precision;
  settings.recipe.training.batch = 13;  // not a multiple of the samples in flight
  auto trainer = Trainer::create(settings);
  EXPECT_TRUE(trainer.ok());
  for (int run = 0; run < runs; ++run) trainer->start(run, 100 + static_cast<std::uint64_t>(run));
  for (int k = 0; k < pieces; ++k) trainer->train(120 / pieces, products);
  EXPECT_EQ(trainer->iteration(), 120);
  std::vector<std::vector<std::uint64_t>> result;
  for (int run = 0; run < runs; ++run) {
    result.emplace_back();
    for (const Layer& layer : trainer->model(run).layers) {
      for (double p : layer.parameters) result.back().push_back(std::bit_cast<std::uint64_t>(p));
    }
  }
  return result;
}

TEST(Trainer, GivesTheSameBitsForAnyNumberOfThreads) {
  for (const char* text : {"NMU:1", "NALU:1", "NAU:2,NMU:1", "iNALU:1"}) {
    const auto stack = parse_stack(text, 2);
    ASSERT_TRUE(stack.ok());
    for (Precision precision : {Precision::Float, Precision::Double}) {
      const auto one = trained_bits(*stack, 37, 1, precision);
      EXPECT_EQ(one, trained_bits(*stack, 37, 2, precision)) << text;
      EXPECT_EQ(one, trained_bits(*stack, 37, 5, precision)) << text;
    }
  }
}

TEST(Trainer, GivesARunTheSameBitsAloneAsInCompany) {
  const auto stack = parse_stack("RealNPU:1", 2);
  ASSERT_TRUE(stack.ok());
  const auto many = trained_bits(*stack, 21, 2, Precision::Float);
  const auto few = trained_bits(*stack, 3, 1, Precision::Float);
  for (std::size_t run = 0; run < few.size(); ++run) EXPECT_EQ(few[run], many[run]) << run;
}

TEST(Trainer, AsksOnceForTheBatchOfEveryRunAndIteration) {
  Trainer::Settings settings = default_training(*parse_stack("NAU:1", 2));
  settings.runs = 21;  // fills no whole number of bundles
  settings.threads = 3;
  settings.recipe.training.batch = 4;
  auto trainer = Trainer::create(settings);
  ASSERT_TRUE(trainer.ok());
  for (int run = 0; run < 21; ++run) trainer->start(run, 1);
  std::mutex mutex;
  std::map<std::pair<int, long>, int> asked;
  trainer->train(5, [&](int run, long iteration, std::span<double> x, std::span<double> t) {
    EXPECT_EQ(x.size(), 8u);
    EXPECT_EQ(t.size(), 4u);
    products(run, iteration, x, t);
    const std::lock_guard lock(mutex);
    ++asked[{run, iteration}];
  });
  EXPECT_EQ(asked.size(), 21u * 5u);
  for (int run = 0; run < 21; ++run) {
    for (long iteration = 0; iteration < 5; ++iteration) {
      EXPECT_EQ((asked[{run, iteration}]), 1) << run << ", " << iteration;
    }
  }
}

TEST(Trainer, GivesTheSameBitsInSeveralPieces) {
  const auto stack = parse_stack("NAU:3,NMU:1", 2);
  ASSERT_TRUE(stack.ok());
  EXPECT_EQ(trained_bits(*stack, 9, 2, Precision::Float), trained_bits(*stack, 9, 2, Precision::Float, 4));
}

TEST(Trainer, DifferentSeedsGiveDifferentRuns) {
  const auto stack = parse_stack("NMU:1", 2);
  const auto bits = trained_bits(*stack, 2, 1, Precision::Float);
  EXPECT_NE(bits[0], bits[1]);
}

TEST(Trainer, TeachesAnNmuToMultiply) {
  const auto stack = parse_stack("NMU:1", 3);
  ASSERT_TRUE(stack.ok());
  Trainer::Settings settings = default_training(*stack);
  settings.recipe.layers[0].regularisers = {Regulariser::sparsity(0.1, 2000, 3000)};
  settings.runs = 8;
  auto trainer = Trainer::create(settings);
  ASSERT_TRUE(trainer.ok());
  for (int run = 0; run < 8; ++run) trainer->start_like_torch(run, static_cast<std::uint32_t>(run));
  trainer->train(6000, products);
  // Fixed seeds, so no chance is involved: all eight learn it.
  for (int run = 0; run < 8; ++run) {
    EXPECT_EQ(print(ideal_formula(trainer->model(run), {}).outputs[0]), "x1*x2") << "run " << run;
  }
}

TEST(Trainer, RefusesWhatItCannotDo) {
  Trainer::Settings settings;
  EXPECT_EQ(Trainer::create(settings).error().message, "a network needs at least one layer.");
  settings.stack = *parse_stack("NAU:1", 2);
  settings.runs = 0;
  EXPECT_EQ(Trainer::create(settings).error().message, "a trainer needs at least 1 run, not 0.");
  settings.runs = 1;
  settings.recipe.training.batch = 0;
  EXPECT_EQ(Trainer::create(settings).error().message, "a batch needs at least 1 row, not 0.");
}

// A fit trains with the habits of the user's last layer, whatever the number of columns: a ramp that begins when
// training ends would never discretise anything.
TEST(DefaultTraining, DoesNotDependOnTheNumberOfInputs) {
  for (const ModuleInfo* module : all_modules()) {
    const Recipe own = module->recipe();
    ASSERT_EQ(own.layers.size(), 1u) << module->name;
    for (const int inputs : {2, 3, 10, 100}) {
      const Stack stack{{module, default_shape(*module, inputs, module->outputs_multiple_of)}};
      EXPECT_EQ(to_json(default_training(stack).recipe), to_json(own)) << module->name << " " << inputs;
    }
    for (const Regulariser& r : own.layers[0].regularisers) {
      EXPECT_TRUE(!r.has_ramp() || r.end <= static_cast<double>(own.training.iterations)) << module->name;
    }
  }
}

TEST(Trainer, RefusesARecipeForAnotherStack) {
  Trainer::Settings settings = default_training(*parse_stack("NAU:1", 2));
  settings.stack = *parse_stack("NAU:2,NMU:1", 2);
  EXPECT_FALSE(Trainer::create(settings).ok());
}

TEST(Trainer, TrainsAsLongAsTheRecipeSays) {
  Trainer::Settings settings = default_training(*parse_stack("NAU:1", 2));
  settings.recipe.training.iterations = 12;
  auto trainer = Trainer::create(settings);
  ASSERT_TRUE(trainer.ok());
  trainer->start(0, 1);
  const BatchSource ones = [](int, long, std::span<double> x, std::span<double> t) {
    std::fill(x.begin(), x.end(), 1.0);
    std::fill(t.begin(), t.end(), 1.0);
  };
  trainer->train(5, ones);
  trainer->train(ones);
  EXPECT_EQ(trainer->iteration(), 12);
}

}  // namespace
}  // namespace nalm
