#include "fit/dictionary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/threads.hpp"

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

Vector powers_of_one_product(const Data& data, const std::vector<std::size_t>& rows) {
  Matrix A(rows.size(), data.inputs + 1);
  Vector b(rows.size(), 0.0);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const double* x = data.row(rows[k]);
    const double y = std::fabs(data.y[rows[k]] / data.y_scale);
    if (y == 0 || std::any_of(x, x + data.inputs, [](double value) { return value == 0; })) continue;
    for (std::size_t i = 0; i < data.inputs; ++i) A(k, i) = y * std::log(std::fabs(x[i] / data.x_scale[i]));
    A(k, data.inputs) = y;
    b[k] = y * std::log(y);
  }
  return least_squares(A, b);
}

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
    whole_.push_back(std::all_of(powers.begin(), powers.end(), [](double p) { return fitting::is_whole(p); }));
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

namespace {

// Orthogonal matching pursuit. For every entry it keeps its product with the residual, and the square of what is left
// of it after taking away what the picked entries span; one pass over the dictionary per pick keeps both up to date.
class Pursuit {
 public:
  Pursuit(const Dictionary& dictionary, const Goal& goal) : d_(dictionary), goal_(goal), n_(dictionary.rows()) {
    const std::size_t total = d_.size();
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
    for (std::size_t k = 0; k < n_; ++k) out[k] = d_.values(j)[k] * goal_.weights[k];
  }

 private:
  // to[j] = entry j * v
  void project_all(const std::vector<double>& v, std::vector<double>& to) {
    std::vector<double> a(n_);
    for (std::size_t k = 0; k < n_; ++k) a[k] = v[k] * goal_.weights[k];
    for (std::size_t j = 0; j < d_.size(); ++j) to[j] = dot(d_.values(j), a.data(), n_);
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

// One of the best few entries that are not taken yet. gain(j): how much entry j would explain.
template <class Gain>
std::size_t choose(std::size_t entries, Gain gain, const std::vector<std::size_t>& taken, std::size_t among,
                   Xoshiro* random) {
  among = std::min(among, entries);
  std::vector<std::pair<double, std::size_t>> best;
  for (std::size_t j = 0; j < entries; ++j) {
    const double g = gain(j);
    if (best.size() == among && g <= best.back().first) continue;
    if (std::find(taken.begin(), taken.end(), j) != taken.end()) continue;
    if (best.size() == among) best.pop_back();
    const auto place = std::find_if(best.begin(), best.end(), [&](const auto& b) { return g > b.first; });
    best.insert(place, {g, j});
  }
  return best[best.size() > 1 && random ? random->below(best.size()) : 0].second;
}

}  // namespace

Picked pick(const Dictionary& dictionary, const Goal& goal, int count, bool chance, bool whole, Xoshiro& random) {
  Pursuit pursuit(dictionary, goal);
  const std::size_t entries = dictionary.size();
  const auto gain = [&](std::size_t j) { return whole && !dictionary.is_whole(j) ? -1 : pursuit.gain(j); };
  std::vector<std::size_t> taken;
  pursuit.reset({});
  for (int k = 0; k < count; ++k) {
    // The first is picked from many: once one is right, the others follow.
    const std::size_t among = !chance ? 1 : k == 0 ? 40 : 2;
    taken.push_back(choose(entries, gain, taken, among, &random));
    pursuit.add(taken.back());
  }
  // Each in turn is given up for the best in its place, until nothing changes.
  for (int pass = 0; pass < 3 && count > 1 && pursuit.unexplained() > 1e-18; ++pass) {
    bool changed = false;
    for (std::size_t k = 0; k < taken.size(); ++k) {
      std::vector<std::size_t> others = taken;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(k));
      pursuit.reset(others);
      const std::size_t j = choose(entries, gain, others, 1, nullptr);
      pursuit.add(j);
      changed = changed || j != taken[k];
      taken[k] = j;
    }
    if (!changed) break;
  }
  // The factors.
  Matrix A(dictionary.rows(), taken.size() + 1);
  Vector b(dictionary.rows()), column(dictionary.rows());
  for (std::size_t k = 0; k < dictionary.rows(); ++k) {
    A(k, 0) = goal.weights[k];
    b[k] = goal.weights[k] * goal.target[k];
  }
  for (std::size_t t = 0; t < taken.size(); ++t) {
    pursuit.fill(taken[t], column);
    std::copy(column.begin(), column.end(), A.column(t + 1));
  }
  const Vector factors = least_squares(A, b);
  Picked picked;
  picked.constant = factors[0];
  picked.plain = taken;
  picked.unexplained = pursuit.unexplained();
  picked.plain_factors.assign(factors.begin() + 1, factors.end());
  return picked;
}

// ---- ratios --------------------------------------------------------------------------------------------------------

namespace {

constexpr std::size_t entries_above = 600, entries_below = 300, rows_for_ratios = 96;
constexpr int ranked_counts = 4;

// v without its part along the unit vector q.
void take_away(Vector& v, const Vector& q) {
  const double along = dot(q, v);
  for (std::size_t k = 0; k < v.size(); ++k) v[k] -= along * q[k];
}

Matrix products_of(const std::vector<Vector>& vectors) {
  Matrix result(vectors.size(), vectors.size());
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    for (std::size_t j = 0; j < vectors.size(); ++j) result(i, j) = dot(vectors[i], vectors[j]);
  }
  return result;
}

}  // namespace

struct RatioPicker::Trial {
  std::vector<std::size_t> above;
  Vector direction;  // factors of 1 and the entries below
  double left = 1;   // what the entries above leave of the left side, as a share of its square sum
};

RatioPicker::RatioPicker(const Dictionary& dictionary)
    : dictionary_(dictionary),
      rows_(std::min(rows_for_ratios, dictionary.rows())),
      above_entries_(std::min(entries_above, dictionary.size())),
      below_entries_(std::min(entries_below, dictionary.size())) {
  for (std::size_t j = 0; j < above_entries_; ++j) {
    const double* values = dictionary.values(j);
    const double length = std::sqrt(dot(values, values, rows_));
    lengths_.push_back(length);
    for (std::size_t k = 0; k < rows_; ++k) entries_.push_back(length > 0 ? values[k] / length : 0);
  }
}

// Left side: y, y*q1, ... The direction in their span of which least is left by the entries above is followed while
// those are picked one by one.
RatioPicker::Trial RatioPicker::attempt(const std::vector<std::size_t>& below, int above, bool chance,
                                        Xoshiro* random) const {
  std::vector<Vector> left(
      1, Vector(dictionary_.target().begin(), dictionary_.target().begin() + static_cast<std::ptrdiff_t>(rows_)));
  for (const std::size_t q : below) {
    Vector product(rows_);
    for (std::size_t k = 0; k < rows_; ++k) product[k] = dictionary_.target()[k] * dictionary_.values(q)[k];
    left.push_back(std::move(product));
  }
  const Matrix whole = products_of(left);
  const auto entry = [&](std::size_t j) { return entries_.data() + j * rows_; };
  std::vector<Vector> rest, basis;
  Vector remaining, along(above_entries_);
  Trial trial;
  const auto span = [&](Vector v) {
    const double before = dot(v, v);
    for (int pass = 0; pass < 2; ++pass) {
      for (const Vector& q : basis) take_away(v, q);
    }
    const double length = std::sqrt(dot(v, v));
    if (!(length * length > 1e-14 * before)) return;
    for (double& x : v) x /= length;
    for (Vector& r : rest) take_away(r, v);
    for (std::size_t j = 0; j < above_entries_; ++j) {
      const double share = dot(entry(j), v.data(), rows_);
      remaining[j] -= share * share;
    }
    basis.push_back(std::move(v));
  };
  // The constant and these entries above.
  const auto restart = [&](const std::vector<std::size_t>& chosen) {
    rest = left;
    remaining.assign(above_entries_, 1.0);
    basis.clear();
    span(Vector(rows_, 1.0));
    for (const std::size_t j : chosen) span({entry(j), entry(j) + rows_});
  };
  const auto follow = [&] {
    if (!smallest_ratio(products_of(rest), whole, trial.left, trial.direction)) return false;
    trial.left = std::max(0.0, trial.left);
    return true;
  };
  const auto next = [&](const std::vector<std::size_t>& others, std::size_t among) {
    Vector followed(rows_, 0.0);
    for (std::size_t side = 0; side < rest.size(); ++side) {
      for (std::size_t k = 0; k < rows_; ++k) followed[k] += trial.direction[side] * rest[side][k];
    }
    for (std::size_t j = 0; j < above_entries_; ++j) along[j] = dot(entry(j), followed.data(), rows_);
    const auto gain = [&](std::size_t j) { return remaining[j] > 1e-9 ? along[j] * along[j] / remaining[j] : 0; };
    return choose(above_entries_, gain, others, among, random);
  };
  const auto add = [&](std::size_t j) { span({entry(j), entry(j) + rows_}); };
  restart({});
  for (int k = 0; k < above; ++k) {
    if (!follow()) return {};
    trial.above.push_back(next(trial.above, chance ? 3 : 1));
    add(trial.above.back());
  }
  if (!follow()) return {};
  // Each in turn is given up for the best in its place.
  for (std::size_t k = 0; above > 1 && k < trial.above.size() && trial.left > 1e-18; ++k) {
    std::vector<std::size_t> others = trial.above;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(k));
    restart(others);
    if (!follow()) return {};
    trial.above[k] = next(others, 1);
    add(trial.above[k]);
    if (!follow()) return {};
  }
  return trial;
}

void RatioPicker::rank_denominators(int threads) {
  std::vector<std::vector<double>> left(ranked_counts, std::vector<double>(below_entries_, 1.0));
  parallel_for(static_cast<int>(below_entries_), threads, [&](int q) {
    for (int above = 0; above < ranked_counts; ++above) {
      left[static_cast<std::size_t>(above)][static_cast<std::size_t>(q)] =
          attempt({static_cast<std::size_t>(q)}, above, false, nullptr).left;
    }
  });
  for (const std::vector<double>& shares : left) {
    std::vector<std::size_t> order(below_entries_);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return shares[a] < shares[b]; });
    ranking_.push_back(std::move(order));
  }
}

Picked RatioPicker::pick(int above, int below, bool chance, Xoshiro& random) const {
  const std::vector<std::size_t>& ranking = ranking_[static_cast<std::size_t>(std::min(above, ranked_counts - 1))];
  // Earlier places are likelier.
  const std::size_t places = std::min<std::size_t>(12, ranking.size());
  std::vector<std::size_t> chosen = {ranking[chance ? std::min(random.below(places), random.below(places)) : 0]};
  for (int k = 1; k < below; ++k) {
    // Of the next entry a random share is tried.
    std::size_t best = ranking[random.below(ranking.size())];
    double least = 2;
    for (std::size_t j = 0; j < below_entries_; ++j) {
      if (random.unit() > (chance ? 0.2 : 1) || std::find(chosen.begin(), chosen.end(), j) != chosen.end()) continue;
      std::vector<std::size_t> tried = chosen;
      tried.push_back(j);
      const double left = attempt(tried, above, false, nullptr).left;
      if (left < least) least = left, best = j;
    }
    chosen.push_back(best);
  }
  const Trial plain = attempt(chosen, above, false, nullptr);
  const bool other = chance && plain.left > 1e-18 && random.unit() < 0.5;
  const Trial trial = other ? attempt(chosen, above, true, &random) : plain;
  Picked picked;
  const double unit = !trial.direction.empty() && trial.direction[0] != 0 ? trial.direction[0] : 1;
  const std::size_t n = dictionary_.rows();
  Vector left_side = dictionary_.target();
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    const double factor = trial.direction.empty() ? 1 : trial.direction[k + 1] / unit;
    picked.times_target.push_back(chosen[k]);
    picked.target_factors.push_back(factor);
    const double* values = dictionary_.values(chosen[k]);
    for (std::size_t r = 0; r < n; ++r) left_side[r] += factor * dictionary_.target()[r] * values[r];
  }
  Matrix A(n, trial.above.size() + 1);
  std::fill_n(A.column(0), n, 1.0);
  for (std::size_t t = 0; t < trial.above.size(); ++t)
    std::copy_n(dictionary_.values(trial.above[t]), n, A.column(t + 1));
  const Vector factors = least_squares(A, left_side);
  picked.constant = factors[0];
  picked.plain = trial.above;
  picked.plain_factors.assign(factors.begin() + 1, factors.end());
  return picked;
}

// ---- factors -------------------------------------------------------------------------------------------------------

namespace {

constexpr std::size_t entries_beside_factors = 400, rows_for_factors = 96;
constexpr double similar_scales = 300;  // columns that are added to each other have the same unit

// Powers of columns that are nearly whole in a fit of one product to the target: those factors are there.
PowerList certain_powers(const Data& data, const std::vector<std::size_t>& rows) {
  const Vector found = powers_of_one_product(data, rows);
  PowerList powers(data.inputs, 0.0);
  for (std::size_t i = 0; i < data.inputs; ++i) {
    const double whole = std::round(found[i]);
    if (std::fabs(found[i] - whole) < 0.15 && std::fabs(whole) <= 6) powers[i] = whole;
  }
  return powers;
}

double value_of(const InnerSum& sum, const PowerList& columns) {
  double total = 0;
  for (const Term& term : sum.terms) {
    double product = term.coefficient.value;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (term.powers[i] != 0) product *= std::pow(columns[i], term.powers[i]);
    }
    total += product;
  }
  return total;
}

// x_i + s*x_j, their squares, three columns, and columns with 1; in the units of the data.
std::vector<InnerSum> simple_sums(const Data& data) {
  std::vector<InnerSum> result;
  const std::size_t I = data.inputs;
  const auto power_of = [&](std::size_t i, double power) {
    PowerList powers(I, 0.0);
    if (i < I) powers[i] = power;
    return powers;
  };
  const auto alike = [&](std::size_t i, std::size_t j) {
    const double ratio = data.x_scale[i] / data.x_scale[j];
    return ratio < similar_scales && ratio > 1 / similar_scales;
  };
  for (std::size_t i = 0; i < I; ++i) {
    for (const double power : {1.0, 2.0}) {
      for (const double sign : {1.0, -1.0}) {
        for (std::size_t j = i + 1; j < I; ++j) {
          if (alike(i, j)) result.push_back({{{{1, true}, power_of(i, power)}, {{sign, true}, power_of(j, power)}}});
        }
        if (data.x_scale[i] < similar_scales && data.x_scale[i] > 1 / similar_scales) {
          result.push_back({{{{1, true}, power_of(i, power)}, {{sign, true}, power_of(I, 0)}}});
        }
      }
    }
    for (std::size_t j = i + 1; j < I; ++j) {
      for (std::size_t k = j + 1; k < I && I <= 10; ++k) {
        if (!alike(i, j) || !alike(j, k)) continue;
        result.push_back({{{{1, true}, power_of(i, 1)}, {{1, true}, power_of(j, 1)}, {{1, true}, power_of(k, 1)}}});
      }
    }
  }
  return result;
}

}  // namespace

FactorPicker::FactorPicker(const Data& data, const std::vector<std::size_t>& rows, Powers allowed)
    : dictionary_(data,
                  {rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(std::min(rows.size(), rows_for_factors))},
                  allowed, entries_beside_factors) {
  const std::size_t I = data.inputs;
  const std::size_t n = dictionary_.rows();
  std::vector<PowerList> products = {PowerList(I, 0.0)};
  if (const PowerList certain = certain_powers(data, rows); !is_constant(certain)) products.push_back(certain);
  std::vector<double> powers = {1, -1};
  if (allowed != Powers::Integer) powers.insert(powers.end(), {0.5, -0.5});
  const auto add = [&](const PowerList& product, InnerSum sum, double power) {
    Factor factor{product, {}, power, std::vector<double>(n)};
    double largest = 0;
    std::vector<double> sums(n);
    for (std::size_t k = 0; k < n; ++k) {
      sums[k] = value_of(sum, PowerList(data.row(rows[k]), data.row(rows[k]) + I));
      largest = std::max(largest, std::fabs(sums[k]));
    }
    for (std::size_t k = 0; k < n; ++k) {
      double value = std::pow(sums[k] / largest, power);
      for (std::size_t i = 0; i < I; ++i) {
        if (product[i] != 0) value *= std::pow(data.row(rows[k])[i] / data.x_scale[i], product[i]);
      }
      if (!std::isfinite(value) || value == 0) return;
      factor.values[k] = value;
    }
    for (Term& term : sum.terms) {
      term.coefficient.value /= largest;
      for (std::size_t i = 0; i < I; ++i) term.coefficient.value *= std::pow(data.x_scale[i], term.powers[i]);
    }
    factor.sum = std::move(sum);
    factors_.push_back(std::move(factor));
  };
  const InnerSum one{{{{1, true}, PowerList(I, 0.0)}}};
  add(products.back(), one, 1);
  for (const InnerSum& sum : simple_sums(data)) {
    for (const double power : powers) {
      for (const PowerList& product : products) add(product, sum, power);
    }
  }
}

// (target / factor)^power is a sum; errors of the target count.
Goal FactorPicker::goal_for(const Factor& factor, double target_power) const {
  Goal goal;
  for (std::size_t k = 0; k < dictionary_.rows(); ++k) {
    const double rest = dictionary_.target()[k] / factor.values[k];
    goal.target.push_back(std::pow(rest, target_power));
    goal.weights.push_back(std::fabs(factor.values[k] * std::pow(rest, 1 - target_power) / target_power));
    if (!std::isfinite(goal.target[k]) || !std::isfinite(goal.weights[k])) goal.target[k] = goal.weights[k] = 0;
  }
  return goal;
}

void FactorPicker::rank_factors(int count, double target_power, int threads) {
  // Of many products only the factor that needs no search is tried: the product that is certain.
  const std::size_t tried = count > 3 ? std::min<std::size_t>(1, factors_.size()) : factors_.size();
  std::vector<double> left(tried, 1.0);
  parallel_for(static_cast<int>(tried), threads, [&](int f) {
    const Factor& factor = factors_[static_cast<std::size_t>(f)];
    bool possible = true;
    for (std::size_t k = 0; k < dictionary_.rows() && target_power != 1; ++k) {
      possible = possible && dictionary_.target()[k] / factor.values[k] > 0;
    }
    if (!possible) return;
    Xoshiro random(1);
    left[static_cast<std::size_t>(f)] =
        nalm::fitting::pick(dictionary_, goal_for(factor, target_power), count, false, count > 3, random).unexplained;
  });
  std::vector<std::size_t> order(tried);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return left[a] < left[b]; });
  ranking_[{count, target_power}] = std::move(order);
}

FactorPicker::Factored FactorPicker::pick(int count, double target_power, bool chance, Xoshiro& random) const {
  Factored result;
  const std::vector<std::size_t>& ranking = ranking_.at({count, target_power});
  if (ranking.empty()) return result;
  const std::size_t places = std::min<std::size_t>(12, ranking.size());
  const Factor& factor = factors_[ranking[chance ? std::min(random.below(places), random.below(places)) : 0]];
  const bool other = chance && random.unit() < 0.5;
  const bool whole = count > 3 || (chance && random.unit() < 0.5);
  result.picked = nalm::fitting::pick(dictionary_, goal_for(factor, target_power), count, other, whole, random);
  result.product = factor.product;
  result.sum = factor.sum;
  result.power = factor.power;
  return result;
}

}  // namespace nalm::fitting
