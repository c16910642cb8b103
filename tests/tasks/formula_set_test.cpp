// The formulas that a fit is judged on, and the tables made from them.
#include "tasks/formulas/formula_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace nalm::formula_set_test {
namespace {

const std::vector<FormulaCase>& all() {
  static const std::vector<FormulaCase> set = [] {
    Result<std::vector<FormulaCase>> read = formula_set();
    EXPECT_TRUE(read.ok()) << read.error().message;
    return read ? *read : std::vector<FormulaCase>();
  }();
  return set;
}

const FormulaCase& find(const std::string& name) {
  const auto found = std::find_if(all().begin(), all().end(), [&](const FormulaCase& f) { return f.name == name; });
  EXPECT_NE(found, all().end()) << name;
  return *found;
}

constexpr std::string_view header = "name,part,family,powers,target,formula,ranges,distractors,condition\n";

std::string message(const std::string& line) {
  const Result<std::vector<FormulaCase>> read = read_formula_set(std::string(header) + line + "\n", "set");
  return read ? "" : read.error().message;
}

TEST(FormulaSet, HasEnoughFormulasOfEveryFamily) {
  EXPECT_GE(all().size(), 60u);
  std::map<std::string, int> families;
  for (const FormulaCase& formula : all()) ++families[formula.family];
  EXPECT_EQ(families.size(), 6u);
  for (const auto& [family, count] : families) EXPECT_GE(count, 5) << family;
}

// The hold-out list is what chance gave, and about a third.
TEST(FormulaSet, PartsAreThoseThatTheSeedGives) {
  std::size_t unseen = 0;
  for (const FormulaCase& formula : all()) {
    EXPECT_EQ(formula.part, chosen_part(formula.name)) << formula.name;
    unseen += formula.part == "unseen";
  }
  EXPECT_GE(4 * unseen, all().size());
  EXPECT_LE(5 * unseen, 2 * all().size());
}

TEST(FormulaSet, StaysWithinWhatAFitCanWrite) {
  const std::set<std::string> comparisons{"abs", "min", "max", "negative", "sign"};
  const auto check = [&](auto& self, const FormulaCase& formula, const Expression& e) -> void {
    if (e.kind() == Expression::Kind::Power) {
      ASSERT_EQ(e.operands()[1].kind(), Expression::Kind::Constant) << formula.name;
      const double twice = 2 * e.operands()[1].constant();
      EXPECT_EQ(twice, std::round(twice)) << formula.name;
    }
    if (e.kind() == Expression::Kind::Call) {
      EXPECT_TRUE(formula.family == "comparison" ? comparisons.contains(e.name()) : e.name() == "sqrt") << formula.name;
    }
    for (const Expression& operand : e.operands()) self(self, formula, operand);
  };
  for (const FormulaCase& formula : all()) check(check, formula, formula.formula);
}

void expect_tables_that_vary(const std::vector<FormulaCase>& formulas) {
  for (const FormulaCase& formula : formulas) {
    const Result<Table> table = make_table(formula, 50, 0, 1);
    ASSERT_TRUE(table.ok()) << table.error().message;
    ASSERT_EQ(table->rows, 50u);
    ASSERT_EQ(table->columns.size(), formula.columns.size() + 1);
    EXPECT_EQ(table->columns.back(), formula.target);
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (std::size_t row = 0; row < table->rows; ++row) {
      const double target = table->at(row, formula.columns.size());
      ASSERT_TRUE(std::isfinite(target)) << formula.name;
      low = std::min(low, target), high = std::max(high, target);
      for (std::size_t k = 0; k < formula.columns.size(); ++k) {
        EXPECT_GE(table->at(row, k), formula.columns[k].low) << formula.name;
        EXPECT_LT(table->at(row, k), formula.columns[k].high) << formula.name;
      }
    }
    EXPECT_LT(low, high) << formula.name;
  }
}

TEST(FormulaSet, EveryFormulaMakesATableThatVaries) { expect_tables_that_vary(all()); }

// 71 of the 100 formulas and 10 of the 20 bonus ones need no function.
TEST(FeynmanSet, HasTheFormulasOfTheDatabase) {
  const Result<std::vector<FormulaCase>> set = feynman_set();
  ASSERT_TRUE(set.ok()) << set.error().message;
  std::map<std::string, int> parts;
  for (const FormulaCase& formula : *set) {
    ++parts[formula.part + (formula.name.starts_with("test_") ? " bonus" : "")];
    EXPECT_EQ(formula.part == "functions", formula.family == "function") << formula.name;
    EXPECT_TRUE(formula.conditions.empty()) << formula.name;
    for (const FormulaColumn& column : formula.columns) EXPECT_FALSE(column.distractor) << formula.name;
  }
  EXPECT_EQ(parts, (std::map<std::string, int>{
                       {"arithmetic", 71}, {"arithmetic bonus", 10}, {"functions", 29}, {"functions bonus", 10}}));
  expect_tables_that_vary(*set);
}

// Values by Python's eval of the database's own text, where every variable is a quarter of the way up its range.
TEST(FeynmanSet, FormulasHaveTheDatabasesValues) {
  const std::map<std::string, double> expected{{"I.6.2b", 0.2659615202676218},
                                               {"I.9.18", 0.16276041666666666},
                                               {"I.15.3t", 1.9582184360650894},
                                               {"I.26.2", 0.22932922036501602},
                                               {"I.30.5", 0.22927620321397998},
                                               {"I.32.17", 0.3415359969835896},
                                               {"I.44.4", 0.0},
                                               {"II.24.17", 3.3735535116291993},
                                               {"II.36.38", 1.4444444444444444},
                                               {"III.19.51", -0.062499999999999986},
                                               {"test_5", 5.441398092702654},
                                               {"test_6", 1.1811273125260722},
                                               {"test_9", -107.3741824},
                                               {"test_10", 1.8430859681471203},
                                               {"test_12", 7.9966842720189195},
                                               {"test_16", 12.94427190999916},
                                               {"test_19", 0.7957747154594768},
                                               {"test_20", 0.0799756574544597}};
  const Result<std::vector<FormulaCase>> set = feynman_set();
  ASSERT_TRUE(set.ok()) << set.error().message;
  std::size_t compared = 0;
  for (const FormulaCase& formula : *set) {
    const auto value = expected.find(formula.name);
    if (value == expected.end()) continue;
    ++compared;
    std::vector<double> row;
    for (const FormulaColumn& column : formula.columns) row.push_back(column.low + (column.high - column.low) / 4);
    EXPECT_NEAR(*evaluate(formula.formula, formula.column_names(), row), value->second, 1e-12 * std::abs(value->second))
        << formula.name;
  }
  EXPECT_EQ(compared, expected.size());
}

TEST(FormulaSet, TargetsAreTheFormulasValues) {
  const Result<Table> table = make_table(find("spring_energy"), 20, 0, 3);
  ASSERT_TRUE(table.ok());
  ASSERT_EQ(table->columns, (std::vector<std::string>{"k", "x", "E"}));
  for (std::size_t row = 0; row < 20; ++row)
    EXPECT_EQ(table->at(row, 2), 0.5 * table->at(row, 0) * (table->at(row, 1) * table->at(row, 1)));
}

// The same bits on every machine: this is what makes results comparable. The numbers are from a Python program: FNV-1a
// of "1/centre_of_mass/m1" seeds splitmix64, which seeds xoshiro256++.
TEST(FormulaSet, TablesAreTheSameBitsEverywhere) {
  const Result<Table> table = make_table(find("centre_of_mass"), 2, 0, 1);
  ASSERT_TRUE(table.ok());
  const std::vector<double> expected{3.60908537438094,   1.3304908517858354, 1.41460586234833,  -0.23072943522370393,
                                     0.9714294720451662, 1.155061136695077,  4.043044440171384, 0.3957460010163958,
                                     0.7685642823467829, 0.6857210423536132};
  EXPECT_EQ(table->values, expected);
}

TEST(FormulaSet, ALongerTableBeginsWithTheShorterOne) {
  const Result<Table> small = make_table(find("waveguide_wavenumber"), 20, 0, 5);
  const Result<Table> large = make_table(find("waveguide_wavenumber"), 200, 0, 5);
  ASSERT_TRUE(small.ok() && large.ok());
  EXPECT_TRUE(std::equal(small->values.begin(), small->values.end(), large->values.begin()));
  const Result<Table> other = make_table(find("waveguide_wavenumber"), 20, 0, 6);
  EXPECT_NE(small->values, other->values);
}

TEST(FormulaSet, ConditionsHoldInEveryRow) {
  const FormulaCase& formula = find("waveguide_wavenumber");
  ASSERT_EQ(formula.conditions.size(), 1u);
  const Result<Table> table = make_table(formula, 500, 0, 1);
  ASSERT_TRUE(table.ok());
  const std::vector<std::string> names = formula.column_names();
  for (std::size_t row = 0; row < table->rows; ++row)
    EXPECT_GT(*evaluate(formula.conditions[0], names, std::span(&table->values[row * 4], 3)), 0);
}

// Seed 1; the estimate of 0.1 from 4000 rows is wrong by more than 0.01 with a probability below 1e-17.
TEST(FormulaSet, NoiseIsAShareOfTheStandardDeviationAndChangesNoInput) {
  const FormulaCase& formula = find("uniform_motion");
  const Result<Table> clean = make_table(formula, 4000, 0, 1), noisy = make_table(formula, 4000, 0.1, 1);
  ASSERT_TRUE(clean.ok() && noisy.ok());
  double mean = 0, variance = 0, noise = 0;
  for (std::size_t row = 0; row < 4000; ++row) mean += clean->at(row, 3) / 4000;
  for (std::size_t row = 0; row < 4000; ++row) {
    variance += std::pow(clean->at(row, 3) - mean, 2);
    noise += std::pow(noisy->at(row, 3) - clean->at(row, 3), 2);
    for (std::size_t k = 0; k < 3; ++k) ASSERT_EQ(noisy->at(row, k), clean->at(row, k));
  }
  EXPECT_NEAR(std::sqrt(noise / variance), 0.1, 0.01);
}

// Seed 1, as above; the target's mean is far from 0.
TEST(FormulaSet, NoiseMayBeAShareOfTheRootMeanSquare) {
  const FormulaCase& formula = find("uniform_motion");
  const Result<Table> clean = make_table(formula, 4000, 0, 1, NoiseUnit::RootMeanSquare);
  const Result<Table> noisy = make_table(formula, 4000, 0.1, 1, NoiseUnit::RootMeanSquare);
  ASSERT_TRUE(clean.ok() && noisy.ok());
  double squares = 0, noise = 0;
  for (std::size_t row = 0; row < 4000; ++row) {
    squares += std::pow(clean->at(row, 3), 2);
    noise += std::pow(noisy->at(row, 3) - clean->at(row, 3), 2);
  }
  EXPECT_NEAR(std::sqrt(noise / squares), 0.1, 0.01);
}

TEST(FormulaSet, MistakesAreExplained) {
  EXPECT_EQ(message("f,tune,sum,half,y,a + b,\"a b [1,5)\",,"), "");
  EXPECT_EQ(message("f,tune,sum,half,y,a + b,\"a [1,5)\",,"),
            "set: line 2: b has no range; add one such as \"b [1,5)\".");
  EXPECT_EQ(message("f,tune,sum,half,y,a,\"a b [1,5)\",,"),
            "set: line 2: b is not in the formula; list it with the distractors.");
  EXPECT_EQ(message("f,tune,sum,half,y,a,\"a [5,1)\",,"),
            "set: line 2: \"a [5,1)\" is not a range; write names and bounds such as \"m1 m2 [1,5)\".");
  EXPECT_EQ(message("f,tune,sum,half,a,a,\"a [1,5)\",,"), "set: line 2: the column a is also the target; rename one.");
  EXPECT_EQ(message("f,tune,sum,half,y,a,\"a [1,5)\",\"a [1,5)\","),
            "set: line 2: the column a has two ranges; keep one.");
  EXPECT_EQ(message("f,seen,sum,half,y,a,\"a [1,5)\",,"), "set: line 2: the part \"seen\" is none of tune, unseen.");
  EXPECT_EQ(message("f,tune,sum,third,y,a,\"a [1,5)\",,"),
            "set: line 2: \"third\" is none of the powers integer, half and any.");
  EXPECT_EQ(
      message("f,tune"),
      "set: line 2: there are 2 cells, and \"name,part,family,powers,target,formula,ranges,distractors,condition\" "
      "has 9.");
  EXPECT_NE(message("f,tune,sum,half,y,a +,\"a [1,5)\",,"), "");
  EXPECT_NE(message("f,tune,sum,half,y,a,\"a [1,5)\",,\nf,tune,sum,half,y,a,\"a [1,5)\",,"), "");
}

TEST(FormulaSet, AFormulaThatIsNeverDefinedIsAnErrorAndNoEndlessLoop) {
  const Result<std::vector<FormulaCase>> read =
      read_formula_set(std::string(header) + "f,tune,root,half,y,sqrt(a),\"a [-5,-1)\",,\n", "set");
  ASSERT_TRUE(read.ok());
  const Result<Table> table = make_table(read->front(), 10, 0, 1);
  ASSERT_FALSE(table.ok());
  EXPECT_EQ(table.error().message, "f has a finite value in only 0 of 2000 rows; change its ranges or its condition.");
}

}  // namespace
}  // namespace nalm::formula_set_test
