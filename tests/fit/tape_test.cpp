// Formulas over blocks of rows: the same values as one by one, and derivatives that differences confirm.
#include "fit/tape.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/random.hpp"

namespace nalm::fitting::tape_test {
namespace {

const std::vector<std::string> columns{"a", "b"};

// 300 rows: two blocks and a part of a third.
struct Table {
  std::vector<double> numbers;
  std::vector<const double*> rows;

  Table() {
    Xoshiro random(5);
    for (int k = 0; k < 600; ++k) numbers.push_back(random.between(0.5, 3));
    for (std::size_t r = 0; r < 300; ++r) rows.push_back(numbers.data() + 2 * r);
  }
};

// P and Q stand for the numbers that are fitted.
Expression with_slots(const std::string& text) {
  std::string quoted;
  for (const char c : text)
    quoted += c == 'P' ? '"' + slot_name(0) + '"' : c == 'Q' ? '"' + slot_name(1) + '"' : std::string(1, c);
  return *parse_expression(quoted);
}

class TapeOf : public testing::TestWithParam<const char*> {};

TEST_P(TapeOf, ValuesAreThoseOfTheFormulaAndDerivativesThoseOfDifferences) {
  const Table table;
  const std::string text = GetParam();
  Tape tape(with_slots(text), columns, 2, table.rows);
  const Expression formula = *parse_expression(text);
  const std::vector<std::string> names{"a", "b", "P", "Q"};
  const auto expected = [&](std::size_t row, double p, double q) {
    return *evaluate(formula, names, std::vector<double>{table.rows[row][0], table.rows[row][1], p, q});
  };
  const double p = 0.7, q = 1.3, step = 1e-6;
  std::vector<double> y(Tape::block), d(2 * Tape::block);
  // Twice: what is kept between runs must still be there.
  for (int again = 0; again < 2; ++again) {
    for (std::size_t first = 0; first < table.rows.size(); first += Tape::block) {
      const std::size_t count = std::min(Tape::block, table.rows.size() - first);
      tape.run(first, count, {p, q}, y.data(), d.data());
      for (std::size_t k = 0; k < count; ++k) {
        const double value = expected(first + k, p, q);
        const double by_p = (expected(first + k, p + step, q) - expected(first + k, p - step, q)) / (2 * step);
        const double by_q = (expected(first + k, p, q + step) - expected(first + k, p, q - step)) / (2 * step);
        EXPECT_NEAR(y[k], value, 1e-14 * (1 + std::fabs(value))) << text << ", row " << first + k;
        EXPECT_NEAR(d[k], by_p, 1e-7 * (1 + std::fabs(by_p) + std::fabs(value))) << text << ", row " << first + k;
        EXPECT_NEAR(d[Tape::block + k], by_q, 1e-7 * (1 + std::fabs(by_q) + std::fabs(value))) << text;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formulas, TapeOf,
                         testing::Values("P", "a*b^2", "P*a + Q*b", "Q - P*a^3*b^(-1)", "-(P*a - Q)/(b + P)",
                                         "sqrt(P*a^2 + Q*b^2)", "(P*a + Q)^2", "(P + a)^3 - (Q + b)^(-2)",
                                         "(P*a + Q*b)^(-1)", "(P + Q*a)^0.5 + b", "P/(a + Q)^(-0.5)", "(P*a)^1.7",
                                         "abs(P*a - Q*b)", "(P + a)^Q", "a^P", "3*a/b + P*P"));

TEST(Tape, WithoutNumbersToFitTheDerivativesAreZero) {
  const Table table;
  Tape tape(*parse_expression("a/b"), columns, 2, table.rows);
  std::vector<double> y(Tape::block), d(2 * Tape::block, 7.0);
  tape.run(Tape::block, Tape::block, {1, 2}, y.data(), d.data());
  EXPECT_DOUBLE_EQ(y[3], table.rows[Tape::block + 3][0] / table.rows[Tape::block + 3][1]);
  for (const double value : d) EXPECT_EQ(value, 0.0);
}

}  // namespace
}  // namespace nalm::fitting::tape_test
