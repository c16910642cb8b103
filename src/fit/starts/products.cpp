#include "fit/starts/products.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "nalm/detail/portable.hpp"

namespace nalm::fitting {

using namespace numeric;

Vector powers_of_one_product(const Data& data, const std::vector<std::size_t>& rows) {
  Matrix A(rows.size(), data.inputs + 1);
  Vector b(rows.size(), 0.0);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const double* x = data.row(rows[k]);
    const double y = std::fabs(data.y[rows[k]] / data.y_scale), weight = y * data.weight_of(rows[k]);
    if (y == 0 || std::any_of(x, x + data.inputs, [](double value) { return value == 0; })) continue;
    for (std::size_t i = 0; i < data.inputs; ++i) A(k, i) = weight * portable::log(std::fabs(x[i] / data.x_scale[i]));
    A(k, data.inputs) = weight;
    b[k] = weight * portable::log(y);
  }
  return least_squares(A, b);
}

ProductPicker::ProductPicker(const Dictionary& dictionary, Goal goal)
    : d_(dictionary), goal_(std::move(goal)), whole_(d_.size()), weighted_(d_.rows()) {
  Vector entry(d_.rows());
  for (std::size_t j = 0; j < d_.size(); ++j) {
    fill(j, entry);
    whole_[j] = dot(entry, entry);
  }
  for (std::size_t k = 0; k < d_.rows(); ++k) weighted_[k] = goal_.target[k] * goal_.weights[k];
  of_target_ = products_with(weighted_);
  of_weights_ = products_with(goal_.weights);
  for (const Vector& v : goal_.beside) of_beside_.push_back(products_with(v));
}

void ProductPicker::fill(std::size_t j, Vector& out) const {
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = d_.values(j)[k] * goal_.weights[k];
}

Vector ProductPicker::products_with(Vector v) const {
  for (std::size_t k = 0; k < v.size(); ++k) v[k] *= goal_.weights[k];
  Vector products(d_.size());
  for (std::size_t j = 0; j < d_.size(); ++j) products[j] = dot(d_.values(j), v.data(), d_.rows());
  return products;
}

// Orthogonal matching pursuit. For every entry it keeps its product with the residual, and the square of what is left
// of it after taking away what the picked entries span; one pass over the dictionary per pick keeps both up to date.
class ProductPicker::Pursuit {
 public:
  explicit Pursuit(const ProductPicker& picker) : picker_(picker), size_(dot(picker.weighted_, picker.weighted_)) {}

  // Starts afresh with the constant and these entries.
  void reset(const std::vector<std::size_t>& entries) {
    left_ = picker_.whole_;
    residual_ = picker_.weighted_;
    basis_.clear();
    directions_.clear();
    shares_.clear();
    products_ = picker_.of_target_;
    span(picker_.goal_.weights, picker_.of_weights_);
    for (std::size_t k = 0; k < picker_.of_beside_.size(); ++k) span(picker_.goal_.beside[k], picker_.of_beside_[k]);
    for (const std::size_t j : entries) add(j);
  }

  void add(std::size_t j) {
    Vector entry(picker_.d_.rows());
    picker_.fill(j, entry);
    auto known = of_entries_.find(j);
    if (known == of_entries_.end()) known = of_entries_.emplace(j, picker_.products_with(entry)).first;
    span(entry, known->second);
  }

  double unexplained() const { return size_ > 0 ? dot(residual_, residual_) / size_ : 0; }

  double gain(std::size_t j) const {
    if (!(left_[j] > 1e-9 * picker_.whole_[j])) return 0;
    return products_[j] * products_[j] / left_[j];
  }

 private:
  // The products of entries with a new direction follow from those with v, which are known from the last time that v
  // was picked, as long as enough of v is left for the difference to have digits.
  void span(const Vector& v, const Vector& of_v) {
    constexpr double enough = 1e-4;
    const Vector* direction = basis_.add(v);
    if (!direction) return;
    const double along = dot(*direction, residual_), length = dot(*direction, v);
    take_away(residual_, *direction);
    Vector shares = of_v;
    if (length > enough * std::sqrt(dot(v, v))) {
      for (std::size_t i = 0; i < shares_.size(); ++i) numeric::add(shares, -dot(directions_[i], v), shares_[i]);
      for (double& share : shares) share /= length;
    } else {
      shares = picker_.products_with(*direction);
    }
    for (std::size_t j = 0; j < left_.size(); ++j) left_[j] -= shares[j] * shares[j];
    numeric::add(products_, -along, shares);
    directions_.push_back(*direction);
    shares_.push_back(std::move(shares));
  }

  const ProductPicker& picker_;
  const double size_;
  Vector left_, products_, residual_;
  std::map<std::size_t, Vector> of_entries_;  // products of every entry with those that were picked before
  std::vector<Vector> directions_, shares_;   // of the basis: its vectors, and the entries' products with them
  Basis basis_;
};

Picked ProductPicker::pick(int count, bool chance, bool whole, Xoshiro& random) const {
  Pursuit pursuit(*this);
  const std::size_t entries = d_.size();
  const auto gain = [&](std::size_t j) { return whole && !d_.is_whole(j) ? -1 : pursuit.gain(j); };
  Picked picked;
  std::vector<std::size_t>& taken = picked.plain;
  pursuit.reset({});
  for (int k = 0; k < count; ++k) {
    // The first is picked from many: once one is right, the others follow.
    const std::size_t among = !chance ? 1 : k == 0 ? 40 : 2;
    taken.push_back(choose(entries, gain, taken, among, &random));
    pursuit.add(taken.back());
  }
  // Each in turn is given up for the best in its place, until nothing changes.
  for (int pass = 0; pass < 3 && count > 1 && pursuit.unexplained() > 1e-18; ++pass) {
    const std::vector<std::size_t> before = taken;
    for (std::size_t k = 0; k < taken.size(); ++k) {
      std::vector<std::size_t> others = taken;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(k));
      pursuit.reset(others);
      taken[k] = choose(entries, gain, others, 1, nullptr);
      pursuit.add(taken[k]);
    }
    if (taken == before) break;
  }
  picked.unexplained = pursuit.unexplained();
  find_factors(picked, d_, goal_);
  return picked;
}

}  // namespace nalm::fitting
