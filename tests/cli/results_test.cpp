// nalm table, compare and report on results of nalm bench.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/bench_fixture.hpp"
#include "report/page.hpp"
#include "tasks/single_module/problem.hpp"

namespace nalm::results_test {
namespace {

using nlohmann::json;

TEST_F(BenchCli, TablesComeInEveryFormat) {
  make_small();
  const Outcome terminal = program("table");
  EXPECT_EQ(terminal.exit_code, 0) << terminal.err;
  EXPECT_TRUE(contains(terminal.out, "NMU     U[1,2)     2/2")) << terminal.out;
  const Outcome csv = program("table nalm-results --format csv");
  EXPECT_EQ(csv.exit_code, 0);
  ASSERT_EQ(lines_of(csv.out).size(), 4u);
  EXPECT_TRUE(lines_of(csv.out)[3].starts_with("NMU,mul,\"U[1,2)\",1,")) << csv.out;
  const Outcome text = program("table --format json");
  EXPECT_EQ(text.exit_code, 0);
  const json all = json::parse(text.out);
  EXPECT_EQ(all["cells"].size(), 3u);
  EXPECT_TRUE(all["cells"][0]["seeds"][0].contains("failure")) << "NAU does not get there in 4000 iterations";
  EXPECT_TRUE(contains(program("table --format latex").out, "\\begin{tabular}"));
  EXPECT_TRUE(contains(program("table --format markdown").out, "| NMU | U[1,2) | 2/2 |"));
  expect_refused(program("table --format html"), {"--format"});
  expect_refused(program("table none"), {"none holds no results", "nalm bench --out none"});

  const Outcome file = program("table --format csv -o table.csv --series series.csv");
  EXPECT_EQ(file.exit_code, 0) << file.err;
  EXPECT_EQ(file.out, "");
  EXPECT_EQ(text_of(folder_ / "table.csv"), csv.out);
  EXPECT_EQ(lines_of(text_of(folder_ / "series.csv")).size(), 31u);
}

TEST_F(BenchCli, TablesJudgeByOtherCriteria) {
  make_small();
  // Everything is within a large epsilon, nothing within a tiny one.
  EXPECT_TRUE(contains(program("table --epsilon 0.9").out, "NAU     U[1,2)     2/2"));
  EXPECT_TRUE(contains(program("table --epsilon 1e-12").out, "NMU     U[1,2)     0/2"));
  for (const char* options : {"--log-space", "--correlation 0.999", "--mape 0.001", "--paper-intervals"}) {
    const Outcome run = program(std::string("table ") + options);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_TRUE(contains(run.out, "NMU     U[1,2)     2/2")) << options << "\n" << run.out;
  }
  for (const char* options : {"--epsilon 0", "--epsilon 1", "--correlation 2", "--mape 0", "--mape nan"})
    expect_refused(program(std::string("table ") + options), {std::string(options).substr(0, 5)});
  for (const char* options : {"--log-space --mape 0.1", "--correlation 0.9 --mape 0.1", "--metric mape --log-space"})
    expect_refused(program(std::string("table ") + options), {"one criterion"});
  expect_refused(program("table --epsilon 0.1 --mape 0.1"), {"--epsilon derives a limit"});
}

// The metrics of every paper on the same runs.
TEST_F(BenchCli, TablesShowEveryMetric) {
  make_small();
  const Outcome all = program("table --metric all");
  EXPECT_EQ(all.exit_code, 0) << all.err;
  for (const char* column : {"solved  ever", "solved at [95 %]", "sparsity error [95 %]", "test_mse", "% of start",
                             "before regularisers % [95 %]", "below 1e-05 %"})
    EXPECT_TRUE(contains(all.out, column)) << column << "\n" << all.out;
  const std::vector<std::string> csv = lines_of(program("table --metric all --format csv").out);
  ASSERT_EQ(csv.size(), 4u);
  for (const char* column : {",success,", ",solved_at,", ",test_mse_median,", ",trask_median,", ",threshold"})
    EXPECT_TRUE(contains(csv[0], column)) << column << "\n" << csv[0];
  for (const char* metric : {"success", "mad", "trask", "pre-regularisation", "threshold", "correlation", "mape"}) {
    const Outcome one = program(std::string("table --metric ") + metric);
    EXPECT_EQ(one.exit_code, 0) << metric << one.err;
    EXPECT_TRUE(contains(one.out, "NMU     U[1,2)")) << metric << "\n" << one.out;
  }
  // By what the almost right model has: the runs that are solved are solved by these too.
  for (const char* metric : {"correlation", "mape"})
    EXPECT_TRUE(contains(program(std::string("table --metric ") + metric).out, "NMU     U[1,2)     2/2")) << metric;
  EXPECT_TRUE(contains(program("table --metric threshold --limit 1e9").out, "NAU     U[1,2)     2/2"));
  // The limit of another criterion is not one of errors.
  EXPECT_TRUE(contains(program("table --metric all --mape 0.01").out, "below 1e-05 %"));
  expect_refused(program("table --limit 1"), {"--limit belongs to --metric threshold"});
  expect_refused(program("table --metric threshold --limit 0"), {"--limit must be"});
  expect_refused(program("table --metric nonsense"), {"--metric"});
}

TEST_F(BenchCli, ComparesOnlyWhatCanBeCompared) {
  make_small();
  expect_refused(program("compare"), {"do not follow the task's settings", "--iterations 4000"});
  expect_refused(program("compare none"), {"none holds no results"});
  ASSERT_EQ(
      program("bench --modules NAU --operations add --ranges 6 --seeds 0 --inputs 3 --out wide --quiet").exit_code, 0);
  expect_refused(program("compare wide"), {"nothing was published for these cells", "nalm list single-module"});
}

// Fewer seeds than the paper had are judged as what they are: a smaller sample.
TEST_F(BenchCli, ComparesAFewSeeds) {
  if (test::sanitized) GTEST_SKIP() << trains_long;
  ASSERT_EQ(program("bench --modules NMU --ranges 6 --seeds 0..4 --out few --quiet").exit_code, 0);
  const Outcome few = program("compare few --all");
  EXPECT_EQ(few.exit_code, 0) << few.out << few.err;
  EXPECT_TRUE(contains(few.out, "5/5")) << few.out;
  EXPECT_TRUE(contains(few.out, "It agrees with what was published.")) << few.out;
}

// One cell of the paper, seed for seed, and the same with a count that the paper does not have.
TEST_F(BenchCli, ComparisonsGiveTheirAnswerAsExitCode) {
  if (test::sanitized) GTEST_SKIP() << trains_long;
  const Outcome run = program("bench --modules NMU --ranges 6 --out one");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "Next: nalm table one, nalm compare one")) << run.out;
  const Outcome same = program("compare one --all");
  EXPECT_EQ(same.exit_code, 0) << same.out << same.err;
  EXPECT_TRUE(contains(same.out, "NMU    mul        U[1,2)")) << same.out;
  EXPECT_TRUE(contains(same.out, "It agrees with what was published.")) << same.out;
  copy("one", "other", [](FinishedRun& finished) {
    for (std::vector<double>& row : finished.record.values)
      if (finished.id.seed < 2) row[single_module::test_mse] = 1;
  });
  const Outcome other = program("compare other");
  EXPECT_EQ(other.exit_code, 1) << other.out << other.err;
  EXPECT_TRUE(contains(other.out, "DIFFERS (1 run allowed)")) << other.out;
  expect_refused(program("compare one --report page.html"), {"--report", "nalm report"});
}

TEST_F(BenchCli, ComparesFoldersWithEachOther) {
  ASSERT_EQ(program("bench --modules NMU --ranges 6,8 --seeds 0..14 --iterations 4000 --quiet --out mine").exit_code,
            0);
  copy("mine", "theirs", [](FinishedRun& finished) {
    for (std::vector<double>& row : finished.record.values)
      if (finished.id.cell == 0) row[single_module::test_mse] = 1;
  });
  const Outcome same = program("compare mine mine --all");
  EXPECT_EQ(same.exit_code, 0) << same.out << same.err;
  EXPECT_TRUE(contains(same.out, "No cell differs by more than chance allows")) << same.out;
  const Outcome other =
      program("compare mine theirs" + std::string(has_plotting_library() ? " --report page.html" : ""));
  EXPECT_EQ(other.exit_code, 1) << other.out << other.err;
  EXPECT_TRUE(contains(other.out, "15/15    0/15  -100.0")) << other.out;
  EXPECT_TRUE(contains(other.out, "DIFFERS")) << other.out;
  if (has_plotting_library()) {
    EXPECT_TRUE(contains(other.out, "Written: page.html\n")) << other.out;
    const std::string page = text_of(folder_ / "page.html");
    EXPECT_TRUE(page.starts_with("<!doctype html>"));
    EXPECT_TRUE(contains(page, "theirs"));
  }
  ASSERT_EQ(
      program("bench --modules NAU --operations add --ranges 0 --seeds 0 --iterations 1 --quiet --out else").exit_code,
      0);
  expect_refused(program("compare mine else"), {"mine, else: ", "share no cell"});
  expect_refused(program("compare mine none"), {"none holds no results"});
}

// The paper tested [1,2) on [2,6): elsewhere its numbers mean nothing.
TEST_F(BenchCli, DoesNotCompareAPaperRangeThatIsTestedElsewhere) {
  if (test::sanitized) GTEST_SKIP() << trains_long;
  ASSERT_EQ(
      program("bench --modules NMU --ranges '[1,2)' --test-range '[100,200)' --seeds 0 --out far --quiet").exit_code,
      0);
  expect_refused(program("compare far"), {"nothing was published for these cells"});
}

TEST_F(BenchCli, WritesReports) {
  make_small("--out results");
  if (!has_plotting_library()) {
    expect_refused(program("report results"), {"plotting library"});
    return;
  }
  fs::remove(folder_ / "results" / "report.html");
  const Outcome run = program("report results");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "Written: results/report.html\n");
  EXPECT_EQ(program("report results --mape 0.01 -o other.html").exit_code, 0);
  EXPECT_TRUE(contains(text_of(folder_ / "other.html"), "mean relative error"));
  expect_refused(program("report none"), {"none holds no results"});
  expect_refused(program("report results -o none/page.html"), {"none/page.html"});
}

TEST_F(BenchCli, ReportsFits) {
  const std::string source = NALM_SOURCE_DIR "/tests/report/fit_model.json";
  fs::copy_file(source, folder_ / "model.json");
  std::ofstream(folder_ / "plain.json") << R"({"format":"nalm-model","version":1,"layers":[]})";
  if (!has_plotting_library()) {
    expect_refused(program("report model.json"), {"plotting library"});
    return;
  }
  const Outcome run = program("report model.json");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "Written: model.html\n");
  EXPECT_TRUE(contains(text_of(folder_ / "model.html"), "<title>nalm: a formula for energy</title>"));
  EXPECT_EQ(program("report model.json -o other.html").out, "Written: other.html\n");
  expect_refused(program("report plain.json"), {"plain.json: ", "no fit to report"});
  EXPECT_FALSE(fs::exists(folder_ / "plain.html"));
  // The model is not replaced by its page.
  expect_refused(program("report model.json -o ./model.json"), {"would replace the model"});
  EXPECT_EQ(text_of(folder_ / "model.json"), text_of(source));
  expect_refused(program("report model.json --mape 0.01"), {"a fit has no runs to judge", "folder with results"});
}

}  // namespace
}  // namespace nalm::results_test
