// Models that are not whole, and models that are rounded: errors, and never a crash.
#include <gtest/gtest.h>

#include <cmath>

#include "nalm/nalm.hpp"

namespace nalm::model_test {
namespace {

Model nau(std::vector<double> W) {
  Model model;
  model.layers.push_back({*find_module("NAU"), {static_cast<int>(W.size()), 1, {}}, std::move(W)});
  return model;
}

// ---- traps: each of these crashed or was accepted in silence ----

TEST(ModelTraps, AnEmptyModelIsAnError) {
  const Model empty;
  EXPECT_EQ(empty.inputs(), 0);
  EXPECT_EQ(empty.outputs(), 0);
  EXPECT_TRUE(empty.column_names().empty());
  const std::string message = "a network needs at least one layer.";
  EXPECT_EQ(check_model(empty).error().message, message);
  EXPECT_EQ(predict(empty, {}, Precision::Double).error().message, message);
  EXPECT_EQ(gradients(empty, {}, {}, Precision::Double).error().message, message);
  EXPECT_EQ(explain(empty, {}).error().message, message);
  EXPECT_EQ(ideal_formula(empty, {}).error().message, message);
  EXPECT_EQ(literal_formula(empty, {}).error().message, message);
  EXPECT_EQ(sparsity_error(empty).error().message, message);
  EXPECT_EQ(rounded(empty).error().message, message);
  EXPECT_FALSE(save_model(empty, "/dev/null").ok());
  EXPECT_EQ(formula_size(empty), 1);
}

TEST(ModelTraps, AModelWithoutItsNumbersIsAnError) {
  Model model = nau({1, 1});
  model.layers[0].parameters.pop_back();
  EXPECT_FALSE(ideal_formula(model, {}).ok());
  EXPECT_FALSE(literal_formula(model, {}).ok());
  EXPECT_FALSE(sparsity_error(model).ok());
  EXPECT_FALSE(rounded(model).ok());
}

TEST(ModelTraps, AModuleThatTheProgramDoesNotHaveIsAnError) {
  const ModuleInfo own = **find_module("NAU");
  Model model = nau({1, -1});
  model.layers[0].module = &own;
  const double row[] = {1, 2};
  EXPECT_FALSE(check_shape(own, {2, 1, {}}).ok());
  EXPECT_FALSE(check_stack(model.stack()).ok());
  EXPECT_FALSE(check_model(model).ok());
  EXPECT_FALSE(predict(model, row, Precision::Double).ok());
  EXPECT_FALSE(ideal_formula(model, {}).ok());
  EXPECT_FALSE(explain(model, row).ok());
  EXPECT_EQ(
      check_gradients(own, {}).error().message,
      "\"NAU\" is not one of this program's modules; nalm_add_modules() in CMake adds one's own, and find_module() "
      "finds them by name.");
  model.layers[0].module = nullptr;
  EXPECT_FALSE(check_model(model).ok());
}

TEST(ModelTraps, AGradientCheckOfNothingIsAnError) {
  CheckSettings settings;
  settings.inputs.clear();
  EXPECT_FALSE(check_gradients(**find_module("NAU"), settings).ok());
  settings.inputs = {0};
  EXPECT_FALSE(check_gradients(**find_module("NAU"), settings).ok());
}

// A readout of one's own that asks for what its tables do not have used to end the program.
TEST(ModelTraps, AReadoutThatAsksForTooMuchSaysSo) {
  const ModuleInfo& module = **find_module("NAU");
  const LayerShape shape{2, 1, {}};
  const double W[] = {1, -1};
  Readout readout(module, shape, W, W, {});
  EXPECT_EQ(readout.weight("W", 1, 0), -1);
  EXPECT_TRUE(readout.problem.empty());
  EXPECT_TRUE(std::isnan(readout.weight("V", 0, 0)));
  EXPECT_EQ(readout.problem, "NAU: its readout asks for an array \"V\", which is not in its tables.");
  EXPECT_TRUE(std::isnan(readout.snapped("V", 0, 0)));
  EXPECT_TRUE(std::isnan(readout.parameter("W", 2, 0)));
  EXPECT_EQ(readout.problem, "NAU: its readout asks for an entry outside of the array \"W\".");
}

// ---- what is new ----

TEST(CheckGradients, ShowsTheTwoNumbersOfTheWorstEntry) {
  const Result<ModuleCheck> check = check_gradients(**find_module("NMU"), {});
  ASSERT_TRUE(check.ok());
  for (const CheckedGradient& g : check->gradients) {
    EXPECT_NE(g.worst_backward, 0) << g.name;
    EXPECT_NEAR(g.worst_backward, g.worst_difference, 1e-3) << g.name;
  }
}

// mean over 2 rows of (x W - t)^2, by hand: dx = 2/2 * (y - t) * W.
TEST(Gradients, OfTheInputsByHand) {
  const std::vector<double> rows = {3, 5, 1, 2}, targets = {-1, 0};
  for (const Precision precision : {Precision::Float, Precision::Double}) {
    const auto result = gradients(nau({1, -0.5}), rows, targets, precision);
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(result->inputs, (std::vector<double>{1.5, -0.75, 0, 0}));
    EXPECT_EQ(result->mse, 1.125);
  }
}

TEST(Rounded, KeepsWhatIsNotDiscreteByNature) {
  Model model = nau({0.9999, -1});
  model.layers.push_back({*find_module("Linear"), default_shape(**find_module("Linear"), 1, 1), {2.5, 0.1}});
  const Result<Model> result = rounded(model);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->layers[0].parameters, (std::vector<double>{1, -1}));
  EXPECT_EQ(result->layers[1].parameters, (std::vector<double>{2.5, 0.1}));
}

TEST(Rounded, RefusesWeightsThatAreNotDiscrete) {
  EXPECT_EQ(rounded(nau({0.8, 1})).error().message,
            "layer 1 (NAU) cannot be rounded: W = 0.8 is not a discrete value.");
}

}  // namespace
}  // namespace nalm::model_test
