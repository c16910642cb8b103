// A run gives the same bits whatever runs beside it: on any number of threads, and when a task was cut and resumed.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "experiment/cells.hpp"
#include "experiment/executor.hpp"
#include "experiment/store.hpp"
#include "words.hpp"

namespace nalm::train_networks_test {
namespace {

// Every number of a run, as bits.
std::vector<std::uint64_t> bits_of(const RunRecord& record) {
  std::vector<std::uint64_t> bits;
  for (const long step : record.steps) bits.push_back(static_cast<std::uint64_t>(step));
  for (const auto* rows : {&record.values, &record.parameters})
    for (const std::vector<double>& row : *rows)
      for (const double value : row) bits.push_back(std::bit_cast<std::uint64_t>(value));
  return bits;
}

using Bits = std::map<RunId, std::vector<std::uint64_t>>;

class TrainNetworks : public testing::Test {
 protected:
  TrainNetworks() {
    plan_ = test::plan_of("arithmetic-dataset", "full", "", "sub");
    plan_.seeds.clear();
    for (std::uint32_t seed = 0; seed < 11; ++seed) plan_.seeds.push_back(seed);
    plan_.iterations = 100;
    plan_.log_every = 50;
    cells_ = *cells_of(plan_);
    for (const std::uint32_t seed : plan_.seeds)
      for (std::size_t cell = 0; cell < cells_.size(); ++cell) all_.push_back({cell, seed});
  }

  Bits train(const std::vector<RunId>& runs, int threads) {
    Bits bits;
    ExecutorSettings settings;
    settings.threads = threads;
    settings.finished = [&](const FinishedRuns& finished) -> Status {
      for (const FinishedRun& run : finished.runs)
        EXPECT_TRUE(bits.emplace(run.id, bits_of(run.record)).second) << "a run came twice";
      return Done{};
    };
    const Status done = train_networks(cells_, runs, settings);
    EXPECT_TRUE(done.ok()) << complaint(done);
    return bits;
  }

  Plan plan_;
  std::vector<Cell> cells_;
  std::vector<RunId> all_;
};

TEST_F(TrainNetworks, ThreadsAndNeighboursDoNotMatter) {
  const Bits one = train(all_, 1);
  ASSERT_EQ(one.size(), 22u);
  EXPECT_NE(one.at({0, 0}), one.at({0, 1}));
  EXPECT_TRUE(train(all_, 3) == one);
  const Bits alone = train({{1, 7}}, 1);
  EXPECT_TRUE(alone.at({1, 7}) == one.at({1, 7}));
}

TEST_F(TrainNetworks, ACutTaskIsCompletedWithTheSameBits) {
  const Bits whole = train(all_, 2);
  const test::TemporaryFolder temporary;
  const std::string folder = (temporary.path() / "results").string();
  // The first writer gives up after three runs, as after Ctrl-C.
  const auto work = [&](Store& store, std::size_t most) {
    std::stop_source stop;
    std::size_t stored = 0;
    ExecutorSettings settings;
    settings.threads = 2;
    settings.stop = stop.get_token();
    settings.finished = [&](const FinishedRuns& finished) -> Status {
      FinishedRuns some;
      for (const FinishedRun& run : finished.runs)
        if (stored < most) some.runs.push_back(run), ++stored;
      if (stored == most) stop.request_stop();
      return store.add(some, 0);
    };
    const Status done = train_networks(store.cells(), *store.missing(), settings);
    EXPECT_TRUE(done.ok()) << complaint(done);
  };
  {
    Result<Store> store = Store::create(folder, {plan_, "", "1", "", "", 1, 0});
    ASSERT_TRUE(store.ok()) << complaint(store);
    work(*store, 3);
    EXPECT_EQ(store->missing()->size(), 19u);
  }
  Result<Store> store = Store::resume(folder);
  ASSERT_TRUE(store.ok()) << complaint(store);
  EXPECT_EQ(store->missing()->size(), 19u);
  work(*store, 1000);
  EXPECT_TRUE(store->missing()->empty());
  const Result<std::vector<FinishedRun>> runs = test::runs_in(*store);
  ASSERT_TRUE(runs.ok()) << complaint(runs);
  Bits bits;
  for (const FinishedRun& run : *runs) bits[run.id] = bits_of(run.record);
  EXPECT_TRUE(bits == whole);
}

TEST_F(TrainNetworks, AnErrorOfTheStoreEndsEverything) {
  ExecutorSettings settings;
  settings.threads = 2;
  int calls = 0;
  settings.finished = [&](const FinishedRuns&) -> Status {
    ++calls;
    return Error{"the disk is full."};
  };
  EXPECT_EQ(complaint(train_networks(cells_, all_, settings)), "the disk is full.");
  EXPECT_EQ(calls, 1);
}

TEST_F(TrainNetworks, ALearningRateOfZeroTeachesNothing) {
  plan_.learning_rate = 0;
  cells_ = *cells_of(plan_);
  ExecutorSettings settings;
  settings.threads = 1;
  std::size_t seen = 0;
  settings.finished = [&](const FinishedRuns& finished) -> Status {
    for (const FinishedRun& run : finished.runs) {
      EXPECT_EQ(run.record.values.front(), run.record.values.back());
      ++seen;
    }
    return Done{};
  };
  EXPECT_TRUE(train_networks(cells_, {{0, 0}, {1, 0}}, settings).ok());
  EXPECT_EQ(seen, 2u);
}

// Where the run is judged, unless the cell asks for all.
TEST_F(TrainNetworks, KeepsTheParametersOfTheJudgedRow) {
  cells_[1].keeps_parameters = true;
  std::atomic<double> progress = 0;
  ExecutorSettings settings;
  settings.threads = 1;
  settings.progress = &progress;
  settings.finished = [&](const FinishedRuns& finished) -> Status {
    for (const FinishedRun& run : finished.runs) {
      EXPECT_EQ(run.record.steps, (std::vector<long>{0, 50, 100}));
      const std::size_t judged = judged_row(cells_[run.id.cell], run.record);
      EXPECT_EQ(run.record.parameters.size(), 3u);
      for (std::size_t row = 0; row < run.record.parameters.size(); ++row) {
        const bool kept = row == judged || run.id.cell == 1;
        EXPECT_EQ(model_at(cells_[run.id.cell], run.record, row).ok(), kept) << run.id.cell << " " << row;
      }
    }
    return Done{};
  };
  EXPECT_TRUE(train_networks(cells_, all_, settings).ok());
  EXPECT_DOUBLE_EQ(progress, 1);
}

}  // namespace
}  // namespace nalm::train_networks_test
