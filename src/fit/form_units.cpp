#include "fit/form_units.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace nalm::fitting {

namespace {

// A product whose terms have the target's unit by themselves is one of about a hundred times fewer than there are: the
// share of the products of a dictionary that have a given unit.
constexpr double cost_of_a_unit = 5;

// A unit as powers of the columns' units, and of the target's.
struct UnitPowers {
  PowerList columns;
  double target = 0;

  void add(const UnitPowers& other, double times) {
    add_powers(columns, other.columns, times);
    target += other.target * times;
  }
};

class NumberUnits {
 public:
  explicit NumberUnits(const Form& form) : form_(form) {
    if (!form.products.empty()) size_ = form.products[0].powers.size();
    sums_.resize(form.sums.size());
    for (std::size_t s = 0; s < form.sums.size(); ++s) {
      const std::vector<Term>& terms = form.sums[s].terms;
      const auto one = std::find_if(terms.begin(), terms.end(), [](const Term& t) { return !t.coefficient.free; });
      if (one != terms.end()) sums_[s] = of(one->powers);
    }
    // Where the 1 stands before the product, its only open sum has what is left of the unit.
    for (const Product& product : form.products) {
      if (product.coefficient.free) continue;
      const auto open = [&](const auto& sum) { return !sums_[sum.first]; };
      if (std::count_if(product.sums.begin(), product.sums.end(), open) != 1) continue;
      const auto [sum, power] = *std::find_if(product.sums.begin(), product.sums.end(), open);
      UnitPowers left = of_coefficient(product, sum);
      UnitPowers root = none();
      root.add(left, 1 / power);
      sums_[sum] = std::move(root);
    }
    for (std::size_t s = 0; s < form.sums.size(); ++s)
      if (!sums_[s]) sums_[s] = form.sums[s].terms.empty() ? none() : of(form.sums[s].terms[0].powers);
  }

  // In the order of for_each_number.
  std::vector<UnitPowers> all() const {
    std::vector<UnitPowers> result;
    for (const Product& product : form_.products) result.push_back(of_coefficient(product, form_.sums.size()));
    for (std::size_t s = 0; s < form_.sums.size(); ++s) {
      for (const Term& term : form_.sums[s].terms) {
        result.push_back(*sums_[s]);
        result.back().add(of(term.powers), -1);
      }
    }
    for (const Atom& atom : form_.atoms) {
      for (const Term& term : atom.argument.terms) {
        result.push_back(none());
        result.back().add(of(term.powers), -1);
      }
    }
    return result;
  }

 private:
  UnitPowers none() const { return {PowerList(size_, 0.0), 0}; }
  UnitPowers of(const PowerList& powers) const {
    UnitPowers result{powers, 0};
    result.columns.resize(size_, 0.0);  // arguments of atoms have no powers of atoms
    return result;
  }
  // What the target's unit leaves for the number before a product, without one of the sums.
  UnitPowers of_coefficient(const Product& product, std::size_t but) const {
    UnitPowers result = none();
    result.target = form_.outer.empty() ? 1 : 0;
    result.add(of(product.powers), -1);
    for (const auto& [s, power] : product.sums)
      if (s != but) result.add(*sums_[s], -power);
    return result;
  }

  const Form& form_;
  std::size_t size_ = 0;
  std::vector<std::optional<UnitPowers>> sums_;
};

bool same_dimension(const Dimension& a, const Dimension& b) {
  return std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) { return std::fabs(x - y) < 1e-9; });
}

}  // namespace

double cost_of_units(const Form& form, const TableUnits& units) {
  if (!units.given()) return 0;
  if (!form.outer.empty() && !is_pure(units.target)) return infinity;
  std::vector<Dimension> different;
  for (const UnitPowers& number : NumberUnits(form).all()) {
    const Dimension dimension = units.of_product(number.columns, number.target);
    if (is_pure(dimension)) continue;
    if (std::none_of(different.begin(), different.end(),
                     [&](const Dimension& d) { return same_dimension(d, dimension); }))
      different.push_back(dimension);
  }
  return cost_of_a_unit * static_cast<double>(different.size());
}

std::vector<std::string> units_of_free_numbers(const Form& form, const TableUnits& units) {
  std::vector<std::string> result;
  if (!units.given()) return result;
  const std::vector<UnitPowers> all = NumberUnits(form).all();
  std::size_t next = 0;
  for_each_number(form, [&](const Number& number) {
    const UnitPowers& unit = all[next++];
    if (number.free) result.push_back(units.text_of_product(unit.columns, unit.target));
  });
  return result;
}

}  // namespace nalm::fitting
