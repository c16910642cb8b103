// NSR: golden values, huge inputs, options, several comparisons, and the relations that the weights spell.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "nalm/model.hpp"

namespace nalm::nsr_test {
namespace {

using Values = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Comparison {
  Values V1, V2;          // [input][path]
  Values w_sign, w_zero;  // [path]
  double b = 0;
};

Model nsr(const std::vector<Comparison>& comparisons, double lambda = 1) {
  const Comparison& first = comparisons[0];
  const int paths = static_cast<int>(first.w_sign.size()), inputs = static_cast<int>(first.V1.size()) / paths;
  const int outputs = 2 * static_cast<int>(comparisons.size());
  Values p;
  for (const Comparison& c : comparisons) p.insert(p.end(), c.V1.begin(), c.V1.end());
  for (const Comparison& c : comparisons) p.insert(p.end(), c.V2.begin(), c.V2.end());
  for (const Comparison& c : comparisons) p.insert(p.end(), c.w_sign.begin(), c.w_sign.end());
  for (const Comparison& c : comparisons) p.insert(p.end(), c.w_zero.begin(), c.w_zero.end());
  for (const Comparison& c : comparisons) p.push_back(c.b);
  return {{{*find_module("NSR"), {inputs, outputs, {lambda, static_cast<double>(paths)}}, p}}, {}};
}

Values outputs_of(const Model& model, const Values& x, Precision precision = Precision::Double) {
  return *predict(model, x, precision);
}

// The definition, softmax and all.
double expected_output(const Comparison& c, const Values& x, double lambda = 1) {
  const std::size_t paths = c.w_sign.size();
  const auto selected = [&](const Values& V, std::size_t path) {
    double sum = 0, value = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += std::exp(V[i * paths + path]);
    for (std::size_t i = 0; i < x.size(); ++i) value += std::exp(V[i * paths + path]) / sum * x[i];
    return value;
  };
  double logit = c.b;
  for (std::size_t r = 0; r < paths; ++r) {
    const double s = std::tanh(lambda * (selected(c.V1, r) - selected(c.V2, r)));
    logit += c.w_sign[r] * s + c.w_zero[r] * (1 - 2 * s * s);
  }
  return 1 / (1 + std::exp(-logit));
}

const Comparison two_paths = {
    {0.3, -0.2, 1.1, 0.4, -0.6, 0.8}, {-0.5, 0.9, 0.2, -1.3, 0.7, 0.1}, {0.8, -1.4}, {0.5, 0.3}, -0.2};
const Comparison other = {
    {0.1, 0.7, -1.1, 0.6, 0.3, -0.8}, {0.5, -0.9, 1.2, 0.3, -0.4, 0.6}, {-0.6, 1.1}, {0.2, -0.7}, 0.4};

// x1 compared with x2 through one path.
Comparison comparison(double w_sign, double w_zero, double b) { return {{50, 0}, {0, 50}, {w_sign}, {w_zero}, b}; }

std::vector<std::string> notes(double w_sign, double w_zero, double b, const std::vector<std::string>& columns = {}) {
  return ideal_formula(nsr({comparison(w_sign, w_zero, b)}), columns)->notes;
}

TEST(Nsr, ComparesSelectedInputs) {
  const Values x = {0.4, -1.1, 0.7};
  EXPECT_NEAR(outputs_of(nsr({two_paths}), x)[0], expected_output(two_paths, x), 1e-14);
  EXPECT_NEAR(outputs_of(nsr({two_paths}, 2.5), x)[0], expected_output(two_paths, x, 2.5), 1e-14);
}

TEST(Nsr, OutputsAddUpToOne) {
  for (const Values& x : {Values{0.4, -1.1, 0.7}, Values{30, 2, -4}, Values{0, 0, 0}}) {
    const Values y = outputs_of(nsr({two_paths}), x);
    EXPECT_EQ(y[0] + y[1], 1);
  }
}

TEST(Nsr, LambdaScalesTheInputs) {
  EXPECT_NEAR(outputs_of(nsr({two_paths}, 4), {0.4, -1.1, 0.7})[0], outputs_of(nsr({two_paths}), {1.6, -4.4, 2.8})[0],
              1e-14);
}

TEST(Nsr, SeveralComparisonsDoNotTouchEachOther) {
  const Values x = {0.4, -1.1, 0.7}, y = outputs_of(nsr({two_paths, other}), x);
  ASSERT_EQ(y.size(), 4U);
  EXPECT_EQ(y[0], outputs_of(nsr({two_paths}), x)[0]);
  EXPECT_EQ(y[2], outputs_of(nsr({other}), x)[0]);
  EXPECT_EQ(y[3], 1 - y[2]);
}

TEST(Nsr, GradientsOfBitsAndShiftAreTheirSlopes) {
  const Model model = nsr({comparison(0.7, 0.4, -0.1)});
  const Values x = {1.2, 0.9};
  const double s = std::tanh(0.3), y = expected_output(comparison(0.7, 0.4, -0.1), x);
  // The loss is the mean over both outputs; moving targets by 1/2 in opposite directions gives dy/dparameters.
  const Values slope = gradients(model, x, Values{y - 0.5, 1 - y + 0.5}, Precision::Double)->layers[0];
  EXPECT_NEAR(slope[4], y * (1 - y) * s, 1e-13);
  EXPECT_NEAR(slope[5], y * (1 - y) * (1 - 2 * s * s), 1e-13);
  EXPECT_NEAR(slope[6], y * (1 - y), 1e-13);
}

TEST(Nsr, EqualInputsAreExactlyEqualHoweverLarge) {
  const Values zero = outputs_of(nsr({two_paths}), {0, 0, 0});
  EXPECT_NEAR(zero[0], 1 / (1 + std::exp(-(-0.2 + 0.5 + 0.3))), 1e-15);
  EXPECT_EQ(outputs_of(nsr({two_paths}), {1e15, 1e15, 1e15}), zero);
  EXPECT_EQ(outputs_of(nsr({two_paths}), {-1e300, -1e300, -1e300}), zero);
}

TEST(Nsr, NeighbouringIntegersAreToldApartUpToTheNumberFormat) {
  const Model equal = nsr({comparison(0, 50, 0)});
  EXPECT_LT(outputs_of(equal, {9007199254740992.0, 9007199254740991.0})[0], 0.01);
  EXPECT_GT(outputs_of(equal, {9007199254740993.0, 9007199254740992.0})[0], 0.99);  // the same double
  EXPECT_LT(outputs_of(equal, {16777216, 16777215}, Precision::Float)[0], 0.01);
  EXPECT_GT(outputs_of(equal, {16777217, 16777216}, Precision::Float)[0], 0.99);
}

TEST(Nsr, SpellsEveryRelation) {
  using Notes = std::vector<std::string>;
  EXPECT_EQ(notes(10, 0, -5), Notes{"y1 is true where x1 > x2"});
  EXPECT_EQ(notes(-10, 0, -5), Notes{"y1 is true where x1 < x2"});
  EXPECT_EQ(notes(0, 10, 0), Notes{"y1 is true where x1 = x2"});
  EXPECT_EQ(notes(0, -10, 0), Notes{"y1 is true where x1 not equal to x2"});
  EXPECT_EQ(notes(10, 0, 5), Notes{"y1 is true where x1 >= x2"});
  EXPECT_EQ(notes(-10, 0, 5), Notes{"y1 is true where x1 <= x2"});
}

TEST(Nsr, NotesMatchWhatTheModelComputes) {
  const Model greater = nsr({comparison(10, 0, -5)});
  EXPECT_GT(outputs_of(greater, {7, 3})[0], 0.99);
  EXPECT_LT(outputs_of(greater, {3, 3})[0], 0.01);
  EXPECT_LT(outputs_of(greater, {3, 7})[0], 0.01);
}

TEST(Nsr, NotesQuoteColumnNames) {
  EXPECT_EQ(notes(10, 0, -5, {"unit price", "b"}), std::vector<std::string>{"y1 is true where \"unit price\" > b"});
}

// The relation once replaced the first question mark of the whole text, that of a column's name included.
TEST(Nsr, NotesSurviveQuestionMarksInColumnNames) {
  EXPECT_EQ(notes(10, 0, -5, {"ok?", "b"}), std::vector<std::string>{"y1 is true where \"ok?\" > b"});
}

TEST(Nsr, UndecidedSelectionIsSaid) {
  const Formula formula = *ideal_formula(nsr({{{0, 0}, {0, 50}, {10}, {0}, 0}}), {});
  EXPECT_FALSE(formula.discrete);
  EXPECT_EQ(formula.notes, std::vector<std::string>{"p = 0.5 is not a discrete value"});
}

TEST(Nsr, SparsityErrorIsTheMeanOverBothSelections) {
  EXPECT_NEAR(*sparsity_error(nsr({{{0, 0}, {0, 50}, {1}, {1}, 0}})), 0.25, 1e-15);
}

TEST(Nsr, UnusualInputsAreAsDescribed) {
  const Model greater = nsr({comparison(10, 0, -5)});
  EXPECT_TRUE(std::isnan(outputs_of(greater, {std::nan(""), 1})[0]));
  EXPECT_GT(outputs_of(greater, {infinity, 1})[0], 0.99);
  EXPECT_TRUE(std::isnan(outputs_of(greater, {infinity, infinity})[0]));
  EXPECT_GT(outputs_of(greater, {1e30, -1e30}, Precision::Float)[0], 0.99);
  EXPECT_EQ(outputs_of(greater, {5e-324, 0}), outputs_of(greater, {0, 0}));  // below what tanh resolves
}

TEST(Nsr, OneInputIsAlwaysEqualToItself) {
  EXPECT_EQ(outputs_of(nsr({{{3}, {-2}, {10}, {0.5}, 0}}), {1e30}),
            outputs_of(nsr({{{3}, {-2}, {10}, {0.5}, 0}}), {0}));
}

}  // namespace
}  // namespace nalm::nsr_test
