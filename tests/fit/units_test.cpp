// Units of a table: what is read, which formulas fit, and what the constants carry.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fit/cases.hpp"
#include "fit/form_units.hpp"
#include "fit/similarity.hpp"
#include "nalm/fit.hpp"
#include "words.hpp"

namespace nalm::units_test {
namespace {

using namespace fitting;
using test::table_of;
using UnitList = std::vector<std::pair<std::string, std::string>>;

// ---- reading -------------------------------------------------------------------------------------------------------

TEST(Units, OfColumnsAreReadFromText) {
  const Result<UnitList> units = read_units("m:kg, v : m/s,a:b:1/s,E:J");
  ASSERT_TRUE(units) << units.error().message;
  EXPECT_EQ(*units, (UnitList{{"m", "kg"}, {"v", "m/s"}, {"a:b", "1/s"}, {"E", "J"}}));
  EXPECT_EQ(complaint(read_units("m:kg,v")),
            "\"v\" does not say which column has which unit; write column:unit, such as \"m:kg,v:m/s,E:J\".");
  EXPECT_EQ(complaint(read_units("m:kg,m:g")), "the column \"m\" has two units; give it one.");
}

Table read(const std::string& text) { return read_table(text, "rows", Cells::Words).value(); }

TEST(Units, ARowOfUnitsBelowTheHeaderIsTaken) {
  Table table = read("m,v,n,k,E\nkg,m/s,,1,J\n1,2,3,4,5\n6,7,8,9,10\n");
  ASSERT_TRUE(take_units(table));
  EXPECT_EQ(table.units, (std::vector<std::string>{"kg", "m/s", "", "1", "J"}));
  EXPECT_EQ(table.rows, 2u);
  EXPECT_EQ(table.at(0, 0), 1);
  EXPECT_TRUE(table.text.empty());
}

TEST(Units, WhatCouldBeDataStays) {
  for (const char* text : {
           "m,s\n1,1\n2,3\n",          // numbers
           "m,sex,y\n5,m,1\n2,s,3\n",  // a word beside a number that is not 1
           "a,sex\n1,m\n1,s\n",        // a column of words that happen to be units
           "a,b\n-,-\n1,2\n",          // nothing that is a unit
           "a,b\nx1,x2\n1,2\n",        // words that are none
           "kg,m\n,\n1,2\n",           // missing values
       }) {
    Table table = read(text);
    const std::size_t rows = table.rows;
    EXPECT_TRUE(take_units(table)) << text;
    EXPECT_TRUE(table.units.empty()) << text;
    EXPECT_EQ(table.rows, rows) << text;
  }
}

TEST(Units, ARowOfUnitsWithOneThatCannotBeReadIsAnErrorThatNamesIt) {
  Table table = read("m,v,E\nkg,furlong,J\n1,2,3\n4,5,6\n");
  const std::string message = complaint(take_units(table));
  EXPECT_TRUE(contains(message,
                       "the row below the header has units, but not in the column \"v\": \"furlong\" is not "
                       "a unit that can be read"))
      << message;
  table = read("m,name,E\nkg,name,J\n1,x,3\n4,y,6\n");
  EXPECT_EQ(complaint(take_units(table)),
            "the row below the header has units, but the column \"name\" of words has \"name\" there; leave the cell "
            "empty.");
}

TEST(Units, OfAFitAreThoseOfAllItsColumns) {
  Table table = read("a,b,y\n1,2,3\n4,5,6\n2,9,1\n3,3,3\n5,6,1\n7,1,2\n8,8,8\n");
  const auto says = [&](const UnitList& units) { return complaint(nalm::fit(table, {.target = "y", .units = units})); };
  EXPECT_EQ(says({{"a", "m"}, {"y", "m"}}),
            "the units say nothing about the column \"b\"; add b:1 if it is a pure number.");
  EXPECT_EQ(says({{"a", "m"}, {"c", "m"}}), "the units name \"c\", which is no column; the columns are a, b, y.");
  EXPECT_TRUE(contains(says({{"a", "m"}, {"b", "Kg"}, {"y", "m"}}),
                       "the unit of the column \"b\": \"Kg\" is not a unit that can be read: there is no unit \"Kg\", "
                       "perhaps kg; write units such as"))
      << says({{"a", "m"}, {"b", "Kg"}, {"y", "m"}});
  EXPECT_TRUE(contains(complaint(nalm::fit(table, {.target = "y", .stack = "NAU:1", .units = {{"a", "m"}}})),
                       "a stack of your own knows no units"));
}

// ---- forms ---------------------------------------------------------------------------------------------------------

TableUnits units_of_text(const std::vector<std::string>& texts) {
  TableUnits units;
  for (const std::string& text : texts) {
    units.written.push_back(formula::parse_unit(text).value());
    units.columns.push_back(dimension_of(units.written.back()));
  }
  units.target = units.columns.back();
  units.columns.pop_back();
  return units;
}

TEST(Units, NumbersOfAFormCarryWhatIsLeft) {
  // c*m*(v^2 + k*h) in J
  const Form form{{{{{{1, false}, {0, 2, 0}}, {{19.6, true}, {0, 0, 1}}}}}, {{{0.5, true}, {1, 0, 0}, {{0, 1.0}}}}};
  const TableUnits units = units_of_text({"kg", "m/s", "m", "J"});
  EXPECT_EQ(units_of_free_numbers(form, units), (std::vector<std::string>{"", "m/s^2"}));
  EXPECT_EQ(cost_of_units(form, units), 5);
  EXPECT_EQ(cost_of_units(form, units_of_text({"kg", "m/s", "m^2/s^2", "J"})), 0);
  EXPECT_EQ(cost_of_units(form, {}), 0);
}

TEST(Units, OfNumbersAreWrittenInThoseOfTheTable) {
  const Form product{{}, {{{1, true}, {1, 1, -2}, {}}}};
  const auto unit = [&](const std::vector<std::string>& texts) {
    return units_of_free_numbers(product, units_of_text(texts))[0];
  };
  EXPECT_EQ(unit({"kg", "kg", "m", "N"}), "N*m^2/kg^2");
  EXPECT_EQ(unit({"kg", "m", "s", "N"}), "");            // 1 N is 1 kg*m/s^2
  EXPECT_EQ(unit({"g", "m", "s", "N"}), "N*s^2/(g*m)");  // 1000, but for the unit
  EXPECT_EQ(unit({"1", "1", "m", "N"}), "N*m^2");
  EXPECT_EQ(unit({"kg", "m", "1", "J"}), "m/s^2");  // shorter than J/(kg*m)
}

TEST(Units, OfNumbersInFunctionsAreTheInverse) {
  Form form{{}, {{{1, true}, {1, 0, 1}, {}}}, {{"exp", {{{{-0.3, true}, {0, 1}}}}, false}}};
  const TableUnits units = units_of_text({"V", "s", "V"});
  EXPECT_EQ(units_of_free_numbers(form, units), (std::vector<std::string>{"", "1/s"}));
  form.outer = "log";
  EXPECT_EQ(cost_of_units(form, units), infinity);  // a logarithm has no volts
}

// ---- dimensionless products ----------------------------------------------------------------------------------------

Data data_of(const Table& table, const UnitList& units) {
  return prepare(table, {.target = "y", .units = units}).value();
}

TEST(Similarity, HasFewerColumnsAndFormulasOfThemFit) {
  const Table table = table_of({{"m", 1, 5}, {"v", 1, 2}, {"c", 3, 9}, {"h", 1, 5}, {"r", 1, 5}}, 60, 5,
                               [](const double* x, Xoshiro&) { return x[0] * x[1] * x[1]; });
  const Data data = data_of(table, {{"m", "kg"}, {"v", "m/s"}, {"c", "m/s"}, {"h", "m"}, {"r", "m"}, {"y", "J"}});
  const std::optional<Similarity> similarity = similarity_of(data, Powers::Half);
  ASSERT_TRUE(similarity);
  EXPECT_EQ(similarity->products.size(), 2u);
  for (const PowerList& product : similarity->products) EXPECT_TRUE(is_pure(data.units.of_product(product)));
  EXPECT_TRUE(is_pure(data.units.of_product(similarity->factor, -1)));
  Xoshiro random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const auto powers = [&] {
      return PowerList{static_cast<double>(random.below(5)) - 2, static_cast<double>(random.below(5)) / 2 - 1};
    };
    const Form form{{{{{{1, false}, powers()}, {{2, true}, powers()}, {{3, true}, {0, 0}}}}},
                    {{{2, true}, powers(), {{0, 0.5}}}, {{3, true}, powers(), {}}}};
    EXPECT_EQ(cost_of_units(with_units(form, *similarity).value(), data.units), 0);
  }
}

TEST(Similarity, NeedsColumnsWithTheUnitOfTheTarget) {
  const Table table = table_of({{"a", 1, 5}, {"b", 1, 5}}, 20, 1, [](const double* x, Xoshiro&) { return x[0]; });
  EXPECT_FALSE(similarity_of(data_of(table, {{"a", "m"}, {"b", "m"}, {"y", "s"}}), Powers::Half));
  EXPECT_TRUE(similarity_of(data_of(table, {{"a", "m^2"}, {"b", "1"}, {"y", "m"}}), Powers::Half));
  // A root of a column is not a whole power.
  EXPECT_FALSE(similarity_of(data_of(table, {{"a", "m^2"}, {"b", "1"}, {"y", "m"}}), Powers::Integer));
  EXPECT_FALSE(similarity_of(prepare(table, {.target = "y"}).value(), Powers::Half));
}

TEST(Similarity, TheRowsSayWhatAConstantWithAUnitMultiplies) {
  const UnitList units = {{"m1", "kg"}, {"m2", "kg"}, {"r", "m"}, {"R", "m"}, {"y", "N"}};
  const auto factor_of = [&](auto target) {
    const Data data = data_of(table_of({{"m1", 1, 5}, {"m2", 1, 5}, {"r", 1, 5}, {"R", 1, 5}}, 200, 1, target), units);
    const std::optional<Similarity> similarity = similarity_but_for_a_factor(data, Powers::Half);
    return similarity ? data.units.of_product(similarity->factor) : Dimension{};
  };
  const Dimension found = factor_of([](const double* x, Xoshiro&) { return 7 * x[0] * x[1] / (x[2] * (x[2] + x[3])); });
  EXPECT_EQ(found, (Dimension{-2, 2}));  // kg^2/m^2
  // Terms of different units have no common factor with whole powers.
  EXPECT_EQ(factor_of([](const double* x, Xoshiro&) { return x[0] * x[2] + x[3]; }), Dimension{});
}

TEST(UnitsFit, OneConstantThatCarriesAUnitIsAFactorOfTheWhole) {
  Table table =
      table_of({{"m1", 1, 5}, {"m2", 1, 5}, {"r", 1, 5}, {"R", 1, 5}}, 200, 1, [](const double* x, Xoshiro& random) {
        return 6.674 * x[0] * x[1] / ((x[2] + x[3]) * (x[2] + x[3])) + 0.1 * random.gaussian();
      });
  table.units = {"kg", "kg", "m", "m", "N"};
  const Result<Fit> fit = nalm::fit(table, {.target = "y"});
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_TRUE(fit->is_law()) << fit->reason;
  for (const Candidate& candidate : fit->candidates) {
    EXPECT_EQ(candidate.constants.front().unit, "N*m^2/kg^2") << print(candidate.formula);
    for (std::size_t k = 1; k < candidate.constants.size(); ++k)
      EXPECT_TRUE(candidate.constants[k].unit.empty() || candidate.constants[k].unit == "N*m^2/kg^2")
          << print(candidate.formula);
  }
}

TEST(Similarity, DoesNotDivideByZero) {
  Table table = table_of({{"a", 1, 5}, {"b", 1, 5}}, 20, 1, [](const double* x, Xoshiro&) { return x[0] + x[1]; });
  table.values[0] = 0;  // a
  const std::optional<Similarity> similarity =
      similarity_of(data_of(table, {{"a", "m"}, {"b", "m"}, {"y", "m"}}), Powers::Half);
  ASSERT_TRUE(similarity);
  EXPECT_EQ(similarity->factor, (PowerList{0, 1}));
}

// ---- fits ----------------------------------------------------------------------------------------------------------

TEST(UnitsFit, DecideBetweenFormulasThatFitAsWell) {
  // T is 3 s in every row, so that 6*s and 2*T are the same numbers.
  Table table = table_of({{"s", 1, 5}}, 60, 1, [](const double* x, Xoshiro&) { return 6 * x[0]; });
  Table both = table;
  both.columns = {"s", "T", "y"};
  both.values.clear();
  for (std::size_t r = 0; r < table.rows; ++r)
    both.values.insert(both.values.end(), {table.at(r, 0), 3 * table.at(r, 0), table.at(r, 1)});
  const auto formula = [&](const char* unit) {
    const Result<Fit> fit = nalm::fit(both, {.target = "y", .units = {{"s", "m"}, {"T", "s"}, {"y", unit}}});
    return fit ? print(fit->best().formula) : fit.error().message;
  };
  EXPECT_EQ(formula("m"), "6*s");
  EXPECT_EQ(formula("s"), "2*T");
}

TEST(UnitsFit, LeaveOutWhatNoiseWouldPutIn) {
  // Whatever comes close to these rows, nothing is listed whose numbers would need a unit. Seed 1, the same every time.
  const Table table =
      table_of({{"m", 1, 5}, {"v", 1, 5}, {"h", 1, 5}, {"g", 5, 15}}, 200, 1, [](const double* x, Xoshiro& random) {
        return 0.5 * x[0] * x[1] * x[1] + x[0] * x[3] * x[2] + 10 * random.gaussian();
      });
  const Result<Fit> fit =
      nalm::fit(table, {.target = "y", .units = {{"m", "kg"}, {"v", "m/s"}, {"h", "m"}, {"g", "m/s^2"}, {"y", "J"}}});
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_TRUE(fit->is_law()) << fit->reason;
  for (const Candidate& candidate : fit->candidates)
    for (const FitConstant& constant : candidate.constants) EXPECT_EQ(constant.unit, "") << print(candidate.formula);
}

TEST(UnitsFit, AConstantThatIsNeededCarriesItsUnit) {
  Table table = table_of({{"m", 1, 5}, {"v", 1, 5}, {"h", 1, 5}}, 120, 1,
                         [](const double* x, Xoshiro&) { return 0.5 * x[0] * x[1] * x[1] + 9.80665 * x[0] * x[2]; });
  table.units = {"kg", "m/s", "m", "J"};
  const Result<Fit> fit = nalm::fit(table, {.target = "y"});
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_TRUE(fit->is_law()) << fit->reason;
  EXPECT_EQ(fit->units, (std::vector<std::string>{"kg", "m/s", "m", "J"}));
  std::vector<std::string> units;
  for (const FitConstant& constant : fit->best().constants) units.push_back(constant.unit);
  EXPECT_EQ(units, (std::vector<std::string>{"", "m/s^2"})) << print(fit->best().formula);
  const std::string json = to_json(*fit, table, {});
  EXPECT_TRUE(contains(json, R"("unit":"m/s^2")"));
  EXPECT_TRUE(contains(json, R"("units":{"m":"kg","v":"m/s","h":"m","y":"J"})"));
}

TEST(UnitsFit, WithoutUnitsNothingIsSaidAboutThem) {
  const Table table = table_of({{"a", 1, 5}}, 40, 1, [](const double* x, Xoshiro&) { return 2.5 * x[0]; });
  const Result<Fit> fit = nalm::fit(table, {.target = "y"});
  ASSERT_TRUE(fit);
  EXPECT_FALSE(contains(to_json(*fit, table, {}), "\"unit"));
}

TEST(UnitsFit, FunctionsHaveArgumentsWithoutUnits) {
  const Table table = table_of({{"A", 1, 5}, {"t", 1, 5}, {"T", 1, 5}, {"b", 1, 5}}, 120, 1,
                               [](const double* x, Xoshiro&) { return x[0] * std::exp(-x[1] / x[2]); });
  const Result<Fit> fit = nalm::fit(
      table,
      {.target = "y", .functions = {"exp"}, .units = {{"A", "V"}, {"t", "s"}, {"T", "s"}, {"b", "V"}, {"y", "V"}}});
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_TRUE(fit->is_law()) << fit->reason;
  EXPECT_EQ(print(fit->best().formula), "A*exp(-t/T)");
}

// Nobody sees the factors of 1 that would have to carry units.
TEST(UnitsFit, AFormulaThatFitsOnlyWithUnitsInItsOnesSaysSo) {
  const Table table = table_of({{"A", 1, 3}, {"w", 1, 2}, {"t", 0, 3}}, 120, 4,
                               [](const double* x, Xoshiro&) { return x[0] * std::sin(x[1] * x[2]); });
  const auto notes = [&](const char* units) {
    const Result<Fit> fit = nalm::fit(table, {.target = "y", .functions = {"sin"}, .units = read_units(units).value()});
    EXPECT_EQ(print(fit->best().formula), "A*sin(w*t)");
    return fmt::format("{}", fmt::join(fit->notes, "; "));
  };
  EXPECT_EQ(notes("A:m,w:1/s,t:s,y:m"), "");
  EXPECT_NE(notes("A:m,w:m,t:s,y:m").find("in sin(w*t) the argument has the unit m*s"), std::string::npos);
}

TEST(UnitsFit, ConstantsOfAGivenFormHaveUnits) {
  Table table = table_of({{"conc", 0.1, 5}}, 60, 1, [](const double* x, Xoshiro& random) {
    return 2.1 * x[0] / (0.7 + x[0]) + 0.01 * random.gaussian();
  });
  table.units = {"mmol/L", "mol/s"};
  const Result<Fit> fit = fit_form(table, {.target = "y"}, parse_expression("V*conc/(K + conc)").value());
  ASSERT_TRUE(fit) << fit.error().message;
  ASSERT_EQ(fit->best().constants.size(), 2u);
  EXPECT_EQ(fit->best().constants[0].name, "V");
  EXPECT_EQ(fit->best().constants[0].unit, "mol/s");
  EXPECT_EQ(fit->best().constants[1].unit, "mmol/L");
  EXPECT_TRUE(fit->notes.empty());
  // An exponent that is fitted, and what a function is applied to.
  const Result<Fit> power = fit_form(table, {.target = "y"}, parse_expression("a*exp(-b*conc)").value());
  ASSERT_TRUE(power) << power.error().message;
  EXPECT_EQ(power->best().constants[0].unit, "mol/s");
  EXPECT_EQ(power->best().constants[1].unit, "L/mmol");
}

TEST(UnitsFit, AFormulaThatDoesNotFitIsJudgedAndSaysSo) {
  Table table = table_of({{"x", 1, 5}, {"t", 1, 5}}, 40, 1, [](const double* x, Xoshiro&) { return x[0] + x[1]; });
  table.units = {"m", "s", "m"};
  const Result<Fit> fit = score(table, {.target = "y"}, parse_expression("x + t").value());
  ASSERT_TRUE(fit) << fit.error().message;
  ASSERT_EQ(fit->notes.size(), 1u);
  EXPECT_EQ(fit->notes[0],
            "the formula does not fit the units: in x + t the one side has the unit m and the other the unit s");
  const auto note = [&](const char* formula) {
    const Result<Fit> judged = score(table, {.target = "y"}, parse_expression(formula).value());
    return judged->notes.empty() ? "" : judged->notes[0];
  };
  EXPECT_EQ(note("x*t"), "the formula does not fit the units: it has the unit m*s, and the target has the unit m");
  EXPECT_EQ(note("x*sin(t)"), "the formula does not fit the units: in sin(t) the argument has the unit s");
  EXPECT_EQ(note("x^t"), "the formula does not fit the units: the exponent in x^t has the unit s");
  EXPECT_EQ(note("sqrt(x^2)*max(x, 2*x)/abs(x)"), "");
}

}  // namespace
}  // namespace nalm::units_test
