// nalm bench and everything that reads its results, as users see them: output, files, exit codes, and what remains when
// it is interrupted or killed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "bench/run_store.hpp"
#include "cli/program.hpp"
#include "report/page.hpp"

namespace nalm {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class BenchCli : public ProgramTest {
 protected:
  // Six runs of which two succeed; a few hundredths of a second.
  static constexpr const char* small = "bench --modules NAU,NMU --ranges 6 --seeds 0..1 --iterations 4000";

  // What bench says does not matter here, only that it worked.
  void make_small(const std::string& more = "") {
    const Outcome run = program(std::string(small) + " --quiet " + more);
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }

  // The program in the background, without a shell in between that would take the signals.
  pid_t start(const std::vector<std::string>& arguments, const char* target = "scalar") {
    const pid_t child = fork();
    if (child != 0) return child;
    const int out = open((folder_ / ".out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    const int err = open((folder_ / ".err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (chdir(folder_.c_str()) != 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) _exit(99);
    setenv("NALM_SIMD", target, 1);
    std::vector<char*> words{const_cast<char*>(NALM_PROGRAM)};
    for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    execv(NALM_PROGRAM, words.data());
    _exit(99);
  }
  Outcome finish(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return {exit_code_of(status), text_of(folder_ / ".out"), text_of(folder_ / ".err")};
  }

  std::size_t stored(const std::string& name) {
    const Result<RunStore> store = RunStore::read((folder_ / name).string());
    if (!store) return 0;
    const Result<std::size_t> count = store->run_count();
    return count ? *count : 0;
  }
};

// ---- bench ---------------------------------------------------------------------------------------------------------

TEST_F(BenchCli, RunsAGridAndWritesStoreReportAndTables) {
  const Outcome run = program(std::string(small) + " --out results --series series.csv --threads 2");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.err, "6 runs: 3 pairs of module and operation, 1 ranges, 2 seeds; results go to results.\n"))
      << run.err;
  EXPECT_TRUE(contains(run.err, "Not learned by design, left out: NMU add")) << run.err;
  EXPECT_TRUE(contains(run.out, "Multiplication: runs solved\nrange   NMU\nU[1,2)  2/2\n")) << run.out;
  EXPECT_TRUE(contains(run.out, "Next: nalm table results, nalm compare results")) << run.out;
  // Nothing is rewritten where nobody looks at it as it goes.
  for (const char c : {'\r', '\033'}) EXPECT_EQ((run.out + run.err).find(c), std::string::npos);
  EXPECT_EQ(stored("results"), 6u);
  if (has_plotting_library()) {
    const std::string page = text_of(folder_ / "results" / "report.html");
    EXPECT_TRUE(page.starts_with("<!doctype html>"));
    EXPECT_TRUE(contains(page, "</html>"));
  }
  const std::vector<std::string> series = lines_of(text_of(folder_ / "series.csv"));
  ASSERT_EQ(series.size(), 1u + 6 * 5);
  EXPECT_EQ(series[0], "module,operation,range,seed,step,validation_mse,test_mse,sparsity_error");
  EXPECT_TRUE(series[1].starts_with("NAU,add,\"U[1,2)\",0,0,")) << series[1];
}

TEST_F(BenchCli, SaysNothingIfAskedToBeQuiet) {
  const Outcome run = program(std::string(small) + " --quiet --out results");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(stored("results"), 6u);
}

TEST_F(BenchCli, PrintsEventsAsJsonLines) {
  const Outcome run = program(std::string(small) + " --json-lines --out results");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  std::map<std::string, int> events;
  int successes = 0;
  for (const std::string& line : lines_of(run.out)) {
    const json event = json::parse(line);
    ++events[event["event"]];
    if (event["event"] != "run") continue;
    EXPECT_TRUE(event["module"].is_string() && event["seed"].is_number() && event["test_mse"].is_number()) << line;
    successes += event["success"].get<bool>();
  }
  EXPECT_EQ(events["start"], 1);
  EXPECT_EQ(events["run"], 6);
  EXPECT_EQ(events["end"], 1);
  EXPECT_EQ(successes, 2);
  EXPECT_EQ(json::parse(lines_of(run.out).front())["event"], "start");
  EXPECT_EQ(json::parse(lines_of(run.out).back())["event"], "end");
}

TEST_F(BenchCli, JsonLinesSurviveAFolderThatIsNotUnicode) {
  const Outcome run = program(std::string(small) + " --json-lines --out \"$(printf 'a\\377b')\"");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  for (const std::string& line : lines_of(run.out)) EXPECT_TRUE(json::accept(line)) << line;
}

TEST_F(BenchCli, DrawsABarOnATerminal) {
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child < 0) GTEST_SKIP() << "no terminals here";
  if (child == 0) {
    setenv("NALM_SIMD", "", 1);
    if (chdir(folder_.c_str()) != 0) _exit(99);
    execl(NALM_PROGRAM, NALM_PROGRAM, "bench", "--modules", "NMU", "--ranges", "6", "--seeds", "0", "--out", "results",
          nullptr);
    _exit(99);
  }
  std::string seen;
  char buffer[4096];
  for (ssize_t size; (size = read(terminal, buffer, sizeof buffer)) > 0;)
    seen.append(buffer, static_cast<std::size_t>(size));
  close(terminal);
  EXPECT_EQ(finish(child).exit_code, 0) << seen;
  EXPECT_TRUE(contains(seen, "\r\033[K[")) << seen;
  EXPECT_TRUE(contains(seen, " of 1 runs")) << seen;
}

TEST_F(BenchCli, NeverOverwrites) {
  make_small("--out results");
  const std::string before = text_of(folder_ / "results" / "runs.sqlite");
  expect_refused(program(std::string(small) + " --out results"),
                 {"results already holds results", "--resume", "--out"});
  EXPECT_TRUE(text_of(folder_ / "results" / "runs.sqlite") == before);
  // The default folder is no exception.
  make_small();
  EXPECT_EQ(stored("nalm-results"), 6u);
  expect_refused(program("bench --modules NMU --ranges 6 --seeds 0 --iterations 1"),
                 {"nalm-results", "--resume", "--out"});
}

TEST_F(BenchCli, UnknownNamesListTheKnownOnes) {
  const std::pair<const char*, std::vector<std::string>> cases[] = {
      {"--modules NUA", {"\"NUA\"", "NAC+, NAC*, NALU"}},
      {"--operations plus", {"\"plus\"", "add, sub, mul and div"}},
      {"--ranges 9", {"9", "0 U[-20,-10)", "8 U[10,20)"}},
      {"--ranges nonsense", {"\"nonsense\"", "6 U[1,2)"}},
      {"--ranges '[3,4)'", {"U[3,4)", "--test-range", "6 U[1,2)"}},
      {"--preset nonsense",
       {"\"nonsense\"",
        "primer, beyond-primer, beyond-primer-10, redundancy-10-inalu, redundancy-10-nau, redundancy-100-nau"}},
      {"--seeds x", {"\"x\" is not a seed", "0..24"}},
      {"--modules NAU --operations mul", {"none of these modules can learn", "NAU mul"}},
      {"--learning-rate 0", {"--learning-rate"}},
      {"--learning-rate nan", {"--learning-rate"}},
      {"--recipe '{\"clip\": 1}'", {"\"clip\" is not known there", "clip_norm"}},
      {"--recipe nonsense", {"the changes to the recipe cannot be used"}},
      {"--recipe '{\"restarts\": {\"count\": 2, \"every\": 10}}'", {"restarts.every", "1000"}},
      {"--log-every 0", {"--log-every"}},
      {"--inputs 1", {"--inputs"}},
      {"--threads -1", {"--threads"}},
      {"--quiet --json-lines", {"exclude"}},
      {"--operations div --ranges '[1,2)' --test-range '[-1,1)'", {"[-1, 1)", "touches 0"}},
      {"--nonsense", {"--nonsense", "--help"}},
  };
  for (const auto& [arguments, parts] : cases) {
    SCOPED_TRACE(arguments);
    expect_refused(program(std::string("bench --iterations 1 ") + arguments), parts);
    EXPECT_FALSE(fs::exists(folder_ / "nalm-results"));
  }
  expect_refused(program("bench --iterations -1"), {"--iterations"});
  expect_refused(program("bench --resume none"), {"none holds no results"});
}

TEST_F(BenchCli, ChangesRecipesAndKeepsTheChangesForResuming) {
  const std::string arguments = "--modules NMU --ranges 6 --seeds 0..9 --iterations 20 --log-every 10 --quiet ";
  const auto series = [&](const std::string& folder) {
    EXPECT_EQ(program("table " + folder + " --series " + folder + ".csv --format csv -o " + folder + ".txt").exit_code,
              0);
    return text_of(folder_ / (folder + ".csv"));
  };
  EXPECT_EQ(program("bench " + arguments + "--out plain").exit_code, 0);
  EXPECT_EQ(
      program("bench " + arguments + "--recipe '{\"optimiser\": {\"learning_rate\": 0.01}}' --out changed").exit_code,
      0);
  EXPECT_EQ(program("bench " + arguments + "--learning-rate 0.01 --out same").exit_code, 0);
  EXPECT_NE(series("changed"), series("plain"));
  EXPECT_EQ(series("changed"), series("same"));
  const Result<RunStore> store = RunStore::read((folder_ / "changed").string());
  ASSERT_TRUE(store.ok());
  EXPECT_TRUE(contains(store->info()->command, "--recipe '{\"optimiser\": {\"learning_rate\": 0.01}}'"));
  EXPECT_EQ(store->info()->grid.recipe_changes, R"({"optimiser":{"learning_rate":0.01}})");
}

// Not cut to 32 bits, which would be 2.
TEST_F(BenchCli, TooManyInputsAreRefused) {
  for (const char* command : {"bench --modules NAU --ranges 6 --seeds 0", "train --module NAU"})
    expect_refused(program(std::string(command) + " --iterations 1 --inputs 4294967298"), {"--inputs"});
}

TEST_F(BenchCli, TakesNewRangesAndPresets) {
  Outcome run = program(
      "bench --modules NMU --ranges '[3,4),6' --test-range '[-9,-8)+[8,9)' --seeds 3,11 --iterations 20 "
      "--log-every 7 --learning-rate 0.01 --inputs 3 --out new");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Result<RunStore> store = RunStore::read((folder_ / "new").string());
  ASSERT_TRUE(store.ok());
  const Result<StoreInfo> info = store->info();
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(name_of(info->grid.ranges[0].test), "U[-9,-8)+[8,9)");
  EXPECT_EQ(name_of(info->grid.ranges[1].test), "U[2,6)");
  EXPECT_EQ(info->grid.seeds, (std::vector<std::uint32_t>{3, 11}));
  EXPECT_EQ(store->runs()->front().series.steps, (std::vector<long>{0, 7, 14, 20}));
  EXPECT_EQ(store->runs()->front().recipe.training.optimiser.learning_rate(), 0.01);
  // What made it can be typed again.
  const Outcome again = program(info->command.substr(5) + " --out again");
  EXPECT_EQ(again.exit_code, 0) << info->command << "\n" << again.err;
  EXPECT_EQ(program("table new --series new.csv").exit_code, 0);
  EXPECT_EQ(program("table again --series again.csv").exit_code, 0);
  EXPECT_TRUE(text_of(folder_ / "new.csv") == text_of(folder_ / "again.csv"));

  run = program("bench --preset redundancy-10-nau --ranges 6 --seeds 0 --iterations 3 --out wide");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Result<StoreInfo> wide = RunStore::read((folder_ / "wide").string())->info();
  EXPECT_EQ(wide->grid.inputs, 10);
  EXPECT_EQ(wide->grid.pairs.size(), 2u);
}

TEST_F(BenchCli, FilesThatCannotBeWrittenAreNamed) {
  const Outcome run = program(std::string(small) + " --quiet --out results --series none/series.csv");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(contains(run.err, "none/series.csv")) << run.err;
  // Before any work, or after it and without loss.
  EXPECT_TRUE(!fs::exists(folder_ / "results") || stored("results") == 6u);
  std::ofstream(folder_ / "file") << "x";
  expect_refused(program("bench --iterations 1 --out file/results"), {"file/results cannot be made", "--out"});
}

TEST_F(BenchCli, ANameThatIsTooLongIsRefusedLikeOthers) {
  const std::string name(300, 'x');
  expect_refused(program("bench --iterations 1 --out " + name), {name + " cannot be made", "--out"});
  expect_refused(program("table " + name), {name + " holds no results"});
  expect_refused(program("bench --resume " + name), {name + " holds no results"});
}

// ---- table, compare, report ----------------------------------------------------------------------------------------

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
  expect_refused(program("table --epsilon 0.1 --mape 0.1"), {"one criterion"});
}

TEST_F(BenchCli, ComparesOnlyWhatCanBeCompared) {
  make_small();
  expect_refused(program("compare"), {"do not follow the paper's protocol"});
  expect_refused(program("compare none"), {"none holds no results"});
  ASSERT_EQ(program("bench --modules NMU --ranges 6 --seeds 0..1 --out few --quiet").exit_code, 0);
  expect_refused(program("compare few"), {"NMU mul on U[1,2) has 2 runs", "seeds 0 to 24"});
  ASSERT_EQ(
      program("bench --modules NAU --operations add --ranges 6 --seeds 0 --inputs 3 --iterations 1 --out wide --quiet")
          .exit_code,
      0);
  expect_refused(program("compare wide"), {"2 and 10 inputs", "3"});
}

// One cell of the paper, seed for seed, and the same with a count that the paper does not have.
TEST_F(BenchCli, ComparisonsGiveTheirAnswerAsExitCode) {
  ASSERT_EQ(program("bench --modules NMU --ranges 6 --out one --quiet").exit_code, 0);
  const Outcome same = program("compare one --all");
  EXPECT_EQ(same.exit_code, 0) << same.out << same.err;
  EXPECT_TRUE(contains(same.out, "NMU      mul  U[1,2)")) << same.out;
  EXPECT_TRUE(contains(same.out, "It agrees with what was published.")) << same.out;
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open((folder_ / "one" / "runs.sqlite").c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, "UPDATE series SET test_mse = 1 WHERE run IN (SELECT id FROM runs WHERE seed < 2)",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(db);
  const Outcome other = program("compare one");
  EXPECT_EQ(other.exit_code, 1) << other.out << other.err;
  EXPECT_TRUE(contains(other.out, "OUTSIDE the limit")) << other.out;
}

// The paper tested [1,2) on [2,6): elsewhere its numbers mean nothing.
TEST_F(BenchCli, DoesNotCompareAPaperRangeThatIsTestedElsewhere) {
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
  expect_refused(program("report model.json --mape 0.01"), {"--mape", "folder with results"});
}

// ---- export, train, figure -----------------------------------------------------------------------------------------

TEST_F(BenchCli, ExportsARunThatCanBeExplained) {
  make_small();
  const Outcome run = program("export --module NMU --operation mul --range '[1,2)' --seed 1 -o nmu.json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "Written: nmu.json (step 4000, a solved run).")) << run.out;
  const Outcome explained = program("explain nmu.json --input 2,3");
  EXPECT_EQ(explained.exit_code, 0) << explained.err;
  EXPECT_TRUE(contains(explained.out, "x1*x2")) << explained.out;
  // Any logged row, on standard output.
  const Outcome start = program("export --module NAU --operation sub --range 0 --seed 0 --step 0");
  EXPECT_EQ(start.exit_code, 0) << start.err;
  const json model = json::parse(start.out);
  EXPECT_EQ(model["layers"][0]["module"], "NAU");
  // The numbers are those of the store, to the bit.
  const Result<std::vector<nalm::Run>> runs =
      RunStore::read((folder_ / "nalm-results").string())->runs(Pair{*find_module("NAU"), Operation::Subtract});
  ASSERT_TRUE(runs.ok());
  EXPECT_EQ(model["layers"][0]["parameters"]["W"][0][0].get<double>(),
            static_cast<double>(runs->front().series.parameters[0]));

  expect_refused(program("export --module NMU --operation mul --range '[3,4)' --seed 1"), {"[3,4)", "U[1,2)"});
  expect_refused(program("export --module NMU --operation mul --range '[1,2)' --seed 7"), {"no run", "seed 7"});
  expect_refused(program("export --module NMU --operation mul --range '[1,2)' --step 500"),
                 {"step 500 was not logged"});
  expect_refused(program("export --module NUA --operation mul --range '[1,2)'"), {"\"NUA\" is not a module"});
  expect_refused(program("export --module NMU --operation plus --range '[1,2)'"), {"add, sub, mul and div"});
}

TEST_F(BenchCli, TrainAnswersWhetherTheTaskIsSolved) {
  const Outcome solved = program("train --module NMU --operation mul --range '[1,2)' --iterations 4000 -o nmu.json");
  EXPECT_EQ(solved.exit_code, 0) << solved.out << solved.err;
  EXPECT_TRUE(contains(solved.out, "NMU learns mul on U[1,2), tested on U[2,6) (seed 0).")) << solved.out;
  EXPECT_TRUE(contains(solved.out, "The formula the weights spell: y = x1*x2\n")) << solved.out;
  EXPECT_TRUE(contains(solved.out, "\nSolved: ")) << solved.out;
  EXPECT_TRUE(contains(program("explain nmu.json").out, "x1*x2"));
  for (const char* arguments : {"--iterations 10", "--iterations 0", "--iterations 10 --inputs 12 --seed 4294967295"}) {
    const Outcome failed = program(std::string("train --module NMU --operation mul --range 6 ") + arguments);
    EXPECT_EQ(failed.exit_code, 1) << failed.out << failed.err;
    EXPECT_TRUE(contains(failed.out, "Not solved: ")) << failed.out;
  }
  for (const char* arguments :
       {"--module NUA", "--module NAU --operation mul", "--module NAU --operation add,sub", "--module NAU --range 1,2",
        "--module NAU --range '[3,4)'", "--module NAU --seed 4294967296", "--module NAU --learning-rate 0"}) {
    const Outcome run = program(std::string("train --iterations 1 ") + arguments);
    EXPECT_EQ(run.exit_code, 2) << arguments << "\n" << run.out;
    EXPECT_TRUE(run.err.starts_with("nalm: ")) << run.err;
  }
}

TEST_F(BenchCli, TrainGivesTheSameRunAsBench) {
  make_small();
  ASSERT_LT(program("train --module NAU --operation sub --range 6 --seed 1 --iterations 4000 -o train.json").exit_code,
            2);
  ASSERT_EQ(program("export --module NAU --operation sub --range '[1,2)' --seed 1 -o bench.json").exit_code, 0);
  EXPECT_EQ(text_of(folder_ / "train.json"), text_of(folder_ / "bench.json"));
}

TEST_F(BenchCli, ListsAndWritesFigures) {
  const Outcome list = program("figure");
  EXPECT_EQ(list.exit_code, 0);
  for (const char* name : {"regularisers", "weights", "singularity"}) {
    EXPECT_TRUE(contains("\n" + list.out, "\n" + std::string(name) + " ")) << list.out;
    const Outcome run = program(std::string("figure --data ") + name);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.out, "Written: " + std::string(name) + ".json\n");
    EXPECT_TRUE(json::accept(text_of(folder_ / (std::string(name) + ".json"))));
  }
  if (has_plotting_library()) {
    EXPECT_EQ(program("figure weights -o page.html").exit_code, 0);
    EXPECT_TRUE(text_of(folder_ / "page.html").starts_with("<!doctype html>"));
  }
  expect_refused(program("figure nonsense"), {"\"nonsense\"", "regularisers, weights, singularity"});
}

TEST_F(BenchCli, EveryCommandHasAnExample) {
  for (const std::string command : {"bench", "table", "compare", "report", "train", "figure", "export"}) {
    const Outcome run = program(command + " --help");
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_TRUE(contains(run.out, "Example:\n  nalm " + command)) << run.out;
  }
}

// ---- interrupted and killed ----------------------------------------------------------------------------------------

TEST_F(BenchCli, ResumeGoesOnOnlyWithWhatFits) {
  make_small("--out results");
  const Outcome whole = program("bench --resume results");
  EXPECT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_TRUE(contains(whole.err, "6 runs are there already.\n")) << whole.err;
  EXPECT_TRUE(contains(whole.out, "0 runs trained")) << whole.out;
  for (const char* more :
       {"--modules NAU", "--seeds 3", "--out other", "--iterations 7", "--preset primer", "--inputs 2"})
    expect_refused(program(std::string("bench --resume results ") + more),
                   {"--resume", "leave the other options away"});
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open((folder_ / "results" / "runs.sqlite").c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, "UPDATE about SET value = '0.0.0' WHERE name = 'version'", nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(db);
  expect_refused(program("bench --resume results"), {"begun by version 0.0.0", "--out"});
}

// Many small tasks: with one lane each, so that there is much to interrupt.
// Long enough not to be through before a busy machine lets the test look.
const std::vector<std::string> long_grid = {"--modules", "NAU,NMU",      "--ranges", "0,4,6",   "--seeds",
                                            "0..7",      "--iterations", "16000",    "--quiet", "--threads",
                                            "2",         "--log-every",  "4000"};

TEST_F(BenchCli, CtrlCKeepsWhatIsFinishedAndResumeCompletesIt) {
  std::vector<std::string> arguments{"bench", "--out", "whole", "--series", "whole.csv"};
  arguments.insert(arguments.end(), long_grid.begin(), long_grid.end());
  // The uninterrupted one on all lanes: that, too, must not matter.
  ASSERT_EQ(finish(start(arguments, "")).exit_code, 0) << text_of(folder_ / ".err");

  for (const int signal : {SIGINT, SIGTERM}) {
    const std::string name = signal == SIGINT ? "cut" : "ended";
    arguments[2] = name;
    arguments[4] = name + ".csv";
    const pid_t child = start(arguments);
    const Clock::time_point begin = Clock::now();
    while (stored(name) == 0 && Clock::now() - begin < std::chrono::seconds(60))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    // Nobody else may write while it lives. It waits meanwhile, or it would be through.
    kill(child, SIGSTOP);
    const std::string second = "cd '" + folder_.string() + "' && '" NALM_PROGRAM "' bench --quiet --resume " + name;
    const int refused = std::system((second + " 2> second").c_str());
    EXPECT_EQ(WEXITSTATUS(refused), 2);
    EXPECT_TRUE(contains(text_of(folder_ / "second"), "another nalm is writing to " + name))
        << text_of(folder_ / "second");
    kill(child, signal);
    kill(child, SIGCONT);
    const Outcome run = finish(child);
    EXPECT_EQ(run.exit_code, 128 + signal) << run.err;
    EXPECT_EQ(run.out, "");
    const std::size_t kept = stored(name);
    EXPECT_GT(kept, 0u);
    EXPECT_LT(kept, 72u);
    EXPECT_TRUE(contains(run.err, "Interrupted: " + std::to_string(kept) +
                                      " of 72 runs are stored; go on with \"nalm bench "
                                      "--resume " +
                                      name + "\""))
        << run.err;
    EXPECT_FALSE(fs::exists(folder_ / (name + ".csv")));
    EXPECT_TRUE(contains(program("table " + name).out, "the benchmark is not finished"));
    const Outcome rest = finish(start({"bench", "--resume", name, "--series", name + ".csv", "--quiet"}));
    EXPECT_EQ(rest.exit_code, 0) << rest.err;
    EXPECT_TRUE(text_of(folder_ / (name + ".csv")) == text_of(folder_ / "whole.csv"));
  }
}

TEST_F(BenchCli, KilledAtAnyMomentItLosesAtMostTheRunsInFlight) {
  std::vector<std::string> arguments{"bench", "--out", "whole", "--series", "whole.csv"};
  arguments.insert(arguments.end(), long_grid.begin(), long_grid.end());
  const Clock::time_point begin = Clock::now();
  ASSERT_EQ(finish(start(arguments)).exit_code, 0) << text_of(folder_ / ".err");
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();

  const unsigned seed = std::random_device()();
  std::cout << "Moments to kill are drawn with seed " << seed << ".\n";
  std::mt19937 random(seed);
  arguments[2] = "killed";
  arguments[4] = "killed.csv";
  const std::vector<std::string> resume{"bench", "--resume", "killed", "--series", "killed.csv", "--quiet"};
  // Before its first transaction there is nothing to resume: the same command starts again.
  const auto next = [&] { return RunStore::read((folder_ / "killed").string()) ? resume : arguments; };
  std::size_t kept = 0;
  for (int kills = 0; kills < 5; ++kills) {
    const pid_t child = start(next());
    std::this_thread::sleep_for(
        std::chrono::duration<double>(std::uniform_real_distribution<double>(0, 0.5 * seconds)(random)));
    kill(child, SIGKILL);
    const Outcome run = finish(child);
    EXPECT_TRUE(run.exit_code == -SIGKILL || run.exit_code == 0) << run.exit_code << run.err;
    EXPECT_GE(stored("killed"), kept) << "a stored run was lost";
    kept = stored("killed");
    std::cout << "Killed with " << kept << " of 72 runs stored.\n";
  }
  const Outcome run = finish(start(next()));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(stored("killed"), 72u);
  EXPECT_TRUE(text_of(folder_ / "killed.csv") == text_of(folder_ / "whole.csv"));
}

// ---- the other task ----

TEST_F(BenchCli, FormulasAreWrittenAsTables) {
  const Outcome run = program("bench --task formulas --only centre_of_mass --rows 20,30 --noise 0,0.01 --emit tables");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "4 tables, and formulas.csv that says what made them, are in tables.\n");
  const std::vector<std::string> table = lines_of(text_of(folder_ / "tables/centre_of_mass-20-0.csv"));
  ASSERT_EQ(table.size(), 21u);
  EXPECT_EQ(table[0], "m1,m2,r1,r2,r");
  // As in tests/bench/formula_set_test.cpp.
  EXPECT_EQ(table[1], "3.60908537438094,1.3304908517858354,1.41460586234833,-0.23072943522370393,0.9714294720451662");
  const std::vector<std::string> index = lines_of(text_of(folder_ / "tables/formulas.csv"));
  ASSERT_EQ(index.size(), 5u);
  EXPECT_EQ(index[4], "centre_of_mass-30-0.01.csv,unseen,quotient,r,(m1*r1 + m2*r2)/(m1 + m2)");
}

TEST_F(BenchCli, TheTwoTasksDoNotShareTheirOptions) {
  const Outcome modules = program("bench --task formulas --modules NAU");
  EXPECT_EQ(modules.exit_code, 2);
  EXPECT_NE(modules.err.find("--task formulas takes --rows"), std::string::npos) << modules.err;
  const Outcome rows = program("bench --rows 200");
  EXPECT_EQ(rows.exit_code, 2);
  EXPECT_NE(rows.err.find("belong to --task formulas"), std::string::npos) << rows.err;
  EXPECT_EQ(program("bench --task formulas --only nothing").err,
            "nalm: there is no formula nothing in the set; data/formulas.csv and --emit DIR list them.\n");
  EXPECT_EQ(program("bench --task formulas --noise -1").exit_code, 2);
  EXPECT_EQ(program("bench --task formulas --emit tables --out results.csv").exit_code, 2);
  EXPECT_EQ(program("bench --task formulas --out no/such/folder.csv").exit_code, 2);
}

}  // namespace
}  // namespace nalm
