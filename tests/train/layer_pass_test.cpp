// A layer as a function of a batch: what models give, and the gradient that they have.
#include "nalm/layer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.hpp"
#include "nalm/model.hpp"
#include "train/start_values.hpp"

namespace nalm::layer_pass_test {
namespace {

struct Case {
  Model model;
  std::vector<double> x, t;
};

// Rows that fill no whole number of lanes, and more than a tile of them.
constexpr std::size_t rows = 301;

Case case_of(const ModuleInfo& module) {
  Case made;
  const LayerShape shape = default_shape(module, 3, 2);
  Xoshiro random(1);
  made.model.layers = {{&module, shape, start_values(module, shape, random)}};
  for (std::size_t k = 0; k < rows * 3; ++k)
    made.x.push_back(module.truth_values ? random.between(0.1, 0.9) : random.between(1, 2));
  for (std::size_t k = 0; k < rows * 2; ++k) made.t.push_back(random.between(1, 2));
  return made;
}

TEST(LayerPass, GivesWhatTheModelGives) {
  for (const ModuleInfo* module : all_modules()) {
    const Case c = case_of(*module);
    const Layer& layer = c.model.layers[0];
    std::vector<double> y(rows * 2);
    layer_forward<double>({module, layer.shape}, {layer.parameters.data(), c.x.data(), rows}, false, y.data());
    const auto expected = predict(c.model, c.x, Precision::Double);
    ASSERT_TRUE(expected.ok());
    for (std::size_t k = 0; k < y.size(); ++k) EXPECT_EQ(y[k], (*expected)[k]) << module->name << " " << k;
  }
}

TEST(LayerPass, HasTheGradientsOfTheModel) {
  for (const ModuleInfo* module : all_modules()) {
    const Case c = case_of(*module);
    const Layer& layer = c.model.layers[0];
    const LayerSpec spec{module, layer.shape};
    const LayerBatch<double> batch{layer.parameters.data(), c.x.data(), rows};
    std::vector<double> y(rows * 2), dy(y.size()), dx(c.x.size()), dp(layer.parameters.size());
    layer_forward(spec, batch, true, y.data());
    for (std::size_t k = 0; k < y.size(); ++k) dy[k] = 2 * (y[k] - c.t[k]) / static_cast<double>(y.size());
    layer_backward(spec, batch, dy.data(), dx.data(), dp.data());
    const auto expected = gradients(c.model, c.x, c.t, Precision::Double);
    ASSERT_TRUE(expected.ok());
    const auto compare = [&](const std::vector<double>& ours, const std::vector<double>& theirs, const char* what) {
      double largest = 0;
      for (const double g : theirs) largest = std::max(largest, std::fabs(g));
      ASSERT_EQ(ours.size(), theirs.size());
      for (std::size_t k = 0; k < ours.size(); ++k)
        EXPECT_NEAR(ours[k], theirs[k], 1e-10 * largest) << module->name << ", " << what << " " << k;
    };
    compare(dp, expected->layers[0], "parameter");
    compare(dx, expected->inputs, "input");
    std::vector<double> alone(dp.size());
    layer_backward<double>(spec, batch, dy.data(), nullptr, alone.data());
    EXPECT_EQ(alone, dp) << module->name;
  }
}

}  // namespace
}  // namespace nalm::layer_pass_test
