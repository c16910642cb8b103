// The tree, its simplifications and its values.
#include "nalm/expression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "nalm/detail/portable.hpp"
#include "sanitized.hpp"

namespace nalm::expression_test {
namespace {

using Kind = Expression::Kind;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kEps = std::numeric_limits<double>::epsilon();

const std::vector<std::string> kNames = {"x", "y"};

Expression x() { return Expression::variable("x"); }
Expression y() { return Expression::variable("y"); }

double value(const Expression& e, double x_value = 0, double y_value = 0) {
  const auto result = evaluate(e, kNames, std::vector{x_value, y_value});
  EXPECT_TRUE(result.ok());
  return result.ok() ? *result : -999;
}

ScaledValue scaled(const Expression& e, double x_value = 0, double y_value = 0) {
  const auto result = evaluate_with_scale(e, kNames, std::vector{x_value, y_value});
  EXPECT_TRUE(result.ok());
  return result.ok() ? *result : ScaledValue{-999, -999};
}

TEST(Expression, DefaultIsZero) { EXPECT_TRUE(Expression().is_constant(0)); }

TEST(Expression, LeavesKeepWhatTheyWereGiven) {
  EXPECT_EQ(Expression(2.5).kind(), Kind::Constant);
  EXPECT_EQ(Expression(2.5).constant(), 2.5);
  EXPECT_EQ(x().kind(), Kind::Variable);
  EXPECT_EQ(x().name(), "x");
  EXPECT_TRUE(x().operands().empty());
}

TEST(Expression, OperationsKeepTheirOperandsInOrder) {
  const std::vector<std::pair<Expression, Kind>> cases = {
      {x() + y(), Kind::Add},    {x() - y(), Kind::Subtract},  {x() * y(), Kind::Multiply},
      {x() / y(), Kind::Divide}, {pow(x(), y()), Kind::Power}, {min(x(), y()), Kind::Call},
  };
  for (const auto& [e, kind] : cases) {
    EXPECT_EQ(e.kind(), kind);
    ASSERT_EQ(e.operands().size(), 2U);
    EXPECT_EQ(e.operands()[0].name(), "x");
    EXPECT_EQ(e.operands()[1].name(), "y");
  }
  EXPECT_EQ((-x()).kind(), Kind::Negate);
  EXPECT_EQ((-x()).operands().size(), 1U);
  EXPECT_EQ(exp(x()).name(), "exp");
}

TEST(Expression, AssignmentOperatorsCombine) {
  Expression e = x();
  e += y();
  e -= 2;
  e *= y();
  EXPECT_EQ(print(e), "(x + y - 2)*y");
}

TEST(Expression, IsConstantComparesValues) {
  EXPECT_TRUE(Expression(-0.0).is_constant(0));
  EXPECT_FALSE(Expression(kNan).is_constant(kNan));
  EXPECT_FALSE(x().is_constant(0));
}

TEST(Expression, AMovedFromExpressionIsZero) {
  Expression e = x();
  const Expression other = std::move(e);
  EXPECT_EQ(print(e), "0");  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(print(other), "x");
}

TEST(Simplify, NeutralElementsDisappear) {
  const std::vector<Expression> all_x = {x() + 0.0, 0.0 + x(), x() - 0.0,     x() * 1.0,
                                         1.0 * x(), x() / 1.0, pow(x(), 1.0), -(-x())};
  for (const Expression& e : all_x) EXPECT_EQ(e.kind(), Kind::Variable) << print(e);
}

TEST(Simplify, ZeroTimesAnythingIsZero) {
  EXPECT_TRUE((0.0 * x()).is_constant(0));
  EXPECT_TRUE((x() * 0.0).is_constant(0));
  EXPECT_FALSE(std::signbit((-0.0 * x()).constant()));
  EXPECT_TRUE(pow(x(), 0.0).is_constant(1));
}

TEST(Simplify, NothingElseDisappears) {
  EXPECT_EQ((0.0 - x()).kind(), Kind::Subtract);
  EXPECT_EQ((0.0 / x()).kind(), Kind::Divide);
  EXPECT_EQ((x() - x()).kind(), Kind::Subtract);
  EXPECT_EQ((x() / x()).kind(), Kind::Divide);
  EXPECT_EQ((-1.0 * x()).kind(), Kind::Multiply);
  EXPECT_EQ(pow(1.0, x()).kind(), Kind::Power);
  EXPECT_EQ((1.0 + x() + 2.0).operands()[0].kind(), Kind::Add);
}

TEST(Simplify, ConstantsFold) {
  EXPECT_TRUE((Expression(2) + 3).is_constant(5));
  EXPECT_TRUE((Expression(2) - 3).is_constant(-1));
  EXPECT_TRUE((Expression(2) * 3).is_constant(6));
  EXPECT_TRUE((Expression(3) / 2).is_constant(1.5));
  EXPECT_TRUE(pow(2, 10).is_constant(1024));
  EXPECT_TRUE((-Expression(2)).is_constant(-2));
  EXPECT_TRUE(exp(Expression(0)).is_constant(1));
  EXPECT_TRUE(max(Expression(2), Expression(3)).is_constant(3));
  EXPECT_EQ(max(Expression(2), x()).kind(), Kind::Call);
  EXPECT_TRUE(std::isnan((Expression(0) * kInf).constant()));
}

TEST(Call, WhatIsNotAFunctionIsRefused) {
  EXPECT_EQ(Expression::call("foo", {x()}).error().message.substr(0, 54),
            "\"foo\" is not a function; the functions are exp, log, s");
  EXPECT_EQ(Expression::call("exp", {x(), y()}).error().message, "exp takes 1 argument, not 2.");
  EXPECT_EQ(Expression::call("min", {x()}).error().message, "min takes 2 arguments, not 1.");
  EXPECT_FALSE(Expression::call("", {}).ok());
}

TEST(Call, EveryNamedFunctionCanBeCalled) {
  EXPECT_EQ(function_names().size(), 14U);
  for (const std::string_view name : function_names()) {
    const bool two = name == "min" || name == "max";
    const Expression e = *(two ? Expression::call(name, {x(), y()}) : Expression::call(name, {x()}));
    EXPECT_EQ(e.kind(), Kind::Call) << name;
    EXPECT_EQ(e.name(), name);
  }
}

TEST(Variables, AppearInOrderAndOnce) {
  const Expression e = y() * x() + exp(Expression::variable("a") + y()) - x();
  EXPECT_EQ(variables(e), (std::vector<std::string>{"y", "x", "a"}));
  EXPECT_TRUE(variables(Expression(1)).empty());
}

TEST(Evaluate, Operators) {
  EXPECT_EQ(value(x() + y(), 3, 4), 7);
  EXPECT_EQ(value(x() - y(), 3, 4), -1);
  EXPECT_EQ(value(x() * y(), 3, 4), 12);
  EXPECT_EQ(value(x() / y(), 3, 4), 0.75);
  EXPECT_EQ(value(pow(x(), y()), 3, 4), 81);
  EXPECT_EQ(value(-x(), 3), -3);
  EXPECT_EQ(value(x() / y(), 1, 0), kInf);
  EXPECT_TRUE(std::isnan(value(x() / y(), 0, 0)));
}

TEST(Evaluate, FunctionsAreThePortableOnes) {
  EXPECT_EQ(value(exp(x()), 1.5), portable::exp(1.5));
  EXPECT_EQ(value(log(x()), 1.5), portable::log(1.5));
  EXPECT_EQ(value(sqrt(x()), 1.5), std::sqrt(1.5));
  EXPECT_EQ(value(tanh(x()), 1.5), portable::tanh(1.5));
  EXPECT_EQ(value(sigmoid(x()), 1.5), 1 / (1 + portable::exp(-1.5)));
  EXPECT_EQ(value(sin(x()), 1.5), portable::sin(1.5));
  EXPECT_EQ(value(cos(x()), 1.5), portable::cos(1.5));
  EXPECT_EQ(value(asin(x()), 0.7), portable::asin(0.7));
  EXPECT_EQ(value(acos(x()), 0.7), portable::acos(0.7));
  EXPECT_TRUE(std::isnan(value(asin(x()), 1.5)) && std::isnan(value(acos(x()), -1.5)));
  EXPECT_EQ(value(abs(x()), -1.5), 1.5);
  EXPECT_EQ(value(pow(x(), 0.3), 1.5), portable::pow(1.5, 0.3));
}

TEST(Evaluate, SignIsZeroAtZero) {
  EXPECT_EQ(value(sign(x()), 5), 1);
  EXPECT_EQ(value(sign(x()), -5), -1);
  EXPECT_EQ(value(sign(x()), 0.0), 0);
  EXPECT_EQ(value(sign(x()), -0.0), 0);
  EXPECT_TRUE(std::isnan(value(sign(x()), kNan)));
}

TEST(Evaluate, NegativeIsOneBelowZero) {
  EXPECT_EQ(value(negative(x()), -5e-324), 1);
  EXPECT_EQ(value(negative(x()), -0.0), 0);
  EXPECT_EQ(value(negative(x()), 3), 0);
  EXPECT_EQ(value(negative(x()), kNan), 0);
}

TEST(Evaluate, MinAndMaxPassNanOn) {
  EXPECT_EQ(value(min(x(), y()), 3, 4), 3);
  EXPECT_EQ(value(min(x(), y()), 4, 3), 3);
  EXPECT_EQ(value(max(x(), y()), 3, 4), 4);
  EXPECT_EQ(value(max(x(), y()), 4, 3), 4);
  for (const Expression& e : {min(x(), y()), max(x(), y())}) {
    EXPECT_TRUE(std::isnan(value(e, kNan, 1)));
    EXPECT_TRUE(std::isnan(value(e, 1, kNan)));
  }
}

TEST(Evaluate, MinAndMaxOfEqualValuesAreTheFirst) {
  EXPECT_FALSE(std::signbit(value(min(x(), y()), 0.0, -0.0)));
  EXPECT_TRUE(std::signbit(value(max(x(), y()), -0.0, 0.0)));
}

TEST(Evaluate, OrderOfNamesDoesNotMatter) {
  const std::vector<std::string> names = {"c", "b", "a"};
  const Expression e = parse_expression("100*a + 10*b + c + 1000*b").value();
  EXPECT_EQ(evaluate(e, names, std::vector{3.0, 2.0, 1.0}).value(), 2123);
}

TEST(Evaluate, SaysWhichVariableHasNoValue) {
  const Expression e = x() + Expression::variable("x3") + Expression::variable("x4");
  const std::string expected = "the variable \"x3\" has no value; give one for each variable of the formula";
  EXPECT_EQ(evaluate(e, kNames, std::vector{1.0, 2.0}).error().message, expected);
  EXPECT_EQ(evaluate_with_scale(e, kNames, std::vector{1.0, 2.0}).error().message, expected);
  EXPECT_FALSE(evaluate(x(), {}, {}).ok());
}

TEST(Evaluate, NeedsOneValuePerName) {
  EXPECT_EQ(evaluate(x(), kNames, std::vector{1.0}).error().message,
            "evaluating a formula needs one value for each name, but there are 2 names and 1 values");
}

TEST(Scale, OfLeavesIsTheirMagnitude) {
  EXPECT_EQ(scaled(x(), -3).scale, 3);
  EXPECT_EQ(scaled(Expression(-2)).scale, 2);
  EXPECT_EQ(scaled(-x(), -3).scale, 3);
}

TEST(Scale, SumsAddMagnitudes) {
  EXPECT_EQ(scaled(x() - y(), 3, 3).value, 0);
  EXPECT_EQ(scaled(x() - y(), 3, 3).scale, 6);
  EXPECT_EQ(scaled(x() + y(), 3, -3).scale, 6);
  EXPECT_EQ(scaled((x() - y()) * (x() - y()), 3, 3).scale, 36);
}

TEST(Scale, OfPowerIsThatOfTheProductOrLarger) {
  EXPECT_GE(scaled(pow(x() - y(), 2), 3, 3).scale, 36);
  EXPECT_LE(scaled(pow(x() - y(), 2), 3, 3).scale, 200);
  EXPECT_GE(scaled(pow(x(), -1), 3).scale, 1.0 / 3);
  EXPECT_LE(scaled(pow(x(), -1), 3).scale, 1);
  EXPECT_GE(scaled(pow(2, x() - y()), 1e6, 1e6 - 1).scale, 1e6);
}

TEST(Scale, QuotientsAmplifyTheCancellationOfTheDenominator) {
  EXPECT_EQ(scaled(x() / y(), 3, 4).scale, 0.75);
  EXPECT_EQ(scaled(1 / (x() - y()), 1001, 1000).scale, 2001);
  EXPECT_EQ(scaled(x() / y(), 3, 0).scale, kInf);
}

TEST(Scale, FunctionsCountToFirstOrder) {
  EXPECT_EQ(scaled(log(x()), 1).scale, 1);
  EXPECT_EQ(scaled(exp(x() - y()), 5, 5).scale, 11);
  EXPECT_EQ(scaled(exp(log(x())), 0).value, 0);
  EXPECT_EQ(scaled(exp(log(x())), 0).scale, 0);
  EXPECT_EQ(scaled(sqrt(x()), 0).scale, 0);
  EXPECT_EQ(scaled(tanh(x()), 1000).scale, 1);
  EXPECT_DOUBLE_EQ(scaled(asin(x()), 0.6).scale, 0.6 / 0.8 + std::asin(0.6));
  EXPECT_DOUBLE_EQ(scaled(acos(x()), -0.6).scale, 0.6 / 0.8 + std::acos(-0.6));
  EXPECT_EQ(scaled(asin(x()), 1).scale, kInf);
  EXPECT_EQ(scaled(max(x(), y()), -7, 2).scale, 7);
}

TEST(Scale, AStepIsExactUnlessItsArgumentIsLost) {
  EXPECT_EQ(scaled(sign(x()), -7).scale, 1);
  EXPECT_EQ(scaled(sign(x()), 0).scale, 0);
  EXPECT_EQ(scaled(sign(x() - y()), 3, 2).scale, 1);
  EXPECT_EQ(scaled(sign(x() - y()), 3, 3).scale, kInf);
  EXPECT_EQ(scaled(negative(x() - y()), 3, 3).scale, kInf);
}

// The purpose of the scale: two ways to compute the same thing differ by a few epsilons of it.
TEST(Scale, BoundsTheDifferenceOfEqualFormulas) {
  const std::vector<std::pair<const char*, const char*>> pairs = {
      {"(x - y)^2", "x*x - 2*x*y + y*y"},
      {"(x + y)*(x - y)", "x^2 - y^2"},
      {"exp(2*log(abs(x) + 1e-7))", "(abs(x) + 1e-7)^2"},
      {"1/(x - y)", "(x - y)^-1"},
      {"sqrt(x*x)", "abs(x)"},
      {"(x/y - 1)*y", "x - y"},
      {"sin(x - y)", "sin(x)*cos(y) - cos(x)*sin(y)"},
      {"tanh(x)", "2*sigmoid(2*x) - 1"},
      {"asin(tanh(x))", "1.5707963267948966 - acos(tanh(x))"},
  };
  const std::vector<double> points = {-3.7, -1.1, -1e-5, 1e-7, 0.3, 0.30000000001, 1, 2.5, 17.0 / 3};
  for (const auto& [left, right] : pairs) {
    const Expression a = parse_expression(left).value();
    const Expression b = parse_expression(right).value();
    for (const double u : points) {
      for (const double v : points) {
        if (u == v) continue;
        const ScaledValue p = scaled(a, u, v);
        const ScaledValue q = scaled(b, u, v);
        EXPECT_LE(std::abs(p.value - q.value), 8 * kEps * (p.scale + q.scale)) << left << " at " << u << ", " << v;
      }
    }
  }
}

TEST(LongChains, OfEveryKindAreBuiltPrintedEvaluatedAndDestroyed) {
  constexpr int kTerms = test::sanitized ? 10000 : 100000;
  Expression sum = x();
  Expression right_sum = x();
  Expression product = x();
  Expression tower = x();
  Expression nested = x();
  Expression alternating = x();
  for (int i = 1; i < kTerms; ++i) {
    sum += x();
    right_sum = x() + right_sum;
    product *= -x();
    tower = pow(x(), tower);
    nested = tanh(nested);
    alternating = (alternating + x()) * (i % 2 ? y() : -y());
  }
  EXPECT_EQ(value(sum, 1), kTerms);
  EXPECT_EQ(value(right_sum, 1), kTerms);
  EXPECT_EQ(value(x() + product, 1), 0);
  for (const Expression& e : {sum, right_sum, x() + product, x() - product, tower, nested, alternating}) {
    EXPECT_EQ(variables(e)[0], "x");
    EXPECT_TRUE(evaluate_with_scale(e, kNames, std::vector{1.0, 1.0}).ok());
    const std::string text = print(e);
    const auto again = parse_expression(text);
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_TRUE(print(*again) == text);
    EXPECT_EQ(value(*again, 1, 1), value(e, 1, 1));
  }
}

TEST(LongChains, SharedPartsSurviveTheirOwner) {
  Expression part = x();
  for (int i = 0; i < 1000; ++i) part += y();
  {
    const Expression owner = part * part + part;
    EXPECT_EQ(value(owner, 1, 1), 1001.0 * 1001 + 1001);
  }
  EXPECT_EQ(value(part, 1, 1), 1001);
}

}  // namespace
}  // namespace nalm::expression_test
