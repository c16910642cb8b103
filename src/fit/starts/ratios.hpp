// Starts for ratios of sums, y*(1 + sum q) = sum p. Which entries q stand in the denominator is decided first, and by
// trying: what the best few p leave of y*(1 + q), in relation to its size, is small only where the ratio is right.
// (Treating y*q as one more entry that explains y would find sums of q that are close to -1 everywhere.)
#pragma once

#include "fit/starts/dictionary.hpp"

namespace nalm::fitting {

class RatioPicker {
 public:
  // rows: how many of the dictionary's at most.
  RatioPicker(const Dictionary& dictionary, std::size_t rows);

  // Tries every simple entry as the only one in the denominator, with so many above. Once, before pick().
  void rank_denominators(int threads);

  Picked pick(int above, int below, bool chance, Xoshiro& random) const;

 private:
  struct Trial;
  Trial attempt(const std::vector<std::size_t>& below, int above, Xoshiro* random) const;

  const double* entry(std::size_t j) const { return entries_.data() + j * rows_; }
  numeric::Vector with_entries(const double* v) const;  // products of each entry with v
  void compare_entries();

  const Dictionary& dictionary_;
  std::size_t rows_, above_entries_, below_entries_;
  std::vector<double> entries_;  // of unit length, one after the other
  // Products of entries with each other, with the weights, and with y*q for every q, and y last: attempts need them
  // thousands of times.
  numeric::Vector with_entry_, with_weight_;
  std::vector<numeric::Vector> with_target_;
  std::vector<std::vector<std::size_t>> ranking_;  // for 0, 1, 2, ... entries above
};

}  // namespace nalm::fitting
