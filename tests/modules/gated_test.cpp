// Gated NAU/NMU: golden values, gradients of its three parts, and what the weights spell.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "nalm/model.hpp"

namespace nalm::gated_test {
namespace {

using Values = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();

Model gated(const Values& W_nau, const Values& W_nmu, const Values& G, int outputs = 1) {
  Values all = W_nau;
  all.insert(all.end(), W_nmu.begin(), W_nmu.end());
  all.insert(all.end(), G.begin(), G.end());
  return {{{*find_module("Gated"), {static_cast<int>(G.size()) / outputs, outputs, {}}, all}}, {}};
}

Values outputs_of(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return *predict(model, x, precision);
}

// dy/dparameters: the gradient of (y - t)^2 with t = y - 1/2.
Values slopes(const Model& model, const Values& x) {
  return gradients(model, x, Values{outputs_of(model, x)[0] - 0.5}, Precision::Double)->layers[0];
}

double squash(double z) { return 1 / (1 + std::exp(-z)); }

TEST(Gated, MixesSumAndProduct) {
  for (const Precision precision : {Precision::Double, Precision::Float}) {
    // Half of 2 - 5 and half of 2 * 5; the sign of a product stays.
    EXPECT_EQ(outputs_of(gated({1, -1}, {1, 1}, {0, 0}), {2, 5}, precision), Values{3.5});
    EXPECT_EQ(outputs_of(gated({1, 1}, {1, 1}, {0, 0}), {-2, 5}, precision), Values{-3.5});
  }
  // Three quarters of the sum 4, a quarter of the product 3.
  EXPECT_NEAR(outputs_of(gated({1, 1}, {1, 1}, {std::log(3), 0}), {1, 3})[0], 3.75, 1e-14);
}

TEST(Gated, FirstIndexIsTheInputAndSecondTheOutput) {
  // The first gate is open for the sum, the second for the product.
  const Model model = gated({1, 0, -1, 0}, {0, 0.5, 0, 1}, {800, -800, 0, 0}, 2);
  EXPECT_EQ(outputs_of(model, {2, 5}), (Values{-3, 1.5 * 5}));
}

TEST(Gated, GradientsAreThoseOfTheParts) {
  const Values x = {2, -3};
  const Model model = gated({0.5, -0.25}, {0.75, 0.5}, {0.3, 0.1});
  const double a = 0.5 * 2 + 0.25 * 3, first = 0.75 * 2 + 0.25, second = 0.5 * -3 + 0.5, m = first * second;
  const double g = squash(0.6 - 0.3), d_gate = (a - m) * g * (1 - g);
  const Values wanted = {g * 2,      g * -3,     (1 - g) * (2 - 1) * second, (1 - g) * (-3 - 1) * first,
                         d_gate * 2, d_gate * -3};
  const Values slope = slopes(model, x);
  ASSERT_EQ(slope.size(), wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k) EXPECT_NEAR(slope[k], wanted[k], 1e-14) << k;
}

TEST(Gated, FactorOfZeroLeavesTheGradientOfItsOwnWeight) {
  const Values slope = slopes(gated({0, 0}, {1, 1}, {0, 0}), {0, 3});
  EXPECT_EQ(slope[2], -1.5);  // half of -3
  EXPECT_EQ(slope[3], 0);
}

TEST(Gated, WeightsOfTheSumStayWithinOne) {
  EXPECT_EQ(outputs_of(gated({5}, {0}, {0}), {2}), Values{1.5});
  EXPECT_EQ(slopes(gated({5}, {0}, {0}), {2})[0], 0);
}

TEST(Gated, SparsityErrorLooksAtBothWeightsAndNotAtTheGate) {
  EXPECT_EQ(*sparsity_error(gated({1, -1}, {0, 1}, {0.4, 0.4})), 0);
  EXPECT_EQ(*sparsity_error(gated({0.75, -1}, {0, 0.5}, {0, 0})), (0.25 + 0.5) / 2);
}

TEST(Gated, SpellsAGateThatDependsOnTheInput) {
  const Formula formula = *ideal_formula(gated({1, -1}, {1, 1}, {0.5, -2}), {});
  EXPECT_EQ(print(formula.outputs[0]), "sigmoid(0.5*x1 - 2*x2)*(x1 - x2) + (1 - sigmoid(0.5*x1 - 2*x2))*(x1*x2)");
  EXPECT_TRUE(formula.discrete);
}

TEST(Gated, SaysWhatIsNotDiscrete) {
  const std::vector<std::string> notes = ideal_formula(gated({0.5}, {0.25}, {1}), {})->notes;
  EXPECT_EQ(notes,
            (std::vector<std::string>{"W_nmu = 0.25 is not a discrete value", "W_nau = 0.5 is not a discrete value"}));
}

TEST(Gated, UnusualInputsAreAsDescribed) {
  EXPECT_TRUE(std::isnan(outputs_of(gated({1}, {1}, {1}), {std::nan("")})[0]));
  EXPECT_TRUE(std::isnan(outputs_of(gated({1}, {1}, {1}), {infinity})[0]));  // the closed product is 0 times infinity
  EXPECT_EQ(outputs_of(gated({1, 1}, {1, 1}, {0, 0}), {0, 3}), Values{1.5});
  EXPECT_EQ(outputs_of(gated({1, 1}, {1, 1}, {0, 0}), {1e30, 1e30}, Precision::Float), Values{infinity});
}

TEST(Gated, IsMadeOfNauAndNmu) {
  const ModuleInfo &module = **find_module("gatednau/nmu"), &nau = **find_module("NAU"), &nmu = **find_module("NMU");
  EXPECT_EQ(module.name, "Gated");
  EXPECT_EQ(module.parameters[0].start.kind, nau.parameters[0].start.kind);
  EXPECT_EQ(module.parameters[0].clamp->lo, -1);
  EXPECT_EQ(module.parameters[0].clamp->hi, 1);
  EXPECT_EQ(module.parameters[1].start.kind, nmu.parameters[0].start.kind);
  EXPECT_EQ(module.parameters[1].start.a, 0.25);
  EXPECT_EQ(module.parameters[1].start.b, 0.75);
  EXPECT_EQ(module.parameters[1].clamp->lo, 0);
  EXPECT_EQ(module.parameters[1].clamp->hi, 1);
  EXPECT_EQ(module.parameters[2].start.kind, modules::Start::Kind::XavierUniform);
  EXPECT_EQ(module.operations.size(), 3u);
  const Recipe r = module.recipe();
  ASSERT_EQ(r.layers[0].regularisers.size(), 2u);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(r.layers[0].regularisers[k].parameter, module.parameters[k].name);
    EXPECT_EQ(r.layers[0].regularisers[k].kind, Regulariser::Kind::Sparsity);
    EXPECT_EQ(r.layers[0].regularisers[k].strength, 10);
    EXPECT_EQ(r.layers[0].regularisers[k].start, 20000);
    EXPECT_EQ(r.layers[0].regularisers[k].end, 35000);
  }
}

}  // namespace
}  // namespace nalm::gated_test
