// A run gives the same bits whatever runs beside it: on any number of threads, and when a task was cut and resumed.
#include "tasks/task_runner.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <bit>
#include <cstdint>
#include <filesystem>
#include <map>

#include "tasks/task_store.hpp"
#include "words.hpp"

namespace nalm {
namespace {

namespace fs = std::filesystem;

// Every number of a run, as bits.
std::vector<std::uint64_t> bits_of(const RunRecord& record) {
  std::vector<std::uint64_t> bits;
  for (const long step : record.steps) bits.push_back(static_cast<std::uint64_t>(step));
  for (const auto& row : record.values)
    for (const double value : row) bits.push_back(std::bit_cast<std::uint64_t>(value));
  for (const double value : record.parameters) bits.push_back(std::bit_cast<std::uint64_t>(value));
  return bits;
}

using Bits = std::map<std::pair<std::size_t, std::uint32_t>, std::vector<std::uint64_t>>;

class TaskRunner : public testing::Test {
 protected:
  TaskRunner() {
    plan_.task = *find_task("arithmetic-dataset");
    plan_.preset = "full";
    plan_.operations = "sub";
    for (std::uint32_t seed = 0; seed < 11; ++seed) plan_.seeds.push_back(seed);
    plan_.iterations = 100;
    plan_.log_every = 50;
    arms_ = *arms_of(plan_);
    for (const std::uint32_t seed : plan_.seeds)
      for (std::size_t arm = 0; arm < arms_.size(); ++arm) all_.push_back({arm, seed});
  }

  TaskRunnerSettings settings(int threads) const {
    TaskRunnerSettings settings;
    settings.threads = threads;
    settings.iterations = plan_.iterations;
    settings.log_every = plan_.log_every;
    return settings;
  }

  Bits train(const std::vector<TaskRunId>& runs, int threads) {
    Bits bits;
    TaskRunnerSettings s = settings(threads);
    s.finished = [&](const TaskRunId& id, const RunRecord& record, double) -> Status {
      EXPECT_TRUE(bits.emplace(std::pair(id.arm, id.seed), bits_of(record)).second) << "a run came twice";
      return Done{};
    };
    const Status done = train_task(arms_, runs, s);
    EXPECT_TRUE(done.ok()) << complaint(done);
    return bits;
  }

  TaskPlan plan_;
  std::vector<Arm> arms_;
  std::vector<TaskRunId> all_;
};

TEST_F(TaskRunner, ThreadsAndNeighboursDoNotMatter) {
  const Bits one = train(all_, 1);
  ASSERT_EQ(one.size(), 22u);
  EXPECT_NE(one.at({0, 0}), one.at({0, 1}));
  EXPECT_TRUE(train(all_, 3) == one);
  const Bits alone = train({{1, 7}}, 1);
  EXPECT_TRUE(alone.at({1, 7}) == one.at({1, 7}));
}

TEST_F(TaskRunner, ACutTaskIsCompletedWithTheSameBits) {
  const Bits whole = train(all_, 2);
  std::string pattern = (fs::temp_directory_path() / "nalm-task-runner-XXXXXX").string();
  const std::string top = mkdtemp(pattern.data()), folder = top + "/results";
  // The first writer gives up after three runs, as after Ctrl-C.
  const auto work = [&](TaskStore& store, std::size_t most) {
    std::atomic<bool> stop = false;
    std::size_t stored = 0;
    TaskRunnerSettings s = settings(2);
    s.stop = &stop;
    s.finished = [&](const TaskRunId& id, const RunRecord& record, double seconds) -> Status {
      if (stored == most) return Done{};
      stop = ++stored == most;
      return store.add(id, record, seconds, 0);
    };
    const Status done = train_task(store.arms(), *store.missing(), s);
    EXPECT_TRUE(done.ok()) << complaint(done);
  };
  {
    Result<TaskStore> store = TaskStore::create(folder, {plan_, "", "1", "", "", 1, 0});
    ASSERT_TRUE(store.ok()) << complaint(store);
    work(*store, 3);
    EXPECT_EQ(store->missing()->size(), 19u);
  }
  Result<TaskStore> store = TaskStore::resume(folder);
  ASSERT_TRUE(store.ok()) << complaint(store);
  EXPECT_EQ(store->missing()->size(), 19u);
  work(*store, 1000);
  EXPECT_TRUE(store->missing()->empty());
  const Result<std::vector<StoredTaskRun>> runs = store->runs();
  ASSERT_TRUE(runs.ok()) << complaint(runs);
  Bits bits;
  for (const StoredTaskRun& run : *runs) bits[{run.id.arm, run.id.seed}] = bits_of(run.record);
  EXPECT_TRUE(bits == whole);
  fs::remove_all(top);
}

TEST_F(TaskRunner, AnErrorOfTheStoreEndsEverything) {
  TaskRunnerSettings s = settings(2);
  int calls = 0;
  s.finished = [&](const TaskRunId&, const RunRecord&, double) -> Status {
    ++calls;
    return Error{"the disk is full."};
  };
  EXPECT_EQ(complaint(train_task(arms_, all_, s)), "the disk is full.");
  EXPECT_EQ(calls, 1);
}

TEST_F(TaskRunner, ALearningRateOfZeroTeachesNothing) {
  TaskRunnerSettings s = settings(1);
  s.learning_rate = 0;
  s.finished = [&](const TaskRunId&, const RunRecord& record, double) -> Status {
    EXPECT_EQ(record.values.front(), record.values.back());
    return Done{};
  };
  EXPECT_TRUE(train_task(arms_, {{0, 0}, {1, 0}}, s).ok());
}

}  // namespace
}  // namespace nalm
