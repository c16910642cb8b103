// What the program prints may go to a full disk, to nobody, or to a terminal; files of others stay theirs.
#include <sys/stat.h>

#include "cli/program.hpp"

namespace nalm::output_test {
namespace {

class Output : public ProgramTest {
 protected:
  Output() {
    std::ofstream table(folder_ / "ok.csv"), inputs(folder_ / "inputs.csv");
    table << "a,b,y\n";
    inputs << "a,b\n";
    for (int k = 1; k <= 30; ++k) {
      const int a = 1 + k % 7, b = 2 + k % 5;
      table << a << "," << b << "," << a * b << "\n";
      inputs << a << "," << b << "\n";
    }
  }
  void make_results() {
    ASSERT_EQ(program(std::string(bench) + " --out r --quiet").exit_code, 0);
    ASSERT_EQ(program("fit ok.csv --target y --format json -o m.json --quiet").exit_code, 0);
    ASSERT_EQ(program("export r -o e.json").exit_code, 0);
  }
  // The exit code with other streams; what it says goes to err.
  Outcome redirected(const std::string& arguments, const std::string& streams) {
    fs::remove_all(folder_ / "r2");
    std::ofstream(folder_ / "script") << "cd '" << folder_.string() << "'\n{ '" NALM_PROGRAM "' " << arguments << " "
                                      << streams << "; } 2> err > out\necho $? > code\n";
    EXPECT_EQ(std::system(("bash '" + (folder_ / "script").string() + "'").c_str()), 0);
    return {std::stoi("0" + text_of(folder_ / "code")), text_of(folder_ / "out"), text_of(folder_ / "err")};
  }

  static constexpr const char* bench = "bench --modules NAU --operations add --ranges 6 --seeds 0..1 --iterations 1000";
};

TEST_F(Output, WhatCannotBePrintedIsNoSuccess) {
  make_results();
  for (const std::string& command :
       {std::string("--version"), std::string("--help"), std::string("list"), std::string("list --json"),
        std::string("list --tasks"), std::string("check NAU --cases 1"), std::string("eval e.json inputs.csv"),
        std::string("explain e.json"), std::string("fit ok.csv --target y"), std::string("predict m.json ok.csv"),
        std::string("train --module NAU --iterations 1000"), std::string("calc 1+2"), std::string("table r"),
        bench + std::string(" --out r2 --json-lines"), bench + std::string(" --out r2"), std::string("compare r r"),
        std::string("figure"), std::string("export r"), std::string("report r")}) {
    if (test::sanitized && command == "list --tasks") continue;  // it simulates thresholds for ten seconds
    for (const char* nowhere : {">/dev/full", ">&-"}) {
      const Outcome run = redirected(command, nowhere);
      EXPECT_EQ(run.exit_code, 2) << command << nowhere << run.err;
      EXPECT_TRUE(contains(run.err, "nalm: the output could not be written (")) << command << nowhere << run.err;
    }
    // No place is left for a sentence, but nothing aborts.
    for (const char* nowhere : {"2>/dev/full", "2>&-"}) EXPECT_LE(redirected(command, nowhere).exit_code, 2) << command;
    EXPECT_LE(redirected(command, "| head -c 1 >/dev/null; (exit ${PIPESTATUS[0]})").exit_code, 2) << command;
  }
}

TEST_F(Output, AnErrorWithoutAPlaceForItIsAnErrorStill) {
  for (const char* nowhere : {"2>/dev/full", "2>&-", ">&- 2>&-"})
    EXPECT_EQ(redirected("fit missing.csv --target y", nowhere).exit_code, 2) << nowhere;
  EXPECT_EQ(redirected(bench + std::string(" --out r2"), "2>&-").exit_code, 2);
}

TEST_F(Output, ABrokenPipeEndsNoTraining) {
  redirected(bench + std::string(" --out r2 --json-lines"), "| true");
  EXPECT_TRUE(contains(program("table r2").out, "NAU"));
}

TEST_F(Output, AClosedStreamIsNotTheStore) {
  EXPECT_EQ(redirected(bench + std::string(" --out r2"), ">&- 2>&- <&-").exit_code, 2);
  EXPECT_EQ(program("table r2").exit_code, 0);
}

TEST_F(Output, ALinkToStandardOutputIsWrittenThrough) {
  fs::create_symlink("/proc/self/fd/1", folder_ / "link");
  const Outcome run = program("fit ok.csv --target y --format python --quiet -o link");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_TRUE(contains(run.out, "a*b")) << run.out;
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  // The same as /dev/stdout is, which no test must touch: a program that fails here would replace the machine's own.
  fs::create_symlink("link", folder_ / "link of a link");
  const Outcome direct = program("fit ok.csv --target y --format python --quiet -o 'link of a link'");
  EXPECT_EQ(direct.out, run.out);
  EXPECT_TRUE(fs::is_symlink(folder_ / "link of a link"));
}

TEST_F(Output, FilesBesideAreLeftAlone) {
  std::ofstream(folder_ / "victim") << "keep";
  fs::create_symlink("victim", folder_ / "o.json.part");
  EXPECT_EQ(program("fit missing.csv --target y -o o.json").exit_code, 2);
  EXPECT_EQ(program("fit ok.csv --target y --format json --quiet -o o.json").exit_code, 0);
  EXPECT_EQ(text_of(folder_ / "victim"), "keep");
  EXPECT_TRUE(fs::is_symlink(folder_ / "o.json.part"));
  ASSERT_EQ(chmod((folder_ / "o.json").c_str(), 0600), 0);
  EXPECT_EQ(program("fit ok.csv --target y --format json --quiet -o o.json").exit_code, 0);
  EXPECT_EQ(fs::status(folder_ / "o.json").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Output, PartsOfAStoreAreNeverReplaced) {
  make_results();
  for (const std::string& file : {std::string("runs.sqlite"), std::string("lock")}) {
    const auto size = fs::file_size(folder_ / "r" / file);
    fs::create_symlink("r/" + file, folder_ / ("to " + file));
    for (const std::string& command :
         {std::string("table r -o "), std::string("table r --series "), std::string("report r -o "),
          std::string("fit ok.csv --target y --quiet -o "), std::string("export r -o "),
          std::string("train --module NAU --iterations 10 -o "), std::string("compare r r --report "),
          bench + std::string(" --out r2 --series ")})
      for (const std::string& path : {"r/" + file, "'to " + file + "'"}) {
        const Outcome run = program(command + path);
        EXPECT_EQ(run.exit_code, 2) << command << path;
        EXPECT_TRUE(contains(run.err, "holds results of a benchmark")) << run.err;
      }
    EXPECT_EQ(fs::file_size(folder_ / "r" / file), size);
  }
}

TEST_F(Output, EscapeSequencesDoNotReachATerminal) {
  std::ofstream(folder_ / "evil.csv") << "\"a\x1b]0;owned\x07\",\"b\x9b"
                                         "31m\",y\n1,2,3\n2,3,5\n4,4,8\n1,5,6\n7,2,9\n";
  for (const char* command : {"fit evil.csv --target z", "fit evil.csv --target y --quiet", "predict evil.csv evil.csv",
                              "fit $'e\\x1b[31mvil' --target y", "list $'e\\x1b[31mvil'", "$'e\\x1b[31mvil'"}) {
    const Outcome run = redirected(command, "");
    EXPECT_EQ((run.out + run.err).find_first_of("\x1b\x07\x9b"), std::string::npos) << command << run.err;
  }
}

// ---- files that say one thing and compute another ------------------------------------------------------------------

TEST_F(Output, AFormulaThatIsNotTheLayersIsRefused) {
  const auto write = [&](const std::string& formula, const std::string& more = "") {
    std::ofstream(folder_ / "m.json") << R"({"format":"nalm-model","version":1,"columns":["a","b"],"target":"y",)"
                                      << R"("formula":")" << formula << "\"," << more
                                      << R"("layers":[{"module":"NMU","inputs":2,"outputs":1,"parameters":)"
                                      << R"({"W":[[1],[1]]}}]})";
  };
  write("a*b");
  EXPECT_EQ(program("predict m.json ok.csv").exit_code, 0);
  write("a + b");
  expect_refused(program("predict m.json ok.csv"), {"m.json: its formula is not what its layers compute", "row 1"});
  write("a*b", R"("constants":{"a":3},)");
  expect_refused(program("predict m.json ok.csv"), {"\"a\" is the name of a constant and of a column"});
}

}  // namespace
}  // namespace nalm::output_test
