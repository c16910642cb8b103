#include "fit/functions/view.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "formula/node.hpp"
#include "nalm/detail/portable.hpp"

namespace nalm::fitting {

namespace {

constexpr double steepest = 100;  // no row counts more than so much more than others

// What a function was applied to, and its slope there.
struct Inverse {
  double value, slope;
};

std::optional<Inverse> inverse_of(const std::string& function, double y) {
  constexpr double quarter = std::numbers::pi / 2, largest_exponent = 40;
  if (function == "exp" && y > 0) return Inverse{portable::log(y), y};
  if (function == "log" && std::fabs(y) < largest_exponent) return Inverse{portable::exp(y), portable::exp(-y)};
  if (function == "asin" && std::fabs(y) <= quarter)
    return Inverse{portable::sin(y), 1 / std::max(portable::cos(y), 1 / steepest)};
  if (function == "acos" && y >= 0 && y <= 2 * quarter)
    return Inverse{portable::cos(y), 1 / std::max(portable::sin(y), 1 / steepest)};
  return std::nullopt;
}

PowerList spread(const PowerList& powers, const std::vector<std::size_t>& places, std::size_t size) {
  PowerList all(size, 0.0);
  for (std::size_t k = 0; k < places.size(); ++k) all[places[k]] = powers[k];
  return all;
}

}  // namespace

std::optional<View> view_of(const Data& data, const std::string& outer, Powers allowed, bool divided) {
  Data inner = data;
  if (!outer.empty()) {
    if (data.units.given() && !is_pure(data.units.target)) return std::nullopt;  // its values are pure numbers
    std::vector<double> roots(data.rows);
    for (std::size_t r = 0; r < data.rows; ++r) {
      const std::optional<Inverse> inverse = inverse_of(outer, data.y[r]);
      if (!inverse) return std::nullopt;
      inner.y[r] = inverse->value;
      roots[r] = std::fabs(inverse->slope) * data.weight_of(r);
    }
    if (std::all_of(inner.y.begin(), inner.y.end(), [&](double y) { return y == inner.y[0]; })) return std::nullopt;
    use_weights(inner, std::move(roots), false);
    measure_target(inner);
  }
  View view{{}, outer, {}, {}};
  std::optional<Multipliers> found;
  if (divided) found = multipliers_of(inner, allowed);
  if (found) {
    view.multipliers = std::move(*found);
    view.data = divided_by(inner, view.multipliers);
  } else {
    view.multipliers.powers.assign(data.inputs, 0.0);
    view.multipliers.rest.resize(data.inputs);
    std::iota(view.multipliers.rest.begin(), view.multipliers.rest.end(), std::size_t{0});
    view.data = std::move(inner);
  }
  return view;
}

std::vector<double> values_of(const Atom& atom, const Data& data) {
  const formula::Function* function = formula::find_function(atom.function);
  std::vector<double> values(data.rows);
  for (std::size_t r = 0; r < data.rows; ++r) {
    double sum = 0;
    for (const Term& term : atom.argument.terms) {
      double product = term.coefficient.value;
      for (std::size_t i = 0; i < term.powers.size(); ++i)
        if (term.powers[i] != 0) product *= portable::pow(data.row(r)[i], term.powers[i]);
      sum += product;
    }
    values[r] = function->value(&sum);
    if (!std::isfinite(values[r])) return {};
  }
  return values;
}

std::optional<View> with_atoms(const View& view, std::vector<Atom> atoms) {
  View result = view;
  Data& data = result.data;
  std::vector<std::vector<double>> further;
  for (Atom& atom : atoms) {
    std::vector<double> values = values_of(atom, view.data);
    if (values.empty()) return std::nullopt;
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    if (*low == *high) return std::nullopt;
    atom.negative = *low < 0;
    double sum = 0;
    std::size_t count = 0;
    for (const double value : values)
      if (value != 0) sum += portable::log(std::fabs(value)), ++count;
    data.x_scale.push_back(count > 0 ? portable::exp(sum / static_cast<double>(count)) : 1);
    data.negative.push_back(atom.negative);
    if (data.units.given()) data.units.columns.emplace_back();
    // Not to be written by anybody: of_table() puts the function in its place.
    data.columns.push_back("atom " + std::to_string(result.atoms.size()));
    result.atoms.push_back(std::move(atom));
    further.push_back(std::move(values));
  }
  std::vector<double> x;
  x.reserve(data.rows * (data.inputs + further.size()));
  for (std::size_t r = 0; r < data.rows; ++r) {
    x.insert(x.end(), view.data.row(r), view.data.row(r) + view.data.inputs);
    for (const std::vector<double>& values : further) x.push_back(values[r]);
  }
  data.inputs += further.size();
  data.x = std::move(x);
  return result;
}

Form of_table(const Form& form, const std::vector<Atom>& atoms, const View& view) {
  const std::size_t columns = view.multipliers.powers.size();
  const auto uses = [&](std::size_t atom) {
    const auto has = [&](const auto& part) { return part.powers[view.columns() + atom] != 0; };
    return std::any_of(form.products.begin(), form.products.end(), has) ||
           std::any_of(form.sums.begin(), form.sums.end(),
                       [&](const InnerSum& sum) { return std::any_of(sum.terms.begin(), sum.terms.end(), has); });
  };
  Form result = form;
  result.outer = view.outer;
  result.atoms.clear();
  std::vector<std::size_t> kept;  // columns of the view that the table's form has
  for (std::size_t k = 0; k < view.columns(); ++k) kept.push_back(view.multipliers.rest[k]);
  std::vector<std::size_t> used;
  for (std::size_t k = 0; k < atoms.size(); ++k) {
    if (!uses(k)) continue;
    used.push_back(k);
    result.atoms.push_back(atoms[k]);
    for (Term& term : result.atoms.back().argument.terms)
      term.powers = spread(term.powers, view.multipliers.rest, columns);
  }
  const auto moved = [&](const PowerList& powers, bool multiplied) {
    PowerList all(columns + used.size(), 0.0);
    for (std::size_t i = 0; multiplied && i < columns; ++i) all[i] = view.multipliers.powers[i];
    for (std::size_t k = 0; k < kept.size(); ++k) all[kept[k]] += powers[k];
    for (std::size_t k = 0; k < used.size(); ++k) all[columns + k] = powers[view.columns() + used[k]];
    return all;
  };
  for (Product& product : result.products) product.powers = moved(product.powers, true);
  for (InnerSum& sum : result.sums)
    for (Term& term : sum.terms) term.powers = moved(term.powers, false);
  return result;
}

Data sample_of(const Data& data, std::size_t count) {
  Data sample;
  sample.columns = data.columns;
  sample.inputs = data.inputs;
  sample.x_scale = data.x_scale;
  sample.negative = data.negative;
  sample.y_scale = data.y_scale;
  count = std::min(count, data.train.size());
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t r = data.train[k * data.train.size() / count];
    sample.x.insert(sample.x.end(), data.row(r), data.row(r) + data.inputs);
    sample.y.push_back(data.y[r]);
    if (!data.weight.empty()) sample.weight.push_back(data.weight[r]);
    sample.train.push_back(k);
  }
  sample.rows = count;
  return sample;
}

}  // namespace nalm::fitting
