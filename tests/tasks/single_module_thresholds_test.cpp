// Thresholds: the published table, more inputs, and a simulation of the almost right model.
#include "tasks/single_module/thresholds.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/random.hpp"

namespace nalm::single_module_thresholds_test {
namespace {

constexpr Operation add = Operation::Add, sub = Operation::Subtract, mul = Operation::Multiply, div = Operation::Divide;

const Range& test_range(int k) { return paper_ranges()[static_cast<std::size_t>(k)].test; }

// Seven printed digits.
void expect_printed(double value, double printed) { EXPECT_NEAR(value, printed, 5.1e-7 * printed); }

TEST(Thresholds, TwoInputsAreThePublishedTable) {
  struct Row {
    std::vector<int> ranges;
    double add, mul, div;
  };
  const Row table[] = {
      {{0, 8}, 3.666667e-07, 3.484410e-04, 4.666573e-10}, {{1, 4, 6}, 6.666667e-09, 1.201766e-07, 5.777662e-10},
      {{2}, 5.729167e-09, 9.392088e-08, 8.373239e-10},    {{3, 5}, 5.380000e-10, 8.761512e-10, 1.479970e-09},
      {{7}, 5.568000e-09, 8.856487e-08, 8.266501e-10},
  };
  for (const Row& row : table) {
    for (const int k : row.ranges) {
      SCOPED_TRACE(k);
      expect_printed(epsilon_threshold(add, test_range(k), 2), row.add);
      expect_printed(epsilon_threshold(sub, test_range(k), 2), row.add);
      expect_printed(epsilon_threshold(mul, test_range(k), 2), row.mul);
      expect_printed(epsilon_threshold(div, test_range(k), 2), row.div);
    }
  }
}

TEST(Thresholds, SumsOfMoreInputsAreThePublishedTable) {
  const double ten[] = {9.033333e-06, 1.613333e-07, 1.352258e-07, 1.237000e-08, 1.315200e-07};
  const double hundred[] = {9.003333e-04, 1.601333e-05, 1.334251e-05, 1.212700e-06, 1.297920e-05};
  const int ranges[] = {8, 6, 2, 5, 7};
  for (int k = 0; k < 5; ++k) {
    expect_printed(epsilon_threshold(add, test_range(ranges[k]), 10), ten[k]);
    expect_printed(epsilon_threshold(sub, test_range(ranges[k]), 100), hundred[k]);
  }
}

TEST(Thresholds, ProductsOfMoreInputs) {
  expect_printed(epsilon_threshold(mul, test_range(6), 10), 3.504118e-5);
  expect_printed(epsilon_threshold(div, test_range(6), 10), 1.684671e-7);
  expect_printed(epsilon_threshold(mul, test_range(8), 10), 5.113891);
  expect_printed(epsilon_threshold(div, test_range(8), 10), 6.848961e-6);
}

// The textbook forms, where they lose no digits: half of the weight is missing.
TEST(Thresholds, LooseEpsilonsAreTheTextbookForms) {
  const double epsilon = 0.49, mean = 4, square = 52.0 / 3;
  for (const int inputs : {2, 3, 10}) {
    const double E1 = std::pow(1 - epsilon * mean, inputs - 2);
    const double E2 = std::pow(1 - 2 * epsilon * mean + epsilon * epsilon * square, inputs - 2);
    const double c = (1 - epsilon) * (1 - epsilon), d = (1 - epsilon) / (1 + epsilon);
    const double wanted_mul = square * square * (c * c * E2 - 2 * c * E1 + 1);
    const double wanted_div = square / 12 * (d * d * E2 - 2 * d * E1 + 1);
    EXPECT_NEAR(epsilon_threshold(mul, test_range(6), inputs, epsilon), wanted_mul, 1e-12 * wanted_mul) << inputs;
    EXPECT_NEAR(epsilon_threshold(div, test_range(6), inputs, epsilon), wanted_div, 1e-12 * wanted_div) << inputs;
  }
}

TEST(Thresholds, KeepTheirDigitsForTinyEpsilons) {
  for (const Operation operation : {mul, div}) {
    for (const int inputs : {2, 3, 10}) {
      const double at = epsilon_threshold(operation, test_range(6), inputs, 1e-9);
      // To leading order a square; the next order is epsilon times the number of weights times the largest input.
      EXPECT_NEAR(epsilon_threshold(operation, test_range(6), inputs, 1e-10), at / 100, 1e-7 * at / 100);
      const double in_log_space = log_space_threshold(operation, test_range(6), inputs, 1e-6);
      EXPECT_NEAR(log_space_threshold(operation, test_range(6), inputs, 1e-7), in_log_space / 100,
                  1e-4 * in_log_space / 100);
    }
  }
}

// ---- simulation ----------------------------------------------------------------------------------------------------

double value_in(const Range& range, Xoshiro& random) {
  if (range.second && random.unit() < 0.5) return random.between(range.second->lo, range.second->hi);
  return random.between(range.lo, range.hi);
}

double error_of_almost_right_model(Operation operation, const std::vector<double>& x, double epsilon) {
  const double a = x[0], b = x[1];
  double others = 0, shrink = 1;
  for (std::size_t i = 2; i < x.size(); ++i) {
    others += std::abs(x[i]);
    shrink *= 1 - epsilon * std::abs(x[i]);
  }
  if (operation == add || operation == sub) return epsilon * (std::abs(a) + std::abs(b) + others);
  if (operation == mul) return (1 - epsilon) * a * ((1 - epsilon) * b) * shrink - a * b;
  return (1 - epsilon) * a / ((1 + epsilon) * b) * shrink - a / b;
}

double error_of_almost_right_powers(Operation operation, const std::vector<double>& x, double epsilon) {
  const double sign = (x[0] < 0) == (x[1] < 0) ? 1 : -1;
  const double power = operation == mul ? 1 : -1;
  double model = std::pow(std::abs(x[0]), 1 - epsilon) * std::pow(std::abs(x[1]), power * (1 - epsilon));
  for (std::size_t i = 2; i < x.size(); ++i) model *= std::pow(std::abs(x[i]), epsilon);
  return sign * (model - std::abs(x[0]) * std::pow(std::abs(x[1]), power));
}

const std::vector<Range> ranges_to_simulate = {
    {2, 6, {}}, {-40, -20, {}}, {-6, -2, Range::Part{2, 6}}, {1, 2, Range::Part{4, 5}}, {-1, 3, {}}, {0.2, 2, {}},
    {0, 1, {}}, {1.2, 6, {}}};

// 20000 samples; the mean of their squared errors lies within five of its standard deviations (6e-7 for each of some
// 300 comparisons if they were normal), and the seed is fixed.
template <class Error, class Threshold>
void expect_simulated(Error error, Threshold threshold, const std::vector<Operation>& operations) {
  Xoshiro random(20240611);
  int compared = 0;
  for (const Range& range : ranges_to_simulate) {
    for (const Operation operation : operations) {
      if (!check_test_range(operation, range)) continue;
      for (const int inputs : {2, 3, 10}) {
        for (const double epsilon : {1e-5, 0.01}) {
          const int samples = 20000;
          double sum = 0, sum_of_squares = 0;
          std::vector<double> x(static_cast<std::size_t>(inputs));
          for (int k = 0; k < samples; ++k) {
            for (double& value : x) value = value_in(range, random);
            const double e = error(operation, x, epsilon), square = e * e;
            sum += square;
            sum_of_squares += square * square;
          }
          const double mean = sum / samples;
          const double deviation = std::sqrt((sum_of_squares / samples - mean * mean) / samples);
          EXPECT_NEAR(threshold(operation, range, inputs, epsilon), mean, 5 * deviation)
              << name_of(operation) << " on [" << range.lo << ", " << range.hi << ") with " << inputs << " inputs, "
              << epsilon;
          EXPECT_LT(deviation, 0.1 * mean);  // so that the comparison says something
          ++compared;
        }
      }
    }
  }
  EXPECT_GE(compared, 80);
}

TEST(Thresholds, AgreeWithASimulation) {
  expect_simulated(error_of_almost_right_model, epsilon_threshold, {add, sub, mul, div});
}

TEST(Thresholds, AgreeWithASimulationInLogSpace) {
  expect_simulated(error_of_almost_right_powers, log_space_threshold, {mul, div});
}

// The second difference in 50 digits.
TEST(Thresholds, LogSpaceKeepsNineDigits) {
  const auto expect_near = [](double value, double wanted) { EXPECT_NEAR(value, wanted, 1e-9 * wanted); };
  expect_near(log_space_threshold(mul, test_range(6), 2), 2.74416794952e-7);
  expect_near(log_space_threshold(div, test_range(6), 2), 4.11703295035e-11);
  expect_near(log_space_threshold(div, test_range(5), 2), 7.24356304463e-10);
  expect_near(log_space_threshold(mul, test_range(6), 10), 1.8206331632e-6);
  expect_near(log_space_threshold(div, test_range(6), 10), 1.56721212734e-8);
}

// At epsilon = 1/2 the squared divisor has the power -1, whose integral is a logarithm.
TEST(Thresholds, LogSpaceHandlesTheLogarithmicPower) {
  const double at = log_space_threshold(div, test_range(6), 3, 0.5);
  EXPECT_NEAR(log_space_threshold(div, test_range(6), 3, 0.5 + 1e-9), at, 1e-7 * at);
  EXPECT_NEAR(log_space_threshold(div, test_range(6), 3, 0.5 - 1e-9), at, 1e-7 * at);
}

// Small and large changes of a power are computed in two ways.
TEST(Thresholds, LogSpaceHasNoSeamBetweenItsTwoForms) {
  for (const Operation operation : {mul, div}) {
    for (const double seam : {0.05, 0.1}) {
      const double below = log_space_threshold(operation, test_range(5), 3, seam * (1 - 1e-12));
      const double above = log_space_threshold(operation, test_range(5), 3, seam * (1 + 1e-12));
      EXPECT_NEAR(below, above, 1e-10 * above);
    }
  }
}

TEST(Thresholds, LogSpaceLeavesSumsAlone) {
  EXPECT_EQ(log_space_threshold(add, test_range(6), 10), epsilon_threshold(add, test_range(6), 10));
  EXPECT_EQ(log_space_threshold(sub, test_range(6), 2, 0.1), epsilon_threshold(sub, test_range(6), 2, 0.1));
}

// ---- ranges --------------------------------------------------------------------------------------------------------

TEST(Thresholds, ThePapersRangesCanBeJudged) {
  for (const TaskRange& range : paper_ranges()) {
    for (const Operation operation : all_operations) EXPECT_TRUE(check_test_range(operation, range.test));
  }
}

TEST(Thresholds, DivisionByZeroHasNone) {
  for (const Range& range : {Range{-1, 3, {}}, Range{0, 1, {}}, Range{-1, 0, {}}, Range{-4, -2, Range::Part{0, 2}}}) {
    const Status status = check_test_range(div, range);
    ASSERT_FALSE(status);
    EXPECT_NE(status.error().message.find("touches 0"), std::string::npos) << status.error().message;
    EXPECT_TRUE(std::isnan(epsilon_threshold(div, range, 2)));
    EXPECT_TRUE(std::isnan(log_space_threshold(div, range, 2)));
    for (const Operation operation : {add, sub, mul}) {
      EXPECT_TRUE(check_test_range(operation, range));
      EXPECT_GT(epsilon_threshold(operation, range, 2), 0);
    }
  }
}

TEST(Thresholds, WhatIsNoRangeIsRefused) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Range& range : {Range{2, 1, {}}, Range{1, 1, {}}, Range{1, infinity, {}}, Range{std::nan(""), 1, {}},
                             Range{1, 2, Range::Part{4, 3}}, Range{1, 2, Range::Part{3, 5}}}) {
    EXPECT_FALSE(check_test_range(add, range)) << range.lo << " " << range.hi;
    EXPECT_TRUE(std::isnan(epsilon_threshold(add, range, 2)));
  }
}

}  // namespace
}  // namespace nalm::single_module_thresholds_test
