#include "fit/dictionary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <Eigen/Dense>

namespace nalm::fitting {

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
  for (const std::size_t r : rows) target_.push_back(data.y[r] / data.y_scale);
  std::vector<double> entry(rows_);
  for (PowerList& powers : simplest_products(data, allowed, at_most)) {
    std::fill(entry.begin(), entry.end(), 1.0);
    bool finite = true;
    for (std::size_t i = 0; i < data.inputs; ++i) {
      if (powers[i] == 0) continue;
      for (std::size_t k = 0; k < rows_; ++k) entry[k] *= std::pow(data.row(rows[k])[i] / data.x_scale[i], powers[i]);
    }
    for (const double value : entry) finite = finite && std::fabs(value) < 1e100;
    if (!finite) continue;
    powers_.push_back(std::move(powers));
    values_.insert(values_.end(), entry.begin(), entry.end());
  }
}

Goal goal_for_power(const Dictionary& dictionary, double power) {
  Goal goal;
  for (const double y : dictionary.target()) {
    goal.target.push_back(std::pow(y, power));
    goal.weights.push_back(std::fabs(std::pow(y, 1 - power) / power));  // errors of y, not of its power, count
  }
  for (std::size_t k = 0; k < goal.target.size(); ++k) {
    if (!std::isfinite(goal.target[k]) || !std::isfinite(goal.weights[k])) goal.target[k] = goal.weights[k] = 0;
  }
  return goal;
}

Goal goal_for_ratio(const Dictionary& dictionary) {
  Goal goal;
  goal.target = dictionary.target();
  goal.weights.assign(goal.target.size(), 1.0);
  goal.ratio = true;
  return goal;
}

namespace {

double dot(const double* a, const double* b, std::size_t n) {
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  std::size_t k = 0;
  for (; k + 4 <= n; k += 4) {
    s0 += a[k] * b[k], s1 += a[k + 1] * b[k + 1], s2 += a[k + 2] * b[k + 2], s3 += a[k + 3] * b[k + 3];
  }
  for (; k < n; ++k) s0 += a[k] * b[k];
  return (s0 + s1) + (s2 + s3);
}

// Orthogonal matching pursuit. For every entry it keeps its product with the residual, and the square of what is left
// of it after taking away what the picked entries span; one pass over the dictionary per pick keeps both up to date.
class Pursuit {
 public:
  Pursuit(const Dictionary& dictionary, const Goal& goal) : d_(dictionary), goal_(goal), n_(dictionary.rows()) {
    const std::size_t total = d_.size() * (goal.ratio ? 2 : 1);
    whole_.resize(total);
    left_.resize(total);
    products_.resize(total);
    weighted_.resize(n_);
    scratch_.resize(n_);
    for (std::size_t j = 0; j < total; ++j) {
      fill(j, scratch_);
      whole_[j] = dot(scratch_.data(), scratch_.data(), n_);
    }
    for (std::size_t k = 0; k < n_; ++k) weighted_[k] = goal.target[k] * goal.weights[k];
    size_ = dot(weighted_.data(), weighted_.data(), n_);
  }

  std::size_t total() const { return whole_.size(); }
  bool is_times_target(std::size_t j) const { return j >= d_.size(); }

  // Starts afresh with the constant and these entries.
  void reset(const std::vector<std::size_t>& entries) {
    left_ = whole_;
    residual_ = weighted_;
    basis_.clear();
    for (std::size_t j = 0; j < total(); ++j) products_[j] = 0;
    project_all(residual_, products_);
    span(goal_.weights);
    for (const std::size_t j : entries) add(j);
  }

  void add(std::size_t j) {
    fill(j, scratch_);
    span(scratch_);
  }

  double unexplained() const { return size_ > 0 ? dot(residual_.data(), residual_.data(), n_) / size_ : 0; }

  double gain(std::size_t j) const {
    if (!(left_[j] > 1e-9 * whole_[j])) return 0;
    return products_[j] * products_[j] / left_[j];
  }

  // Weighted values of an entry.
  void fill(std::size_t j, std::vector<double>& out) const {
    const double* values = d_.values(j % d_.size());
    for (std::size_t k = 0; k < n_; ++k) {
      out[k] = values[k] * goal_.weights[k] * (is_times_target(j) ? goal_.target[k] : 1);
    }
  }

 private:
  // to[j] = entry j * v
  void project_all(const std::vector<double>& v, std::vector<double>& to) {
    std::vector<double> a(n_), b(n_);
    for (std::size_t k = 0; k < n_; ++k) a[k] = v[k] * goal_.weights[k], b[k] = a[k] * goal_.target[k];
    const std::size_t m = d_.size();
    for (std::size_t j = 0; j < m; ++j) {
      to[j] = dot(d_.values(j), a.data(), n_);
      if (goal_.ratio) to[m + j] = dot(d_.values(j), b.data(), n_);
    }
  }

  void span(std::vector<double> v) {
    const double before = dot(v.data(), v.data(), n_);
    for (int pass = 0; pass < 2; ++pass) {
      for (const std::vector<double>& q : basis_) {
        const double along = dot(q.data(), v.data(), n_);
        for (std::size_t k = 0; k < n_; ++k) v[k] -= along * q[k];
      }
    }
    const double length = std::sqrt(dot(v.data(), v.data(), n_));
    if (!(length * length > 1e-14 * before)) return;
    for (double& x : v) x /= length;
    const double along = dot(v.data(), residual_.data(), n_);
    for (std::size_t k = 0; k < n_; ++k) residual_[k] -= along * v[k];
    std::vector<double> shares(total());
    project_all(v, shares);
    for (std::size_t j = 0; j < total(); ++j) {
      left_[j] -= shares[j] * shares[j];
      products_[j] -= shares[j] * along;
    }
    basis_.push_back(std::move(v));
  }

  const Dictionary& d_;
  const Goal& goal_;
  std::size_t n_;
  std::vector<double> whole_, left_, products_;
  std::vector<double> weighted_, residual_, scratch_;
  std::vector<std::vector<double>> basis_;
  double size_ = 0;
};

// One of the best few entries of a kind that are not taken yet.
std::size_t choose(const Pursuit& pursuit, bool times_target, std::size_t entries, const std::vector<std::size_t>& taken,
                   std::size_t among, Xoshiro& random) {
  std::vector<std::pair<double, std::size_t>> best;
  const std::size_t first = times_target ? entries : 0;
  for (std::size_t j = first; j < first + entries; ++j) {
    const double gain = pursuit.gain(j);
    if (best.size() == among && gain <= best.back().first) continue;
    if (std::find(taken.begin(), taken.end(), j) != taken.end()) continue;
    if (best.size() == among) best.pop_back();
    const auto place = std::find_if(best.begin(), best.end(), [&](const auto& b) { return gain > b.first; });
    best.insert(place, {gain, j});
  }
  return best[among > 1 ? random.below(best.size()) : 0].second;
}

}  // namespace

Picked pick(const Dictionary& dictionary, const Goal& goal, int plain, int times_target, bool chance, Xoshiro& random) {
  const std::size_t m = dictionary.size();
  Pursuit pursuit(dictionary, goal);
  // In which order the two kinds are picked is chance as well.
  std::vector<bool> kinds;
  for (int k = 0; k < plain; ++k) kinds.push_back(false);
  for (int k = 0; k < times_target; ++k) kinds.push_back(true);
  for (std::size_t k = kinds.size(); chance && k-- > 1;) {
    const std::size_t other = random.below(k + 1);
    const bool kept = kinds[k];
    kinds[k] = kinds[other];
    kinds[other] = kept;
  }
  std::vector<std::size_t> taken;
  pursuit.reset({});
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    // The first is picked from many: once one is right, the others follow.
    const std::size_t among = !chance ? 1 : k == 0 ? 40 : 2;
    const std::size_t j = choose(pursuit, kinds[k], m, taken, std::min(among, m), random);
    taken.push_back(j);
    pursuit.add(j);
  }
  // Each in turn is given up for the best in its place, until nothing changes.
  for (int pass = 0; pass < 3 && kinds.size() > 1 && pursuit.unexplained() > 1e-18; ++pass) {
    bool changed = false;
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      std::vector<std::size_t> others = taken;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(k));
      pursuit.reset(others);
      const std::size_t j = choose(pursuit, kinds[k], m, others, 1, random);
      pursuit.add(j);
      changed = changed || j != taken[k];
      taken[k] = j;
    }
    if (!changed) break;
  }
  // The factors.
  const Eigen::Index n = static_cast<Eigen::Index>(dictionary.rows());
  Eigen::MatrixXd A(n, static_cast<Eigen::Index>(taken.size()) + 1);
  Eigen::VectorXd b(n);
  std::vector<double> column(dictionary.rows());
  for (Eigen::Index k = 0; k < n; ++k) {
    const std::size_t row = static_cast<std::size_t>(k);
    A(k, 0) = goal.weights[row];
    b(k) = goal.weights[row] * goal.target[row];
  }
  for (std::size_t t = 0; t < taken.size(); ++t) {
    pursuit.fill(taken[t], column);
    for (Eigen::Index k = 0; k < n; ++k) A(k, static_cast<Eigen::Index>(t) + 1) = column[static_cast<std::size_t>(k)];
  }
  const Eigen::VectorXd factors = A.colPivHouseholderQr().solve(b);
  Picked picked;
  picked.constant = factors(0);
  picked.unexplained = pursuit.unexplained();
  for (std::size_t t = 0; t < taken.size(); ++t) {
    const double factor = factors(static_cast<Eigen::Index>(t) + 1);
    if (pursuit.is_times_target(taken[t])) {
      picked.times_target.push_back(taken[t] - m);
      picked.target_factors.push_back(-factor);
    } else {
      picked.plain.push_back(taken[t]);
      picked.plain_factors.push_back(factor);
    }
  }
  return picked;
}

}  // namespace nalm::fitting
