#include "fit/formula_units.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "formula/node.hpp"

namespace nalm::fitting {

namespace {

using ExpressionKind = Expression::Kind;

// A unit as powers of those of the columns, of the target and of the constants. Two that must be alike are an equation
// that is linear in these powers, and says what one of the constants has, if there is an open one in it.
class UnitEquations {
 public:
  using Unit = std::vector<double>;

  UnitEquations(const std::vector<std::string>& names, const std::vector<double>& values, const Data& data)
      : names_(names), values_(values), data_(data), solved_(names.size()) {}

  // What is wrong; empty: nothing.
  std::string solve(const Expression& formula) {
    std::vector<Unit> stack;
    formula::visit_operands_first(formula, [&](const Expression& e) {
      const std::size_t count = e.operands().size();
      const std::vector<Unit> operands(stack.end() - static_cast<std::ptrdiff_t>(count), stack.end());
      stack.resize(stack.size() - count);
      stack.push_back(of(e, operands));
    });
    Unit target = none();
    target[data_.inputs] = 1;
    if (!alike(stack.back(), target)) say("it has {1}, and the target has {2}", formula, stack.back(), target);
    return wrong_;
  }

  std::string unit_of(std::size_t constant) const { return solved_[constant] ? text_of(*solved_[constant]) : ""; }

 private:
  Unit none() const { return Unit(data_.inputs + 1 + names_.size(), 0.0); }
  std::size_t place_of(std::size_t constant) const { return data_.inputs + 1 + constant; }

  static Unit sum(Unit a, const Unit& b, double times) {
    for (std::size_t k = 0; k < a.size(); ++k) a[k] += times * b[k];
    return a;
  }
  static bool is_zero(double power) { return std::fabs(power) < 1e-9; }

  // With what is known about constants in their place.
  Unit reduced(Unit unit) const {
    for (std::size_t k = 0; k < solved_.size(); ++k) {
      const double power = unit[place_of(k)];
      if (!solved_[k] || is_zero(power)) continue;
      unit[place_of(k)] = 0;
      unit = sum(std::move(unit), *solved_[k], power);
    }
    return unit;
  }

  std::string text_of(const Unit& unit) const {
    const Unit known = reduced(unit);
    return data_.units.text_of_product({known.begin(), known.begin() + static_cast<std::ptrdiff_t>(data_.inputs)},
                                       known[data_.inputs]);
  }

  bool alike(const Unit& a, const Unit& b) {
    Unit difference = reduced(sum(a, b, -1));
    for (std::size_t k = 0; k < solved_.size(); ++k) {
      const double power = difference[place_of(k)];
      if (is_zero(power)) continue;
      difference[place_of(k)] = 0;
      solved_[k] = sum(none(), difference, -1 / power);
      for (std::optional<Unit>& other : solved_)
        if (other) other = reduced(std::move(*other));
      return true;
    }
    return is_pure(
        data_.units.of_product({difference.begin(), difference.begin() + static_cast<std::ptrdiff_t>(data_.inputs)},
                               difference[data_.inputs]));
  }

  // {0} is the part of the formula, {1} and {2} are units. The first is told.
  void say(const char* what, const Expression& part, const Unit& a, const Unit& b) {
    if (!wrong_.empty()) return;
    const auto text = [&](const Unit& unit) {
      const std::string said = text_of(unit);
      return said.empty() ? std::string("no unit") : "the unit " + said;
    };
    wrong_ = fmt::format(fmt::runtime(what), print(part), text(a), text(b));
  }

  Unit of(const Expression& e, const std::vector<Unit>& x) {
    switch (e.kind()) {
      case ExpressionKind::Constant:
        return none();
      case ExpressionKind::Variable: {
        Unit unit = none();
        const auto constant = std::find(names_.begin(), names_.end(), e.name());
        unit[constant == names_.end() ? data_.position(e.name())
                                      : place_of(static_cast<std::size_t>(constant - names_.begin()))] = 1;
        return unit;
      }
      case ExpressionKind::Negate:
        return x[0];
      case ExpressionKind::Multiply:
        return sum(x[0], x[1], 1);
      case ExpressionKind::Divide:
        return sum(x[0], x[1], -1);
      case ExpressionKind::Add:
      case ExpressionKind::Subtract:
        if (!alike(x[0], x[1])) say("in {0} the one side has {1} and the other {2}", e, x[0], x[1]);
        return x[0];
      case ExpressionKind::Power:
        return of_power(e, x);
      case ExpressionKind::Call:
        break;
    }
    return of_call(e, x);
  }

  Unit of_power(const Expression& e, const std::vector<Unit>& x) {
    if (!alike(x[1], none())) say("the exponent in {0} has {1}", e, x[1], x[1]);
    if (const Result<double> power = evaluate(e.operands()[1], names_, values_)) return sum(none(), x[0], *power);
    if (!alike(x[0], none())) say("in {0} {1} has an exponent that varies", e, x[0], x[0]);
    return none();
  }

  Unit of_call(const Expression& e, const std::vector<Unit>& x) {
    if (e.name() == "sqrt") return sum(none(), x[0], 0.5);
    if (e.name() == "abs") return x[0];
    if (e.name() == "sign" || e.name() == "negative") return none();
    if (x.size() == 2) {
      if (!alike(x[0], x[1])) say("in {0} the one side has {1} and the other {2}", e, x[0], x[1]);
      return x[0];
    }
    if (!alike(x[0], none())) say("in {0} the argument has {1}", e, x[0], x[0]);
    return none();
  }

  const std::vector<std::string>& names_;
  const std::vector<double>& values_;
  const Data& data_;
  std::vector<std::optional<Unit>> solved_;  // in terms of columns, the target and constants that are open
  std::string wrong_;
};

}  // namespace

std::string give_units(Candidate& candidate, const Data& data) {
  if (!data.units.given()) return "";
  std::vector<std::string> names;
  std::vector<double> values;  // they matter where a constant is an exponent
  for (const FitConstant& constant : candidate.constants) {
    names.push_back(constant.slot);
    values.push_back(constant.value);
  }
  UnitEquations equations(names, values, data);
  const std::string wrong = equations.solve(candidate.open_formula);
  for (std::size_t k = 0; k < names.size(); ++k) candidate.constants[k].unit = equations.unit_of(k);
  return wrong;
}

}  // namespace nalm::fitting
