#include "fit/tangent.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <span>

#include "base/random.hpp"
#include "fit/tape.hpp"

namespace nalm::fitting {

using namespace numeric;

namespace {

// What is left of a function, as a share of its square, below which nothing is left.
constexpr double nothing_left = 1e-13;

// The constants that have a place in the formula.
struct Slots {
  Vector values;
  int count = 0;
};

Slots slots_of(const Candidate& candidate) {
  Slots slots;
  for (const FitConstant& c : candidate.constants) {
    if (c.slot.empty()) continue;
    const int slot = slot_number(c.slot);
    if (slot >= slots.count) slots.count = slot + 1, slots.values.resize(static_cast<std::size_t>(slot) + 1, 0.0);
    slots.values[static_cast<std::size_t>(slot)] = c.value;
  }
  return slots;
}

// Rows without those that are there already: they say nothing new, and their errors are alike.
std::vector<std::size_t> different_rows(const Data& data) {
  const auto less = [&](std::size_t a, std::size_t b) {
    const std::span x(data.row(a), data.inputs), y(data.row(b), data.inputs);
    const auto order = std::lexicographical_compare_three_way(x.begin(), x.end(), y.begin(), y.end());
    return order != 0 ? order < 0 : data.y[a] < data.y[b];
  };
  std::vector<std::size_t> order = data.all;
  std::stable_sort(order.begin(), order.end(), less);
  std::vector<bool> again(data.rows, false);
  for (std::size_t k = 1; k < order.size(); ++k) again[order[k]] = !less(order[k - 1], order[k]);
  std::vector<std::size_t> result;
  for (const std::size_t r : data.all)
    if (!again[r]) result.push_back(r);
  return result;
}

}  // namespace

Places places_of(const Data& data, std::size_t most_rows, std::size_t points, bool below_zero) {
  Places places;
  places.low = places.high = std::vector<double>(data.row(0), data.row(0) + data.inputs);
  for (std::size_t r = 0; r < data.rows; ++r) {
    for (std::size_t i = 0; i < data.inputs; ++i) {
      places.low[i] = std::min(places.low[i], data.row(r)[i]);
      places.high[i] = std::max(places.high[i], data.row(r)[i]);
    }
  }
  const std::vector<std::size_t> different = different_rows(data);
  const std::size_t rows = std::min(most_rows, different.size());
  for (std::size_t k = 0; k < rows; ++k) {
    places.row.push_back(different[k * different.size() / rows]);
    places.x.push_back(data.row(places.row.back()));
  }
  Xoshiro random(0x74616e67656e74u);
  places.points.resize(points * data.inputs);
  for (std::size_t p = 0; p < points; ++p) {
    double* point = places.points.data() + p * data.inputs;
    for (std::size_t i = 0; i < data.inputs; ++i) {
      const double half = (places.high[i] - places.low[i]) / 2;
      const double low = places.low[i] - half;
      point[i] = random.between(below_zero || places.low[i] < 0 ? low : std::max(0.0, low), places.high[i] + half);
    }
    places.x.push_back(point);
  }
  return places;
}

Tangent::Tangent(const Candidate& candidate, const Data& data, const Places& places) : places_(places) {
  const std::size_t all = places.size(), rows = places.rows();
  const Slots slots = slots_of(candidate);
  const auto count = static_cast<std::size_t>(slots.count);
  Tape tape(candidate.open_formula, data.columns, slots.count, places.x);
  values_.resize(all);
  derivatives_.assign(count, Vector(all));
  Vector d(std::max<std::size_t>(1, count) * Tape::block);
  for (std::size_t first = 0; first < all; first += Tape::block) {
    const std::size_t size = std::min(Tape::block, all - first);
    tape.run(first, size, slots.values, values_.data() + first, count > 0 ? d.data() : nullptr);
    for (std::size_t s = 0; s < count; ++s)
      std::copy_n(d.data() + s * Tape::block, size, derivatives_[s].data() + first);
  }
  for (std::size_t k = 0; k < rows; ++k) weight_.push_back(data.weight.empty() ? 1 : data.weight[places.row[k]]);
  errors_.resize(rows);
  for (std::size_t k = 0; k < rows; ++k) {
    errors_[k] = (data.y[places.row[k]] - values_[k]) * weight_[k];
    defined_ = defined_ && std::isfinite(errors_[k]);
  }
  if (!defined_) return;
  for (const Vector& derivative : derivatives_) {
    if (!all_finite(std::span(derivative).first(rows))) continue;
    Vector direction = derivative;
    if (!take_away_from(direction)) continue;
    const double length = std::sqrt(dot(direction.data(), direction.data(), rows));
    for (double& v : direction) v /= length;
    basis_.push_back(std::move(direction));
  }
  for (int pass = 0; pass < 2; ++pass) {
    for (const Vector& q : basis_) add(errors_.data(), -dot(q.data(), errors_.data(), rows), q.data(), rows);
  }
  squares_ = dot(errors_, errors_);
}

double Tangent::leverage(std::size_t row) const {
  double sum = 0;
  for (const Vector& q : basis_) sum += q[row] * q[row];
  return sum;
}

bool Tangent::take_away_from(Vector& function) const {
  const std::size_t rows = places_.rows();
  for (std::size_t k = 0; k < rows; ++k) function[k] *= weight_[k];
  const double before = dot(function.data(), function.data(), rows);
  if (!(before > 0) || !std::isfinite(before)) return false;
  for (int pass = 0; pass < 2; ++pass) {
    for (const Vector& q : basis_) add(function, -dot(q.data(), function.data(), rows), q);
  }
  return dot(function.data(), function.data(), rows) > nothing_left * before;
}

std::vector<double> Tangent::errors_without(const std::vector<std::size_t>& left_out) const {
  // Least squares on the other rows, from where all rows have theirs.
  std::vector<bool> out(places_.rows(), false);
  for (const std::size_t k : left_out) out[k] = true;
  Matrix A(places_.rows() - left_out.size(), basis_.size());
  Vector b;
  for (std::size_t k = 0, at = 0; k < places_.rows(); ++k) {
    if (out[k]) continue;
    for (std::size_t j = 0; j < basis_.size(); ++j) A(at, j) = basis_[j][k];
    b.push_back(errors_[k]);
    ++at;
  }
  const Vector moved = basis_.empty() || b.empty() ? Vector(basis_.size(), 0.0) : least_squares(A, b);
  std::vector<double> result;
  for (const std::size_t k : left_out) {
    double error = errors_[k];
    for (std::size_t j = 0; j < basis_.size(); ++j) error -= moved[j] * basis_[j][k];
    result.push_back(error);
  }
  return result;
}

}  // namespace nalm::fitting
