// nalm bench interrupted, killed and resumed.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cli/bench_fixture.hpp"

namespace nalm::interrupted_test {
namespace {

using Clock = std::chrono::steady_clock;

TEST_F(BenchCli, ResumeGoesOnOnlyWithWhatFits) {
  make_small("--out results --series whole.csv");
  const Outcome whole = program("bench --resume results");
  EXPECT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_TRUE(contains(whole.err, "6 runs are there already.\n")) << whole.err;
  EXPECT_TRUE(contains(whole.out, "0 runs trained")) << whole.out;
  for (const char* more : {"--modules NAU", "--seeds 3", "--out other", "--iterations 7", "--preset primer",
                           "--inputs 2", "--task single-module", "--settings 6", "--learning-rate 0", "--rows 3"})
    expect_refused(program(std::string("bench --resume results ") + more),
                   {"--resume", "leave the other options away"});
  sql("results",
      "DELETE FROM series WHERE run IN (SELECT id FROM runs WHERE seed = 1); DELETE FROM runs WHERE seed = 1");
  EXPECT_TRUE(contains(program("table results").out, "3 runs are missing: the task is not finished."));
  const Outcome rest = program("bench --resume results --series rest.csv");
  EXPECT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_TRUE(contains(rest.err, "3 runs are there already.\n")) << rest.err;
  EXPECT_TRUE(contains(rest.out, "3 runs trained")) << rest.out;
  EXPECT_TRUE(text_of(folder_ / "rest.csv") == text_of(folder_ / "whole.csv"));
  sql("results", "UPDATE about SET value = '0.0.0' WHERE name = 'version'");
  expect_refused(program("bench --resume results"), {"begun by version 0.0.0", "--out"});
}

// Many small tasks: with one lane each, so that there is much to interrupt.
// Long enough not to be through before a busy machine lets the test look.
const std::vector<std::string> long_grid = {"--modules", "NAU,NMU",      "--ranges", "0,4,6",   "--seeds",
                                            "0..7",      "--iterations", "16000",    "--quiet", "--threads",
                                            "2",         "--log-every",  "4000"};

TEST_F(BenchCli, CtrlCKeepsWhatIsFinishedAndResumeCompletesIt) {
  std::vector<std::string> arguments{"bench", "--out", "whole", "--series", "whole.csv"};
  arguments.insert(arguments.end(), long_grid.begin(), long_grid.end());
  // The uninterrupted one on all lanes: that, too, must not matter.
  ASSERT_EQ(finish(start(arguments, "")).exit_code, 0) << text_of(folder_ / ".err");

  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) {
    const std::string name = "ended-by-" + std::to_string(signal);
    arguments[2] = name;
    arguments[4] = name + ".csv";
    const pid_t child = start(arguments);
    const Clock::time_point begin = Clock::now();
    while (stored(name) == 0 && Clock::now() - begin < std::chrono::seconds(60))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    // Nobody else may write while it lives. It waits meanwhile, or it would be through.
    kill(child, SIGSTOP);
    const std::string second = "cd '" + folder_.string() + "' && '" NALM_PROGRAM "' bench --quiet --resume " + name;
    const int refused = std::system((second + " 2> second").c_str());
    EXPECT_EQ(WEXITSTATUS(refused), 2);
    EXPECT_TRUE(contains(text_of(folder_ / "second"), "another nalm is writing to " + name))
        << text_of(folder_ / "second");
    kill(child, signal);
    kill(child, SIGCONT);
    const Outcome run = finish(child);
    EXPECT_EQ(run.exit_code, 128 + signal) << run.err;
    EXPECT_EQ(run.out, "");
    const std::size_t kept = stored(name);
    EXPECT_GT(kept, 0u);
    EXPECT_LT(kept, 72u);
    EXPECT_TRUE(contains(run.err, "Interrupted: " + std::to_string(kept) +
                                      " of 72 runs are stored; go on with \"nalm bench "
                                      "--resume " +
                                      name + "\""))
        << run.err;
    EXPECT_FALSE(fs::exists(folder_ / (name + ".csv")));
    EXPECT_TRUE(contains(program("table " + name).out, "the task is not finished"));
    const Outcome rest = finish(start({"bench", "--resume", name, "--series", name + ".csv", "--quiet"}));
    EXPECT_EQ(rest.exit_code, 0) << rest.err;
    EXPECT_TRUE(text_of(folder_ / (name + ".csv")) == text_of(folder_ / "whole.csv"));
  }
}

TEST_F(BenchCli, KilledAtAnyMomentItLosesAtMostTheRunsInFlight) {
  std::vector<std::string> arguments{"bench", "--out", "whole", "--series", "whole.csv"};
  arguments.insert(arguments.end(), long_grid.begin(), long_grid.end());
  const Clock::time_point begin = Clock::now();
  ASSERT_EQ(finish(start(arguments)).exit_code, 0) << text_of(folder_ / ".err");
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();

  const unsigned seed = std::random_device()();
  std::cout << "Moments to kill are drawn with seed " << seed << ".\n";
  std::mt19937 random(seed);
  arguments[2] = "killed";
  arguments[4] = "killed.csv";
  const std::vector<std::string> resume{"bench", "--resume", "killed", "--series", "killed.csv", "--quiet"};
  // Before its first transaction there is nothing to resume: the same command starts again.
  const auto next = [&] { return store("killed") ? resume : arguments; };
  std::size_t kept = 0;
  for (int kills = 0; kills < 5; ++kills) {
    const pid_t child = start(next());
    std::this_thread::sleep_for(
        std::chrono::duration<double>(std::uniform_real_distribution<double>(0, 0.5 * seconds)(random)));
    kill(child, SIGKILL);
    const Outcome run = finish(child);
    EXPECT_TRUE(run.exit_code == -SIGKILL || run.exit_code == 0) << run.exit_code << run.err;
    EXPECT_GE(stored("killed"), kept) << "a stored run was lost";
    kept = stored("killed");
    std::cout << "Killed with " << kept << " of 72 runs stored.\n";
  }
  const Outcome run = finish(start(next()));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(stored("killed"), 72u);
  EXPECT_TRUE(text_of(folder_ / "killed.csv") == text_of(folder_ / "whole.csv"));
}

// With a thousand inputs it takes a minute to draw the rows on which errors are measured, and to measure them once.
TEST_F(BenchCli, CtrlCEndsTheSetupToo) {
  const pid_t child = start(
      {"bench", "--inputs", "1000", "--seeds", "0..7", "--ranges", "6", "--threads", "1", "--quiet", "--out", "large"},
      "");
  while (!fs::exists(folder_ / "large" / "runs.sqlite")) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::seconds(1));
  kill(child, SIGTERM);
  const Outcome run = finish_soon(child);
  EXPECT_EQ(run.exit_code, 128 + SIGTERM) << run.err;
  EXPECT_TRUE(contains(run.err, "Interrupted: 0 of 184 runs are stored")) << run.err;
}

// Errors may be logged as seldom as one likes.
TEST_F(BenchCli, CtrlCDoesNotWaitForTheNextLoggedRow) {
  const pid_t child = start({"bench", "--task", "nsr-minimum", "--preset", "quick", "--iterations", "1000000000",
                             "--log-every", "1000000000", "--quiet", "--out", "long"},
                            "");
  while (!fs::exists(folder_ / "long" / "runs.sqlite")) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  kill(child, SIGINT);
  const Outcome run = finish_soon(child);
  EXPECT_EQ(run.exit_code, 130) << run.err;
}

// A fit is given up in the middle: what was found before stays, and the rest is found later, bit for bit.
TEST_F(BenchCli, FormulasAreInterruptedAndResumedToo) {
  // Long enough to be interrupted.
  const std::string rows = test::sanitized ? "30" : "200",
                    formulas = test::sanitized ? "spring_energy,gravity_force,parallel_resistors"
                                               : "friction_force,kinetic_energy_3d,parallel_resistors";
  std::vector<std::string> arguments{"bench",  "--task", "formulas", "--rows", rows,       "--noise",   "0,0.1",
                                     "--only", formulas, "--out",    "whole",  "--series", "whole.csv", "--quiet"};
  ASSERT_EQ(finish(start(arguments, "")).exit_code, 0) << text_of(folder_ / ".err");
  arguments[10] = "cut";
  arguments[12] = "cut.csv";
  const pid_t child = start(arguments, "");
  const Clock::time_point begin = Clock::now();
  while (stored("cut") == 0 && Clock::now() - begin < std::chrono::seconds(60))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  kill(child, SIGINT);
  const Outcome run = finish(child);
  EXPECT_EQ(run.exit_code, 130) << run.err;
  const std::size_t kept = stored("cut");
  EXPECT_GT(kept, 0u);
  EXPECT_LT(kept, 6u);
  EXPECT_TRUE(contains(run.err, "Interrupted: " + std::to_string(kept) + " of 6 runs are stored")) << run.err;
  EXPECT_FALSE(fs::exists(folder_ / "cut.csv"));
  const Outcome rest = finish(start({"bench", "--resume", "cut", "--series", "cut.csv", "--quiet"}, ""));
  EXPECT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_TRUE(text_of(folder_ / "cut.csv") == text_of(folder_ / "whole.csv"));
  EXPECT_EQ(found_in("cut"), found_in("whole"));
}

}  // namespace
}  // namespace nalm::interrupted_test
