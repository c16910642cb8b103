// nalm fit and nalm predict: what people see, exit codes, exports, bad input, Ctrl-C.
#include <cmath>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/random.hpp"
#include "cli/program.hpp"

namespace nalm::fit_test {
namespace {

class FitCli : public ProgramTest {
 protected:
  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }

  // y = a*b + c, with columns a, b, c and y.
  void write_table(const std::string& name, int rows, double noise = 0) {
    Xoshiro random(7);
    std::ofstream file(folder_ / name);
    file << "a,b,c,y\n";
    file.precision(17);
    for (int k = 0; k < rows; ++k) {
      const double a = random.between(1, 5), b = random.between(-3, 3), c = random.between(1, 4);
      file << a << "," << b << "," << c << "," << a * b + c + noise * random.gaussian() << "\n";
    }
  }
};

TEST_F(FitCli, PrintsTheFormulaAndWhyToTrustIt) {
  write_table("data.csv", 150);
  const Outcome run = program("fit data.csv --target y");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(run.out.starts_with("y = a*b + c\n")) << run.out;
  for (const char* part :
       {"gives every row to rounding", "held out", "outside", "restarts that converged spell this formula",
        "The printed formula is the model", "--seed 1"}) {
    EXPECT_TRUE(contains(run.out, part)) << part << "\n" << run.out;
  }
}

TEST_F(FitCli, ExportsStandAloneOnStandardOutput) {
  write_table("data.csv", 100);
  EXPECT_EQ(program("fit data.csv --target y --format text").out, "y = a*b + c\n");
  EXPECT_EQ(program("fit data.csv --target y --format spreadsheet").out, "=A2*B2+C2\n");
  EXPECT_TRUE(contains(program("fit data.csv --target y --format python").out, "def y(a, b, c):"));
  EXPECT_TRUE(contains(program("fit data.csv --target y --format c").out, "double y(double a, double b, double c)"));
  expect_refused(program("fit data.csv --target y --format french --quiet"), {"french", "latex"});
}

TEST_F(FitCli, ConstantsHaveUnits) {
  const std::string header = "m1,m2,r,F\n";
  std::string rows;
  for (int k = 1; k <= 60; ++k) {
    const double a = 1 + k % 7, b = 1 + k % 5 + 0.01 * k, r = 1 + 0.1 * (k % 11);
    rows += std::to_string(a) + "," + std::to_string(b) + "," + std::to_string(r) + "," +
            std::to_string(6.674 * a * b / (r * r)) + "\n";
  }
  write("plain.csv", header + rows);
  write("units.csv", header + "kg,kg,m,N\n" + rows);
  const Outcome with_option = program("fit plain.csv --target F --units \"m1:kg,m2:kg,r:m,F:N\"");
  EXPECT_EQ(with_option.exit_code, 0) << with_option.err;
  EXPECT_TRUE(contains(with_option.out, "6.674 N*m^2/kg^2, ")) << with_option.out;
  EXPECT_TRUE(contains(with_option.out, "--units m1:kg,m2:kg,r:m,F:N --seed 1")) << with_option.out;
  const Outcome with_row = program("fit units.csv --target F --format json -o model.json");
  EXPECT_TRUE(contains(with_row.out, "6.674 N*m^2/kg^2, ")) << with_row.out;
  // The row of units is none of data anywhere.
  EXPECT_EQ(program("predict model.json units.csv").out, program("predict model.json plain.csv").out);
  EXPECT_EQ(program("fit units.csv --target F --format spreadsheet --quiet").out, "=6.674*A3*B3/C3^2\n");
  ASSERT_EQ(program("report model.json -o page.html").exit_code, 0);
  EXPECT_TRUE(contains(text_of(folder_ / "page.html"), "\"unit\":\"N*m^2/kg^2\""));
}

TEST_F(FitCli, UnitsThatCannotBeReadAreNamed) {
  write_table("data.csv", 60);
  expect_refused(program("fit data.csv --target y --quiet --units a:m,b:s,c:furlong,y:m"),
                 {"data.csv", "\"c\"", "\"furlong\"", "write units such as kg"});
  expect_refused(program("fit data.csv --target y --quiet --units a:m"), {"\"b\"", "b:1"});
  expect_refused(program("fit data.csv --target y --quiet --units metres"), {"--units", "column:unit"});
  write("row.csv", "a,y\nm,furlong\n1,2\n2,4\n");
  expect_refused(program("fit row.csv --target y --quiet"), {"row.csv", "\"y\"", "\"furlong\""});
}

TEST_F(FitCli, AModelFilePredictsByTheNamesOfColumns) {
  write_table("data.csv", 100);
  ASSERT_EQ(program("fit data.csv --target y --format json -o model.json").exit_code, 0);
  const nlohmann::json model = nlohmann::json::parse(text_of(folder_ / "model.json"));
  EXPECT_EQ(model["formula"], "a*b + c");
  EXPECT_EQ(model["fit"]["found"], true);
  write("new.csv", "c,b,other,a\n1,2,9,3\n10,-1,9,4\n");
  const Outcome run = program("predict model.json new.csv");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "y\n7\n6\n");
  EXPECT_EQ(program("predict model.json new.csv --append").out, "c,b,other,a,y\n1,2,9,3,7\n10,-1,9,4,6\n");
  // A name that a spreadsheet would take for a formula is found again by the next program only if it stays.
  write("named.csv", "c,b,=cmd|x,a\n1,2,9,3\n");
  EXPECT_EQ(program("predict model.json named.csv --append").out, "c,b,=cmd|x,a,y\n1,2,9,3,7\n");
  EXPECT_TRUE(contains(program("predict model.json data.csv").err, "root mean squared error"));
  write("less.csv", "a,b\n1,2\n");
  expect_refused(program("predict model.json less.csv"), {"less.csv", "\"c\"", "a, b"});
  expect_refused(program("predict '" NALM_SOURCE_DIR "/examples/momentum.json' new.csv"), {"no formula"});
}

TEST_F(FitCli, SaysNoWhereNothingFitsAndWritesNothing) {
  Xoshiro random(3);
  std::ofstream file(folder_ / "noise.csv");
  file << "a,b,y\n";
  for (int k = 0; k < 80; ++k) file << random.unit() << "," << random.unit() << "," << random.gaussian() << "\n";
  file.close();
  write("kept.json", "something better");
  const Outcome run = program("fit noise.csv --target y --format json -o kept.json");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_TRUE(run.out.starts_with("No formula found")) << run.out;
  EXPECT_EQ(text_of(folder_ / "kept.json"), "something better");
}

TEST_F(FitCli, JudgesAFormulaOfTheUsers) {
  write_table("data.csv", 100, 0.05);
  const Outcome right = program("fit data.csv --target y --score 'a*b + c'");
  EXPECT_EQ(right.exit_code, 0) << right.out;
  const Outcome wrong = program("fit data.csv --target y --score 'a*b'");
  EXPECT_EQ(wrong.exit_code, 1) << wrong.out;
  expect_refused(program("fit data.csv --target y --score 'a*d' --quiet"), {"\"d\"", "a, b, c"});
  expect_refused(program("fit data.csv --target y --score 'a*' --quiet"), {"--score", "column 3"});
}

TEST_F(FitCli, TrainsOnlyTheStackThatIsNamed) {
  Xoshiro random(5);
  std::ofstream file(folder_ / "sum.csv");
  file.precision(17);
  file << "a,b,y\n";
  for (int k = 0; k < 80; ++k) {
    const double a = random.between(1, 3), b = random.between(1, 3);
    file << a << "," << b << "," << a - b << "\n";
  }
  file.close();
  expect_refused(program("fit sum.csv --target y --model NAX:1 --quiet"), {"NAX"});
  if (test::sanitized) GTEST_SKIP() << trains_long;
  const Outcome run = program("fit sum.csv --target y --model NAU:1");
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_TRUE(run.out.starts_with("y = a - b\n")) << run.out;
}

// Either layer may learn a minus, and two of them are none.
TEST_F(FitCli, TheFormulaOfAStackHasPlainSigns) {
  if (test::sanitized) GTEST_SKIP() << trains_long;
  Xoshiro random(6);
  std::ofstream file(folder_ / "product.csv");
  file.precision(17);
  file << "a,b,c,y\n";
  for (int k = 0; k < 80; ++k) {
    const double a = random.between(1, 3), b = random.between(1, 3), c = random.between(1, 3);
    file << a << "," << b << "," << c << "," << a * b - c << "\n";
  }
  file.close();
  for (const char* seed : {"1", "2", "3"}) {
    const Outcome run = program(std::string("fit product.csv --target y --model NMU:2,NAU:1 --seed ") + seed);
    EXPECT_TRUE(run.out.starts_with("y = a*b - c\n")) << run.out;
  }
}

// Both its iterations and its formulas take long.
TEST_F(FitCli, TheTimeLimitHoldsForALargeStackToo) {
  write_table("data.csv", 200);
  const std::string stack = test::sanitized ? "NMU:30,NAU:1" : "NMU:300,NAU:1";
  const Outcome run = program("fit data.csv --target y --time-limit 0.5 --model " + stack, "timeout -s KILL 60");
  EXPECT_TRUE(run.exit_code == 0 || run.exit_code == 1) << run.exit_code << run.err;
  EXPECT_TRUE(contains(run.out, "The search was cut short")) << run.out << run.err;
  expect_refused(
      program("fit data.csv --target y --model NMU:1000,NAU:1"),
      {"data.csv: the stack NMU:1000,NAU:1 spells a formula of 3000 terms", "at most 1000", "fewer outputs"});
}

TEST_F(FitCli, BadInputGetsOneSentence) {
  write_table("data.csv", 50);
  expect_refused(program("fit data.csv --target z --quiet"), {"\"z\"", "a, b, c, y"});
  expect_refused(program("fit missing.csv --target y --quiet"), {"missing.csv"});
  expect_refused(program("fit data.csv --quiet"), {"--target"});
  expect_refused(program("fit data.csv --target y --inputs a,q --quiet"), {"\"q\""});
  expect_refused(program("fit data.csv --target y -o /no/such/folder/x --quiet"), {"/no/such/folder/x"});
  // A column that is left alone may hold words; one that is asked for may not.
  write("text.csv", "a,b,y\n1,2,3\n1,two,3\n");
  expect_refused(program("fit text.csv --target y --inputs a,b --quiet"), {"\"b\"", "two"});
  std::string rows;
  for (int k = 0; k < 20; ++k) rows += std::to_string(k) + "," + std::to_string(k * k % 7) + ",5\n";
  write("constant.csv", "a,b,y\n" + rows);
  expect_refused(program("fit constant.csv --target y --quiet"), {"\"y\" is 5 in every row"});
}

TEST_F(FitCli, SameSeedSameTextForAnyNumberOfThreads) {
  write_table("data.csv", test::sanitized ? 30 : 120, 0.05);
  const auto without_time = [](std::string text) { return text.substr(0, text.rfind("\n\n")); };
  const std::string one = without_time(program("fit data.csv --target y --threads 1 --seed 3").out);
  EXPECT_EQ(without_time(program("fit data.csv --target y --threads 3 --seed 3").out), one);
  EXPECT_EQ(without_time(program("fit data.csv --target y --seed 3", "NALM_SIMD=scalar").out), one);
}

TEST_F(FitCli, RowsWithoutAPredictionAreCounted) {
  std::string table = "a,b,y\n";
  for (int k = 1; k <= 40; ++k) table += fmt::format("{},{},{:.17g}\n", k, k * k % 17 + 1, k / (k * k % 17 + 1.0));
  write("data.csv", table);
  ASSERT_EQ(program("fit data.csv --target y --format json -o ratio.json --quiet").exit_code, 0);
  write("new.csv", "a,b,y\n1,2,0.5\n1,0,3\n6,3,3\n2,0,1\n");
  const Outcome run = program("predict ratio.json new.csv");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "y\n0.5\ninf\n2\ninf\n");
  EXPECT_EQ(program("predict ratio.json new.csv --mark-invalid").out,
            "y,invalid\n0.5,\ninf,not finite\n2,\ninf,not finite\n");
  EXPECT_TRUE(contains(run.err, "no finite value in 2 of 4 rows; the first is row 2.")) << run.err;
  EXPECT_TRUE(contains(run.err, "root mean squared error 0.707 on 2 rows")) << run.err;
}

TEST_F(FitCli, WhatIsNeededIsNotOverwritten) {
  write_table("data.csv", 60, 0);
  const std::string before = text_of(folder_ / "data.csv");
  expect_refused(program("fit data.csv --target y --format python -o data.csv"), {"would replace the table"});
  expect_refused(program("fit data.csv --target y --format python -o ./data.csv"), {"would replace the table"});
  EXPECT_EQ(text_of(folder_ / "data.csv"), before);
  ASSERT_EQ(program("bench --modules NAU --ranges 4 --seeds 0 --iterations 1 --quiet --out runs").exit_code, 0);
  const std::string store = text_of(folder_ / "runs" / "runs.sqlite");
  for (const char* command : {"table runs -o runs/runs.sqlite", "table runs --series runs/runs.sqlite",
                              "fit data.csv --target y --format c -o runs/runs.sqlite"})
    expect_refused(program(command), {"runs/runs.sqlite", "results of a benchmark"});
  EXPECT_EQ(text_of(folder_ / "runs" / "runs.sqlite"), store);
}

TEST_F(FitCli, ASpreadsheetsCellsAreThoseOfTheTable) {
  std::string table = "unused,a,y,b\n";
  for (int k = 1; k <= 30; ++k) table += fmt::format("{},{},{},{}\n", k % 7, k, k * (k * k % 17 + 1), k * k % 17 + 1);
  write("cells.csv", table);
  EXPECT_EQ(program("fit cells.csv --target y --inputs a,b --format spreadsheet --quiet").out, "=B2*D2\n");
  EXPECT_EQ(program("fit cells.csv --target a --inputs y,b --format spreadsheet --quiet").out, "=C2/D2\n");
  write("bare.csv", table.substr(table.find('\n') + 1));
  EXPECT_EQ(program("fit bare.csv --target x3 --inputs x2,x4 --format spreadsheet --quiet").out, "=B1*D1\n");
  EXPECT_TRUE(contains(program("fit bare.csv --target x3 --inputs x2,x4").err, "its columns are x1 to x4"));
}

TEST_F(FitCli, WhatCannotBeComputedIsSaidBeforeAnythingIs) {
  write_table("data.csv", 60, 0);
  expect_refused(program("fit data.csv --target y --format foo"), {"no formula format \"foo\"", "latex", "json"});
  std::string deep;
  for (int k = 0; k < 3000; ++k) deep += "sqrt(";
  expect_refused(program("fit data.csv --target y --score '" + deep + "a" + std::string(3000, ')') + "'"),
                 {"3001 numbers, names and operations", "at most 500"});
  write("huge.csv", "a,y\n1e200,2\n2e200,3\n3e200,5\n4e200,4\n5e200,1\n6e200,7\n7e200,2\n8e200,1\n9e200,3\n1e201,1\n");
  expect_refused(program("fit huge.csv --target y"), {"column \"a\" has numbers around", "power of 10"});
  write("latin.csv", "L\xe4nge,y\n1,2\n2,4\n3,6\n");
  expect_refused(program("fit latin.csv --target y"), {"line 1", "column 1 is not UTF-8"});
}

// ---- tables as they come -------------------------------------------------------------------------------------------

TEST_F(FitCli, TextAndMissingValuesAreNoted) {
  std::string table = "kind,when,a,b,y\n";
  for (int k = 1; k <= 40; ++k)
    table += std::string(k % 2 ? "oak" : "fir") + ",2020-01-" + (k < 10 ? "0" : "") + std::to_string(k % 28 + 1) + "," +
             std::to_string(k) + "," + (k == 9 ? "NA" : std::to_string(k * k % 17 + 1)) + "," +
             std::to_string(2 * k * (k * k % 17 + 1)) + "\n";
  write("real.csv", table);
  const Outcome run = program("fit real.csv --target y");
  EXPECT_TRUE(run.out.starts_with("y = 2*a*b\n")) << run.out << run.err;
  for (const char* part : {"\"kind\" has text such as \"oak\"; --by kind", "dates such as 2020-01-02",
                           "a row of 40 has a missing value (row 9, column \"b\")"})
    EXPECT_TRUE(contains(run.out, part)) << part << run.out;
}

TEST_F(FitCli, SeveralTargetsComeOneAfterTheOther) {
  std::string table = "a,b,y,z\n";
  for (int k = 1; k <= 40; ++k) {
    const int a = k % 9 + 1, b = k * k % 13 + 1;
    table += std::to_string(a) + "," + std::to_string(b) + "," + std::to_string(a * b) + "," +
             std::to_string(a + 3 * b) + "\n";
  }
  write("two.csv", table);
  const Outcome run = program("fit two.csv --target y,z");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "y = a*b\n")) << run.out;
  EXPECT_TRUE(contains(run.out, "z = a + 3*b\n")) << run.out;
  expect_refused(program("fit two.csv --target y,z --format json -o model.json"), {"{target}"});
  EXPECT_EQ(program("fit two.csv --target y,z --format text -o '{target}.txt' --quiet").exit_code, 0);
  EXPECT_EQ(text_of(folder_ / "y.txt"), "y = a*b\n");
  EXPECT_EQ(text_of(folder_ / "z.txt"), "z = a + 3*b\n");
  expect_refused(program("fit two.csv --target y,q --quiet"), {"\"q\""});
}

TEST_F(FitCli, AGivenFormGetsItsConstants) {
  const Outcome run = program("fit '" NALM_SOURCE_DIR
                              "/examples/puromycin.csv' --target rate --inputs conc --given 'Vmax*conc/(K + conc)'");
  EXPECT_TRUE(contains(run.out, "Vmax = ")) << run.out << run.err;
  EXPECT_TRUE(contains(run.out, "  K = ")) << run.out;
  EXPECT_TRUE(contains(run.out, "--given 'Vmax*conc/(K + conc)'")) << run.out;
  write_table("data.csv", 60);
  expect_refused(program("fit data.csv --target y --given 'k*a +'"), {"--given"});
  expect_refused(program("fit data.csv --target y --given 'k*a' --score 'a'"), {"--score", "--given"});
  expect_refused(program("fit data.csv --target y --given 'k*a' --format json"), {"--given has none"});
}

TEST_F(FitCli, PredictionsHaveIntervalsAndSayWhatLiesOutside) {
  write_table("data.csv", 100, 0.2);
  ASSERT_LE(program("fit data.csv --target y --format json -o model.json").exit_code, 1);
  write("new.csv", "a,b,c,when\n8.30,1,2,monday\n2,1,3,\"so, so\"\n");
  const Outcome run = program("predict model.json new.csv --append --intervals --mark-outside");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::vector<std::string> lines = lines_of(run.out);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], "a,b,c,when,y,y low,y high,outside");
  EXPECT_TRUE(lines[1].starts_with("8.30,1,2,monday,")) << lines[1];
  EXPECT_TRUE(lines[1].ends_with(",a")) << lines[1];
  EXPECT_TRUE(lines[2].starts_with("2,1,3,\"so, so\",")) << lines[2];
  EXPECT_TRUE(lines[2].ends_with(",no")) << lines[2];
  EXPECT_TRUE(contains(run.err,
                       "1 of 2 rows lie outside of the data that the formula was fitted to; the first is row 1, "
                       "where a = 8.3 is above"))
      << run.err;
}

TEST_F(FitCli, AModelFileIsExportedWithoutASearch) {
  write_table("data.csv", 100);
  ASSERT_EQ(program("fit data.csv --target y --format json -o model.json").exit_code, 0);
  EXPECT_EQ(program("export model.json --format text").out, "y = a*b + c\n");
  const Outcome numpy = program("export model.json --format numpy");
  EXPECT_TRUE(contains(numpy.out, "import numpy as np")) << numpy.out << numpy.err;
  EXPECT_TRUE(contains(numpy.out, "a = np.asarray(a, dtype=float)")) << numpy.out;
  EXPECT_TRUE(contains(numpy.out, "return a*b + c")) << numpy.out;
  expect_refused(program("export model.json"), {"--format", "numpy"});
  expect_refused(program("export model.json --format french"), {"french"});
  expect_refused(program("export model.json --format c --operation mul"), {"one model"});
}

TEST_F(FitCli, CtrlCEndsWithTheBestSoFar) {
  write_table("data.csv", 3000, 0.3);
  const std::string search = "fit data.csv --target y --threads 1 --quiet > got & sleep ";
  const Outcome run = program(search + (test::sanitized ? "5" : "0.6") + "; kill -INT $!; wait $!");
  const std::string got = text_of(folder_ / "got");
  EXPECT_TRUE(run.exit_code == 130 || run.exit_code == 0) << run.exit_code << run.err;  // 0: it was faster
  EXPECT_TRUE(contains(got, "The best") || contains(got, "y = ") || contains(run.err, "stopped")) << got << run.err;
}

}  // namespace
}  // namespace nalm::fit_test
