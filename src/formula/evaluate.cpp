// Values of an expression, and the scale of their rounding errors.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "formula/node.hpp"
#include "nalm/detail/portable.hpp"
#include "nalm/expression.hpp"

namespace nalm {

using Kind = Expression::Kind;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double value_of(const Expression& e, const double* x) {
  return e.kind() == Kind::Call ? ExpressionBuilder::node(e).function->value(x) : formula::combined(e.kind(), x);
}

// A zero scale means exactly zero and a zero slope means no influence, whatever they are multiplied with.
double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

// The bound on a^b of the bounds on both: the base counts like a product of b factors where b >= 0 and to first order
// where b < 0, the exponent to first order unless it is a constant, which has no rounding error.
double power_scale(const Expression& e, const ScaledValue& a, const ScaledValue& b, double value) {
  const double magnitude = std::abs(value);
  double scale = b.value < 0 ? times(magnitude, 1 - b.value * (a.scale / std::abs(a.value)))
                             : times(1 + b.value, portable::pow(a.scale, b.value));
  if (e.operands()[1].kind() != Kind::Constant) {
    scale += times(times(magnitude, std::abs(portable::log(std::abs(a.value)))), b.scale);
  }
  return scale;
}

// |f'(a)| * scale + |f(a)| where f is smooth. A step is exact except where its argument is lost in rounding errors.
double call_scale(const Expression& e, const ScaledValue* x, double value) {
  const formula::Function& function = *ExpressionBuilder::node(e).function;
  if (function.arity == 2) return std::max(x[0].scale, x[1].scale);
  if (function.slope) return times(std::abs(function.slope(x->value)), x->scale) + std::abs(value);
  const double noise = 16 * std::numeric_limits<double>::epsilon() * x->scale;
  return std::abs(x->value) < noise ? kInfinity : std::abs(value);
}

double scale_of(const Expression& e, const ScaledValue* x, double value) {
  switch (e.kind()) {
    case Kind::Negate:
      return x[0].scale;
    case Kind::Add:
    case Kind::Subtract:
      return x[0].scale + x[1].scale;
    case Kind::Multiply:
      return times(x[0].scale, x[1].scale);
    // A relative error of the denominator is one of the quotient, and cancellation makes it scale/|value| times larger.
    case Kind::Divide:
      return times(x[0].scale / std::abs(x[1].value), x[1].scale / std::abs(x[1].value));
    case Kind::Power:
      return power_scale(e, x[0], x[1], value);
    case Kind::Call:
      return call_scale(e, x, value);
    case Kind::Constant:
    case Kind::Variable:
      break;
  }
  return std::abs(value);
}

ScaledValue scaled(double value, double scale) {
  if (std::isnan(value) || std::isnan(scale)) return {value, kInfinity};
  return {value, std::max(scale, std::abs(value))};
}

ScaledValue scaled_value_of(const Expression& e, const ScaledValue* x) {
  const double values[] = {x[0].value, e.operands().size() > 1 ? x[1].value : 0};
  const double value = value_of(e, values);
  return scaled(value, scale_of(e, x, value));
}

// Variables mostly appear in the order of the names, so each search begins behind the last hit.
class Lookup {
 public:
  explicit Lookup(std::span<const std::string> names) : names_(names) {}

  // The position of the name, or the number of names when it is not there.
  std::size_t operator()(const std::string& name) {
    for (std::size_t tried = 0; tried < names_.size(); ++tried, ++next_) {
      if (next_ == names_.size()) next_ = 0;
      if (names_[next_] == name) return next_++;
    }
    return names_.size();
  }

 private:
  std::span<const std::string> names_;
  std::size_t next_ = 0;
};

// Leaves become leaf(number), operations become operation(node, operands).
template <class Value, class Leaf, class Operation>
Result<Value> evaluate_tree(const Expression& expression, std::span<const std::string> names,
                            std::span<const double> values, Leaf leaf, Operation operation) {
  if (names.size() != values.size()) {
    return Error{"evaluating a formula needs one value for each name, but there are " + std::to_string(names.size()) +
                 " names and " + std::to_string(values.size()) + " values"};
  }
  Lookup lookup(names);
  const std::string* missing = nullptr;
  std::vector<Value> stack;
  formula::visit_operands_first(expression, [&](const Expression& e) {
    if (e.kind() == Kind::Constant) {
      stack.push_back(leaf(e.constant()));
    } else if (e.kind() == Kind::Variable) {
      const std::size_t k = lookup(e.name());
      if (k == names.size() && !missing) missing = &e.name();
      stack.push_back(leaf(k < names.size() ? values[k] : 0.0));
    } else {
      const std::size_t first = stack.size() - e.operands().size();
      stack[first] = operation(e, &stack[first]);
      stack.resize(first + 1);
    }
  });
  if (missing)
    return Error{"the variable \"" + *missing + "\" has no value; give one for each variable of the formula"};
  return stack.back();
}

}  // namespace

Result<double> evaluate(const Expression& expression, std::span<const std::string> names,
                        std::span<const double> values) {
  return evaluate_tree<double>(
      expression, names, values, [](double x) { return x; }, value_of);
}

Result<ScaledValue> evaluate_with_scale(const Expression& expression, std::span<const std::string> names,
                                        std::span<const double> values) {
  return evaluate_tree<ScaledValue>(
      expression, names, values, [](double x) { return scaled(x, std::abs(x)); }, scaled_value_of);
}

}  // namespace nalm
