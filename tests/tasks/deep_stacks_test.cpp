// Deep stacks: the target by hand, and a stack of exact units that is it.
#include <gtest/gtest.h>

#include <cmath>

#include "experiment/task.hpp"
#include "nalm/model.hpp"

namespace nalm::deep_stacks_test {
namespace {

std::vector<Cell> cells() { return (*find_task("deep-stacks"))->preset_cells("full"); }

TEST(DeepStacks, ExactUnitsAreTheTarget) {
  int seen = 0;
  for (const Cell& cell : cells()) {
    if (cell.model != "NAU and NMU" || cell.setting != "hidden 2") continue;
    ++seen;
    Model model;
    for (const LayerSpec& layer : cell.stack) {
      const bool adds = layer.module->name == "NAU";
      EXPECT_EQ(adds, model.layers.size() % 2 == 0);
      std::vector<double> W = adds ? std::vector<double>{1, 1, 1, -1} : std::vector<double>{1, 0, 1, 1};
      if (layer.shape.outputs == 1) W = {1, 1};
      model.layers.push_back({layer.module, layer.shape, W});
    }
    const Rows rows = cell.data(0)->set(1);
    const std::vector<double> y = *predict(model, rows.x, Precision::Double);
    for (std::size_t r = 0; r < 10; ++r) EXPECT_NEAR(y[r], rows.t[r], 1e-9 * std::max(1.0, std::abs(y[r])));
    const double a = rows.x[0], b = rows.x[1];
    if (cell.operation == "2 layers") {
      EXPECT_NEAR(y[0], (a + b) * (a - b), 1e-12);
    } else if (cell.operation == "3 layers") {
      EXPECT_NEAR(y[0], (a + b) * (a - b) + (a - b), 1e-12);
    }
    for (const double x : rows.x) EXPECT_TRUE(std::abs(x) >= 1 && std::abs(x) <= 2) << x;
    // 1e-5 of what there is, squared, and more of it in deeper stacks.
    EXPECT_GT(cell.goal.limit, 1e-11);
    EXPECT_LT(cell.goal.limit, 1);
  }
  EXPECT_EQ(seen, 5);
}

TEST(DeepStacks, TakeTurnsAndEndInOne) {
  for (const Cell& cell : cells()) {
    EXPECT_EQ(std::to_string(cell.stack.size()) + " layers", cell.operation);
    EXPECT_EQ(cell.stack.back().shape.outputs, 1);
    EXPECT_EQ(cell.recipe.layers.size(), cell.stack.size());
    EXPECT_EQ(cell.recipe.training.loss.kind, Loss::Kind::Squared);
  }
}

}  // namespace
}  // namespace nalm::deep_stacks_test
