// The table as a fit sees it: what is refused and in which words, and which rows teach and test.
#include "fit/data.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "fit/cases.hpp"

namespace nalm::fitting::data_test {
namespace {

Table product_table(std::size_t rows = 100) {
  return test::table_of({{"a", 1, 2}, {"b", -3, 3}}, rows, 5, [](const double* x, Xoshiro&) { return x[0] * x[1]; });
}

void set_cell(Table& table, std::size_t row, std::size_t column, double value) {
  table.values[row * table.columns.size() + column] = value;
}

std::string refusal(const Table& table, const FitOptions& options) {
  const Result<Data> data = prepare(table, options);
  return data ? "(nothing)" : data.error().message;
}

// ---- what is refused -----------------------------------------------------------------------------------------------

TEST(Prepare, NeedsTheTarget) {
  EXPECT_EQ(refusal(product_table(), {.target = "z"}),
            "the table has no column \"z\" for the target; its columns are a, b, y.");
}

TEST(Prepare, NeedsTheInputsThatAreNamed) {
  EXPECT_EQ(refusal(product_table(), {.target = "y", .inputs = {"a", "c"}}),
            "the table has no column \"c\" for the inputs; its columns are a, b, y.");
}

TEST(Prepare, RefusesTheTargetAmongTheInputs) {
  EXPECT_EQ(refusal(product_table(), {.target = "y", .inputs = {"a", "y"}}),
            "\"y\" is the target and cannot be an input as well.");
}

TEST(Prepare, RefusesAnInputThatIsNamedTwice) {
  EXPECT_EQ(refusal(product_table(), {.target = "y", .inputs = {"a", "a"}}),
            "the input \"a\" is named twice; name it once.");
}

TEST(Prepare, RefusesATableWithoutInputs) {
  const Table table = test::table_of({}, 10, 1, [](const double*, Xoshiro& random) { return random.unit(); });
  EXPECT_EQ(refusal(table, {.target = "y"}),
            "the table has no column besides the target; add the inputs of the formula.");
}

TEST(Prepare, NamesTheCellThatIsInfinite) {
  Table table = product_table();
  set_cell(table, 2, 2, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(refusal(table, {.target = "y"}),
            "row 3, column \"y\": the value is infinite; remove the row or correct the cell.");
}

TEST(Prepare, DoesNotMindACellOfAColumnThatIsNotUsed) {
  Table table = product_table();
  set_cell(table, 7, 1, std::nan(""));
  EXPECT_EQ(refusal(table, {.target = "y", .inputs = {"a"}}), "(nothing)");
}

TEST(Prepare, RefusesTooFewRows) {
  EXPECT_EQ(refusal(product_table(5), {.target = "y"}), "the table has 5 rows; at least 6 are needed.");
  EXPECT_EQ(refusal(product_table(6), {.target = "y"}), "(nothing)");
}

TEST(Prepare, RefusesAConstantTarget) {
  const Table table = test::table_of({{"a", 1, 2}}, 20, 1, [](const double*, Xoshiro&) { return 2.5; });
  EXPECT_EQ(refusal(table, {.target = "y"}),
            "the target \"y\" is 2.5 in every row; a formula needs a target that varies.");
}

TEST(Prepare, TellsOfAColumnThatIsTheTarget) {
  const Table table = test::table_of({{"a", 1, 2}, {"b", 1, 2}}, 20, 1, [](const double* x, Xoshiro&) { return x[1]; });
  const Result<Data> data = prepare(table, {.target = "y"});
  ASSERT_TRUE(data.ok());
  EXPECT_EQ(data->notes,
            std::vector<std::string>{"the column \"b\" is equal to the target in every row; --inputs leaves it out"});
}

TEST(Prepare, RefusesEqualColumns) {
  Table table = product_table();
  for (std::size_t r = 0; r < table.rows; ++r) set_cell(table, r, 1, table.at(r, 0));
  EXPECT_EQ(refusal(table, {.target = "y"}),
            "the columns \"a\" and \"b\" are equal in every row, so no formula could tell them apart; leave one out "
            "with --inputs.");
  EXPECT_EQ(refusal(table, {.target = "y", .inputs = {"b"}}), "(nothing)");
}

TEST(Prepare, RefusesInputsThatDoNotVary) {
  Table table = product_table();
  for (std::size_t r = 0; r < table.rows; ++r) set_cell(table, r, 0, 4);
  EXPECT_EQ(refusal(table, {.target = "y", .inputs = {"a"}}),
            "every input has the same value in all rows; a formula needs inputs that vary.");
}

TEST(Prepare, RefusesToUseWhatIsNoInput) {
  EXPECT_EQ(refusal(product_table(), {.target = "y", .use = {"c"}}),
            "the column \"c\" must be used but is not an input that varies; the inputs are a, b.");
  EXPECT_EQ(refusal(product_table(), {.target = "y", .use = {"b"}}), "(nothing)");
}

TEST(Prepare, LeavesOutAConstantColumnAndSaysSo) {
  Table table = product_table();
  for (std::size_t r = 0; r < table.rows; ++r) set_cell(table, r, 0, 4);
  const Result<Data> data = prepare(table, {.target = "y"});
  ASSERT_TRUE(data.ok());
  EXPECT_EQ(data->columns, std::vector<std::string>{"b"});
  EXPECT_EQ(data->notes, std::vector<std::string>{"the column \"a\" is 4 in every row and was left out"});
}

// ---- what is kept --------------------------------------------------------------------------------------------------

TEST(Prepare, TakesTheInputsInTheOrderTheyAreNamed) {
  const Table table = product_table();
  const Result<Data> data = prepare(table, {.target = "y", .inputs = {"b", "a"}});
  ASSERT_TRUE(data.ok());
  EXPECT_EQ(data->columns, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(data->row(3)[0], table.at(3, 1));
  EXPECT_EQ(data->row(3)[1], table.at(3, 0));
  EXPECT_EQ(data->y[3], table.at(3, 2));
}

TEST(Prepare, MeasuresSignsAndScales) {
  Table table;
  table.columns = {"a", "b", "y"};
  for (const double s : {1.0, 2.0, 4.0, 1.0, 2.0, 4.0}) {
    const bool first = table.rows < 3;
    table.values.insert(table.values.end(), {s, first ? -s : 10 * s, first ? 3.0 : -5.0});
    ++table.rows;
  }
  const Result<Data> data = prepare(table, {.target = "y"});
  ASSERT_TRUE(data.ok());
  EXPECT_EQ(data->negative, (std::vector<bool>{false, true}));
  EXPECT_NEAR(data->x_scale[0], 2, 1e-14);
  EXPECT_NEAR(data->x_scale[1], 2 * std::sqrt(10), 1e-14);
  EXPECT_NEAR(data->y_scale, std::sqrt(17), 1e-14);
  EXPECT_NEAR(data->y_deviation, 4, 1e-14);
}

// ---- the split -----------------------------------------------------------------------------------------------------

TEST(Split, SetsAreDisjointAndComplete) {
  const Result<Data> data = prepare(product_table(200), {.target = "y"});
  ASSERT_TRUE(data.ok());
  EXPECT_EQ(data->train.size(), 140u);
  EXPECT_EQ(data->held_out.size(), 40u);
  EXPECT_EQ(data->outside.size(), 20u);
  std::set<std::size_t> rows;
  for (const auto& [set, members] :
       {std::pair(FitRow::Train, &data->train), std::pair(FitRow::HeldOut, &data->held_out),
        std::pair(FitRow::Outside, &data->outside)}) {
    for (const std::size_t r : *members) {
      EXPECT_TRUE(rows.insert(r).second) << r;
      EXPECT_EQ(data->set_of_row[r], set) << r;
    }
  }
  EXPECT_EQ(rows.size(), 200u);
}

TEST(Split, OutsideRowsAreTheOutermost) {
  const Result<Data> data = prepare(product_table(200), {.target = "y"});
  ASSERT_TRUE(data.ok());
  // How many rows lie beyond this one in a column, on the nearer side; the least over the columns.
  const auto beyond = [&](std::size_t row) {
    std::size_t least = data->rows;
    for (std::size_t i = 0; i < data->inputs; ++i) {
      std::size_t below = 0, above = 0;
      for (std::size_t r = 0; r < data->rows; ++r) {
        below += data->row(r)[i] < data->row(row)[i];
        above += data->row(r)[i] > data->row(row)[i];
      }
      least = std::min({least, below, above});
    }
    return least;
  };
  std::size_t innermost_outside = 0, outermost_inside = data->rows;
  for (std::size_t r = 0; r < data->rows; ++r) {
    if (data->set_of_row[r] == FitRow::Outside) {
      innermost_outside = std::max(innermost_outside, beyond(r));
    } else {
      outermost_inside = std::min(outermost_inside, beyond(r));
    }
  }
  EXPECT_LE(innermost_outside, outermost_inside);
  // The ends of every column are among them.
  EXPECT_GT(outermost_inside, 0u);
}

TEST(Split, DoesNotHangOnTheSeed) {
  const Table table = product_table(200);
  const auto sets = [&](std::uint64_t seed) { return prepare(table, {.target = "y", .seed = seed})->set_of_row; };
  EXPECT_EQ(sets(1), sets(2));
}

TEST(Split, FewRowsAreAllForTraining) {
  const Result<Data> data = prepare(product_table(11), {.target = "y"});
  ASSERT_TRUE(data.ok());
  EXPECT_EQ(data->train.size(), 11u);
  EXPECT_EQ(prepare(product_table(12), {.target = "y"})->held_out.size(), 2u);
}

}  // namespace
}  // namespace nalm::fitting::data_test

// ---- tables as they come -------------------------------------------------------------------------------------------

namespace nalm::fitting::real_table_test {
namespace {

// Rows of a, b and y = a*b with another column.
Table with_column(const std::string& name, const std::vector<std::string>& cells) {
  std::string text = "a," + name + ",b,y\n";
  for (std::size_t r = 0; r < 40; ++r) {
    const double a = 1 + static_cast<double>(r % 7), b = 2 + static_cast<double>(r % 11);
    text += std::to_string(a) + "," + cells[r % cells.size()] + "," + std::to_string(b) + "," + std::to_string(a * b) +
            "\n";
  }
  return *read_table(text, "data.csv", Cells::Words);
}

TEST(RealTables, LeaveOutTextWithANote) {
  const Result<Data> data = prepare(with_column("kind", {"oak", "fir"}), {.target = "y"});
  ASSERT_TRUE(data.ok()) << data.error().message;
  EXPECT_EQ(data->columns, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(data->rows, 40U);
  EXPECT_EQ(data->notes,
            (std::vector<std::string>{"a column was left out: the column \"kind\" has text such as \"oak\"; "
                                      "--by kind gives each of its groups a constant"}));
}

TEST(RealTables, RefuseTextThatIsAskedFor) {
  const Table table = with_column("kind", {"oak", "fir"});
  EXPECT_EQ(prepare(table, {.target = "y", .inputs = {"a", "kind"}}).error().message,
            "the column \"kind\" has text such as \"oak\"; --by kind gives each of its groups a constant.");
  EXPECT_TRUE(prepare(table, {.target = "y", .inputs = {"a", "b"}}).ok());
}

TEST(RealTables, CallDatesDates) {
  for (const char* date : {"2020-01-05", "5/1/2020", "05.01.2020", "12:30", "2020-01-05T12:30:00Z"}) {
    EXPECT_EQ(prepare(with_column("when", {date}), {.target = "y", .inputs = {"when"}}).error().message,
              std::string("the column \"when\" has dates such as ") + date +
                  "; make a number of it, such as the days since the first.");
  }
  for (const char* other : {"1-2", "12.5.x", "a/b/c", "2020-", "::", "123456-1-1"})
    EXPECT_FALSE(is_date(other)) << other;
}

TEST(RealTables, AFewWordsAmongNumbersAreMistakes) {
  const std::vector<std::string> cells = [] {
    std::vector<std::string> list;
    for (int k = 0; k < 40; ++k) list.push_back(k == 6 ? "12a" : std::to_string(k));
    return list;
  }();
  EXPECT_EQ(prepare(with_column("c", cells), {.target = "y", .inputs = {"a", "c"}}).error().message,
            "row 7, column \"c\": \"12a\" is not a number; correct the cell, or leave it empty.");
}

TEST(RealTables, RowsWithMissingValuesAreLeftOutAndCounted) {
  for (const char* missing : {"", "NA", "NaN", "n/a", "?", "-", "null"}) {
    const Result<Data> data = prepare(with_column("c", {"1", "2", "3", "5", missing}), {.target = "y"});
    ASSERT_TRUE(data.ok()) << missing << data.error().message;
    EXPECT_EQ(data->rows, 32U);
    EXPECT_EQ(data->row_of_table[4], 5U);
    ASSERT_EQ(data->notes.size(), 1U);
    EXPECT_EQ(data->notes[0], "8 of 40 rows have missing values (the first: row 5, column \"c\") and were left out");
  }
}

TEST(RealTables, AColumnWithoutValuesIsLeftOut) {
  const Result<Data> data = prepare(with_column("c", {"NA"}), {.target = "y"});
  ASSERT_TRUE(data.ok()) << data.error().message;
  EXPECT_EQ(data->notes, std::vector<std::string>{"the column \"c\" has no values and was left out"});
}

TEST(RealTables, EqualInputsStayTogether) {
  Table table =
      test::table_of({{"a", 1, 9}}, 60, 5, [](const double* x, Xoshiro& random) { return x[0] + random.unit(); });
  for (std::size_t r = 0; r < 60; ++r) table.values[2 * r] = std::floor(2 * table.values[2 * r]);
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    const Result<Data> data = prepare(table, {.target = "y", .seed = seed});
    ASSERT_TRUE(data.ok());
    EXPECT_GT(data->outside.size(), 2U);
    EXPECT_GT(data->held_out.size(), 6U);
    for (std::size_t a = 0; a < data->rows; ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        if (data->x[a] != data->x[b]) continue;
        EXPECT_EQ(data->set_of_row[a], data->set_of_row[b]) << a << " " << b;
        EXPECT_EQ(data->unit[a], data->unit[b]);
      }
    }
  }
}

// To the bit, whatever the order of the rows.
TEST(RealTables, AWeightIsANumberOfRows) {
  const Table once = fitting::data_test::product_table(12);
  Table weighted, repeated;
  weighted.columns = {"a", "b", "y", "w"};
  repeated.columns = once.columns;
  for (std::size_t k = 0; k < 12; ++k) {
    const std::size_t r = (5 * k) % 12, count = r % 4;
    for (std::size_t c = 0; c < 3; ++c) weighted.values.push_back(once.at(r, c));
    weighted.values.push_back(static_cast<double>(count));
  }
  weighted.rows = 12;
  for (std::size_t r = 0; r < 12; ++r) {
    for (std::size_t n = 0; n < r % 4; ++n, ++repeated.rows)
      for (std::size_t c = 0; c < 3; ++c) repeated.values.push_back(once.at(r, c));
  }
  const Result<Data> a = prepare(weighted, {.target = "y", .weights = "w"}), b = prepare(repeated, {.target = "y"});
  ASSERT_TRUE(a.ok()) << a.error().message;
  ASSERT_TRUE(b.ok()) << b.error().message;
  EXPECT_EQ(a->rows, 9U);
  EXPECT_EQ(a->x, b->x);
  EXPECT_EQ(a->y, b->y);
  EXPECT_EQ(a->weight, b->weight);
  EXPECT_EQ(a->set_of_row, b->set_of_row);
  EXPECT_EQ(b->notes, std::vector<std::string>{"9 rows repeat another one and count as its weight"});
}

TEST(RealTables, RowsThatAreAllThereTwiceHaveNoWeights) {
  const Table once = fitting::data_test::product_table(12);
  Table twice = once;
  twice.values.insert(twice.values.end(), once.values.begin(), once.values.end());
  twice.rows = 24;
  const Result<Data> data = prepare(twice, {.target = "y"});
  ASSERT_TRUE(data.ok());
  EXPECT_EQ(data->rows, 12U);
  EXPECT_TRUE(data->weight.empty());
}

TEST(RealTables, WeightsCountOnAverageOne) {
  Table table = with_column("w", {"1", "4"});
  const Result<Data> data = prepare(table, {.target = "y", .weights = "w"});
  ASSERT_TRUE(data.ok()) << data.error().message;
  EXPECT_EQ(data->columns, (std::vector<std::string>{"a", "b"}));
  double squares = 0;
  for (const double root : data->weight) squares += root * root;
  EXPECT_NEAR(squares, 40, 1e-12);
  EXPECT_NEAR(data->weight[1] / data->weight[0], 2, 1e-15);
  const Result<Data> sigma = prepare(table, {.target = "y", .sigma = "w"});
  EXPECT_NEAR(sigma->weight[1] / sigma->weight[0], 0.25, 1e-15);
  EXPECT_NEAR(sigma->weight[1] * sigma->error_unit, 0.25, 1e-15);
  EXPECT_EQ(prepare(table, {.target = "y", .weights = "w", .relative = true}).error().message,
            "weights, sigma and relative each say how much a row counts; give one of them.");
  EXPECT_EQ(prepare(with_column("w", {"1", "-4"}), {.target = "y", .weights = "w"}).error().message,
            "row 2, column \"w\": a weight must be 0 or more, not -4.");
  EXPECT_EQ(prepare(with_column("s", {"1", "0"}), {.target = "y", .sigma = "s"}).error().message,
            "row 2, column \"s\": a standard error must be more than 0, not 0.");
  const Result<Data> some = prepare(with_column("w", {"1", "0"}), {.target = "y", .weights = "w"});
  EXPECT_EQ(some->rows, 20U);
  EXPECT_EQ(some->notes, std::vector<std::string>{"20 rows have the weight 0 and were left out"});
  EXPECT_EQ(prepare(with_column("w", {"0"}), {.target = "y", .weights = "w"}).error().message,
            "the column \"w\" is 0 in every row; a row counts if its weight is above 0.");
  EXPECT_EQ(prepare(with_column("w", {"1", "1e-201"}), {.target = "y", .weights = "w"}).error().message,
            "row 2, column \"w\": a weight must lie between 1e-200 and 1e200, not 1e-201.");
  EXPECT_EQ(prepare(with_column("s", {"1e150"}), {.target = "y", .sigma = "s"}).error().message,
            "row 1, column \"s\": its size must lie between 1e-100 and 1e100, not 1e+150.");
}

TEST(RealTables, GroupsHaveNamesAndEnoughRows) {
  const Result<Data> data = prepare(with_column("kind", {"oak", "fir", "oak"}), {.target = "y", .by = "kind"});
  ASSERT_TRUE(data.ok()) << data.error().message;
  EXPECT_EQ(data->groups, (std::vector<std::string>{"oak", "fir"}));
  EXPECT_EQ(data->group[1], 1U);
  EXPECT_EQ(prepare(with_column("kind", {"oak"}), {.target = "y", .by = "kind"}).error().message,
            "the column \"kind\" is oak in every row; groups need a column that varies.");
  EXPECT_TRUE(prepare(with_column("n", {"1", "2"}), {.target = "y", .by = "n"}).ok());
}

}  // namespace
}  // namespace nalm::fitting::real_table_test
