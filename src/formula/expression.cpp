// The tree, the simplifications its constructors make, and the table of functions.
#include "nalm/expression.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "formula/node.hpp"
#include "nalm/detail/portable.hpp"

namespace nalm {

using formula::Function;
using Kind = Expression::Kind;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double sigmoid_of(double x) { return 1 / (1 + portable::exp(-x)); }

double arc_slope(double x) { return 1 / std::sqrt((1 - x) * (1 + x)); }

double sign_of(double x) { return std::isnan(x) ? x : static_cast<double>((x > 0) - (x < 0)); }

double smaller(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return kNan;
  return b < a ? b : a;
}

double larger(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return kNan;
  return a < b ? b : a;
}

using Arguments = const double*;
constexpr std::array kFunctions = {
    Function{"exp", 1, [](Arguments x) { return portable::exp(*x); }, [](double x) { return portable::exp(x); }},
    Function{"log", 1, [](Arguments x) { return portable::log(*x); }, [](double x) { return 1 / x; }},
    Function{"sqrt", 1, [](Arguments x) { return std::sqrt(*x); }, [](double x) { return 0.5 / std::sqrt(x); }},
    Function{"tanh", 1, [](Arguments x) { return portable::tanh(*x); },
             [](double x) {
               const double tanh = portable::tanh(x);
               return (1 - tanh) * (1 + tanh);
             }},
    Function{"sigmoid", 1, [](Arguments x) { return sigmoid_of(*x); },
             [](double x) { return sigmoid_of(x) * sigmoid_of(-x); }},
    Function{"sin", 1, [](Arguments x) { return portable::sin(*x); }, [](double x) { return portable::cos(x); }},
    Function{"cos", 1, [](Arguments x) { return portable::cos(*x); }, [](double x) { return -portable::sin(x); }},
    Function{"asin", 1, [](Arguments x) { return portable::asin(*x); }, arc_slope},
    Function{"acos", 1, [](Arguments x) { return portable::acos(*x); }, [](double x) { return -arc_slope(x); }},
    Function{"abs", 1, [](Arguments x) { return std::abs(*x); }, [](double) { return 1.0; }},
    Function{"sign", 1, [](Arguments x) { return sign_of(*x); }, nullptr},
    Function{"negative", 1, [](Arguments x) { return *x < 0 ? 1.0 : 0.0; }, nullptr},
    Function{"min", 2, [](Arguments x) { return smaller(x[0], x[1]); }, nullptr},
    Function{"max", 2, [](Arguments x) { return larger(x[0], x[1]); }, nullptr},
};

constexpr auto kFunctionNames = [] {
  std::array<std::string_view, kFunctions.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kFunctions[i].name;
  return names;
}();

bool both_constant(const Expression& a, const Expression& b) {
  return a.kind() == Kind::Constant && b.kind() == Kind::Constant;
}

}  // namespace

namespace formula {

const Function* find_function(std::string_view name) {
  const auto found =
      std::find_if(kFunctions.begin(), kFunctions.end(), [&](const Function& f) { return f.name == name; });
  return found == kFunctions.end() ? nullptr : &*found;
}

bool is_plain_name(std::string_view name) {
  if (name.empty() || is_digit(name[0])) return false;
  if (!std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); })) return false;
  return name != "inf" && name != "nan" && name != "pi" && !find_function(name);
}

}  // namespace formula

// A node that is destroyed hands its operands to the outermost destructor running in this thread, which releases them
// one after the other: the plain destructor would recurse once per level of the tree.
Expression::Node::~Node() {
  thread_local std::vector<Expression>* released = nullptr;
  if (operands.empty()) return;
  if (released) {
    std::move(operands.begin(), operands.end(), std::back_inserter(*released));
    return;
  }
  std::vector<Expression> pending = std::move(operands);
  released = &pending;
  while (!pending.empty()) {
    const Expression last = std::move(pending.back());
    pending.pop_back();
  }
  released = nullptr;
}

Expression ExpressionBuilder::constant(double value) {
  auto node = std::make_shared<Expression::Node>();
  node->constant = value;
  return Expression(std::move(node));
}

Expression ExpressionBuilder::variable(std::string name) {
  auto node = std::make_shared<Expression::Node>();
  node->kind = Kind::Variable;
  node->name = std::move(name);
  return Expression(std::move(node));
}

Expression ExpressionBuilder::operation(Kind kind, std::vector<Expression> operands) {
  auto node = std::make_shared<Expression::Node>();
  node->kind = kind;
  node->operands = std::move(operands);
  return Expression(std::move(node));
}

Expression ExpressionBuilder::call(const Function& function, std::vector<Expression> arguments) {
  auto node = std::make_shared<Expression::Node>();
  node->kind = Kind::Call;
  node->name = function.name;
  node->function = &function;
  node->operands = std::move(arguments);
  return Expression(std::move(node));
}

const Expression::Node& ExpressionBuilder::node(const Expression& expression) {
  static const Expression::Node zero;  // what is left of an expression that was moved from
  return expression.node_ ? *expression.node_ : zero;
}

Expression::Expression(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
Expression::Expression(double constant) : Expression(ExpressionBuilder::constant(constant)) {}
Expression Expression::variable(std::string name) { return ExpressionBuilder::variable(std::move(name)); }

Result<Expression> Expression::call(std::string_view function, std::vector<Expression> arguments) {
  const Function* known = formula::find_function(function);
  if (!known) {
    return Error{
        fmt::format("\"{}\" is not a function; the functions are {}.", function, fmt::join(function_names(), ", "))};
  }
  if (arguments.size() != known->arity) {
    return Error{fmt::format("{} takes {} argument{}, not {}.", function, known->arity, known->arity == 1 ? "" : "s",
                             arguments.size())};
  }
  return formula::call(function, std::move(arguments));
}

Expression formula::call(std::string_view function, std::vector<Expression> arguments) {
  const Function& known = *find_function(function);
  std::vector<double> constants;
  for (const Expression& argument : arguments) {
    if (argument.kind() == Kind::Constant) constants.push_back(argument.constant());
  }
  if (constants.size() == arguments.size()) return known.value(constants.data());
  return ExpressionBuilder::call(known, std::move(arguments));
}

Kind Expression::kind() const { return ExpressionBuilder::node(*this).kind; }
double Expression::constant() const { return ExpressionBuilder::node(*this).constant; }
const std::string& Expression::name() const { return ExpressionBuilder::node(*this).name; }
const std::vector<Expression>& Expression::operands() const { return ExpressionBuilder::node(*this).operands; }
bool Expression::is_constant(double value) const { return kind() == Kind::Constant && constant() == value; }

Expression operator-(const Expression& a) {
  if (a.kind() == Kind::Constant) return -a.constant();
  if (a.kind() == Kind::Negate) return a.operands()[0];
  return ExpressionBuilder::operation(Kind::Negate, {a});
}

Expression operator+(const Expression& a, const Expression& b) {
  if (both_constant(a, b)) return a.constant() + b.constant();
  if (a.is_constant(0)) return b;
  if (b.is_constant(0)) return a;
  return ExpressionBuilder::operation(Kind::Add, {a, b});
}

Expression operator-(const Expression& a, const Expression& b) {
  if (both_constant(a, b)) return a.constant() - b.constant();
  if (b.is_constant(0)) return a;
  return ExpressionBuilder::operation(Kind::Subtract, {a, b});
}

Expression operator*(const Expression& a, const Expression& b) {
  if (both_constant(a, b)) return a.constant() * b.constant();
  if (a.is_constant(0) || b.is_constant(0)) return 0.0;
  if (a.is_constant(1)) return b;
  if (b.is_constant(1)) return a;
  // 2*x rather than x*2; products commute exactly.
  const bool is_product = a.kind() == Kind::Multiply || a.kind() == Kind::Divide;
  if (b.kind() == Kind::Constant && !is_product) return ExpressionBuilder::operation(Kind::Multiply, {b, a});
  return ExpressionBuilder::operation(Kind::Multiply, {a, b});
}

Expression operator/(const Expression& a, const Expression& b) {
  if (both_constant(a, b)) return a.constant() / b.constant();
  if (b.is_constant(1)) return a;
  return ExpressionBuilder::operation(Kind::Divide, {a, b});
}

Expression pow(const Expression& a, const Expression& b) {
  if (both_constant(a, b)) return portable::pow(a.constant(), b.constant());
  if (b.is_constant(0)) return 1.0;
  if (b.is_constant(1)) return a;
  return ExpressionBuilder::operation(Kind::Power, {a, b});
}

Expression exp(const Expression& a) { return formula::call("exp", {a}); }
Expression log(const Expression& a) { return formula::call("log", {a}); }
Expression sqrt(const Expression& a) { return formula::call("sqrt", {a}); }
Expression tanh(const Expression& a) { return formula::call("tanh", {a}); }
Expression sigmoid(const Expression& a) { return formula::call("sigmoid", {a}); }
Expression sin(const Expression& a) { return formula::call("sin", {a}); }
Expression cos(const Expression& a) { return formula::call("cos", {a}); }
Expression asin(const Expression& a) { return formula::call("asin", {a}); }
Expression acos(const Expression& a) { return formula::call("acos", {a}); }
Expression abs(const Expression& a) { return formula::call("abs", {a}); }
Expression sign(const Expression& a) { return formula::call("sign", {a}); }
Expression negative(const Expression& a) { return formula::call("negative", {a}); }
Expression min(const Expression& a, const Expression& b) { return formula::call("min", {a, b}); }
Expression max(const Expression& a, const Expression& b) { return formula::call("max", {a, b}); }

std::span<const std::string_view> function_names() { return kFunctionNames; }

Expression with_values(const Expression& expression, std::span<const std::pair<std::string, double>> values) {
  return formula::rebuilt(expression, [&](const Expression& e, std::vector<Expression> x) {
    const auto known = std::find_if(values.begin(), values.end(),
                                    [&](const auto& v) { return e.kind() == Kind::Variable && v.first == e.name(); });
    return known == values.end() ? formula::with_operands(e, std::move(x)) : Expression(known->second);
  });
}

std::vector<std::string> variables(const Expression& expression) {
  std::vector<std::string> names;
  std::unordered_set<std::string_view> seen;
  formula::visit_operands_first(expression, [&](const Expression& e) {
    if (e.kind() == Kind::Variable && seen.insert(e.name()).second) names.push_back(e.name());
  });
  return names;
}

}  // namespace nalm
