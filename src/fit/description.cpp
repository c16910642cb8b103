#include "fit/description.hpp"

#include <algorithm>
#include <cmath>

#include "formula/node.hpp"
#include "nalm/detail/portable.hpp"

namespace nalm::fitting {

namespace {

constexpr double cost_of_function = 3;  // it is one of seven, and there might be none

double above_rounding(double mse) { return std::max(mse, rounding_level * rounding_level); }

double cost_of_power(double power) {
  if (power == 1) return 0;
  return (power < 0 ? 0.5 : 0) + (is_whole(power)       ? 0.7 * (std::fabs(power) - 1)
                                  : is_whole(2 * power) ? 2 + 0.7 * std::fabs(power)
                                                        : 6);
}

double cost_of_powers(const PowerList& powers) {
  double cost = 0;
  for (const double power : powers) {
    if (power != 0) cost += portable::log(static_cast<double>(powers.size())) + 0.7 + cost_of_power(power);
  }
  return cost;
}

double cost_of_number(const Number& number, std::size_t rows) {
  if (number.free) return cost_of_free_number(rows);
  if (std::fabs(number.value) == 1) return number.value < 0 ? 0.3 : 0;
  return 2;
}

}  // namespace

double cost_of_free_number(std::size_t rows) { return 1 + 0.5 * portable::log(static_cast<double>(rows)); }

double length_of_errors(double mse, std::size_t rows) {
  return 0.5 * static_cast<double>(rows) * portable::log(above_rounding(mse));
}

std::size_t rows_beside(std::size_t fitted, std::size_t rows) {
  // With few rows a number that is fitted takes a row's worth of freedom: eight planets and three numbers are five
  // rows.
  constexpr std::size_t few = 40;
  return rows < few ? rows - std::min(rows, fitted) : rows;
}

double description_length(const Form& form, double mse, std::size_t rows) {
  double cost = 0;
  for (const Product& product : form.products) {
    cost += 1.5 + cost_of_powers(product.powers) + cost_of_number(product.coefficient, rows);
    for (const auto& [sum, power] : product.sums) cost += 1 + cost_of_power(power);
  }
  for (const InnerSum& sum : form.sums) {
    for (const Term& term : sum.terms)
      cost += 1.5 + cost_of_powers(term.powers) + cost_of_number(term.coefficient, rows);
  }
  for (const Atom& atom : form.atoms) {
    cost += cost_of_function;
    for (const Term& term : atom.argument.terms)
      cost += 1.5 + cost_of_powers(term.powers) + cost_of_number(term.coefficient, rows);
  }
  if (!form.outer.empty()) cost += cost_of_function;
  return length_of_errors(mse, rows_beside(static_cast<std::size_t>(free_count(form)), rows)) + cost;
}

double length_of_structure(const Expression& formula, std::size_t columns) {
  using Kind = Expression::Kind;
  const double column = portable::log(static_cast<double>(columns)) + 0.7;
  double length = 1.5;
  formula::visit_operands_first(formula, [&](const Expression& e) {
    switch (e.kind()) {
      case Kind::Variable:
        length += column;
        break;
      case Kind::Add:
      case Kind::Subtract:
        length += 1.5;
        break;
      case Kind::Divide:
        length += 0.5;
        break;
      case Kind::Call:
        length += e.name() == "sqrt" ? 1.5 : cost_of_function;
        break;
      case Kind::Power:
        length += e.operands()[1].kind() == Kind::Constant ? cost_of_power(e.operands()[1].constant()) : 3;
        break;
      case Kind::Constant:
      case Kind::Negate:
      case Kind::Multiply:
        break;
    }
  });
  return length;
}

bool has_functions(const Expression& formula) {
  bool found = false;
  formula::visit_operands_first(formula, [&](const Expression& e) {
    found =
        found || (e.kind() == Expression::Kind::Call &&
                  std::find(std::begin(fit_functions), std::end(fit_functions), e.name()) != std::end(fit_functions));
  });
  return found;
}

double rise_of_errors(double mse, double before, std::size_t rows) {
  return static_cast<double>(rows) * portable::log(above_rounding(mse) / above_rounding(before));
}

}  // namespace nalm::fitting
