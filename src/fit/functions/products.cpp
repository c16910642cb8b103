#include "fit/functions/products.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>

#include "base/threads.hpp"
#include "fit/functions/factors.hpp"
#include "nalm/detail/portable.hpp"
#include "numeric/linear_algebra.hpp"

namespace nalm::fitting {

using namespace numeric;

namespace {

constexpr std::size_t rows_of_a_pursuit = 144, most_columns_of_an_argument = 5, most_picked = 3;
constexpr std::size_t first_picks = 8, second_picks = 2, most_exchanged = 4;

class Pursuit {
 public:
  Pursuit(const View& view, const FitOptions& options, std::size_t first_row, bool thorough)
      : view_(view), options_(options), thorough_(thorough) {
    const Data& data = view.data;
    const std::size_t count = std::min(rows_of_a_pursuit, data.train.size());
    std::vector<double> sizes;
    for (std::size_t k = 0; k < count; ++k) {
      rows_.push_back(data.train[(k * data.train.size() / count + first_row) % data.train.size()]);
      sizes.push_back(std::fabs(data.y[rows_.back()]) * data.weight_of(rows_.back()));
    }
    std::vector<double> sorted = sizes;
    std::sort(sorted.begin(), sorted.end());
    const double small = 0.1 * sorted[sorted.size() / 2];
    // Small targets have large errors in their logarithms.
    for (std::size_t k = 0; k < count; ++k) {
      weight_.push_back(sizes[k] > 0 ? sizes[k] / (sizes[k] + small) : 0);
      target_.push_back(weight_[k] > 0 ? weight_[k] * portable::log(std::fabs(data.y[rows_[k]])) : 0);
    }
    directions_.clear();
    add_direction(weight_);
    for (std::size_t i = 0; i < data.inputs; ++i) {  // atoms that the view has too
      Vector logarithms;
      for (std::size_t k = 0; k < count; ++k)
        logarithms.push_back(portable::log(std::fabs(data.row(rows_[k])[i])) * weight_[k]);
      if (all_finite(logarithms))
        add_direction(logarithms), columns_.push_back(i), of_columns_.push_back(std::move(logarithms));
    }
    collect_entries();
  }

  ProductsWithFunctions run() {
    std::vector<Found> found;
    const Vector left = residual(directions_);
    ProductsWithFunctions result;
    for (const std::size_t a : best(left, {}, first_picks)) {
      pursue({a}, found);
      if (entries_[a].shape == Shape::Plain)
        result.atoms.push_back({std::string(entries_[a].function), entries_[a].argument, true});
    }
    std::stable_sort(leaves_.begin(), leaves_.end(), [](const Leaf& a, const Leaf& b) { return a.share < b.share; });
    if (leaves_.size() > most_exchanged) leaves_.resize(most_exchanged);
    for (const Leaf& leaf : leaves_) exchange(leaf.picked, leaf.share, found);
    std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.score < b.score; });
    for (const Found& f : found)
      if (std::optional<Form> form = form_of(f.picked)) result.forms.push_back(std::move(*form));
    return result;
  }

 private:
  struct Found {
    std::vector<std::size_t> picked;
    double score;
  };
  struct Leaf {
    std::vector<std::size_t> picked;
    double share;  // of the target that is left
  };

  // ---- entries ----

  void collect_entries() {
    const std::vector<InnerSum> arguments = arguments_of(view_.columns(), thorough_ ? most_columns_of_an_argument : 3);
    std::vector<std::vector<Entry>> of_argument(arguments.size());
    parallel_for(static_cast<int>(arguments.size()), options_.threads, [&](int a) {
      const auto place = static_cast<std::size_t>(a);
      of_argument[place] = entries_of(arguments[place], view_.data, rows_, weight_, options_.functions);
    });
    for (std::vector<Entry>& some : of_argument)
      for (Entry& entry : some) entries_.push_back(std::move(entry));
    for (std::size_t a = 0; a < view_.columns(); ++a) {
      for (std::size_t b = a + 1; b < view_.columns(); ++b) {
        for (const double sign : {-1.0, 1.0}) {
          Entry entry{Shape::Sum,
                      "",
                      {{{{1, false}, power_of_column(view_.columns(), a, 1)},
                        {{sign, true}, power_of_column(view_.columns(), b, 1)}}},
                      {}};
          for (std::size_t k = 0; k < rows_.size(); ++k) {
            const double* x = view_.data.row(rows_[k]);
            entry.values.push_back(weight_[k] * portable::log(std::fabs(x[a] + sign * x[b])));
          }
          if (all_finite(entry.values)) entries_.push_back(std::move(entry));
        }
      }
    }
    entries_left_.resize(entries_.size());
    parallel_for(static_cast<int>(entries_.size()), options_.threads, [&](int e) {
      const auto place = static_cast<std::size_t>(e);
      Vector rest = entries_[place].values;
      const double whole = dot(rest, rest);
      for (const Vector& q : directions_) take_away(rest, q);
      const double left = dot(rest, rest);
      entries_left_[place] = left > 1e-8 * whole ? left : 0;
    });
  }

  // ---- the pursuit ----

  void add_direction(Vector v) {
    const double whole = dot(v, v);
    for (const Vector& q : directions_) take_away(v, q);
    const double left = dot(v, v);
    if (!(left > 1e-12 * whole)) return;
    for (double& value : v) value /= std::sqrt(left);
    directions_.push_back(std::move(v));
  }

  Vector residual(const std::vector<Vector>& directions) const {
    Vector left = target_;
    for (const Vector& q : directions) take_away(left, q);
    return left;
  }

  // How much of an entry is left beside the columns and further directions.
  double rest_of(std::size_t e, std::span<const Vector> further) const {
    double rest = entries_left_[e];
    for (const Vector& v : further) {
      if (rest <= 0) return 0;
      const double along = dot(entries_[e].values, v);
      rest -= along * along;
      if (rest < 1e-6 * entries_left_[e]) rest = 0;
    }
    return rest;
  }

  // Entries that explain most of what is left. All of them are looked at once: reading them takes longer than
  // computing.
  std::vector<std::size_t> best(const Vector& left, std::span<const Vector> further, std::size_t count) const {
    std::vector<double> gain(entries_.size(), 0.0);
    parallel_for(static_cast<int>(entries_.size()), options_.threads, [&](int e) {
      const auto place = static_cast<std::size_t>(e);
      const double rest = rest_of(place, further);
      if (rest <= 0) return;
      const double product = dot(entries_[place].values, left);
      gain[place] = -product * product / rest;
    });
    std::vector<std::size_t> order(entries_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(count, order.size()));
    std::partial_sort(order.begin(), end, order.end(),
                      [&](std::size_t a, std::size_t b) { return gain[a] < gain[b] || (gain[a] == gain[b] && a < b); });
    order.erase(end, order.end());
    return order;
  }

  // The directions of the columns, and those that these entries add.
  std::optional<std::vector<Vector>> directions_with(const std::vector<std::size_t>& picked) const {
    std::vector<Vector> directions = directions_;
    for (const std::size_t e : picked) {
      Vector v = entries_[e].values;
      for (const Vector& q : directions) take_away(v, q);
      const double length = std::sqrt(dot(v, v));
      if (!(length > 0)) return std::nullopt;
      for (double& value : v) value /= length;
      directions.push_back(std::move(v));
    }
    return directions;
  }
  std::span<const Vector> further(const std::vector<Vector>& directions) const {
    return std::span(directions).subspan(directions_.size());
  }

  void pursue(const std::vector<std::size_t>& picked, std::vector<Found>& found) {
    const std::optional<std::vector<Vector>> directions = directions_with(picked);
    if (!directions) return;
    const Vector left = residual(*directions);
    const double share = dot(left, left) / std::max(dot(target_, target_), 1e-300);
    // A further factor must explain much to be worth its description.
    found.push_back({picked, portable::log(share + 1e-28) + 0.3 * static_cast<double>(picked.size())});
    if (share < 1e-24 || !thorough_) return;
    if (picked.size() == most_picked) {
      leaves_.push_back({picked, share});
      return;
    }
    for (const std::size_t e : best(left, further(*directions), picked.size() == 1 ? second_picks : 1)) {
      std::vector<std::size_t> more = picked;
      more.push_back(e);
      pursue(more, found);
    }
  }

  // Each in turn is given up for the best in its place, as long as that helps.
  void exchange(std::vector<std::size_t> picked, double share, std::vector<Found>& found) const {
    for (std::size_t unchanged = 0, k = 0; unchanged < picked.size() && share > 1e-24;
         k = (k + 1) % picked.size(), ++unchanged) {
      std::vector<std::size_t> others = picked;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(k));
      const std::optional<std::vector<Vector>> directions = directions_with(others);
      if (!directions) return;
      const Vector left = residual(*directions);
      const std::size_t other = best(left, further(*directions), 1)[0];
      const double rest = rest_of(other, further(*directions));
      if (rest <= 0) return;
      const double along = dot(entries_[other].values, left);
      const double now = (dot(left, left) - along * along / rest) / std::max(dot(target_, target_), 1e-300);
      if (!(now < 0.999 * share)) continue;
      share = std::max(now, 0.0), picked[k] = other, unchanged = 0;
    }
    found.push_back({picked, portable::log(share + 1e-28) + 0.3 * static_cast<double>(picked.size())});
  }

  // ---- forms ----

  // By a power of an argument: a product, or a difference of two columns with a common factor.
  static void divide_by(const InnerSum& argument, double power, Product& product, Form& form) {
    InnerSum sum = argument;
    PowerList common = sum.terms[0].powers;
    for (const Term& term : sum.terms)
      for (std::size_t i = 0; i < common.size(); ++i)
        if (term.powers[i] != common[i]) common[i] = 0;
    for (std::size_t i = 0; i < common.size(); ++i) product.powers[i] -= power * common[i];
    if (sum.terms.size() == 1) return;
    for (std::size_t t = 0; t < sum.terms.size(); ++t) {
      add_powers(sum.terms[t].powers, common, -1);
      sum.terms[t].coefficient = {t == 0 ? 1.0 : -1.0, t > 0};
    }
    product.sums.push_back({form.sums.size(), -power});
    form.sums.push_back(std::move(sum));
  }

  std::optional<Form> form_of(const std::vector<std::size_t>& picked) const {
    const std::size_t I = view_.data.inputs;
    Matrix A(rows_.size(), columns_.size() + picked.size() + 1);
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      for (std::size_t i = 0; i < columns_.size(); ++i) A(k, i) = of_columns_[i][k];
      for (std::size_t e = 0; e < picked.size(); ++e) A(k, columns_.size() + e) = entries_[picked[e]].values[k];
      A(k, A.columns - 1) = weight_[k];
    }
    const Vector factors = least_squares(A, target_);
    if (!all_finite(factors)) return std::nullopt;
    const auto half = [&](double power) { return std::round(2 * power) / 2; };
    Form form;
    form.atoms = view_.atoms;
    const std::size_t columns = view_.columns();
    Atom exponential{"exp", {}, false};
    std::vector<std::pair<std::size_t, double>> of_atoms;  // which, and its power
    std::vector<std::pair<std::size_t, Shape>> shaped;     // atoms that stand in sums
    Product product{{1, true}, PowerList(I, 0.0), {}};
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const double power = view_.data.negative[columns_[i]] ? std::round(factors[i]) : half(factors[i]);
      if (std::fabs(power) > 6) return std::nullopt;
      product.powers[columns_[i]] = power;
    }
    for (std::size_t e = 0; e < picked.size(); ++e) {
      const Entry& entry = entries_[picked[e]];
      const double found = factors[columns_.size() + e], power = half(found);
      if (entry.shape == Shape::Exponent) {
        for (const Term& term : times(entry.argument, found).terms) exponential.argument.terms.push_back(term);
        continue;
      }
      if (power == 0 || std::fabs(power) > 6) return std::nullopt;
      if (entry.shape == Shape::Sum) {
        product.sums.push_back({form.sums.size(), power});
        form.sums.push_back(entry.argument);
        continue;
      }
      form.atoms.push_back({std::string(entry.function), entry.argument, true});
      if (entry.shape == Shape::OverArgument) divide_by(entry.argument, power, product, form);
      if (entry.shape == Shape::Plain || entry.shape == Shape::OverArgument) {
        of_atoms.push_back({form.atoms.size() - 1, power});
      } else {
        product.sums.push_back({form.sums.size(), power});
        shaped.push_back({form.atoms.size() - 1, entry.shape});
        form.sums.emplace_back();
      }
    }
    if (!exponential.argument.terms.empty()) {
      of_atoms.push_back({form.atoms.size(), 1});
      form.atoms.push_back(std::move(exponential));
    }
    // Powers of all columns, with the atoms behind them.
    const std::size_t all = columns + form.atoms.size();
    product.powers.resize(all, 0.0);
    for (InnerSum& sum : form.sums)
      for (Term& term : sum.terms) term.powers.resize(all, 0.0);
    for (const auto& [atom, power] : of_atoms) product.powers[columns + atom] = power;
    std::size_t next = 0;
    for (InnerSum& sum : form.sums) {
      if (!sum.terms.empty()) continue;
      const auto [atom, shape] = shaped[next++];
      sum.terms.push_back({{1, false}, power_of_column(all, columns + atom, 1)});
      if (shape == Shape::PlusInverse) {
        sum.terms.push_back({{1, true}, power_of_column(all, columns + atom, -1)});
      } else {
        sum.terms.push_back({{shape == Shape::PlusOne ? 1.0 : -1.0, true}, PowerList(all, 0.0)});
      }
    }
    form.products.push_back(std::move(product));
    return form;
  }

  const View& view_;
  const FitOptions& options_;
  const bool thorough_;
  std::vector<std::size_t> rows_, columns_;
  Vector weight_, target_;
  std::vector<Vector> directions_, of_columns_;
  std::vector<Entry> entries_;
  Vector entries_left_;
  std::vector<Leaf> leaves_;
};

}  // namespace

ProductsWithFunctions products_with_functions(const View& view, const FitOptions& options, std::size_t first_row,
                                              bool thorough) {
  return Pursuit(view, options, first_row, thorough).run();
}

}  // namespace nalm::fitting
