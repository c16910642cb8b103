// From a table to a formula, and how far it is believed.
#include "nalm/fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "fit/cases.hpp"
#include "sanitized.hpp"

namespace nalm::fit_test {
namespace {

using test::table_of;
using Values = std::vector<double>;

// For fits that would go on for long under a sanitizer, and need not end.
constexpr double limit = test::sanitized ? 10 : 0;

Fit fitted(const Table& table, FitOptions options = {}) {
  options.target = "y";
  Result<Fit> result = fit(table, options);
  if (!result) ADD_FAILURE() << result.error().message;
  return result ? *result : Fit{};
}

std::string text_of(const Fit& fit) { return fit.candidates.empty() ? "(none)" : print(fit.best().formula); }

// Largest difference between a formula and another one, in parts of the latter, over the rows of the table.
double difference(const Expression& formula, const Expression& truth, const Table& table) {
  double worst = 0;
  for (std::size_t r = 0; r < table.rows; ++r) {
    const std::span<const double> x(table.values.data() + r * table.columns.size(), table.columns.size());
    const double expected = *evaluate(truth, table.columns, x);
    worst = std::max(worst, std::fabs(*evaluate(formula, table.columns, x) / expected - 1));
  }
  return worst;
}

double find_power(const Expression& e, const std::function<bool(double)>& is_wanted) {
  if (e.kind() == Expression::Kind::Power && e.operands()[1].kind() == Expression::Kind::Constant &&
      is_wanted(e.operands()[1].constant())) {
    return e.operands()[1].constant();
  }
  if (e.kind() == Expression::Kind::Call && e.name() == "sqrt" && is_wanted(0.5)) return 0.5;
  if (e.kind() == Expression::Kind::Constant || e.kind() == Expression::Kind::Variable) return 0;
  for (const Expression& operand : e.operands()) {
    if (const double power = find_power(operand, is_wanted); power != 0) return power;
  }
  return 0;
}

// ---- formulas that are found ---------------------------------------------------------------------------------------

Table product_table() {
  return table_of({{"a", 1, 5}, {"b", 1, 5}}, 200, 1, [](const double* x, Xoshiro&) { return x[0] * x[1]; });
}

TEST(Fit, FindsAProduct) {
  const Fit fit = fitted(product_table());
  EXPECT_EQ(text_of(fit), "a*b");
  EXPECT_TRUE(fit.is_law()) << fit.reason;
  EXPECT_TRUE(fit.verified);
  EXPECT_LE(fit.verification_error, 1e-12);
  EXPECT_EQ(fit.reason, "the formula gives every row to rounding");
  EXPECT_LT(fit.best().held_out.relative, 1e-12);
  EXPECT_LT(fit.best().outside.relative, 1e-12);
  EXPECT_GT(fit.best().agreeing, 0);
  EXPECT_GE(fit.converged, fit.best().agreeing);
  EXPECT_GE(fit.restarts, fit.converged);
  EXPECT_FALSE(fit.cut);
  EXPECT_EQ(fit.set_of_row.size(), fit.rows);
}

TEST(Fit, FindsACentreOfMass) {
  const Table table = table_of({{"m1", 1, 5}, {"m2", 1, 5}, {"r1", 1, 5}, {"r2", 1, 5}}, 200, 2,
                               [](const double* x, Xoshiro&) { return (x[0] * x[2] + x[1] * x[3]) / (x[0] + x[1]); });
  const Fit fit = fitted(table);
  EXPECT_EQ(text_of(fit), "(m1*r1 + m2*r2)/(m1 + m2)");
  EXPECT_TRUE(fit.is_law() && fit.verified) << fit.reason;
}

TEST(Fit, FindsARootBesideAProduct) {
  const Table table = table_of({{"a", 1, 3}, {"b", 5, 9}, {"c", 0.5, 2}}, 150, 5, [](const double* x, Xoshiro&) {
    return (-x[1] + std::sqrt(x[1] * x[1] - 4 * x[0] * x[2])) / (2 * x[0]);
  });
  const Fit fit = fitted(table);
  EXPECT_EQ(text_of(fit), "(sqrt(0.25*b^2 - a*c) - 0.5*b)/a");
  EXPECT_TRUE(fit.is_law() && fit.verified) << fit.reason;
}

TEST(Fit, FindsTheEnergyOfASpringBesideAColumnThatSaysNothing) {
  const Table table = table_of({{"k", 1, 5}, {"x", -2, 2}, {"colour", -2, 2}}, 200, 3,
                               [](const double* x, Xoshiro&) { return 0.5 * x[0] * x[1] * x[1]; });
  const Fit fit = fitted(table);
  EXPECT_EQ(variables(fit.best().formula), (std::vector<std::string>{"k", "x"}));
  EXPECT_LT(difference(fit.best().formula, *parse_expression("0.5*k*x^2"), table), 1e-14) << text_of(fit);
  EXPECT_TRUE(fit.is_law() && fit.verified) << fit.reason;
  ASSERT_EQ(fit.best().constants.size(), 1u);
  EXPECT_EQ(fit.best().constants[0].value, 0.5);
  EXPECT_TRUE(fit.best().constants[0].snapped);
}

Table noisy_hypotenuse() {
  return table_of({{"a", 1, 5}, {"b", 1, 5}}, 200, 4, [](const double* x, Xoshiro& random) {
    return std::hypot(x[0], x[1]) * (1 + 0.01 * random.gaussian());
  });
}

// Several tests look at it.
const Fit& fit_of_noisy_hypotenuse() {
  static const Fit result = fitted(noisy_hypotenuse(), {.seed = 5, .threads = 1});
  return result;
}

TEST(Fit, FindsARootInNoise) {
  const Fit& fit = fit_of_noisy_hypotenuse();
  EXPECT_EQ(text_of(fit), "sqrt(a^2 + b^2)");
  EXPECT_TRUE(fit.is_law() && fit.verified) << fit.reason;
  EXPECT_NEAR(fit.best().held_out.rmse, 0.043, 0.01);
  EXPECT_NE(fit.reason.find("looks like noise"), std::string::npos) << fit.reason;
}

// A few hundred rows do not tell these from their neighbours, thousands do; the noise brings some targets below 0.
// Seeds of the noise are fixed, so that nothing hangs on chance.
TEST(Fit, FindsADistanceInNoiseOnManyRows) {
  const Table table =
      table_of({{"a", 1, 5}, {"b", 1, 5}, {"c", 1, 5}, {"d", 1, 5}}, 3000, 1,
               [](const double* x, Xoshiro& r) { return std::hypot(x[0] - x[1], x[2] - x[3]) + 0.05 * r.gaussian(); });
  FitOptions options;
  options.time_limit = limit;
  const Fit fit = fitted(table, options);
  if (fit.cut) GTEST_SKIP() << "a sanitizer takes too long";
  EXPECT_EQ(text_of(fit), "sqrt((a - b)^2 + (c - d)^2)");
  EXPECT_TRUE(fit.is_law()) << fit.reason;
}

TEST(Fit, FindsAMassThatGrowsWithItsSpeedInNoise) {
  const Table table = table_of({{"m", 1, 5}, {"v", 1, 2}, {"c", 3, 10}}, 5000, 1, [](const double* x, Xoshiro& r) {
    return x[0] / std::sqrt(1 - x[1] * x[1] / (x[2] * x[2])) + 0.03 * r.gaussian();
  });
  FitOptions options;
  options.time_limit = limit;
  const Fit fit = fitted(table, options);
  if (fit.cut) GTEST_SKIP() << "a sanitizer takes too long";
  EXPECT_EQ(text_of(fit), "m/sqrt(1 - v^2/c^2)");
  EXPECT_TRUE(fit.is_law()) << fit.reason;
}

TEST(Fit, GivesItsNumbersInTheOrderOfTheFormulaWithErrorBars) {
  const Table table = table_of({{"a", 1, 5}}, 200, 5, [](const double* x, Xoshiro& random) {
    return 7.137 * x[0] + 3.291 + 0.02 * random.gaussian();
  });
  const Fit fit = fitted(table);
  ASSERT_EQ(fit.best().constants.size(), 2u) << text_of(fit);
  const Values truth = {7.137, 3.291};
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_LT(fit.best().constants[k].low, truth[k]);
    EXPECT_GT(fit.best().constants[k].high, truth[k]);
  }
}

TEST(Fit, ItsNumbersKnowTheirPlaces) {
  const Candidate& best = fit_of_noisy_hypotenuse().best();
  std::vector<std::pair<std::string, double>> values, other;
  for (const FitConstant& c : best.constants) values.push_back({c.slot, c.value}), other.push_back({c.slot, 3});
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(print(with_values(best.open_formula, values)), "sqrt(a^2 + b^2)");
  EXPECT_EQ(print(with_values(best.open_formula, other)), "3*sqrt(a^2 + 3*b^2)");
}

TEST(Fit, FindsAMagnitude) {
  const Table table =
      table_of({{"a", -3, 3}, {"b", 1, 4}}, 150, 77, [](const double* x, Xoshiro&) { return std::fabs(x[0]) * x[1]; });
  const Fit fit = fitted(table);
  EXPECT_LE(fit.best().size, 6) << text_of(fit);
}

TEST(Fit, VerifiesFormulasOfTinyNumbers) {
  const Table columns =
      table_of({{"a", 1e-50, 3e-50}, {"b", 1, 2}}, 150, 77, [](const double* x, Xoshiro&) { return x[0] * x[1]; });
  const Table target = table_of({{"a", 1, 3}, {"b", 1, 4}}, 150, 77,
                                [](const double* x, Xoshiro&) { return 1e-45 * x[0] / (x[0] + x[1]); });
  for (const Table& table : {columns, target}) {
    const Fit fit = fitted(table);
    EXPECT_TRUE(fit.is_law() && fit.verified) << text_of(fit) << ": " << fit.verification_error;
  }
}

// ---- what is not believed ------------------------------------------------------------------------------------------

TEST(Fit, DoesNotBelieveAFormulaForNoise) {
  const Table table =
      table_of({{"a", 1, 5}, {"b", 1, 5}}, 100, 6, [](const double*, Xoshiro& random) { return random.gaussian(); });
  const Fit fit = fitted(table, {.time_limit = limit});
  EXPECT_FALSE(fit.is_law()) << text_of(fit);
  EXPECT_TRUE(fit.reason.starts_with("no ")) << fit.reason;
}

TEST(Fit, DoesNotBelieveAFormulaForASine) {
  const Table table = table_of({{"a", 0, 12}}, 100, 7, [](const double* x, Xoshiro&) { return std::sin(x[0]); });
  const Fit fit = fitted(table, {.time_limit = limit});
  EXPECT_FALSE(fit.is_law()) << text_of(fit) << ": " << fit.reason;
  EXPECT_TRUE(fit.reason.starts_with("no ")) << fit.reason;
}

TEST(Fit, ListsFormulasThatGrowAndGetBetter) {
  const Fit& fit = fit_of_noisy_hypotenuse();
  ASSERT_GT(fit.candidates.size(), 1u);
  for (std::size_t k = 1; k < fit.candidates.size(); ++k) {
    EXPECT_GE(fit.candidates[k].size, fit.candidates[k - 1].size) << k;
    if (k == fit.chosen) continue;  // it is there in any case
    EXPECT_LT(fit.candidates[k].train.rmse, fit.candidates[k - 1].train.rmse) << k;
  }
  EXPECT_LE(fit.candidates.size(), 8u);
}

// ---- repeatable ----------------------------------------------------------------------------------------------------

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

void expect_same_bits(const FitError& a, const FitError& b) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(bits(a.rmse), bits(b.rmse));
  EXPECT_EQ(bits(a.relative), bits(b.relative));
  EXPECT_EQ(bits(a.largest), bits(b.largest));
}

void expect_same_bits(const Fit& a, const Fit& b) {
  EXPECT_EQ(a.reason, b.reason);
  EXPECT_EQ(a.chosen, b.chosen);
  EXPECT_EQ(a.restarts, b.restarts);
  EXPECT_EQ(a.converged, b.converged);
  EXPECT_EQ(a.set_of_row, b.set_of_row);
  EXPECT_EQ(a.probe.remarks, b.probe.remarks);
  EXPECT_EQ(bits(a.verification_error), bits(b.verification_error));
  ASSERT_EQ(a.candidates.size(), b.candidates.size());
  for (std::size_t k = 0; k < a.candidates.size(); ++k) {
    const Candidate &c = a.candidates[k], &d = b.candidates[k];
    EXPECT_EQ(print(c.formula), print(d.formula));
    EXPECT_EQ(to_json(c.model), to_json(d.model));
    EXPECT_EQ(c.agreeing, d.agreeing);
    EXPECT_EQ(bits(c.description), bits(d.description));
    expect_same_bits(c.train, d.train);
    expect_same_bits(c.held_out, d.held_out);
    expect_same_bits(c.outside, d.outside);
    ASSERT_EQ(c.constants.size(), d.constants.size());
    for (std::size_t i = 0; i < c.constants.size(); ++i) {
      EXPECT_EQ(bits(c.constants[i].value), bits(d.constants[i].value));
      EXPECT_EQ(bits(c.constants[i].estimate), bits(d.constants[i].estimate));
      EXPECT_EQ(bits(c.constants[i].low), bits(d.constants[i].low));
      EXPECT_EQ(bits(c.constants[i].high), bits(d.constants[i].high));
    }
  }
}

TEST(Fit, GivesTheSameBitsWithOneThreadAndWithThree) {
  expect_same_bits(fit_of_noisy_hypotenuse(), fitted(noisy_hypotenuse(), {.seed = 5, .threads = 3}));
}

// ---- what the caller asks for --------------------------------------------------------------------------------------

TEST(Fit, StopsWhenItIsTold) {
  std::stop_source stop;
  stop.request_stop();
  const Result<Fit> result = fit(noisy_hypotenuse(), {.target = "y"}, {{}, stop.get_token()});
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->cut);
  EXPECT_FALSE(result->is_law());
  EXPECT_TRUE(result->candidates.empty());
  EXPECT_EQ(result->reason, "no formula found: the fit was stopped before any training ended");
}

TEST(Fit, StopsInTheMiddleWithTheBestSoFar) {
  std::stop_source stop;
  const FitWatch watch{[&](const FitProgress& progress) {
                         if (progress.restarts > 40) stop.request_stop();
                       },
                       stop.get_token()};
  const Result<Fit> result = fit(noisy_hypotenuse(), {.target = "y", .threads = 1}, watch);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->cut);
  ASSERT_FALSE(result->candidates.empty());
  EXPECT_TRUE(result->verified);
}

TEST(Fit, KeepsToItsTimeLimit) {
  const Fit fit = fitted(noisy_hypotenuse(), {.time_limit = 1e-9});
  EXPECT_TRUE(fit.cut);
  EXPECT_LT(fit.restarts,
            fit_of_noisy_hypotenuse().restarts / 10);  // no clock: how busy the machine is does not matter
}

TEST(Fit, ReportsProgressThatGrows) {
  std::vector<FitProgress> seen;
  ASSERT_TRUE(fit(product_table(), {.target = "y"}, {[&](const FitProgress& p) { seen.push_back(p); }, {}}).ok());
  ASSERT_FALSE(seen.empty());
  for (std::size_t k = 0; k < seen.size(); ++k) {
    EXPECT_GT(seen[k].share, k > 0 ? seen[k - 1].share : 0) << k;
    EXPECT_LE(seen[k].share, 1) << k;
  }
}

TEST(Fit, UsesTheColumnsItMust) {
  // b explains nothing: nobody would take it.
  const Table table = table_of({{"a", 1, 5}, {"b", 1, 5}}, 60, 8,
                               [](const double* x, Xoshiro& random) { return 2 * x[0] + 0.1 * random.gaussian(); });
  const Fit fit = fitted(table, {.use = {"b"}, .time_limit = limit});
  ASSERT_FALSE(fit.candidates.empty());
  for (const Candidate& c : fit.candidates) {
    const std::vector<std::string> used = variables(c.formula);
    EXPECT_NE(std::find(used.begin(), used.end(), "b"), used.end()) << print(c.formula);
  }
}

TEST(Fit, TakesOnlyTheInputsItIsGiven) {
  const Table table =
      table_of({{"a", 1, 5}, {"b", 1, 5}, {"c", 1, 5}}, 150, 9, [](const double* x, Xoshiro&) { return x[0] * x[2]; });
  const Fit fit = fitted(table, {.inputs = {"c", "a"}});
  EXPECT_EQ(fit.columns, (std::vector<std::string>{"c", "a"}));
  EXPECT_EQ(text_of(fit), "c*a");
}

TEST(Fit, WholePowersGiveNoRoots) {
  const Table table =
      table_of({{"a", 1, 5}, {"b", 1, 5}}, 60, 13, [](const double* x, Xoshiro&) { return x[1] * std::sqrt(x[0]); });
  const Fit fit = fitted(table, {.powers = Powers::Integer, .time_limit = limit});
  ASSERT_FALSE(fit.candidates.empty());
  for (const Candidate& c : fit.candidates) {
    EXPECT_EQ(find_power(c.formula, [](double p) { return p != std::round(p); }), 0) << print(c.formula);
  }
}

TEST(Fit, AnyPowersGiveThoseThatAreNoHalves) {
  const Table table = table_of({{"a", 1, 5}, {"b", 1, 5}}, 200, 10,
                               [](const double* x, Xoshiro&) { return 3 * std::pow(x[0], 0.3) * x[1]; });
  const Fit fit = fitted(table, {.powers = Powers::Any});
  EXPECT_TRUE(fit.is_law()) << text_of(fit) << ": " << fit.reason;
  EXPECT_NEAR(find_power(fit.best().formula, [](double p) { return 2 * p != std::round(2 * p); }), 0.3, 1e-6)
      << text_of(fit);
}

TEST(Fit, TrainsTheStackItIsGiven) {
  const Table table = table_of({{"a", 1, 2}, {"b", 1, 2}}, 100, 14, [](const double* x, Xoshiro& random) {
    return 3.217 * x[0] * x[1] + 0.01 * random.gaussian();
  });
  const Fit fit = fitted(table, {.stack = "NMU:1", .time_limit = limit});
  ASSERT_FALSE(fit.candidates.empty()) << fit.reason;
  EXPECT_LT(difference(fit.best().formula, *parse_expression("3.217*a*b"), table), 0.01) << text_of(fit);
  EXPECT_EQ(fit.restarts, 24);
}

TEST(Fit, TrainsAStackWhoseNumbersAreAllSimple) {
  EXPECT_EQ(text_of(fitted(product_table(), {.stack = "NMU:1"})), "a*b");
}

TEST(Fit, TrainsAStackOfOneLinearLayer) {
  const Table table = table_of({{"a", 1, 2}, {"b", 1, 2}}, 100, 15, [](const double* x, Xoshiro& random) {
    return 3.217 * x[0] - 1.113 * x[1] + 0.01 * random.gaussian();
  });
  const Fit fit = fitted(table, {.stack = "Linear:1", .time_limit = limit});
  EXPECT_TRUE(fit.is_law()) << fit.reason;
}

TEST(Fit, PutsAConstantTermBehindALinearLayerThatHasNone) {
  const Table table = table_of({{"a", 1, 2}}, 50, 16, [](const double* x, Xoshiro&) { return 3.217 * x[0] + 1.113; });
  const Fit fit = fitted(table, {.stack = "Linear:1(bias=no)", .time_limit = 0.5});
  ASSERT_FALSE(fit.candidates.empty()) << fit.reason;
  EXPECT_LT(difference(fit.best().formula, *parse_expression("3.217*a + 1.113"), table), 1e-5) << text_of(fit);
}

TEST(Fit, NamesTheStackThatItDoesNotKnow) {
  const Result<Fit> unknown = nalm::fit(product_table(), {.target = "y", .stack = "NOPE:1"});
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("NOPE"), std::string::npos) << unknown.error().message;
}

TEST(Fit, SaysWhatIsWrongWithTheData) {
  const Result<Fit> result = fit(product_table(), {.target = "z"});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "the table has no column \"z\" for the target; its columns are a, b, y.");
}

// ---- a formula that is given ---------------------------------------------------------------------------------------

TEST(Score, JudgesAFormula) {
  const Table table = product_table();
  const Result<Fit> right = score(table, {.target = "y"}, *parse_expression("a*b"));
  ASSERT_TRUE(right.ok());
  EXPECT_TRUE(right->is_law());
  EXPECT_EQ(right->best().train.rmse, 0);
  const Result<Fit> wrong = score(table, {.target = "y"}, *parse_expression("3*a"));
  ASSERT_TRUE(wrong.ok());
  EXPECT_FALSE(wrong->is_law());
  EXPECT_EQ(print(wrong->best().formula), "3*a");
  EXPECT_EQ(wrong->candidates.size(), 1u);
}

TEST(Score, SeesWhatTheErrorsFollow) {
  const Table table = table_of({{"a", 1, 5}}, 400, 11,
                               [](const double* x, Xoshiro& random) { return x[0] * x[0] + 0.1 * random.gaussian(); });
  const Result<Fit> line = score(table, {.target = "y"}, *parse_expression("6*a - 23/3"));
  ASSERT_TRUE(line.ok());
  EXPECT_FALSE(line->is_law()) << line->reason;
  EXPECT_TRUE(score(table, {.target = "y"}, *parse_expression("a^2"))->is_law());
}

TEST(Score, KnowsTheInputs) {
  const Result<Fit> result = score(product_table(), {.target = "y"}, *parse_expression("a*c"));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "the formula uses \"c\", which is not an input; the inputs are a, b.");
}

// ---- the model file ------------------------------------------------------------------------------------------------

TEST(FitFile, IsAModelFileWithTheFormula) {
  const Table table = table_of({{"a b", 1, 5}, {"pi", 1, 5}}, 200, 12,
                               [](const double* x, Xoshiro&) { return 2 * x[0] / (x[0] + x[1]); });
  const Fit fit = fitted(table);
  EXPECT_TRUE(fit.is_law()) << text_of(fit);
  const Result<Model> model = parse_model(to_json(fit, table, {"data.csv", "nalm fit data.csv"}), "the fit");
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_EQ(model->target, "y");
  EXPECT_EQ(model->columns, (std::vector<std::string>{"a b", "pi"}));
  EXPECT_EQ(model->formula, text_of(fit));
  const Result<Expression> stated = stated_formula(*model);
  ASSERT_TRUE(stated.ok()) << stated.error().message;
  for (std::size_t r = 0; r < table.rows; ++r) {
    const Values x = {table.at(r, 0), table.at(r, 1)};
    const ScaledValue value = *evaluate_with_scale(*stated, model->columns, x);
    EXPECT_EQ(value.value, *evaluate(fit.best().formula, model->columns, x));
    EXPECT_NEAR((*predict(*model, x, Precision::Double))[0], value.value, 1e-12 * value.scale);
  }
}

TEST(FitFile, SaysWhatAReportNeeds) {
  const Table table = noisy_hypotenuse();
  const Fit& fit = fit_of_noisy_hypotenuse();
  const nlohmann::json json = nlohmann::json::parse(to_json(fit, table, {"data.csv", "nalm fit data.csv"}));
  ASSERT_TRUE(json.contains("fit"));
  const nlohmann::json& entry = json["fit"];
  for (const char* name : {"target",
                           "data",
                           "command",
                           "rows",
                           "seed",
                           "version",
                           "seconds",
                           "found",
                           "verdict",
                           "cut",
                           "formula",
                           "mathml",
                           "latex",
                           "errors",
                           "constants",
                           "candidates",
                           "agreement",
                           "verified",
                           "verification_error",
                           "probe",
                           "notes",
                           "points"}) {
    EXPECT_TRUE(entry.contains(name)) << name;
  }
  EXPECT_EQ(entry["formula"], text_of(fit));
  EXPECT_EQ(entry["data"], "data.csv");
  EXPECT_EQ(entry["errors"]["train"]["rmse"], fit.best().train.rmse);
  EXPECT_EQ(entry["candidates"].size(), fit.candidates.size());
  EXPECT_EQ(entry["candidates"][fit.chosen]["chosen"], true);
  EXPECT_EQ(entry["points"]["target"].size(), table.rows);
  EXPECT_EQ(entry["points"]["predicted"].size(), table.rows);
}

}  // namespace
}  // namespace nalm::fit_test
