// nalm export, train and figure: one run, or none.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
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

TEST_F(BenchCli, TrainTakesAStack) {
  // Seed 0: deterministic, as every run.
  const std::string command = "train NAU:2,NMU:1 --operation mul --iterations 4000 --log-every 2000";
  const Outcome run = program(command + " -o train.json");
  ASSERT_LT(run.exit_code, 2) << run.err;
  EXPECT_TRUE(contains(run.out, "NAU:2,NMU:1 learns mul on U[1,2), tested on U[2,6) (seed 0).")) << run.out;
  EXPECT_TRUE(contains(run.out, "layer 1: W = (") && contains(run.out, ")  layer 2: W = (")) << run.out;
  EXPECT_TRUE(contains(run.out, "The formula the weights spell: y = ")) << run.out;
  EXPECT_EQ(program(command).out, run.out);
  const json layers = json::parse(text_of(folder_ / "train.json"))["layers"];
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[0]["parameters"]["W"].size(), 2u);
  EXPECT_EQ(layers[1]["module"], "NMU");
  // Gates of every layer.
  const Outcome gated = program("train NAU:2,NALU:1 --iterations 10");
  EXPECT_TRUE(contains(gated.out, "gate g = (")) << gated.out;
  EXPECT_TRUE(contains(gated.out, "Why: not converged, the validation error still changes.")) << gated.out;
  // A stack of one layer is that module.
  ASSERT_LT(program("train NMU --operation mul --iterations 1000 -o module.json").exit_code, 2);
  ASSERT_LT(program("train NMU:1 --operation mul --iterations 1000 -o layer.json").exit_code, 2);
  EXPECT_EQ(text_of(folder_ / "module.json"), text_of(folder_ / "layer.json"));

  expect_refused(program("train NAU,NMU"), {"NAU:2,NMU:1", "nalm bench --modules NAU,NMU"});
  expect_refused(program("train NAU:2,NMU"), {"layer \"NMU\"", "NAU:2"});
  expect_refused(program("train NAU:2,NMU:2"), {"has 2 outputs", "NMU:1"});
  expect_refused(program("train NUA:2,NMU:1"), {"\"NUA\"", "Did you mean NAU?"});
}

// The same cell, for many seeds: what train shows, bench stores.
TEST_F(BenchCli, BenchTakesAStackToo) {
  ASSERT_EQ(program("bench --modules NAU:2,NMU:1 --operations mul --ranges 6 --seeds 0..2 --iterations 2000").exit_code,
            0);
  EXPECT_TRUE(contains(program("table").out, "NAU:2,NMU:1"));
  ASSERT_EQ(program("export --module NAU:2,NMU:1 --seed 1 -o bench.json").exit_code, 0);
  ASSERT_LT(program("train NAU:2,NMU:1 --operation mul --seed 1 --iterations 2000 -o train.json").exit_code, 2);
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

TEST_F(BenchCli, DrawsModulesModelsAndFiguresForPrint) {
  EXPECT_EQ(program("figure NMU").out, "Written: NMU.svg\n");
  const std::string nmu = text_of(folder_ / "NMU.svg");
  for (const char* part :
       {"<svg ", "prefers-color-scheme: dark", ">factor<", "ends at 0 or\u00a01", "Neural Multiplication Unit"})
    EXPECT_TRUE(contains(nmu, part)) << part;
  std::ofstream(folder_ / "m.json") << R"({"format":"nalm-model","version":1,"layers":[{"module":"NAU","inputs":2,)"
                                       R"("outputs":1,"parameters":{"W":[[0.25],[-0.75]]}}]})";
  EXPECT_EQ(program("figure nau --model m.json -o nau.svg").exit_code, 0);
  for (const char* number : {">0.25<", ">\u22120.75<"})
    EXPECT_TRUE(contains(text_of(folder_ / "nau.svg"), number)) << number;
  EXPECT_EQ(program("figure --model m.json -o all.html").exit_code, 0);
  EXPECT_TRUE(contains(text_of(folder_ / "all.html"), ">0.25<"));
  expect_refused(program("figure NMU --model m.json"), {"none of its layers is a NMU"});
  // In print a figure has the width that was asked for, and letters keep their size.
  EXPECT_EQ(program("figure singularity --width 84mm -o s.svg").exit_code, 0);
  EXPECT_TRUE(contains(text_of(folder_ / "s.svg"), "width=\"84mm\""));
  EXPECT_TRUE(contains(text_of(folder_ / "s.svg"), "solution"));
  EXPECT_EQ(program("figure idea").exit_code, 0);
  EXPECT_EQ(program("figure task").exit_code, 0);
  expect_refused(program("figure NMU --width 84miles"), {"84miles", "84mm"});
  expect_refused(program("figure NMU --data"), {"has no numbers"});
  expect_refused(program("figure NMU -o nmu.txt"), {"nmu.txt", ".svg, .pdf, .png or .html"});
}

TEST_F(BenchCli, WritesTheFiguresOfABenchmarkForPrint) {
  make_small();
  const Outcome run = program("report --figures figures --width 84mm");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "figures in figures")) << run.out;
  std::size_t rates = 0, curves = 0;
  for (const auto& entry : fs::directory_iterator(folder_ / "figures")) {
    const std::string text = text_of(entry.path());
    EXPECT_TRUE(text.starts_with("<svg ") && contains(text, "width=\"84mm\"")) << entry.path();
    rates += contains(text, "Success rate");
    curves += contains(text, "Learning curves") && contains(text, "test_mse");
  }
  EXPECT_GT(rates, 0u);
  EXPECT_GT(curves, 0u);
  expect_refused(program("report nowhere --figures f"), {"nowhere"});
}

// Without the converter, one sentence says what to install.
TEST_F(BenchCli, PdfNeedsAConverter) {
  expect_refused(program("figure NMU -o nmu.pdf", "PATH=/nowhere"), {"rsvg-convert", "librsvg2-bin"});
  EXPECT_FALSE(fs::exists(folder_ / "nmu.pdf"));
  if (std::system("command -v rsvg-convert > /dev/null 2>&1") != 0) GTEST_SKIP() << "no rsvg-convert";
  EXPECT_EQ(program("figure NMU --width 84mm -o nmu.pdf").exit_code, 0);
  EXPECT_TRUE(text_of(folder_ / "nmu.pdf").starts_with("%PDF-"));
  EXPECT_EQ(program("figure NMU --format png -o nmu.png").exit_code, 0);
  EXPECT_TRUE(text_of(folder_ / "nmu.png").starts_with("\x89PNG"));
  EXPECT_FALSE(fs::exists(folder_ / "nmu.pdf.part"));
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
