#include <gtest/gtest.h>

#include "nalm/model.hpp"
#include "nalm/train.hpp"

namespace nalm::skeleton_test {
namespace {

TEST(Skeleton, AddsAnOffsetToAWeightedSum) {
  const auto model =
      parse_model(R"({"format":"nalm-model","version":1,"layers":[{"module":"SKELETON","inputs":2,"outputs":1,
      "parameters":{"W":[[1],[-1]],"b":[0.25]}}]})",
                  "test");
  ASSERT_TRUE(model.ok()) << model.error().message;
  const double row[] = {3, 5};
  const auto y = predict(*model, row, Precision::Double);
  ASSERT_TRUE(y.ok());
  EXPECT_EQ((*y)[0], -1.75);
  EXPECT_EQ(print(ideal_formula(*model, {})->outputs[0]), "0.25 + x1 - x2");
}

TEST(Skeleton, LearnsASum) {
  const auto stack = parse_stack("SKELETON:1", 2);
  ASSERT_TRUE(stack.ok()) << stack.error().message;
  Trainer::Settings settings = default_training(*stack);
  settings.recipe.training.batch = 16;
  auto trainer = Trainer::create(settings);
  ASSERT_TRUE(trainer.ok());
  ASSERT_TRUE(trainer->start(0, 1).ok());
  const Status trained = trainer->train(3000, [](int, long iteration, std::span<double> x, std::span<double> t) {
    for (std::size_t k = 0; k < t.size(); ++k) {
      x[2 * k] = 1 + 0.01 * static_cast<double>((iteration * 7 + static_cast<long>(k) * 13) % 100);
      x[2 * k + 1] = 1 + 0.01 * static_cast<double>((iteration * 11 + static_cast<long>(k) * 29) % 100);
      t[k] = x[2 * k] + x[2 * k + 1];
    }
  });
  ASSERT_TRUE(trained.ok()) << trained.error().message;
  EXPECT_EQ(print(ideal_formula(*trainer->model(0), {})->outputs[0]).find("x1 + x2") == std::string::npos, false);
}

}  // namespace
}  // namespace nalm::skeleton_test
