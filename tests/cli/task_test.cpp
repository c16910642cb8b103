// What other tasks than the single module task add to nalm bench and to everything that reads its results.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/program.hpp"
#include "experiment/store.hpp"
#include "report/page.hpp"

namespace nalm::task_test {
namespace {

using nlohmann::json;

class TaskCli : public ProgramTest {
 protected:
  // Four runs that learn nothing in so little time.
  static constexpr const char* small =
      "bench --task arithmetic-dataset --preset quick --operations sub --seeds 0..1 --iterations 20 --log-every 10";

  Outcome make_small(const std::string& more = "") { return program(std::string(small) + " --quiet " + more); }
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
  const Result<Store> store = Store::read((folder_ / "results").string());
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
  EXPECT_TRUE(contains(program("table results --metric threshold").out, "below 1e-05 %"));
  // Here too, the model is known whose weights are all off by an epsilon; in log space it is not.
  EXPECT_TRUE(contains(program("table results --epsilon 0.9").out, "2/2"));
  EXPECT_TRUE(contains(program("table results --epsilon 1e-5").out, "0/2"));
  expect_refused(program("table results --log-space"), {"no model that is almost right is known", "--limit"});
  EXPECT_EQ(program("table results --format csv -o table.csv --series series.csv").exit_code, 0);
  EXPECT_EQ(text_of(folder_ / "table.csv"), program("table results --format csv").out);
  EXPECT_FALSE(text_of(folder_ / "series.csv").empty());
}

TEST_F(TaskCli, ExportsARunAsAModel) {
  ASSERT_EQ(make_small("--out task").exit_code, 1);
  const Outcome run = program("export task --model NAU --seed 1 -o nau.json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "Written: nau.json (step ") && contains(run.out, ", a run that failed).")) << run.out;
  const json model = json::parse(text_of(folder_ / "nau.json"));
  ASSERT_EQ(model["layers"].size(), 2u);
  EXPECT_EQ(model["layers"][0]["inputs"], 100);
  EXPECT_EQ(model["layers"][1]["module"], "NAU");
  EXPECT_EQ(program("explain nau.json").exit_code, 0);
  expect_refused(program("export task"), {"task has several", "--model", "NAU, NAC+"});
  expect_refused(program("export task --model NMU"), {"no model \"NMU\"", "NAU, NAC+"});
  // Only the judged row of such a run is kept with its parameters.
  expect_refused(program("export task --model NAU --step 0"), {"were not stored", "judged"});
  ASSERT_EQ(
      program("bench --task formulas --only friction_force --rows 20 --noise 0 --learning-rate 0 --quiet --out fits")
          .exit_code,
      1);
  expect_refused(program("export fits"), {"is not one network"});
}

TEST_F(TaskCli, ReportsAndComparisonsAreThoseOfEveryTask) {
  ASSERT_EQ(make_small("--out task").exit_code, 1);
  expect_refused(program("compare task"), {"do not follow the task's settings", "--iterations"});
  ASSERT_EQ(program("bench --modules NAU --operations add --ranges 6 --seeds 0 --iterations 5 --quiet --out single")
                .exit_code,
            0);
  EXPECT_EQ(program("table single --metric success").exit_code, 0);
  const Outcome same = program("compare task task");
  EXPECT_EQ(same.exit_code, 0) << same.out << same.err;
  if (has_plotting_library()) {
    fs::remove(folder_ / "task" / "report.html");
    const Outcome report = program("report task");
    EXPECT_EQ(report.out, "Written: task/report.html\n") << report.err;
    EXPECT_TRUE(contains(text_of(folder_ / "task" / "report.html"), "nalm bench --task arithmetic-dataset"));
  }
}

// ---- formulas ------------------------------------------------------------------------------------------------------

TEST_F(TaskCli, FormulasAreWrittenAsTables) {
  const Outcome run = program("bench --task formulas --only centre_of_mass --rows 20,30 --noise 0,0.01 --emit tables");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "4 tables, and formulas.csv that says what made them, are in tables.\n");
  const std::vector<std::string> table = lines_of(text_of(folder_ / "tables/centre_of_mass-20-0.csv"));
  ASSERT_EQ(table.size(), 21u);
  EXPECT_EQ(table[0], "m1,m2,r1,r2,r");
  // As in tests/tasks/formula_set_test.cpp.
  EXPECT_EQ(table[1], "3.60908537438094,1.3304908517858354,1.41460586234833,-0.23072943522370393,0.9714294720451662");
  const std::vector<std::string> index = lines_of(text_of(folder_ / "tables/formulas.csv"));
  ASSERT_EQ(index.size(), 5u);
  EXPECT_EQ(index[4], "centre_of_mass-30-0.01.csv,unseen,quotient,r,(m1*r1 + m2*r2)/(m1 + m2)");
}

TEST_F(TaskCli, FormulasAreATaskLikeOthers) {
  if (test::sanitized) GTEST_SKIP() << trains_long;
  const Outcome run = program("bench --task formulas --preset quick --out found.csv");
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_TRUE(contains(run.out, "holds   all | !comparison | *noise 0: success 1, should be at least 0.9\n"))
      << run.out;
  // One line per fit, in the columns that docs/results/formulas.md explains.
  const std::vector<std::string> lines = lines_of(text_of(folder_ / "found.csv"));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0],
            "name,part,family,rows,noise,seed,recovered,verdict,seconds,held_out_error,largest_error,points,found,"
            "formula,remark,claim,false_law,noise_unit");
  EXPECT_TRUE(contains(lines[1], ",200,0,1,1,exact,")) << lines[1];
  EXPECT_TRUE(lines[1].ends_with(",law,0,deviation")) << lines[1];
  EXPECT_EQ(program("table found --format csv").out, text_of(folder_ / "found.csv"));
  EXPECT_EQ(program("bench --task formulas --preset quick --learning-rate 0 --quiet --out none").exit_code, 1);
  EXPECT_EQ(program("bench --task formulas --only nothing").err,
            "nalm: there is no formula nothing in the set; data/formulas.csv and --emit DIR list them.\n");
  EXPECT_EQ(program("bench --task formulas --out no/such/folder.csv").exit_code, 2);
}

TEST_F(TaskCli, TheFeynmanSetIsATaskLikeFormulas) {
  const Outcome run = program("bench --task feynman --only I.14.4 --rows 20,30 --noise 0,0.01 --emit tables");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "4 tables, and formulas.csv that says what made them, are in tables.\n");
  EXPECT_EQ(lines_of(text_of(folder_ / "tables/I.14.4-20-0.csv"))[0], "k_spring,x,U");
  const std::string nothing = "bench --task feynman --learning-rate 0 --quiet ";
  ASSERT_EQ(program(nothing + "--only I.14.4 --rows 20 --noise 0 --seeds 1 --out one.csv").exit_code, 1);
  EXPECT_EQ(lines_of(text_of(folder_ / "one.csv"))[0],
            "name,part,family,rows,noise,seed,recovered,verdict,seconds,held_out_error,rms_error,points,found,formula,"
            "remark,claim,false_law,noise_unit");
  EXPECT_TRUE(contains(program("compare one").err, "do not follow the task's settings"));
  expect_refused(program("bench --task feynman --part unseen"), {"--part must be arithmetic, functions or all"});
  expect_refused(program("bench --task feynman --only friction_force"), {"data/feynman.csv"});
  if (test::sanitized) return;  // 810,000 rows take a minute there
  // What was published is about the whole set, and stands beside our rates.
  ASSERT_EQ(program(nothing + "--rows 10000 --noise 0.1 --seeds 1 --out whole").exit_code, 1);
  const std::string table = program("table whole").out;
  EXPECT_TRUE(contains(table, "  0/81  ")) << table;
  EXPECT_TRUE(contains(table, "60.5 PhySO, with units, 22.3 RILS-ROLS, 20.0 gplearn")) << table;
  EXPECT_FALSE(contains(program("table one").out, "published %")) << table;
}

// ---- list ----------------------------------------------------------------------------------------------------------

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
}  // namespace nalm::task_test
