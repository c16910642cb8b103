// The paper's numbers as the program has them, against a few read off the file by hand.
#include "bench/published.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "bench/grid.hpp"

namespace nalm {
namespace {

TEST(Published, HasEveryCellOfThePapersGridOnce) {
  EXPECT_EQ(published_cells().size(), 207u);
  EXPECT_EQ(PublishedCell::runs, 25);
  std::vector<std::string> skipped;
  const Preset& primer = **find_preset("primer");
  const auto pairs = make_pairs(*parse_modules(primer.modules), *parse_operations(primer.operations), skipped);
  ASSERT_TRUE(pairs.ok());
  std::set<const PublishedCell*> found;
  for (const Pair& pair : *pairs) {
    for (const TaskRange& range : paper_ranges()) {
      const PublishedCell* cell = find_published(pair.module->name, pair.operation, name_of(range.train));
      ASSERT_TRUE(cell) << pair.module->name << " " << name_of(pair.operation) << " " << name_of(range.train);
      found.insert(cell);
    }
  }
  EXPECT_EQ(found.size(), 207u);
}

TEST(Published, HasNoOtherCell) {
  EXPECT_EQ(find_published("NAU", Operation::Multiply, "U[1,2)"), nullptr);
  EXPECT_EQ(find_published("NLRL", Operation::Add, "U[1,2)"), nullptr);
  EXPECT_EQ(find_published("NAU", Operation::Add, "U[1,3)"), nullptr);
  EXPECT_EQ(find_published("NAU", Operation::Add, "[1,2)"), nullptr);
}

TEST(Published, HasLaterModulesWithTheirSource) {
  int later = 0;
  for (const ModuleInfo* module : all_modules()) {
    for (const Operation operation : module->operations) {
      for (const TaskRange& range : paper_ranges()) {
        const PublishedCell* cell = find_published(module->name, operation, name_of(range.train));
        if (!cell || cell->source.empty()) continue;
        ++later;
        // Without a sign of its own it fails wherever an input is negative.
        const bool fails = module->name == "MulMC-FC" && range.train.lo < 0;
        EXPECT_EQ(cell->success.value, fails ? 0 : 1) << module->name << " " << name_of(range.train);
      }
    }
  }
  EXPECT_EQ(later, 36);
  EXPECT_EQ(find_published_mean("RealNPU-modified", Operation::Divide, 10)->success.value, 0.853);
  EXPECT_EQ(find_published_mean("NMRU", Operation::Divide, 10)->success.value, 0.916);
  EXPECT_EQ(find_published_mean("RealNPU", Operation::Divide, 10)->success.value, 0.702);
  EXPECT_EQ(find_published_mean("NMRU", Operation::Divide, 2), nullptr);
  EXPECT_EQ(find_published("NMU", Operation::Multiply, "U[1,2)", 10), nullptr);
}

void expect_estimate(const Estimate& e, double value, double lo, double hi) {
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  EXPECT_TRUE(same(e.value, value) && same(e.lo, lo) && same(e.hi, hi)) << e.value << " " << e.lo << " " << e.hi;
}

TEST(Published, SpotValuesAreThoseOfTheFile) {
  const double none = std::nan("");
  const PublishedCell* cell = find_published("NAC+", Operation::Add, "U[-0.2,-0.1)");
  ASSERT_TRUE(cell);
  expect_estimate(cell->success, 0, 0, 0.13);
  expect_estimate(cell->solved_at, none, none, none);
  expect_estimate(cell->sparsity, none, none, none);
  EXPECT_EQ(cell->successes(), 0);
  cell = find_published("NAC+", Operation::Add, "U[-1.2,-1.1)");
  ASSERT_TRUE(cell);
  expect_estimate(cell->success, 0.28, 0.14, 0.48);
  expect_estimate(cell->solved_at, 49000, 48170, 49820);
  expect_estimate(cell->sparsity, 1.4e-05, 1.17e-05, 1.63e-05);
  EXPECT_EQ(cell->successes(), 7);
  cell = find_published("NMU", Operation::Multiply, "U[1,2)");
  ASSERT_TRUE(cell);
  expect_estimate(cell->success, 1, 0.87, 1);
  expect_estimate(cell->solved_at, 2800, 2630, 2960);
  expect_estimate(cell->sparsity, 1e-16, none, none);
  EXPECT_EQ(cell->successes(), 25);
  cell = find_published("NAC*", Operation::Divide, "U[10,20)");
  ASSERT_TRUE(cell);
  expect_estimate(cell->success, 0.16, 0.06, 0.35);
  expect_estimate(cell->sparsity, 3.2e-05, 2.64e-05, 3.86e-05);
  EXPECT_EQ(cell->successes(), 4);
}

TEST(Published, EveryRateIsAWholeNumberOfRuns) {
  for (const PublishedCell& cell : published_cells()) {
    EXPECT_NEAR(cell.success.value * 25, cell.successes(), 1e-9) << cell.module << " " << cell.range;
    EXPECT_GE(cell.successes(), 0);
    EXPECT_LE(cell.successes(), 25);
    EXPECT_LE(cell.success.lo, cell.success.value);
    EXPECT_GE(cell.success.hi, cell.success.value);
    // What never succeeded was never solved.
    EXPECT_EQ(std::isnan(cell.solved_at.value), cell.successes() == 0) << cell.module << " " << cell.range;
  }
}

TEST(Published, NinetyTwoCellsThatAreReproducibleHaveAnIntervalOfSolvedAt) {
  int cells = 0, reproducible = 0;
  for (const PublishedCell& cell : published_cells()) {
    if (cell.module == "NPU" || cell.module == "RealNPU") continue;
    ++reproducible;
    cells += !std::isnan(cell.solved_at.lo);
  }
  EXPECT_EQ(reproducible, 171);
  EXPECT_EQ(cells, 92);
}

}  // namespace
}  // namespace nalm
