// Fits from end to end that are quick enough for the sanitizers, which do not get the others (fit_test.cpp).
#include <gtest/gtest.h>

#include <cmath>
#include <stop_token>

#include "fit/cases.hpp"
#include "nalm/fit.hpp"

namespace nalm::fit_quick_test {
namespace {

using test::table_of;

TEST(QuickFit, FindsAProduct) {
  const Table table =
      table_of({{"a", 1, 5}, {"b", -2, 2}}, 60, 1, [](const double* x, Xoshiro&) { return 2.5 * x[0] * x[1]; });
  const Result<Fit> fit = nalm::fit(table, {.target = "y", .threads = 2});
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_TRUE(fit->is_law()) << fit->reason;
  EXPECT_EQ(print(fit->best().formula), "2.5*a*b");
}

TEST(QuickFit, FindsAFunctionInAProduct) {
  const Table table =
      table_of({{"a", 1, 5}, {"t", 0, 3}}, 40, 1, [](const double* x, Xoshiro&) { return x[0] * std::exp(-x[1]); });
  const Result<Fit> fit = nalm::fit(table, {.target = "y", .functions = {"exp"}, .threads = 2});
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_TRUE(fit->is_law()) << fit->reason;
  EXPECT_EQ(print(fit->best().formula), "a*exp(-t)");
}

TEST(QuickFit, EveryRungIsEntered) {
  // Noise keeps the search from ending early; the clock ends it.
  const Table table = table_of({{"a", 1, 5}, {"b", 1, 5}, {"c", -1, 1}}, 60, 2, [](const double* x, Xoshiro& random) {
    return x[0] / (x[0] + x[1]) + 0.02 * random.gaussian();
  });
  const Result<Fit> fit = nalm::fit(table, {.target = "y", .threads = 2, .time_limit = 6});
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_FALSE(fit->candidates.empty());
}

TEST(QuickFit, AStopThatComesAtOnceLeavesNothingBroken) {
  const Table table =
      table_of({{"a", 1, 5}, {"b", 1, 5}}, 60, 3, [](const double* x, Xoshiro&) { return std::sin(x[0] * x[1]); });
  std::stop_source stop;
  stop.request_stop();
  FitWatch watch;
  watch.stop = stop.get_token();
  const Result<Fit> fit = nalm::fit(table, {.target = "y"}, watch);
  ASSERT_TRUE(fit);
  EXPECT_TRUE(fit->cut);
  EXPECT_FALSE(fit->is_law());
}

}  // namespace
}  // namespace nalm::fit_quick_test
