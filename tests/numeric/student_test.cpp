// Student's t against a table.
#include "numeric/student.hpp"

#include <gtest/gtest.h>

namespace nalm::numeric::student_test {
namespace {

// NIST/SEMATECH e-Handbook of Statistical Methods, table 1.3.6.7.2, upper critical values.
TEST(Student, GivesTheValuesOfTheTable) {
  struct Row {
    double freedom, t975, t995;
  };
  for (const Row& row : {Row{1, 12.706, 63.657}, Row{2, 4.303, 9.925}, Row{4, 2.776, 4.604}, Row{10, 2.228, 3.169},
                         Row{30, 2.042, 2.750}, Row{100, 1.984, 2.626}}) {
    EXPECT_NEAR(student_quantile(0.975, row.freedom), row.t975, 5.1e-4) << row.freedom;
    EXPECT_NEAR(student_quantile(0.995, row.freedom), row.t995, 5.1e-4) << row.freedom;
  }
}

TEST(Normal, GivesTheKnownQuantiles) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-11);  // 40 bits are kept
  EXPECT_EQ(normal_quantile(0.5), 0);
}

TEST(Student, BecomesTheNormalDistribution) {
  EXPECT_NEAR(student_quantile(0.975, 1e7), 1.959963984540054, 1e-6);
  EXPECT_NEAR(student_quantile(0.995, 1e7), 2.575829303548901, 1e-6);
}

}  // namespace
}  // namespace nalm::numeric::student_test
