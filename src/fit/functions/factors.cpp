#include "fit/functions/factors.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "formula/node.hpp"
#include "nalm/detail/portable.hpp"

namespace nalm::fitting {

using namespace numeric;

namespace {

constexpr std::size_t most_arguments = 1200;
constexpr double most_turns = 40;  // of a wave, over the rows: more look like noise

// Products of up to so many columns, in the numerator or the denominator, and squares of one.
std::vector<PowerList> products_of_columns(std::size_t columns, std::size_t most) {
  std::vector<PowerList> result;
  for (std::size_t count = 1; count <= std::min(most, columns); ++count) {
    std::vector<PowerList> of_size;
    PowerList powers(columns, 0.0);
    const auto extend = [&](auto&& self, std::size_t first, std::size_t left) -> void {
      if (left == 0) {
        of_size.push_back(powers);
        return;
      }
      for (std::size_t i = first; i + left <= columns; ++i) {
        for (const double power : {1.0, -1.0}) {
          powers[i] = power;
          self(self, i + 1, left - 1);
        }
        powers[i] = 0;
      }
    };
    extend(extend, 0, count);
    if (result.size() + of_size.size() > most_arguments && count > 3) break;
    result.insert(result.end(), of_size.begin(), of_size.end());
    if (count > 2) continue;
    for (const PowerList& one : of_size) {  // one of its columns squared, or all
      for (std::size_t i = 0; i < columns; ++i) {
        if (one[i] == 0) continue;
        result.push_back(one);
        result.back()[i] *= 2;
      }
      if (count == 1) continue;
      result.push_back(one);
      for (double& power : result.back()) power *= 2;
    }
  }
  return result;
}

// The square of a difference.
std::optional<InnerSum> squared(const InnerSum& sum) {
  if (sum.terms.size() != 2) return std::nullopt;
  const Term &a = sum.terms[0], &b = sum.terms[1];
  InnerSum result{{a, b, b}};
  add_powers(result.terms[0].powers, a.powers, 1);
  add_powers(result.terms[1].powers, a.powers, 1);
  result.terms[1].coefficient.value *= 2;
  add_powers(result.terms[2].powers, b.powers, 1);
  result.terms[2].coefficient.value = 1;
  return result;
}

Vector values_on_rows(const InnerSum& sum, const Data& data, const std::vector<std::size_t>& rows) {
  Vector u;
  for (const std::size_t r : rows) {
    double total = 0;
    for (const Term& term : sum.terms) {
      double product = term.coefficient.value;
      for (std::size_t i = 0; i < term.powers.size(); ++i)
        if (term.powers[i] != 0) product *= portable::pow(data.row(r)[i], term.powers[i]);
      total += product;
    }
    u.push_back(total);
  }
  return u;
}

}  // namespace

InnerSum times(InnerSum sum, double factor) {
  for (Term& term : sum.terms) term.coefficient.value *= factor;
  return sum;
}

std::vector<InnerSum> arguments_of(std::size_t columns, std::size_t most) {
  std::vector<InnerSum> result;
  for (PowerList& powers : products_of_columns(columns, most)) result.push_back({{{{1, true}, std::move(powers)}}});
  for (std::size_t a = 0; a < columns; ++a) {
    for (std::size_t b = a + 1; b < columns; ++b) {
      for (std::size_t c = 0; c <= columns; ++c) {
        if (c == a || c == b) continue;
        for (const double power : {1.0, -1.0}) {
          if (c == columns && power < 0) continue;
          InnerSum difference{
              {{{1, true}, power_of_column(columns, a, 1)}, {{-1, true}, power_of_column(columns, b, 1)}}};
          for (Term& term : difference.terms)
            if (c < columns) term.powers[c] = power;
          result.push_back(std::move(difference));
        }
      }
    }
  }
  return result;
}

std::vector<Entry> entries_of(const InnerSum& argument, const Data& data, const std::vector<std::size_t>& rows,
                              const Vector& weight, const std::vector<std::string>& functions) {
  const auto allowed = [&](std::string_view name) {
    return std::find(functions.begin(), functions.end(), name) != functions.end();
  };
  std::vector<Entry> result;
  const Vector u = values_on_rows(argument, data, rows);
  if (!all_finite(u)) return result;
  double largest = 0;
  for (const double value : u) largest = std::max(largest, std::fabs(value));
  const bool product = argument.terms.size() == 1;
  const auto exponent = [&](const InnerSum& sum) {
    Entry entry{Shape::Exponent, "exp", sum, values_on_rows(sum, data, rows)};
    for (std::size_t k = 0; k < u.size(); ++k) entry.values[k] *= weight[k];
    if (all_finite(entry.values)) result.push_back(std::move(entry));
  };
  const auto add = [&](Shape shape, std::string_view name, double factor) {
    const formula::Function* function = formula::find_function(name);
    Entry entry{shape, name, times(argument, factor), Vector(u.size())};
    for (std::size_t k = 0; k < u.size(); ++k) {
      const double inner = factor * u[k];
      double value = function->value(&inner);
      if (shape == Shape::MinusOne) value -= 1;
      if (shape == Shape::PlusOne) value += 1;
      if (shape == Shape::PlusInverse) value += 1 / value;
      if (shape == Shape::OverArgument) value /= inner;
      entry.values[k] = weight[k] * portable::log(std::fabs(value));
    }
    if (all_finite(entry.values)) result.push_back(std::move(entry));
  };
  constexpr double pi = std::numbers::pi;
  // Numbers that stand in arguments; where columns are far from 1, sizes near 1.
  std::vector<double> factors = {1, 0.5, 2, 1 / (2 * pi), pi, 2 * pi, 3, 0.25};
  if (largest > 50 || largest < 0.1)
    for (const double size : {0.5, 1.0, 2.0, 4.0}) factors.push_back(size / largest);
  if (!product) factors = {1, 0.5};
  if (allowed("exp")) {
    exponent(argument);
    if (const std::optional<InnerSum> square = squared(argument)) exponent(*square);
    for (const double factor : factors) {
      if (factor * largest > 200) continue;
      add(Shape::MinusOne, "exp", factor);
      add(Shape::PlusOne, "exp", factor);
      add(Shape::PlusInverse, "exp", factor);
    }
  }
  for (const std::string_view name : {"sin", "cos"}) {
    for (const double factor : factors) {
      if (!allowed(name) || factor * largest > 2 * pi * most_turns) continue;
      add(Shape::Plain, name, factor);
      if (name == "sin") add(Shape::OverArgument, name, factor);
      if (name == "cos") add(Shape::MinusOne, name, factor), add(Shape::PlusOne, name, factor);
    }
  }
  for (const double factor : factors) {
    if (allowed("tanh")) add(Shape::Plain, "tanh", factor);
    for (const std::string_view name : {"asin", "acos"})
      if (allowed(name) && factor * largest <= 1) add(Shape::Plain, name, factor);
  }
  if (allowed("log") && product) add(Shape::Plain, "log", 1);
  return result;
}

}  // namespace nalm::fitting
