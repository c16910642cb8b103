// iNALU-shared: golden values, what it shares with the iNALU, and what the weights spell.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "nalm/model.hpp"

namespace nalm::inalu_shared_test {
namespace {

using Values = std::vector<double>;

constexpr double one = 40;  // tanh and sigmoid of this are exactly 1

Model of_module(const char* name, const std::vector<Values>& arrays) {
  Values all;
  for (const Values& v : arrays) all.insert(all.end(), v.begin(), v.end());
  const int outputs = static_cast<int>(arrays.back().size()), inputs = static_cast<int>(arrays[0].size()) / outputs;
  return {{{*find_module(name), {inputs, outputs, {}}, all}}, {}};
}
Model shared(const Values& W_hat, const Values& M_hat, const Values& g) {
  return of_module("iNALU-shared", {W_hat, M_hat, g});
}
Model apart(const Values& W_hat, const Values& M_hat, const Values& g) {
  return of_module("iNALU", {W_hat, M_hat, W_hat, M_hat, g});
}

Values outputs_of(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return *predict(model, x, precision);
}

// dy/dparameters: the gradient of (y - t)^2 with t = y - 1/2.
Values slopes(const Model& model, const Values& x) {
  return gradients(model, x, Values{outputs_of(model, x)[0] - 0.5}, Precision::Double)->layers[0];
}

double weight(double W_hat, double M_hat) { return std::tanh(W_hat) / (1 + std::exp(-M_hat)); }

TEST(INaluShared, SimpleWeightsByHand) {
  const Values both = {one, one}, minus = {one, -one};
  EXPECT_NEAR(outputs_of(shared(both, both, {0}), {-2, 3})[0], -2.5, 1e-14);      // half of 1 and of -6
  EXPECT_NEAR(outputs_of(shared(minus, both, {0}), {-2, 4})[0], -3.25, 1e-14);    // half of -6 and of -1/2
  EXPECT_NEAR(outputs_of(shared(minus, both, {-800}), {3, -2})[0], -1.5, 1e-14);  // the product alone
  EXPECT_EQ(outputs_of(shared(minus, both, {800}), {3, -2})[0], 5);               // the sum alone
}

TEST(INaluShared, IsTheINaluWithEqualWeightsInEveryBit) {
  const Values W = {0.3, -1.2, 2.1, 0.7, -0.4, 5}, M = {0.1, 0.9, -2, 1.5, 3, -0.6}, g = {0.3, -0.7};
  for (const Precision precision : {Precision::Float, Precision::Double}) {
    // Ordinary inputs, zeros, magnitudes below the floor, products above the cap.
    for (const Values& x : {Values{1.25, -3, 0.5}, Values{0, -3, 1e-9}, Values{1e30, -1e20, 1e10}}) {
      EXPECT_EQ(outputs_of(shared(W, M, g), x, precision), outputs_of(apart(W, M, g), x, precision));
    }
  }
}

TEST(INaluShared, WeightsGetTheGradientsOfBothPaths) {
  const Values W = {0.6, -1.1}, M = {-0.3, 0.4}, g = {0.4}, x = {2.5, -1.5};
  const Values together = slopes(shared(W, M, g), x), separate = slopes(apart(W, M, g), x);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(together[k], separate[k] + separate[4 + k], 1e-14) << k;
  EXPECT_NEAR(together[4], separate[8], 1e-14);
}

TEST(INaluShared, CapStopsTheGradientOfTheProduct) {
  const Values slope = slopes(shared({2, 2}, {3, 3}, {-800}), {1e6, 1e6});
  for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(slope[k], 0) << k;
}

TEST(INaluShared, SparsityErrorIsThatOfTheOneW) {
  EXPECT_NEAR(*sparsity_error(shared({0.3, one}, {0, one}, {0})), weight(0.3, 0), 1e-15);
  EXPECT_EQ(*sparsity_error(shared({one, -one}, {one, one}, {0})), 0);
}

TEST(INaluShared, SpellsSumOrSignedProduct) {
  const auto spelled = [](const Model& model) { return print(ideal_formula(model, {})->outputs[0]); };
  EXPECT_EQ(spelled(shared({one, -one}, {one, one}, {one})), "x1 - x2");
  EXPECT_EQ(spelled(shared({one, -one}, {one, one}, {-one})), "x1/x2");
  EXPECT_EQ(spelled(shared({one, 0}, {one, one}, {-one})), "x1");
}

TEST(INaluShared, SaysWhatIsNotDiscrete) {
  EXPECT_EQ(ideal_formula(shared({one}, {0}, {0}), {})->notes,
            (std::vector<std::string>{"gate = 0.5 is not a discrete value", "W = 0.5 is not a discrete value"}));
}

TEST(INaluShared, StartsAndTrainsAsTheINalu) {
  const ModuleInfo &module = **find_module("iNALU-shared"), &separate = **find_module("iNALU");
  ASSERT_EQ(module.parameters.size(), 3u);
  const std::size_t same_as[] = {0, 1, 4};
  for (std::size_t k = 0; k < 3; ++k) {
    const modules::Start &start = module.parameters[k].start, &wanted = separate.parameters[same_as[k]].start;
    EXPECT_EQ(start.kind, wanted.kind);
    EXPECT_EQ(start.a, wanted.a);
    EXPECT_EQ(start.b, wanted.b);
  }
  const Recipe r = module.recipe(), wanted = separate.recipe();
  ASSERT_EQ(r.layers[0].regularisers.size(), 1u);
  EXPECT_EQ(r.layers[0].regularisers[0].kind, wanted.layers[0].regularisers[0].kind);
  EXPECT_EQ(r.layers[0].regularisers[0].strength, wanted.layers[0].regularisers[0].strength);
  EXPECT_EQ(r.training.clip_value, wanted.training.clip_value);
  EXPECT_TRUE(r.training.reinitialise.has_value());
  EXPECT_EQ(module.operations.size(), 4u);
}

}  // namespace
}  // namespace nalm::inalu_shared_test
