// The store of a task keeps every bit, and knows what it is.
#include "tasks/task_store.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <stdlib.h>

#include <bit>
#include <cstdint>
#include <filesystem>
#include <limits>

#include "bench/run_store.hpp"
#include "bench/store_file.hpp"
#include "words.hpp"

namespace nalm {
namespace {

namespace fs = std::filesystem;

constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

TaskPlan small_plan() {
  TaskPlan plan;
  plan.task = *find_task("arithmetic-dataset");
  plan.preset = "full";
  plan.models = "nau";  // upper or lower case
  plan.seeds = {3, 0, 4294967295u};
  plan.iterations = 20;
  plan.learning_rate = 0.0;
  return plan;
}

TaskStoreInfo info_of(const TaskPlan& plan) {
  return {plan, "nalm bench --task arithmetic-dataset", "1.2.3", "scalar", "2026-01-02T03:04:05Z", 5, 0};
}

StoreInfo other_kind() {
  Grid grid;
  grid.pairs = {{*find_module("NAU"), Operation::Add}};
  grid.ranges = {paper_ranges()[6]};
  grid.seeds = {0};
  return {grid, "nalm bench", "1.2.3", "scalar", "2026-01-02T03:04:05Z", 1, 0, {}};
}

// Numbers that a careless format would change.
RunRecord record_of(const Arm& arm, const TaskRunId& id) {
  const double numbers[] = {0.1, nan, infinity, -infinity, 5e-324, 1.0 / 3, -0.0, 1e308};
  std::size_t k = id.seed % 8 + id.arm;
  RunRecord record;
  for (long step = 0; step < 3; ++step) {
    record.steps.push_back(1000 * step);
    record.values.emplace_back();
    for (std::size_t m = 0; m < arm.measures.size(); ++m) record.values.back().push_back(numbers[k++ % 8]);
  }
  for (int p = 0; p < 5; ++p) record.parameters.push_back(numbers[k++ % 8]);
  record.note = "y = x1*x2, \"found\"\n";
  return record;
}

void expect_same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k)
    EXPECT_EQ(std::bit_cast<std::uint64_t>(a[k]), std::bit_cast<std::uint64_t>(b[k])) << a[k] << " and " << b[k];
}

class TaskStoreTest : public testing::Test {
 protected:
  TaskStoreTest() {
    std::string pattern = (fs::temp_directory_path() / "nalm-task-store-XXXXXX").string();
    top_ = mkdtemp(pattern.data());
    folder_ = (top_ / "deep" / "results").string();
  }
  ~TaskStoreTest() override { fs::remove_all(top_); }

  TaskStore created() {
    Result<TaskStore> store = TaskStore::create(folder_, info_of(plan_));
    EXPECT_TRUE(store.ok()) << complaint(store);
    return std::move(*store);
  }

  // Behind the store's back.
  void sql(const std::string& statement) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open((folder_ + "/" + std::string(StoreFile::file_name)).c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, statement.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
  }

  fs::path top_;
  std::string folder_;
  const TaskPlan plan_ = small_plan();
};

TEST_F(TaskStoreTest, GivesBackEveryBit) {
  {
    TaskStore store = created();
    const Result<std::vector<TaskRunId>> missing = store.missing();
    ASSERT_TRUE(missing.ok()) << complaint(missing);
    ASSERT_EQ(missing->size(), 6u);  // add and sub with NAU
    for (const TaskRunId& id : *missing)
      ASSERT_TRUE(store.add(id, record_of(store.arms()[id.arm], id), 0.25, 1.5).ok());
    EXPECT_EQ(store.info().seconds, 9);
  }
  const Result<TaskStore> store = TaskStore::read(folder_);
  ASSERT_TRUE(store.ok()) << complaint(store);
  EXPECT_EQ(store->info().seconds, 9);
  const Result<std::vector<StoredTaskRun>> runs = store->runs();
  ASSERT_TRUE(runs.ok()) << complaint(runs);
  ASSERT_EQ(runs->size(), 6u);
  for (std::size_t k = 0; k < 6; ++k) {
    const StoredTaskRun& run = (*runs)[k];
    EXPECT_EQ(run.id.arm, k / 3);
    EXPECT_EQ(run.id.seed, (std::vector<std::uint32_t>{0, 3, 4294967295u}[k % 3]));
    EXPECT_EQ(run.seconds, 0.25);
    const RunRecord wanted = record_of(store->arms()[run.id.arm], run.id);
    EXPECT_EQ(run.record.steps, wanted.steps);
    for (std::size_t r = 0; r < 3; ++r) expect_same_bits(run.record.values[r], wanted.values[r]);
    expect_same_bits(run.record.parameters, wanted.parameters);
    EXPECT_EQ(run.record.note, wanted.note);
    // As it was trained, with the regularisers of each layer.
    EXPECT_TRUE(contains(run.recipe, "\"iterations\":20")) << run.recipe;
    EXPECT_TRUE(contains(run.recipe, "\"learning_rate\":0.0")) << run.recipe;
    EXPECT_TRUE(contains(run.recipe, "\"layers\":[{\"regularisers\":[{")) << run.recipe;
  }
}

TEST_F(TaskStoreTest, GivesBackThePlan) {
  { TaskStore store = created(); }
  const Result<TaskStore> store = TaskStore::resume(folder_);
  ASSERT_TRUE(store.ok()) << complaint(store);
  const TaskStoreInfo& info = store->info();
  EXPECT_EQ(info.plan.task, plan_.task);
  EXPECT_EQ(info.plan.preset, "full");
  EXPECT_EQ(info.plan.models, "nau");
  EXPECT_EQ(info.plan.operations, "");
  EXPECT_EQ(info.plan.seeds, plan_.seeds);
  EXPECT_EQ(info.plan.iterations, 20);
  EXPECT_EQ(info.plan.log_every, std::nullopt);
  EXPECT_EQ(info.plan.learning_rate, 0.0);
  EXPECT_EQ(info.command, "nalm bench --task arithmetic-dataset");
  EXPECT_EQ(info.version, "1.2.3");
  EXPECT_EQ(info.simd_target, "scalar");
  EXPECT_EQ(info.created, "2026-01-02T03:04:05Z");
  EXPECT_EQ(info.threads, 5);
  EXPECT_EQ(store->folder(), folder_);
  ASSERT_EQ(store->arms().size(), 2u);
  EXPECT_EQ(store->arms()[1].cell(), "NAU | sub | U[1,2)");
}

TEST_F(TaskStoreTest, KnowsWhatIsMissing) {
  TaskStore store = created();
  const TaskRunId ids[] = {{1, 3}, {0, 4294967295u}};
  for (const TaskRunId& id : ids) ASSERT_TRUE(store.add(id, record_of(store.arms()[id.arm], id), 0, 0).ok());
  const Result<std::vector<TaskRunId>> missing = store.missing();
  ASSERT_TRUE(missing.ok()) << complaint(missing);
  // All arms of a seed, then the next one.
  const std::pair<std::size_t, std::uint32_t> wanted[] = {{0, 3}, {0, 0}, {1, 0}, {1, 4294967295u}};
  ASSERT_EQ(missing->size(), std::size(wanted));
  for (std::size_t k = 0; k < std::size(wanted); ++k)
    EXPECT_EQ(std::pair((*missing)[k].arm, (*missing)[k].seed), wanted[k]);
}

TEST_F(TaskStoreTest, ARunIsThereAsAWholeOrNotAtAll) {
  TaskStore store = created();
  const TaskRunId id{0, 3};
  ASSERT_TRUE(store.add(id, record_of(store.arms()[0], id), 0, 1).ok());
  EXPECT_FALSE(store.add(id, record_of(store.arms()[0], id), 0, 1).ok());
  RunRecord twice = record_of(store.arms()[0], {0, 0});
  twice.steps[2] = twice.steps[1];
  EXPECT_FALSE(store.add({0, 0}, twice, 0, 1).ok());
  EXPECT_EQ(store.runs()->size(), 1u);
  EXPECT_EQ(store.info().seconds, 1);
  EXPECT_EQ(TaskStore::read(folder_)->info().seconds, 1);
}

TEST_F(TaskStoreTest, IsNeverOverwrittenAndHasOneWriter) {
  {
    TaskStore store = created();
    EXPECT_TRUE(contains(complaint(TaskStore::resume(folder_)), "another nalm is writing to " + folder_));
    EXPECT_TRUE(TaskStore::read(folder_).ok());
  }
  for (const std::string& message :
       {complaint(TaskStore::create(folder_, info_of(plan_))), complaint(RunStore::create(folder_, other_kind()))}) {
    EXPECT_TRUE(contains(message, "already holds results")) << message;
    EXPECT_TRUE(contains(message, "--resume " + folder_)) << message;
  }
}

TEST_F(TaskStoreTest, EachKindOfStoreKnowsTheOther) {
  EXPECT_FALSE(TaskStore::is_one(folder_));
  { TaskStore store = created(); }
  EXPECT_TRUE(TaskStore::is_one(folder_));
  for (const std::string& message : {complaint(RunStore::read(folder_)), complaint(RunStore::resume(folder_))}) {
    EXPECT_TRUE(contains(message, folder_ + " holds results of the task arithmetic-dataset")) << message;
    EXPECT_TRUE(contains(message, "nalm table")) << message;
  }
  const std::string single = (top_ / "single").string();
  ASSERT_TRUE(RunStore::create(single, other_kind()).ok());
  EXPECT_FALSE(TaskStore::is_one(single));
  for (const std::string& message : {complaint(TaskStore::read(single)), complaint(TaskStore::resume(single))})
    EXPECT_TRUE(contains(message, single + " holds results of the single module task")) << message;
  // The lock is free again.
  EXPECT_TRUE(RunStore::resume(single).ok());
  EXPECT_TRUE(TaskStore::resume(folder_).ok());
}

TEST_F(TaskStoreTest, WhatThisVersionDoesNotHaveIsNamed) {
  {
    TaskStore store = created();
    ASSERT_TRUE(store.add({0, 3}, record_of(store.arms()[0], {0, 3}), 0, 1).ok());
  }
  sql("UPDATE series SET measured = x'0000000000000000'");
  EXPECT_TRUE(contains(complaint(TaskStore::read(folder_)->runs()), "NAU | add | U[1,2)"));
  sql("UPDATE runs SET model = 'NUA'");
  const std::string message = complaint(TaskStore::read(folder_)->runs());
  EXPECT_TRUE(contains(message, "NUA | add | U[1,2)")) << message;
  EXPECT_TRUE(contains(message, "use version 1.2.3 of nalm")) << message;
  sql("UPDATE about SET value = '[1' WHERE name = 'seeds'");
  EXPECT_TRUE(contains(complaint(TaskStore::read(folder_)), "the entry \"seeds\" cannot be read"));
  sql("UPDATE about SET value = 'juggling' WHERE name = 'task'");
  EXPECT_TRUE(contains(complaint(TaskStore::read(folder_)), "there is no task \"juggling\""));
  sql("DELETE FROM about WHERE name = 'preset'");
  EXPECT_TRUE(contains(complaint(TaskStore::read(folder_)), "no entry \"preset\""));
}

// ---- arms ----

TEST(ArmsOf, NamesSelectAndWrongNamesAreAnswered) {
  TaskPlan plan;
  plan.task = *find_task("arithmetic-dataset");
  plan.preset = "full";
  EXPECT_EQ(arms_of(plan)->size(), 4u);
  plan.models = "NAU, NAC+";
  plan.operations = "sub";
  plan.settings = "U[1,2)";  // one name, in spite of its comma
  const Result<std::vector<Arm>> arms = arms_of(plan);
  ASSERT_TRUE(arms.ok()) << complaint(arms);
  ASSERT_EQ(arms->size(), 2u);
  EXPECT_EQ((*arms)[1].cell(), "NAC+ | sub | U[1,2)");

  plan.models = "NUA";
  EXPECT_TRUE(contains(complaint(arms_of(plan)), "no model \"NUA\"")) << complaint(arms_of(plan));
  EXPECT_TRUE(contains(complaint(arms_of(plan)), "NAU, NAC+")) << complaint(arms_of(plan));
  plan.models = "";
  plan.operations = "sub,plus";
  EXPECT_TRUE(contains(complaint(arms_of(plan)), "no operation \"plus\"")) << complaint(arms_of(plan));
  EXPECT_TRUE(contains(complaint(arms_of(plan)), "add, sub")) << complaint(arms_of(plan));
  plan.operations = "";
  plan.settings = "U[7,8)";
  EXPECT_TRUE(contains(complaint(arms_of(plan)), "no setting \"U[7,8)\"")) << complaint(arms_of(plan));
  // Each name is looked for among what is left.
  plan.preset = "product";
  plan.models = "NMU";
  plan.operations = "add";
  plan.settings = "";
  EXPECT_TRUE(contains(complaint(arms_of(plan)), "no operation \"add\" for these models; there is: mul."))
      << complaint(arms_of(plan));
  plan.preset = "quickest";
  EXPECT_TRUE(contains(complaint(arms_of(plan)), "no preset \"quickest\"")) << complaint(arms_of(plan));
}

TEST(ArmsOf, NamesMayHaveCommas) {
  TaskPlan plan;
  plan.task = *find_task("sir-discovery");
  plan.preset = "full";
  const std::pair<const char*, std::size_t> settings[] = {{"hidden 6, L1 0.1", 1},
                                                          {"hidden 9,L1 0, hidden 6, L1 0.1", 2}};
  for (const auto& [names, cells] : settings) {
    plan.settings = names;
    ASSERT_TRUE(arms_of(plan).ok()) << complaint(arms_of(plan));
    EXPECT_EQ(arms_of(plan)->size(), cells) << names;
  }
  plan.settings = "hidden 6";
  EXPECT_TRUE(contains(complaint(arms_of(plan)), "no setting \"hidden 6\"")) << complaint(arms_of(plan));
  // A name that is a list of other names does not take their place.
  plan.task = *find_task("CalcNet");
  plan.preset = "quick";
  plan.settings = "";
  plan.models = "NAU, NMU, NMRU, NRU-power";
  ASSERT_TRUE(arms_of(plan).ok()) << complaint(arms_of(plan));
  EXPECT_EQ(arms_of(plan)->size(), 6u);
  plan.task = *find_task("nlrl-functions");
  plan.models = "";
  plan.settings = "wide";
  EXPECT_TRUE(contains(complaint(arms_of(plan)), "has no settings to choose from")) << complaint(arms_of(plan));
}

}  // namespace
}  // namespace nalm
