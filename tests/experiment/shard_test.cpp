// Shards: every run in one of them, the same everywhere, balanced; and which one a launcher means.
#include "experiment/shard.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "experiment/cells.hpp"
#include "simd/dispatch.hpp"
#include "words.hpp"

namespace nalm::shard_test {
namespace {

using Variables = std::map<std::string, std::string>;

Environment of(Variables variables) {
  return [variables](const char* name) {
    const auto at = variables.find(name);
    return at == variables.end() ? std::string() : at->second;
  };
}

std::string shard_in(Variables variables) {
  const Result<Shard> shard = shard_of(of(std::move(variables)));
  return shard ? shard->text() : shard.error().message;
}

// ---- which one -----------------------------------------------------------------------------------------------------

TEST(Shards, AreReadFromText) {
  EXPECT_EQ(parse_shard("3/16")->text(), "3/16");
  EXPECT_EQ(parse_shard(" 1 / 1 ")->text(), "1/1");
  for (const char* wrong : {"", "3", "0/4", "5/4", "-1/4", "3/", "/4", "a/b", "3/4/5", "1/99999999999", "1.5/4"}) {
    const std::string message = complaint(parse_shard(wrong));
    EXPECT_TRUE(contains(message, "is not a shard; write --shard 3/16")) << wrong << ": " << message;
  }
}

TEST(Shards, FollowALauncher) {
  EXPECT_EQ(shard_in({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "4"}}), "1/4");
  EXPECT_EQ(shard_in({{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}}), "4/4");
  EXPECT_EQ(shard_in({{"SLURM_PROCID", "2"}, {"SLURM_STEP_NUM_TASKS", "4"}}), "3/4");
  // mpirun inside of a Slurm job: its own count.
  EXPECT_EQ(shard_in({{"OMPI_COMM_WORLD_RANK", "5"},
                      {"OMPI_COMM_WORLD_SIZE", "8"},
                      {"SLURM_PROCID", "0"},
                      {"SLURM_STEP_NUM_TASKS", "2"}}),
            "6/8");
}

TEST(Shards, FollowASlurmArray) {
  const auto array = [](const char* id, const char* first, const char* last, const char* step, const char* count) {
    return Variables{{"SLURM_ARRAY_TASK_ID", id},       {"SLURM_ARRAY_TASK_MIN", first},
                     {"SLURM_ARRAY_TASK_MAX", last},    {"SLURM_ARRAY_TASK_STEP", step},
                     {"SLURM_ARRAY_TASK_COUNT", count}, {"SLURM_PROCID", "0"}};  // in an array it is 0 everywhere
  };
  EXPECT_EQ(shard_in(array("3", "1", "16", "1", "16")), "3/16");
  EXPECT_EQ(shard_in(array("0", "0", "15", "1", "16")), "1/16");
  EXPECT_EQ(shard_in(array("7", "1", "10", "3", "4")), "3/4");
  // --array=1,3,7
  EXPECT_TRUE(contains(shard_in(array("3", "1", "7", "1", "3")), "has gaps"));
  // A step of four tasks in each of sixteen jobs.
  Variables both = array("3", "1", "16", "1", "16");
  both["SLURM_PROCID"] = "1";
  both["SLURM_STEP_NUM_TASKS"] = "4";
  EXPECT_EQ(shard_in(both), "10/64");
}

TEST(Shards, SayThatNobodyCounts) {
  EXPECT_TRUE(contains(shard_in({}), "write --shard K/N"));
  EXPECT_TRUE(contains(shard_in({{"SLURM_PROCID", "0"}}), "write --shard K/N"));  // a batch script is no step
  EXPECT_TRUE(contains(shard_in({{"PMI_RANK", "4"}, {"PMI_SIZE", "4"}}), "write --shard K/N"));
  EXPECT_EQ(launched_process(of({})).count, 1);
}

// ---- the partition -------------------------------------------------------------------------------------------------

struct Parts {
  std::vector<Cell> cells;
  std::vector<std::vector<RunId>> runs;
};

Parts parts_of(const Plan& plan, int count) {
  Parts parts{*cells_of(plan), {}};
  for (int k = 1; k <= count; ++k) parts.runs.push_back(runs_of({k, count}, *plan.task, parts.cells, plan.seeds));
  return parts;
}

double cost_of_runs(const Parts& parts, const std::vector<RunId>& runs) {
  double cost = 0;
  for (const RunId& run : runs) cost += cost_of(parts.cells[run.cell]);
  return cost;
}

Plan survey() {
  Plan plan = test::plan_of("single-module", "primer");
  plan.seeds = *parse_seeds("0..24");
  return plan;
}

TEST(Shards, OfEveryTaskHaveEveryRunOnce) {
  for (const Task* task : all_tasks()) {
    Plan plan = test::plan_of(task->name, task->presets.front().name);
    plan.seeds = *parse_seeds("0..2");
    for (const int count : {1, 2, 5, 64}) {
      SCOPED_TRACE(std::string(task->name) + ", " + std::to_string(count));
      const Parts parts = parts_of(plan, count);
      std::set<RunId> seen;
      std::size_t sum = 0;
      for (const std::vector<RunId>& runs : parts.runs) seen.insert(runs.begin(), runs.end()), sum += runs.size();
      EXPECT_EQ(seen.size(), parts.cells.size() * plan.seeds.size());
      EXPECT_EQ(sum, seen.size());
    }
  }
}

TEST(Shards, CostTheSame) {
  for (const int count : {2, 7, 16, 40}) {
    const Parts parts = parts_of(survey(), count);
    double largest = 0, sum = 0, unit = 0;
    for (const std::vector<RunId>& runs : parts.runs) {
      largest = std::max(largest, cost_of_runs(parts, runs));
      sum += cost_of_runs(parts, runs);
    }
    for (const Cell& cell : parts.cells) unit = std::max(unit, 16 * cost_of(cell));
    // One piece more than the mean is what neighbours may cost.
    EXPECT_LE(largest, sum / count + unit) << count;
  }
}

TEST(Shards, ShareDataAsTheWholeDoes) {
  // Whole bundles with all pairs, but for the two at the cuts: 225 places are 15 bundles.
  const Parts parts = parts_of(survey(), 7);
  for (const std::vector<RunId>& runs : parts.runs) {
    std::map<std::pair<std::string, std::uint32_t>, std::size_t> pairs;
    for (const RunId& run : runs) ++pairs[{parts.cells[run.cell].setting, run.seed}];
    const auto whole = std::count_if(pairs.begin(), pairs.end(), [](const auto& place) { return place.second == 23; });
    EXPECT_LE(pairs.size() - static_cast<std::size_t>(whole), 32u);
  }
}

TEST(Shards, ManyLeaveNobodyWithoutWorkWhileThereIsSome) {
  Plan plan = test::plan_of("single-module", "primer", "NAU", "add", "6");
  plan.seeds = *parse_seeds("0..15");
  for (const std::vector<RunId>& runs : parts_of(plan, 16).runs) EXPECT_EQ(runs.size(), 1u);
  std::size_t empty = 0;
  for (const std::vector<RunId>& runs : parts_of(plan, 20).runs) empty += runs.empty() ? 1 : 0;
  EXPECT_EQ(empty, 4u);
}

// They were made on one machine and are compared on another: this list may change with a version, not with a machine.
TEST(Shards, AreTheSameOnEveryMachine) {
  std::vector<std::size_t> sizes;
  const Parts parts = parts_of(survey(), 7);
  for (const std::vector<RunId>& runs : parts.runs) sizes.push_back(runs.size());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{735, 750, 750, 735, 750, 735, 720}));
  EXPECT_EQ(parts.runs[1].front(), (RunId{28, 5}));
}

}  // namespace
}  // namespace nalm::shard_test
