// When results agree with what was published, and when stores differ: the rules, and both on cells made by hand.
#include "experiment/compare.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "experiment/by_hand.hpp"
#include "report/comparison.hpp"

namespace nalm::compare_test {
namespace {

using Verdict = ComparedFigure::Verdict;

const double none = std::nan("");

// ---- the rules -----------------------------------------------------------------------------------------------------

// Newcombe: Interval estimation for the difference between independent proportions, Statistics in Medicine 17 (1998),
// table II, method 10.
TEST(Rules, DifferencesOfRatesAreNewcombes) {
  const struct {
    int a, m, b, n;
    double lo, hi;
  } rows[] = {{56, 70, 48, 80, 0.0524, 0.3339}, {9, 10, 3, 10, 0.1705, 0.8090},  {6, 7, 2, 7, 0.0582, 0.8062},
              {5, 56, 0, 29, -0.0381, 0.1926},  {0, 10, 0, 20, -0.1611, 0.2775}, {0, 10, 0, 10, -0.2775, 0.2775},
              {10, 10, 0, 20, 0.6791, 1.0},     {10, 10, 0, 10, 0.6075, 1.0}};
  for (const auto& [a, m, b, n, lo, hi] : rows) {
    const Rate x{static_cast<double>(a) / m, m}, y{static_cast<double>(b) / n, n};
    const Estimate difference = rate_difference(x, y), turned = rate_difference(y, x);
    EXPECT_DOUBLE_EQ(difference.value, x.value - y.value);
    EXPECT_NEAR(difference.lo, lo, 5e-5) << a << "/" << m << " - " << b << "/" << n;
    EXPECT_NEAR(difference.hi, hi, 5e-5) << a << "/" << m << " - " << b << "/" << n;
    EXPECT_NEAR(turned.lo, -hi, 5e-5);
    EXPECT_NEAR(turned.hi, -lo, 5e-5);
  }
}

TEST(Rules, ARateWithoutRunsIsExact) {
  const Estimate ours = wilson(3, 4), difference = rate_difference({0.75, 4}, {0.5, 0});
  EXPECT_DOUBLE_EQ(difference.lo, ours.lo - 0.5);
  EXPECT_DOUBLE_EQ(difference.hi, ours.hi - 0.5);
  const Estimate both = rate_difference({0.75, 0}, {0.5, 0});
  EXPECT_EQ(both.lo, 0.25);
  EXPECT_EQ(both.hi, 0.25);
}

// By hand: the difference of 21 and 25 of 25 has [-34.7, +0.4] %, that of 20 and 25 of 25 [-39.1, -2.6] %.
TEST(Rules, RatesAgreeIfTheirDifferenceMayBeNothing) {
  EXPECT_TRUE(rates_agree({22.0 / 25, 25}, {1, 25}));
  EXPECT_TRUE(rates_agree({21.0 / 25, 25}, {1, 25}));
  EXPECT_FALSE(rates_agree({20.0 / 25, 25}, {1, 25}));
  EXPECT_FALSE(rates_agree({1, 25}, {20.0 / 25, 25}));
  // Rates are printed in whole per cent: half a per cent is no difference.
  EXPECT_TRUE(rates_agree({0.5, 0}, {0.5049, 0}));
  EXPECT_TRUE(rates_agree({0.5049, 0}, {0.5, 0}));
  EXPECT_FALSE(rates_agree({0.5, 0}, {0.506, 0}));
  EXPECT_FALSE(rates_agree({0.506, 0}, {0.5, 0}));
}

TEST(Rules, MeansAgreeIfIntervalsShareAValue) {
  EXPECT_TRUE(means_agree({2, 1, 3}, {4, 3, 5}));
  EXPECT_FALSE(means_agree({2, 1, 2.9}, {4, 3, 5}));
  EXPECT_FALSE(means_agree({4, 3, 5}, {2, 1, 2.9}));
  EXPECT_TRUE(means_agree({2, 1, 3}, {2.5, none, none}));
  EXPECT_FALSE(means_agree({2, 1, 3}, {3.5, none, none}));
  EXPECT_FALSE(means_agree({2, none, none}, {2.5, none, none}));
  EXPECT_TRUE(means_agree({2, none, none}, {2, none, none}));
  EXPECT_FALSE(means_agree({none, none, none}, {2, 1, 3})) << "there is no mean";
}

// Fagerland, Lydersen, Laake: Statistical Analysis of Contingency Tables (2017), chapter 8: 6 and 16 of 161 pairs that
// disagree. And by hand, 1 and 7 of 21: (2 - 8) / 23 +- 1.95996 sqrt((10/23 - 36/529) / 23).
TEST(Rules, PairedDifferencesAreBonettAndPrices) {
  const Estimate cavo = paired_difference(6, 16, 161);
  EXPECT_NEAR(cavo.value, -0.0621, 5e-5);
  EXPECT_NEAR(cavo.lo, -0.1195, 5e-5);
  EXPECT_NEAR(cavo.hi, -0.0032, 5e-5);
  const Estimate bentur = paired_difference(1, 7, 21);
  EXPECT_NEAR(bentur.value, -6.0 / 21, 1e-12);
  EXPECT_NEAR(bentur.lo, -0.508359, 1e-6);
  EXPECT_NEAR(bentur.hi, -0.013380, 1e-6);
  const Estimate turned = paired_difference(7, 1, 21);
  EXPECT_DOUBLE_EQ(turned.lo, -bentur.hi);
  EXPECT_DOUBLE_EQ(turned.hi, -bentur.lo);
}

TEST(Rules, APairedIntervalWidensWithConfidence) {
  // By hand, with the normal distribution's 97.5 and 99.9 per cent points.
  const double error = std::sqrt((6.0 / 27 - 16.0 / 729) / 27);
  const Estimate usual = paired_difference(4, 0, 25), wide = paired_difference(4, 0, 25, 0.998);
  EXPECT_NEAR(usual.lo, 4.0 / 27 - 1.959964 * error, 1e-6);
  EXPECT_NEAR(wide.lo, 4.0 / 27 - 3.090232 * error, 1e-6);
  EXPECT_EQ(wide.value, usual.value);
  EXPECT_LE(paired_difference(25, 0, 25).hi, 1);
  EXPECT_GE(paired_difference(0, 2, 2).lo, -1);
  EXPECT_TRUE(std::isnan(paired_difference(0, 0, 0).value));
  EXPECT_TRUE(std::isnan(paired_difference(0, 0, 0).lo));
}

// ---- with the survey, whose seeds ours are -------------------------------------------------------------------------

const PublishedFigure* figure_of(const Results& results, std::size_t cell, std::string_view what) {
  const auto figures = results.published_for(results.cells[cell], what);
  return figures.empty() ? nullptr : figures.front();
}

int published_successes(const Results& results, std::size_t cell) {
  return static_cast<int>(std::lround(25 * figure_of(results, cell, "success")->value.value));
}

long published_step(const Results& results, std::size_t cell) {
  const PublishedFigure* figure = figure_of(results, cell, "solved-at");
  return figure ? std::lround(figure->value.value) : 1000;
}

bool is_chaotic(const Cell& cell) { return cell.model == "NPU" || cell.model == "RealNPU"; }

// The survey's whole table, or only these modules, with its own counts.
Results exact_results(const std::string& modules = "", const std::string& preset = "primer") {
  Results results = results_of(plan_of("single-module", preset, modules, "", "", "0..24"));
  for (std::size_t c = 0; c < results.cells.size(); ++c) {
    EXPECT_TRUE(figure_of(results, c, "success")) << results.cells[c].name();
    if (figure_of(results, c, "success"))
      set_successes(results, c, published_successes(results, c), 25, published_step(results, c));
  }
  return results;
}

// Moves the count of the first cells for which that is possible.
void shift(Results& results, int by, int cells, std::string_view module = "") {
  int shifted = 0;
  for (std::size_t c = 0; c < results.cells.size() && shifted < cells; ++c) {
    if (module.empty() ? is_chaotic(results.cells[c]) : results.cells[c].model != module) continue;
    const int wanted = published_successes(results, c) + by;
    if (wanted < 1 || wanted > 25) continue;
    set_successes(results, c, wanted, 25, published_step(results, c));
    ++shifted;
  }
  ASSERT_EQ(shifted, cells);
}

// Its figures refer to the results, which must outlive it.
Comparison compared(Results&&) = delete;
Comparison compared(const Results& results) {
  Result<Comparison> comparison = compare_with_published(results);
  EXPECT_TRUE(comparison.ok()) << complaint(comparison);
  return comparison ? *comparison : Comparison{};
}

int outside(const Comparison& comparison) { return comparison.judged - comparison.agreeing; }

TEST(Compare, ThePapersOwnCountsAgree) {
  const Results results = exact_results();
  const Comparison comparison = compared(results);
  EXPECT_TRUE(comparison.agrees());
  EXPECT_EQ(comparison.judged, 207);
  EXPECT_EQ(comparison.same_seeds, 207);
  EXPECT_EQ(comparison.same_seeds_equal, 207);
  EXPECT_EQ(outside(comparison), 0);
  EXPECT_EQ(comparison.reproducible, 171);
  EXPECT_EQ(comparison.reproducible_equal, 171);
  EXPECT_EQ(comparison.solved_at_compared, 92);
  EXPECT_EQ(comparison.solved_at_equal, 92);
  EXPECT_EQ(comparison.remark, "");
  const std::string text = print(comparison, false);
  EXPECT_TRUE(text.starts_with("Every cell equals the published one")) << text;
  EXPECT_TRUE(contains(text, "207 of 207 cells, run with the published seeds, equal the published count")) << text;
  EXPECT_TRUE(contains(text, "It agrees with what was published.\n")) << text;
  EXPECT_FALSE(contains(print(comparison, true), "not in [")) << "a rate is not in its own interval";
}

TEST(Compare, OneRunMoreOrLessIsAllowed) {
  for (const int by : {-1, 1}) {
    Results results = exact_results("NAU,NMU");
    shift(results, by, 1, "NMU");
    const Comparison comparison = compared(results);
    EXPECT_TRUE(comparison.agrees()) << print(comparison, false);
    EXPECT_EQ(outside(comparison), 0);
    EXPECT_EQ(comparison.same_seeds_equal, 26);
    EXPECT_TRUE(contains(print(comparison, false), "agrees (1 run allowed)")) << print(comparison, false);
  }
}

TEST(Compare, TwoRunsMoreOrLessAreNot) {
  for (const auto& [module, by] : {std::pair("NAU", -2), std::pair("NMU", 2), std::pair("NMU", -2)}) {
    Results results = exact_results("NAU,NMU");
    shift(results, by, 1, module);
    const Comparison comparison = compared(results);
    EXPECT_FALSE(comparison.agrees()) << module << by;
    EXPECT_EQ(outside(comparison), 1);
    const std::string text = print(comparison, false);
    EXPECT_TRUE(contains(text, "DIFFERS (1 run allowed)")) << text;
    EXPECT_TRUE(contains(text, by < 0 ? "  -2 runs  " : "  +2 runs  ")) << text;
    EXPECT_TRUE(contains(text, "It does not agree with what was published: 1 of 27 rates differ by more than allowed."))
        << text;
  }
}

TEST(Compare, NpuAndRealNpuMayDifferByFour) {
  for (const char* module : {"NPU", "RealNPU"}) {
    for (const int by : {-5, -4, 4, 5}) {
      Results results = exact_results(module);
      shift(results, by, 1, module);
      const Comparison comparison = compared(results);
      EXPECT_EQ(comparison.agrees(), std::abs(by) == 4) << module << " " << by;
      EXPECT_EQ(outside(comparison), std::abs(by) == 5);
      EXPECT_EQ(comparison.reproducible, 0);
      EXPECT_EQ(comparison.solved_at_compared, 0);
      EXPECT_TRUE(contains(print(comparison, false), "(4 runs allowed)")) << print(comparison, false);
    }
  }
}

TEST(Compare, MostCellsMustBeEqual) {
  // 163 of 171.
  for (const int cells : {8, 9}) {
    Results results = exact_results();
    shift(results, -1, cells);
    const Comparison comparison = compared(results);
    EXPECT_EQ(comparison.reproducible_equal, 171 - cells);
    EXPECT_EQ(outside(comparison), 0);
    EXPECT_EQ(comparison.agrees(), cells == 8) << print(comparison, false);
  }
  Results results = exact_results();
  shift(results, -1, 9);
  EXPECT_TRUE(
      contains(print(compared(results), false), "only 162 of 171 reproducible cells are equal, and 163 should be"));
}

TEST(Compare, AFewCellsHaveNoShareOfEqualOnes) {
  Results results = exact_results("NMU,NAU");
  shift(results, -1, 9, "NAU");
  EXPECT_TRUE(compared(results).agrees());
}

TEST(Compare, SolvedAtMustBeEqualInNineOfTenCells) {
  // 83 of 92.
  for (const int cells : {9, 10}) {
    Results results = exact_results();
    int changed = 0;
    for (std::size_t c = 0; c < results.cells.size() && changed < cells; ++c) {
      const PublishedFigure* figure = figure_of(results, c, "solved-at");
      if (is_chaotic(results.cells[c]) || !figure || std::isnan(figure->value.lo)) continue;
      set_successes(results, c, published_successes(results, c), 25, std::lround(1.1 * figure->value.value));
      ++changed;
    }
    const Comparison comparison = compared(results);
    EXPECT_EQ(comparison.solved_at_equal, 92 - cells);
    EXPECT_EQ(comparison.agrees(), cells == 9) << print(comparison, false);
    const std::string text = print(comparison, false);
    EXPECT_TRUE(contains(text, "solved-at, mean")) << text;
    EXPECT_TRUE(contains(text, "Solved-at, as printed, equal in " + std::to_string(92 - cells) + " of 92")) << text;
    EXPECT_EQ(contains(text, "solved-at is equal in only 82 of 92 cells"), cells == 10) << text;
  }
}

TEST(Compare, ShowsAllCellsIfAsked) {
  const Results results = exact_results("NMU");
  const Comparison comparison = compared(results);
  const std::string text = print(comparison, true);
  for (const Cell& cell : results.cells) EXPECT_TRUE(contains(text, cell.setting)) << text;
}

// Other seeds than the paper's are a sample of the same rate.
TEST(Compare, OtherSeedsAreJudgedByRates) {
  Results results = exact_results("NMU");
  for (std::size_t c = 0; c < results.cells.size(); ++c) {
    const bool solved = published_successes(results, c) > 12;
    set_successes(results, c, solved ? 5 : 0, 5);
  }
  Comparison comparison = compared(results);
  EXPECT_EQ(comparison.judged, 9);
  EXPECT_EQ(comparison.same_seeds, 0);
  EXPECT_EQ(comparison.solved_at_compared, 0);
  for (const ComparedFigure& figure : comparison.figures) EXPECT_FALSE(figure.allowed);
  const std::string text = print(comparison, false);
  EXPECT_TRUE(contains(text, " of 9 published success rates agree")) << text;
  EXPECT_FALSE(contains(text, "run with the published seeds")) << text;

  // U[1,2) is solved by all 25 runs: 4 of 5 may be chance, 1 of 5 is none.
  std::size_t at = 0;
  while (results.cells[at].setting != "U[1,2)") ++at;
  ASSERT_EQ(published_successes(results, at), 25);
  const auto verdict = [&](int successes, int runs) {
    set_successes(results, at, successes, runs);
    comparison = compared(results);
    for (const ComparedFigure& figure : comparison.figures)
      if (figure.cell == &results.results[at] && figure.figure->what == "success") return figure.verdict;
    return Verdict::ShownOnly;
  };
  EXPECT_EQ(verdict(4, 5), Verdict::Agrees);
  EXPECT_EQ(verdict(1, 5), Verdict::Differs);
  EXPECT_FALSE(comparison.agrees());
  EXPECT_EQ(verdict(24, 24), Verdict::Agrees) << "one seed is missing, so runs cannot be counted";
  EXPECT_EQ(verdict(25, 25), Verdict::Equal);
  results.results[at].runs[24].seed = 25;
  comparison = compared(results);
  EXPECT_EQ(comparison.same_seeds, 0) << "25 runs, but not with the paper's seeds";
}

TEST(Compare, MissingRunsAreMentioned) {
  Results results = exact_results("NMU");
  results.missing = 3;
  EXPECT_TRUE(contains(print(compared(results), false), "3 runs are missing: the task is not finished."));
}

TEST(Compare, LaterModulesMayDifferByTheirBinomialError) {
  Results results = exact_results("MC-FC,MulMC-FC");
  EXPECT_TRUE(compared(results).agrees());
  EXPECT_EQ(compared(results).judged, 18);
  EXPECT_EQ(compared(results).agreeing, 18);
  EXPECT_EQ(compared(results).reproducible, 0);
  // 21 of 25 and 25 of 25 may come from the same rate, 20 of 25 and 25 of 25 hardly.
  set_successes(results, 0, 21, 25);
  EXPECT_TRUE(compared(results).agrees()) << print(compared(results), false);
  set_successes(results, 0, 20, 25);
  const Comparison comparison = compared(results);
  EXPECT_FALSE(comparison.agrees());
  EXPECT_EQ(outside(comparison), 1);
  EXPECT_TRUE(contains(print(comparison, false), "MC-FC"));
  EXPECT_TRUE(contains(print(comparison, false), "DIFFERS (Mistry")) << print(comparison, false);
  // Other seeds are as good: nothing was published seed by seed.
  results = exact_results("MC-FC");
  for (CellResult& result : results.results)
    for (RunResult& run : result.runs) run.seed += 100;
  EXPECT_TRUE(compared(results).agrees());
}

TEST(Compare, MeansMustAgreeWithinTheirBinomialError) {
  for (const auto& [successes, agrees] :
       {std::pair(21, true), std::pair(22, true), std::pair(24, false), std::pair(19, false)}) {
    Results results = results_of(plan_of("single-module", "beyond-primer-10", "RealNPU-modified", "div", "", "0..24"));
    ASSERT_EQ(results.cells.size(), 9u);
    EXPECT_EQ(results.cells[0].iterations(), 100000);
    for (std::size_t c = 0; c < 9; ++c) set_successes(results, c, successes, 25);
    // Published: 85.3 % of 225 runs, and 84, 88, 96 and 76 % here.
    const Comparison comparison = compared(results);
    ASSERT_EQ(comparison.figures.size(), 1u);
    EXPECT_EQ(comparison.figures[0].cell, nullptr);
    EXPECT_EQ(comparison.figures[0].runs, 225);
    EXPECT_EQ(comparison.agrees(), agrees) << print(comparison, false);
    EXPECT_TRUE(contains(print(comparison, true), "mean of all")) << print(comparison, true);
    EXPECT_TRUE(contains(print(comparison, true), "85.3")) << print(comparison, true);
    // A mean over eight ranges is another one.
    Results fewer =
        results_of(plan_of("single-module", "beyond-primer-10", "RealNPU-modified", "div", "0,1,2,3,4,5,6,7", "0..24"));
    for (std::size_t c = 0; c < 8; ++c) set_successes(fewer, c, successes, 25);
    EXPECT_TRUE(contains(complaint(compare_with_published(fewer)), "nothing was published"));
  }
}

// Nor is one over the two ranges of a shorter preset.
TEST(Compare, MeansAreOverAllNineRanges) {
  Plan plan = plan_of("single-module", "quick", "RealNPU-modified", "div", "", "0..3");
  plan.options["inputs"] = "10";
  Results results = results_of(plan);
  ASSERT_EQ(results.cells.size(), 2u);
  for (std::size_t c = 0; c < 2; ++c) set_successes(results, c, 4, 4);
  EXPECT_TRUE(contains(complaint(compare_with_published(results)), "nothing was published"));
}

// ---- nothing to compare --------------------------------------------------------------------------------------------

// What was changed is named, as it was typed.
TEST(Compare, OtherSettingsAreRefused) {
  const auto refusal = [](auto change) {
    Results results = exact_results("NMU");
    change(results.info.plan);
    return complaint(compare_with_published(results));
  };
  const std::string recipe = refusal([](Plan& plan) { plan.recipe = R"({"clip_norm": 1})"; });
  EXPECT_TRUE(contains(recipe, "do not follow the task's settings")) << recipe;
  EXPECT_TRUE(contains(recipe, R"(--recipe '{"clip_norm": 1}')")) << recipe;
  EXPECT_TRUE(contains(refusal([](Plan& plan) { plan.iterations = 50; }), "--iterations 50"));
  EXPECT_TRUE(contains(refusal([](Plan& plan) { plan.learning_rate = 1e-3; }), "--learning-rate 0.001"));
  // Best rows and solved-at are read off logged rows: with others, the counts are others.
  EXPECT_TRUE(contains(refusal([](Plan& plan) { plan.log_every = 100; }), "--log-every 100"));
  EXPECT_EQ(refusal([](Plan&) {}), "");
}

TEST(Compare, OtherInputsHaveNoPublishedCounts) {
  Plan plan = plan_of("single-module", "primer", "NMU", "", "", "0..24");
  plan.options["inputs"] = "3";
  Results results = results_of(plan);
  for (std::size_t c = 0; c < results.cells.size(); ++c) set_successes(results, c, 25, 25);
  EXPECT_TRUE(contains(complaint(compare_with_published(results)), "nothing was published for these cells"));
}

TEST(Compare, ATestRangeOfOnesOwnIsAnotherTask) {
  Plan plan = plan_of("single-module", "primer", "NMU", "", "[1,2)", "0..24");
  plan.options["test-range"] = "[5,6)";
  Results results = results_of(plan);
  set_successes(results, 0, 25, 25);
  EXPECT_TRUE(contains(complaint(compare_with_published(results)), "nothing was published for these cells"));
  // A range of the paper beside one of one's own is still the paper's.
  plan.settings = "6,[3,4)";
  results = results_of(plan);
  for (std::size_t c = 0; c < 2; ++c) set_successes(results, c, 25, 25);
  EXPECT_EQ(compared(results).judged, 1);
  EXPECT_EQ(compared(results).same_seeds_equal, 1);
}

TEST(Compare, CellsThatThePaperDoesNotHaveAreLeftOut) {
  Results results = exact_results("NMU");
  std::erase_if(results.published, [&](const PublishedFigure& f) { return f.setting == results.cells[0].setting; });
  results.results[0] = summarise(results.cells[0], {});
  EXPECT_EQ(compared(results).judged, 8);
  results.published.clear();
  EXPECT_TRUE(contains(complaint(compare_with_published(results)), "nothing was published for these cells"));
}

// ---- with what other papers have -----------------------------------------------------------------------------------

// One cell, solved by three of four runs.
struct ComparedTask : testing::Test {
  ComparedTask() {
    results = hand_made_results(1);
    std::vector<RunResult> runs;
    const double errors[] = {1e-5, 2e-5, 5e-4, 4};
    for (std::uint32_t seed = 0; seed < 4; ++seed)
      runs.push_back(*judge(results.cells[0], {{0, 1000}, {{9, 8}, {1, errors[seed]}}, {}, "", {}}, seed));
    results.results.push_back(summarise(results.cells[0], runs));
    results.published = {{"NAC*", "mul", "U[1,2)", "success", {0.8, none, none}, "Somebody 2020"},
                         {"NAC*", "mul", "U[1,2)", "test", {3e-5, none, none}, "Somebody 2020"},
                         {"NAC*", "mul", "U[1,2)", "test", {4e-5, none, none}, "Another"},
                         {"X", "mul", "U[1,2)", "success", {0.1, none, none}, "of a cell that is not here"}};
  }
  Results results;
};

TEST_F(ComparedTask, RatesAreComparedByIntervals) {
  Result<Comparison> comparison = compare_with_published(results);
  ASSERT_TRUE(comparison.ok()) << complaint(comparison);
  ASSERT_EQ(comparison->figures.size(), 3u);
  EXPECT_EQ(comparison->figures[0].verdict, Verdict::Agrees);
  EXPECT_EQ(comparison->figures[1].verdict, Verdict::ShownOnly) << "a median is only shown";
  EXPECT_TRUE(comparison->agrees());
  EXPECT_EQ(comparison->judged, 1);
  const std::string text = nalm::print(*comparison, true);
  EXPECT_TRUE(contains(text, "1 of 1 published success rates agree")) << text;
  EXPECT_TRUE(contains(text, "3/4 = 75 [30, 95]         80        -5.0  agrees (Somebody 2020)")) << text;

  // 3 of 4 is compatible with 30 to 95 %.
  const std::pair<double, bool> rates[] = {{0.30, true}, {0.29, false}, {0.95, true}, {0.97, false}};
  for (const auto& [rate, agrees] : rates) {
    results.published[0].value.value = rate;
    EXPECT_EQ(compare_with_published(results)->agrees(), agrees) << rate;
  }
  // With a known number of runs the published interval counts as well: 1 of 20 has [0.9, 23.6] %.
  results.published[0].value.value = 0.05;
  results.published[0].runs = 20;
  EXPECT_FALSE(compare_with_published(results)->agrees());
  results.published[0].runs = 1;  // 0 of 1 has [0, 79] %
  EXPECT_TRUE(compare_with_published(results)->agrees());
  results.published[0].runs = {};
  EXPECT_FALSE(compare_with_published(results)->agrees());
  results.published[0].comparable = false;
  EXPECT_TRUE(compare_with_published(results)->agrees());
}

TEST_F(ComparedTask, PublishedMeansAreComparedWithMeans) {
  results.published.erase(results.published.begin());
  results.published[0].mean = true;
  const Result<Comparison> comparison = compare_with_published(results);
  ASSERT_TRUE(comparison.ok()) << complaint(comparison);
  EXPECT_NEAR(comparison->figures[0].ours.value, (1e-5 + 2e-5 + 5e-4 + 4) / 4, 1e-12);
  EXPECT_NEAR(comparison->figures[1].ours.value, 2.6e-4, 1e-12) << "a median unless the figure says otherwise";
  const std::string text = nalm::print(*comparison, true);
  EXPECT_TRUE(contains(text, "test, mean")) << text;
  // Nothing to judge by is not agreement.
  EXPECT_TRUE(contains(text, "No success rate was published that ours could be judged by; 2 other figures")) << text;
  EXPECT_FALSE(contains(text, "agrees")) << text;
}

TEST_F(ComparedTask, AFigureOfAllSettingsIsThatOfAllTheirRuns) {
  results.results.push_back(results.results[0]);  // as if of another setting
  for (RunResult& run : results.results[1].runs) run.values[1] *= 100;
  results.published = {{"NAC*", "mul", "all", "test", {3e-5, none, none}, "Somebody 2020"}};
  const Result<Comparison> comparison = compare_with_published(results);
  ASSERT_TRUE(comparison.ok()) << complaint(comparison);
  ASSERT_EQ(comparison->figures.size(), 1u);
  // Of 1e-5, 2e-5, 5e-4, 1e-3, 2e-3, 4, 0.05 and 400.
  EXPECT_NEAR(comparison->figures[0].ours.value, (1e-3 + 2e-3) / 2, 1e-12);
}

// How many of a list of problems others solved: beside ours, and no rate that ours has to agree with.
TEST_F(ComparedTask, AFigureOfAllCellsIsThatOfTheirRunsInTheSetting) {
  const std::string setting = results.cells[0].setting;
  results.results.push_back(results.results[0]);  // as if of another problem
  results.published = {{"all", "all", setting, "success", {0.728, none, none}, "Somebody 2020"},
                       {"all", "all", "elsewhere", "success", {0.5, none, none}, "Somebody 2020"}};
  for (PublishedFigure& figure : results.published) figure.comparable = false;
  const Result<Comparison> comparison = compare_with_published(results);
  ASSERT_TRUE(comparison.ok()) << complaint(comparison);
  ASSERT_EQ(comparison->figures.size(), 1u);
  EXPECT_EQ(comparison->figures[0].runs, 2 * results.results[0].run_count());
  EXPECT_EQ(comparison->figures[0].successes, 2 * results.results[0].successes);
  EXPECT_EQ(comparison->judged, 0);
  const std::string words = nalm::print(*comparison, false);
  EXPECT_TRUE(contains(words, setting) && contains(words, "72.8") && contains(words, "Somebody 2020")) << words;
}

TEST_F(ComparedTask, OnlyWhatFollowsTheTaskIsCompared) {
  results.info.plan.learning_rate = 0.0;
  EXPECT_TRUE(contains(complaint(compare_with_published(results)), "--learning-rate"));
  results.info.plan.learning_rate = {};
  results.info.plan.preset = "quick";
  EXPECT_TRUE(contains(nalm::print(*compare_with_published(results), false), "preset quick trains less"));
  results.published.clear();
  const std::string refused = complaint(compare_with_published(results));
  EXPECT_TRUE(contains(refused, "nothing was published")) << refused;
}

// ---- stores with each other ----------------------------------------------------------------------------------------

Results two_cells(const std::string& modules = "NAU") {
  return results_of(plan_of("single-module", "primer", modules, "add", "6,7", "0..24"));
}

std::string words_of(const StoreComparison& comparison, bool all = false) {
  const std::string names[] = {"before", "after"};
  return print(std::span(&comparison, 1), names, all);
}

TEST(CompareStores, SharedSeedsArePaired) {
  Results first = two_cells(), other = two_cells();
  set_successes(first, 0, 10, 25);
  set_successes(other, 0, 13, 25);
  set_successes(first, 1, 25, 25);
  set_successes(other, 1, 25, 25);
  const Result<StoreComparison> comparison = compare_stores(first, other);
  ASSERT_TRUE(comparison.ok()) << complaint(comparison);
  ASSERT_EQ(comparison->cells.size(), 2u);
  const ComparedCell& cell = comparison->cells[0];
  EXPECT_TRUE(cell.paired);
  EXPECT_EQ(cell.pairs, 25);
  EXPECT_EQ(cell.both, 10);
  EXPECT_EQ(cell.first_only, 0);
  EXPECT_EQ(cell.other_only, 3);
  const Estimate wanted = paired_difference(3, 0, 25), all = paired_difference(3, 0, 50);
  EXPECT_DOUBLE_EQ(cell.difference.value, 3.0 / 25);
  EXPECT_EQ(cell.difference.lo, wanted.lo);
  EXPECT_EQ(cell.difference.hi, wanted.hi);
  EXPECT_EQ(comparison->difference.lo, all.lo);
  EXPECT_EQ(comparison->difference.hi, all.hi);
  EXPECT_FALSE(cell.differs);
  EXPECT_EQ(comparison->differing, 0);
  EXPECT_EQ(comparison->only_first + comparison->only_other, 0u);
  const std::string text = words_of(*comparison);
  EXPECT_TRUE(contains(text, "10/25  13/25")) << text;
  EXPECT_FALSE(contains(text, "25/25")) << "the same seed by seed\n" << text;
  EXPECT_TRUE(contains(text, "after against before: 2 shared cells, 1 of them the same seed by seed")) << text;
  EXPECT_TRUE(contains(text, "No cell differs by more than chance allows among so many.")) << text;
  EXPECT_TRUE(contains(words_of(*comparison, true), "25/25  25/25")) << words_of(*comparison, true);
}

TEST(CompareStores, OtherSeedsAreTwoRates) {
  Results first = two_cells(), other = two_cells();
  for (std::size_t c = 0; c < 2; ++c) {
    set_successes(first, c, 10, 25);
    set_successes(other, c, 13, 25);
    for (RunResult& run : other.results[c].runs) run.seed += 20;  // 5 of them are shared
  }
  const Result<StoreComparison> comparison = compare_stores(first, other);
  ASSERT_TRUE(comparison.ok()) << complaint(comparison);
  const ComparedCell& cell = comparison->cells[0];
  EXPECT_FALSE(cell.paired);
  EXPECT_EQ(cell.pairs, 5);
  const Estimate wanted = rate_difference({13.0 / 25, 25}, {10.0 / 25, 25});
  EXPECT_EQ(cell.difference.value, wanted.value);
  EXPECT_EQ(cell.difference.lo, wanted.lo);
  EXPECT_EQ(cell.difference.hi, wanted.hi);
  EXPECT_FALSE(cell.differs);
}

TEST(CompareStores, WhatIsNotSharedIsCounted) {
  Results first = two_cells("NAU,NAC+"), other = two_cells("iNALU,NAU");
  for (Results* results : {&first, &other})
    for (std::size_t c = 0; c < 4; ++c) set_successes(*results, c, 20, 25);
  const Result<StoreComparison> comparison = compare_stores(first, other);
  ASSERT_TRUE(comparison.ok()) << complaint(comparison);
  EXPECT_EQ(comparison->cells.size(), 2u);
  EXPECT_EQ(comparison->only_first, 2u);
  EXPECT_EQ(comparison->only_other, 2u);
  for (const ComparedCell& cell : comparison->cells) EXPECT_EQ(cell.other->cell->model, "NAU");
  EXPECT_TRUE(contains(words_of(*comparison), "(2 only in before, 2 only in after)")) << words_of(*comparison);
}

TEST(CompareStores, WithoutASharedCellThereIsNothingToCompare) {
  Results first = two_cells("NAU"), other = two_cells("NAC+");
  for (Results* results : {&first, &other})
    for (std::size_t c = 0; c < 2; ++c) set_successes(*results, c, 20, 25);
  EXPECT_TRUE(contains(complaint(compare_stores(first, other)), "share no cell"));
  const Results without_runs = two_cells("NAU");
  EXPECT_TRUE(contains(complaint(compare_stores(first, without_runs)), "share no cell"));
}

// One of twenty 95 % intervals misses by chance, so one of many cells needs a wider one.
TEST(CompareStores, DiffersOnlyAfterWidening) {
  // By hand, for 7 more of 25: 7/27 +- z sqrt((9/27 - 49/729) / 27) = 0.2593 +- 0.0993 z. Alone z is 1.96; among the
  // nine settings of NAU's addition it is 2.77, which reaches past 0.
  Results first = results_of(plan_of("single-module", "primer", "NAU", "add", "", "0..24")),
          other = results_of(plan_of("single-module", "primer", "NAU", "add", "", "0..24"));
  for (std::size_t c = 0; c < 9; ++c) {
    set_successes(first, c, 10, 25);
    set_successes(other, c, c == 0 ? 17 : 10, 25);
  }
  Result<StoreComparison> comparison = compare_stores(first, other);
  ASSERT_TRUE(comparison.ok()) << complaint(comparison);
  EXPECT_GT(comparison->cells[0].difference.lo, 0) << "its own 95 % interval";
  EXPECT_FALSE(comparison->cells[0].differs);
  EXPECT_EQ(comparison->differing, 0);
  EXPECT_FALSE(contains(words_of(*comparison), "  DIFFERS")) << words_of(*comparison);

  set_successes(other, 0, 22, 25);  // 12 more
  comparison = compare_stores(first, other);
  ASSERT_TRUE(comparison.ok()) << complaint(comparison);
  EXPECT_TRUE(comparison->cells[0].differs);
  EXPECT_EQ(comparison->differing, 1);
  EXPECT_TRUE(contains(words_of(*comparison), "  DIFFERS")) << words_of(*comparison);
  EXPECT_TRUE(contains(words_of(*comparison), "1 cells differ by more than chance allows")) << words_of(*comparison);

  // Two rates are widened likewise: 10 and 18 of 25, [+4.6, +53.1] %, differ alone but not among nine.
  for (const int successes : {18, 24}) {
    set_successes(other, 0, successes, 25);
    for (RunResult& run : other.results[0].runs) run.seed += 100;
    comparison = compare_stores(first, other);
    ASSERT_TRUE(comparison.ok()) << complaint(comparison);
    EXPECT_FALSE(comparison->cells[0].paired);
    EXPECT_GT(comparison->cells[0].difference.lo, 0);
    EXPECT_EQ(comparison->cells[0].differs, successes == 24);
  }
}

TEST(CompareStores, ChangedSettingsAreMentionedNotRefused) {
  Results first = two_cells(), other = two_cells();
  other.info.plan.learning_rate = 0.25;
  for (Results* results : {&first, &other})
    for (std::size_t c = 0; c < 2; ++c) set_successes(*results, c, 20, 25);
  const Result<StoreComparison> comparison = compare_stores(first, other);
  ASSERT_TRUE(comparison.ok()) << complaint(comparison);
  const std::string text = words_of(*comparison);
  EXPECT_TRUE(contains(text, "after was run with --learning-rate 0.25.")) << text;
  EXPECT_FALSE(contains(text, "before was run with")) << text;
}

}  // namespace
}  // namespace nalm::compare_test
