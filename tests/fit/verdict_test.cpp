// Which formulas are called laws.
#include "fit/verdict.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "fit/candidates.hpp"
#include "fit/cases.hpp"
#include "fit/form_algebra.hpp"
#include "fit/rounding.hpp"
#include "formula/node.hpp"
#include "sanitized.hpp"

namespace nalm::fitting::verdict_test {
namespace {

using test::table_of;

// ---- one formula ---------------------------------------------------------------------------------------------------

// The form with its numbers at the least squares, judged.
Candidate judged(Form form, const Data& data, int restarts = 0, int agreeing = 0) {
  normalise(form, data.negative);
  Found found{{std::move(form), 1, 1}, ""};
  Candidate candidate = finish(found, data).candidate;
  candidate.agreeing = agreeing;
  LazyGrounds grounds(data, 1);
  judge(candidate, data, grounds, of_a_search, restarts);
  return candidate;
}

template <class Target>
Data data_of(const std::vector<test::Column>& columns, std::size_t rows, std::uint64_t seed, Target target) {
  return *prepare(table_of(columns, rows, seed, target), {.target = "y"});
}

TEST(Judge, TheRightFormulaIsALaw) {
  const Data data = data_of({{"a", 1, 5}, {"b", 1, 5}}, 100, 1, [](const double* x, Xoshiro& random) {
    return 3 * x[0] * x[1] + 0.5 + 0.1 * random.gaussian();
  });
  const Candidate c = judged({{}, {test::product(1, {1, 1}), test::product(1, {0, 0})}}, data);
  EXPECT_EQ(c.judgement.verdict, Verdict::Law) << c.judgement.reason;
  EXPECT_GT(c.judgement.r_squared, 0.99);
  EXPECT_LT(c.judgement.p_value, 1e-20);
  EXPECT_LT(c.judgement.disagreement, 0.05);
  EXPECT_GE(c.judgement.cross_validated, c.train.relative);
}

TEST(Judge, SeesAPatternAlongAColumn) {
  const Data data = data_of({{"a", 0, 1}, {"b", 0, 1}}, 1000, 12,
                            [](const double* x, Xoshiro& random) { return x[0] * x[0] + 0.01 * random.gaussian(); });
  const Candidate c = judged({{}, {test::product(1, {1, 0}), test::product(1, {0, 0})}}, data);
  EXPECT_EQ(c.judgement.verdict, Verdict::Approximation);
  EXPECT_NE(c.judgement.reason.find("are no noise"), std::string::npos) << c.judgement.reason;
  EXPECT_GT(c.judgement.pattern, 10);
}

TEST(Judge, SeesAPatternThatNoSingleColumnShows) {
  // The sign of a*b: its mean along either column is 0 everywhere.
  const Data data = data_of({{"a", -1, 1}, {"b", -1, 1}, {"c", 1, 9}}, 600, 13, [](const double* x, Xoshiro& random) {
    return x[2] + (x[0] * x[1] > 0 ? 0.3 : -0.3) + 0.1 * random.gaussian();
  });
  const Candidate c = judged({{}, {test::product(1, {0, 0, 1}), test::product(1, {0, 0, 0})}}, data);
  EXPECT_EQ(c.judgement.verdict, Verdict::Approximation) << c.judgement.reason;
  EXPECT_NE(c.judgement.reason.find("are no noise"), std::string::npos) << c.judgement.reason;
}

TEST(Judge, LargerErrorsHereThanThereAreNoPattern) {
  const Data data = data_of({{"a", 1, 5}, {"b", 1, 5}}, 400, 14, [](const double* x, Xoshiro& random) {
    return 3.8 * x[0] * x[1] * x[1] * (1 + 0.1 * random.gaussian());
  });
  const Candidate c = judged({{}, {test::product(1, {1, 2})}}, data);
  EXPECT_EQ(c.judgement.verdict, Verdict::Law) << c.judgement.reason;
}

TEST(Judge, WhatTheRowsLeaveOpenOutsideIsNoLaw) {
  // Half a sine with noise is a parabola as far as the rows can tell.
  const Data data = data_of({{"a", 0, 3}}, 30, 15,
                            [](const double* x, Xoshiro& random) { return std::sin(x[0]) + 0.06 * random.gaussian(); });
  const Candidate c = judged({{}, {test::product(1, {2}), test::product(1, {1}), test::product(1, {0})}}, data);
  EXPECT_EQ(c.judgement.verdict, Verdict::Approximation) << c.judgement.reason;
  EXPECT_GT(c.judgement.disagreement, 0.2);
  EXPECT_NE(c.judgement.reason.find("a further term in a"), std::string::npos) << c.judgement.reason;
}

TEST(Judge, ASeriesInDisguiseIsNoLawHoweverCloseItIs) {
  const Data data =
      data_of({{"a", 0, 0.5}}, 200, 16, [](const double* x, Xoshiro&) { return std::sqrt(1 + x[0] * x[0]); });
  Form series;
  for (int power = 0; power <= 10; power += 2)
    series.products.push_back(test::product(1, {static_cast<double>(power)}));
  const Candidate c = judged(series, data);
  EXPECT_LT(c.train.relative, 1e-6);
  EXPECT_EQ(c.judgement.verdict, Verdict::Approximation) << c.judgement.reason;
}

// Two waves: the root of the product of their strengths, which are never negative. Three numbers, none of them fitted.
TEST(Judge, SimpleNumbersSayNothingBelowZeroOfWhatIsNeverNegative) {
  const Data data = data_of({{"a", 1, 5}, {"b", 1, 5}, {"c", -1, 1}}, 300, 19, [](const double* x, Xoshiro& random) {
    return x[0] + x[1] + 2 * x[2] * std::sqrt(x[0] * x[1]) + 0.05 * random.gaussian();
  });
  const Candidate c =
      judged({{}, {test::product(1, {1, 0, 0}), test::product(1, {0, 1, 0}), test::product(2, {0.5, 0.5, 1})}}, data);
  EXPECT_EQ(c.constants.size(), 3u);
  EXPECT_EQ(c.judgement.verdict, Verdict::Law) << c.judgement.reason;
}

// As steep as the rows let it be.
TEST(Judge, AStepInTheGuiseOfAFunctionIsNoLaw) {
  const auto reason = [](double steepness) {
    const Data data = data_of({{"a", -2, 2}}, 300, 20, [steepness](const double* x, Xoshiro& random) {
      return std::tanh(steepness * (x[0] - 0.5)) + 0.05 * random.gaussian();
    });
    const Atom step{"tanh", {{test::term(steepness, {1}), test::term(-steepness / 2, {0})}}};
    const Candidate c = judged({{}, {test::product(1, {0, 1})}, {step}}, data);
    return c.judgement.verdict == Verdict::Law ? "law" : c.judgement.reason;
  };
  EXPECT_EQ(reason(2), "law");
  EXPECT_NE(reason(60).find("jumps at a = 0.5"), std::string::npos) << reason(60);
}

// Six numbers that no rule made simple come as close to many things as rounding; three do not.
TEST(Judge, ALongExactFormulaNeedsValuesOutside) {
  const auto verdict = [](std::size_t terms) {
    const double numbers[] = {1.2344871239, -0.3217719231, 0.7713450917, 0.1931237781, -0.0417778123, 0.0113871923};
    Form form;
    for (std::size_t k = 0; k < terms; ++k) form.products.push_back(test::product(1, {static_cast<double>(k) + 0.5}));
    const Data data = data_of({{"a", 0.1, 4}}, 300, 21, [&](const double* x, Xoshiro&) {
      double sum = 0;
      for (std::size_t k = 0; k < terms; ++k) sum += numbers[k] * std::pow(x[0], static_cast<double>(k) + 0.5);
      return sum;
    });
    return judged(form, data).judgement;
  };
  EXPECT_EQ(verdict(3).verdict, Verdict::Law) << verdict(3).reason;
  EXPECT_EQ(verdict(6).verdict, Verdict::Approximation);
  EXPECT_NE(verdict(6).reason.find("of the box twice as wide only"), std::string::npos) << verdict(6).reason;
}

TEST(Judge, AFormulaThatNoRestartSpellsIsNoLaw) {
  const Data data = data_of({{"a", 1, 5}, {"b", 1, 5}}, 100, 1, [](const double* x, Xoshiro& random) {
    return 3 * x[0] * x[1] + 0.5 + 0.1 * random.gaussian();
  });
  const Candidate c = judged({{}, {test::product(1, {1, 1}), test::product(1, {0, 0})}}, data, 100);
  EXPECT_EQ(c.judgement.verdict, Verdict::Approximation);
  EXPECT_NE(c.judgement.reason.find("none of 100 restarts"), std::string::npos) << c.judgement.reason;
}

TEST(Judge, OneRestartAgreesWithNobody) {
  const auto table = [](double factor) {
    return data_of({{"a", 1, 5}, {"b", 1, 5}}, 100, 1, [factor](const double* x, Xoshiro& random) {
      return factor * x[0] * x[1] + 0.1 * random.gaussian();
    });
  };
  const Data fitted = table(3.14);
  const Form form{{}, {test::product(1, {1, 1})}};
  const Candidate once = judged(form, fitted, 100, 1);
  EXPECT_EQ(once.judgement.verdict, Verdict::Approximation);
  EXPECT_NE(once.judgement.reason.find("only one of 100 restarts"), std::string::npos) << once.judgement.reason;
  EXPECT_EQ(judged(form, fitted, 100, 2).judgement.verdict, Verdict::Law);
}

TEST(Judge, TooFewRowsAreSaidToBeTooFew) {
  const Data data =
      data_of({{"a", 1, 5}}, 6, 17, [](const double* x, Xoshiro& random) { return x[0] + 0.3 * random.gaussian(); });
  const Candidate c = judged({{},
                              {test::product(1, {3}), test::product(1, {2}), test::product(1, {1}),
                               test::product(1, {0}), test::product(1, {-1})}},
                             data);
  EXPECT_EQ(c.judgement.verdict, Verdict::None);
  EXPECT_NE(c.judgement.reason.find("rows are too few"), std::string::npos) << c.judgement.reason;
}

TEST(Judge, AsManyConstantsAsDifferentInputsAreNoLaw) {
  const Data data = data_of({{"a", 0, 4}, {"b", 0, 1}}, 100, 18, [](const double* x, Xoshiro&) { return x[0]; });
  Data table = data;
  const double entries[] = {3, 1, 7, 2};
  for (std::size_t r = 0; r < table.rows; ++r) {
    const double entry = std::floor(table.x[2 * r]);
    table.x[2 * r] = entry;
    table.y[r] = entries[static_cast<std::size_t>(entry)];
  }
  const Candidate c = judged(
      {{}, {test::product(1, {3, 0}), test::product(1, {2, 0}), test::product(1, {1, 0}), test::product(1, {0, 0})}},
      table);
  EXPECT_NE(c.judgement.verdict, Verdict::Law);
  EXPECT_NE(c.judgement.reason.find("4 different values"), std::string::npos) << c.judgement.reason;
}

TEST(Rounding, FollowsTheDigitsOfTheColumn) {
  EXPECT_NEAR(rounding_error_of({1.25, 3.5, 117.75, 20}), 0.01 / std::sqrt(12.0), 1e-12);
  EXPECT_NEAR(rounding_error_of({10, 20, 35}), 1 / std::sqrt(12.0), 1e-12);
  EXPECT_LT(rounding_error_of({1.0 / 3, 2.0 / 7, 5.0 / 11}), 1e-15);
  EXPECT_EQ(rounding_error_of({0, 0}), 0);
}

// ---- whole fits ----------------------------------------------------------------------------------------------------

// A sanitizer looks at one, since all go the same way through the code.
constexpr std::uint64_t seeds(std::uint64_t usual) { return test::sanitized ? 1 : usual; }

Fit fitted(const Table& table, FitOptions options = {}) {
  options.target = table.columns.back();
  options.threads = 1;
  if (test::sanitized) options.time_limit = 10;
  Result<Fit> result = fit(table, options);
  if (!result) ADD_FAILURE() << result.error().message;
  return result ? *result : Fit{};
}

std::string told(const Fit& fit) {
  return fit.candidates.empty() ? fit.reason : print(fit.best().formula) + ": " + fit.reason;
}

// A power that is no multiple of a half.
double odd_power_in(const Expression& formula) {
  double odd = 0;
  formula::visit_operands_first(formula, [&](const Expression& e) {
    if (e.kind() != Expression::Kind::Power || e.operands()[1].kind() != Expression::Kind::Constant) return;
    const double power = e.operands()[1].constant();
    if (2 * power != std::round(2 * power)) odd = power;
  });
  return odd;
}

Table table_with(std::vector<std::string> columns, std::vector<double> values) {
  Table table;
  table.has_header = true;
  table.rows = values.size() / columns.size();
  table.columns = std::move(columns);
  table.values = std::move(values);
  return table;
}

TEST(Verdict, KeplersLawIsALawOfEightPlanets) {
  const Table planets =
      table_with({"a", "moons", "T"}, {0.387, 0,  87.97,  0.723, 0,   224.7, 1,     1,  365.26, 1.524, 2,  686.98,
                                       5.203, 95, 4332.6, 9.537, 146, 10759, 19.19, 28, 30685,  30.07, 16, 60189});
  for (std::uint64_t seed = 1; seed <= seeds(5); ++seed) {
    const Fit fit = fitted(planets, {.seed = seed});
    ASSERT_TRUE(fit.is_law()) << told(fit);
    EXPECT_EQ(print(fit.best().formula).substr(0, 3), "365") << told(fit);
    EXPECT_NE(print(fit.best().formula).find("*a^1.5"), std::string::npos) << told(fit);
  }
}

TEST(Verdict, BoylesLawIsALawWithAnySeed) {
  std::vector<double> values;
  const double volume[] = {48, 46, 44, 42, 40, 38, 36, 34, 32, 30, 28, 26, 24,
                           23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12};
  const double sixteenths[] = {466, 489,  511,  536,  565,  592,  628,  666,  707,  753,  805,  869, 941,
                               981, 1025, 1073, 1131, 1186, 1246, 1324, 1406, 1489, 1607, 1725, 1881};
  for (std::size_t k = 0; k < 25; ++k) values.insert(values.end(), {volume[k], sixteenths[k] / 16});
  const Table table = table_with({"V", "P"}, values);
  for (std::uint64_t seed = 1; seed <= seeds(3); ++seed) {
    const Fit fit = fitted(table, {.seed = seed});
    EXPECT_TRUE(fit.is_law()) << told(fit);
    EXPECT_EQ(print(fit.best().formula), "1406.9/V");
  }
}

// The constants are those of all rows: R's nls gives 212.7 and 0.06412 for the treated cells of its table Puromycin.
TEST(Verdict, TheConstantsOfPuromycinAreThoseOfAllRows) {
  const Table table = table_with({"conc", "rate"}, {0.02, 76,  0.02, 47,  0.06, 97,  0.06, 107, 0.11, 123, 0.11, 139,
                                                    0.22, 159, 0.22, 152, 0.56, 191, 0.56, 201, 1.10, 207, 1.10, 200});
  for (std::uint64_t seed = 1; seed <= seeds(3); ++seed) {
    const Fit fit = fitted(table, {.seed = seed});
    EXPECT_TRUE(fit.is_law()) << told(fit);
    EXPECT_EQ(print(fit.best().formula), "212.7*conc/(conc + 0.0641)");
  }
}

// R's table BOD: oxygen demand over time, six rows of which any formula leaves half.
TEST(Verdict, SixRowsWithLargeErrorsHaveNoLaw) {
  const Table table = table_with({"Time", "demand"}, {1, 8.3, 2, 10.3, 3, 19, 4, 16, 5, 15.6, 7, 19.8});
  const Fit fit = fitted(table);
  EXPECT_EQ(fit.verdict(), Verdict::None) << told(fit);
  EXPECT_NE(fit.reason.find("6 rows of noise have a formula that is as good"), std::string::npos) << fit.reason;
}

TEST(Verdict, NoiseHasNoLaw) {
  for (const std::size_t rows : {6u, 9u, 20u}) {
    for (std::uint64_t seed = 1; seed <= seeds(6); ++seed) {
      const Table table = table_of({{"a", 1, 5}, {"b", 1, 5}, {"c", -1, 1}, {"d", 0, 1}}, rows, 100 * rows + seed,
                                   [](const double*, Xoshiro& random) { return random.gaussian(); });
      const Fit fit = fitted(table);
      EXPECT_FALSE(fit.is_law()) << rows << " rows: " << told(fit);
    }
  }
}

TEST(Verdict, ASineIsNoLaw) {
  const Table table = table_of({{"x", 0, 10}}, 50, 21, [](const double* x, Xoshiro& random) {
    return std::sin(x[0]) + 0.007 * random.gaussian();
  });
  const Fit fit = fitted(table);
  EXPECT_FALSE(fit.is_law()) << told(fit);
}

TEST(Verdict, ALogisticCurveIsNoLaw) {
  for (const std::size_t rows : {20u, 50u}) {
    const Table table = table_of({{"x", -4, 4}}, rows, 22, [](const double* x, Xoshiro& random) {
      return 1 / (1 + std::exp(-x[0])) + 0.018 * random.gaussian();
    });
    const Fit fit = fitted(table);
    EXPECT_FALSE(fit.is_law()) << told(fit);
  }
}

TEST(Verdict, OneFormulaHereAndAnotherThereIsNoLaw) {
  const Table table = table_of({{"a", 1, 5}, {"b", 1, 5}}, 200, 23, [](const double* x, Xoshiro& random) {
    return (x[0] < x[1] ? x[0] + x[1] : x[0] * x[1]) + 0.04 * random.gaussian();
  });
  const Fit fit = fitted(table);
  EXPECT_FALSE(fit.is_law()) << told(fit);
}

// Formulas at the end of what the search reaches: what it calls a law holds, whatever it is.
TEST(Verdict, WhatIsCalledALawHoldsOutside) {
  const auto stress = [](const double* x) { return (x[0] + x[1]) / 2 + std::hypot((x[0] - x[1]) / 2, x[2]); };
  const auto jump = [](const double* x) { return x[0] / 2 * (std::sqrt(1 + 8 * x[1] * x[1]) - 1); };
  const auto check = [](const std::vector<test::Column>& columns, auto truth, double noise) {
    const Fit fit = fitted(table_of(
        columns, 200, 27, [&](const double* x, Xoshiro& random) { return truth(x) + noise * random.gaussian(); }));
    const double share = fit.is_law() ? test::r_squared_outside(fit.best().formula, columns, truth) : 1;
    EXPECT_GT(share, 0.9) << told(fit);
  };
  check({{"s1", 1, 5}, {"s2", 1, 5}, {"t", 1, 5}}, stress, 0.015);
  check({{"h", 1, 5}, {"F", 1, 5}}, jump, 0);
}

TEST(Verdict, APowerThatIsNotAllowedIsNoLaw) {
  const Table table =
      table_of({{"x", 1, 5}}, 100, 24, [](const double* x, Xoshiro&) { return 3 * std::pow(x[0], 0.7); });
  const Fit half = fitted(table);
  EXPECT_FALSE(half.is_law()) << told(half);
  for (const Candidate& c : half.candidates) EXPECT_EQ(odd_power_in(c.formula), 0) << print(c.formula);
  const Fit any = fitted(table, {.powers = Powers::Any});
  EXPECT_TRUE(any.is_law()) << told(any);
  EXPECT_EQ(print(any.best().formula), "3*x^0.7");
}

TEST(Verdict, ErrorsInProportionToTheTargetHideNoLaw) {
  const Table table = table_of({{"a", 1, 5}, {"b", 1, 5}}, 100, 25, [](const double* x, Xoshiro& random) {
    return 3.8 * x[0] * x[1] * x[1] * (1 + 0.05 * random.gaussian());
  });
  const Fit fit = fitted(table);
  EXPECT_TRUE(fit.is_law()) << told(fit);
  EXPECT_EQ(variables(fit.best().formula), (std::vector<std::string>{"a", "b"}));
}

// The first two of three steps look like a step and a slope. Bends, and jumps where two columns are equal, go on
// outside.
TEST(Verdict, AStepIsNoLawAndABendMayBe) {
  const auto law = [](auto target) {
    const Fit fit = fitted(table_of({{"a", 0, 6}, {"b", 0, 6}}, 120, 30, [&](const double* x, Xoshiro& random) {
      return target(x[0], x[1]) + 0.02 * random.gaussian();
    }));
    return fit.is_law() ? "law" : fit.reason;
  };
  const std::string step = law([](double a, double) { return a < 4.5 ? 0.7 : 5.6 + 0.12 * a; });
  EXPECT_NE(step.find("jumps at a = 4.5"), std::string::npos) << step;
  EXPECT_EQ(law([](double a, double) { return a < 3 ? 0.7 : 0.7 + 2 * (a - 3); }), "law");
  EXPECT_EQ(law([](double a, double b) { return a < b ? 1.5 * a : 8 - b; }), "law");
}

// Weights of animals and of their brains: outside, the largest would decide alone if errors were not shares. Seed 29.
TEST(Verdict, ErrorsInProportionAreJudgedInProportionOutside) {
  Table table = table_of({{"body", -2, 3.8}}, 62, 29, [](const double* x, Xoshiro& random) {
    return 8.5 * std::pow(10, 0.75 * x[0]) * std::exp(0.7 * random.gaussian());
  });
  for (std::size_t r = 0; r < table.rows; ++r) table.values[2 * r] = std::pow(10, table.values[2 * r]);
  const Result<Fit> fit = nalm::fit(table, {.target = "y", .powers = Powers::Any, .relative = true, .threads = 1});
  ASSERT_TRUE(fit.ok()) << fit.error().message;
  EXPECT_TRUE(fit->is_law()) << print(fit->best().formula) << ": " << fit->reason;
  EXPECT_LT(fit->best().judgement.disagreement, 0.2);
}

TEST(Verdict, RowsThatAreThereTwiceChangeNothing) {
  Table table = table_of({{"a", 1, 5}, {"b", 1, 5}}, 40, 26,
                         [](const double* x, Xoshiro& random) { return 2 * x[0] / x[1] + 0.01 * random.gaussian(); });
  const std::vector<double> again = table.values;
  table.values.insert(table.values.end(), again.begin(), again.end());
  table.rows *= 2;
  const Fit fit = fitted(table);
  EXPECT_TRUE(fit.is_law()) << told(fit);
  EXPECT_NE(print(fit.best().formula).find("a/b"), std::string::npos) << told(fit);
}

}  // namespace
}  // namespace nalm::fitting::verdict_test
