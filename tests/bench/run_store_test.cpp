// The store keeps every bit, and loses nothing: not to a second writer, a failure in the middle or a full disk.
#include "bench/run_store.hpp"

#include "bench/store_file.hpp"
#include "words.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace nalm {
namespace {

namespace fs = std::filesystem;

Grid small_grid() {
  Grid grid;
  grid.pairs = {{*find_module("iNALU"), Operation::Divide}, {*find_module("NAU"), Operation::Add}};
  grid.ranges = {paper_ranges()[6], paper_ranges()[4]};
  grid.seeds = {11, 3, 4294967295u};
  grid.iterations = 2000;
  return grid;
}

StoreInfo info_of(const Grid& grid) {
  return {grid, "nalm bench --seeds \"11,3\"", "1.2.3", "scalar", "2026-01-02T03:04:05Z", 5, 0, {}};
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
                              0.0};

// Differs from run to run, and is the same for the same run.
Run run_of(const Grid& grid, const RunId& id, std::size_t rows = 3) {
  Run run{id, resolve_recipe(grid, {id.module, id.operation}), {}};
  std::size_t k = id.seed % 8 + static_cast<std::size_t>(id.operation);
  for (std::size_t r = 0; r < rows; ++r) {
    run.series.steps.push_back(static_cast<long>(1000 * r));
    run.series.validation_mse.push_back(floats[k++ % 8]);
    run.series.test_mse.push_back(floats[k++ % 8]);
    run.series.sparsity_error.push_back(doubles[k++ % 8]);
    const int width = parameter_count(*id.module, default_shape(*id.module, id.inputs, 1));
    for (int p = 0; p < width; ++p) {
      // Signs too: parameters have them, errors do not.
      const float value = floats[k++ % 8];
      run.series.parameters.push_back(p % 2 ? -value : value);
    }
  }
  return run;
}

FinishedRuns batch_of(const Grid& grid, const std::vector<RunId>& ids, std::size_t rows = 3) {
  FinishedRuns finished;
  for (const RunId& id : ids) {
    finished.runs.push_back(run_of(grid, id, rows));
    finished.seconds.push_back(0.25);
  }
  finished.timings = {1, 2, 4};
  return finished;
}

// NaN equals NaN, whatever its bits.
template <class Bits, class T>
void expect_same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (a[k] != a[k] && b[k] != b[k]) continue;
    ASSERT_EQ(std::bit_cast<Bits>(a[k]), std::bit_cast<Bits>(b[k])) << k << ": " << a[k] << " and " << b[k];
  }
}

void expect_same(const Run& a, const Run& b) {
  EXPECT_EQ(a.id.module, b.id.module);
  EXPECT_EQ(a.id.operation, b.id.operation);
  EXPECT_EQ(name_of(a.id.range.train), name_of(b.id.range.train));
  EXPECT_EQ(name_of(a.id.range.test), name_of(b.id.range.test));
  EXPECT_EQ(a.id.inputs, b.id.inputs);
  EXPECT_EQ(a.id.seed, b.id.seed);
  EXPECT_EQ(to_json(a.recipe), to_json(b.recipe));
  EXPECT_EQ(a.series.steps, b.series.steps);
  expect_same_bits<std::uint32_t>(a.series.validation_mse, b.series.validation_mse);
  expect_same_bits<std::uint32_t>(a.series.test_mse, b.series.test_mse);
  expect_same_bits<std::uint64_t>(a.series.sparsity_error, b.series.sparsity_error);
  expect_same_bits<std::uint32_t>(a.series.parameters, b.series.parameters);
}

class Store : public testing::Test {
 protected:
  Store() {
    std::string pattern = (fs::temp_directory_path() / "nalm-store-XXXXXX").string();
    top_ = mkdtemp(pattern.data());
    folder_ = (top_ / "deep" / "results").string();
  }
  ~Store() override { fs::remove_all(top_); }

  std::string file() const { return folder_ + "/" + std::string(StoreFile::file_name); }

  RunStore created() {
    Result<RunStore> store = RunStore::create(folder_, info_of(grid_));
    EXPECT_TRUE(store.ok()) << complaint(store);
    return std::move(*store);
  }

  // Behind the store's back.
  void sql(const std::string& statement) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(file().c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, statement.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
  }

  // What is stored is exactly these runs.
  void expect_stored(const std::vector<RunId>& ids, std::size_t rows = 3) {
    const Result<RunStore> store = RunStore::read(folder_);
    ASSERT_TRUE(store.ok()) << complaint(store);
    EXPECT_EQ(*store->run_count(), ids.size());
    const Result<std::vector<nalm::Run>> runs = store->runs();
    ASSERT_TRUE(runs.ok()) << complaint(runs);
    ASSERT_EQ(runs->size(), ids.size());
    for (const RunId& id : ids) {
      const nalm::Run wanted = run_of(grid_, id, rows);
      bool found = false;
      for (const nalm::Run& run : *runs) {
        if (run.id.module != id.module || run.id.seed != id.seed ||
            name_of(run.id.range.train) != name_of(id.range.train))
          continue;
        found = true;
        expect_same(run, wanted);
      }
      EXPECT_TRUE(found);
    }
    EXPECT_EQ(store->missing()->size(), grid_.run_count() - ids.size());
  }

  fs::path top_;
  std::string folder_;
  const Grid grid_ = small_grid();
  const std::vector<RunId> ids_ = runs_of(grid_);
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

TEST_F(Store, GivesBackEveryBit) {
  {
    RunStore store = created();
    ASSERT_TRUE(store.add(batch_of(grid_, ids_), 1.5).ok());
  }
  expect_stored(ids_);
}

TEST_F(Store, GivesBackTheSettings) {
  RunStore store = created();
  const Result<StoreInfo> info = store.info();
  ASSERT_TRUE(info.ok()) << complaint(info);
  EXPECT_EQ(to_json(info->grid), to_json(grid_));
  EXPECT_EQ(info->command, "nalm bench --seeds \"11,3\"");
  EXPECT_EQ(info->version, "1.2.3");
  EXPECT_EQ(info->simd_target, "scalar");
  EXPECT_EQ(info->created, "2026-01-02T03:04:05Z");
  EXPECT_EQ(info->threads, 5);
  EXPECT_EQ(info->seconds, 0);
  EXPECT_EQ(store.folder(), folder_);
}

TEST_F(Store, AddsUpTheTimes) {
  RunStore store = created();
  ASSERT_TRUE(store.add(batch_of(grid_, {ids_[0]}), 1.5).ok());
  ASSERT_TRUE(store.add(batch_of(grid_, {ids_[1]}), 2).ok());
  const Result<StoreInfo> info = store.info();
  ASSERT_TRUE(info.ok()) << complaint(info);
  EXPECT_EQ(info->seconds, 3.5);
  EXPECT_EQ(info->timings.data, 2);
  EXPECT_EQ(info->timings.evaluation, 4);
  EXPECT_EQ(info->timings.training, 8);
}

TEST_F(Store, GivesRunsInTheOrderOfTheGrid) {
  RunStore store = created();
  for (auto id = ids_.rbegin(); id != ids_.rend(); ++id) ASSERT_TRUE(store.add(batch_of(grid_, {*id}), 0).ok());
  const Result<std::vector<nalm::Run>> runs = store.runs();
  ASSERT_TRUE(runs.ok()) << complaint(runs);
  std::size_t k = 0;
  ASSERT_EQ(runs->size(), 12u);
  for (const Pair& pair : grid_.pairs) {
    for (const TaskRange& range : grid_.ranges) {
      for (const std::uint32_t seed : grid_.seeds) {
        const RunId& id = (*runs)[k++].id;
        EXPECT_EQ(id.module, pair.module);
        EXPECT_EQ(name_of(id.range.train), name_of(range.train));
        EXPECT_EQ(id.seed, seed);
      }
    }
  }
  const Result<std::vector<nalm::Run>> half = store.runs(grid_.pairs[1]);
  ASSERT_TRUE(half.ok()) << complaint(half);
  ASSERT_EQ(half->size(), 6u);
  for (std::size_t r = 0; r < 6; ++r) expect_same((*half)[r], (*runs)[6 + r]);
}

TEST_F(Store, KnowsWhatIsMissing) {
  RunStore store = created();
  EXPECT_EQ(store.missing()->size(), 12u);
  ASSERT_TRUE(store.add(batch_of(grid_, {ids_[1], ids_[4], ids_[11]}), 0).ok());
  const Result<std::vector<RunId>> missing = store.missing();
  ASSERT_TRUE(missing.ok()) << complaint(missing);
  std::vector<RunId> wanted;
  for (const std::size_t k : {0u, 2u, 3u, 5u, 6u, 7u, 8u, 9u, 10u}) wanted.push_back(ids_[k]);
  ASSERT_EQ(missing->size(), wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    EXPECT_EQ((*missing)[k].module, wanted[k].module);
    EXPECT_EQ((*missing)[k].operation, wanted[k].operation);
    EXPECT_EQ((*missing)[k].seed, wanted[k].seed);
    EXPECT_EQ(name_of((*missing)[k].range.train), name_of(wanted[k].range.train));
    EXPECT_EQ(name_of((*missing)[k].range.test), name_of(wanted[k].range.test));
  }
  EXPECT_EQ(*store.run_count(), 3u);
}

TEST_F(Store, GoesOnWhereItEnded) {
  {
    RunStore store = created();
    ASSERT_TRUE(store.add(batch_of(grid_, {ids_[0], ids_[1]}), 1).ok());
  }
  {
    Result<RunStore> store = RunStore::resume(folder_);
    ASSERT_TRUE(store.ok()) << complaint(store);
    ASSERT_TRUE(store->add(batch_of(grid_, *store->missing()), 1).ok());
    EXPECT_EQ(store->info()->seconds, 2);
  }
  expect_stored(ids_);
}

// ---- who may write -------------------------------------------------------------------------------------------------

TEST_F(Store, IsNeverOverwritten) {
  { RunStore store = created(); }
  const std::string message = complaint(RunStore::create(folder_, info_of(grid_)));
  EXPECT_TRUE(contains(message, "already holds results")) << message;
  EXPECT_TRUE(contains(message, "--resume " + folder_)) << message;
  EXPECT_TRUE(contains(message, "--out")) << message;
  expect_stored({});
}

TEST_F(Store, AFileThatWasKilledAtBirthIsNoStoreYet) {
  fs::create_directories(folder_);
  { std::ofstream empty(file()); }
  { RunStore store = created(); }
  expect_stored({});
}

TEST_F(Store, RefusesASecondWriterWhileTheFirstLives) {
  {
    RunStore store = created();
    for (const std::string& message :
         {complaint(RunStore::resume(folder_)), complaint(RunStore::create(folder_, info_of(grid_)))})
      EXPECT_TRUE(contains(message, "another nalm is writing to " + folder_)) << message;
    // Moving it about does not open the lock.
    RunStore moved = std::move(store);
    EXPECT_FALSE(RunStore::resume(folder_).ok());
  }
  EXPECT_TRUE(RunStore::resume(folder_).ok());
}

TEST_F(Store, RefusesASecondWriterInAnotherProcess) {
  RunStore store = created();
  EXPECT_EQ(in_child([&] { return contains(complaint(RunStore::resume(folder_)), "another nalm is writing") ? 7 : 1; }),
            7);
}

TEST_F(Store, IsFreeAgainWhenItsWriterIsKilled) {
  EXPECT_EQ(in_child([&] {
              RunStore store = created();
              if (!store.add(batch_of(grid_, {ids_[2]}), 0).ok()) return 1;
              raise(SIGKILL);
              return 2;
            }),
            1000 + SIGKILL);
  expect_stored({ids_[2]});
  EXPECT_TRUE(RunStore::resume(folder_).ok());
}

TEST_F(Store, CanBeReadWhileItIsWritten) {
  RunStore writer = created();
  const Result<RunStore> reader = RunStore::read(folder_);
  ASSERT_TRUE(reader.ok()) << complaint(reader);
  for (std::size_t k = 0; k < ids_.size(); ++k) {
    ASSERT_TRUE(writer.add(batch_of(grid_, {ids_[k]}), 0).ok());
    EXPECT_EQ(*reader->run_count(), k + 1);
    EXPECT_EQ(reader->runs()->size(), k + 1);
  }
}

// ---- what goes wrong -----------------------------------------------------------------------------------------------

TEST_F(Store, ABatchThatFailsLeavesNothing) {
  RunStore store = created();
  ASSERT_TRUE(store.add(batch_of(grid_, {ids_[0], ids_[1]}), 1).ok());
  // Two new ones, then one that is there already.
  EXPECT_FALSE(store.add(batch_of(grid_, {ids_[2], ids_[3], ids_[1], ids_[4]}), 100).ok());
  EXPECT_EQ(store.info()->seconds, 1);
  EXPECT_EQ(store.info()->timings.training, 4);
  expect_stored({ids_[0], ids_[1]});
  // And the store still works.
  ASSERT_TRUE(store.add(batch_of(grid_, {ids_[2], ids_[3]}), 1).ok());
  expect_stored({ids_[0], ids_[1], ids_[2], ids_[3]});
}

TEST_F(Store, AFailureInTheMiddleOfARunLeavesNothingOfIt) {
  RunStore store = created();
  ASSERT_TRUE(store.add(batch_of(grid_, {ids_[0]}), 1).ok());
  FinishedRuns finished = batch_of(grid_, {ids_[1], ids_[2]});
  finished.runs[1].series.steps[2] = finished.runs[1].series.steps[1];  // a step twice
  EXPECT_FALSE(store.add(finished, 1).ok());
  expect_stored({ids_[0]});
}

TEST_F(Store, AFolderWithoutOneIsRefused) {
  for (const std::string& message : {complaint(RunStore::resume(folder_)), complaint(RunStore::read(folder_))}) {
    EXPECT_TRUE(contains(message, folder_ + " holds no results")) << message;
    EXPECT_TRUE(contains(message, "nalm bench --out " + folder_)) << message;
  }
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(Store, AFolderThatCannotBeMadeIsNamed) {
  { std::ofstream file(top_ / "deep"); }
  const std::string message = complaint(RunStore::create(folder_, info_of(grid_)));
  EXPECT_TRUE(contains(message, folder_ + " cannot be made")) << message;
  EXPECT_TRUE(contains(message, "--out")) << message;
}

TEST_F(Store, AFileThatIsNoDatabaseIsRefused) {
  fs::create_directories(folder_);
  std::ofstream(file()) << std::string(5000, 'x');
  for (const std::string& message : {complaint(RunStore::resume(folder_)), complaint(RunStore::read(folder_))}) {
    EXPECT_TRUE(message.starts_with(file())) << message;
    EXPECT_TRUE(contains(message, "is not a run store")) << message;
  }
  EXPECT_TRUE(contains(complaint(RunStore::create(folder_, info_of(grid_))), "already holds results"));
  EXPECT_EQ(fs::file_size(file()), 5000u);
}

TEST_F(Store, ADatabaseThatIsNoStoreIsRefused) {
  fs::create_directories(folder_);
  sql("CREATE TABLE recipes (name TEXT)");
  for (const std::string& message : {complaint(RunStore::resume(folder_)), complaint(RunStore::read(folder_))})
    EXPECT_TRUE(contains(message, file() + " is not a run store of nalm")) << message;
  sql("CREATE TABLE about (name TEXT, value TEXT)");
  EXPECT_TRUE(contains(complaint(RunStore::read(folder_)), "no entry \"format\""));
}

TEST_F(Store, ANewerFormatIsRefused) {
  { RunStore store = created(); }
  sql("UPDATE about SET value = '2' WHERE name = 'format'");
  for (const std::string& message : {complaint(RunStore::resume(folder_)), complaint(RunStore::read(folder_))}) {
    EXPECT_TRUE(contains(message, "has format 2, and this program knows 1")) << message;
    EXPECT_TRUE(contains(message, "use the version of nalm that wrote it")) << message;
  }
}

TEST_F(Store, DamagedEntriesAreNamed) {
  {
    RunStore store = created();
    ASSERT_TRUE(store.add(batch_of(grid_, {ids_[0]}), 1).ok());
  }
  sql("UPDATE runs SET recipe = '{}'");
  EXPECT_TRUE(contains(complaint(RunStore::read(folder_)->runs()), file() + ": the stored recipe cannot be read"));
  sql("UPDATE runs SET module = 'NUA'");
  EXPECT_TRUE(contains(complaint(RunStore::read(folder_)->runs()), "\"NUA\" is not a module"));
  sql("UPDATE about SET value = '{' WHERE name = 'grid'");
  EXPECT_TRUE(contains(complaint(RunStore::read(folder_)->info()), file() + ": the stored settings cannot be read"));
  EXPECT_FALSE(RunStore::read(folder_)->missing().ok());
  sql("DELETE FROM about WHERE name = 'grid'");
  EXPECT_TRUE(contains(complaint(RunStore::read(folder_)->info()), "no entry \"grid\""));
}

TEST_F(Store, AReadOnlyFolderIsRefusedButCanBeRead) {
  // Who is root may write anyway; a child that is nobody may not. A sanitizer's exit does not matter there.
  const auto as_nobody = [&](auto f) {
    return in_child([&] {
      if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return 3;
      return f();
    });
  };
  {
    RunStore store = created();
    ASSERT_TRUE(store.add(batch_of(grid_, {ids_[0]}), 1).ok());
  }
  fs::permissions(top_, fs::perms(0755));
  fs::permissions(file(), fs::perms(0444));
  fs::permissions(folder_ + "/lock", fs::perms(0444));
  fs::permissions(folder_, fs::perms(0555));
  const std::string empty = (top_ / "empty").string();
  fs::create_directories(empty);
  fs::permissions(empty, fs::perms(0555));
  EXPECT_EQ(as_nobody([&] {
              const std::string message = complaint(RunStore::create(empty, info_of(grid_)));
              return contains(message, empty + " cannot be written to") && contains(message, "--out") ? 7 : 1;
            }),
            7);
  EXPECT_EQ(as_nobody([&] {
              const std::string message = complaint(RunStore::create(empty + "/new", info_of(grid_)));
              return contains(message, empty + "/new cannot be made") && contains(message, "--out") ? 7 : 1;
            }),
            7);
  EXPECT_EQ(as_nobody([&] {
              const std::string message = complaint(RunStore::resume(folder_));
              return contains(message, folder_ + " cannot be written to") ? 7 : 1;
            }),
            7);
  EXPECT_EQ(as_nobody([&] {
              const Result<RunStore> store = RunStore::read(folder_);
              return store && store->runs() && store->runs()->size() == 1 ? 7 : 1;
            }),
            7);
  fs::permissions(folder_, fs::perms(0755));
  fs::permissions(empty, fs::perms(0755));
}

// Files may grow no further: what a quota does.
TEST_F(Store, KeepsWhatIsStoredWhenItsFileCannotGrow) {
  {
    RunStore store = created();
    ASSERT_TRUE(store.add(batch_of(grid_, {ids_[0]}), 1).ok());
  }
  const std::string said = (top_ / "said").string();
  EXPECT_EQ(in_child([&] {
              signal(SIGXFSZ, SIG_IGN);
              Result<RunStore> store = RunStore::resume(folder_);
              if (!store) return 1;
              const rlimit limit{fs::file_size(file()), fs::file_size(file())};
              if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
              const Status added = store->add(batch_of(grid_, {ids_[1], ids_[2]}, 2000), 1);
              if (added) return 3;
              std::ofstream(said) << complaint(added);
              return store->run_count() && *store->run_count() == 1 ? 7 : 4;
            }),
            7);
  std::string message;
  std::getline(std::ifstream(said), message);
  EXPECT_TRUE(contains(message, file())) << message;
  expect_stored({ids_[0]});
  Result<RunStore> store = RunStore::resume(folder_);
  ASSERT_TRUE(store.ok()) << complaint(store);
  ASSERT_TRUE(store->add(batch_of(grid_, {ids_[1], ids_[2]}), 1).ok());
  expect_stored({ids_[0], ids_[1], ids_[2]});
}

TEST_F(Store, KeepsWhatIsStoredWhenTheDiskIsFull) {
  const std::string disk = (top_ / "disk").string();
  fs::create_directories(disk);
  if (mount("none", disk.c_str(), "tmpfs", 0, "size=128k") != 0) GTEST_SKIP() << "no right to mount a small disk";
  struct Unmount {
    const std::string& disk;
    ~Unmount() { EXPECT_EQ(umount2(disk.c_str(), MNT_DETACH), 0); }
  } unmount{disk};
  folder_ = disk + "/results";
  {
    RunStore store = created();
    ASSERT_TRUE(store.add(batch_of(grid_, {ids_[0]}), 1).ok());
    const std::string message = complaint(store.add(batch_of(grid_, {ids_[1], ids_[2]}, 2000), 1));
    EXPECT_TRUE(contains(message, "the disk is full, so " + file() + " could not be written")) << message;
    EXPECT_TRUE(contains(message, "--resume")) << message;
    EXPECT_EQ(*store.run_count(), 1u);
    // There is room for less.
    EXPECT_TRUE(store.add(batch_of(grid_, {ids_[1]}), 1).ok());
  }
  expect_stored({ids_[0], ids_[1]});
  // No room for even the smallest store: the next attempt finds nothing in its way.
  {
    std::ofstream filler(disk + "/filler");
    filler << std::string(200000, 'x');
  }
  const std::string kept = folder_;
  folder_ = disk + "/second";
  const std::string message = complaint(RunStore::create(folder_, info_of(grid_)));
  EXPECT_TRUE(contains(message, "disk is full") || contains(message, "No space left")) << message;
  fs::remove(disk + "/filler");
  fs::remove_all(kept);
  { RunStore store = created(); }
  expect_stored({});
}

}  // namespace
}  // namespace nalm
