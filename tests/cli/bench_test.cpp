// nalm bench as users see it: output, files, exit codes. With the single module task here; what other tasks add is in
// task_test.cpp, and what remains when it is interrupted or killed in interrupted_test.cpp.
#include <gtest/gtest.h>
#include <pty.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/bench_fixture.hpp"
#include "report/page.hpp"
#include "tasks/single_module/problem.hpp"

namespace nalm::bench_test {
namespace {

using nlohmann::json;

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
      {"--emit tables", {"--emit", "--task formulas and --task feynman"}},
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
  if (test::sanitized) GTEST_SKIP() << trains_long;
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

}  // namespace
}  // namespace nalm::bench_test
