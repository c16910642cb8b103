#include "fit/changes.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "fit/description.hpp"
#include "fit/form_algebra.hpp"
#include "nalm/detail/portable.hpp"

namespace nalm::fitting {

namespace {

constexpr std::size_t most_doubtful = 5;

class Changes {
 public:
  Changes(const Form& form, const Data& data, Powers powers) : form_(form), data_(data), powers_(powers) {}

  std::vector<Form> all() {
    result_ = with_a_term_less(form_);
    for (std::size_t p = 0; p < form_.products.size(); ++p) {
      change_powers([p](Form& f) -> PowerList& { return f.products[p].powers; });
      turn_roots_into_means(p);
      for (std::size_t k = 0; k < form_.products[p].sums.size(); ++k) {
        add_squares(p, k);
        for (const double power : {1.0, -1.0, 0.5, -0.5, 2.0, -2.0}) {
          if (!allowed(power, false)) continue;
          Form other = form_;
          other.products[p].sums[k].second = power;
          result_.push_back(std::move(other));
          change_outer_power(p, k, power);
        }
      }
    }
    for (std::size_t s = 0; s < form_.sums.size(); ++s) {
      for (std::size_t t = 0; t < form_.sums[s].terms.size(); ++t) {
        change_powers([s, t](Form& f) -> PowerList& { return f.sums[s].terms[t].powers; });
      }
      result_.push_back(form_);
      result_.back().sums[s].terms.push_back({{0.1, true}, PowerList(data_.inputs, 0.0)});
    }
    for (const double power : {-1.0, 0.5, -0.5, 2.0}) take_largest_out(power);
    add_squares_of_products();
    result_.push_back(form_);
    result_.back().products.push_back({{0.1 * data_.y_scale, true}, PowerList(data_.inputs, 0.0), {}});
    return std::move(result_);
  }

 private:
  bool allowed(double power, bool whole) const { return is_whole(power) || (powers_ != Powers::Integer && !whole); }

  // The term or product that is largest for columns of their usual size.
  template <class Parts>
  auto largest_of(Parts& parts) const {
    const auto size = [&](const auto& part) {
      double value = std::fabs(part.coefficient.value);
      for (std::size_t i = 0; i < data_.inputs; ++i) value *= portable::pow(data_.x_scale[i], part.powers[i]);
      return value;
    };
    return std::max_element(parts.begin(), parts.end(),
                            [&](const auto& a, const auto& b) { return size(a) < size(b); });
  }

  // a + b, where b is small, is nearly a*(1 + 2b/a)^0.5.
  void take_largest_out(double power) {
    const auto has_sums = [](const Product& product) { return !product.sums.empty(); };
    if (form_.products.size() < 2 || std::any_of(form_.products.begin(), form_.products.end(), has_sums)) return;
    const auto largest = largest_of(form_.products);
    if (largest->coefficient.value == 0) return;
    Form other{{{}}, {*largest}, form_.atoms, form_.outer};
    other.products[0].sums.push_back({0, power});
    for (const Product& product : form_.products) {
      const bool first = &product == &*largest;
      PowerList powers = product.powers;
      add_powers(powers, largest->powers, -1);
      const double factor = product.coefficient.value / largest->coefficient.value;
      other.sums[0].terms.push_back({{first ? 1 : factor / power, true}, std::move(powers)});
    }
    result_.push_back(std::move(other));
  }

  // Another power of a sum that leaves the values about as they are: (1 - u/2)^-1 is nearly (1 - u)^-0.5. What is
  // largest in the sum, as c^2 in c^2 - u^2, stands before the sum with the power that the sum loses.
  void change_outer_power(std::size_t p, std::size_t k, double power) {
    Form other = form_;
    Product& product = other.products[p];
    const double before = product.sums[k].second, lost = before - power;
    std::vector<Term>& terms = other.sums[product.sums[k].first].terms;
    const auto largest = largest_of(terms);
    if (lost == 0 || largest == terms.end() || !(largest->coefficient.value > 0)) return;
    add_powers(product.powers, largest->powers, lost);
    for (std::size_t i = 0; i < data_.inputs; ++i)
      if (!allowed(product.powers[i], data_.negative[i])) return;
    product.coefficient.value *= portable::pow(largest->coefficient.value, lost);
    for (Term& term : terms)
      if (&term != &*largest) term.coefficient.value *= before / power;
    product.sums[k].second = power;
    result_.push_back(std::move(other));
  }

  // What is nearest to a + b among formulas that are no sums: the root of a^2 + b^2.
  static Term square_of(const Number& coefficient, PowerList powers) {
    for (double& power : powers) power *= 2;
    return {{coefficient.value * std::fabs(coefficient.value), true}, std::move(powers)};
  }
  void add_squares(std::size_t p, std::size_t k) {
    const auto [sum, power] = form_.products[p].sums[k];
    if (!is_whole(power) || !allowed(power / 2, false)) return;
    Form other = form_;
    other.products[p].sums[k].second = power / 2;
    for (Term& term : other.sums[sum].terms) term = square_of(term.coefficient, std::move(term.powers));
    result_.push_back(std::move(other));
  }
  void add_squares_of_products() {
    const auto has_sums = [](const Product& product) { return !product.sums.empty(); };
    if (form_.products.size() < 2 || std::any_of(form_.products.begin(), form_.products.end(), has_sums) ||
        !allowed(0.5, false))
      return;
    Form other{
        {{}}, {{{1, true}, PowerList(form_.products[0].powers.size(), 0.0), {{0, 0.5}}}}, form_.atoms, form_.outer};
    for (const Product& product : form_.products)
      other.sums[0].terms.push_back(square_of(product.coefficient, product.powers));
    result_.push_back(std::move(other));
  }

  // sqrt(a*b) is nearly (a + b)/2, and nearly 2*a*b/(a + b).
  void turn_roots_into_means(std::size_t p) {
    const PowerList& powers = form_.products[p].powers;
    const auto is_root = [&](std::size_t i) {
      return !data_.negative[i] && is_whole(2 * powers[i]) && !is_whole(powers[i]);
    };
    for (std::size_t i = 0; i < data_.inputs; ++i) {
      for (std::size_t j = i + 1; j < data_.inputs; ++j) {
        if (!is_root(i) || !is_root(j)) continue;
        const double ratio = std::sqrt(data_.x_scale[j] / data_.x_scale[i]);
        for (const double lost : {0.5, -0.5}) {
          Form other = form_;
          const std::size_t columns = powers.size();
          other.sums.push_back({{{{0.5 * ratio, true}, power_of_column(columns, i, 1)},
                                 {{0.5 / ratio, true}, power_of_column(columns, j, 1)}}});
          Product& product = other.products[p];
          product.powers[i] -= lost;
          product.powers[j] -= lost;
          product.sums.push_back({other.sums.size() - 1, 2 * lost});
          result_.push_back(std::move(other));
        }
      }
    }
  }

  template <class Select>
  void change_powers(Select select) {
    for (std::size_t i = 0; i < data_.inputs; ++i) {
      for (const double step : {1.0, -1.0, 0.5, -0.5, 2.0, -2.0}) {
        Form other = form_;
        double& power = select(other)[i];
        power += step;
        if (std::fabs(power) > 6 || !allowed(power, data_.negative[i])) continue;
        result_.push_back(std::move(other));
      }
      // A column in the place of another.
      Form without = form_;
      if (const double power = select(without)[i]; power != 0) {
        for (std::size_t k = 0; k < data_.inputs; ++k) {
          Form other = form_;
          PowerList& powers = select(other);
          if (powers[k] != 0 || !allowed(power, data_.negative[k])) continue;
          powers[i] = 0;
          powers[k] = power;
          result_.push_back(std::move(other));
        }
      }
    }
  }

  const Form& form_;
  const Data& data_;
  const Powers powers_;
  std::vector<Form> result_;
};

}  // namespace

std::vector<Form> with_a_term_less(const Form& form) {
  std::vector<Form> result;
  for (std::size_t p = 0; p < form.products.size() && form.products.size() > 1; ++p) {
    Form other = form;
    other.products.erase(other.products.begin() + static_cast<std::ptrdiff_t>(p));
    result.push_back(std::move(other));
  }
  for (std::size_t s = 0; s < form.sums.size(); ++s) {
    for (std::size_t t = 0; t < form.sums[s].terms.size(); ++t) {
      Form other = form;
      other.sums[s].terms.erase(other.sums[s].terms.begin() + static_cast<std::ptrdiff_t>(t));
      result.push_back(std::move(other));
    }
  }
  return result;
}

std::vector<Form> without_a_doubtful_term(Scored& scored) {
  std::vector<Form> shorter = with_a_term_less(scored.form);
  const std::vector<Number*> all = numbers(scored.form);
  std::map<const Number*, double> sizes;  // in standard errors
  for (std::size_t k = 0, slot = 0; k < all.size(); ++k) {
    if (!all[k]->free || slot >= scored.deviations.size()) continue;
    const double size = std::fabs(all[k]->value) / scored.deviations[slot++];
    sizes[all[k]] = std::isfinite(size) ? size : 0;
  }
  std::vector<double> order;  // as with_a_term_less has it
  if (scored.form.products.size() > 1) {
    for (const Product& product : scored.form.products) order.push_back(sizes[&product.coefficient]);
  }
  for (const InnerSum& sum : scored.form.sums) {
    for (const Term& term : sum.terms) order.push_back(sizes[&term.coefficient]);
  }
  std::vector<Form> result;
  for (const std::size_t k : ranked(order)) {
    if (result.size() < most_doubtful || order[k] == 0) result.push_back(std::move(shorter[k]));
  }
  return result;
}

std::vector<Form> small_changes(const Form& form, const Data& data, Powers powers) {
  return Changes(form, data, powers).all();
}

}  // namespace nalm::fitting
