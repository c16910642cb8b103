// The choice among formulas: what speaks against the one that would be shown as a law.
#include "fit/choice.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "fit/cases.hpp"
#include "fit/form_algebra.hpp"
#include "fit/jump.hpp"

namespace nalm::fitting::choice_test {
namespace {

using test::product;
using test::table_of;
using test::term;

Finalist finalist(Form form, const Data& data, double length, const char* key) {
  normalise(form, data.negative);
  Finalist result = finish({{std::move(form), 1, 1}, ""}, data);
  result.length = length;
  result.key = key;
  return result;
}

// A decay, seen for so short a time that a parabola describes it, too.
Data decay(double time, std::size_t rows, double noise) {
  return *prepare(
      table_of({{"t", 0, time}}, rows, 3,
               [noise](const double* x, Xoshiro& random) { return std::exp(-x[0]) + noise * random.gaussian(); }),
      {.target = "y"});
}

// What comes of the decay with a description of length 0 beside a parabola of this length.
Candidate beside_a_parabola(double length, const Data& data) {
  std::vector<Finalist> finalists = {
      finalist({{}, {product(1, {0, 1})}, {{"exp", {{term(-1, {1})}}, false}}}, data, 0, "decay"),
      finalist({{}, {product(1, {0}), product(-1, {1}), product(0.4, {2})}}, data, length, "parabola")};
  LazyGrounds grounds(data, 1);
  most_trusted(finalists, data, grounds, 0, 1);
  for (const Finalist& f : finalists) {
    EXPECT_NE(f.candidate.judgement.verdict, Verdict::None) << f.candidate.judgement.reason;
    if (f.key == "decay") return f.candidate;
  }
  return {};
}

// What else describes the rows nearly as shortly speaks against a function sooner than against arithmetic: for every
// function there is a sum that looks like it between two values.
TEST(MostTrusted, AFunctionIsALawOnlyIfNothingElseIsNearlyAsShort) {
  const Data data = decay(3, 400, 0.1);
  const Candidate law = beside_a_parabola(9, data), doubted = beside_a_parabola(7, data);
  EXPECT_EQ(law.judgement.verdict, Verdict::Law) << law.judgement.reason;
  EXPECT_EQ(doubted.judgement.verdict, Verdict::Approximation);
  EXPECT_NE(doubted.judgement.rival.find("t^2"), std::string::npos) << doubted.judgement.rival;
}

// If the shortest description is an approximation, a longer one with functions is the next of a series, though both say
// the same outside.
TEST(MostTrusted, AFunctionIsNoLawIfAnApproximationIsMuchShorter) {
  const Candidate doubted = beside_a_parabola(-9, decay(2, 60, 0.03));
  EXPECT_EQ(doubted.judgement.verdict, Verdict::Approximation);
  EXPECT_NE(doubted.judgement.reason.find("more shortly"), std::string::npos) << doubted.judgement.reason;
}

TEST(SteepestJump, FindsAStepInDisguise) {
  const Data data = *prepare(table_of({{"a", -2, 2}, {"b", 1, 3}}, 100, 4,
                                      [](const double* x, Xoshiro&) { return x[1] * std::tanh(60 * (x[0] - 0.5)); }),
                             {.target = "y"});
  const auto jump = [&](const char* formula) { return steepest_jump(*parse_expression(formula), data); };
  const std::optional<Jump> step = jump("b*tanh(60*(a - 0.5))");
  ASSERT_TRUE(step);
  EXPECT_EQ(step->column, "a");
  EXPECT_NEAR(step->limit, 0.5, 0.05);
  EXPECT_NEAR(step->size, 2, 0.3);  // from -b to b, in deviations, which are about b
  EXPECT_TRUE(jump("b/(1 + exp(200*a))"));
  for (const char* smooth : {"b*tanh(a)", "b*tanh(3*(a - 0.5))", "exp(2*a)", "a*b^2", "sin(20*a)", "1/(a^2 + 0.05)"})
    EXPECT_FALSE(jump(smooth)) << smooth;
}

}  // namespace
}  // namespace nalm::fitting::choice_test
