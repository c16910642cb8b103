// What lies beyond the data, and whether the formula is the model.
#include "fit/trust.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "fit/cases.hpp"
#include "fit/form_layers.hpp"
#include "sanitized.hpp"

namespace nalm::fitting::trust_test {
namespace {

using Remarks = std::vector<std::string>;

Expression formula(const char* text) { return *parse_expression(text); }

template <class Target>
Data data_of(const std::vector<test::Column>& columns, std::size_t rows, std::uint64_t seed, Target target) {
  return *prepare(test::table_of(columns, rows, seed, target), {.target = "y"});
}

double first_column(const double* x, Xoshiro&) { return 1 + x[0]; }

// ---- beyond the data -----------------------------------------------------------------------------------------------

TEST(Probe, FindsThePoleOfADifference) {
  const Data data = data_of({{"a", 4, 6}, {"b", 1, 3}, {"c", 0, 1}}, 200, 4, first_column);
  const FitProbe found = probe(formula("1/(a - b)"), data, 1);
  ASSERT_EQ(found.remarks.size(), 1u);
  EXPECT_EQ(found.remarks[0].rfind("the denominator a - b crosses zero outside of the data, first near a = 3.", 0), 0u)
      << found.remarks[0];
  double a = 0, b = 0;
  ASSERT_EQ(std::sscanf(found.remarks[0].c_str() + found.remarks[0].find("a = "), "a = %lf, b = %lf", &a, &b), 2);
  EXPECT_NEAR(a, b, 0.2);
  EXPECT_GT(found.points, 1000);
}

TEST(Probe, SaysWhetherThePoleLiesInTheData) {
  const Data data = data_of({{"a", 1, 3}, {"b", 1, 3}}, 200, 5, first_column);
  const FitProbe found = probe(formula("1/(a - b)"), data, 1);
  ASSERT_EQ(found.remarks.size(), 1u);
  EXPECT_NE(found.remarks[0].find("crosses zero inside the box of the data"), std::string::npos) << found.remarks[0];
}

TEST(Probe, FindsTheRootOfANegativeNumber) {
  const Data data = data_of({{"a", 2, 4}, {"b", 0, 2}}, 200, 6, first_column);
  const FitProbe found = probe(formula("b*sqrt(a - b)"), data, 1);
  ASSERT_EQ(found.remarks.size(), 1u);
  EXPECT_EQ(found.remarks[0].rfind("a - b is negative and has no root outside of the data, first near a = 2.", 0), 0u)
      << found.remarks[0];
  EXPECT_GT(found.undefined, found.points / 100);
  EXPECT_LT(found.undefined, found.points / 2);
}

TEST(Probe, FindsPowersOfNegativeNumbers) {
  const Data data = data_of({{"a", -0.1, 2}}, 200, 7, first_column);
  const FitProbe found = probe(formula("(a + 0.5)^1.5"), data, 1);
  ASSERT_EQ(found.remarks.size(), 1u);
  EXPECT_EQ(found.remarks[0], "a + 0.5 is negative and has no root outside of the data, first near a = -0.5");
}

TEST(Probe, FindsTheLogarithmOfANegativeNumber) {
  const Data data = data_of({{"a", -0.1, 2}}, 200, 7, first_column);
  const FitProbe found = probe(formula("log(a + 0.5)"), data, 1);
  ASSERT_EQ(found.remarks.size(), 1u);
  EXPECT_EQ(found.remarks[0], "a + 0.5 is negative and has no logarithm outside of the data, first near a = -0.5");
}

TEST(Probe, FindsTheArcusOfWhatIsBeyondOne) {
  const Data data = data_of({{"a", -0.4, 0.4}}, 200, 8, first_column);
  for (const std::string name : {"sine", "cosine"}) {
    const FitProbe found = probe(formula(("arc" + name.substr(0, 3) + "(2*a)").c_str()), data, 1);
    ASSERT_EQ(found.remarks.size(), 1u);
    EXPECT_EQ(
        found.remarks[0].rfind("2*a leaves [-1, 1] and has no arc" + name + " outside of the data, first near a =", 0),
        0u)
        << found.remarks[0];
    EXPECT_NE(found.remarks[0].find("0.5"), std::string::npos) << found.remarks[0];
    EXPECT_GT(found.undefined, found.points / 100);
  }
}

TEST(Probe, LooksAtNoNegativeValuesOfAPositiveColumn) {
  const Data data = data_of({{"a", 0.5, 2}}, 200, 7, first_column);
  const FitProbe found = probe(formula("a^1.5 + 1/a"), data, 1);
  EXPECT_EQ(found.remarks, Remarks{});
  EXPECT_EQ(found.box[0].probed_low, 0);
}

TEST(Probe, NamesThePoleThatIsNearestToARow) {
  // Most of the box lies beyond the pole, and most of the rows before it.
  Data data = data_of({{"body", 0, 1}}, 60, 8, first_column);
  for (std::size_t r = 0; r < data.rows; ++r) data.x[r] = std::pow(10.0, -2 + 6 * static_cast<double>(r) / 60);
  const FitProbe found = probe(formula("1/(body - 61.894)"), data, 1);
  ASSERT_EQ(found.remarks.size(), 1u);
  EXPECT_EQ(found.remarks[0],
            "the denominator body - 61.894 crosses zero inside the box of the data, first near body = 61.89");
}

TEST(Probe, FindsOverflow) {
  const Data data = data_of({{"a", 300, 500}}, 200, 8, first_column);
  const FitProbe found = probe(formula("10^(a - 250)"), data, 1);
  ASSERT_EQ(found.remarks.size(), 1u);
  EXPECT_EQ(found.remarks[0], fmt::format("the value overflows at {} of {} points", found.undefined, found.points));
  EXPECT_GT(found.undefined, 0);
}

TEST(Probe, HasNothingToSayAboutWhatIsDefinedEverywhere) {
  const Data data = data_of({{"a", -1, 3}, {"b", 2, 3}}, 200, 9, first_column);
  const FitProbe found = probe(formula("a^2*b + a/b + sqrt(a^2 + b^2)"), data, 1);
  EXPECT_EQ(found.remarks, Remarks{});
  EXPECT_EQ(found.undefined, 0);
}

TEST(Probe, LooksAtABoxTwiceAsWideOfTheColumnsInTheFormula) {
  const Data data = data_of({{"a", 4, 6}, {"b", 1, 3}}, 2000, 10, first_column);
  const FitProbe found = probe(formula("2*b"), data, 1);
  ASSERT_EQ(found.box.size(), 1u);
  EXPECT_EQ(found.box[0].column, "b");
  EXPECT_NEAR(found.box[0].low, 1, 0.01);
  EXPECT_NEAR(found.box[0].high, 3, 0.01);
  EXPECT_NEAR(found.box[0].probed_low, 0, 0.02);
  EXPECT_NEAR(found.box[0].probed_high, 4, 0.02);
}

// ---- the formula is the model --------------------------------------------------------------------------------------

TEST(Verification, TellsAModelFromItsFormula) {
  const Data data = data_of({{"a", 1, 2}, {"b", 1, 2}}, 50, 11, first_column);
  Form form{{}, {test::product(2, {1, 1}), test::product(0.1, {0, 2})}};
  const Expression text = to_expression(form, data.columns, data.negative);
  const Result<double> same = verification_error(text, to_model(form, data.columns), data, 1);
  ASSERT_TRUE(same.ok());
  EXPECT_LE(*same, largest_verification_error);
  form.products[1].coefficient.value *= 1 + 1e-9;
  const Result<double> other = verification_error(text, to_model(form, data.columns), data, 1);
  ASSERT_TRUE(other.ok());
  EXPECT_GT(*other, largest_verification_error);
}

// Planck's law next to the absolute zero: the formula is 0, the layers have 0 times infinity.
TEST(Verification, ComparesNothingWhereAPartOverflows) {
  const Data data = data_of({{"f", 1, 5}, {"T", 1, 3}}, 200, 12, first_column);
  const Form form{{{{test::term(1, {0, 0, 1}), test::term(-1, {0, 0, 0})}}},
                  {test::product(2, {1, 0, 0}, {{0, -1}})},
                  {{"exp", {{test::term(3, {1, -1})}}, false}}};
  const Expression text = to_expression(form, data.columns, data.negative);
  EXPECT_EQ(print(text), "2*f/(exp(3*f/T) - 1)");
  EXPECT_FALSE(
      std::isfinite(predict(to_model(form, data.columns), std::vector<double>{5, 0.001}, Precision::Double)->at(0)));
  const Result<double> same = verification_error(text, to_model(form, data.columns), data, 1);
  ASSERT_TRUE(same.ok());
  EXPECT_LE(*same, largest_verification_error);
}

// exp(-2.3/T) is a subnormal number next to 0, or none.
TEST(Verification, ComparesNoNumbersThatAreNextToNothing) {
  const Data data = data_of({{"k", 1, 5}, {"T", 0.35, 2.8}}, 100, 13, first_column);
  const Form form{{}, {test::product(1, {1, 0, 1})}, {{"exp", {{test::term(-2.3, {0, -1})}}, false}}};
  const Result<double> same =
      verification_error(to_expression(form, data.columns, data.negative), to_model(form, data.columns), data, 1);
  ASSERT_TRUE(same.ok());
  EXPECT_LE(*same, largest_verification_error);
}

}  // namespace
}  // namespace nalm::fitting::trust_test
