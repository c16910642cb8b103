// Memory and writing fail at one place after the other (failing/failing.cpp). Whatever fails: no abort, no half of a
// file, and what was there before is there still. Of the places that ask for memory some are tried, spread evenly;
// NALM_EVERY_FAILURE=1 tries all.
#include <cstdlib>

#include "cli/program.hpp"

namespace nalm::failures_test {
namespace {

class Failures : public ProgramTest {
 protected:
  Failures() {
    std::ofstream table(folder_ / "ok.csv");
    table << "a,b,y\n";
    for (int k = 1; k <= 12; ++k) table << 1 + k % 7 << "," << 2 + k % 5 << "," << (1 + k % 7) * (2 + k % 5) << "\n";
    table.close();
    EXPECT_EQ(program("fit ok.csv --target y --format json --time-limit 5 --quiet -o m.json").exit_code, 0);
    EXPECT_EQ(program(std::string(bench) + " --out r --quiet").exit_code, 0);
  }

  // How many places there were, with the n-th of them failing.
  long run(const std::string& kind, long n, const std::string& arguments) {
    fs::remove(folder_ / "places");
    // A hang is a failure too.
    const Outcome outcome = program(arguments, "timeout 20 env LD_PRELOAD='" NALM_FAILING "' NALM_FAIL_REPORT=places " +
                                                   kind + "=" + std::to_string(n));
    const std::string text = text_of(folder_ / "places");
    const long places = text.empty() ? 0 : std::stol(text);
    EXPECT_TRUE(outcome.exit_code == 0 || (places >= n && outcome.exit_code == 2))
        << kind << "=" << n << " " << arguments << ": exit code " << outcome.exit_code << "\n"
        << outcome.err;
    EXPECT_TRUE(outcome.exit_code == 0 || kind == writing || contains(outcome.err, "memory")) << outcome.err;
    for (const auto& entry : fs::directory_iterator(folder_))
      EXPECT_FALSE(entry.path().filename().string().starts_with(".nalm-")) << kind << n << arguments;
    return places;
  }

  // check() looks at what is left, and makes the next one possible. Places of memory from the given one on, since those
  // of the command line are the same for all commands.
  template <class F>
  void fail_everywhere(const std::string& arguments, long first, F check) {
    constexpr long never = 1000000000, tried = 40;
    for (const std::string& kind : {writing, memory}) {
      const long from = kind == memory ? first : 1, places = run(kind, never, arguments);
      check();
      EXPECT_GT(places, from) << kind << arguments;
      const bool all = kind == writing || std::getenv("NALM_EVERY_FAILURE");
      const long step = all ? 1 : std::max(1L, (places - from) / tried);
      for (long n = from; n <= places && !HasFailure(); n += step) {
        run(kind, n, arguments);
        check();
      }
    }
  }

  // A file is as it was or as it should become.
  void expect_old_or_new(const std::string& name, const std::string& fresh) {
    const std::string text = text_of(folder_ / name);
    EXPECT_TRUE(text == "old" || text == fresh) << name << ": " << text;
    std::ofstream(folder_ / name) << "old";
  }
  // Of a command that writes a file.
  void fail_everywhere_into(const std::string& arguments) {
    ASSERT_EQ(program(arguments + " fresh").exit_code, 0);
    const std::string fresh = text_of(folder_ / "fresh");
    ASSERT_FALSE(fresh.empty());
    std::ofstream(folder_ / "result") << "old";
    fail_everywhere(arguments + " result", after_setup(), [&] { expect_old_or_new("result", fresh); });
  }
  long after_setup() { return run(memory, 1000000000, "help"); }

  const std::string memory = "NALM_FAIL_MEMORY", writing = "NALM_FAIL_WRITING";
  static constexpr const char* bench =
      "bench --modules NAU --operations add --ranges 6 --seeds 0 --iterations 10 --threads 1";
};

TEST_F(Failures, OfTheCommandLine) {
  fail_everywhere("list NAU", 1, [] {});
}
TEST_F(Failures, OfTable) { fail_everywhere_into("table r -o"); }
TEST_F(Failures, OfExport) { fail_everywhere_into("export r -o"); }
TEST_F(Failures, OfFit) {
  fail_everywhere_into("fit ok.csv --target y --format python --score 'a*b' --threads 1 --quiet -o");
}
TEST_F(Failures, OfPredict) {
  fail_everywhere("predict m.json ok.csv", after_setup(), [] {});
}

// Some disks have no locks, and nobody else is to blame.
TEST_F(Failures, OfALockAreNotTakenForAnotherWriter) {
  const std::string settings = "env LD_PRELOAD='" NALM_FAILING "' NALM_FAIL_LOCK=1";
  expect_refused(program(bench + std::string(" --quiet --out new"), settings),
                 {"new/lock: the file cannot be locked (No locks available)", "on another disk with --out"});
}

// What is stored is whole: the run, or nothing; and the store can be gone on with.
TEST_F(Failures, OfBench) {
  fail_everywhere(bench + std::string(" --out new"), after_setup(), [&] {
    const Outcome table = program("table new");
    const bool nothing_yet =
        contains(table.err, "no results") || contains(table.err, "not a run store") || contains(table.err, "no run");
    EXPECT_TRUE(table.exit_code == 0 || nothing_yet) << table.err;
    fs::remove_all(folder_ / "new");
  });
}

}  // namespace
}  // namespace nalm::failures_test
