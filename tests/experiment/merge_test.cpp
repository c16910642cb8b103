// Merging keeps every bit, and refuses what does not belong together.
#include "experiment/merge.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "experiment/shard.hpp"
#include "experiment/store_fixture.hpp"

namespace nalm::merge_test {
namespace {

namespace fs = std::filesystem;

class MergeTest : public StoreTest {
 protected:
  std::string at(const std::string& name) const { return (top_ / name).string(); }

  // A store of some runs.
  std::string make(const std::string& name, const std::vector<RunId>& ids, StoreInfo info,
                   const std::function<void(FinishedRun&)>& change = {}) {
    Result<Store> store = Store::create(at(name), info);
    EXPECT_TRUE(store.ok()) << complaint(store);
    FinishedRuns runs = batch(ids);
    if (change)
      for (FinishedRun& run : runs.runs) change(run);
    EXPECT_TRUE(store->add(runs, 2).ok());
    return at(name);
  }
  std::string make(const std::string& name, const std::vector<RunId>& ids) { return make(name, ids, info_of(plan_)); }

  std::vector<RunId> some(std::size_t first, std::size_t end) const {
    return {ids_.begin() + static_cast<std::ptrdiff_t>(first), ids_.begin() + static_cast<std::ptrdiff_t>(end)};
  }

  // It is refused for this reason, and leaves nothing behind.
  void expect_refused(const std::vector<std::string>& folders, const std::vector<std::string>& parts) {
    const std::string message = complaint(merge_stores(folders, at("all")));
    for (const std::string& part : parts) EXPECT_TRUE(contains(message, part)) << part << " in " << message;
    for (const auto& entry : fs::directory_iterator(top_))
      EXPECT_FALSE(entry.path().filename().string().starts_with("all")) << entry.path();
  }
};

TEST_F(MergeTest, KeepsEveryBit) {
  const std::string a = make("a", some(0, 5)), b = make("b", some(5, 6)), c = make("c", some(6, 12));
  const Result<Merged> merged = merge_stores({a, b, c}, at("all") + "/");
  ASSERT_TRUE(merged.ok()) << complaint(merged);
  EXPECT_EQ(merged->runs, 12u);
  EXPECT_EQ(merged->duplicates, 0u);
  EXPECT_TRUE(merged->missing.empty());
  folder_ = at("all");
  expect_stored(ids_);
  const Result<Store> store = Store::read(folder_);
  EXPECT_EQ(store->info().seconds, 6);
  EXPECT_EQ(store->info().shard, "");
  EXPECT_EQ(to_json(store->info().plan), to_json(plan_));
  EXPECT_EQ(store->info().command, command_of(plan_));
}

TEST_F(MergeTest, AcceptsEqualDuplicatesHoweverLongTheyTook) {
  const std::string a = make("a", some(0, 8));
  const std::string b = make("b", some(6, 12), info_of(plan_), [](FinishedRun& run) { run.seconds = 9; });
  const Result<Merged> merged = merge_stores({a, b, a}, at("all"));
  ASSERT_TRUE(merged.ok()) << complaint(merged);
  EXPECT_EQ(merged->runs, 12u);
  EXPECT_EQ(merged->duplicates, 10u);
}

TEST_F(MergeTest, RefusesUnequalDuplicatesByName) {
  const std::function<void(RunRecord&)> changes[] = {
      [](RunRecord& record) { record.values[1][0] = 0.5; },
      [](RunRecord& record) { record.parameters[2][0] = 0.5; },
      [](RunRecord& record) { record.note = "y = x1"; },
      [](RunRecord& record) { record.steps.back() = 2001; },
      [](RunRecord& record) { record.facts.front().second = "no"; },
      [](RunRecord& record) { record.steps.pop_back(), record.values.pop_back(), record.parameters.pop_back(); }};
  const std::string a = make("a", some(0, 8));
  int k = 0;
  for (const auto& change : changes) {
    const std::string b = make("b" + std::to_string(k++), some(7, 9), info_of(plan_), [&](FinishedRun& run) {
      if (run.id == ids_[7]) change(run.record);
    });
    expect_refused({a, b}, {b, cells_[ids_[7].cell].name() + " with seed 3", "with other numbers"});
  }
}

TEST_F(MergeTest, RefusesWhatWasMadeInAnotherWay) {
  const std::string a = make("a", some(0, 4));
  StoreInfo newer = info_of(plan_);
  newer.version = "1.2.4";
  expect_refused({a, make("b", some(4, 8), newer)}, {"version 1.2.3", "version 1.2.4", at("a"), at("b")});
  StoreInfo other = info_of(plan_);
  other.plan.iterations = 3000;
  expect_refused({a, make("c", some(4, 8), other)}, {"different settings", "--iterations 2000", "--iterations 3000"});
  expect_refused({a, at("none")}, {"none holds no results"});
  expect_refused({}, {"nothing to merge"});
}

TEST_F(MergeTest, NeverWritesOverSomething) {
  const std::string a = make("a", some(0, 4)), b = make("b", some(4, 8));
  EXPECT_TRUE(contains(complaint(merge_stores({a, b}, a)), "not empty"));
  EXPECT_TRUE(contains(complaint(merge_stores({a, b}, file())), ""));
  fs::create_directories(at("empty"));
  EXPECT_TRUE(merge_stores({a, b}, at("empty")).ok());
  EXPECT_TRUE(contains(complaint(merge_stores({a, b}, at("empty"))), "not empty"));
  folder_ = a;
  expect_stored(some(0, 4));
}

TEST_F(MergeTest, NamesWhatIsMissing) {
  StoreInfo first = info_of(plan_), third = info_of(plan_);
  first.shard = "1/3", third.shard = "3/3";
  const Result<Merged> merged = merge_stores({make("a", some(0, 5), first), make("c", some(6, 12), third)}, at("all"));
  ASSERT_TRUE(merged.ok()) << complaint(merged);
  EXPECT_EQ(merged->missing, (std::vector<std::string>{cells_[ids_[5].cell].name() + " with seed 3"}));
  EXPECT_EQ(merged->missing_shards, (std::vector<std::string>{"2/3"}));
}

// A shard knows what it is to train; what is merged, that all of it is.
TEST_F(MergeTest, TheRestIsToDo) {
  StoreInfo second = info_of(plan_);
  second.shard = "2/3";
  const std::vector<RunId> own = runs_of({2, 3}, *plan_.task, cells_, plan_.seeds);
  ASSERT_GT(own.size(), 1u);
  const std::string part = make("b", {own[0]}, second);
  {
    const Result<Store> store = Store::resume(part);
    EXPECT_EQ(store->info().shard, "2/3");
    EXPECT_EQ(*runs_wanted(*store), own.size());
    EXPECT_EQ(runs_to_do(*store)->size(), own.size() - 1);
  }
  ASSERT_TRUE(merge_stores({part}, at("all")).ok());
  const Result<Store> store = Store::resume(at("all"));
  EXPECT_EQ(*runs_wanted(*store), 12u);
  EXPECT_EQ(runs_to_do(*store)->size(), 11u);
}

}  // namespace
}  // namespace nalm::merge_test
