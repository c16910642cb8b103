// The store keeps every bit, and loses nothing: not to a second writer, a failure in the middle or a full disk.
#include "experiment/store.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "experiment/store_fixture.hpp"

namespace nalm::store_test {
namespace {

namespace fs = std::filesystem;
using test::runs_in;

// ---- what is stored ------------------------------------------------------------------------------------------------

TEST_F(StoreTest, GivesBackEveryBit) {
  {
    Store store = created();
    ASSERT_TRUE(store.add(batch(ids_), 1.5).ok());
  }
  expect_stored(ids_);
}

// Parameters of the judged row alone, in float; the same in double; runs that are more than a network.
TEST_F(StoreTest, GivesBackEveryBitOfEveryKindOfRun) {
  const std::pair<const char*, const char*> tasks[] = {
      {"arithmetic-dataset", "full"}, {"nsr-counting", "quick"}, {"sir-discovery", "quick"}};
  bool some_double = false, some_own = false;
  for (const auto& [task, preset] : tasks) {
    SCOPED_TRACE(task);
    const std::string folder = (top_ / task).string();
    const Plan plan = test::plan_of(task, preset);
    const std::vector<Cell> cells = *cells_of(plan);
    {
      Result<Store> store = Store::create(folder, info_of(plan));
      ASSERT_TRUE(store.ok()) << complaint(store);
      const Status added = store->add(batch_of(cells, *store->missing()), 1);
      ASSERT_TRUE(added.ok()) << complaint(added);
    }
    const Result<Store> store = Store::read(folder);
    ASSERT_TRUE(store.ok()) << complaint(store);
    const Result<std::vector<FinishedRun>> runs = runs_in(*store);
    ASSERT_TRUE(runs.ok()) << complaint(runs);
    ASSERT_EQ(runs->size(), cells.size());
    for (const FinishedRun& run : *runs) expect_same(run, run_of(cells[run.id.cell], run.id));
    for (const Cell& cell : cells) {
      some_own = some_own || cell.own;
      some_double = some_double || (!cell.own && cell.precision == Precision::Double);
    }
  }
  EXPECT_TRUE(some_double && some_own);
}

TEST_F(StoreTest, GivesBackThePlan) {
  { Store store = created(); }
  const Result<Store> store = Store::resume(folder_);
  ASSERT_TRUE(store.ok()) << complaint(store);
  const StoreInfo& info = store->info();
  EXPECT_EQ(to_json(info.plan), to_json(plan_));
  EXPECT_EQ(info.command, "nalm bench --seeds \"11,3\"");
  EXPECT_EQ(info.version, "1.2.3");
  EXPECT_EQ(info.simd_target, "scalar");
  EXPECT_EQ(info.created, "2026-01-02T03:04:05Z");
  EXPECT_EQ(info.threads, 5);
  EXPECT_EQ(info.seconds, 0);
  EXPECT_EQ(store->folder(), folder_);
  EXPECT_EQ(store->run_count(), 12u);
  ASSERT_EQ(store->cells().size(), 4u);
  EXPECT_EQ(store->cells()[1].name(), "RealNPU | div | U[-2,2)");
  EXPECT_EQ(store->cells()[1].iterations(), 2000);
  EXPECT_EQ(store->left_out(), (std::vector<std::string>{"NAU div", "RealNPU add"}));
}

// For people with another program at hand: how each run was trained.
TEST_F(StoreTest, SaysHowARunWasTrained) {
  {
    Store store = created();
    ASSERT_TRUE(store.add(batch({{2, 3}}), 0).ok());
  }
  const std::string recipe = sql("SELECT recipe FROM runs");
  EXPECT_TRUE(contains(recipe, "\"iterations\":2000")) << recipe;
  EXPECT_TRUE(contains(recipe, "\"regularisers\":[{")) << recipe;
  EXPECT_EQ(sql("SELECT stack FROM runs"), print(cells_[2].stack));
}

TEST_F(StoreTest, AddsUpTheTimes) {
  {
    Store store = created();
    ASSERT_TRUE(store.add(batch({ids_[0]}), 1.5).ok());
    ASSERT_TRUE(store.add(batch({ids_[1]}), 2).ok());
    EXPECT_EQ(store.info().seconds, 3.5);
  }
  EXPECT_EQ(Store::read(folder_)->info().seconds, 3.5);
  EXPECT_EQ(about("data_seconds"), "2");
  EXPECT_EQ(about("training_seconds"), "8");
}

TEST_F(StoreTest, GivesRunsInTheOrderOfThePlan) {
  Store store = created();
  for (auto id = ids_.rbegin(); id != ids_.rend(); ++id) ASSERT_TRUE(store.add(batch({*id}), 0).ok());
  const Result<std::vector<FinishedRun>> runs = runs_in(store);
  ASSERT_TRUE(runs.ok()) << complaint(runs);
  ASSERT_EQ(runs->size(), 12u);
  std::size_t k = 0;
  for (std::size_t cell = 0; cell < 4; ++cell)
    for (const std::uint32_t seed : plan_.seeds) EXPECT_EQ((*runs)[k++].id, (RunId{cell, seed}));
  const Result<std::vector<FinishedRun>> some = runs_in(store, 2);
  ASSERT_TRUE(some.ok()) << complaint(some);
  ASSERT_EQ(some->size(), 3u);
  for (std::size_t r = 0; r < 3; ++r) expect_same((*some)[r], (*runs)[6 + r]);
}

TEST_F(StoreTest, TheFirstErrorEndsTheReading) {
  Store store = created();
  ASSERT_TRUE(store.add(batch(ids_), 0).ok());
  int seen = 0;
  const Status read = store.for_each_run([&](const FinishedRun&) -> Status {
    if (++seen == 2) return Error{"enough."};
    return Done{};
  });
  EXPECT_EQ(complaint(read), "enough.");
  EXPECT_EQ(seen, 2);
}

TEST_F(StoreTest, KnowsWhatIsMissing) {
  Store store = created();
  EXPECT_EQ(*store.missing(), ids_);
  ASSERT_TRUE(store.add(batch({ids_[1], ids_[4], ids_[11]}), 0).ok());
  const Result<std::vector<RunId>> missing = store.missing();
  ASSERT_TRUE(missing.ok()) << complaint(missing);
  std::vector<RunId> wanted;
  for (const std::size_t k : {0u, 2u, 3u, 5u, 6u, 7u, 8u, 9u, 10u}) wanted.push_back(ids_[k]);
  EXPECT_EQ(*missing, wanted);
  EXPECT_EQ(store.run_count(), 12u);
}

TEST_F(StoreTest, GoesOnWhereItEnded) {
  {
    Store store = created();
    ASSERT_TRUE(store.add(batch({ids_[0], ids_[1]}), 1).ok());
  }
  {
    Result<Store> store = Store::resume(folder_);
    ASSERT_TRUE(store.ok()) << complaint(store);
    ASSERT_TRUE(store->add(batch(*store->missing()), 1).ok());
    EXPECT_EQ(store->info().seconds, 2);
  }
  expect_stored(ids_);
}

// ---- who may write -------------------------------------------------------------------------------------------------

TEST_F(StoreTest, IsNeverOverwritten) {
  { Store store = created(); }
  const std::string message = complaint(Store::create(folder_, info_of(plan_)));
  EXPECT_TRUE(contains(message, "already holds results")) << message;
  EXPECT_TRUE(contains(message, "--resume " + folder_)) << message;
  EXPECT_TRUE(contains(message, "--out")) << message;
  expect_stored({});
}

TEST_F(StoreTest, AFileThatWasKilledAtBirthIsNoStoreYet) {
  fs::create_directories(folder_);
  { std::ofstream empty(file()); }
  { Store store = created(); }
  expect_stored({});
}

TEST_F(StoreTest, RefusesASecondWriterWhileTheFirstLives) {
  {
    Store store = created();
    for (const std::string& message :
         {complaint(Store::resume(folder_)), complaint(Store::create(folder_, info_of(plan_)))})
      EXPECT_TRUE(contains(message, "another nalm is writing to " + folder_)) << message;
    // Moving it about does not open the lock.
    Store moved = std::move(store);
    EXPECT_FALSE(Store::resume(folder_).ok());
  }
  EXPECT_TRUE(Store::resume(folder_).ok());
}

TEST_F(StoreTest, RefusesASecondWriterInAnotherProcess) {
  Store store = created();
  EXPECT_EQ(in_child([&] { return contains(complaint(Store::resume(folder_)), "another nalm is writing") ? 7 : 1; }),
            7);
}

TEST_F(StoreTest, IsFreeAgainWhenItsWriterIsKilled) {
  EXPECT_EQ(in_child([&] {
              Store store = created();
              if (!store.add(batch({ids_[2]}), 0).ok()) return 1;
              raise(SIGKILL);
              return 2;
            }),
            1000 + SIGKILL);
  expect_stored({ids_[2]});
  EXPECT_TRUE(Store::resume(folder_).ok());
}

TEST_F(StoreTest, CanBeReadWhileItIsWritten) {
  Store writer = created();
  const Result<Store> reader = Store::read(folder_);
  ASSERT_TRUE(reader.ok()) << complaint(reader);
  for (std::size_t k = 0; k < ids_.size(); ++k) {
    ASSERT_TRUE(writer.add(batch({ids_[k]}), 0).ok());
    EXPECT_EQ(runs_in(*reader)->size(), k + 1);
    EXPECT_EQ(reader->missing()->size(), ids_.size() - k - 1);
  }
}

// ---- what goes wrong -----------------------------------------------------------------------------------------------

TEST_F(StoreTest, ABatchThatFailsLeavesNothing) {
  Store store = created();
  ASSERT_TRUE(store.add(batch({ids_[0], ids_[1]}), 1).ok());
  // Two new ones, then one that is there already.
  EXPECT_FALSE(store.add(batch({ids_[2], ids_[3], ids_[1], ids_[4]}), 100).ok());
  EXPECT_EQ(store.info().seconds, 1);
  EXPECT_EQ(Store::read(folder_)->info().seconds, 1);
  EXPECT_EQ(about("training_seconds"), "4");
  expect_stored({ids_[0], ids_[1]});
  // And the store still works.
  ASSERT_TRUE(store.add(batch({ids_[2], ids_[3]}), 1).ok());
  expect_stored({ids_[0], ids_[1], ids_[2], ids_[3]});
}

TEST_F(StoreTest, AFailureInTheMiddleOfARunLeavesNothingOfIt) {
  Store store = created();
  ASSERT_TRUE(store.add(batch({ids_[0]}), 1).ok());
  FinishedRuns finished = batch({ids_[1], ids_[2]});
  finished.runs[1].record.steps[2] = finished.runs[1].record.steps[1];  // a step twice
  EXPECT_FALSE(store.add(finished, 1).ok());
  expect_stored({ids_[0]});
}

TEST_F(StoreTest, AFolderWithoutOneIsRefused) {
  for (const std::string& message : refusals()) {
    EXPECT_TRUE(contains(message, folder_ + " holds no results")) << message;
    EXPECT_TRUE(contains(message, "nalm bench --out " + folder_)) << message;
  }
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(StoreTest, AFolderThatCannotBeMadeIsNamed) {
  { std::ofstream file(top_ / "deep"); }
  const std::string message = complaint(Store::create(folder_, info_of(plan_)));
  EXPECT_TRUE(contains(message, folder_ + " cannot be made")) << message;
  EXPECT_TRUE(contains(message, "--out")) << message;
}

TEST_F(StoreTest, AFileThatIsNoDatabaseIsRefused) {
  fs::create_directories(folder_);
  std::ofstream(file()) << std::string(5000, 'x');
  for (const std::string& message : refusals()) {
    EXPECT_TRUE(message.starts_with(file())) << message;
    EXPECT_TRUE(contains(message, "is not a run store")) << message;
  }
  EXPECT_TRUE(contains(complaint(Store::create(folder_, info_of(plan_))), "already holds results"));
  EXPECT_EQ(fs::file_size(file()), 5000u);
}

TEST_F(StoreTest, ADatabaseThatIsNoStoreIsRefused) {
  fs::create_directories(folder_);
  sql("CREATE TABLE recipes (name TEXT)");
  for (const std::string& message : refusals())
    EXPECT_TRUE(contains(message, file() + " is not a run store of nalm")) << message;
  sql("CREATE TABLE about (name TEXT, value TEXT)");
  EXPECT_TRUE(contains(complaint(Store::read(folder_)), "no entry \"format\""));
}

TEST_F(StoreTest, AnotherFormatIsRefusedWithTheVersionThatWroteIt) {
  { Store store = created(); }
  for (const std::string format : {"1", "3", "nonsense"}) {
    sql("UPDATE about SET value = '" + format + "' WHERE name = 'format'");
    for (const std::string& message : refusals())
      EXPECT_EQ(message, file() + " has format " + format +
                             ", and this program knows 2; use version 1.2.3 of nalm, which wrote it.");
  }
}

// As earlier versions wrote it for the single module task.
TEST_F(StoreTest, AStoreOfFormatOneIsRefusedWithOneSentence) {
  fs::create_directories(folder_);
  sql(R"(
    CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE runs (
      id INTEGER PRIMARY KEY,
      module TEXT NOT NULL, operation TEXT NOT NULL, range TEXT NOT NULL, test_range TEXT NOT NULL,
      inputs INTEGER NOT NULL, seed INTEGER NOT NULL,
      recipe TEXT NOT NULL,
      seconds REAL NOT NULL,
      UNIQUE (module, operation, range, inputs, seed)
    ) STRICT;
    INSERT INTO about VALUES ('format', '1'), ('version', '0.1.0'), ('grid', '{}');
    INSERT INTO runs VALUES (1, 'NAU', 'add', 'U[1,2)', 'U[2,6)', 2, 0, '{}', 0.5);)");
  for (const std::string& message : refusals())
    EXPECT_EQ(message, file() + " has format 1, and this program knows 2; use version 0.1.0 of nalm, which wrote it.");
  EXPECT_TRUE(contains(complaint(Store::create(folder_, info_of(plan_))), "already holds results"));
  EXPECT_EQ(sql("SELECT count(*) FROM runs"), "1");
}

TEST_F(StoreTest, WhatThisVersionDoesNotHaveIsNamed) {
  {
    Store store = created();
    ASSERT_TRUE(store.add(batch({ids_[0]}), 1).ok());
  }
  const auto reading = [&] { return complaint(runs_in(*Store::read(folder_))); };
  sql("UPDATE series SET measured = x'0000000000000000'");
  EXPECT_TRUE(contains(reading(), file() +
                                      ": the run RealNPU | div | U[1,2) is not as this version's task single-module"
                                      " has it; use version 1.2.3 of nalm."))
      << reading();
  sql("UPDATE runs SET seed = 5");
  EXPECT_TRUE(contains(reading(), "RealNPU | div | U[1,2) | 5")) << reading();
  sql("UPDATE runs SET model = 'NUA'");
  EXPECT_TRUE(contains(reading(), "NUA | div | U[1,2)")) << reading();
  EXPECT_TRUE(contains(reading(), "use version 1.2.3 of nalm")) << reading();
  EXPECT_TRUE(contains(complaint(Store::read(folder_)->missing()), "NUA | div | U[1,2)"));
}

TEST_F(StoreTest, DamagedEntriesAreNamed) {
  { Store store = created(); }
  set_plan("seeds", "nonsense");
  for (const std::string& message : refusals())
    EXPECT_TRUE(contains(message, file() + ": the stored plan cannot be read")) << message;
  set_plan("task", "juggling");
  for (const std::string& message : refusals())
    EXPECT_TRUE(contains(message, "there is no task \"juggling\"")) << message;
  set_plan("models", "NUA");
  for (const std::string& message : refusals())
    EXPECT_TRUE(contains(message, file() + ": \"NUA\" is not a module")) << message;
  sql("UPDATE about SET value = '{' WHERE name = 'plan'");
  for (const std::string& message : refusals())
    EXPECT_TRUE(contains(message, file() + ": the stored plan ends in the middle")) << message;
  sql("DELETE FROM about WHERE name = 'plan'");
  for (const std::string& message : refusals())
    EXPECT_TRUE(contains(message, file() + ": it has no entry \"plan\"")) << message;
}

}  // namespace
}  // namespace nalm::store_test
