// A formula as a value: what the readout of a module returns, what can be printed, parsed and evaluated.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nalm/result.hpp"

namespace nalm {

// Immutable expression tree with value semantics (copying shares the tree).
//
// The operators and functions below only simplify what is exact for every finite operand: constants are folded,
// 0*x = 0, 1*x = x, x+0 = x, x-0 = x, x/1 = x, x^1 = x, x^0 = 1, -(-x) = x, and x*2 is 2*x. No sum or product is
// regrouped, so evaluating the tree performs the same floating-point operations, in the same order, as the code that
// built it. A zero may lose its sign.
class Expression {
 public:
  enum class Kind { Constant, Variable, Negate, Add, Subtract, Multiply, Divide, Power, Call };

  Expression() : Expression(0.0) {}
  Expression(double constant);
  static Expression variable(std::string name);
  // One of function_names(); min and max take two arguments, all others one. Anything else is an error.
  static Result<Expression> call(std::string_view function, std::vector<Expression> arguments);

  Kind kind() const;
  double constant() const;                          // Kind::Constant
  const std::string& name() const;                  // Kind::Variable, Kind::Call
  const std::vector<Expression>& operands() const;  // everything else

  bool is_constant(double value) const;

 private:
  struct Node;
  explicit Expression(std::shared_ptr<const Node> node);
  friend struct ExpressionBuilder;
  std::shared_ptr<const Node> node_;
};

Expression operator-(const Expression& a);
Expression operator+(const Expression& a, const Expression& b);
Expression operator-(const Expression& a, const Expression& b);
Expression operator*(const Expression& a, const Expression& b);
Expression operator/(const Expression& a, const Expression& b);
inline Expression& operator+=(Expression& a, const Expression& b) { return a = a + b; }
inline Expression& operator-=(Expression& a, const Expression& b) { return a = a - b; }
inline Expression& operator*=(Expression& a, const Expression& b) { return a = a * b; }

Expression pow(const Expression& a, const Expression& b);
Expression exp(const Expression& a);
Expression log(const Expression& a);  // natural logarithm
Expression sqrt(const Expression& a);
Expression tanh(const Expression& a);
Expression sigmoid(const Expression& a);
Expression sin(const Expression& a);
Expression cos(const Expression& a);
Expression asin(const Expression& a);
Expression acos(const Expression& a);
Expression abs(const Expression& a);
Expression sign(const Expression& a);      // -1, 0, 1
Expression negative(const Expression& a);  // 1 where a < 0, else 0
Expression min(const Expression& a, const Expression& b);
Expression max(const Expression& a, const Expression& b);

// The names that parse() knows as functions.
std::span<const std::string_view> function_names();

// Text form, e.g. "x1*x2 + 0.83*x3^2". Numbers are the shortest that read back to the same double, and those that are
// a simple fraction or a multiple of pi in every bit are written as such: 4/3, 2*pi. Names that are not plain
// identifiers are written in double quotes. parse(print(e)) evaluates to the same bits as e.
std::string print(const Expression& expression);

// Reads what print writes, and what a person types: + - * / ^ (right-associative, binds tighter than unary minus),
// parentheses, function calls (ln, arcsin and arccos for log, asin and acos too), numbers, identifiers, "quoted names",
// the constants pi, inf and nan. The error names the column and what was expected there.
Result<Expression> parse_expression(std::string_view text);

// The value with names[k] = values[k], all names different; fails when a variable has no value.
Result<double> evaluate(const Expression& expression, std::span<const std::string> names,
                        std::span<const double> values);

// The value, and beside it the same expression with every operand replaced by its magnitude and every sum by the sum
// of magnitudes: the scale against which rounding errors of the value are judged. Quotients and functions count to
// first order, |f'(a)| * scale + |f(a)|. Never NaN, never below |value|, and infinite where no bound is known, as for
// the sign of a difference that cancels.
struct ScaledValue {
  double value = 0;
  double scale = 0;
};
Result<ScaledValue> evaluate_with_scale(const Expression& expression, std::span<const std::string> names,
                                        std::span<const double> values);

// The expression with numbers in the place of these variables.
Expression with_values(const Expression& expression, std::span<const std::pair<std::string, double>> values);

// The variables in order of first appearance.
std::vector<std::string> variables(const Expression& expression);

}  // namespace nalm
