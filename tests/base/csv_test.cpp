#include "nalm/table.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace nalm::csv_test {
namespace {

using Names = std::vector<std::string>;
using Values = std::vector<double>;
using namespace std::string_view_literals;

constexpr double infinity = std::numeric_limits<double>::infinity();

void expect_table(std::string_view text, const Names& columns, const Values& values) {
  SCOPED_TRACE(text);
  const Result<Table> table = read_table(text, "data.csv");
  ASSERT_TRUE(table.ok()) << table.error().message;
  EXPECT_EQ(table->columns, columns);
  EXPECT_EQ(table->values, values);
  EXPECT_EQ(table->rows * columns.size(), values.size());
}

void expect_error(std::string_view text, const std::string& message) {
  SCOPED_TRACE(text);
  const Result<Table> table = read_table(text, "data.csv");
  ASSERT_FALSE(table.ok());
  EXPECT_EQ(table.error().message, message);
}

// The single cell below a header, so that words do not turn into headers.
double number(const std::string& cell, const std::string& header = "a,b", const std::string& rest = ",0") {
  const Result<Table> table = read_table(header + "\n" + cell + rest + "\n", "data.csv");
  EXPECT_TRUE(table.ok()) << table.error().message;
  return table.ok() ? table->at(0, 0) : std::nan("");
}

void expect_not_a_number(const std::string& cell) {
  expect_error("a\n" + cell + "\n", "data.csv: line 2, column 1 (\"a\"): \"" + cell +
                                        "\" is not a number; remove the row or correct the cell.");
}

TEST(Csv, HeaderIfACellIsNotANumber) {
  expect_table("a,b\n1,2\n3,4\n", {"a", "b"}, {1, 2, 3, 4});
  expect_table("1,b\n1,2\n", {"1", "b"}, {1, 2});
  const Result<Table> table = read_table("a,b\n1,2\n", "data.csv");
  EXPECT_TRUE(table->has_header);
  EXPECT_EQ(table->rows, 1U);
}

TEST(Csv, NamesColumnsWithoutHeader) { expect_table("1,2,3\n4,5,6\n", {"x1", "x2", "x3"}, {1, 2, 3, 4, 5, 6}); }

TEST(Csv, AtIsRowMajor) {
  const Result<Table> table = read_table("1,2,3\n4,5,6\n", "data.csv");
  ASSERT_TRUE(table.ok());
  EXPECT_FALSE(table->has_header);
  EXPECT_EQ(table->rows, 2U);
  EXPECT_EQ(table->at(0, 2), 3);
  EXPECT_EQ(table->at(1, 0), 4);
}

TEST(Csv, DetectsTheDelimiterInTheFirstLineThatIsNotBlank) {
  expect_table("a;b\n1;2\n", {"a", "b"}, {1, 2});
  expect_table("a\tb\n1\t2\n", {"a", "b"}, {1, 2});
  expect_table("\n  \n \t \na;b\n1;2\n", {"a", "b"}, {1, 2});
  expect_table("\"a;b\tc\",d\n1,2\n", {"a;b\tc", "d"}, {1, 2});
  expect_table("\"say \"\"a;b\"\"\",d\n1,2\n", {"say \"a;b\"", "d"}, {1, 2});
  expect_table("\"a\n;b\",d\n1,2\n", {"a\n;b", "d"}, {1, 2});
  expect_table("5\" pipe,d\n1,2\n", {"5\" pipe", "d"}, {1, 2});
  expect_table("length, m;mass, kg\n1;2\n", {"length, m", "mass, kg"}, {1, 2});
}

TEST(Csv, ReadsASingleColumn) {
  expect_table("a\n1\n2\n", {"a"}, {1, 2});
  expect_table("1\n2", {"x1"}, {1, 2});
  expect_table("7", {"x1"}, {7});
}

TEST(Csv, ReadsADecimalCommaOnlyWhereCommaIsNotTheDelimiter) {
  expect_table("3,14;-2,5e1\n,5;+1,0\n", {"x1", "x2"}, {3.14, -25, 0.5, 1});
  expect_table("3,14\t2\n", {"x1", "x2"}, {3.14, 2});
  expect_table("a;b\n3.14;\"2,5\"\n", {"a", "b"}, {3.14, 2.5});
  expect_table("3,14\n", {"x1", "x2"}, {3, 14});
  expect_error("a;b\n1,2,3;4\n",
               "data.csv: line 2, column 1 (\"a\"): \"1,2,3\" is not a number; remove the row or correct the cell.");
  expect_error("a;b\n1,234.5;4\n",
               "data.csv: line 2, column 1 (\"a\"): \"1,234.5\" is not a number; remove the row or correct the cell.");
  expect_error("a;b\n1,;4\n",
               "data.csv: line 2, column 1 (\"a\"): \"1,\" is not a number; remove the row or correct the cell.");
}

TEST(Csv, SaysThatSpacesDoNotSeparateCells) {
  const std::string advice = "separate cells by comma, semicolon or tab, as spaces do not separate them.";
  expect_error("a b\n1 2\n", "data.csv: line 2, column 1 (\"a b\"): \"1 2\" is not a number; " + advice);
  expect_error("1 2\n3   4 -5e1\n", "data.csv: line 2, column 1 (\"1 2\"): \"3   4 -5e1\" is not a number; " + advice);
  expect_error("a;b\n1;2,5 3,5\n", "data.csv: line 2, column 2 (\"b\"): \"2,5 3,5\" is not a number; " + advice);
  expect_not_a_number("1 apple");
}

TEST(Csv, Quotes) {
  expect_table("\"a\",\"b \"\"c\"\"\"\n\"1\",\"-2.5\"\n", {"a", "b \"c\""}, {1, -2.5});
  expect_table("\"1\",\"2\"\n", {"x1", "x2"}, {1, 2});
  expect_table("\"a,b\",c\n1,2\n", {"a,b", "c"}, {1, 2});
  expect_table("\"a\r\nb\",c\n1,2\n", {"a\r\nb", "c"}, {1, 2});
  expect_table(" \"a\" , \" b \"\n \" 1 \" ,2\n", {"a", "b"}, {1, 2});
  expect_table("\"a\"\t\"b\"\n\"1\"\t\"2\"\n", {"a", "b"}, {1, 2});
  expect_table("a,b\n1,\"2\"", {"a", "b"}, {1, 2});
}

TEST(Csv, UnterminatedQuoteNamesItsFirstLine) {
  expect_error(
      "a,b\n1,2\n3,\"4\n5,6\n7,8\n",
      "data.csv: line 3, column 2 (\"b\"): the quote that begins here is never closed; close it or remove it.");
  expect_error("a,\"b\n1,2\n",
               "data.csv: line 1, column 2: the quote that begins here is never closed; close it or remove it.");
  expect_error("\"", "data.csv: line 1, column 1: the quote that begins here is never closed; close it or remove it.");
}

TEST(Csv, TextAfterAClosingQuote) {
  expect_error("a,b\n1,\"2\" x\n",
               "data.csv: line 2, column 2 (\"b\"): \"x\" follows a closing quote; remove it, or write a quote inside "
               "quotes twice.");
}

TEST(Csv, LineEnds) {
  expect_table("a,b\r\n1,2\r\n3,4\r\n", {"a", "b"}, {1, 2, 3, 4});
  expect_table("a,b\r1,2\r3,4\r", {"a", "b"}, {1, 2, 3, 4});
  expect_table("a,b\n1,2\r\n3,4\r5,6", {"a", "b"}, {1, 2, 3, 4, 5, 6});
}

TEST(Csv, SkipsByteOrderMarkBlankLinesAndSpaces) {
  expect_table(
      "\xEF\xBB\xBF"
      "a,b\n1,2\n",
      {"a", "b"}, {1, 2});
  expect_table("\xEF\xBB\xBF\"a\",b\n1,2\n", {"a", "b"}, {1, 2});
  expect_table("\n \na,b\n\n\t \n1,2\n\r\n   \r\n3,4\n\n  ", {"a", "b"}, {1, 2, 3, 4});
  expect_table("  a ,  b  \n 1 , 2\t\n", {"a", "b"}, {1, 2});
  expect_table(" a \t b \n 1 \t 2 \n", {"a", "b"}, {1, 2});
}

TEST(Csv, NumberNotations) {
  EXPECT_EQ(number("1"), 1);
  EXPECT_EQ(number("+1.5"), 1.5);
  EXPECT_EQ(number("-1.5"), -1.5);
  EXPECT_EQ(number(".5"), 0.5);
  EXPECT_EQ(number("5."), 5);
  EXPECT_EQ(number("1e3"), 1000);
  EXPECT_EQ(number("1E+3"), 1000);
  EXPECT_EQ(number("+25e-1"), 2.5);
  EXPECT_EQ(number("007"), 7);
  EXPECT_EQ(number("0.1"), 0.1);
  EXPECT_TRUE(std::signbit(number("-0")));
}

TEST(Csv, InfinityAndNanInAnyCase) {
  for (const char* cell : {"inf", "Inf", "INF", "+inf", "infinity", "Infinity", "INFINITY"}) {
    EXPECT_EQ(number(cell), infinity) << cell;
    EXPECT_EQ(number("-" + std::string(cell + (cell[0] == '+'))), -infinity) << cell;
  }
  for (const char* cell : {"nan", "NaN", "NAN", "-nan", "+nan"}) EXPECT_TRUE(std::isnan(number(cell))) << cell;
  const Result<Table> table = read_table("inf,NaN\n", "data.csv");
  ASSERT_TRUE(table.ok());
  EXPECT_FALSE(table->has_header);
}

TEST(Csv, OverflowIsInfinityAndUnderflowIsZero) {
  const std::string zeros(400, '0');
  for (const std::string& cell : std::vector<std::string>{"1e999", "1" + zeros, "0.001e9999", "1" + zeros + ".5e-2",
                                                          "1e99999999999999999999999", "1E+999"}) {
    EXPECT_EQ(number(cell), infinity) << cell;
    EXPECT_EQ(number("+" + cell), infinity) << cell;
    EXPECT_EQ(number("-" + cell), -infinity) << cell;
  }
  for (const std::string& cell : std::vector<std::string>{"1e-999", "0." + zeros + "1", "." + zeros + "1e2",
                                                          "1000e-9999", "1e-99999999999999999999999", "0e999"}) {
    EXPECT_EQ(number(cell), 0) << cell;
    EXPECT_TRUE(std::signbit(number("-" + cell))) << cell;
    EXPECT_EQ(number("-" + cell), 0) << cell;
  }
  EXPECT_EQ(number("1,5e999", "a;b", ";0"), infinity);
  EXPECT_EQ(number("4.9406564584124654e-324"), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(number("1e-310"), 1e-310);
  EXPECT_EQ(number("1.7976931348623157e308"), std::numeric_limits<double>::max());
}

TEST(Csv, BadCells) {
  expect_error("id,w,height\n1,2,3\n1,2,3\n1,2,3\n1,2,3\n1,2,3\n1,2,abc\n",
               "data.csv: line 7, column 3 (\"height\"): \"abc\" is not a number; remove the row or correct the cell.");
  expect_error("1,2\n3,abc\n",
               "data.csv: line 2, column 2 (\"x2\"): \"abc\" is not a number; remove the row or correct the cell.");
  for (const char* cell :
       {"1x", "+", "-", "+-1", "++1", "--1", ".", "e5", "0x10", "1e", "1e+", "nan(1)", "infinit", "1_000", "NA", "$5",
        "\xC2\xA0"
        "5"}) {
    expect_not_a_number(cell);
  }
}

TEST(Csv, BadCellsAreShownOnOneShortLine) {
  expect_error("a\n\"x\ny\"\n",
               "data.csv: line 2, column 1 (\"a\"): \"x y\" is not a number; remove the row or correct the cell.");
  expect_error("a\n" + std::string(1000, 'x') + "\n", "data.csv: line 2, column 1 (\"a\"): \"" + std::string(60, 'x') +
                                                          "...\" is not a number; remove the row or correct the cell.");
  expect_error("a\n" + std::string(59, 'x') + "\xC3\xA9y\n",  // é stays whole
               "data.csv: line 2, column 1 (\"a\"): \"" + std::string(59, 'x') +
                   "...\" is not a number; remove the row or correct the cell.");
}

TEST(Csv, EmptyCells) {
  expect_error("a,b\n1,2\n3, \n",
               "data.csv: line 3, column 2 (\"b\"): the cell is empty; remove the row or fill in the cell.");
  expect_error("a,b\n,2\n",
               "data.csv: line 2, column 1 (\"a\"): the cell is empty; remove the row or fill in the cell.");
  expect_error("a\n\"\"\n",
               "data.csv: line 2, column 1 (\"a\"): the cell is empty; remove the row or fill in the cell.");
  expect_error("a,b\n1,", "data.csv: line 2, column 2 (\"b\"): the cell is empty; remove the row or fill in the cell.");
}

TEST(Csv, FirstRowOfNumbersAndEmptyCellsIsNotGuessed) {
  expect_error("1,,3\n4,5,6\n",
               "data.csv: line 1, column 2: the cell is empty; fill it in, or name the column if this is a header.");
}

TEST(Csv, RaggedRows) {
  expect_error("a,b,c\n1,2,3\n4,5\n",
               "data.csv: line 3 has 2 cells, but 3 are expected, as in line 1; correct the row.");
  expect_error("\n1,2\n3,4,x,5\n", "data.csv: line 3 has 4 cells, but 2 are expected, as in line 2; correct the row.");
  expect_error("a,b\n1\n", "data.csv: line 2 has 1 cell, but 2 are expected, as in line 1; correct the row.");
  expect_error("a\n3,14\n", "data.csv: line 2 has 2 cells, but 1 is expected, as in line 1; correct the row.");
}

TEST(Csv, DuplicateNames) {
  expect_error("a,b, \"a\"\n1,2,3\n", "data.csv: line 1: columns 1 and 3 are both named \"a\"; rename one of them.");
}

TEST(Csv, EmptyNames) {
  expect_table("a,,\"\"\n1,2,3\n", {"a", "x2", "x3"}, {1, 2, 3});
  expect_error("x2,,c\n1,2,3\n",
               "data.csv: line 1: column 2 has no name, and \"x2\" is the name of column 1; name the column.");
}

TEST(Csv, NothingToRead) {
  for (const std::string_view text : {"", "\n", " \r\n\t\n", "\xEF\xBB\xBF"}) {
    expect_error(text, "data.csv: the table is empty; add rows of numbers.");
  }
  expect_error(std::string_view(), "data.csv: the table is empty; add rows of numbers.");
  expect_error("\n1,b\n\n",
               "data.csv: line 2 is a header, since \"b\" is not a number, and no rows follow; add rows of numbers.");
}

TEST(Csv, OtherEncodings) {
  expect_error(
      "\xFF\xFE"
      "1\0\n\0"sv,
      "data.csv: the text is UTF-16; save it as UTF-8.");
  expect_error(
      "\xFE\xFF\0"
      "1\0\n"sv,
      "data.csv: the text is UTF-16; save it as UTF-8.");
  expect_error("a,b\r\n1,2\r3,\0\n"sv, "data.csv: line 3 contains a NUL byte; save the table as UTF-8 text.");
  expect_error("a\n\"\n\0\"\n"sv, "data.csv: line 3 contains a NUL byte; save the table as UTF-8 text.");
}

TEST(Csv, LineNumbersCountPhysicalLines) {
  expect_error("\"a\nb\r\nc\rd\",e\r\n\n1,2\r\n3,?\n",
               "data.csv: line 7, column 2 (\"e\"): \"?\" is not a number; remove the row or correct the cell.");
  expect_error("a,b\r1,2\r\r3,?\r",
               "data.csv: line 4, column 2 (\"b\"): \"?\" is not a number; remove the row or correct the cell.");
}

class CsvFile : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(testing::TempDir()) /
                 ("nalm_csv_" + std::to_string(std::random_device{}()) + std::to_string(std::random_device{}()));
    std::filesystem::create_directory(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string write(const std::string& text) const {
    const std::string path = (directory_ / "data.csv").string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  std::filesystem::path directory_;
};

TEST_F(CsvFile, ReadsAFile) {
  const Result<Table> table = read_table_file(write("a,b\n1,2\n"));
  ASSERT_TRUE(table.ok()) << table.error().message;
  EXPECT_EQ(table->columns, (Names{"a", "b"}));
  EXPECT_EQ(table->values, (Values{1, 2}));
}

TEST_F(CsvFile, MessagesBeginWithThePath) {
  const std::string path = write("");
  EXPECT_EQ(read_table_file(path).error().message, path + ": the table is empty; add rows of numbers.");
}

TEST_F(CsvFile, MissingFile) {
  const std::string path = (directory_ / "none.csv").string();
  const Result<Table> table = read_table_file(path);
  ASSERT_FALSE(table.ok());
  EXPECT_EQ(table.error().message, path + ": the file cannot be read (No such file or directory).");
}

TEST_F(CsvFile, Directory) {
  const Result<Table> table = read_table_file(directory_.string());
  ASSERT_FALSE(table.ok());
  EXPECT_EQ(table.error().message, directory_.string() + ": the file cannot be read (Is a directory).");
}

TEST_F(CsvFile, UnreadableFile) {
  const std::string path = write("1\n");
  std::filesystem::permissions(path, std::filesystem::perms::none);
  if (std::ifstream(path)) GTEST_SKIP() << "this user may read everything";
  const Result<Table> table = read_table_file(path);
  ASSERT_FALSE(table.ok());
  EXPECT_EQ(table.error().message, path + ": the file cannot be read (Permission denied).");
}

TEST_F(CsvFile, StandardInput) {
  ASSERT_NE(std::freopen(write("1,2\n3,x\n").c_str(), "rb", stdin), nullptr);
  EXPECT_EQ(read_table_file("-").error().message,
            "standard input: line 2, column 2 (\"x2\"): \"x\" is not a number; remove the row or correct the cell.");
}

TEST(Csv, NamesThatAreNotUtf8AreRefused) {
  const Result<Table> table = read_table("a,L\xE4nge\n1,2\n", "data.csv");
  ASSERT_FALSE(table.ok());
  EXPECT_EQ(table.error().message, "data.csv: line 1: the name of column 2 is not UTF-8; save the table as UTF-8.");
  EXPECT_TRUE(read_table("a,L\xC3\xA4nge\n1,2\n", "data.csv").ok());
}

// Several reads of the file and several growths of the table.
TEST_F(CsvFile, LongFile) {
  std::string text = "a,b\n";
  for (int row = 0; row < 300000; ++row) text += std::to_string(row) + "," + std::to_string(-row) + "\n";
  ASSERT_GT(text.size(), 3U << 20U);
  const Result<Table> table = read_table_file(write(text));
  ASSERT_TRUE(table.ok()) << table.error().message;
  ASSERT_EQ(table->rows, 300000U);
  for (std::size_t row = 0; row < table->rows; ++row) {
    ASSERT_EQ(table->at(row, 0), static_cast<double>(row));
    ASSERT_EQ(table->at(row, 1), -static_cast<double>(row));
  }
}

// Random tables, printed in random dialects, come back bit for bit.
class RandomTable {
 public:
  explicit RandomTable(std::uint64_t seed) : random_(seed) {
    columns_ = 1 + below(6);
    rows_ = 1 + below(20);
    has_header = chance();
    for (std::size_t i = 0; i < columns_; ++i) columns.push_back(has_header ? name(i) : "x" + std::to_string(i + 1));
    for (std::size_t i = 0; i < rows_ * columns_; ++i) values.push_back(value());
  }

  std::string print() {
    delimiter_ = ",;\t"[below(3)];
    line_end_ = std::vector<std::string>{"\n", "\r\n", "\r"}[below(3)];
    decimal_comma_ = delimiter_ != ',' && columns_ > 1 && chance();  // a single column shows no delimiter
    std::string text = chance() ? "\xEF\xBB\xBF" : "";
    text += blank_lines();
    if (has_header) {
      for (std::size_t i = 0; i < columns_; ++i) text += padded(quoted(columns[i])) + after_cell(i);
    }
    for (std::size_t i = 0; i < values.size(); ++i) text += printed(values[i]) + after_cell(i % columns_);
    if (chance()) text.resize(text.find_last_not_of("\r\n \t") + 1);
    return text;
  }

  bool has_header = false;
  Names columns;
  Values values;

 private:
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }
  bool chance() { return below(2) == 0; }

  std::string name(std::size_t column) {
    std::string result = "n" + std::to_string(column);
    for (std::size_t i = below(5); i > 0; --i)
      result += Names{"a", "\"", ",", ";", "\t", "\n", "\r", " ", "\xC3\xA4"}[below(9)];
    return result + "z";
  }

  double value() {
    if (chance()) return static_cast<double>(static_cast<std::int64_t>(below(2000))) - 1000;
    const double any = std::bit_cast<double>(random_());
    return std::isnan(any) ? infinity : any;  // the bits of a NaN are not printed
  }

  std::string blank_lines() {
    std::string result;
    while (below(4) == 0) result += std::string(below(3), ' ') + line_end_;
    return result;
  }

  std::string after_cell(std::size_t column) {
    return column + 1 < columns_ ? std::string(1, delimiter_) : line_end_ + blank_lines();
  }

  std::string padded(const std::string& cell) { return std::string(below(2), ' ') + cell + std::string(below(2), ' '); }

  static std::string quoted(const std::string& cell) {
    std::string result = "\"";
    for (const char c : cell) result += c == '"' ? std::string("\"\"") : std::string(1, c);
    return result + "\"";
  }

  std::string printed(double number) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.17g", number);
    std::string cell = buffer;
    if (const std::size_t point = cell.find('.'); decimal_comma_ && point != std::string::npos) cell[point] = ',';
    return padded(below(4) == 0 ? quoted(cell) : cell);
  }

  std::mt19937_64 random_;
  std::size_t columns_ = 0;
  std::size_t rows_ = 0;
  char delimiter_ = ',';
  std::string line_end_;
  bool decimal_comma_ = false;
};

TEST(Csv, RandomTablesInRandomDialectsComeBackBitEqual) {
  constexpr std::uint64_t first_seed = 20240117;
  for (std::uint64_t seed = first_seed; seed < first_seed + 3000; ++seed) {
    RandomTable original(seed);
    const std::string text = original.print();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    const Result<Table> table = read_table(text, "data.csv");
    ASSERT_TRUE(table.ok()) << table.error().message;
    ASSERT_EQ(table->has_header, original.has_header);
    ASSERT_EQ(table->columns, original.columns);
    ASSERT_EQ(table->values.size(), original.values.size());
    for (std::size_t i = 0; i < original.values.size(); ++i) {
      ASSERT_EQ(std::bit_cast<std::uint64_t>(table->values[i]), std::bit_cast<std::uint64_t>(original.values[i]))
          << "value " << i;
    }
  }
}

}  // namespace
}  // namespace nalm::csv_test
