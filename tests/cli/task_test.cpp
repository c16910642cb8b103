// nalm bench --task, and everything that reads the results of a task, as users see them.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/program.hpp"
#include "report/page.hpp"
#include "tasks/task_store.hpp"

namespace nalm {
namespace {

using nlohmann::json;

class TaskCli : public ProgramTest {
 protected:
  // Four runs that learn nothing in so little time.
  static constexpr const char* small =
      "bench --task arithmetic-dataset --preset quick --operations sub --seeds 0..1 --iterations 20 --log-every 10";

  Outcome make_small(const std::string& more = "") { return program(std::string(small) + " --quiet " + more); }

  void sql(const std::string& folder, const char* statement) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open((folder_ / folder / "runs.sqlite").c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, statement, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
  }
};

TEST_F(TaskCli, RunsATaskAndAnswersByItsChecks) {
  const Outcome run = program(std::string(small) + " --out results --series series.csv --threads 2");
  EXPECT_EQ(run.exit_code, 1) << run.err << "a check should fail";
  EXPECT_TRUE(
      contains(run.err, "arithmetic-dataset, preset quick: 4 runs, 2 cells of 2 seeds; results go to results.\n"))
      << run.err;
  EXPECT_TRUE(contains(run.out, "NAU    sub        U[1,2)      0/2")) << run.out;
  EXPECT_TRUE(contains(run.out, "FAILS   NAU | sub | U[1,2): success 0, should be at least ")) << run.out;
  EXPECT_TRUE(contains(run.out, "Next: nalm table results")) << run.out;
  const std::string series = text_of(folder_ / "series.csv");
  EXPECT_TRUE(series.starts_with("model,operation,setting,seed,step,measure,value\nNAU,sub,\"U[1,2)\",0,0,")) << series;
  if (has_plotting_library()) {
    EXPECT_TRUE(text_of(folder_ / "results" / "report.html").starts_with("<!doctype html>"));
  }
  // What made it can be typed again.
  const Result<TaskStore> store = TaskStore::read((folder_ / "results").string());
  ASSERT_TRUE(store.ok()) << complaint(store);
  EXPECT_EQ(program(store->info().command.substr(5) + " --quiet --out again --series again.csv").exit_code, 1);
  EXPECT_TRUE(series == text_of(folder_ / "again.csv"));
}

TEST_F(TaskCli, ChecksOfCellsThatWereNotAskedForAreLeftOut) {
  const Outcome run = program(std::string(small) + " --modules NAC+ --out results");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_TRUE(contains(run.out, "FAILS   NAC+")) << run.out;
  EXPECT_FALSE(contains(run.out, "NAU |")) << run.out;
}

TEST_F(TaskCli, PrintsEventsAsJsonLines) {
  const Outcome run = program(std::string(small) + " --json-lines --out results");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.err, "");
  std::map<std::string, int> events;
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);) {
    const json event = json::parse(line);
    ++events[event["event"]];
    if (event["event"] == "run") {
      EXPECT_TRUE(event["values"]["test"].is_number() && !event["success"].get<bool>()) << line;
    }
    if (event["event"] == "check") {
      EXPECT_FALSE(event["passed"].get<bool>()) << line;
    }
  }
  EXPECT_EQ(events["start"], 1);
  EXPECT_EQ(events["run"], 4);
  EXPECT_EQ(events["check"], 2);
  EXPECT_EQ(events["end"], 1);
}

TEST_F(TaskCli, WhatIsNotThereIsAnsweredWithWhatIs) {
  const std::pair<const char*, std::vector<std::string>> cases[] = {
      {"--task juggling", {"--task", "arithmetic-dataset"}},
      {"--task arithmetic-dataset --preset nonsense", {"no preset \"nonsense\"", "quick, full"}},
      {"--task arithmetic-dataset --modules NUA", {"no model \"NUA\"", "NAU, NAC+"}},
      {"--task arithmetic-dataset --operations plus", {"no operation \"plus\"", "add, sub"}},
      {"--task arithmetic-dataset --settings far", {"no setting \"far\"", "U[1,2)"}},
      {"--task arithmetic-dataset --ranges 6", {"--ranges", "--settings"}},
      {"--task arithmetic-dataset --inputs 3", {"--inputs", "single module task"}},
      {"--task arithmetic-dataset --recipe '{}'", {"--recipe", "single module task"}},
      {"--task arithmetic-dataset --rows 20", {"--rows", "--task formulas"}},
      {"--task arithmetic-dataset --learning-rate -1", {"--learning-rate must be from 0"}},
      {"--task arithmetic-dataset --seeds x", {"\"x\" is not a seed"}},
      {"--settings far", {"--settings", "nalm list --tasks", "--ranges"}},
      {"--task formulas --settings far", {"--task formulas takes"}},
  };
  for (const auto& [arguments, parts] : cases) {
    SCOPED_TRACE(arguments);
    expect_refused(program(std::string("bench ") + arguments), parts);
    EXPECT_FALSE(fs::exists(folder_ / "nalm-results"));
  }
}

TEST_F(TaskCli, ResumesWhateverTheFolderHolds) {
  ASSERT_EQ(make_small("--out whole --series whole.csv").exit_code, 1);
  ASSERT_EQ(make_small("--out cut").exit_code, 1);
  expect_refused(program(std::string(small) + " --out cut"), {"cut already holds results", "--resume cut"});
  sql("cut", "DELETE FROM series WHERE run IN (SELECT id FROM runs WHERE seed = 1); DELETE FROM runs WHERE seed = 1");
  EXPECT_TRUE(contains(program("table cut").out, "2 runs are missing: the task is not finished."));
  const Outcome rest = program("bench --resume cut --series cut.csv");
  EXPECT_EQ(rest.exit_code, 1) << rest.err;
  EXPECT_TRUE(contains(rest.err, "2 runs are there already.\n")) << rest.err;
  EXPECT_TRUE(contains(rest.out, "2 runs trained")) << rest.out;
  EXPECT_TRUE(text_of(folder_ / "cut.csv") == text_of(folder_ / "whole.csv"));
  for (const char* more : {"--task arithmetic-dataset", "--settings far", "--seeds 3", "--learning-rate 0"})
    expect_refused(program(std::string("bench --resume cut ") + more), {"--resume", "leave the other options away"});
  sql("cut", "UPDATE about SET value = '0.0.0' WHERE name = 'version'");
  expect_refused(program("bench --resume cut"), {"begun by version 0.0.0", "--out"});
}

TEST_F(TaskCli, TablesComeInEveryFormatAndByEveryMetric) {
  ASSERT_EQ(make_small("--out results").exit_code, 1);
  EXPECT_TRUE(contains(program("table results").out, "NAC+   sub        U[1,2)      0/2"));
  EXPECT_TRUE(contains(program("table results --format csv").out, "\nNAC+,sub,\"U[1,2)\",2,"));
  EXPECT_TRUE(contains(program("table results --format markdown").out, "| NAC+ | sub | U[1,2) | 0/2 |"));
  EXPECT_TRUE(contains(program("table results --format latex").out, "\\begin{tabular}{lll"));
  EXPECT_EQ(json::parse(program("table results --format json").out)["cells"].size(), 2u);
  for (const char* metric : {"all", "success", "mad", "trask", "pre-regularisation"})
    EXPECT_EQ(program(std::string("table results --metric ") + metric).exit_code, 0) << metric;
  // Everything is below 1e9.
  EXPECT_TRUE(contains(program("table results --metric threshold --limit 1e9").out, "2/2"));
  expect_refused(program("table results --metric threshold"), {"--limit 1e-5"});
  expect_refused(program("table results --limit 1"), {"--metric threshold"});
  expect_refused(program("table results --metric nonsense"), {"--metric"});
  expect_refused(program("table results --epsilon 0.1"), {"--epsilon", "single module task"});
  EXPECT_EQ(program("table results --format csv -o table.csv --series series.csv").exit_code, 0);
  EXPECT_EQ(text_of(folder_ / "table.csv"), program("table results --format csv").out);
  EXPECT_FALSE(text_of(folder_ / "series.csv").empty());
}

TEST_F(TaskCli, TheTwoKindsOfResultsAreToldApart) {
  ASSERT_EQ(make_small("--out task").exit_code, 1);
  ASSERT_EQ(program("bench --modules NAU --operations add --ranges 6 --seeds 0 --iterations 5 --quiet --out single")
                .exit_code,
            0);
  expect_refused(program("table single --metric success"), {"single holds results of the single module task"});
  expect_refused(program("export task --module NAU --operation add --range 6"),
                 {"task holds results of the task arithmetic-dataset"});
  expect_refused(program("compare task"), {"do not follow the task's settings", "--iterations"});
  expect_refused(program("report task --mape 0.1"), {"--mape", "single module task"});
  if (has_plotting_library()) {
    fs::remove(folder_ / "task" / "report.html");
    const Outcome report = program("report task");
    EXPECT_EQ(report.out, "Written: task/report.html\n") << report.err;
    EXPECT_TRUE(contains(text_of(folder_ / "task" / "report.html"), "nalm bench --task arithmetic-dataset"));
  }
}

TEST_F(TaskCli, ListsTasks) {
  const Outcome list = program("list --tasks");
  EXPECT_EQ(list.exit_code, 0) << list.err;
  const Outcome as_json = program("list --tasks --json");
  EXPECT_EQ(as_json.exit_code, 0) << as_json.err;
  const json all = json::parse(as_json.out);
  ASSERT_EQ(all.size(), all_tasks().size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    EXPECT_EQ(all[k]["name"], all_tasks()[k]->name);
    EXPECT_GT(all[k]["presets"][0]["cells"], 0);
    EXPECT_FALSE(all[k]["checks"].empty());
    EXPECT_TRUE(contains("\n" + list.out, "\n" + std::string(all_tasks()[k]->name))) << list.out;
  }
  const Outcome one = program("list arithmetic-dataset");
  EXPECT_EQ(one.exit_code, 0) << one.err;
  for (const char* part :
       {"Madsen", "\npresets", "\ndifferences", "\npublished\n", "\nchecks", "--operations", "add, sub"})
    EXPECT_TRUE(contains(one.out, part)) << part << "\n" << one.out;
  EXPECT_EQ(program("list --tasks arithmetic-dataset").out, one.out);
  EXPECT_TRUE(contains(program("list NMU").out, "NMU: "));
  expect_refused(program("list --tasks NMU"), {"no task \"NMU\"", "arithmetic-dataset"});
}

}  // namespace
}  // namespace nalm
