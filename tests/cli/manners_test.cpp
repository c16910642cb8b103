// Manners at the terminal: width, help, hints, completion, the manual page.
#include <algorithm>

#include "base/utf8.hpp"
#include "cli/program.hpp"

namespace nalm::manners_test {
namespace {

class Manners : public ProgramTest {
 protected:
  static std::size_t longest_line(const std::string& text) {
    std::size_t longest = 0;
    for (const std::string& line : lines_of(text)) longest = std::max(longest, utf8_count(line));
    return longest;
  }
  // A command of bash with the completion loaded; complete WORD... prints what the last word can become.
  std::string in_bash(const std::string& command) {
    std::ofstream(folder_ / "script") << "cd '" << folder_.string()
                                      << "'; source <('" NALM_PROGRAM
                                         "' completion bash)\n"
                                         "complete_words() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _nalm; echo "
                                         "\"${COMPREPLY[*]}\"; }\n"
                                      << command << "\n";
    const std::string run = "bash '" + (folder_ / "script").string() + "' > '" + (folder_ / "out").string() + "' 2>&1";
    EXPECT_EQ(std::system(run.c_str()), 0);
    return text_of(folder_ / "out");
  }
  static bool has(const std::string& program) {
    return std::system(("command -v " + program + " > /dev/null 2>&1").c_str()) == 0;
  }
};

// ---- help ----------------------------------------------------------------------------------------------------------

TEST_F(Manners, HelpIsThereHoweverOneAsks) {
  const Outcome run = program("--help");
  EXPECT_EQ(run.exit_code, 0);
  for (const char* arguments : {"", "help", "-h"}) {
    const Outcome same = program(arguments);
    EXPECT_EQ(same.exit_code, 0) << arguments;
    EXPECT_EQ(same.out, run.out) << arguments;
  }
  const Outcome command = program("help fit");
  EXPECT_EQ(command.exit_code, 0);
  EXPECT_TRUE(contains(command.out, "Usage: nalm fit [OPTIONS] data\n")) << command.out;
  EXPECT_EQ(program("fit -h").out, command.out);
  EXPECT_EQ(program("fit --target y --help").out, command.out);
}

TEST_F(Manners, NothingIsWiderThanTheTerminal) {
  ASSERT_EQ(program("bench --modules NAU,NMU --ranges 6 --seeds 0..1 --iterations 1000 --out r --quiet").exit_code, 0);
  for (const int columns : test::sanitized ? std::vector{40} : std::vector{40, 65, 80})
    for (const char* arguments : {"", "help bench", "help fit", "list", "list NMU", "list --tasks", "list nsr-minimum",
                                  "table r", "compare r r --all", "explain NALU", "benhc", "list NUA", "figure"})
      EXPECT_LE(longest_line(on_terminal(arguments, columns).out), static_cast<std::size_t>(columns))
          << arguments << columns;
  EXPECT_LE(longest_line(program("help bench").out), 100u);
}

TEST_F(Manners, ATableFoldsAndKeepsItsFirstColumn) {
  ASSERT_EQ(program("bench --ranges 6 --seeds 0..1 --iterations 100 --operations mul --out r --quiet").exit_code, 0);
  const std::string folded = on_terminal("table r --metric success", 50).out,
                    whole = program("table r --metric success").out;
  EXPECT_LE(longest_line(folded), 50u);
  EXPECT_GT(longest_line(whole), 50u) << "what is read by a program does not fold";
}

TEST_F(Manners, TheBarStaysOnItsLine) {
  if (test::sanitized) GTEST_SKIP() << trains_long;
  for (const int columns : {40, 60, 100}) {
    const Outcome run =
        on_terminal("bench --modules NALU --ranges 6 --seeds 0..7 --iterations 40000 --operations mul --out r" +
                        std::to_string(columns),
                    columns);
    EXPECT_EQ(run.exit_code, 0) << run.out;
    std::string text = run.out;
    std::size_t frames = 0;
    for (std::size_t at; (at = text.find("\033[K")) != text.npos; ++frames) {
      const std::size_t end = std::min({text.find('\n', at), text.find("\033[K", at + 3), text.size()});
      EXPECT_LT(utf8_count(text.substr(at + 3, end - at - 3)), static_cast<std::size_t>(columns));
      text.erase(0, at + 3);
    }
    EXPECT_GT(frames, 2u);
    EXPECT_LT(std::count(run.out.begin(), run.out.end(), '\n'), 20) << run.out;
  }
}

// ---- hints ---------------------------------------------------------------------------------------------------------

TEST_F(Manners, MistypedNamesGetAHint) {
  for (const auto& [arguments, hint] : std::vector<std::pair<std::string, std::string>>{
           {"benhc", "Did you mean bench?"},
           {"help lits", "Did you mean list?"},
           {"bench --iteratoins 3", "Did you mean --iterations?"},
           {"bench --task formula", "Did you mean formulas?"},
           {"bench --preset qick", "Did you mean quick?"},
           {"bench --operations mull", "Did you mean mul?"},
           {"list NUA", "Did you mean NAU?"},
           {"train RealNUP", "Did you mean RealNPU?"},
           {"fit x.csv --target y --powers hlaf", "Did you mean half?"},
           {"bench --task nsr-minimum --modules NRS", "Did you mean NSR?"}}) {
    const Outcome run = program(arguments);
    EXPECT_EQ(run.exit_code, 2) << arguments;
    EXPECT_TRUE(contains(run.err, hint)) << arguments << run.err;
  }
  EXPECT_FALSE(contains(program("xyzzy").err, "Did you mean")) << "nothing is near";
}

TEST_F(Manners, WhatIsMissingIsTaught) {
  expect_refused(program("train"), {"nalm train NAU", "nalm list"});
  expect_refused(program("fit"), {"fit needs data"});
  expect_refused(program("train NAU --range 1,2"), {"\"[1,2)\""});
  expect_refused(program("completion"), {"bash"});
  ASSERT_EQ(program("bench --modules NAU,NMU --ranges 6 --seeds 0 --iterations 10 --out r --quiet").exit_code, 0);
  expect_refused(program("export r"), {"choose one with --module", "NAU, NMU"});
  const Outcome recipe = program("bench --recipe nonsense");
  expect_refused(recipe, {"not valid JSON"});
  EXPECT_FALSE(contains(recipe.err, ".;") || contains(recipe.err, "json.exception")) << recipe.err;
  expect_refused(program("bench --task formulas --emit e --out o"), {"--emit"});
}

TEST_F(Manners, AModuleNeedsNoOption) {
  EXPECT_TRUE(contains(program("train NMU --operation mul --iterations 10").out, "NMU learns mul"));
  EXPECT_EQ(program("explain NMU").out, program("list NMU").out);
  EXPECT_EQ(program("bench NAU --ranges 6 --operations add --seeds 0 --iterations 10 --out r --quiet").exit_code, 0);
  EXPECT_EQ(program("export r NAU").out, program("export r --module NAU").out);
  EXPECT_EQ(program("check NMU --cases 1").exit_code, 0);
}

// ---- numbers -------------------------------------------------------------------------------------------------------

TEST_F(Manners, WholeNumbersMayHaveAnExponent) {
  EXPECT_TRUE(contains(program("train NAU --iterations 1e3 --log-every 1e3").out, "     1000  "));
  for (const char* arguments :
       {"train NAU --iterations 1.5", "train NAU --iterations 1e99", "check NAU --seed -1",
        "check NAU --seed 18446744073709551616", "check NAU --seed 1e20", "train NAU --inputs 1e0",
        "check NAU --cases nan", "train NAU --iterations ''", "bench --seed -1", "bench --seed 18446744073709551616"})
    EXPECT_EQ(program(arguments).exit_code, 2) << arguments;
  EXPECT_EQ(program("check NAU --cases 1 --seed 18446744073709551615").exit_code, 0);
}

// ---- train ---------------------------------------------------------------------------------------------------------

TEST_F(Manners, TrainShowsWhatChanges) {
  const Outcome run = program("train NAU");
  EXPECT_LT(lines_of(run.out).size(), 45u) << run.out;
  EXPECT_TRUE(contains(run.out, "rows like this one")) << run.out;
  const Outcome gated = program("train NALU --iterations 2000");
  EXPECT_TRUE(contains(gated.out, "gate g = (")) << gated.out;
  // No number of more than seven digits.
  int digits = 0;
  for (const char c : gated.out.substr(gated.out.find("The formula"))) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    EXPECT_LE(digits, 8) << gated.out;
  }
}

// ---- shells and man ------------------------------------------------------------------------------------------------

TEST_F(Manners, BashCompletes) {
  std::ofstream(folder_ / "data.csv") << "a\n";
  for (const auto& [words, wanted] : std::vector<std::pair<std::string, std::string>>{
           {"nalm ben", "bench\n"},
           {"nalm bench --iter", "--iterations\n"},
           {"nalm bench --modules NAU,NMU,Real", "NAU,NMU,RealNPU NAU,NMU,RealNPU-modified\n"},
           {"nalm train RealNPU-", "RealNPU-modified\n"},
           {"nalm train --operation m", "mul\n"},
           {"nalm fit --powers ''", "integer half any\n"},
           {"nalm fit da", "data.csv\n"},
           {"nalm help comp", "compare completion\n"},
           {"nalm table --format m", "markdown\n"},
           {"nalm bench --seeds ''", "\n"}})
    EXPECT_EQ(in_bash("complete_words " + words), wanted) << words;
}

TEST_F(Manners, EveryCommandAndOptionIsInTheManual) {
  const std::string page = program("man").out;
  std::string plain = page;
  for (std::size_t at; (at = plain.find("\\-")) != plain.npos;) plain.erase(at, 1);
  const std::string bash = program("completion bash").out, zsh = program("completion zsh").out,
                    fish = program("completion fish").out;
  for (const std::string& line : lines_of(program("help").out)) {
    if (!line.starts_with("  ") || line[2] == ' ' || line[2] == '-' || line.starts_with("  nalm") ||
        line.starts_with("  NALM") || line.starts_with("  help"))
      continue;
    const std::string command = line.substr(2, line.find(' ', 2) - 2);
    EXPECT_TRUE(contains(plain, ".SS nalm " + command)) << command;
    for (const std::string& option : lines_of(program("help " + command).out)) {
      if (!option.starts_with("  --")) continue;
      const std::string name = option.substr(2, option.find_first_of(" ,", 2) - 2);
      EXPECT_TRUE(contains(plain, name)) << command << name;
      EXPECT_TRUE(contains(bash, name) && contains(zsh, name)) << command << name;
      EXPECT_TRUE(contains(fish, "-l " + name.substr(2))) << command << name;
    }
  }
}

TEST_F(Manners, TheManualPageIsGoodRoff) {
  if (!has("groff")) GTEST_SKIP() << "groff is not installed";
  const std::string command =
      "'" NALM_PROGRAM "' man | groff -man -ww -Tutf8 -z > '" + (folder_ / "log").string() + "' 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(text_of(folder_ / "log"), "");
}

TEST_F(Manners, ShellsReadTheirScripts) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    if (!has(shell)) continue;
    const std::string script = (folder_ / shell).string();
    ASSERT_EQ(std::system(("'" NALM_PROGRAM "' completion " + shell + " > '" + script + "'").c_str()), 0);
    EXPECT_EQ(std::system((shell + " -n '" + script + "'").c_str()), 0) << shell;
  }
}

}  // namespace
}  // namespace nalm::manners_test
