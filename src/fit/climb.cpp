#include "fit/climb.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace nalm::fitting {

namespace {

constexpr int most_climbs = 12;

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

class Changes {
 public:
  Changes(const Form& form, const Judge& judge) : form_(form), judge_(judge) {}

  std::vector<Form> all() {
    result_ = with_a_term_less(form_);
    for (std::size_t p = 0; p < form_.products.size(); ++p) {
      change_powers([p](Form& f) -> PowerList& { return f.products[p].powers; });
      for (std::size_t k = 0; k < form_.products[p].sums.size(); ++k) {
        for (const double power : {1.0, -1.0, 0.5, -0.5, 2.0, -2.0}) {
          if (!allowed(power, false)) continue;
          Form other = form_;
          other.products[p].sums[k].second = power;
          result_.push_back(std::move(other));
        }
      }
    }
    for (std::size_t s = 0; s < form_.sums.size(); ++s) {
      for (std::size_t t = 0; t < form_.sums[s].terms.size(); ++t) {
        change_powers([s, t](Form& f) -> PowerList& { return f.sums[s].terms[t].powers; });
      }
      add_constant(s);
    }
    add_offset();
    return std::move(result_);
  }

 private:
  bool allowed(double power, bool whole) const {
    return is_whole(power) || (judge_.powers != Powers::Integer && !whole);
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

  void add_constant(std::size_t s) {
    Form other = form_;
    other.sums[s].terms.push_back({{0.1, true}, PowerList(judge_.data.inputs, 0.0)});
    result_.push_back(std::move(other));
  }

  void add_offset() {
    Form other = form_;
    other.products.push_back({{0.1 * judge_.data.y_scale, true}, PowerList(judge_.data.inputs, 0.0), {}});
    result_.push_back(std::move(other));
  }

  const Form& form_;
  const Judge& judge_;
  std::vector<Form> result_;
};

bool uses(const Form& form, std::size_t column) {
  for (const Product& product : form.products) {
    if (product.powers[column] != 0) return true;
  }
  for (const InnerSum& sum : form.sums) {
    for (const Term& term : sum.terms) {
      if (term.powers[column] != 0) return true;
    }
  }
  return false;
}

}  // namespace

bool Judge::measure(Form& form, double& mse, double& length, int steps) const {
  if (!normalise(form, data.negative)) return false;
  if (static_cast<std::size_t>(free_count(form)) + 1 > rows.size() / 2) return false;
  for (const std::string& name : use) {
    const auto column = std::find(data.columns.begin(), data.columns.end(), name) - data.columns.begin();
    if (!uses(form, static_cast<std::size_t>(column))) return false;
  }
  Refit result;
  if (!refit(form, data, rows, steps, result)) return false;
  mse = result.mse;
  length = description_length(form, mse, rows.size());
  return true;
}

void prune(const Judge& judge, Form& form, double& mse, double& length) {
  for (;;) {
    Form best;
    double best_mse = 0, best_length = length;
    for (Form& other : with_a_term_less(form)) {
      double other_mse = 0, other_length = 0;
      if (!judge.measure(other, other_mse, other_length, 6) || !(other_length < best_length)) continue;
      best = std::move(other), best_mse = other_mse, best_length = other_length;
    }
    if (!(best_length < length)) return;
    form = std::move(best), mse = best_mse, length = best_length;
  }
}

void climb(const Judge& judge, Form& form, double& mse, double& length, const std::function<bool()>& stop) {
  std::set<std::string> seen{key_of(form)};
  for (int k = 0; k < most_climbs; ++k) {
    Form best;
    double best_mse = 0, best_length = length;
    for (Form& other : Changes(form, judge).all()) {
      if (stop && stop()) return;
      Form tidy = other;
      if (!normalise(tidy, judge.data.negative) || !seen.insert(key_of(tidy)).second) continue;
      double other_mse = 0, other_length = 0;
      if (!judge.measure(tidy, other_mse, other_length, 8) || !(other_length < best_length - 0.01)) continue;
      best = std::move(tidy), best_mse = other_mse, best_length = other_length;
    }
    if (!(best_length < length)) return;
    form = std::move(best), mse = best_mse, length = best_length;
    prune(judge, form, mse, length);
  }
}

}  // namespace nalm::fitting
