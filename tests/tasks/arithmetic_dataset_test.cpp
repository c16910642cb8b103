#include "tasks/arithmetic_dataset.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "sanitized.hpp"

namespace nalm::arithmetic_dataset_test {
namespace {

using enum SubsetOperation;
constexpr Range test_range{2, 6, {}};

// The published constants come from subsets that are one element too wide; the right ones differ by up to a sixth.
TEST(ArithmeticDataset, ThresholdsAreThoseOfBothConstructions) {
  const auto threshold = [](SubsetOperation operation, ThresholdSubsets subsets) {
    return arithmetic_dataset_threshold(operation, test_range, {}, subsets);
  };
  const std::pair<SubsetOperation, double> published[] = {{Add, 1.4786e-5},    {Subtract, 1.384e-8},
                                                          {Multiply, 0.16001}, {Divide, 4.938e-12},
                                                          {Square, 0.15947},   {Root, 8.955e-9}};
  for (const auto& [operation, value] : published)
    EXPECT_NEAR(threshold(operation, ThresholdSubsets::AsPublished), value, 0.01 * value) << name_of(operation);
  const std::pair<SubsetOperation, double> right[] = {
      {Add, 1.604e-5}, {Multiply, 0.1606}, {Divide, 5.78e-12}, {Root, 1.010e-8}};
  for (const auto& [operation, value] : right)
    EXPECT_NEAR(threshold(operation, ThresholdSubsets::OfTheData), value, 0.01 * value) << name_of(operation);
}

TEST(ArithmeticDataset, ThresholdsOfOtherRanges) {
  const auto mul = [](const Range& range, const SubsetShape& shape) {
    return arithmetic_dataset_threshold(Multiply, range, shape, ThresholdSubsets::AsPublished);
  };
  EXPECT_NEAR(mul({-6, -2, {}}, {}), 0.1600, 0.002);
  EXPECT_NEAR(mul({1, 5, {}}, {}), 0.0508, 0.001);
  EXPECT_NEAR(mul({20, 40, {}}, {}), 505, 10);
  EXPECT_NEAR(mul({-6, -2, Range::Part{2, 6}}, {}), 2.30e-4, 1e-5);
  EXPECT_NEAR(mul({2, 6, {}}, {50, 0.25, 0.5}), 0.0100, 3e-4);
  EXPECT_NEAR(mul({2, 6, {}}, {200, 0.25, 0.5}), 2.56, 0.05);
}

TEST(ArithmeticDataset, SubsetsShareTheirMiddleAndMoveTogether) {
  int smallest = 1000, largest = -1;
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    const Subsets s = subsets_of({}, seed);
    EXPECT_EQ(s.a_end - s.a_first, 25);
    EXPECT_EQ(s.b_end - s.b_first, 25);
    EXPECT_EQ(s.a_end - s.b_first, 12);
    smallest = std::min(smallest, s.a_first);
    largest = std::max(largest, s.a_first);
  }
  EXPECT_EQ(smallest, 0);
  EXPECT_EQ(largest, 62);
}

// Four inputs of the sweep are a task of their own, and not the simple one, which has four inputs too.
TEST(ArithmeticDataset, FourInputsAreNotTheSimpleTask) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const Subsets swept = subsets_of({.inputs = 4}, seed);
    EXPECT_EQ(swept.a_end - swept.a_first, 1);
    EXPECT_EQ(swept.b_first, swept.a_end);
    EXPECT_EQ(swept.b_end - swept.b_first, 1);
    EXPECT_LE(swept.b_end, 4);
    const Subsets simple = subsets_of({.inputs = 4, .simple = true}, seed);
    EXPECT_EQ(simple.a_first, 0);
    EXPECT_EQ(simple.a_end, 4);
    EXPECT_EQ(simple.b_first, 0);
    EXPECT_EQ(simple.b_end, 2);
  }
  const auto threshold = [](const SubsetShape& shape) {
    return arithmetic_dataset_threshold(Multiply, test_range, shape, ThresholdSubsets::AsPublished);
  };
  EXPECT_NE(threshold({.inputs = 4}), threshold({.inputs = 4, .simple = true}));
}

// What the presets train: the target of the first test row is that of the subsets.
TEST(ArithmeticDataset, TheSweepsFourInputsHaveTheirOwnTargets) {
  if (test::sanitized) GTEST_SKIP() << "a threshold of 100,000 rows for each of its sizes";
  const Result<const Task*> task = find_task("arithmetic-dataset");
  ASSERT_TRUE(task);
  int found = 0;
  for (const Cell& cell : (*task)->preset_cells("sweep-inputs")) {
    if (cell.setting != "4 inputs") continue;
    ++found;
    const Rows rows = cell.data(0)->set(1);
    const Subsets s = subsets_of({.inputs = 4}, 0);
    EXPECT_FLOAT_EQ(static_cast<float>(rows.t[0]), static_cast<float>(rows.x[static_cast<std::size_t>(s.a_first)] *
                                                                      rows.x[static_cast<std::size_t>(s.b_first)]));
  }
  EXPECT_GT(found, 0);
}

TEST(ArithmeticDataset, AblationsLeaveOutWhatTheyName) {
  for (const char* preset : {"ablation", "ablation-simple"}) {
    int seen = 0;
    for (const Cell& cell : (*find_task("arithmetic-dataset"))->preset_cells(preset)) {
      SCOPED_TRACE(cell.name());
      const bool no_clamp = cell.model.ends_with("clamp") || cell.model.ends_with("both");
      const bool no_regulariser = cell.model.ends_with("regulariser") || cell.model.ends_with("both");
      EXPECT_EQ(cell.stack[0].module->name, no_clamp ? "Linear" : "NAU");
      EXPECT_EQ(cell.stack[1].module->name, "NMU");
      for (const LayerRecipe& layer : cell.recipe.layers) {
        EXPECT_EQ(layer.clamp, !no_clamp);
        EXPECT_EQ(layer.regularisers.empty(), no_regulariser);
      }
      ++seen;
    }
    EXPECT_EQ(seen, std::string_view(preset) == "ablation" ? 12 : 4);
  }
}

TEST(ArithmeticDataset, GatesStandBehindALayerOfSums) {
  const std::vector<Cell> cells = (*find_task("arithmetic-dataset"))->preset_cells("gating");
  ASSERT_EQ(cells.size(), 6u);
  for (const Cell& cell : cells) {
    EXPECT_EQ(cell.model, std::string(cell.stack[0].module->name) + " then " + std::string(cell.stack[1].module->name));
    EXPECT_TRUE(cell.operation == "mul" || cell.operation == "add");
    for (const Regulariser& r : cell.recipe.layers[1].regularisers) EXPECT_TRUE(r.parameter.starts_with("W_"));
  }
}

// A solved run need not go on for millions of iterations, unless what comes later is the question.
TEST(ArithmeticDataset, SweepsEndSolvedRunsButForTheStrengthOfTheRegulariser) {
  for (const char* sweep : {"range", "hidden", "inputs", "overlap", "subset", "lambda"}) {
    SCOPED_TRACE(sweep);
    if (test::sanitized && sweep != std::string_view("lambda")) continue;  // many thresholds of 100,000 rows
    const std::vector<Cell> cells = (*find_task("arithmetic-dataset"))->preset_cells(std::string("sweep-") + sweep);
    ASSERT_FALSE(cells.empty());
    for (const Cell& cell : cells) EXPECT_EQ(cell.may_end_after.has_value(), std::string_view(sweep) != "lambda");
  }
}

// What the lanes draw: numbers of the range, and the target of the lane's own subsets.
TEST(SubsetSource, GivesEveryLaneItsOwnTarget) {
  const simd::Target& target = simd::active_target();
  const std::size_t lanes = static_cast<std::size_t>(target.lanes<float>());
  std::vector<std::uint32_t> seeds;
  std::vector<Subsets> subsets;
  for (std::uint32_t l = 0; l < lanes; ++l) seeds.push_back(l), subsets.push_back(subsets_of({}, l));
  for (const Range& range : {Range{1, 2, {}}, Range{-6, -2, Range::Part{2, 6}}}) {
    SubsetSource source(target, seeds, subsets, range, Multiply, 100, 16);
    AlignedVector<float> x(16 * 100 * lanes), t(16 * lanes);
    for (int round = 0; round < 3; ++round) {
      source.batch(round, x.data(), t.data());
      bool both_parts[2] = {false, false};
      for (const float value : x) {
        const bool first = value >= range.lo && value < range.hi;
        const bool second = range.second && value >= range.second->lo && value < range.second->hi;
        EXPECT_TRUE(first || second) << value;
        both_parts[first ? 0 : 1] = true;
      }
      EXPECT_TRUE(both_parts[0]);
      EXPECT_EQ(both_parts[1], range.second.has_value());
      for (std::size_t r = 0; r < 16; ++r) {
        for (std::size_t l = 0; l < lanes; ++l) {
          double a = 0, b = 0, size = 0;
          for (int i = 0; i < 100; ++i) {
            const double value = x[(r * 100 + static_cast<std::size_t>(i)) * lanes + l];
            if (i >= subsets[l].a_first && i < subsets[l].a_end) a += value, size += std::fabs(value);
            if (i >= subsets[l].b_first && i < subsets[l].b_end) b += value, size += std::fabs(value);
          }
          EXPECT_NEAR(t[r * lanes + l], a * b, 1e-5 * size * size);
        }
      }
    }
  }
}

}  // namespace
}  // namespace nalm::arithmetic_dataset_test
