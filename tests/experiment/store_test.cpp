// The store keeps every bit, and loses nothing: not to a second writer, a failure in the middle or a full disk.
#include "experiment/store.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "experiment/cells.hpp"
#include "experiment/store_file.hpp"
#include "words.hpp"

namespace nalm {
namespace {

namespace fs = std::filesystem;
using test::runs_in;

// Four cells: division with RealNPU and addition with NAU, each on two ranges.
Plan small_plan() {
  Plan plan = test::plan_of("single-module", "primer", "RealNPU,NAU", "div,add", "6,4");
  plan.seeds = {11, 3, 4294967295u};
  plan.iterations = 2000;
  return plan;
}

StoreInfo info_of(const Plan& plan) {
  return {plan, "nalm bench --seeds \"11,3\"", "1.2.3", "scalar", "2026-01-02T03:04:05Z", 5, 0};
}

// Numbers that a careless format would change: rounding, NaN, infinity, denormals, and the largest ones.
constexpr float floats[] = {0.1f,
                            std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::denorm_min(),
                            std::numeric_limits<float>::max(),
                            std::numeric_limits<float>::min() / 3,
                            16777217.0f,
                            0.0f};
constexpr double doubles[] = {0.1,
                              std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::denorm_min(),
                              std::numeric_limits<double>::max(),
                              1.0 / 3,
                              4503599627370497.0,
                              -0.0};

// Differs from run to run, and is the same for the same run.
FinishedRun run_of(const Cell& cell, const RunId& id, std::size_t rows = 3) {
  FinishedRun run{id, {}, 0.25};
  const bool as_float = !cell.own && cell.precision == Precision::Float;
  std::size_t k = id.seed % 8 + id.cell;
  const auto next = [&](bool is_float) {
    const std::size_t n = k++ % 8;
    return is_float ? static_cast<double>(floats[n]) : doubles[n];
  };
  int width = cell.stack.empty() ? 5 : 0;
  for (const LayerSpec& layer : cell.stack) width += parameter_count(*layer.module, layer.shape);
  for (std::size_t row = 0; row < rows; ++row) {
    run.record.steps.push_back(static_cast<long>(1000 * row));
    run.record.values.emplace_back();
    for (const Measure& measure : cell.measures) run.record.values.back().push_back(next(measure.is_float));
    run.record.parameters.emplace_back();
    if (!cell.keeps_parameters && row != 1) continue;
    // Signs too: parameters have them, errors do not.
    for (int p = 0; p < width; ++p) run.record.parameters.back().push_back(p % 2 ? -next(as_float) : next(as_float));
  }
  run.record.note = "y = x1*x2, \"found\"\n";
  run.record.facts = {{"verdict", "exact"}, {"formula", "y = \"\xc3\xa4\""}};
  return run;
}

FinishedRuns batch_of(const std::vector<Cell>& cells, const std::vector<RunId>& ids, std::size_t rows = 3) {
  FinishedRuns finished;
  for (const RunId& id : ids) finished.runs.push_back(run_of(cells[id.cell], id, rows));
  finished.timings = {{"data_seconds", 1}, {"training_seconds", 4}};
  return finished;
}

void expect_same_bits(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t row = 0; row < a.size(); ++row) {
    ASSERT_EQ(a[row].size(), b[row].size());
    for (std::size_t k = 0; k < a[row].size(); ++k)
      ASSERT_EQ(std::bit_cast<std::uint64_t>(a[row][k]), std::bit_cast<std::uint64_t>(b[row][k]))
          << row << ", " << k << ": " << a[row][k] << " and " << b[row][k];
  }
}

void expect_same(const FinishedRun& a, const FinishedRun& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_EQ(a.record.steps, b.record.steps);
  expect_same_bits(a.record.values, b.record.values);
  expect_same_bits(a.record.parameters, b.record.parameters);
  EXPECT_EQ(a.record.note, b.record.note);
  EXPECT_EQ(a.record.facts, b.record.facts);
}

class StoreTest : public testing::Test {
 protected:
  StoreTest() {
    for (const std::uint32_t seed : plan_.seeds)
      for (std::size_t cell = 0; cell < cells_.size(); ++cell) ids_.push_back({cell, seed});
  }

  std::string file() const { return folder_ + "/" + std::string(StoreFile::file_name); }

  Store created() {
    Result<Store> store = Store::create(folder_, info_of(plan_));
    EXPECT_TRUE(store.ok()) << complaint(store);
    return std::move(*store);
  }
  FinishedRuns batch(const std::vector<RunId>& ids, std::size_t rows = 3) const { return batch_of(cells_, ids, rows); }

  // Behind the store's back; the first column of the last row, or nothing.
  std::string sql(const std::string& statement) {
    sqlite3* db = nullptr;
    EXPECT_EQ(sqlite3_open(file().c_str(), &db), SQLITE_OK);
    std::string answer;
    const auto take = [](void* to, int, char** columns, char**) {
      *static_cast<std::string*>(to) = columns[0] ? columns[0] : "";
      return 0;
    };
    EXPECT_EQ(sqlite3_exec(db, statement.c_str(), take, &answer, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
    return answer;
  }
  std::string about(const std::string& name) { return sql("SELECT value FROM about WHERE name = '" + name + "'"); }
  // Changes the stored plan as a program that means harm would.
  void set_plan(const std::string& part, const nlohmann::json& value) {
    nlohmann::json plan = nlohmann::json::parse(to_json(plan_));
    plan[part] = value;
    std::string text = plan.dump();
    for (std::size_t k = 0; (k = text.find('\'', k)) != text.npos; k += 2) text.insert(k, "'");
    sql("UPDATE about SET value = '" + text + "' WHERE name = 'plan'");
  }

  // What is stored is exactly these runs.
  void expect_stored(const std::vector<RunId>& ids, std::size_t rows = 3) {
    const Result<Store> store = Store::read(folder_);
    ASSERT_TRUE(store.ok()) << complaint(store);
    const Result<std::vector<FinishedRun>> runs = runs_in(*store);
    ASSERT_TRUE(runs.ok()) << complaint(runs);
    ASSERT_EQ(runs->size(), ids.size());
    for (const RunId& id : ids) {
      const auto found = std::find_if(runs->begin(), runs->end(), [&](const FinishedRun& run) { return run.id == id; });
      ASSERT_NE(found, runs->end());
      expect_same(*found, run_of(cells_[id.cell], id, rows));
    }
    EXPECT_EQ(store->missing()->size(), store->run_count() - ids.size());
  }

  // Both ways to open it.
  std::vector<std::string> refusals() const {
    return {complaint(Store::resume(folder_)), complaint(Store::read(folder_))};
  }

  const test::TemporaryFolder temporary_;
  const fs::path top_ = temporary_.path();
  std::string folder_ = (top_ / "deep" / "results").string();
  const Plan plan_ = small_plan();
  const std::vector<Cell> cells_ = *cells_of(plan_);
  std::vector<RunId> ids_;  // as the store wants them: every cell of a seed, then the next seed
};

// Runs f in a child process, which may set limits or die without harm; gives its exit code.
template <class F>
int in_child(F f) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) _exit(f());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

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

// ---- a store that somebody sent ------------------------------------------------------------------------------------

TEST_F(StoreTest, APlanThatNeverEndsIsRefused) {
  {
    Store store = created();
    ASSERT_TRUE(store.add(batch({ids_[0]}), 1).ok());
  }
  const std::tuple<const char*, nlohmann::json, const char*> cases[] = {
      {"log_every", 0, ": --log-every must be from 1 to 1000000000."},
      {"iterations", -5, ": --iterations must be from 0 to 1000000000."},
      {"options", {{"inputs", "1000000000"}}, ": --inputs must be a whole number from 2 to 10000"},
      {"seeds", nlohmann::json::array(), ": there must be at least one seed"},
      {"recipe", R"({"batch": 1e9})",
       ": the changes to the recipe cannot be used: batch must be a whole number from 1 to 1000000"},
  };
  for (const auto& [part, value, words] : cases) {
    set_plan(part, value);
    for (const std::string& message : refusals()) EXPECT_TRUE(contains(message, file() + words)) << message;
  }
}

TEST_F(StoreTest, DeepNestingIsRefused) {
  {
    Store store = created();
    ASSERT_TRUE(store.add(batch({ids_[0]}), 1).ok());
  }
  const std::string brackets = std::string(200000, '[') + std::string(200000, ']');
  sql("UPDATE runs SET facts = '" + brackets + "'");
  EXPECT_TRUE(contains(complaint(runs_in(*Store::read(folder_))), "the facts about a run cannot be read"));
  set_plan("recipe", R"({"regularisers":)" + brackets + "}");
  for (const std::string& message : refusals()) {
    EXPECT_TRUE(message.starts_with(file())) << message.substr(0, 200);
    EXPECT_TRUE(contains(message, "nested more than 64 deep")) << message.substr(0, 200);
  }
  sql("UPDATE about SET value = '" + brackets + "' WHERE name = 'plan'");
  for (const std::string& message : refusals())
    EXPECT_TRUE(contains(message, "the stored plan has brackets nested more than 64 deep")) << message.substr(0, 200);
}

TEST_F(StoreTest, ViewsAndTriggersAreRefused) {
  { Store store = created(); }
  const auto refused = [&] {
    for (const std::string& message : refusals())
      EXPECT_EQ(message, file() + ": it has views or triggers, which no store of nalm has.");
  };
  sql("CREATE TRIGGER hidden AFTER INSERT ON runs BEGIN DELETE FROM series; END");
  refused();
  sql("DROP TRIGGER hidden");
  for (const std::string& message : refusals()) EXPECT_EQ(message, "");
  // Whoever asks it for a name would wait for ever.
  sql(R"(DROP TABLE about;
         CREATE VIEW about (name, value) AS
           WITH RECURSIVE forever (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM forever) SELECT n, 'x' FROM forever)");
  refused();
}

class Checksum : public StoreTest {
 protected:
  Checksum() {
    Store store = created();
    FinishedRuns finished = batch({ids_[0], ids_[1]});
    finished.runs[1].record.values[1][0] = marked;
    EXPECT_TRUE(store.add(finished, 1).ok());
  }
  void expect_noticed() {
    const Result<Store> store = Store::read(folder_);
    ASSERT_TRUE(store.ok()) << complaint(store);
    EXPECT_TRUE(runs_in(*store, ids_[0].cell).ok()) << "the other one is whole";
    EXPECT_EQ(complaint(runs_in(*store)),
              file() +
                  ": the run RealNPU | div | U[-2,2) with seed 11 is not as it was stored: the file is damaged or "
                  "was changed.");
  }
  static constexpr double marked = 0.12345678901234567;
};

TEST_F(Checksum, NoticesAFlippedBit) {
  std::fstream stream(file(), std::ios::in | std::ios::out | std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  char pattern[sizeof marked];
  std::memcpy(pattern, &marked, sizeof marked);
  const std::size_t at = bytes.find(std::string_view(pattern, sizeof pattern));
  ASSERT_NE(at, bytes.npos);
  stream.clear();
  stream.seekp(static_cast<std::streamoff>(at));
  stream.put(static_cast<char>(bytes[at] ^ 1));
  stream.close();
  expect_noticed();
}

TEST_F(Checksum, NoticesADeletedRow) {
  sql("DELETE FROM series WHERE step = 2000 AND run = (SELECT max(id) FROM runs)");
  expect_noticed();
}

TEST_F(Checksum, NoticesAnotherStep) {
  sql("UPDATE series SET step = 2001 WHERE step = 2000 AND run = (SELECT max(id) FROM runs)");
  expect_noticed();
}

TEST_F(Checksum, NoticesOtherParameters) {
  sql("UPDATE series SET parameters = x'' WHERE step = 2000 AND run = (SELECT max(id) FROM runs)");
  expect_noticed();
}

TEST_F(Checksum, NoticesAnotherNoteOrOtherFacts) {
  sql("UPDATE runs SET facts = '[[\"verdict\",\"wrong\"]]' WHERE id = (SELECT max(id) FROM runs)");
  expect_noticed();
  sql("UPDATE runs SET facts = (SELECT facts FROM runs WHERE id = 1)");
  EXPECT_TRUE(runs_in(*Store::read(folder_)).ok());
  sql("UPDATE runs SET note = 'found it' WHERE id = (SELECT max(id) FROM runs)");
  expect_noticed();
}

TEST_F(Checksum, NoticesARunUnderAnotherSeed) {
  sql("UPDATE runs SET seed = 3 WHERE id = (SELECT max(id) FROM runs)");
  EXPECT_TRUE(contains(complaint(runs_in(*Store::read(folder_))), "with seed 3 is not as it was stored"));
}

// No hours of work are added to a file that is broken, even where it can still be opened.
TEST_F(StoreTest, ABrokenPageIsNoticedBeforeWorkGoesOn) {
  {
    Store store = created();
    ASSERT_TRUE(store.add(batch(ids_, 200), 1).ok());
  }
  EXPECT_TRUE(Store::resume(folder_).ok());
  const long page = std::stol(sql("SELECT rootpage FROM sqlite_schema WHERE name = 'series'"));
  const long size = std::stol(sql("PRAGMA page_size"));
  {
    std::fstream stream(file(), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp((page - 1) * size);
    stream << std::string(16, '\xff');
  }
  const std::string message = complaint(Store::resume(folder_));
  EXPECT_TRUE(message.starts_with(file())) << message;
  EXPECT_TRUE(contains(message, "is damaged")) << message;
  const Result<Store> reader = Store::read(folder_);
  ASSERT_TRUE(reader.ok()) << complaint(reader);
  EXPECT_TRUE(contains(complaint(runs_in(*reader)), "is damaged"));
  // The lock was given back.
  EXPECT_FALSE(contains(complaint(Store::resume(folder_)), "another nalm"));
}

// ---- disks ---------------------------------------------------------------------------------------------------------

TEST_F(StoreTest, AReadOnlyFolderIsRefusedButCanBeRead) {
  // Who is root may write anyway; a child that is nobody may not. A sanitizer's exit does not matter there.
  const auto as_nobody = [&](auto f) {
    return in_child([&] {
      if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return 3;
      return f();
    });
  };
  {
    Store store = created();
    ASSERT_TRUE(store.add(batch({ids_[0]}), 1).ok());
  }
  fs::permissions(top_, fs::perms(0755));
  fs::permissions(file(), fs::perms(0444));
  fs::permissions(folder_ + "/lock", fs::perms(0444));
  fs::permissions(folder_, fs::perms(0555));
  const std::string empty = (top_ / "empty").string();
  fs::create_directories(empty);
  fs::permissions(empty, fs::perms(0555));
  EXPECT_EQ(as_nobody([&] {
              const std::string message = complaint(Store::create(empty, info_of(plan_)));
              return contains(message, empty + " cannot be written to") && contains(message, "--out") ? 7 : 1;
            }),
            7);
  EXPECT_EQ(as_nobody([&] {
              const std::string message = complaint(Store::create(empty + "/new", info_of(plan_)));
              return contains(message, empty + "/new cannot be made") && contains(message, "--out") ? 7 : 1;
            }),
            7);
  EXPECT_EQ(as_nobody([&] {
              const std::string message = complaint(Store::resume(folder_));
              return contains(message, folder_ + " cannot be written to") ? 7 : 1;
            }),
            7);
  EXPECT_EQ(as_nobody([&] {
              const Result<Store> store = Store::read(folder_);
              return store && runs_in(*store) && runs_in(*store)->size() == 1 ? 7 : 1;
            }),
            7);
  fs::permissions(folder_, fs::perms(0755));
  fs::permissions(empty, fs::perms(0755));
}

// Files may grow no further: what a quota does.
TEST_F(StoreTest, KeepsWhatIsStoredWhenItsFileCannotGrow) {
  {
    Store store = created();
    ASSERT_TRUE(store.add(batch({ids_[0]}), 1).ok());
  }
  const std::string said = (top_ / "said").string();
  EXPECT_EQ(in_child([&] {
              signal(SIGXFSZ, SIG_IGN);
              Result<Store> store = Store::resume(folder_);
              if (!store) return 1;
              const rlimit limit{fs::file_size(file()), fs::file_size(file())};
              if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
              const Status added = store->add(batch({ids_[1], ids_[2]}, 2000), 1);
              if (added) return 3;
              std::ofstream(said) << complaint(added);
              return runs_in(*store) && runs_in(*store)->size() == 1 ? 7 : 4;
            }),
            7);
  std::string message;
  std::getline(std::ifstream(said), message);
  EXPECT_TRUE(contains(message, file())) << message;
  expect_stored({ids_[0]});
  Result<Store> store = Store::resume(folder_);
  ASSERT_TRUE(store.ok()) << complaint(store);
  ASSERT_TRUE(store->add(batch({ids_[1], ids_[2]}), 1).ok());
  expect_stored({ids_[0], ids_[1], ids_[2]});
}

TEST_F(StoreTest, KeepsWhatIsStoredWhenTheDiskIsFull) {
  const std::string disk = (top_ / "disk").string();
  fs::create_directories(disk);
  if (mount("none", disk.c_str(), "tmpfs", 0, "size=128k") != 0) GTEST_SKIP() << "no right to mount a small disk";
  struct Unmount {
    const std::string& disk;
    ~Unmount() { EXPECT_EQ(umount2(disk.c_str(), MNT_DETACH), 0); }
  } unmount{disk};
  folder_ = disk + "/results";
  {
    Store store = created();
    ASSERT_TRUE(store.add(batch({ids_[0]}), 1).ok());
    const std::string message = complaint(store.add(batch({ids_[1], ids_[2]}, 2000), 1));
    EXPECT_TRUE(contains(message, "the disk is full, so " + file() + " could not be written")) << message;
    EXPECT_TRUE(contains(message, "--resume")) << message;
    EXPECT_EQ(runs_in(store)->size(), 1u);
    // There is room for less.
    EXPECT_TRUE(store.add(batch({ids_[1]}), 1).ok());
  }
  expect_stored({ids_[0], ids_[1]});
  // No room for even the smallest store: the next attempt finds nothing in its way.
  {
    std::ofstream filler(disk + "/filler");
    filler << std::string(200000, 'x');
  }
  const std::string kept = folder_;
  folder_ = disk + "/second";
  const std::string message = complaint(Store::create(folder_, info_of(plan_)));
  EXPECT_TRUE(contains(message, "disk is full") || contains(message, "No space left")) << message;
  fs::remove(disk + "/filler");
  fs::remove_all(kept);
  { Store store = created(); }
  expect_stored({});
}

}  // namespace
}  // namespace nalm
