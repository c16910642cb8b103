// The public way to train: same run, same bits, for any number of threads and any company.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <mutex>
#include <stdexcept>
#include <stop_token>

#include "base/random.hpp"
#include "nalm/model.hpp"
#include "nalm/train.hpp"
#include "train/recipe_fields.hpp"

namespace nalm::trainer_test {
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
  for (int run = 0; run < runs; ++run) EXPECT_TRUE(trainer->start(run, 100 + static_cast<std::uint64_t>(run)).ok());
  for (int k = 0; k < pieces; ++k) EXPECT_TRUE(trainer->train(120 / pieces, products).ok());
  EXPECT_EQ(trainer->iteration(), 120);
  std::vector<std::vector<std::uint64_t>> result;
  for (int run = 0; run < runs; ++run) {
    result.emplace_back();
    const Result<Model> model = trainer->model(run);
    for (const Layer& layer : model->layers) {
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
  for (int run = 0; run < 21; ++run) ASSERT_TRUE(trainer->start(run, 1).ok());
  std::mutex mutex;
  std::map<std::pair<int, long>, int> asked;
  const Status trained = trainer->train(5, [&](int run, long iteration, std::span<double> x, std::span<double> t) {
    EXPECT_EQ(x.size(), 8u);
    EXPECT_EQ(t.size(), 4u);
    products(run, iteration, x, t);
    const std::lock_guard lock(mutex);
    ++asked[{run, iteration}];
  });
  ASSERT_TRUE(trained.ok());
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
  for (int run = 0; run < 8; ++run) ASSERT_TRUE(trainer->start_like_torch(run, static_cast<std::uint32_t>(run)).ok());
  ASSERT_TRUE(trainer->train(6000, products).ok());
  // Fixed seeds, so no chance is involved: all eight learn it.
  for (int run = 0; run < 8; ++run) {
    EXPECT_EQ(print(ideal_formula(*trainer->model(run), {})->outputs[0]), "x1*x2") << "run " << run;
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
  ASSERT_TRUE(trainer->start(0, 1).ok());
  const BatchSource ones = [](int, long, std::span<double> x, std::span<double> t) {
    std::fill(x.begin(), x.end(), 1.0);
    std::fill(t.begin(), t.end(), 1.0);
  };
  ASSERT_TRUE(trainer->train(5, ones).ok());
  ASSERT_TRUE(trainer->train(ones).ok());
  EXPECT_EQ(trainer->iteration(), 12);
}

Trainer::Settings one_nau() {
  Trainer::Settings settings = default_training(*parse_stack("NAU:1", 2));
  settings.runs = 2;
  settings.recipe.training.batch = 4;
  return settings;
}

// ---- traps: each of these was accepted in silence, or crashed ----

TEST(TrainerTraps, TrainingWithoutStartValuesIsAnError) {
  auto trainer = Trainer::create(one_nau());
  ASSERT_TRUE(trainer->start(0, 1).ok());
  EXPECT_EQ(trainer->train(5, products).error().message,
            "run 1 has no start values; call start(), start_like_torch() or start_from() for every run.");
  EXPECT_EQ(trainer->model(1).error().message, "run 1 has no start values yet, so there is nothing to see.");
  EXPECT_EQ(trainer->iteration(), 0);
}

TEST(TrainerTraps, RunsThatThereAreNotAreErrors) {
  auto trainer = Trainer::create(one_nau());
  const std::string none = "there is no run 7; the trainer has runs 0 to 1.";
  EXPECT_EQ(trainer->start(7, 1).error().message, none);
  EXPECT_EQ(trainer->start_like_torch(7, 1).error().message, none);
  EXPECT_EQ(trainer->set_validation_error(7, 1).error().message, none);
  EXPECT_EQ(trainer->model(7).error().message, none);
  EXPECT_EQ(trainer->layers(7).error().message, none);
  EXPECT_EQ(trainer->predict(7, {}).error().message, none);
  EXPECT_FALSE(trainer->start(-1, 1).ok());
  EXPECT_FALSE(trainer->model(-1).ok());
  EXPECT_FALSE(trainer->start_like_torch(0, 1, 0).ok());
}

TEST(TrainerTraps, NumbersOutOfRangeAreErrors) {
  const auto refusal = [](auto change) {
    Trainer::Settings settings = one_nau();
    change(settings);
    const auto trainer = Trainer::create(settings);
    return trainer.ok() ? std::string() : trainer.error().message;
  };
  using Settings = Trainer::Settings;
  EXPECT_EQ(refusal([](Settings& s) { s.recipe.training.optimiser.set_learning_rate(-1); }),
            "the recipe cannot be used: optimiser.learning_rate must be from 0 to below 1000000.");
  EXPECT_NE(refusal([](Settings& s) { s.recipe.training.optimiser.set_learning_rate(std::nan("")); }), "");
  EXPECT_EQ(refusal([](Settings& s) { s.recipe.training.optimiser.set_learning_rate(0); }), "") << "a control";
  EXPECT_NE(refusal([](Settings& s) { s.recipe.training.optimiser.adam.beta1 = 2; }), "");
  EXPECT_NE(refusal([](Settings& s) { s.recipe.training.clip_norm = -1; }), "");
  EXPECT_NE(refusal([](Settings& s) { s.recipe.training.reinitialise = Reinitialise{.every = 0}; }), "");
  EXPECT_NE(refusal([](Settings& s) { s.recipe.training.iterations = -5; }), "");
  EXPECT_NE(refusal([](Settings& s) { s.threads = -1; }), "");
  EXPECT_EQ(refusal([](Settings& s) { s.recipe.layers[0].regularisers = {Regulariser::sparsity(1, 0, 1, "V")}; }),
            "the recipe names a parameter \"V\" in layer 1, but NAU has none of that name.");
  EXPECT_NE(refusal([](Settings& s) { s.recipe.layers[0].starts = {{"V", 0, 1}}; }), "");
  EXPECT_EQ(refusal([](Settings& s) { s.recipe.training.phases = Phases{"g"}; }),
            "the recipe's phases name a parameter \"g\", which no layer has.");
  auto trainer = Trainer::create(one_nau());
  for (int run = 0; run < 2; ++run) ASSERT_TRUE(trainer->start(run, 1).ok());
  EXPECT_FALSE(trainer->train(-1, products).ok());
  EXPECT_FALSE(trainer->train(1, BatchSource()).ok());
  EXPECT_FALSE(trainer->train(1, products, {.progress = [](Trainer&) {}, .every = 0}).ok());
}

TEST(TrainerTraps, EveryModulesOwnRecipeIsSensible) {
  for (const ModuleInfo* module : all_modules()) {
    const Stack stack{{module, default_shape(*module, 3, module->outputs_multiple_of)}};
    const Status sensible = check_recipe(default_recipe(stack), stack);
    EXPECT_TRUE(sensible.ok()) << module->name << ": " << sensible.error().message;
  }
}

TEST(TrainerTraps, StartingAgainIsAnError) {
  auto trainer = Trainer::create(one_nau());
  for (int run = 0; run < 2; ++run) ASSERT_TRUE(trainer->start(run, 1).ok());
  ASSERT_TRUE(trainer->start(0, 2).ok());  // before training it is no harm
  ASSERT_TRUE(trainer->train(1, products).ok());
  EXPECT_EQ(trainer->start(0, 1).error().message,
            "start values come before the first iteration; make a new Trainer to start again.");
}

TEST(TrainerTraps, AnExceptionOfTheSourceIsAnError) {
  for (const int threads : {1, 3}) {
    Trainer::Settings settings = one_nau();
    settings.runs = 40;
    settings.threads = threads;
    auto trainer = Trainer::create(settings);
    for (int run = 0; run < settings.runs; ++run) ASSERT_TRUE(trainer->start(run, 1).ok());
    const Status trained = trainer->train(5, [](int run, long iteration, std::span<double> x, std::span<double> t) {
      if (run == 17 && iteration == 2) throw std::runtime_error("the disk is gone");
      products(run, iteration, x, t);
    });
    ASSERT_FALSE(trained.ok());
    EXPECT_NE(trained.error().message.find("the disk is gone"), std::string::npos) << trained.error().message;
    // Runs are at different iterations now; nobody may mistake them for trained ones.
    EXPECT_FALSE(trainer->train(1, products).ok());
    EXPECT_FALSE(trainer->checkpoint().ok());
  }
}

TEST(TrainerTraps, AModuleThatTheProgramDoesNotHaveIsAnError) {
  const ModuleInfo own = **find_module("NAU");
  Trainer::Settings settings = one_nau();
  settings.stack[0].module = &own;
  EXPECT_EQ(Trainer::create(settings).error().message,
            "layer 1: \"NAU\" is not one of this program's modules; nalm_add_modules() in CMake adds one's own, and "
            "find_module() finds them by name.");
  settings.stack[0].module = nullptr;
  EXPECT_EQ(Trainer::create(settings).error().message, "layer 1 has no module; find_module() finds one by name.");
  EXPECT_EQ(default_recipe(settings.stack).layers.size(), 1u);
}

// ---- going on from a model, watching, stopping ----

TEST(Trainer, GoesOnFromAModel) {
  const Model model = *parse_model(R"({"format":"nalm-model","version":1,"layers":[
      {"module":"NAU","inputs":2,"outputs":1,"parameters":{"W":[[0.5],[-0.25]]}}]})",
                                   "test");
  auto trainer = Trainer::create(one_nau());
  for (int run = 0; run < 2; ++run) ASSERT_TRUE(trainer->start_from(run, model, 1).ok());
  EXPECT_EQ(trainer->model(1)->layers[0].parameters, model.layers[0].parameters);
  ASSERT_TRUE(trainer->train(1, products).ok());
  // Adam's first step is the learning rate in each direction.
  EXPECT_NEAR(std::fabs(trainer->model(1)->layers[0].parameters[0] - 0.5), 1e-3, 1e-5);

  Trainer::Settings other = default_training(*parse_stack("NMU:1", 2));
  auto refusing = Trainer::create(other);
  EXPECT_EQ(refusing->start_from(0, model, 1).error().message,
            "the model has the layers NAU:1, but the trainer has NMU:1.");
  EXPECT_FALSE(refusing->start_from(0, Model(), 1).ok());
}

TEST(Trainer, CallsBackWithAllRunsAtTheSameIteration) {
  Trainer::Settings settings = one_nau();
  settings.runs = 21;
  auto watched = Trainer::create(settings), alone = Trainer::create(settings);
  for (int run = 0; run < settings.runs; ++run) {
    ASSERT_TRUE(watched->start(run, 3).ok());
    ASSERT_TRUE(alone->start(run, 3).ok());
  }
  std::vector<long> seen;
  TrainWatch watch;
  watch.every = 4;
  watch.progress = [&](Trainer& trainer) { seen.push_back(trainer.iteration()); };
  ASSERT_TRUE(watched->train(3, products, watch).ok());
  ASSERT_TRUE(watched->train(10, products, watch).ok());
  EXPECT_EQ(seen, (std::vector<long>{4, 8, 12}));
  ASSERT_TRUE(alone->train(13, products).ok());
  EXPECT_EQ(*watched->checkpoint(), *alone->checkpoint());
  watch.progress = [](Trainer&) { throw std::runtime_error("enough"); };
  EXPECT_FALSE(watched->train(8, products, watch).ok());
}

TEST(Trainer, StopsWithAllRunsAtTheSameIteration) {
  Trainer::Settings settings = one_nau();
  settings.runs = 40;
  settings.threads = 2;
  auto trainer = Trainer::create(settings), alone = Trainer::create(settings);
  for (int run = 0; run < settings.runs; ++run) {
    ASSERT_TRUE(trainer->start(run, 3).ok());
    ASSERT_TRUE(alone->start(run, 3).ok());
  }
  std::stop_source stop;
  TrainWatch watch;
  watch.stop = stop.get_token();
  const Status trained = trainer->train(
      1000000000,
      [&](int run, long iteration, std::span<double> x, std::span<double> t) {
        if (run == 39 && iteration == 5) stop.request_stop();
        products(run, iteration, x, t);
      },
      watch);
  ASSERT_TRUE(trained.ok()) << trained.error().message;
  EXPECT_GE(trainer->iteration(), 5);
  EXPECT_LT(trainer->iteration(), 1000000);
  ASSERT_TRUE(alone->train(trainer->iteration(), products).ok());
  EXPECT_EQ(*trainer->checkpoint(), *alone->checkpoint());
}

// ---- networks that are wired ----

TEST(Trainer, TrainsNetworksThatAreWired) {
  // y = NAU(NAU(x)), the same layer twice.
  Trainer::Settings settings = default_training(*parse_stack("NAU:2", 2));
  settings.wiring.emplace(2);
  const int once = settings.wiring->layer(settings.stack, 0, 0);
  settings.wiring->layer(settings.stack, 0, once);
  settings.recipe.training.batch = 16;
  settings.recipe.training.optimiser = Adam{.learning_rate = 0.01};
  settings.precision = Precision::Double;
  auto trainer = Trainer::create(settings);
  ASSERT_TRUE(trainer.ok()) << trainer.error().message;
  Model near;
  near.layers = {{settings.stack[0].module, settings.stack[0].shape, {0.4, 0.6, 0.5, 0.1}}};
  ASSERT_TRUE(trainer->start_from(0, near, 1).ok());
  const double row[] = {3, 5};
  // W = [[0.4, 0.6], [0.5, 0.1]], x W = (3.7, 2.3), and that times W again.
  EXPECT_NEAR((*trainer->predict(0, row))[0], 3.7 * 0.4 + 2.3 * 0.5, 1e-12);
  EXPECT_NEAR((*trainer->predict(0, row))[1], 3.7 * 0.6 + 2.3 * 0.1, 1e-12);
  // It should learn to exchange the two and back again.
  const Status trained = trainer->train(3000, [](int, long iteration, std::span<double> x, std::span<double> t) {
    Xoshiro random(static_cast<std::uint64_t>(iteration));
    for (std::size_t k = 0; k < x.size(); ++k) t[k] = x[k] = random.between(-1, 1);
  });
  ASSERT_TRUE(trained.ok()) << trained.error().message;
  EXPECT_NEAR((*trainer->predict(0, row))[0], 3, 1e-3);
  EXPECT_EQ(trainer->layers(0)->size(), 1u);
  EXPECT_EQ(trainer->model(0).error().message,
            "this network is wired, and a model is a plain stack; use layers() and predict() of the trainer.");
  EXPECT_FALSE(trainer->predict(0, std::span(row, 1)).ok());
}

TEST(TrainerTraps, WiringsThatMakeNoSenseAreErrors) {
  const Stack stack = *parse_stack("NAU:1", 2);
  const auto refusal = [&](auto build) {
    Wiring wiring(2);
    build(wiring);
    Trainer::Settings settings = default_training(stack);
    settings.wiring = wiring;
    const auto trainer = Trainer::create(settings);
    return trainer.ok() ? std::string() : trainer.error().message;
  };
  EXPECT_EQ(refusal([&](Wiring& w) { w.layer(stack, 0, 0); }), "");
  EXPECT_EQ(refusal([&](Wiring&) {}), "a wiring needs at least one node behind its input.");
  EXPECT_EQ(refusal([&](Wiring& w) {
              w.pick({{0, 0}});
            }),
            "layer 1 is not used by any node of the wiring; leave it out.");
  EXPECT_EQ(refusal([&](Wiring& w) { w.layer(stack, 1, 0); }),
            "node 1 of the wiring applies layer number 1, but there are 1.");
  EXPECT_EQ(refusal([&](Wiring& w) { w.layer(stack, 0, 3); }),
            "node 1 of the wiring is made of node 3, which is not before it.");
  EXPECT_EQ(refusal([&](Wiring& w) { w.layer(stack, 0, w.constant(1, 3)); }),
            "node 2 of the wiring applies a layer of 2 inputs to a node of 3 values.");
  EXPECT_EQ(refusal([&](Wiring& w) {
              w.pick({{0, 2}});
            }),
            "node 1 of the wiring takes value 2 of node 0, which has 2.");
  EXPECT_EQ(refusal([&](Wiring& w) {
              w.sum({{1, 0}, {1, w.constant(1, 3)}});
            }),
            "node 2 of the wiring adds nodes of 2 and of 3 values.");
  EXPECT_EQ(refusal([&](Wiring& w) { w.sum({}); }), "node 1 of the wiring has no values.");
  EXPECT_FALSE(refusal([&](Wiring& w) { w.mix({9, 9}, 5, 6); }).empty());
  EXPECT_FALSE(refusal([&](Wiring& w) { w.constant(1, -1); }).empty());
}

}  // namespace
}  // namespace nalm::trainer_test
