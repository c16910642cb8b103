// Whether a formula that was found is the true one, however it is written.
#include "tasks/formulas/formula_judge.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "sanitized.hpp"

namespace nalm::formula_judge_test {
namespace {

FormulaCase truth_of(const std::string& formula, const std::string& ranges, const std::string& distractors = "") {
  Result<std::vector<FormulaCase>> read =
      read_formula_set("name,part,family,powers,target,formula,ranges,distractors,condition\nf,tune,sum,half,y,\"" +
                           formula + "\",\"" + ranges + "\",\"" + distractors + "\",\n",
                       "test");
  EXPECT_TRUE(read.ok()) << read.error().message;
  return read->front();
}

// A constant with an interval of +- this share around its value.
FitConstant about(double value, double share) {
  const double half = share * std::abs(value);
  return {value, value, value - half, value + half, false, ""};
}

// The constants are called c1, c2, ... in the formula.
FormulaVerdict judge(const FormulaCase& truth, const std::string& found, const std::vector<FitConstant>& constants = {},
                     bool noisy = true) {
  const Result<Expression> parsed = parse_expression(found);
  EXPECT_TRUE(parsed.ok()) << found;
  const std::vector<std::string> used = variables(*parsed);
  Candidate candidate;
  candidate.open_formula = *parsed;
  candidate.constants = constants;
  std::vector<std::pair<std::string, double>> values;
  for (std::size_t k = 0; k < constants.size(); ++k) {
    const std::string name = "c" + std::to_string(k + 1);
    if (std::find(used.begin(), used.end(), name) == used.end()) continue;
    candidate.constants[k].slot = name;
    values.push_back({name, constants[k].value});
  }
  candidate.formula = with_values(*parsed, values);
  return judge_formula(truth, candidate, noisy);
}

TEST(FormulaJudge, AcceptsAnyWayToWriteTheFormula) {
  EXPECT_EQ(judge(truth_of("a*b", "a b [1,5)"), "b*a").words, "exact");
  EXPECT_TRUE(judge(truth_of("a*b", "a b [1,5)"), "b*a", {}, false).recovered);
  EXPECT_EQ(judge(truth_of("(a + b)*(c - d)", "a b c d [-2,2)"), "a*c - a*d + b*c - b*d").words, "exact");
  EXPECT_EQ(judge(truth_of("a/(b + c)", "a b c [1,5)"), "2*a/(2*b + 2*c)").words, "exact");
  EXPECT_EQ(judge(truth_of("1/(1/a + 1/b)", "a b [1,5)"), "a*b/(a + b)").words, "exact");
  EXPECT_EQ(judge(truth_of("a^(3/2)", "a [1,5)"), "a*sqrt(a)").words, "exact");
  EXPECT_EQ(judge(truth_of("max(a, b)", "a b [-2,2)"), "(a + b + abs(a - b))/2").words, "exact");
}

TEST(FormulaJudge, RejectsOtherFormulas) {
  for (const char* other : {"a*b*1.0001", "a*b + 0.001", "a + b", "a*b*c/c + 0.00001*c", "abs(a)*b", "7", "nan"}) {
    const FormulaVerdict verdict = judge(truth_of("a*b", "a b [1,5)", "c [1,5)"), other);
    EXPECT_FALSE(verdict.recovered) << other;
    EXPECT_EQ(verdict.words, "another formula") << other;
  }
}

// On the data the two differ by less than 1e-4; ten times as wide they do not.
TEST(FormulaJudge, LooksFarOutsideTheData) {
  const FormulaVerdict verdict = judge(truth_of("1/a", "a [1.1,1.2)"), "1.734 - 0.7525*a + 0.0*a");
  EXPECT_EQ(verdict.words, "another formula");
  EXPECT_GT(verdict.error, 0.1);
}

TEST(FormulaJudge, OneConstantMayBeWrongWithinItsIntervalIfThereIsNoise) {
  const FormulaCase truth = truth_of("0.5*k*x^2", "k [1,5); x [-2,2)");
  EXPECT_EQ(judge(truth, "c1*k*x^2", {about(0.503, 0.01)}).words, "same formula, constants within their intervals");
  EXPECT_TRUE(judge(truth, "c1*k*x^2", {about(0.503, 0.01)}).recovered);
  const FormulaVerdict outside = judge(truth, "c1*k*x^2", {about(0.503, 0.001)});
  EXPECT_EQ(outside.words, "same formula, constant 1 outside its interval");
  EXPECT_FALSE(outside.recovered);
  const FormulaVerdict clean = judge(truth, "c1*k*x^2", {about(0.503, 0.01)}, false);
  EXPECT_EQ(clean.words, "same formula, but its constants are wrong by up to 0.006");
  EXPECT_FALSE(clean.recovered);
}

TEST(FormulaJudge, SeveralConstantsMayMoveAtOnce) {
  const FormulaCase truth = truth_of("3.2*s/(1.7 + s)", "s [0,5)");
  // Three constants for what two can say: 6.5/2.03 = 3.2 to 1e-3.
  const std::vector<FitConstant> wide{about(6.5, 0.05), about(3.6, 0.1), about(2.03, 0.05)};
  EXPECT_EQ(judge(truth, "c1*s/(c2 + c3*s)", wide).words, "same formula, constants within their intervals");
  const std::vector<FitConstant> narrow{about(3.3, 0.05), about(1.9, 0.01)};
  EXPECT_EQ(judge(truth, "c1*s/(c2 + s)", narrow).words, "same formula, constant 2 outside its interval");
}

// Values three times as large as they should be everywhere: the way back is still found.
TEST(FormulaJudge, ConstantsMayBeFarOff) {
  const FormulaCase truth = truth_of("(h/6)^3/E", "h [1,5); E [-5,-1)");
  EXPECT_TRUE(judge(truth, "(h/c1)^3/E", {about(4.2, 0.6)}).recovered);
}

TEST(FormulaJudge, ConstantsMayBeNegative) {
  const FormulaCase truth = truth_of("2.5*u - 0.75*v + 12", "u v [-2,2)");
  const std::vector<FitConstant> constants{about(2.49, 0.01), about(-0.752, 0.01), about(12.01, 0.01)};
  EXPECT_TRUE(judge(truth, "c1*u + c2*v + c3", constants).recovered);
}

// a*b is printed, but what was found is a factor of about 1; and a 2 that is no constant is not taken for one.
TEST(FormulaJudge, KnowsThePlaceOfAConstantWhateverItsValue) {
  const FormulaCase truth = truth_of("1.02*a*b^2", "a b [1,5)");
  EXPECT_EQ(judge(truth, "c1*a*b^2", {about(1, 0.03)}).words, "same formula, constants within their intervals");
  const FormulaCase half = truth_of("a/(2.02*a + 3*b)", "a b [1,5)");
  EXPECT_EQ(judge(half, "a/(2*a + c1*b)", {about(2, 0.9)}).words, "another formula");
}

TEST(FormulaJudge, SaysWhenAConstantIsNotInTheFormula) {
  const FormulaCase truth = truth_of("x/4.1", "x [1,5)");
  EXPECT_EQ(judge(truth, "x/4", {about(0.25, 0.1)}).words, "another formula (constant 1 is not in it)");
}

TEST(FormulaJudge, ExponentsAreNotFree) {
  const FormulaCase truth = truth_of("2*x^2", "x [1,5)");
  EXPECT_EQ(judge(truth, "c1*x^3", {about(3, 0.9)}).words, "another formula");
  EXPECT_TRUE(judge(truth, "c1*x^2", {about(2.02, 0.02)}).recovered);
}

TEST(FormulaJudge, ATermTooManyIsAnotherFormula) {
  const FormulaVerdict verdict =
      judge(truth_of("a*b", "a b [1,5)", "c [1,5)"), "a*b + c1*c", {{0.002, 0.002, -0.001, 0.005, false, ""}});
  EXPECT_EQ(verdict.words, "another formula: it has a term too many");
  EXPECT_FALSE(verdict.recovered);
}

// For the speeds that there are, both are the same; for negative c they differ in sign.
TEST(FormulaJudge, InputsUnderARootKeepTheirSign) {
  const FormulaCase truth = truth_of("m/sqrt(1 - v^2/c^2)", "m [1,5); v [1,2); c [3,5)");
  const FormulaVerdict verdict = judge(truth, "m*c/sqrt(c^2 - v^2)");
  EXPECT_EQ(verdict.words, "exact");
  EXPECT_GT(verdict.points, 1000);  // not where v > c
  EXPECT_LT(verdict.points, 10000);
  EXPECT_EQ(judge(truth, "m*abs(c)/sqrt(c^2 - v^2)").words, "exact");
  EXPECT_EQ(judge(truth, "abs(m)*c/sqrt(c^2 - v^2)").words, "another formula");
}

// Beside x = 1, where the cubic is zero, a coefficient that is right to 1e-9 cannot give six digits.
TEST(FormulaJudge, ErrorsCountAgainstTheTermsWhereTheyCancel) {
  const FormulaCase truth = truth_of("x^3 - 2*x + 1", "x [0.999999,1.000001)");
  EXPECT_EQ(judge(truth, "x^3 - 2.000000001*x + 1", {}, false).words, "exact");
  EXPECT_EQ(judge(truth, "x^3 - 2.00001*x + 1", {}, false).words, "another formula");
}

TEST(FormulaJudge, AFormulaThatIsHardlyEverDefinedIsNotJudged) {
  const FormulaVerdict verdict = judge(truth_of("sqrt(a - b)", "a [1,2); b [200,201)"), "sqrt(a - b)");
  EXPECT_FALSE(verdict.recovered);
  EXPECT_EQ(verdict.words, "cannot be judged: f has a value at only 0 of 10000 points");
}

// The rule for other people's sets: root mean squares on the data's box and on one 1.3 times as wide.
TEST(FormulaJudge, AroundTheDataTheRootMeanSquareCounts) {
  const auto judge_near = [](const FormulaCase& truth, const std::string& found) {
    Candidate candidate;
    candidate.formula = candidate.open_formula = *parse_expression(found);
    return judge_formula(truth, candidate, false, around_the_data);
  };
  const FormulaCase truth = truth_of("a*b", "a b [1,5)");
  EXPECT_TRUE(judge_near(truth, "b*a").recovered);
  EXPECT_TRUE(judge_near(truth, "a*b*1.0000005").recovered);
  EXPECT_NEAR(judge_near(truth, "a*b*1.0000005").error, 5e-7, 1e-12);
  EXPECT_FALSE(judge_near(truth, "a*b*1.000002").recovered);
  // The wider box begins at 0.4; the data say nothing about what is below 1.
  EXPECT_FALSE(judge_near(truth, "a*b + max(0, 1 - a)").recovered);
  EXPECT_TRUE(judge_near(truth, "a*b + max(0, 0.39 - a)").recovered);
  EXPECT_FALSE(judge_near(truth, "a*b*sqrt(a - 0.9)/sqrt(a - 0.9)").recovered);  // no value there
}

TEST(FormulaJudge, AroundTheDataConstantsMayMoveInsideTheirIntervals) {
  const FormulaCase truth = truth_of("0.5*k*x^2", "k x [1,5)");
  Candidate candidate;
  candidate.open_formula = *parse_expression("c1*k*x^2");
  candidate.formula = *parse_expression("0.503*k*x^2");
  candidate.constants = {about(0.503, 0.01)};
  candidate.constants[0].slot = "c1";
  EXPECT_TRUE(judge_formula(truth, candidate, true, around_the_data).recovered);
  EXPECT_FALSE(judge_formula(truth, candidate, false, around_the_data).recovered);
  candidate.constants = {about(0.503, 0.001)};
  candidate.constants[0].slot = "c1";
  EXPECT_FALSE(judge_formula(truth, candidate, true, around_the_data).recovered);
}

// On [-1,7) the variance of a*b is 124, and the mean square of the bend a third of that of its factor: R2 is 0.997, and
// below 0. A third of the roots has no value there.
TEST(FormulaJudge, AFalseLawIsFarOffOnTheBoxTwiceAsWide) {
  const FormulaCase truth = truth_of("a*b", "a b [1,5)");
  Fit fit;
  fit.candidates.resize(1);
  fit.candidates[0].judgement.verdict = Verdict::Law;
  const auto is_false = [&](const std::string& found) {
    fit.candidates[0].formula = *parse_expression(found);
    return is_false_law(truth, fit);
  };
  EXPECT_FALSE(is_false("a*b"));
  EXPECT_FALSE(is_false("a*b + max(0, 1 - a)"));
  EXPECT_TRUE(is_false("a*b + 20*max(0, 1 - a)"));
  EXPECT_TRUE(is_false("a*b*sqrt(a - 1.5)/sqrt(a - 1.5)"));
  fit.candidates[0].judgement.verdict = Verdict::Approximation;
  EXPECT_FALSE(is_false("a"));
}

TEST(FormulaJudge, AFitThatBelievesNothingHasNoFormula) {
  const FormulaCase truth = truth_of("a*b", "a b [1,5)");
  Fit fit;
  EXPECT_EQ(judge_fit(truth, fit, false).words, "no formula");
  fit.candidates.resize(1);
  fit.candidates[0].formula = *parse_expression("a*b");
  EXPECT_EQ(judge_fit(truth, fit, false).words, "no formula");
  fit.candidates[0].judgement.verdict = Verdict::Law;
  EXPECT_EQ(judge_fit(truth, fit, false).words, "exact");
}

TEST(FormulaJudge, EveryFormulaOfTheSetIsItself) {
  const Result<std::vector<FormulaCase>> set = formula_set();
  ASSERT_TRUE(set.ok());
  for (std::size_t k = 0; k < set->size(); k += test::sanitized ? 10 : 1) {
    const FormulaCase& formula = (*set)[k];
    Candidate itself;
    itself.formula = formula.formula;
    const FormulaVerdict verdict = judge_formula(formula, itself, false);
    EXPECT_EQ(verdict.words, "exact") << formula.name;
    EXPECT_GE(verdict.points, 1000) << formula.name;
  }
}

}  // namespace
}  // namespace nalm::formula_judge_test
