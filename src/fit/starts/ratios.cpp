#include "fit/starts/ratios.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/threads.hpp"

namespace nalm::fitting {

using namespace numeric;

namespace {

constexpr std::size_t entries_above = 600, entries_below = 300;
constexpr int ranked_counts = 4;
// Differences of products of whole vectors are used as long as this share of the vectors is left.
constexpr double fewest_digits_lost = 1e-4;

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

RatioPicker::RatioPicker(const Dictionary& dictionary, std::size_t rows)
    : dictionary_(dictionary),
      rows_(std::min(rows, dictionary.rows())),
      above_entries_(std::min(entries_above, dictionary.size())),
      below_entries_(std::min(entries_below, dictionary.size())) {
  for (std::size_t j = 0; j < above_entries_; ++j) {
    Vector values(rows_);
    for (std::size_t k = 0; k < rows_; ++k) values[k] = dictionary.values(j)[k] * dictionary.weight()[k];
    const double length = std::sqrt(dot(values, values));
    for (std::size_t k = 0; k < rows_; ++k) entries_.push_back(length > 0 ? values[k] / length : 0);
  }
}

Vector RatioPicker::with_entries(const double* v) const {
  Vector result(above_entries_);
  for (std::size_t j = 0; j < above_entries_; ++j) result[j] = dot(entry(j), v, rows_);
  return result;
}

void RatioPicker::compare_entries() {
  for (std::size_t j = 0; j < above_entries_; ++j) {
    const Vector products = with_entries(entry(j));
    with_entry_.insert(with_entry_.end(), products.begin(), products.end());
  }
  with_weight_ = with_entries(dictionary_.weight().data());
  Vector side(rows_);
  for (std::size_t q = 0; q <= below_entries_; ++q) {
    for (std::size_t k = 0; k < rows_; ++k) {
      side[k] = dictionary_.target()[k] * dictionary_.weight()[k];
      if (q < below_entries_) side[k] *= dictionary_.values(q)[k];
    }
    with_target_.push_back(with_entries(side.data()));
  }
}

// Left side: y, y*q1, ... The direction in their span of which least is left by the entries above is followed while
// those are picked one by one; with random numbers not always the best.
RatioPicker::Trial RatioPicker::attempt(const std::vector<std::size_t>& below, int above, Xoshiro* random) const {
  const auto end = static_cast<std::ptrdiff_t>(rows_);
  const Vector weight(dictionary_.weight().begin(), dictionary_.weight().begin() + end);
  Vector target(dictionary_.target().begin(), dictionary_.target().begin() + end);
  for (std::size_t k = 0; k < rows_; ++k) target[k] *= weight[k];
  std::vector<Vector> left(1, target);
  for (const std::size_t q : below) {
    left.push_back(target);
    for (std::size_t k = 0; k < rows_; ++k) left.back()[k] *= dictionary_.values(q)[k];
  }
  const Matrix whole = products_of(left);
  std::vector<Vector> rest, directions, shares;  // shares[i][j]: of entry j along direction i
  Basis basis;
  Vector remaining, along(above_entries_);
  Trial trial;
  // What entries have in common with a direction follows from what they have with the vector that it was made from.
  const auto span = [&](const Vector& v, const double* with_v) {
    const Vector* direction = basis.add(v);
    if (!direction) return;
    for (Vector& r : rest) take_away(r, *direction);
    const double length = dot(*direction, v);
    Vector share(with_v, with_v + above_entries_);
    if (length > fewest_digits_lost * std::sqrt(dot(v, v))) {
      for (std::size_t i = 0; i < shares.size(); ++i) numeric::add(share, -dot(directions[i], v), shares[i]);
      for (double& s : share) s /= length;
    } else {
      share = with_entries(direction->data());
    }
    for (std::size_t j = 0; j < above_entries_; ++j) remaining[j] -= share[j] * share[j];
    directions.push_back(*direction);
    shares.push_back(std::move(share));
  };
  const auto add = [&](std::size_t j) { span({entry(j), entry(j) + rows_}, with_entry_.data() + j * above_entries_); };
  // The constant and these entries above.
  const auto restart = [&](const std::vector<std::size_t>& chosen) {
    rest = left;
    remaining.assign(above_entries_, 1.0);
    basis.clear();
    directions.clear();
    shares.clear();
    span(weight, with_weight_.data());
    for (const std::size_t j : chosen) add(j);
  };
  const auto follow = [&] {
    const std::optional<SmallestRatio> found = smallest_ratio(products_of(rest), whole);
    if (found) trial.left = std::max(0.0, found->ratio), trial.direction = found->x;
    return found.has_value();
  };
  const auto next = [&](const std::vector<std::size_t>& others, std::size_t among) {
    Vector followed(rows_, 0.0);
    for (std::size_t side = 0; side < rest.size(); ++side) {
      for (std::size_t k = 0; k < rows_; ++k) followed[k] += trial.direction[side] * rest[side][k];
    }
    if (trial.left > fewest_digits_lost * fewest_digits_lost) {
      along.assign(above_entries_, 0.0);
      for (std::size_t side = 0; side < rest.size(); ++side)
        numeric::add(along, trial.direction[side], with_target_[side == 0 ? below_entries_ : below[side - 1]]);
      for (std::size_t i = 0; i < shares.size(); ++i) {
        double lost = 0;
        for (std::size_t side = 0; side < rest.size(); ++side)
          lost += trial.direction[side] * dot(directions[i], left[side]);
        numeric::add(along, -lost, shares[i]);
      }
    } else {
      along = with_entries(followed.data());
    }
    const auto gain = [&](std::size_t j) { return remaining[j] > 1e-9 ? along[j] * along[j] / remaining[j] : 0; };
    return choose(above_entries_, gain, others, among, random);
  };
  restart({});
  for (int k = 0; k < above; ++k) {
    if (!follow()) return {};
    trial.above.push_back(next(trial.above, random ? 3 : 1));
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
  compare_entries();
  std::vector<std::vector<double>> left(ranked_counts, std::vector<double>(below_entries_, 1.0));
  parallel_for(static_cast<int>(below_entries_), threads, [&](int q) {
    for (int above = 0; above < ranked_counts; ++above) {
      left[static_cast<std::size_t>(above)][static_cast<std::size_t>(q)] =
          attempt({static_cast<std::size_t>(q)}, above, nullptr).left;
    }
  });
  for (const std::vector<double>& shares : left) ranking_.push_back(ranked(shares));
}

Picked RatioPicker::pick(int above, int below, bool chance, Xoshiro& random) const {
  const std::vector<std::size_t>& ranking = ranking_[static_cast<std::size_t>(std::min(above, ranked_counts - 1))];
  Picked picked;
  std::vector<std::size_t>& chosen = picked.times_target;
  chosen.push_back(draw(ranking, chance, random));
  for (int k = 1; k < below; ++k) {
    // Of the next entry a random share is tried.
    std::size_t best = ranking[random.below(ranking.size())];
    double least = 2;
    for (std::size_t j = 0; j < below_entries_; ++j) {
      if (random.unit() > (chance ? 0.2 : 1) || std::find(chosen.begin(), chosen.end(), j) != chosen.end()) continue;
      std::vector<std::size_t> tried = chosen;
      tried.push_back(j);
      const double left = attempt(tried, above, nullptr).left;
      if (left < least) least = left, best = j;
    }
    chosen.push_back(best);
  }
  Trial trial = attempt(chosen, above, nullptr);
  if (chance && trial.left > 1e-18 && random.unit() < 0.5) trial = attempt(chosen, above, &random);
  const double unit = !trial.direction.empty() && trial.direction[0] != 0 ? trial.direction[0] : 1;
  Goal left_side{dictionary_.target(), dictionary_.weight()};
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    const double factor = trial.direction.empty() ? 1 : trial.direction[k + 1] / unit;
    picked.target_factors.push_back(factor);
    const double* values = dictionary_.values(chosen[k]);
    for (std::size_t r = 0; r < dictionary_.rows(); ++r) {
      left_side.target[r] += factor * dictionary_.target()[r] * values[r];
    }
  }
  picked.plain = trial.above;
  find_factors(picked, dictionary_, left_side);
  return picked;
}

}  // namespace nalm::fitting
