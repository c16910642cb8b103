// NALU2M, NALUIG and NALU2MIG: golden values, what they share with the NALU, and what the weights spell.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "nalm/model.hpp"

namespace nalm::nalu_variants_test {
namespace {

using Values = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double one = 40;  // tanh and sigmoid of this are exactly 1

Model of_module(const std::string& name, const std::vector<Values>& arrays, int outputs = 1) {
  Values all;
  for (const Values& v : arrays) all.insert(all.end(), v.begin(), v.end());
  return {{{*find_module(name), {static_cast<int>(arrays[0].size()) / outputs, outputs, {}}, all}}, {}};
}
// W_hat_A, M_hat_A, W_hat_M, M_hat_M, then G[input][output] or g[output].
Model nalu2m(const Values& WA, const Values& MA, const Values& WM, const Values& MM, const Values& G, int outputs = 1) {
  return of_module("NALU2M", {WA, MA, WM, MM, G}, outputs);
}
Model nalu2mig(const Values& WA, const Values& MA, const Values& WM, const Values& MM, const Values& g) {
  return of_module("NALU2MIG", {WA, MA, WM, MM, g}, static_cast<int>(g.size()));
}
Model naluig(const Values& W, const Values& M, const Values& g) {
  return of_module("NALUIG", {W, M, g}, static_cast<int>(g.size()));
}

Values outputs_of(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return *predict(model, x, precision);
}

// dy/dparameters: the gradient of (y - t)^2 with t = y - 1/2.
Values slopes(const Model& model, const Values& x) {
  return gradients(model, x, Values{outputs_of(model, x)[0] - 0.5}, Precision::Double)->layers[0];
}

std::string spelled(const Model& model) { return print(ideal_formula(model, {})->outputs[0]); }

double squash(double z) { return 1 / (1 + std::exp(-z)); }
double weight(double W_hat, double M_hat) { return std::tanh(W_hat) * squash(M_hat); }

const Values WA = {0.3, -1.2, 2.1, 0.7, -0.4, 5}, MA = {0.1, 0.9, -2, 1.5, 3, -0.6},
             WM = {1.1, 0.2, -0.8, 1.7, 0.9, -2}, MM = {0.4, -0.9, 1, 2.5, -1, 0.6},
             G = {0.2, -0.5, 0.7, 0.1, -0.3, 0.4}, gates = {0.3, -0.7}, x3 = {1.25, -3, 0.5};

TEST(NaluVariants, MixSumAndProductByTheirGates) {
  const Values both = outputs_of(nalu2m(WA, MA, WM, MM, G, 2), x3);
  const Values alone = outputs_of(naluig(WA, MA, gates), x3),
               both_alone = outputs_of(nalu2mig(WA, MA, WM, MM, gates), x3);
  for (std::size_t o = 0; o < 2; ++o) {
    double a = 0, m = 1, shared = 1, z = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t k = 2 * i + o;
      const double size = std::fabs(x3[i]) + 1e-7;
      a += x3[i] * weight(WA[k], MA[k]);
      m *= std::pow(size, weight(WM[k], MM[k]));
      shared *= std::pow(size, weight(WA[k], MA[k]));
      z += x3[i] * G[k];
    }
    const double g = squash(gates[o]);
    EXPECT_NEAR(both[o], squash(z) * a + (1 - squash(z)) * m, 1e-13);
    EXPECT_NEAR(alone[o], g * a + (1 - g) * shared, 1e-13);
    EXPECT_NEAR(both_alone[o], g * a + (1 - g) * m, 1e-13);
  }
}

TEST(NaluVariants, SimpleWeightsByHand) {
  EXPECT_NEAR(outputs_of(naluig({one, one}, {one, one}, {0}), {2, 3})[0], 5.5, 1e-6);             // half of 5 and of 6
  EXPECT_NEAR(outputs_of(naluig({one, one}, {one, one}, {std::log(3)}), {2, 3})[0], 5.25, 1e-6);  // 3/4 of 5, 1/4 of 6
  const Values l = {one, one}, minus = {one, -one};
  EXPECT_NEAR(outputs_of(nalu2mig(minus, l, l, l, {0}), {-2, 3})[0], 0.5, 1e-6);  // half of -5 and of 6: no sign
  EXPECT_NEAR(outputs_of(nalu2m(minus, l, l, l, {0, 0}), {-2, 3})[0], 0.5, 1e-6);
  EXPECT_NEAR(outputs_of(nalu2m(l, l, minus, l, {one, 0}), {-2, 3})[0], 2.0 / 3, 1e-6);  // the gate sees the -2
}

TEST(NaluVariants, EqualWeightsGiveBackTheNaluInEveryBit) {
  for (const Precision precision : {Precision::Float, Precision::Double}) {
    EXPECT_EQ(outputs_of(nalu2m(WA, MA, WA, MA, G, 2), x3, precision),
              outputs_of(of_module("NALU", {WA, MA, G}, 2), x3, precision));
    EXPECT_EQ(outputs_of(nalu2mig(WA, MA, WA, MA, gates), x3, precision),
              outputs_of(naluig(WA, MA, gates), x3, precision));
  }
}

TEST(NaluVariants, EachPathMovesItsOwnWeights) {
  const double A = 0.6, B = -0.3, C = 1.1, D = 0.2, x = 2.5, g = squash(0.4), logarithm = std::log(x + 1e-7);
  const double tA = std::tanh(A), sA = squash(B), tM = std::tanh(C), sM = squash(D);
  const double a = x * tA * sA, m = std::exp(tM * sM * logarithm);
  const double dWA = g * x, dWM = (1 - g) * m * logarithm;
  // G * x is the same gate as g.
  for (const Model& model : {nalu2mig({A}, {B}, {C}, {D}, {0.4}), nalu2m({A}, {B}, {C}, {D}, {0.16})}) {
    const Values slope = slopes(model, {x});
    EXPECT_NEAR(slope[0], dWA * (1 - tA * tA) * sA, 1e-13);
    EXPECT_NEAR(slope[1], dWA * tA * sA * (1 - sA), 1e-13);
    EXPECT_NEAR(slope[2], dWM * (1 - tM * tM) * sM, 1e-13);
    EXPECT_NEAR(slope[3], dWM * tM * sM * (1 - sM), 1e-13);
    const double own = model.layers[0].module->name == "NALU2M" ? x : 1;
    EXPECT_NEAR(slope[4], (a - m) * g * (1 - g) * own, 1e-13);
  }
}

TEST(NaluVariants, SharedWeightsGetTheGradientsOfBothPaths) {
  const Values shared = slopes(naluig({0.6}, {-0.3}, {0.4}), {2.5});
  const Values apart = slopes(nalu2mig({0.6}, {-0.3}, {0.6}, {-0.3}, {0.4}), {2.5});
  EXPECT_NEAR(shared[0], apart[0] + apart[2], 1e-14);
  EXPECT_NEAR(shared[1], apart[1] + apart[3], 1e-14);
  EXPECT_NEAR(shared[2], apart[4], 1e-14);
}

TEST(NaluVariants, SparsityErrorDoesNotCountTheGate) {
  EXPECT_EQ(*sparsity_error(naluig({one, -one}, {one, one}, {0})), 0);
  EXPECT_NEAR(*sparsity_error(naluig({0.3, one}, {0, one}, {0})), weight(0.3, 0), 1e-15);
  const double mean = (weight(0.3, 0) + weight(1, 0)) / 2;
  EXPECT_NEAR(*sparsity_error(nalu2m({0.3, one}, {0, one}, {one, 1}, {one, 0}, {0.4, 0.4})), mean, 1e-15);
  EXPECT_NEAR(*sparsity_error(nalu2mig({0.3, one}, {0, one}, {one, 1}, {one, 0}, {0})), mean, 1e-15);
}

TEST(NaluVariants, SpellTheOpenPathOnly) {
  const Values l = {one, one}, minus = {one, -one}, undecided = {0.3, 0.4};
  EXPECT_EQ(spelled(naluig(minus, l, {one})), "x1 - x2");
  EXPECT_EQ(spelled(naluig(minus, l, {-one})), "abs(x1)/abs(x2)");
  EXPECT_EQ(spelled(nalu2mig(minus, l, undecided, l, {one})), "x1 - x2");
  EXPECT_EQ(spelled(nalu2mig(undecided, l, {one, 0}, l, {-one})), "abs(x1)");
  EXPECT_EQ(spelled(nalu2mig(undecided, l, {0, 0}, l, {-one})), "1");
  EXPECT_TRUE(ideal_formula(nalu2mig(undecided, l, l, l, {-one}), {})->discrete);
}

TEST(NaluVariants, SpellAGateThatDependsOnTheInput) {
  const Formula formula = *ideal_formula(nalu2m({one, -one}, {one, one}, {one, one}, {one, one}, {0.5, -2}), {});
  EXPECT_EQ(print(formula.outputs[0]),
            "sigmoid(0.5*x1 - 2*x2)*(x1 - x2) + (1 - sigmoid(0.5*x1 - 2*x2))*(abs(x1)*abs(x2))");
  EXPECT_TRUE(formula.discrete);
}

TEST(NaluVariants, SayWhatIsNotDiscrete) {
  using Notes = std::vector<std::string>;
  const Formula open = *ideal_formula(nalu2mig({one}, {0}, {-one}, {0}, {0}), {"my x"});
  EXPECT_EQ(print(open.outputs[0]), "0.5*(0.5*\"my x\") + 0.5*(1/abs(\"my x\")^0.5)");
  EXPECT_EQ(open.notes, (Notes{"gate = 0.5 is not a discrete value", "WA = 0.5 is not a discrete value",
                               "WM = -0.5 is not a discrete value"}));
  EXPECT_FALSE(open.discrete);
  EXPECT_EQ(ideal_formula(naluig({one}, {0}, {one}), {})->notes, Notes{"W = 0.5 is not a discrete value"});
  EXPECT_EQ(ideal_formula(nalu2m({one}, {0}, {one}, {one}, {3}), {})->notes, Notes{"WA = 0.5 is not a discrete value"});
}

TEST(NaluVariants, UnusualInputsAreAsDescribed) {
  const std::vector<Model> sums = {nalu2m({one}, {one}, {one}, {one}, {one}), naluig({one}, {one}, {one}),
                                   nalu2mig({one}, {one}, {one}, {one}, {one})};
  for (const Model& model : sums) {
    const std::string_view name = model.layers[0].module->name;
    EXPECT_TRUE(std::isnan(outputs_of(model, {std::nan("")})[0])) << name;
    EXPECT_TRUE(std::isnan(outputs_of(model, {infinity})[0])) << name;  // the closed product is 0 times infinity
  }
  for (const double x : {0.0, 5e-324}) {
    EXPECT_NEAR(outputs_of(nalu2m({one}, {one}, {one}, {one}, {0}), {x})[0], 0.5e-7, 1e-20) << x;
    EXPECT_NEAR(outputs_of(naluig({one}, {one}, {0}), {x})[0], 0.5e-7, 1e-20) << x;
    EXPECT_NEAR(outputs_of(nalu2mig({one}, {one}, {-one}, {one}, {-one}), {x})[0] / 1e7, 1, 1e-13) << x;
  }
}

TEST(NaluVariants, AreTrainedAsTheNalu) {
  for (const char* name : {"NALU2M", "NALUIG", "NALU2MIG"}) {
    const ModuleInfo& module = **find_module(name);
    EXPECT_EQ(module.operations.size(), 4u) << name;
    const Recipe r = module.recipe();
    EXPECT_EQ(r.training.optimiser.kind, Optimiser::Kind::Adam) << name;
    EXPECT_EQ(r.training.optimiser.learning_rate(), 1e-3) << name;
    EXPECT_EQ(r.training.iterations, 50000) << name;
    EXPECT_EQ(r.training.loss.kind, Loss::Kind::Squared) << name;
    EXPECT_TRUE(r.layers[0].regularisers.empty()) << name;
    EXPECT_FALSE(r.training.clip_norm || r.training.clip_value || r.training.noise || r.training.restarts ||
                 r.training.reinitialise)
        << name;
    for (const ParameterInfo& p : module.parameters) {
      EXPECT_FALSE(p.clamp) << name << " " << p.name;
      const auto gate = p.name == "G" ? modules::Start::Kind::XavierUniform : modules::Start::Kind::Constant;
      EXPECT_EQ(p.start.kind, p.name == "G" || p.name == "g" ? gate : modules::Start::Kind::Nac)
          << name << " " << p.name;
      EXPECT_EQ(p.start.a, 0) << name << " " << p.name;
    }
  }
}

}  // namespace
}  // namespace nalm::nalu_variants_test
