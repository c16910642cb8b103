// nalm bench --shard and nalm merge as users see them.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/bench_fixture.hpp"

namespace nalm::shard_cli_test {
namespace {

TEST_F(BenchCli, ShardsMergeToTheSameBytes) {
  const std::pair<const char*, int> cases[] = {
      {"--modules NAU,NMU,iNALU --ranges 4,6,8 --seeds 0..6 --iterations 60 --log-every 20", 4},
      {"--task arithmetic-dataset --preset quick --seeds 0..2 --iterations 20 --log-every 10", 3},
      {"--task formulas --only spring_energy,parallel_resistors --rows 30 --noise 0", 2}};
  for (const auto& [plan, count] : cases) {
    SCOPED_TRACE(plan);
    const std::string bench = std::string("bench ") + plan + " --quiet";
    const int judged = program(bench + " --out whole --series whole.csv").exit_code;
    std::string parts;
    std::size_t runs = 0;
    for (int k = 1; k <= count; ++k) {
      const std::string part = "part-" + std::to_string(k), shard = std::to_string(k) + "/" + std::to_string(count);
      const Outcome run = program(bench + " --shard " + shard + " --out " + part);
      ASSERT_EQ(run.exit_code, 0) << run.err;
      EXPECT_LT(stored(part), stored("whole"));
      runs += stored(part);
      parts += part + " ";
    }
    EXPECT_EQ(runs, stored("whole"));
    const Outcome merged = program("merge " + parts + "--out all");
    EXPECT_EQ(merged.exit_code, 0) << merged.out << merged.err;
    EXPECT_TRUE(
        contains(merged.out, std::to_string(runs) + " runs of " + std::to_string(count) + " folders are in all"))
        << merged.out;
    EXPECT_EQ(program("bench --resume all --quiet --series all.csv").exit_code, judged);
    EXPECT_TRUE(text_of(folder_ / "all.csv") == text_of(folder_ / "whole.csv"));
    EXPECT_EQ(found_in("all"), found_in("whole"));
    for (const auto& entry : fs::directory_iterator(folder_)) fs::remove_all(entry.path());
  }
}

TEST_F(BenchCli, AMergeNamesWhatIsMissingAndResumeTrainsIt) {
  make_small("--out whole --series whole.csv");
  make_small("--shard 1/3 --out a");
  make_small("--shard 3/3 --out c");
  const Outcome merged = program("merge a c --out all");
  EXPECT_EQ(merged.exit_code, 1) << merged.err;
  EXPECT_TRUE(contains(merged.out, "missing: ")) << merged.out;
  EXPECT_TRUE(contains(merged.out, "No folder has the shards 2/3.\n")) << merged.out;
  EXPECT_TRUE(contains(merged.out, "2 runs are missing; nalm bench --resume all trains them.\n")) << merged.out;
  const Outcome rest = program("bench --resume all --series rest.csv");
  EXPECT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_TRUE(contains(rest.out, "2 runs trained")) << rest.out;
  EXPECT_TRUE(text_of(folder_ / "rest.csv") == text_of(folder_ / "whole.csv"));
}

// A job that is started again goes on; so does --resume, which needs no shard.
TEST_F(BenchCli, TheSameShardGoesOn) {
  const std::string shard = std::string(small) + " --shard 2/2 --out part";
  const Outcome first = program(shard);
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_TRUE(contains(first.err, "6 runs, 3 cells of 2 seeds, of which shard 2/2 has 2 runs; results go to part.\n"))
      << first.err;
  EXPECT_TRUE(contains(first.out, "shard 2/2 is complete.\nNext, with all shards: nalm merge part ... --out DIR\n"))
      << first.out;
  sql("part", "DELETE FROM series WHERE run = 1; DELETE FROM runs WHERE id = 1");
  for (const std::string& again : {shard, std::string("bench --resume part")}) {
    const Outcome run = program(again);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(stored("part"), 2u);
  }
  EXPECT_TRUE(contains(program(shard).err, "2 runs are there already.\n"));
  // Other settings, or another shard, are another matter.
  for (const char* other : {" --shard 1/2 --out part", " --shard 2/2 --learning-rate 0 --out part", " --out part"})
    expect_refused(program(std::string(small) + other), {"part already holds results"});
}

TEST_F(BenchCli, ShardAutoAsksTheLauncher) {
  const std::string arguments = std::string(small) + " --quiet --shard auto --out part";
  expect_refused(program(arguments), {"--shard auto", "--shard K/N"});
  EXPECT_EQ(program(arguments, "PMI_RANK=1 PMI_SIZE=2").exit_code, 0);
  EXPECT_EQ(program(arguments, "SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=2").exit_code, 0);
  EXPECT_EQ(stored("part-1-of-2") + stored("part-2-of-2"), 6u);
  make_small("--shard 1/2");
  EXPECT_EQ(stored("nalm-results-1-of-2"), 4u);
}

TEST_F(BenchCli, ShardsThatMakeNoSenseAreRefused) {
  expect_refused(program(std::string(small) + " --shard 3/2"), {"\"3/2\" is not a shard"});
  expect_refused(program(std::string(small) + " --shard 1/2 --out part.csv"), {"--out", "nalm merge"});
  make_small("--shard 1/2 --out part");
  expect_refused(program("bench --resume part --shard 1/2"), {"--resume", "leave the other options away"});
  expect_refused(program("merge part"), {"--out"});
  expect_refused(program("merge --out all"), {"nothing to merge"});
  expect_refused(program("merge part part --out part"), {"part", "not empty"});
}

}  // namespace
}  // namespace nalm::shard_cli_test
