// The benchmark's data against rows of the reference software.
#include "tasks/single_module/data.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace nalm::single_module_data_test {
namespace {

const TaskRange& range(int k) { return paper_ranges()[static_cast<std::size_t>(k)]; }

struct Row {
  double a, b, t;
};

// Nine decimals decide a float: the printed number, rounded to float, must be the value itself.
void expect_row(const Samples& samples, std::size_t row, const Row& wanted) {
  EXPECT_EQ(samples.x[2 * row], static_cast<float>(wanted.a)) << row;
  EXPECT_EQ(samples.x[2 * row + 1], static_cast<float>(wanted.b)) << row;
  EXPECT_EQ(samples.t[row], static_cast<float>(wanted.t)) << row;
}

TEST(SingleModuleData, TrainingBatchesAreThoseOfTheReference) {
  const OperandPlace run(0, 2);
  NumpyStream stream(run.train_seed);
  const Samples first = draw(stream, range(6).train, Operation::Subtract, 2, run.first_operand, 128);
  expect_row(first, 0, {1.794160008, 1.159824610, 0.634335339});
  expect_row(first, 1, {1.390787244, 1.936485171, -0.545697868});
  const Samples second = draw(stream, range(6).train, Operation::Subtract, 2, run.first_operand, 128);
  expect_row(second, 0, {1.518176079, 1.251337051, 0.266839027});
}

TEST(SingleModuleData, ValidationRowsAreThoseOfTheReference) {
  NumpyStream stream(validation_seed);
  const Samples samples = draw(stream, range(6).train, Operation::Subtract, 2, 0, 10000);
  expect_row(samples, 0, {1.918094873, 1.881652594, 0.036442243});
  expect_row(samples, 1, {1.991343856, 1.210306168, 0.781037629});
}

TEST(SingleModuleData, TestRowsAreThoseOfTheReference) {
  NumpyStream stream(test_seed);
  const Samples samples = draw(stream, range(6).test, Operation::Subtract, 2, 0, 10000);
  expect_row(samples, 0, {4.133045673, 3.264204979, 0.868840635});
  expect_row(samples, 1, {3.878856182, 5.606009007, -1.727152705});
}

TEST(SingleModuleData, TestRowsOfTheTwoPartRangeAreThoseOfTheReference) {
  NumpyStream stream(test_seed);
  const Samples samples = draw(stream, range(4).test, Operation::Add, 2, 0, 10000);
  const double wanted[][2] = {{-3.866954327, -4.735795021}, {-4.121143818, 5.085485935}, {2.327325106, 3.070891142}};
  for (std::size_t row = 0; row < 3; ++row) {
    EXPECT_EQ(samples.x[2 * row], static_cast<float>(wanted[row][0])) << row;
    EXPECT_EQ(samples.x[2 * row + 1], static_cast<float>(wanted[row][1])) << row;
  }
}

TEST(SingleModuleData, TheTwoPartRangeTossesAFairCoinForEveryElement) {
  NumpyStream stream(test_seed);
  const Samples samples = draw(stream, range(4).test, Operation::Add, 2, 0, 10000);
  int negative = 0, alike = 0;
  for (std::size_t row = 0; row < 10000; ++row) {
    const float a = samples.x[2 * row], b = samples.x[2 * row + 1];
    for (const float value : {a, b}) {
      ASSERT_GE(std::abs(value), 2);
      ASSERT_LE(std::abs(value), 6);
    }
    negative += (a < 0) + (b < 0);
    alike += (a < 0) == (b < 0);
  }
  EXPECT_NEAR(negative, 10000, 5 * 71);  // five deviations: 6e-7, and the seed is fixed
  EXPECT_NEAR(alike, 5000, 5 * 50);
}

TEST(SingleModuleData, TheNineRangesAreThePapers) {
  const double wanted[9][4] = {{-20, -10, -40, -20},   {-2, -1, -6, -2},   {-1.2, -1.1, -6.1, -1.2},
                               {-0.2, -0.1, -2, -0.2}, {-2, 2, -6, -2},    {0.1, 0.2, 0.2, 2},
                               {1, 2, 2, 6},           {1.1, 1.2, 1.2, 6}, {10, 20, 20, 40}};
  ASSERT_EQ(paper_ranges().size(), 9u);
  for (int k = 0; k < 9; ++k) {
    EXPECT_EQ(range(k).train.lo, wanted[k][0]) << k;
    EXPECT_EQ(range(k).train.hi, wanted[k][1]) << k;
    EXPECT_EQ(range(k).test.lo, wanted[k][2]) << k;
    EXPECT_EQ(range(k).test.hi, wanted[k][3]) << k;
    EXPECT_FALSE(range(k).train.second.has_value()) << k;
    EXPECT_EQ(range(k).test.second.has_value(), k == 4) << k;
  }
  EXPECT_EQ(range(4).test.second->lo, 2);
  EXPECT_EQ(range(4).test.second->hi, 6);
}

// Inputs in double, drawn once more, to compute targets from.
std::vector<double> inputs_in_double(std::uint32_t seed, const Range& r, std::size_t count) {
  NumpyStream stream(seed);
  std::vector<double> x(count);
  for (double& value : x) value = r.lo + (r.hi - r.lo) * stream.unit();
  return x;
}

TEST(SingleModuleData, TargetsAreComputedInDoubleAndRoundedOnce) {
  const std::vector<double> x = inputs_in_double(validation_seed, range(5).train, 2000);
  int not_of_the_rounded_inputs = 0;
  for (const Operation operation : all_operations) {
    NumpyStream stream(validation_seed);
    const Samples samples = draw(stream, range(5).train, operation, 2, 0, 1000);
    for (std::size_t row = 0; row < 1000; ++row) {
      const double a = x[2 * row], b = x[2 * row + 1];
      const double t = operation == Operation::Add        ? a + b
                       : operation == Operation::Subtract ? a - b
                       : operation == Operation::Multiply ? a * b
                                                          : a / b;
      ASSERT_EQ(samples.x[2 * row], static_cast<float>(a));
      ASSERT_EQ(samples.t[row], static_cast<float>(t)) << name_of(operation) << " in row " << row;
      if (operation == Operation::Divide)
        not_of_the_rounded_inputs += samples.t[row] != samples.x[2 * row] / samples.x[2 * row + 1];
    }
  }
  EXPECT_GT(not_of_the_rounded_inputs, 100);
}

TEST(SingleModuleData, OperandsOfMoreInputsAreNeighbours) {
  const std::vector<double> x = inputs_in_double(test_seed, range(8).test, 10 * 50);
  NumpyStream stream(test_seed);
  const Samples samples = draw(stream, range(8).test, Operation::Subtract, 10, 5, 50);
  ASSERT_EQ(samples.x.size(), 500u);
  ASSERT_EQ(samples.t.size(), 50u);
  for (std::size_t row = 0; row < 50; ++row) {
    EXPECT_EQ(samples.t[row], static_cast<float>(x[10 * row + 5] - x[10 * row + 6]));
  }
}

}  // namespace
}  // namespace nalm::single_module_data_test
