#include "fit/climb.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "base/threads.hpp"
#include "fit/form_algebra.hpp"
#include "fit/form_units.hpp"
#include "nalm/detail/portable.hpp"

namespace nalm::fitting {

namespace {

constexpr int most_climbs = 12;
constexpr std::size_t most_promising = 16, fewest_rows_to_sift = 40, most_to_sift = 128, most_doubtful = 5;

class Changes {
 public:
  Changes(const Form& form, const Judge& judge) : form_(form), judge_(judge) {}

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
      result_.back().sums[s].terms.push_back({{0.1, true}, PowerList(judge_.data.inputs, 0.0)});
    }
    for (const double power : {-1.0, 0.5, -0.5, 2.0}) take_largest_out(power);
    add_squares_of_products();
    result_.push_back(form_);
    result_.back().products.push_back({{0.1 * judge_.data.y_scale, true}, PowerList(judge_.data.inputs, 0.0), {}});
    return std::move(result_);
  }

 private:
  bool allowed(double power, bool whole) const {
    return is_whole(power) || (judge_.powers != Powers::Integer && !whole);
  }

  // The term or product that is largest for columns of their usual size.
  template <class Parts>
  auto largest_of(Parts& parts) const {
    const auto size = [&](const auto& part) {
      double value = std::fabs(part.coefficient.value);
      for (std::size_t i = 0; i < judge_.data.inputs; ++i)
        value *= portable::pow(judge_.data.x_scale[i], part.powers[i]);
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
    for (std::size_t i = 0; i < judge_.data.inputs; ++i)
      if (!allowed(product.powers[i], judge_.data.negative[i])) return;
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
      return !judge_.data.negative[i] && is_whole(2 * powers[i]) && !is_whole(powers[i]);
    };
    for (std::size_t i = 0; i < judge_.data.inputs; ++i) {
      for (std::size_t j = i + 1; j < judge_.data.inputs; ++j) {
        if (!is_root(i) || !is_root(j)) continue;
        const double ratio = std::sqrt(judge_.data.x_scale[j] / judge_.data.x_scale[i]);
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
    for (std::size_t i = 0; i < judge_.data.inputs; ++i) {
      for (const double step : {1.0, -1.0, 0.5, -0.5, 2.0, -2.0}) {
        Form other = form_;
        double& power = select(other)[i];
        power += step;
        if (std::fabs(power) > 6 || !allowed(power, judge_.data.negative[i])) continue;
        result_.push_back(std::move(other));
      }
      // A column in the place of another.
      Form without = form_;
      if (const double power = select(without)[i]; power != 0) {
        for (std::size_t k = 0; k < judge_.data.inputs; ++k) {
          Form other = form_;
          PowerList& powers = select(other);
          if (powers[k] != 0 || !allowed(power, judge_.data.negative[k])) continue;
          powers[i] = 0;
          powers[k] = power;
          result_.push_back(std::move(other));
        }
      }
    }
  }

  const Form& form_;
  const Judge& judge_;
  std::vector<Form> result_;
};

bool uses(const Form& form, std::size_t column) {
  const auto has_it = [column](const auto& part) { return part.powers[column] != 0; };
  return std::any_of(form.products.begin(), form.products.end(), has_it) ||
         std::any_of(form.sums.begin(), form.sums.end(),
                     [&](const InnerSum& sum) { return std::any_of(sum.terms.begin(), sum.terms.end(), has_it); });
}

// Goes on with the shortest description among these, if it is shorter by more than the margin. False if none is, or
// there is no time left to look.
bool take_best(const Judge& judge, std::vector<Form> changed, int steps, double margin, int threads,
               const std::function<bool()>& stop, Scored& scored) {
  std::vector<std::optional<Scored>> measured(changed.size());
  parallel_for(static_cast<int>(changed.size()), threads, [&](int k) {
    const auto place = static_cast<std::size_t>(k);
    if (!stop || !stop()) measured[place] = judge.measure(std::move(changed[place]), steps);
  });
  if (stop && stop()) return false;
  Scored best{{}, 0, scored.length};
  for (std::optional<Scored>& other : measured) {
    if (other && other->length < best.length - margin) best = std::move(*other);
  }
  if (!(best.length < scored.length)) return false;
  scored = std::move(best);
  return true;
}

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

std::optional<Scored> Judge::measure(Form form, int steps) const {
  if (!normalise(form, data.negative)) return std::nullopt;
  // The root of a half power is a quarter power, which the search does not round to.
  if (powers != Powers::Any && !has_half_powers(form)) return std::nullopt;
  if (static_cast<std::size_t>(free_count(form)) + 1 > rows.size() / 2) return std::nullopt;
  for (const std::string& name : use) {
    if (!uses(form, data.position(name))) return std::nullopt;
  }
  const std::optional<Refit> fitted = refit(form, data, rows, steps);
  if (!fitted) return std::nullopt;
  const double length = description_length(form, fitted->mse, rows.size()) + cost_of_units(form, data.units);
  return Scored{std::move(form), fitted->mse, length, fitted->deviations};
}

namespace {

// The forms with a term less whose number is small beside its standard error. Of many terms the others cost a refit
// each, and would raise the error more.
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

}  // namespace

void prune(const Judge& judge, Scored& scored) {
  while (take_best(judge, without_a_doubtful_term(scored), 6, 0, 1, nullptr, scored)) {
  }
}

namespace {

// Of many changes those that do best on a quarter of the rows, or on fewer where there are many. What helps much helps
// there too.
std::vector<Form> promising(const Judge& coarse, std::vector<Form> changed, std::size_t count, int threads,
                            const std::function<bool()>& stop) {
  std::vector<double> lengths(changed.size(), infinity);
  parallel_for(static_cast<int>(changed.size()), threads, [&](int k) {
    const auto place = static_cast<std::size_t>(k);
    if (stop && stop()) return;
    if (const std::optional<Scored> scored = coarse.measure(changed[place], 4)) lengths[place] = scored->length;
  });
  std::vector<Form> result;
  for (const std::size_t k : ranked(lengths))
    if (result.size() < count && std::isfinite(lengths[k])) result.push_back(std::move(changed[k]));
  return result;
}

}  // namespace

namespace {

Rows some_of(const Rows& rows, std::size_t at_most) {
  Rows some;
  for (std::size_t k = 0; k < rows.size(); k += std::max<std::size_t>(4, rows.size() / at_most)) {
    some.x.push_back(rows.x[k]);
    some.y.push_back(rows.y[k]);
    if (!rows.weight.empty()) some.weight.push_back(rows.weight[k]);
  }
  return some;
}

// Small changes that were not seen before; of many, those that look promising on some of the rows.
std::vector<Form> changes(const Judge& judge, const Rows& some, const Form& form, std::set<std::string>& seen,
                          std::size_t count, int threads, const std::function<bool()>& stop) {
  std::vector<Form> unseen;
  for (Form& other : Changes(form, judge).all()) {
    if (normalise(other, judge.data.negative) && seen.insert(key_of(other)).second) unseen.push_back(std::move(other));
  }
  if (some.size() < fewest_rows_to_sift || unseen.size() <= 2 * count) return unseen;
  return promising({judge.data, some, judge.powers, judge.use}, std::move(unseen), count, threads, stop);
}

}  // namespace

void climb(const Judge& judge, Scored& scored, int threads, const std::function<bool()>& stop) {
  const Rows some = some_of(judge.rows, most_to_sift);
  std::set<std::string> seen{key_of(scored.form)};
  for (int k = 0; k < most_climbs; ++k) {
    std::vector<Form> changed = changes(judge, some, scored.form, seen, most_promising, threads, stop);
    if (!take_best(judge, std::move(changed), 8, 0.01, threads, stop, scored)) return;
    prune(judge, scored);
  }
}

std::vector<Scored> neighbours_of(const Judge& judge, const Form& form, int threads,
                                  const std::function<bool()>& stop) {
  std::set<std::string> seen{key_of(form)};
  std::vector<Form> changed =
      changes(judge, some_of(judge.rows, 4 * most_to_sift), form, seen, 2 * most_promising, threads, stop);
  std::vector<std::optional<Scored>> measured(changed.size());
  parallel_for(static_cast<int>(changed.size()), threads, [&](int k) {
    const auto place = static_cast<std::size_t>(k);
    if (!stop || !stop()) measured[place] = judge.measure(std::move(changed[place]), 8);
  });
  std::vector<Scored> result;
  for (std::optional<Scored>& scored : measured)
    if (scored) result.push_back(std::move(*scored));
  return result;
}

}  // namespace nalm::fitting
