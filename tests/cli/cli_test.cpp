// The program as its users see it: what it prints, and its exit codes.
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/program.hpp"

namespace nalm::cli_test {
namespace {

void expect_refused(const Outcome& run, const std::string& part) {
  nalm::expect_refused(run, std::vector<std::string>{part});
}

class Cli : public ProgramTest {
 protected:
  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }

  void write_nau() {
    write("nau.json", R"({"format":"nalm-model","version":1,"columns":["unit price","b"],"layers":[)"
                      R"({"module":"NAU","inputs":2,"outputs":1,"parameters":{"W":[[1],[-0.1]]}}]})");
  }
};

// ---- help ----------------------------------------------------------------------------------------------------------

TEST_F(Cli, VersionNamesTheSimdTarget) {
  const Outcome run = program("--version");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_TRUE(run.out.starts_with("nalm ")) << run.out;
  EXPECT_TRUE(contains(run.out, "SIMD target ")) << run.out;
}

TEST_F(Cli, HelpListsCommandsAndExitCodes) {
  const Outcome run = program("--help");
  EXPECT_EQ(run.exit_code, 0);
  for (const char* part : {"list", "check", "eval", "explain", "Exit codes", "NALM_SIMD"}) {
    EXPECT_TRUE(contains(run.out, part)) << part;
  }
}

TEST_F(Cli, EveryCommandHasAnExample) {
  for (const std::string command : {"list", "check", "eval", "explain"}) {
    const Outcome run = program(command + " --help");
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_TRUE(contains(run.out, "Example:\n  nalm " + command)) << run.out;
  }
}

TEST_F(Cli, BadUseIsRefused) {
  for (const char* arguments : {"nonsense", "list --nonsense", "eval", "eval model.json", "check --cases 0",
                                "eval a b --precision half", "explain m.json --input two"}) {
    const Outcome run = program(arguments);
    expect_refused(run, "--help");
  }
}

TEST_F(Cli, OutputThatCannotBeWrittenIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP();
  const std::string command = std::string("'" NALM_PROGRAM "' list > /dev/full 2> /dev/null");
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 2);
}

// A large table is written past the buffer, and then there is nothing left to flush: only ferror(stdout) tells.
TEST_F(Cli, LargeTableThatCannotBeWrittenIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP();
  write_nau();
  std::string rows;
  for (int k = 0; k < 20000; ++k) rows += "1,2\n";
  write("data.csv", rows);
  const std::string command =
      "cd '" + folder_.string() + "' && '" NALM_PROGRAM "' eval nau.json data.csv > /dev/full 2> /dev/null";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 2);
}

// ---- list ----------------------------------------------------------------------------------------------------------

TEST_F(Cli, ListNamesEveryModule) {
  const Outcome run = program("list");
  EXPECT_EQ(run.exit_code, 0);
  for (const char* name : {"NAC+", "NAC*", "NALU", "G-NALU", "iNALU", "NAU", "NMU", "NPU", "RealNPU", "NLRL", "NSR"}) {
    EXPECT_TRUE(contains(run.out, std::string("\n") + name + " ")) << name;
  }
}

TEST_F(Cli, ListTellsEverythingAboutAModule) {
  const Outcome run = program("list nmu");
  EXPECT_EQ(run.exit_code, 0);
  for (const char* part : {"NMU: Neural Multiplication Unit", "formula", "Madsen", "uniform in (0.25, 0.75)",
                           "kept in [0, 1]", "differences from the paper", "unusual inputs"}) {
    EXPECT_TRUE(contains(run.out, part)) << part;
  }
}

TEST_F(Cli, ListAsJsonHasEveryModule) {
  const Outcome run = program("list --json");
  EXPECT_EQ(run.exit_code, 0);
  const nlohmann::json json = nlohmann::json::parse(run.out);
  EXPECT_GE(json.size(), 11U);
  for (const nlohmann::json& module : json) {
    for (const char* key : {"name", "title", "formula", "learned", "citation", "operations", "parameters", "options",
                            "training", "differences", "unusual_inputs"}) {
      EXPECT_TRUE(module.contains(key)) << key;
    }
    EXPECT_FALSE(module["parameters"].empty());
  }
}

TEST_F(Cli, UnknownModuleListsTheKnownOnes) {
  for (const char* command : {"list NUA", "check NUA"}) {
    expect_refused(program(command), "\"NUA\" is not a module; the modules are NAC+, NAC*, NALU");
  }
}

// ---- check ---------------------------------------------------------------------------------------------------------

TEST_F(Cli, CheckAgreesAndSaysSo) {
  const Outcome run = program("check NMU NPU --cases 4 --seed 3");
  EXPECT_EQ(run.exit_code, 0) << run.out;
  EXPECT_TRUE(contains(run.out, "2 of 2 modules agree to 1e-06 (seed 3).\n")) << run.out;
}

TEST_F(Cli, CheckAnswersNoWhenTheToleranceIsImpossible) {
  const Outcome run = program("check NALU --cases 4 --tolerance 1e-30");
  EXPECT_EQ(run.exit_code, 1) << run.out;
  EXPECT_TRUE(contains(run.out, "0 of 1 modules agree")) << run.out;
  EXPECT_TRUE(contains(run.out, "FAILED at ")) << run.out;
}

// ---- eval ----------------------------------------------------------------------------------------------------------

TEST_F(Cli, EvalPredictsWithAndWithoutHeader) {
  write_nau();
  write("header.csv", "a,b\n2,1\n-3,0.5\n");
  write("plain.csv", "2,1\n-3,0.5\n");
  for (const char* data : {"header.csv", "plain.csv"}) {
    const Outcome run = program(std::string("eval nau.json ") + data + " --precision double");
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.out, "y1\n1.8999999999999999\n-3.0499999999999998\n");
  }
}

TEST_F(Cli, EvalIsFloatUnlessAskedForDouble) {
  write_nau();
  write("data.csv", "2,1\n");
  const Outcome run = program("eval nau.json data.csv");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out, "y1\n1.89999998\n");
}

TEST_F(Cli, EvalReadsStandardInput) {
  write_nau();
  write("data.csv", "2,0\n");
  EXPECT_EQ(program("eval nau.json - < data.csv").out, "y1\n2\n");
}

TEST_F(Cli, EvalIgnoresTargets) {
  write_nau();
  write("data.csv", "a,b,t\n2,0,9\n");
  EXPECT_EQ(program("eval nau.json data.csv").out, "y1\n2\n");
}

TEST_F(Cli, EvalWritesOneColumnPerOutput) {
  write("two.json", R"({"format":"nalm-model","version":1,"layers":[)"
                    R"({"module":"NAU","inputs":1,"outputs":2,"parameters":{"W":[[1,-1]]}}]})");
  write("data.csv", "x\n2\n3\n");
  EXPECT_EQ(program("eval two.json data.csv").out, "y1,y2\n2,-2\n3,-3\n");
}

// Dividing by 0 gives a RealNPU a number, because it adds a little to its input.
TEST_F(Cli, EvalMarksRowsWithoutAValidResult) {
  write("ratio.json", R"({"format":"nalm-model","version":1,"layers":[)"
                      R"({"module":"RealNPU","inputs":2,"outputs":1,"parameters":{"W_re":[[1],[-1]],"g":[1,1]}}]})");
  write("data.csv", "a,b\n6,3\n1,0\nnan,1\n");
  const Outcome plain = program("eval ratio.json data.csv"),
                marked = program("eval ratio.json data.csv --mark-invalid");
  EXPECT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_EQ(plain.err, "");
  EXPECT_FALSE(contains(plain.out, "inf")) << plain.out;
  EXPECT_TRUE(marked.out.starts_with("y1,invalid\n")) << marked.out;
  EXPECT_TRUE(contains(marked.out, ",\n8388604.5,pole\nnan,not finite\n")) << marked.out;
  EXPECT_TRUE(contains(marked.err, "2 of 3 rows have no valid result: 1 not finite, 1 where")) << marked.err;
  expect_refused(program("eval ratio.json data.csv --mark-invalid --gradients"), "leave one of them out");
  EXPECT_TRUE(contains(program("list RealNPU").out, "--mark-invalid"));
  EXPECT_FALSE(contains(program("list NMU").out, "--mark-invalid"));
}

TEST_F(Cli, EvalGradientsAreThoseOfTheMeanSquaredError) {
  write_nau();
  write("data.csv", "a,b,t\n2,1,0\n1,0,3\n");
  const Outcome run = program("eval nau.json data.csv --gradients --precision double");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const nlohmann::json json = nlohmann::json::parse(run.out);
  // Errors 1.9 and -2.
  EXPECT_NEAR(json["mse"].get<double>(), (1.9 * 1.9 + 4) / 2, 1e-14);
  EXPECT_NEAR(json["layers"][0]["W"][0][0].get<double>(), 1.9 * 2 - 2 * 1, 1e-14);
  EXPECT_NEAR(json["layers"][0]["W"][1][0].get<double>(), 1.9, 1e-14);
}

TEST_F(Cli, NanIsNanInTablesAndNullInJson) {
  write_nau();
  write("data.csv", "a,b,t\nnan,1,0\n1,0,3\n");
  EXPECT_EQ(program("eval nau.json data.csv").out, "y1\nnan\n1\n");
  const Outcome run = program("eval nau.json data.csv --gradients");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const nlohmann::json json = nlohmann::json::parse(run.out);
  EXPECT_TRUE(json["mse"].is_null());
  EXPECT_TRUE(json["layers"][0]["W"][0][0].is_null());
}

TEST_F(Cli, EvalRefusesTablesThatDoNotFit) {
  write_nau();
  write("one.csv", "a\n1\n");
  write("two.csv", "a,b\n1,2\n");
  write("four.csv", "a,b,c,d\n1,2,3,4\n");
  write("text.csv", "a,b\n1,hello\n");
  expect_refused(program("eval nau.json one.csv"), "one.csv: the table has 1 columns, but the model needs 2 inputs");
  expect_refused(program("eval nau.json four.csv"), "four.csv: the table has 4 columns");
  expect_refused(program("eval nau.json two.csv --gradients"), "needs 2 inputs and then 1 targets");
  expect_refused(program("eval nau.json text.csv"), "text.csv: line 2, column 2");
}

TEST_F(Cli, MissingAndDamagedFilesAreNamed) {
  write_nau();
  write("data.csv", "1,2\n");
  write("broken.json", R"({"format":"nalm-model","version":1,"la)");
  expect_refused(program("eval none.json data.csv"), "none.json: ");
  expect_refused(program("eval nau.json none.csv"), "none.csv");
  expect_refused(program("eval broken.json data.csv"), "broken.json: the file ends in the middle");
  expect_refused(program("explain none.json"), "none.json: ");
}

// ---- SIMD targets --------------------------------------------------------------------------------------------------

TEST_F(Cli, UnknownSimdTargetIsRefused) {
  expect_refused(program("list", "NALM_SIMD=nonsense"), "NALM_SIMD: \"nonsense\" is not a SIMD target");
}

TEST_F(Cli, EverySimdTargetGivesTheSameBytes) {
  write("nalu.json", R"({"format":"nalm-model","version":1,"layers":[{"module":"NALU","inputs":2,"outputs":2,)"
                     R"("parameters":{"W_hat":[[0.3,-1.2],[2.1,0.7]],"M_hat":[[0.1,0.9],[-2,1.5]],)"
                     R"("G":[[0.2,-0.5],[0.7,0.1]]}},{"module":"NPU","inputs":2,"outputs":1,)"
                     R"("parameters":{"W_re":[[0.7],[-1.2]],"W_im":[[0.3],[0.2]],"g":[0.4,0.9]}}]})");
  std::ostringstream rows;
  for (int k = 0; k < 301; ++k) rows << 0.37 * k - 50 << ',' << 3.1 - 0.021 * k << ',' << k % 7 << '\n';
  write("data.csv", rows.str());
  for (const std::string options : {"", "--precision double", "--gradients", "--gradients --precision double"}) {
    const Outcome standard = program("eval nalu.json data.csv " + options);
    ASSERT_EQ(standard.exit_code, 0) << standard.err;
    for (const std::string target : {"scalar", "sse4", "avx2", "avx512"}) {
      const Outcome run = program("eval nalu.json data.csv " + options, "NALM_SIMD=" + target);
      if (run.exit_code == 2 && target != "scalar") continue;  // not on this machine
      EXPECT_EQ(run.exit_code, 0) << run.err;
      EXPECT_TRUE(run.out == standard.out) << target << ' ' << options;
    }
  }
}

// ---- explain -------------------------------------------------------------------------------------------------------

// The worked example of the survey's Appendix C.
TEST_F(Cli, ExplainShowsTheSurveysExample) {
  write("nalu.json", R"({"format":"nalm-model","version":1,"layers":[{"module":"NALU","inputs":3,"outputs":1,)"
                     R"("parameters":{"W_hat":[[20],[-20],[0]],"M_hat":[[40],[40],[40]],"G":[[20],[0],[0]]}}]})");
  const Outcome run = program("explain nalu.json --input 2,3,4");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  for (const char* part : {
           "  W_hat, learned: sign and selection\n      = (20, -20, 0)\n",
           "  W = tanh(W_hat)*sigmoid(M_hat)\n      [1] tanh(20)*sigmoid(40) = 1\n      [2] tanh(-20)*sigmoid(40) = "
           "-1\n      [3] tanh(0)*sigmoid(40) = 0\n",
           "  summative path a = sum_i x_i*W_io\n      = 2*1 + 3*(-1) + 4*0 = -1\n",
           "  multiplicative path m = exp(sum_i W_io*logarithm_i)\n      = exp(1*0.693147 + (-1)*1.09861 + 0*1.38629) "
           "= "
           "0.666667\n",
           "  gate g = sigmoid(sum_i x_i*G_io)\n      = sigmoid(2*20 + 3*0 + 4*0) = 1\n",
           "  y = g*a + (1 - g)*m\n      = 1*(-1) + (1 - 1)*0.666667 = -1\n",
           "  output = -1\n",
           "     = x1 - x2   at this input",
       }) {
    EXPECT_TRUE(contains(run.out, part)) << part << "\nnot in\n" << run.out;
  }
  // What is learned stands before what is made of it; what only backward needs is left out.
  EXPECT_LT(run.out.find("W_hat, learned"), run.out.find("  W = tanh(W_hat)*sigmoid(M_hat)\n"));
  EXPECT_FALSE(contains(run.out, "  tanh = ")) << run.out;
}

TEST_F(Cli, ExplainWritesALesson) {
  write("nmu.json", R"({"format":"nalm-model","version":1,"layers":[{"module":"NMU","inputs":3,"outputs":1,)"
                    R"("parameters":{"W":[[1],[1],[0]]}}]})");
  EXPECT_EQ(program("explain nmu.json --input 2,3,4 --html lesson.html").exit_code, 0);
  const std::string page = text_of(folder_ / "lesson.html");
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  for (const char* part : {"<svg ", "2·3·1 = <strong>6</strong>", "1·2 + 1 − 1 = <strong>2</strong>", "y1 = x1·x2"})
    EXPECT_TRUE(contains(page, part)) << part;
  EXPECT_FALSE(contains(page, "product before"));
  EXPECT_EQ(program("explain NALU --html module.html").exit_code, 0);
  EXPECT_TRUE(contains(text_of(folder_ / "module.html"), "<svg "));
}

TEST_F(Cli, ExplainSpellsTheFormulaWithColumnNames) {
  write_nau();
  const Outcome run = program("explain nau.json --literal");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.out,
                       "The formula the weights spell (not all of them are discrete):\n"
                       "  y1 = \"unit price\" - 0.1*b\n"
                       "  note: W = -0.1 is not a discrete value\n"))
      << run.out;
}

TEST_F(Cli, ExplainTakesNegativeInputs) {
  write_nau();
  for (const char* arguments : {"explain nau.json --input -2,-1", "explain nau.json --input=-2,-1"}) {
    const Outcome run = program(arguments);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_TRUE(contains(run.out, "  output = -1.9\n")) << run.out;
  }
}

// The formula is as deep as the layer has inputs: whoever calls itself once per level runs out of stack.
TEST_F(Cli, ExplainSurvivesManyInputs) {
  constexpr int inputs = 60000;
  std::string weights = "[1]", values = "1";
  for (int k = 1; k < inputs; ++k) weights += ",[1]", values += ",1";
  write("wide.json", R"({"format":"nalm-model","version":1,"layers":[{"module":"NAU","inputs":)" +
                         std::to_string(inputs) + R"(,"outputs":1,"parameters":{"W":[)" + weights + "]}}]}");
  EXPECT_EQ(program("explain wide.json --input " + values).exit_code, 0);
}

TEST_F(Cli, ExplainRefusesTheWrongNumberOfInputs) {
  write_nau();
  expect_refused(program("explain nau.json --input 1,2,3"), "the model has 2 inputs, but 3 numbers were given");
}

}  // namespace
}  // namespace nalm::cli_test
