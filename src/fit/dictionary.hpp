// Where a training starts: products of powers that explain the target well together, picked greedily from a dictionary
// of simple ones, with some chance in it so that every restart starts elsewhere.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "fit/data.hpp"
#include "fit/form.hpp"
#include "fit/linear_algebra.hpp"

namespace nalm::fitting {

// Powers of the columns, and the logarithm of a factor, of the one product that is closest to the target, by least
// squares on logarithms in scaled units; small targets count little, as their errors are large there.
Vector powers_of_one_product(const Data& data, const std::vector<std::size_t>& rows);

// Products of powers of columns, simplest first, with their values on some rows (columns scaled to about 1).
class Dictionary {
 public:
  Dictionary(const Data& data, const std::vector<std::size_t>& rows, Powers allowed, std::size_t at_most);

  std::size_t size() const { return powers_.size(); }
  std::size_t rows() const { return rows_; }
  const PowerList& powers(std::size_t k) const { return powers_[k]; }
  bool is_whole(std::size_t k) const { return whole_[k]; }
  const double* values(std::size_t k) const { return values_.data() + k * rows_; }
  const std::vector<double>& target() const { return target_; }  // scaled

 private:
  std::size_t rows_;
  std::vector<PowerList> powers_;
  std::vector<bool> whole_;
  std::vector<double> values_, target_;
};

// What is explained: weight * (the target to some power) by weight * (sums of dictionary entries).
struct Goal {
  std::vector<double> target, weights;
};
Goal goal_for_power(const Dictionary& dictionary, double power);

struct Picked {
  std::vector<std::size_t> plain;         // entries of the dictionary
  std::vector<std::size_t> times_target;  // of ratios: further entries in the denominator, besides 1
  double constant = 0;
  std::vector<double> plain_factors, target_factors;
  double unexplained = 1;  // share of the (weighted) square sum
};
// So many entries and a constant. Without chance: the best every time. whole: only whole powers, of which fewer look
// alike.
Picked pick(const Dictionary& dictionary, const Goal& goal, int count, bool chance, bool whole, Xoshiro& random);

// For ratios of sums, y*(1 + sum q) = sum p. Which entries q stand in the denominator is decided first, and by trying:
// what the best few p leave of y*(1 + q), in relation to its size, is small only where the ratio is right. (Treating
// y*q as one more entry that explains y would find sums of q that are close to -1 everywhere.)
class RatioPicker {
 public:
  explicit RatioPicker(const Dictionary& dictionary);

  // Tries every simple entry as the only one in the denominator, with so many above. Once, before pick().
  void rank_denominators(int threads);

  Picked pick(int above, int below, bool chance, Xoshiro& random) const;

 private:
  struct Trial;
  Trial attempt(const std::vector<std::size_t>& below, int above, bool chance, Xoshiro* random) const;

  const Dictionary& dictionary_;
  std::size_t rows_, above_entries_, below_entries_;
  std::vector<double> entries_;  // of unit length, one after the other
  std::vector<double> lengths_;
  std::vector<std::vector<std::size_t>> ranking_;  // for 0, 1, 2, ... entries above
};

// For a sum of products times a factor that many formulas of physics have: a product of columns, and a sum or
// difference of columns, of their squares, or of a column and 1, to some power. All of these are tried as factors.
class FactorPicker {
 public:
  FactorPicker(const Data& data, const std::vector<std::size_t>& rows, Powers allowed);

  // Tries every factor with so many products to go with it, whose sum is this power of the rest. Once, before pick().
  void rank_factors(int count, double target_power, int threads);

  // target = picked^(1/target_power) * product * sum^power, all in scaled units.
  struct Factored {
    Picked picked;
    PowerList product;
    InnerSum sum;
    double power = 1;
  };
  Factored pick(int count, double target_power, bool chance, Xoshiro& random) const;
  const Dictionary& dictionary() const { return dictionary_; }

 private:
  struct Factor {
    PowerList product;
    InnerSum sum;
    double power;
    std::vector<double> values;  // of the factor, on the dictionary's rows
  };
  Goal goal_for(const Factor& factor, double target_power) const;

  Dictionary dictionary_;
  std::vector<Factor> factors_;
  std::map<std::pair<int, double>, std::vector<std::size_t>> ranking_;  // for a number of products and a power
};

}  // namespace nalm::fitting
