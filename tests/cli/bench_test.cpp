// nalm bench and everything that reads its results, as users see them: output, files, exit codes, and what remains when
// it is interrupted or killed. With the single module task here; what other tasks add is in task_test.cpp.
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
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "cli/program.hpp"
#include "experiment/store.hpp"
#include "report/page.hpp"
#include "tasks/single_module/problem.hpp"

namespace nalm {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

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

  Result<Store> store(const std::string& name) { return Store::read((folder_ / name).string()); }

  std::size_t stored(const std::string& name) {
    const Result<Store> there = store(name);
    if (!there) return 0;
    const Result<std::vector<RunId>> missing = there->missing();
    return missing ? there->run_count() - missing->size() : 0;
  }

  std::vector<FinishedRun> runs_in(const std::string& name) {
    std::vector<FinishedRun> runs;
    const Result<Store> there = store(name);
    EXPECT_TRUE(there.ok()) << complaint(there);
    if (!there) return runs;
    const Status read = there->for_each_run([&](const FinishedRun& run) -> Status {
      runs.push_back(run);
      return Done{};
    });
    EXPECT_TRUE(read.ok()) << complaint(read);
    return runs;
  }

  // The same results with other values.
  void copy(const std::string& from, const std::string& to, const std::function<void(FinishedRun&)>& change) {
    FinishedRuns runs{runs_in(from), {}};
    for (FinishedRun& run : runs.runs) change(run);
    Result<Store> made = Store::create((folder_ / to).string(), store(from)->info());
    ASSERT_TRUE(made.ok()) << complaint(made);
    const Status added = made->add(runs, 1);
    ASSERT_TRUE(added.ok()) << complaint(added);
  }

  // What the runs of a folder found, in words.
  std::vector<std::string> found_in(const std::string& name) {
    std::vector<std::string> notes;
    for (const FinishedRun& run : runs_in(name)) notes.push_back(run.record.note);
    return notes;
  }

  void sql(const std::string& name, const char* statement) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open((folder_ / name / "runs.sqlite").c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, statement, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
  }
};

// ---- bench ---------------------------------------------------------------------------------------------------------

TEST_F(BenchCli, RunsAGridAndWritesStoreReportAndTables) {
  const Outcome run = program(std::string(small) + " --out results --series series.csv --threads 2");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.err, "single-module, preset primer: 6 runs, 3 cells of 2 seeds; results go to results.\n"))
      << run.err;
  EXPECT_TRUE(contains(run.err, "Not learned by design, left out: NMU add")) << run.err;
  EXPECT_TRUE(contains(run.out, "Multiplication: runs solved\nrange   NMU\nU[1,2)  2/2\n")) << run.out;
  // Nothing was published for so few iterations.
  EXPECT_TRUE(contains(run.out, "Next: nalm table results")) << run.out;
  EXPECT_FALSE(contains(run.out, "nalm compare")) << run.out;
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
    EXPECT_TRUE(event["module"].is_string() && event["seed"].is_number() && event["values"]["test_mse"].is_number())
        << line;
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
      {"--settings nonsense", {"\"nonsense\"", "6 U[1,2)"}},
      {"--ranges '[3,4)'", {"U[3,4)", "--test-range", "6 U[1,2)"}},
      {"--preset nonsense",
       {"\"nonsense\"",
        "primer, quick, beyond-primer, beyond-primer-10, redundancy-10-inalu, redundancy-10-nau, redundancy-100-nau"}},
      {"--seeds x", {"\"x\" is not a seed", "0..24"}},
      {"--modules NAU --operations mul", {"none of these modules can learn", "NAU mul"}},
      {"--learning-rate -1", {"--learning-rate must be from 0"}},
      {"--learning-rate nan", {"--learning-rate must be from 0"}},
      {"--recipe '{\"clip\": 1}'", {"\"clip\" is not known there", "clip_norm"}},
      {"--recipe nonsense", {"the changes to the recipe cannot be used"}},
      {"--recipe '{\"restarts\": {\"count\": 2, \"every\": 10}}'", {"restarts.every", "1000"}},
      {"--log-every 0", {"--log-every"}},
      {"--inputs 1", {"--inputs must be a whole number from 2"}},
      {"--threads -1", {"--threads"}},
      {"--quiet --json-lines", {"exclude"}},
      {"--operations div --ranges '[1,2)' --test-range '[-1,1)'", {"[-1, 1)", "touches 0"}},
      {"--rows 200", {"--rows does not belong to the task single-module but to formulas"}},
      {"--emit tables", {"--emit", "--task formulas"}},
      {"--nonsense", {"--nonsense", "--help"}},
      {"--task juggling", {"--task", "arithmetic-dataset"}},
      {"--task arithmetic-dataset --preset nonsense", {"no preset \"nonsense\"", "quick, full"}},
      {"--task arithmetic-dataset --modules NUA", {"no model \"NUA\"", "NAU, NAC+"}},
      {"--task arithmetic-dataset --operations plus", {"no operation \"plus\"", "add, sub"}},
      {"--task arithmetic-dataset --settings far", {"no setting \"far\"", "U[1,2)"}},
      {"--task arithmetic-dataset --ranges 6", {"no setting \"6\"", "U[1,2)"}},
      {"--task arithmetic-dataset --inputs 3", {"--inputs does not belong", "but to single-module"}},
      {"--task arithmetic-dataset --rows 20", {"--rows does not belong", "but to formulas"}},
      {"--task arithmetic-dataset --learning-rate -1", {"--learning-rate must be from 0"}},
      {"--task arithmetic-dataset --seeds x", {"\"x\" is not a seed"}},
      {"--task calcnet --recipe '{\"batch\": 3}'", {"--recipe changes how networks are trained", "leave it away"}},
      {"--task formulas --settings far", {"--task formulas takes", "--rows"}},
      {"--task formulas --operations sum", {"--task formulas takes", "--rows"}},
      {"--task formulas --modules NAU", {"there is no formula NAU in the set"}},
      {"--task formulas --inputs 3", {"--inputs does not belong", "but to single-module"}},
      {"--task formulas --noise -1", {"--noise must be numbers from 0"}},
      {"--task formulas --part none", {"--part must be tune, unseen or all"}},
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
  const Result<Store> changed = store("changed");
  ASSERT_TRUE(changed.ok());
  EXPECT_TRUE(contains(changed->info().command, "--recipe '{\"optimiser\": {\"learning_rate\": 0.01}}'"));
  EXPECT_EQ(json::parse(changed->info().plan.recipe), json::parse(R"({"optimiser":{"learning_rate":0.01}})"));
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
  const Result<Store> made = store("new");
  ASSERT_TRUE(made.ok()) << complaint(made);
  ASSERT_EQ(made->cells().size(), 2u);
  EXPECT_EQ(name_of(problem_of(made->cells()[0]).range.test), "U[-9,-8)+[8,9)");
  EXPECT_EQ(name_of(problem_of(made->cells()[1]).range.test), "U[2,6)");
  EXPECT_EQ(made->info().plan.seeds, (std::vector<std::uint32_t>{3, 11}));
  EXPECT_EQ(runs_in("new").front().record.steps, (std::vector<long>{0, 7, 14, 20}));
  EXPECT_EQ(made->cells().front().recipe.training.optimiser.learning_rate(), 0.01);
  // What made it can be typed again.
  const std::string command = made->info().command;
  const Outcome again = program(command.substr(5) + " --out again");
  EXPECT_EQ(again.exit_code, 0) << command << "\n" << again.err;
  EXPECT_EQ(program("table new --series new.csv").exit_code, 0);
  EXPECT_EQ(program("table again --series again.csv").exit_code, 0);
  EXPECT_TRUE(text_of(folder_ / "new.csv") == text_of(folder_ / "again.csv"));

  run = program("bench --preset redundancy-10-nau --ranges 6 --seeds 0 --iterations 3 --out wide");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Result<Store> wide = store("wide");
  ASSERT_EQ(wide->cells().size(), 2u);
  EXPECT_EQ(problem_of(wide->cells().front()).inputs, 10);
}

TEST_F(BenchCli, ThePresetQuickAnswersByItsChecks) {
  const Outcome run = program("bench --preset quick --out quick");
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_TRUE(contains(run.out, "holds   NAU | add | U[1,2): success 1, should be at least 1\n")) << run.out;
  const Outcome nothing = program("bench --preset quick --learning-rate 0 --out nothing");
  EXPECT_EQ(nothing.exit_code, 1) << nothing.out << nothing.err;
  EXPECT_TRUE(contains(nothing.out, "FAILS   NAU | add | U[1,2): success 0, should be at least 1\n")) << nothing.out;
}

// results.csv: the folder results, and its table beside it.
TEST_F(BenchCli, ATableCanBeNamedInsteadOfAFolder) {
  make_small("--out results.csv");
  EXPECT_EQ(stored("results"), 6u);
  EXPECT_EQ(text_of(folder_ / "results.csv"), program("table results --format csv").out);
  expect_refused(program(std::string(small) + " --out results.csv"), {"results already holds results"});
  expect_refused(program(std::string(small) + " --out no/such/folder.csv"), {"no/such/folder.csv"});
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
  ASSERT_EQ(program("bench --modules NMU --ranges 6 --seeds 0..4 --out few --quiet").exit_code, 0);
  const Outcome few = program("compare few --all");
  EXPECT_EQ(few.exit_code, 0) << few.out << few.err;
  EXPECT_TRUE(contains(few.out, "5/5")) << few.out;
  EXPECT_TRUE(contains(few.out, "It agrees with what was published.")) << few.out;
}

// One cell of the paper, seed for seed, and the same with a count that the paper does not have.
TEST_F(BenchCli, ComparisonsGiveTheirAnswerAsExitCode) {
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
  for (const FinishedRun& stored_run : runs_in("nalm-results")) {
    if (stored_run.id.cell == 1 && stored_run.id.seed == 0) {
      EXPECT_EQ(model["layers"][0]["parameters"]["W"][0][0].get<double>(), stored_run.record.parameters[0][0]);
    }
  }
  // What is there only once need not be named.
  EXPECT_EQ(program("export --module nmu --seed 1").out, text_of(folder_ / "nmu.json"));

  expect_refused(program("export --operation add --module NMU"), {"no operation \"add\"", "mul"});
  expect_refused(program("export"), {"several", "--module", "NAU, NMU"});
  expect_refused(program("export --module NMU --operation mul --range '[3,4)' --seed 1"), {"[3,4)", "U[1,2)"});
  expect_refused(program("export --module NMU --operation mul --range '[1,2)' --seed 7"), {"no run", "seed 7"});
  expect_refused(program("export --module NMU --operation mul --range '[1,2)' --step 500"),
                 {"step 500 was not logged"});
  expect_refused(program("export --module NUA --operation mul --range '[1,2)'"), {"no module \"NUA\"", "NAU, NMU"});
}

TEST_F(BenchCli, TrainAnswersWhetherTheTaskIsSolved) {
  const Outcome solved = program("train --module NMU --operation mul --range '[1,2)' --iterations 4000 -o nmu.json");
  EXPECT_EQ(solved.exit_code, 0) << solved.out << solved.err;
  EXPECT_TRUE(contains(solved.out, "NMU learns mul on U[1,2), tested on U[2,6) (seed 0).")) << solved.out;
  EXPECT_TRUE(contains(solved.out, "The formula the weights spell: y = x1*x2\n")) << solved.out;
  EXPECT_TRUE(contains(solved.out, "\nSolved: ")) << solved.out;
  EXPECT_TRUE(contains(program("explain nmu.json").out, "x1*x2"));
  for (const char* arguments : {"--iterations 10", "--iterations 0", "--iterations 10 --inputs 12 --seed 4294967295",
                                "--iterations 10 --learning-rate 0"}) {
    const Outcome failed = program(std::string("train --module NMU --operation mul --range 6 ") + arguments);
    EXPECT_EQ(failed.exit_code, 1) << failed.out << failed.err;
    EXPECT_TRUE(contains(failed.out, "Not solved: ")) << failed.out;
  }
  for (const char* arguments :
       {"--module NUA", "--module NAU --operation mul", "--module NAU --operation add,sub", "--module NAU --range 1,2",
        "--module NAU --range '[3,4)'", "--module NAU --seed 4294967296", "--module NAU --learning-rate -1"}) {
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
  make_small("--out results --series whole.csv");
  const Outcome whole = program("bench --resume results");
  EXPECT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_TRUE(contains(whole.err, "6 runs are there already.\n")) << whole.err;
  EXPECT_TRUE(contains(whole.out, "0 runs trained")) << whole.out;
  for (const char* more : {"--modules NAU", "--seeds 3", "--out other", "--iterations 7", "--preset primer",
                           "--inputs 2", "--task single-module", "--settings 6", "--learning-rate 0", "--rows 3"})
    expect_refused(program(std::string("bench --resume results ") + more),
                   {"--resume", "leave the other options away"});
  sql("results",
      "DELETE FROM series WHERE run IN (SELECT id FROM runs WHERE seed = 1); DELETE FROM runs WHERE seed = 1");
  EXPECT_TRUE(contains(program("table results").out, "3 runs are missing: the task is not finished."));
  const Outcome rest = program("bench --resume results --series rest.csv");
  EXPECT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_TRUE(contains(rest.err, "3 runs are there already.\n")) << rest.err;
  EXPECT_TRUE(contains(rest.out, "3 runs trained")) << rest.out;
  EXPECT_TRUE(text_of(folder_ / "rest.csv") == text_of(folder_ / "whole.csv"));
  sql("results", "UPDATE about SET value = '0.0.0' WHERE name = 'version'");
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
    EXPECT_TRUE(contains(program("table " + name).out, "the task is not finished"));
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
  const auto next = [&] { return store("killed") ? resume : arguments; };
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

// A fit is given up in the middle: what was found before stays, and the rest is found later, bit for bit.
TEST_F(BenchCli, FormulasAreInterruptedAndResumedToo) {
  std::vector<std::string> arguments{"bench",     "--task", "formulas",
                                     "--rows",    "200",    "--noise",
                                     "0,0.1",     "--only", "friction_force,kinetic_energy_3d,parallel_resistors",
                                     "--out",     "whole",  "--series",
                                     "whole.csv", "--quiet"};
  ASSERT_EQ(finish(start(arguments, "")).exit_code, 0) << text_of(folder_ / ".err");
  arguments[10] = "cut";
  arguments[12] = "cut.csv";
  const pid_t child = start(arguments, "");
  const Clock::time_point begin = Clock::now();
  while (stored("cut") == 0 && Clock::now() - begin < std::chrono::seconds(60))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  kill(child, SIGINT);
  const Outcome run = finish(child);
  EXPECT_EQ(run.exit_code, 130) << run.err;
  const std::size_t kept = stored("cut");
  EXPECT_GT(kept, 0u);
  EXPECT_LT(kept, 6u);
  EXPECT_TRUE(contains(run.err, "Interrupted: " + std::to_string(kept) + " of 6 runs are stored")) << run.err;
  EXPECT_FALSE(fs::exists(folder_ / "cut.csv"));
  const Outcome rest = finish(start({"bench", "--resume", "cut", "--series", "cut.csv", "--quiet"}, ""));
  EXPECT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_TRUE(text_of(folder_ / "cut.csv") == text_of(folder_ / "whole.csv"));
  EXPECT_EQ(found_in("cut"), found_in("whole"));
}

}  // namespace
}  // namespace nalm
