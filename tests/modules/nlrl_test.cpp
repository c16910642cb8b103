// NLRL: truth tables, the closed form of the Kronecker product, forms and options.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "nalm/model.hpp"

namespace nalm::nlrl_test {
namespace {

using Values = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double full = 0, and_only = 1, or_only = 2;  // form
constexpr double closed = 0, demorgan = 1;             // or

// The raw parameter for a truth value.
double raw(double p) { return p == 0 ? -800 : p == 1 ? 800 : std::log(p / (1 - p)); }

struct Rule {
  Values N, A;   // per input
  double S = 0;  // 0 AND, 1 OR
  double form = full, or_kind = closed;
  double output_N = -1;  // -1: no output negation
};

Layer layer_of(const std::vector<Rule>& rules) {
  const Rule& first = rules[0];
  const int inputs = static_cast<int>(first.N.size()), outputs = static_cast<int>(rules.size());
  Layer layer{*find_module("NLRL"), {inputs, outputs, {first.form, first.or_kind, first.output_N < 0 ? 0.0 : 1.0}}, {}};
  for (std::size_t i = 0; i < first.N.size(); ++i) {
    for (const Rule& rule : rules) layer.parameters.push_back(raw(rule.N[i]));
  }
  for (std::size_t i = 0; i < first.N.size(); ++i) {
    for (const Rule& rule : rules) layer.parameters.push_back(raw(rule.A[i]));
  }
  for (const Rule& rule : rules) {
    if (first.form == full) layer.parameters.push_back(raw(rule.S));
  }
  for (const Rule& rule : rules) {
    if (first.output_N >= 0) layer.parameters.push_back(raw(rule.output_N));
  }
  return layer;
}

Model nlrl(const Rule& rule) { return {{layer_of({rule})}, {}}; }

double output_of(const Model& model, const Values& x) { return (*predict(model, x, Precision::Double))[0]; }

// The outputs for 00, 01, 10, 11.
void expect_truth_table(const Model& model, const Values& expected) {
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_NEAR(output_of(model, {k / 2 ? 1.0 : 0.0, k % 2 ? 1.0 : 0.0}), expected[k], 1e-9) << k;
  }
}

TEST(Nlrl, AndOrAndNotHaveTheirTruthTables) {
  expect_truth_table(nlrl({.N = {0, 0}, .A = {1, 1}, .S = 0}), {0, 0, 0, 1});
  expect_truth_table(nlrl({.N = {0, 0}, .A = {1, 1}, .S = 1}), {0, 1, 1, 1});
  expect_truth_table(nlrl({.N = {1, 0}, .A = {1, 0}, .S = 0}), {1, 1, 0, 0});
  expect_truth_table(nlrl({.N = {0, 1}, .A = {1, 1}, .S = 0}), {0, 0, 1, 0});
}

TEST(Nlrl, FormsWithoutGateAreTheTwoEndsOfTheGate) {
  for (const double or_kind : {closed, demorgan}) {
    expect_truth_table(nlrl({.N = {0, 0}, .A = {1, 1}, .form = and_only, .or_kind = or_kind}), {0, 0, 0, 1});
    expect_truth_table(nlrl({.N = {0, 0}, .A = {1, 1}, .form = or_only, .or_kind = or_kind}), {0, 1, 1, 1});
  }
}

TEST(Nlrl, MixesProductOfPowersAndNoisyOr) {
  const Values N = {0.2, 0.7, 0.4}, A = {0.9, 0.3, 0.6}, x = {0.8, 0.1, 0.55};
  double conjunction = 1, none = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    const double literal = (1 - N[i]) * x[i] + N[i] * (1 - x[i]);
    conjunction *= std::pow(literal, A[i]);
    none *= 1 - A[i] * literal;
  }
  EXPECT_NEAR(output_of(nlrl({N, A, 0.35}), x), 0.65 * conjunction + 0.35 * (1 - none), 1e-14);
}

TEST(Nlrl, ClosedOrIsTheKroneckerProduct) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0.02, 0.98);
  for (std::size_t inputs = 2; inputs <= 10; ++inputs) {
    Values N, A, x, a;
    for (std::size_t i = 0; i < inputs; ++i) {
      N.push_back(uniform(random)), A.push_back(uniform(random)), x.push_back(uniform(random));
      a.push_back(A[i] * ((1 - N[i]) * x[i] + N[i] * (1 - x[i])));
    }
    Values vector = {-1, a[0]};
    for (std::size_t i = 1; i < inputs; ++i) {  // [1, -a_i] (x) vector
      const Values right = vector;
      for (double v : right) vector.push_back(-a[i] * v);
    }
    ASSERT_EQ(vector.size(), std::size_t{1} << inputs);
    const double expected = 1 + std::accumulate(vector.begin(), vector.end(), 0.0);
    EXPECT_NEAR(output_of(nlrl({.N = N, .A = A, .form = or_only}), x), expected, 1e-13) << inputs;
  }
}

TEST(Nlrl, DeMorganDiffersWhereAWeightIsNotDiscrete) {
  const Values N = {0, 0}, A = {0.5, 0.5}, x = {0.9, 0.8};
  EXPECT_NEAR(output_of(nlrl({N, A, 1, full, closed}), x), 0.67, 1e-14);
  EXPECT_NEAR(output_of(nlrl({N, A, 1, full, demorgan}), x), 1 - std::sqrt(0.02), 1e-14);
}

TEST(Nlrl, HalfOpenGateIsTheMean) {
  const Model mean = nlrl({.N = {0, 0}, .A = {1, 1}, .S = 0.5});
  EXPECT_NEAR(output_of(mean, {0.3, 0.8}), 0.55, 1e-15);
  EXPECT_TRUE(ideal_formula(mean, {})->discrete);
}

TEST(Nlrl, IgnoredInputsLeaveAConstant) {
  EXPECT_NEAR(output_of(nlrl({.N = {0.3, 0}, .A = {0, 0}, .S = 0.3}), {0.2, 0.9}), 0.7, 1e-15);
}

TEST(Nlrl, OutputCanBeNegated) {
  const Model nand = nlrl({.N = {0, 0}, .A = {1, 1}, .form = and_only, .output_N = 1});
  expect_truth_table(nand, {1, 1, 1, 0});
  EXPECT_EQ(ideal_formula(nand, {})->notes, std::vector<std::string>{"NOT AND(x1, x2)"});
  const Model blurred = nlrl({.N = {0}, .A = {1}, .form = and_only, .output_N = 0.25});
  EXPECT_NEAR(output_of(blurred, {0.8}), 0.75 * 0.8 + 0.25 * 0.2, 1e-15);
}

TEST(Nlrl, TwoLayersGiveExclusiveOr) {
  const Layer either_or_both = layer_of({{.N = {0, 0}, .A = {1, 1}, .S = 1}, {.N = {0, 0}, .A = {1, 1}, .S = 0}});
  const Layer first_and_not_second = layer_of({{.N = {0, 1}, .A = {1, 1}, .S = 0}});
  expect_truth_table({{either_or_both, first_and_not_second}, {}}, {0, 1, 1, 0});
}

TEST(Nlrl, GradientOfOrIsTheProductOfTheOtherComplements) {
  const double A = 0.6, N = 0.2, x = 0.7, literal = 0.8 * 0.7 + 0.2 * 0.3, other = 1 - 0.5 * 0.4;
  const Model model = nlrl({.N = {N, 0}, .A = {A, 0.5}, .form = or_only});
  const Values row = {x, 0.4};
  const Values slope = gradients(model, row, Values{output_of(model, row) - 0.5}, Precision::Double)->layers[0];
  EXPECT_NEAR(slope[0], other * A * (1 - 2 * x) * N * (1 - N), 1e-14);
  EXPECT_NEAR(slope[2], other * literal * A * (1 - A), 1e-14);
}

TEST(Nlrl, SpellsRules) {
  const Formula conjunction = *ideal_formula(nlrl({.N = {0, 1, 0}, .A = {1, 1, 0}, .S = 0}), {"is hot", "dry", "x"});
  EXPECT_EQ(print(conjunction.outputs[0]), "\"is hot\"*(1 - dry)");
  EXPECT_EQ(conjunction.notes, std::vector<std::string>{"AND(\"is hot\", NOT dry)"});
  const Formula disjunction = *ideal_formula(nlrl({.N = {0, 0}, .A = {1, 1}, .S = 1}), {});
  EXPECT_EQ(print(disjunction.outputs[0]), "1 - (1 - x1)*(1 - x2)");
  EXPECT_EQ(disjunction.notes, std::vector<std::string>{"OR(x1, x2)"});
}

TEST(Nlrl, SaysWhatIsNotDiscrete) {
  const Formula formula = *ideal_formula(nlrl({.N = {0}, .A = {0.5}, .S = 0}), {});
  EXPECT_FALSE(formula.discrete);
  EXPECT_EQ(formula.notes, std::vector<std::string>{"A = 0.5 is not a discrete value"});
  EXPECT_EQ(print(formula.outputs[0]), "x1^0.5");
}

TEST(Nlrl, SparsityErrorCountsNegationsAndRuleWeights) {
  EXPECT_NEAR(*sparsity_error(nlrl({.N = {0.25, 0}, .A = {1, 0.9}, .S = 0.5})), (0.25 + 0.1) / 2, 1e-15);
}

TEST(Nlrl, UnusualInputsAreAsDescribed) {
  const Rule conjunction{.N = {0}, .A = {1}, .form = and_only}, disjunction{.N = {0, 0}, .A = {1, 1}, .form = or_only};
  EXPECT_NEAR(output_of(nlrl(conjunction), {0}), 1e-10, 1e-22);
  EXPECT_NEAR(output_of(nlrl(conjunction), {-3}), 1e-10, 1e-22);
  EXPECT_NEAR(output_of(nlrl(disjunction), {3, 2}), 1 - (-2) * (-1), 1e-14);  // leaves [0, 1]
  EXPECT_TRUE(std::isnan(output_of(nlrl(conjunction), {std::nan("")})));
  EXPECT_TRUE(std::isnan(output_of(nlrl(disjunction), {std::nan(""), 1})));
  EXPECT_FALSE(std::isfinite(output_of(nlrl(disjunction), {infinity, 0.5})));
}

}  // namespace
}  // namespace nalm::nlrl_test
