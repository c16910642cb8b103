// Where papers train a module differently for one operation, or with many inputs.
#include "tasks/single_module/recipes.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tasks/single_module_plan.hpp"
#include "train/recipe_fields.hpp"

namespace nalm::single_module_recipes_test {
namespace {

using Values = std::vector<double>;

Recipe recipe_of(const char* module, Operation operation, int inputs) {
  return single_module_recipe(**find_module(module), operation, inputs);
}
Values strengths(const Regulariser& r, const std::vector<long>& iterations) {
  Values values;
  for (const long e : iterations) values.push_back(r.coefficient(e));
  return values;
}

TEST(SingleModuleRecipes, AreTheModulesOwnOtherwise) {
  for (const ModuleInfo* module : all_modules())
    for (const Operation operation : {Operation::Add, Operation::Subtract, Operation::Multiply})
      EXPECT_EQ(to_json(single_module_recipe(*module, operation, 2)), to_json(module->recipe())) << module->name;
}

TEST(SingleModuleRecipes, RampsAreLaterWithManyInputs) {
  struct Wide {
    const char* module;
    double strength, learning_rate;
  };
  for (const Wide& wide : {Wide{"NAU", 0.01, 1e-3}, Wide{"sNMU", 10, 1e-3}, Wide{"sNMU-batch", 10, 1e-3},
                           Wide{"NRU", 10, 1e-3}, Wide{"NRU-separate", 10, 1e-3}, Wide{"NMRU", 5, 1e-2},
                           Wide{"NMRU-vanilla", 5, 1e-2}, Wide{"sNMRU", 5, 1e-2}, Wide{"NRU-log", 0.1, 1e-2}}) {
    SCOPED_TRACE(wide.module);
    const Recipe ten = recipe_of(wide.module, Operation::Multiply, 10), own = (*find_module(wide.module))->recipe();
    EXPECT_EQ(ten.training.iterations, 100000);
    EXPECT_EQ(ten.training.optimiser.kind, Optimiser::Kind::Adam);
    EXPECT_EQ(ten.training.optimiser.learning_rate(), wide.learning_rate);
    EXPECT_EQ(ten.training.clip_norm, own.training.clip_norm);
    EXPECT_EQ(ten.training.loss.kind, own.training.loss.kind);
    EXPECT_EQ(ten.training.noise.has_value(), own.training.noise.has_value());
    ASSERT_EQ(ten.layers[0].regularisers.size(), 1u);
    EXPECT_EQ(ten.layers[0].regularisers[0].kind, Regulariser::Kind::Sparsity);
    EXPECT_TRUE(ten.layers[0].regularisers[0].parameter.empty());
    EXPECT_EQ(strengths(ten.layers[0].regularisers[0], {50000, 62500, 75000, 100000}),
              (Values{0, wide.strength / 2, wide.strength, wide.strength}));
  }
  EXPECT_EQ(recipe_of("NRU-log", Operation::Divide, 10).training.cool_down->factor(50000), 1);
  EXPECT_EQ(recipe_of("NRU-log", Operation::Divide, 10).training.cool_down->factor(100000), 0);
  // The survey says nothing about other sizes of a NAU.
  EXPECT_EQ(recipe_of("NAU", Operation::Add, 3).training.iterations, 50000);
  EXPECT_EQ(recipe_of("NAU", Operation::Add, 100).training.iterations, 100000);
  EXPECT_EQ(recipe_of("NRU", Operation::Multiply, 3).training.iterations, 100000);
}

TEST(SingleModuleRecipes, TheModifiedRealNpuHasThreeRegularisersWithManyInputs) {
  for (const Operation operation : {Operation::Multiply, Operation::Divide}) {
    const Recipe r = recipe_of("RealNPU-modified", operation, 10);
    EXPECT_EQ(r.training.optimiser.learning_rate(), 5e-3);
    EXPECT_EQ(r.training.iterations, 100000);
    ASSERT_EQ(r.layers[0].regularisers.size(), 3u);
    const Regulariser &power = r.layers[0].regularisers[0], &gate = r.layers[0].regularisers[1],
                      &l1 = r.layers[0].regularisers[2];
    EXPECT_EQ(power.kind, Regulariser::Kind::Unit);
    EXPECT_EQ(power.parameter, "W_re");
    EXPECT_EQ(gate.kind, Regulariser::Kind::Sparsity);
    EXPECT_EQ(gate.parameter, "g");
    for (const Regulariser* ramp : {&power, &gate})
      EXPECT_EQ(strengths(*ramp, {50000, 62500, 75000}), (Values{0, 0.5, 1}));
    EXPECT_EQ(l1.kind, Regulariser::Kind::L1);
    EXPECT_TRUE(l1.parameter.empty());
    EXPECT_DOUBLE_EQ(l1.coefficient(9999), 1e-9);
    EXPECT_DOUBLE_EQ(l1.coefficient(10000), 1e-8);
    EXPECT_DOUBLE_EQ(l1.coefficient(100000), 1e-7);
  }
}

TEST(SingleModuleRecipes, PowersAreHeldBackLessForDivision) {
  for (const char* npu : {"NPU", "RealNPU", "NaiveNPU"}) {
    for (const int inputs : {2, 10}) {
      const Recipe r = recipe_of(npu, Operation::Divide, inputs);
      EXPECT_EQ(r.training.optimiser.learning_rate(), 5e-3);
      EXPECT_EQ(r.training.iterations, 50000);
      ASSERT_EQ(r.layers[0].regularisers.size(), 1u);
      const Regulariser& l1 = r.layers[0].regularisers[0];
      EXPECT_EQ(l1.kind, Regulariser::Kind::L1);
      EXPECT_TRUE(l1.parameter.empty());
      EXPECT_EQ(l1.coefficient(0), 1e-9);
      EXPECT_DOUBLE_EQ(l1.coefficient(9999), 1e-9);
      EXPECT_DOUBLE_EQ(l1.coefficient(10000), 1e-8);
      EXPECT_NEAR(l1.coefficient(50000), 1e-7, 1e-20);
    }
  }
}

TEST(SingleModuleRecipes, ReadBackFromJson) {
  for (const Pair& pair : all_pairs()) {
    for (const int inputs : {2, 10}) {
      const Recipe recipe = single_module_recipe(*pair.module, pair.operation, inputs);
      const Result<Recipe> again = recipe_from_json(to_json(recipe));
      ASSERT_TRUE(again.ok()) << pair.module->name << ": " << complaint(again);
      EXPECT_EQ(to_json(*again), to_json(recipe)) << pair.module->name;
    }
  }
}

// ---- with the changes of a plan ------------------------------------------------------------------------------------

Pair pair_of(std::string_view module, Operation operation) { return {*find_module(module), operation}; }

TEST(RecipeOfACell, IsTheTasksWithoutChanges) {
  for (const Pair& pair : all_pairs()) {
    const Recipe wanted = single_module_recipe(*pair.module, pair.operation, 2);
    const Recipe recipe = recipe_in(single_module_plan("", "", ""), pair);
    EXPECT_EQ(to_json(recipe), to_json(wanted)) << pair.module->name;
    EXPECT_EQ(recipe.training.iterations, pair.module->recipe().training.iterations);
  }
}

TEST(RecipeOfACell, NauTrainsLongerWithTenOrAHundredInputs) {
  for (const int inputs : {2, 3, 10, 11, 100}) {
    Plan plan = single_module_plan("", "", "");
    plan.options["inputs"] = std::to_string(inputs);
    const bool wide = inputs == 10 || inputs == 100;
    const Recipe nau = recipe_in(plan, pair_of("NAU", Operation::Add));
    EXPECT_EQ(nau.training.iterations, wide ? 100000 : 50000) << inputs;
    ASSERT_EQ(nau.layers[0].regularisers.size(), 1u);
    EXPECT_EQ(nau.layers[0].regularisers[0].start, wide ? 50000 : 20000) << inputs;
    EXPECT_EQ(nau.layers[0].regularisers[0].end, wide ? 75000 : 35000) << inputs;
    EXPECT_EQ(nau.layers[0].regularisers[0].strength, 0.01) << inputs;
    // The paper says nothing about others.
    for (const char* name : {"NMU", "iNALU", "NAC+"}) {
      const Pair pair{*find_module(name), (*find_module(name))->operations.front()};
      EXPECT_EQ(to_json(recipe_in(plan, pair)), to_json(pair.module->recipe())) << name;
    }
  }
}

TEST(RecipeOfACell, ItsIterationsNeverRescaleASchedule) {
  for (const int inputs : {2, 10}) {
    Plan plain = single_module_plan("", "", ""), changed = plain;
    plain.options["inputs"] = changed.options["inputs"] = std::to_string(inputs);
    changed.iterations = 123;
    for (const Pair& pair : all_pairs()) {
      Recipe wanted = recipe_in(plain, pair);
      wanted.training.iterations = 123;
      EXPECT_EQ(to_json(recipe_in(changed, pair)), to_json(wanted)) << pair.module->name;
    }
  }
}

TEST(RecipeOfACell, TakesTheLearningRateOfThePlan) {
  Plan plan = single_module_plan("", "", "");
  plan.learning_rate = 0.125;
  for (const Pair& pair : all_pairs()) {
    Recipe wanted = single_module_recipe(*pair.module, pair.operation, 2);
    EXPECT_NE(wanted.training.optimiser.learning_rate(), 0.125);
    wanted.training.optimiser.set_learning_rate(0.125);
    const Recipe recipe = recipe_in(plan, pair);
    EXPECT_EQ(recipe.training.optimiser.learning_rate(), 0.125);
    EXPECT_EQ(to_json(recipe), to_json(wanted));
  }
}

TEST(RecipeOfACell, TakesTheChangesOfThePlan) {
  Plan plan = single_module_plan("", "", "");
  plan.options["inputs"] = "10";
  plan.recipe = R"({"clip_norm": 0.25})";
  for (const Pair& pair : all_pairs()) {
    Recipe wanted = single_module_recipe(*pair.module, pair.operation, 10);
    wanted.training.clip_norm = 0.25;
    EXPECT_EQ(to_json(recipe_in(plan, pair)), to_json(wanted)) << pair.module->name;
  }
}

}  // namespace
}  // namespace nalm::single_module_recipes_test
