// Where trainings start: a dictionary of simple products of powers, from which those are picked that explain the target
// well together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "fit/data.hpp"
#include "fit/form.hpp"
#include "numeric/linear_algebra.hpp"

namespace nalm::fitting {

// Products of powers of columns, simplest first, with their values on some rows (columns scaled to about 1).
class Dictionary {
 public:
  Dictionary(const Data& data, const std::vector<std::size_t>& rows, Powers allowed, std::size_t at_most);

  // Every entry of another one as it is, and times each of these values on its rows; powers() are those of the other.
  Dictionary(const Dictionary& plain, const std::vector<std::vector<double>>& factors);

  std::size_t size() const { return powers_.size(); }
  std::size_t rows() const { return rows_; }
  const PowerList& powers(std::size_t k) const { return powers_[k]; }
  bool is_whole(std::size_t k) const { return whole_[k]; }
  const double* values(std::size_t k) const { return values_.data() + k * rows_; }
  const std::vector<double>& target() const { return target_; }  // scaled
  const std::vector<double>& weight() const { return weight_; }  // of the rows' errors

 private:
  std::size_t rows_;
  std::vector<PowerList> powers_;
  std::vector<bool> whole_;
  std::vector<double> values_, target_, weight_;
};

// What is explained: weight * (the target to some power) by weight * (sums of dictionary entries).
struct Goal {
  std::vector<double> target, weights;
  std::vector<std::vector<double>> beside = {};  // weighted; these have a number of their own in any sum
};
// (target / factor)^power is a sum; errors of the target, not of its power, count.
Goal goal_for(const Dictionary& dictionary, double power, const std::vector<double>& factor);

struct Picked {
  std::vector<std::size_t> plain;         // entries of the dictionary
  std::vector<std::size_t> times_target;  // of ratios: further entries in the denominator, besides 1
  double constant = 0;
  std::vector<double> plain_factors, target_factors;
  double unexplained = 1;  // share of the (weighted) square sum
};
// The constant and the factors of the plain entries, by least squares.
void find_factors(Picked& picked, const Dictionary& dictionary, const Goal& goal);

// One of the best few entries that are not taken yet. gain(j): how much entry j would explain. Without a stream of
// random numbers the best.
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

// The first of a ranking, or by chance one of the next, of which earlier places are likelier.
std::size_t draw(const std::vector<std::size_t>& ranking, bool chance, Xoshiro& random);

}  // namespace nalm::fitting
