// Where a training starts: products of powers that explain the target well together, picked greedily from a dictionary
// of simple ones, with some chance in it so that every restart starts elsewhere.
#pragma once

#include <cstddef>
#include <vector>

#include "base/random.hpp"
#include "fit/data.hpp"
#include "fit/form.hpp"

namespace nalm::fitting {

// Products of powers of columns, simplest first, with their values on some rows (columns scaled to about 1).
class Dictionary {
 public:
  Dictionary(const Data& data, const std::vector<std::size_t>& rows, Powers allowed, std::size_t at_most);

  std::size_t size() const { return powers_.size(); }
  std::size_t rows() const { return rows_; }
  const PowerList& powers(std::size_t k) const { return powers_[k]; }
  const double* values(std::size_t k) const { return values_.data() + k * rows_; }
  const std::vector<double>& target() const { return target_; }  // scaled

 private:
  std::size_t rows_;
  std::vector<PowerList> powers_;
  std::vector<double> values_, target_;
};

// What is explained: weight * (transformed target) by weight * (sums of dictionary entries), and, for ratios, by
// entries times the target too: y*(1 + q) = p is y = p - y*q.
struct Goal {
  std::vector<double> target, weights;
  bool ratio = false;
};
Goal goal_for_power(const Dictionary& dictionary, double power);  // the target to this power is a sum
Goal goal_for_ratio(const Dictionary& dictionary);

struct Picked {
  std::vector<std::size_t> plain;         // entries of the dictionary
  std::vector<std::size_t> times_target;  // of ratios
  double constant = 0;
  std::vector<double> plain_factors, target_factors;
  double unexplained = 1;  // share of the (weighted) square sum
};
// So many entries and a constant. chance 0: the best every time.
Picked pick(const Dictionary& dictionary, const Goal& goal, int plain, int times_target, bool chance, Xoshiro& random);

}  // namespace nalm::fitting
