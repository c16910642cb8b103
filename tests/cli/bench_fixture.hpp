// A folder to run nalm bench in, and what its stores hold.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "cli/program.hpp"
#include "experiment/store.hpp"

namespace nalm {

class BenchCli : public ProgramTest {
 protected:
  // Six runs of which two succeed; a few hundredths of a second.
  static constexpr const char* small = "bench --modules NAU,NMU --ranges 6 --seeds 0..1 --iterations 4000";

  // What bench says does not matter here, only that it worked.
  void make_small(const std::string& more = "") {
    const Outcome run = program(std::string(small) + " --quiet " + more);
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }

  // The program in the background, without a shell in between that would take the signals.
  pid_t start(const std::vector<std::string>& arguments, const char* target = "scalar") {
    const pid_t child = fork();
    if (child != 0) return child;
    const int out = open((folder_ / ".out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    const int err = open((folder_ / ".err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (chdir(folder_.c_str()) != 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) _exit(99);
    setenv("NALM_SIMD", target, 1);
    std::vector<char*> words{const_cast<char*>(NALM_PROGRAM)};
    for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    execv(NALM_PROGRAM, words.data());
    _exit(99);
  }
  Outcome finish(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return {exit_code_of(status), text_of(folder_ / ".out"), text_of(folder_ / ".err")};
  }

  // The same, of one that was asked to end: it is killed if it has not within a quarter of a minute.
  Outcome finish_soon(pid_t child) {
    const std::jthread impatient([child](const std::stop_token& ended) {
      for (int k = 0; k < 150 && !ended.stop_requested(); ++k)
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      if (!ended.stop_requested()) kill(child, SIGKILL);
    });
    return finish(child);
  }

  Result<Store> store(const std::string& name) { return Store::read((folder_ / name).string()); }

  std::size_t stored(const std::string& name) {
    const Result<Store> there = store(name);
    if (!there) return 0;
    const Result<std::vector<RunId>> missing = there->missing();
    return missing ? there->run_count() - missing->size() : 0;
  }

  std::vector<FinishedRun> runs_in(const std::string& name) {
    std::vector<FinishedRun> runs;
    const Result<Store> there = store(name);
    EXPECT_TRUE(there.ok()) << complaint(there);
    if (!there) return runs;
    const Status read = there->for_each_run([&](const FinishedRun& run) -> Status {
      runs.push_back(run);
      return Done{};
    });
    EXPECT_TRUE(read.ok()) << complaint(read);
    return runs;
  }

  // The same results with other values.
  void copy(const std::string& from, const std::string& to, const std::function<void(FinishedRun&)>& change) {
    FinishedRuns runs{runs_in(from), {}};
    for (FinishedRun& run : runs.runs) change(run);
    Result<Store> made = Store::create((folder_ / to).string(), store(from)->info());
    ASSERT_TRUE(made.ok()) << complaint(made);
    const Status added = made->add(runs, 1);
    ASSERT_TRUE(added.ok()) << complaint(added);
  }

  // What the runs of a folder found, in words.
  std::vector<std::string> found_in(const std::string& name) {
    std::vector<std::string> notes;
    for (const FinishedRun& run : runs_in(name)) notes.push_back(run.record.note);
    return notes;
  }

  void sql(const std::string& name, const char* statement) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open((folder_ / name / "runs.sqlite").c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, statement, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
  }
};

}  // namespace nalm
