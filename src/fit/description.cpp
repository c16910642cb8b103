#include "fit/description.hpp"

#include <algorithm>
#include <cmath>

#include "nalm/detail/portable.hpp"

namespace nalm::fitting {

namespace {

double above_rounding(double mse) { return std::max(mse, rounding_level * rounding_level); }

double cost_of_power(double power) {
  if (power == 1) return 0;
  return (power < 0 ? 0.5 : 0) + (is_whole(power)       ? 0.7 * (std::fabs(power) - 1)
                                  : is_whole(2 * power) ? 1.2 + 0.7 * std::fabs(power)
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
  if (number.free) return 1 + 0.5 * portable::log(static_cast<double>(rows));
  if (std::fabs(number.value) == 1) return number.value < 0 ? 0.3 : 0;
  return 2;
}

}  // namespace

double length_of_errors(double mse, std::size_t rows) {
  return 0.5 * static_cast<double>(rows) * portable::log(above_rounding(mse));
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
  return length_of_errors(mse, rows) + cost;
}

double rise_of_errors(double mse, double before, std::size_t rows) {
  return static_cast<double>(rows) * portable::log(above_rounding(mse) / above_rounding(before));
}

}  // namespace nalm::fitting
