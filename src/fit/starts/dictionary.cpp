#include "fit/starts/dictionary.hpp"

#include <cmath>

#include "nalm/detail/portable.hpp"

namespace nalm::fitting {

using namespace numeric;

namespace {

struct Choice {
  double power, cost;
};
constexpr Choice whole_powers[] = {{1, 1}, {-1, 1.3}, {2, 1.5}, {-2, 1.9}, {3, 2.1}, {-3, 2.5}, {4, 2.6}, {-4, 3}};
constexpr Choice half_powers[] = {{0.5, 1.9}, {-0.5, 2.1}, {1.5, 2.3}, {-1.5, 2.6}};
constexpr std::size_t most_columns = 5;

// All products up to a cost.
class Enumeration {
 public:
  Enumeration(const Data& data, Powers allowed, double limit, std::size_t at_most)
      : data_(data), limit_(limit), at_most_(at_most), powers_(data.inputs, 0.0) {
    for (std::size_t i = 0; i < data.inputs; ++i) {
      std::vector<Choice> choices(std::begin(whole_powers), std::end(whole_powers));
      if (allowed != Powers::Integer && !data.negative[i]) {
        choices.insert(choices.end(), std::begin(half_powers), std::end(half_powers));
      }
      choices_.push_back(std::move(choices));
    }
    extend(0, 0, 0);
  }

  bool overflowed() const { return found.size() > at_most_; }
  std::vector<std::pair<double, PowerList>> found;

 private:
  void extend(std::size_t column, std::size_t used, double cost) {
    if (overflowed()) return;
    if (column == data_.inputs) {
      if (used > 0) found.push_back({cost, powers_});
      return;
    }
    extend(column + 1, used, cost);
    if (used == most_columns) return;
    for (const Choice& choice : choices_[column]) {
      if (cost + choice.cost > limit_) continue;
      powers_[column] = choice.power;
      extend(column + 1, used + 1, cost + choice.cost);
    }
    powers_[column] = 0;
  }

  const Data& data_;
  double limit_;
  std::size_t at_most_;
  PowerList powers_;
  std::vector<std::vector<Choice>> choices_;
};

std::vector<PowerList> simplest_products(const Data& data, Powers allowed, std::size_t at_most) {
  std::vector<std::pair<double, PowerList>> found;
  for (double limit = 1; limit < 14; limit += 0.25) {
    Enumeration next(data, allowed, limit, 2 * at_most);
    if (next.overflowed()) break;
    found = std::move(next.found);
    if (found.size() >= at_most) break;
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (found.size() > at_most) found.resize(at_most);
  std::vector<PowerList> result;
  for (auto& [cost, powers] : found) result.push_back(std::move(powers));
  return result;
}

}  // namespace

Dictionary::Dictionary(const Data& data, const std::vector<std::size_t>& rows, Powers allowed, std::size_t at_most)
    : rows_(rows.size()) {
  for (const std::size_t r : rows) {
    target_.push_back(data.y[r] / data.y_scale);
    weight_.push_back(data.weight_of(r));
  }
  std::vector<double> entry(rows_);
  for (PowerList& powers : simplest_products(data, allowed, at_most)) {
    std::fill(entry.begin(), entry.end(), 1.0);
    bool finite = true;
    for (std::size_t i = 0; i < data.inputs; ++i) {
      if (powers[i] == 0) continue;
      for (std::size_t k = 0; k < rows_; ++k)
        entry[k] *= portable::pow(data.row(rows[k])[i] / data.x_scale[i], powers[i]);
    }
    for (const double value : entry) finite = finite && std::fabs(value) < 1e100;
    if (!finite) continue;
    whole_.push_back(std::all_of(powers.begin(), powers.end(), [](double p) { return fitting::is_whole(p); }));
    powers_.push_back(std::move(powers));
    values_.insert(values_.end(), entry.begin(), entry.end());
  }
}

Dictionary::Dictionary(const Dictionary& plain, const std::vector<std::vector<double>>& factors) : Dictionary(plain) {
  for (const std::vector<double>& factor : factors) {
    powers_.emplace_back(powers_[0].size(), 0.0);  // the factor alone
    whole_.push_back(true);
    values_.insert(values_.end(), factor.begin(), factor.end());
    for (std::size_t j = 0; j < plain.size(); ++j) {
      powers_.push_back(plain.powers(j));
      whole_.push_back(plain.is_whole(j));
      for (std::size_t k = 0; k < rows_; ++k) values_.push_back(plain.values(j)[k] * factor[k]);
    }
  }
}

Goal goal_for(const Dictionary& dictionary, double power, const std::vector<double>& factor) {
  Goal goal;
  for (std::size_t k = 0; k < dictionary.rows(); ++k) {
    const double rest = dictionary.target()[k] / factor[k];
    goal.target.push_back(portable::pow(rest, power));
    goal.weights.push_back(std::fabs(factor[k] * portable::pow(rest, 1 - power) / power) * dictionary.weight()[k]);
    const bool by_noise = std::fabs(power) != 1 && !(rest > 0);
    if (by_noise || !std::isfinite(goal.target[k]) || !std::isfinite(goal.weights[k]))
      goal.target[k] = goal.weights[k] = 0;
  }
  return goal;
}

void find_factors(Picked& picked, const Dictionary& dictionary, const Goal& goal) {
  Matrix A(dictionary.rows(), picked.plain.size() + 1);
  Vector b(dictionary.rows());
  for (std::size_t k = 0; k < dictionary.rows(); ++k) {
    A(k, 0) = goal.weights[k];
    b[k] = goal.weights[k] * goal.target[k];
    for (std::size_t t = 0; t < picked.plain.size(); ++t) {
      A(k, t + 1) = dictionary.values(picked.plain[t])[k] * goal.weights[k];
    }
  }
  const Vector factors = least_squares(A, b);
  picked.constant = factors[0];
  picked.plain_factors.assign(factors.begin() + 1, factors.end());
}

std::size_t draw(const std::vector<std::size_t>& ranking, bool chance, Xoshiro& random) {
  const std::size_t places = std::min<std::size_t>(12, ranking.size());
  return ranking[chance ? std::min(random.below(places), random.below(places)) : 0];
}

}  // namespace nalm::fitting
