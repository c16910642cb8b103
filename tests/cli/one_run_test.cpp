// nalm export, train and figure: one run, or none.
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/bench_fixture.hpp"
#include "report/page.hpp"

namespace nalm::one_run_test {
namespace {

using nlohmann::json;

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

}  // namespace
}  // namespace nalm::one_run_test
