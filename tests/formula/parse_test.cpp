// What the parser reads, what it refuses, and the exact words it refuses with.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nalm/expression.hpp"

namespace nalm::parse_test {
namespace {

using Kind = Expression::Kind;

Expression parsed(std::string_view text) {
  auto result = parse_expression(text);
  EXPECT_TRUE(result.ok()) << text << ": " << (result.ok() ? "" : result.error().message);
  return result.ok() ? *result : Expression();
}

// The tree with every operation in parentheses, independent of print.
std::string structure(const Expression& e) {
  const auto& x = e.operands();
  switch (e.kind()) {
    case Kind::Constant:
      return std::to_string(static_cast<int>(e.constant()));
    case Kind::Variable:
      return e.name();
    case Kind::Negate:
      return "(-" + structure(x[0]) + ")";
    case Kind::Add:
      return "(" + structure(x[0]) + "+" + structure(x[1]) + ")";
    case Kind::Subtract:
      return "(" + structure(x[0]) + "-" + structure(x[1]) + ")";
    case Kind::Multiply:
      return "(" + structure(x[0]) + "*" + structure(x[1]) + ")";
    case Kind::Divide:
      return "(" + structure(x[0]) + "/" + structure(x[1]) + ")";
    case Kind::Power:
      return "(" + structure(x[0]) + "^" + structure(x[1]) + ")";
    case Kind::Call:
      return e.name() + "(" + structure(x[0]) + (x.size() > 1 ? "," + structure(x[1]) : "") + ")";
  }
  return "";
}

std::string message(std::string_view text) {
  const auto result = parse_expression(text);
  return result.ok() ? "no error" : result.error().message;
}

TEST(Parse, Precedence) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"a+b*c", "(a+(b*c))"},
      {"a*b+c", "((a*b)+c)"},
      {"a-b-c", "((a-b)-c)"},
      {"a-b+c", "((a-b)+c)"},
      {"a/b/c", "((a/b)/c)"},
      {"a/b*c", "((a/b)*c)"},
      {"a*b^c", "(a*(b^c))"},
      {"a^b^c", "(a^(b^c))"},
      {"(a^b)^c", "((a^b)^c)"},
      {"a^b*c", "((a^b)*c)"},
      {"-a^b", "(-(a^b))"},
      {"(-a)^b", "((-a)^b)"},
      {"a^-b", "(a^(-b))"},
      {"a^-b^c", "(a^(-(b^c)))"},
      {"a^-b*c", "((a^(-b))*c)"},
      {"a^+b", "(a^b)"},
      {"x^-1", "(x^-1)"},
      {"-a*b", "((-a)*b)"},
      {"-a+b", "((-a)+b)"},
      {"a*-b*c", "((a*(-b))*c)"},
      {"a - -b", "(a-(-b))"},
      {"a - -2", "(a--2)"},
      {"---a", "(-a)"},
      {"-+-a", "a"},
      {"+a", "a"},
      {"-2*x", "(-2*x)"},
      {"-2^x", "(-(2^x))"},
      {"(-2)^x", "(-2^x)"},
      {"-(a+b)", "(-(a+b))"},
      {"((a))", "a"},
      {"a-(b-c)", "(a-(b-c))"},
      {"sin(a)^2", "(sin(a)^2)"},
      {"2^sin(a)", "(2^sin(a))"},
      {"min(a+b, max(c, -d))", "min((a+b),max(c,(-d)))"},
      {"min((a), b)*c", "(min(a,b)*c)"},
      {"exp ( a )", "exp(a)"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(structure(parsed(text)), expected) << text;
}

TEST(Parse, Numbers) {
  EXPECT_EQ(parsed("1").constant(), 1);
  EXPECT_EQ(parsed(".5").constant(), 0.5);
  EXPECT_EQ(parsed("5.").constant(), 5);
  EXPECT_EQ(parsed("1e-7").constant(), 1e-7);
  EXPECT_EQ(parsed("2.5E+3").constant(), 2500);
  EXPECT_EQ(parsed("5e-324").constant(), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(parsed("1.7976931348623157e308").constant(), std::numeric_limits<double>::max());
  EXPECT_EQ(parsed("-3").constant(), -3);
  EXPECT_TRUE(std::signbit(parsed("-0").constant()));
  EXPECT_EQ(parsed("0e999").constant(), 0);
  EXPECT_EQ(parsed(std::string(100000, '0') + "1").constant(), 1);
}

TEST(Parse, Constants) {
  EXPECT_EQ(parsed("pi").constant(), std::numbers::pi);
  EXPECT_EQ(parsed("-inf").constant(), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(parsed("nan").constant()));
}

TEST(Parse, Names) {
  EXPECT_EQ(parsed("_a1").name(), "_a1");
  EXPECT_EQ(parsed("pix").name(), "pix");
  EXPECT_EQ(parsed("E").name(), "E");
  EXPECT_EQ(parsed("\"pi\"").name(), "pi");
  EXPECT_EQ(parsed("\"sin\"").name(), "sin");
  EXPECT_EQ(parsed("\"\"").name(), "");
  EXPECT_EQ(parsed("\"petal width (cm)\"").name(), "petal width (cm)");
  EXPECT_EQ(parsed(R"("a\"b\\c")").name(), "a\"b\\c");
  EXPECT_EQ(parsed("\"Größe\"").name(), "Größe");
  EXPECT_EQ(parsed(std::string_view("\"a\0b\"", 5)).name(), std::string("a\0b", 3));
}

TEST(Parse, SpacesAreFree) { EXPECT_EQ(structure(parsed(" \ta\n+ b\r\n* c ")), "(a+(b*c))"); }

TEST(Parse, Simplifies) {
  EXPECT_EQ(structure(parsed("0*x + 1*y")), "y");
  EXPECT_EQ(structure(parsed("2*3*x")), "(6*x)");
}

TEST(ParseError, MissingOperand) {
  EXPECT_EQ(message(""), "column 1: expected a number, a name or \"(\" at the start");
  EXPECT_EQ(message("  "), "column 3: expected a number, a name or \"(\" at the start");
  EXPECT_EQ(message("x + "), "column 5: expected a number, a name or \"(\" after \"+\"");
  EXPECT_EQ(message("x + )"), "column 5: expected a number, a name or \"(\" after \"+\", not \")\"");
  EXPECT_EQ(message("*x"), "column 1: expected a number, a name or \"(\" at the start, not \"*\"");
  EXPECT_EQ(message("-"), "column 2: expected a number, a name or \"(\" after \"-\"");
  EXPECT_EQ(message("()"), "column 2: expected a number, a name or \"(\" after \"(\", not \")\"");
  EXPECT_EQ(message("sin()"), "column 5: expected a number, a name or \"(\" after \"(\", not \")\"");
  EXPECT_EQ(message("min(x,)"), "column 7: expected a number, a name or \"(\" after \",\", not \")\"");
  EXPECT_EQ(message("x**2"),
            "column 3: expected a number, a name or \"(\" after \"*\", not \"*\"; write ^ for a power");
  EXPECT_EQ(message("."), "column 1: expected a number, a name or \"(\" at the start, not \".\"");
}

TEST(ParseError, MissingOperator) {
  EXPECT_EQ(message("2x1"), "column 2: expected one of + - * / ^ or the end, not \"x1\"; write * to multiply");
  EXPECT_EQ(message("2 (x)"), "column 3: expected one of + - * / ^ or the end, not \"(\"; write * to multiply");
  EXPECT_EQ(message("(x y"), "column 4: expected one of + - * / ^ or \")\", not \"y\"; write * to multiply");
  EXPECT_EQ(message("min(x y"),
            "column 7: expected one of + - * / ^ or \",\" or \")\", not \"y\"; write * to multiply");
  EXPECT_EQ(message("1e"), "column 2: expected one of + - * / ^ or the end, not \"e\"; write * to multiply");
  EXPECT_EQ(message("x = 2"), "column 3: expected one of + - * / ^ or the end, not \"=\"");
  EXPECT_EQ(message("pi(2)"), "column 3: expected one of + - * / ^ or the end, not \"(\"; write * to multiply");
  EXPECT_EQ(message("x~y"), "column 2: expected one of + - * / ^ or the end, not \"~\"");
}

TEST(ParseError, ShowsWhatCanBeShown) {
  EXPECT_EQ(message("x × y"), "column 3: expected one of + - * / ^ or the end, not \"×\"");
  EXPECT_EQ(message("x \x01"), "column 3: expected one of + - * / ^ or the end, not the byte 0x01");
  EXPECT_EQ(message("x \xFF"), "column 3: expected one of + - * / ^ or the end, not the byte 0xFF");
  EXPECT_EQ(message("x \xE2\x88"), "column 3: expected one of + - * / ^ or the end, not the byte 0xE2");
  EXPECT_EQ(message(std::string_view("x\0", 2)), "column 2: expected one of + - * / ^ or the end, not the byte 0x00");
  EXPECT_EQ(message("x " + std::string(1000, 'y')), "column 3: expected one of + - * / ^ or the end, not \"" +
                                                        std::string(40, 'y') + "...\"; write * to multiply");
}

TEST(ParseError, ColumnsCountCharacters) {
  EXPECT_EQ(message("\"Größe\" + "), "column 11: expected a number, a name or \"(\" after \"+\"");
}

TEST(ParseError, Parentheses) {
  EXPECT_EQ(message("2*(x + (y)"), "column 11: the \"(\" in column 3 needs a closing \")\"");
  EXPECT_EQ(message("sin(x"), "column 6: the \"(\" in column 4 needs a closing \")\"");
  EXPECT_EQ(message("x + y)"), "column 6: there is no \"(\" for this \")\"; remove it");
}

TEST(ParseError, Commas) {
  const std::string rest = ": a \",\" can only separate the arguments of a function; a decimal point is written \".\"";
  EXPECT_EQ(message("1,5*x"), "column 2" + rest);
  EXPECT_EQ(message("min((x, y))"), "column 7" + rest);
}

TEST(Parse, OtherSpellingsOfFunctions) {
  EXPECT_EQ(print(parsed("ln(x)")), "log(x)");
  EXPECT_EQ(print(parsed("arcsin(x) + arccos (y)")), "asin(x) + acos(y)");
  // They are names as long as no "(" follows.
  EXPECT_EQ(print(parsed("2*ln + arcsin")), "2*ln + arcsin");
}

TEST(ParseError, Functions) {
  EXPECT_EQ(
      message("2*foo(x)"),
      "column 3: unknown function \"foo\"; the functions are exp, log, sqrt, tanh, sigmoid, sin, cos, asin, acos, "
      "abs, sign, negative, min, max, a power is a^b and a product a*b");
  EXPECT_EQ(message("sin x"),
            "column 5: expected \"(\" after the function sin; a variable of that name is written in double quotes, "
            "\"sin\"");
  EXPECT_EQ(message("min(x)"), "column 6: min takes 2 arguments, as in min(a, b), not 1");
  EXPECT_EQ(message("exp(x, y, z)"), "column 12: exp takes 1 argument, as in exp(a), not 3");
}

TEST(ParseError, QuotedNames) {
  EXPECT_EQ(message("x + \"abc"), "column 9: the name that starts in column 5 needs a closing \"");
  EXPECT_EQ(message("\"abc\\\""), "column 7: the name that starts in column 1 needs a closing \"");
  const std::string escape =
      ": in a quoted name a \\ must be followed by \" or \\; write \\\\ for the character itself";
  EXPECT_EQ(message(R"("a\nb")"), "column 3" + escape);
  EXPECT_EQ(message("\"a\\"), "column 3" + escape);
}

TEST(ParseError, NumbersOutOfRange) {
  const std::string rest = " is outside the range of a double, 4.9e-324 to 1.8e+308; write 0 or inf instead";
  EXPECT_EQ(message("x + 1e999"), "column 5: the number 1e999" + rest);
  EXPECT_EQ(message("1e-999"), "column 1: the number 1e-999" + rest);
}

TEST(Hostile, LongInputsAreRead) {
  constexpr std::size_t kMany = 100000;
  std::string sum = "x";
  std::string tower = "x";
  for (std::size_t i = 1; i < kMany; ++i) {
    sum += "+x";
    tower += "^-x";
  }
  const std::vector<std::string> names = {"x"};
  const std::vector<double> one = {1};
  EXPECT_EQ(evaluate(parsed(sum), names, one).value(), static_cast<double>(kMany));
  EXPECT_EQ(evaluate(parsed(tower), names, one).value(), 1);
  EXPECT_EQ(evaluate(parsed(std::string(kMany, '-') + "x"), names, one).value(), 1);
}

TEST(Hostile, DeepNestingIsRead) {
  constexpr std::size_t kMany = 100000;
  EXPECT_EQ(structure(parsed(std::string(kMany, '(') + "x" + std::string(kMany, ')'))), "x");
  std::string calls;
  for (std::size_t i = 0; i < kMany; ++i) calls += "sin(-";
  EXPECT_EQ(parsed(calls + "x" + std::string(kMany, ')')).kind(), Kind::Call);
}

TEST(Hostile, DeepNestingWithoutAnEndIsRefused) {
  constexpr std::size_t kMany = 100000;
  EXPECT_EQ(message(std::string(kMany, '(')), "column 100001: expected a number, a name or \"(\" after \"(\"");
  EXPECT_EQ(message(std::string(kMany, '(') + "x"), "column 100002: the \"(\" in column 100000 needs a closing \")\"");
  std::string arguments = "min(x";
  for (std::size_t i = 0; i < kMany; ++i) arguments += ",x";
  EXPECT_EQ(message(arguments + ")"), "column 200006: min takes 2 arguments, as in min(a, b), not 100001");
}

}  // namespace
}  // namespace nalm::parse_test
