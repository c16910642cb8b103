// When results agree with the paper: the limits, on cells made by hand.
#include "report/comparison.hpp"
#include "words.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace nalm {
namespace {

// So many of 25 runs solved, all at the same step.
void set_successes(Cell& cell, int successes, double solved_at) {
  cell.runs.clear();
  std::vector<RunResult> judged;
  for (std::uint32_t seed = 0; seed < 25; ++seed) {
    JudgedRun run;
    run.seed = seed;
    run.result.success = static_cast<int>(seed) < successes;
    if (run.result.success) run.result.solved_at = std::lround(solved_at);
    judged.push_back(run.result);
    cell.runs.push_back(run);
  }
  cell.summary = summarise(judged, false);
}

double step_of(const PublishedCell& cell) { return std::isnan(cell.solved_at.value) ? 1000 : cell.solved_at.value; }

// The paper's whole grid, or only these modules, with its own counts.
Results exact_results(std::string_view modules = (*find_preset("primer"))->modules) {
  Results results;
  Grid& grid = results.info.grid;
  std::vector<std::string> skipped;
  grid.pairs = *make_pairs(*parse_modules(modules), *parse_operations("add,sub,mul,div"), skipped);
  grid.ranges = {paper_ranges().begin(), paper_ranges().end()};
  grid.seeds = *parse_seeds("0..24");
  for (const Pair& pair : grid.pairs) {
    for (const TaskRange& range : grid.ranges) {
      Cell cell;
      cell.pair = pair;
      cell.range = range;
      cell.published = find_published(pair.module->name, pair.operation, name_of(range.train));
      EXPECT_TRUE(cell.published);
      if (!cell.published) continue;
      set_successes(cell, cell.published->successes(), step_of(*cell.published));
      results.cells.push_back(cell);
    }
  }
  return results;
}

// Moves the count of the first cells for which that is possible.
void shift(Results& results, int by, int cells, std::string_view module = "") {
  int shifted = 0;
  for (Cell& cell : results.cells) {
    if (shifted == cells) break;
    const bool chaotic = cell.pair.module->name == "NPU" || cell.pair.module->name == "RealNPU";
    if (module.empty() ? chaotic : cell.pair.module->name != module) continue;
    const int wanted = cell.published->successes() + by;
    if (wanted < 1 || wanted > 25) continue;
    set_successes(cell, wanted, step_of(*cell.published));
    ++shifted;
  }
  ASSERT_EQ(shifted, cells);
}

// Its cells refer to the results, which must outlive it.
Comparison compared(Results&&) = delete;
Comparison compared(const Results& results) {
  Result<Comparison> comparison = compare_with_paper(results);
  EXPECT_TRUE(comparison.ok()) << complaint(comparison);
  return comparison ? *comparison : Comparison{};
}

TEST(Compare, ThePapersOwnCountsAgree) {
  const Results results = exact_results();
  const Comparison comparison = compared(results);
  EXPECT_TRUE(comparison.agrees());
  EXPECT_EQ(comparison.cells.size(), 207u);
  EXPECT_EQ(comparison.equal, 207);
  EXPECT_EQ(comparison.outside, 0);
  EXPECT_EQ(comparison.reproducible, 171);
  EXPECT_EQ(comparison.reproducible_equal, 171);
  EXPECT_EQ(comparison.solved_at_compared, 92);
  EXPECT_EQ(comparison.solved_at_equal, 92);
  for (const ComparedCell& cell : comparison.cells) EXPECT_TRUE(cell.inside_interval) << cell.cell->range_name();
  const std::string text = print(comparison, false);
  EXPECT_TRUE(text.starts_with("Every cell equals the published one.\n")) << text;
  EXPECT_TRUE(contains(text, "207 of 207 cells equal the published count")) << text;
  EXPECT_TRUE(contains(text, "It agrees with what was published.\n")) << text;
}

TEST(Compare, OneRunMoreOrLessIsAllowed) {
  for (const int by : {-1, 1}) {
    Results results = exact_results("NAU,NMU");
    shift(results, by, 1, "NMU");
    const Comparison comparison = compared(results);
    EXPECT_TRUE(comparison.agrees()) << print(comparison, false);
    EXPECT_EQ(comparison.outside, 0);
    EXPECT_EQ(comparison.equal, 26);
    EXPECT_TRUE(contains(print(comparison, false), "within the limit")) << print(comparison, false);
  }
}

TEST(Compare, TwoRunsMoreOrLessAreNot) {
  for (const auto& [module, by] : {std::pair("NAU", -2), std::pair("NMU", 2), std::pair("NMU", -2)}) {
    Results results = exact_results("NAU,NMU");
    shift(results, by, 1, module);
    const Comparison comparison = compared(results);
    EXPECT_FALSE(comparison.agrees()) << module << by;
    EXPECT_EQ(comparison.outside, 1);
    const std::string text = print(comparison, false);
    EXPECT_TRUE(contains(text, "OUTSIDE the limit")) << text;
    EXPECT_TRUE(contains(text, by < 0 ? "    -2  " : "    +2  ")) << text;
    EXPECT_TRUE(contains(text, "It does not agree: 1 cells differ by more than allowed.")) << text;
  }
}

TEST(Compare, NpuAndRealNpuMayDifferByFour) {
  for (const char* module : {"NPU", "RealNPU"}) {
    for (const int by : {-5, -4, 4, 5}) {
      Results results = exact_results(module);
      shift(results, by, 1, module);
      const Comparison comparison = compared(results);
      EXPECT_EQ(comparison.agrees(), std::abs(by) == 4) << module << " " << by;
      EXPECT_EQ(comparison.outside, std::abs(by) == 5);
      EXPECT_EQ(comparison.reproducible, 0);
      EXPECT_EQ(comparison.solved_at_compared, 0);
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
    EXPECT_EQ(comparison.outside, 0);
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
    for (Cell& cell : results.cells) {
      const bool chaotic = cell.pair.module->name == "NPU" || cell.pair.module->name == "RealNPU";
      if (changed == cells || chaotic || std::isnan(cell.published->solved_at.lo)) continue;
      set_successes(cell, cell.published->successes(), 1.1 * cell.published->solved_at.value);
      ++changed;
    }
    const Comparison comparison = compared(results);
    EXPECT_EQ(comparison.solved_at_equal, 92 - cells);
    EXPECT_EQ(comparison.agrees(), cells == 9) << print(comparison, false);
    EXPECT_TRUE(contains(print(comparison, false), " instead of "));
  }
}

TEST(Compare, ShowsAllCellsIfAsked) {
  const Results results = exact_results("NMU");
  const Comparison comparison = compared(results);
  const std::string text = print(comparison, true);
  for (const TaskRange& range : paper_ranges()) EXPECT_TRUE(contains(text, name_of(range.train))) << text;
}

// ---- nothing to compare --------------------------------------------------------------------------------------------

TEST(Compare, OtherSeedsAreRefused) {
  Results results = exact_results("NMU");
  results.cells[4].runs[24].seed = 25;
  EXPECT_TRUE(contains(complaint(compare_with_paper(results)), "the paper has seeds 0 to 24"));
  results = exact_results("NMU");
  results.cells[4].runs.pop_back();
  EXPECT_TRUE(contains(complaint(compare_with_paper(results)), "has 24 runs"));
  EXPECT_FALSE(contains(complaint(compare_with_paper(results)), "--resume"));
  results.missing = 1;
  EXPECT_TRUE(contains(complaint(compare_with_paper(results)), "not finished: use --resume"));
}

TEST(Compare, LaterModulesMayDifferByTheirBinomialError) {
  Results results = exact_results("MC-FC,MulMC-FC");
  EXPECT_TRUE(compared(results).agrees());
  EXPECT_EQ(compared(results).equal, 18);
  EXPECT_EQ(compared(results).reproducible, 0);
  // 22 of 25 and 25 of 25 may come from the same rate, 21 of 25 and 25 of 25 hardly.
  set_successes(results.cells[0], 22, 1000);
  EXPECT_TRUE(compared(results).agrees()) << print(compared(results), false);
  set_successes(results.cells[0], 21, 1000);
  const Comparison comparison = compared(results);
  EXPECT_FALSE(comparison.agrees());
  EXPECT_EQ(comparison.outside, 1);
  EXPECT_TRUE(contains(print(comparison, false), "MC-FC"));
  EXPECT_TRUE(contains(print(comparison, false), "OUTSIDE the limit (Mistry")) << print(comparison, false);
  // Other seeds are as good: nothing was published seed by seed.
  results = exact_results("MC-FC");
  for (Cell& cell : results.cells)
    for (JudgedRun& run : cell.runs) run.seed += 100;
  EXPECT_TRUE(compared(results).agrees());
}

TEST(Compare, MeansMustAgreeWithinTheirBinomialError) {
  for (const auto& [successes, agrees] :
       {std::pair(21, true), std::pair(22, true), std::pair(24, false), std::pair(19, false)}) {
    Results results;
    Grid& grid = results.info.grid;
    grid.pairs = {{*find_module("RealNPU-modified"), Operation::Divide}};
    grid.ranges = {paper_ranges().begin(), paper_ranges().end()};
    grid.seeds = *parse_seeds("0..24");
    grid.inputs = 10;
    grid.iterations = 100000;
    for (const TaskRange& range : grid.ranges) {
      Cell cell;
      cell.pair = grid.pairs[0];
      cell.range = range;
      set_successes(cell, successes, 1000);
      results.cells.push_back(cell);
    }
    // Published: 85.3 % of 225 runs, and 84, 88, 96 and 76 % here.
    const Comparison comparison = compared(results);
    ASSERT_EQ(comparison.means.size(), 1u);
    EXPECT_NEAR(comparison.means[0].allowed, 0.063, 0.011);
    EXPECT_EQ(comparison.agrees(), agrees) << print(comparison, false);
    EXPECT_TRUE(contains(print(comparison, false), "published 85.3 %")) << print(comparison, false);
    results.info.grid.ranges.pop_back();  // a mean over eight ranges is another one
    EXPECT_TRUE(contains(complaint(compare_with_paper(results)), "nothing was published"));
  }
}

TEST(Compare, OtherSettingsAreRefused) {
  Results results = exact_results("NMU");
  results.info.grid.inputs = 3;
  EXPECT_TRUE(contains(complaint(compare_with_paper(results)), "these runs have 3"));
  results = exact_results("NMU");
  results.info.grid.recipe_changes = R"({"clip_norm": 1})";
  EXPECT_TRUE(contains(complaint(compare_with_paper(results)), "--recipe"));
  results = exact_results("NMU");
  results.info.grid.iterations = 50000;
  EXPECT_TRUE(contains(complaint(compare_with_paper(results)), "do not follow the paper's protocol"));
  results = exact_results("NMU");
  results.info.grid.learning_rate = 1e-3;
  EXPECT_TRUE(contains(complaint(compare_with_paper(results)), "do not follow the paper's protocol"));
}

// Best rows and solved-at are read off logged rows: with others, the counts are others.
TEST(Compare, OtherLoggingIsRefused) {
  Results results = exact_results("NMU");
  results.info.grid.log_every = 100;
  EXPECT_TRUE(contains(complaint(compare_with_paper(results)), "do not follow the paper's protocol"));
}

TEST(Compare, CellsThatThePaperDoesNotHaveAreLeftOut) {
  Results results = exact_results("NMU");
  results.cells[0].published = nullptr;
  results.cells[0].runs.clear();
  EXPECT_EQ(compared(results).cells.size(), 8u);
  for (Cell& cell : results.cells) cell.published = nullptr;
  EXPECT_TRUE(contains(complaint(compare_with_paper(results)), "nothing was published for these cells"));
}

}  // namespace
}  // namespace nalm
