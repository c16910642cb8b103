// Starts for a sum of products times a factor that many formulas of physics have: a product of columns, and a sum or
// difference of columns, of their squares, or of a column and 1, to some power. All of these are tried as factors.
#pragma once

#include <map>
#include <utility>

#include "fit/starts/dictionary.hpp"

namespace nalm::fitting {

class FactorPicker {
 public:
  // Of these rows at most so many.
  FactorPicker(const Data& data, const std::vector<std::size_t>& rows, Powers allowed, std::size_t at_most);

  // Tries every factor with so many products to go with it, whose sum is this power of the rest. Once, before pick().
  void rank_factors(int count, double target_power, int threads);

  struct Factor {
    PowerList product;
    InnerSum sum;
    double power;
    std::vector<double> values;  // of the factor, on the dictionary's rows
  };
  // target = picked^(1/target_power) * product * sum^power, all in scaled units.
  struct Factored {
    Picked picked;
    const Factor* factor;
  };
  Factored pick(int count, double target_power, bool chance, Xoshiro& random) const;
  const Dictionary& dictionary() const { return dictionary_; }

 private:
  Dictionary dictionary_;
  std::vector<Factor> factors_;
  std::map<std::pair<int, double>, std::vector<std::size_t>> ranking_;  // for a number of products and a power
};

}  // namespace nalm::fitting
