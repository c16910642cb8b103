// Starts for sums of products: products that explain the target well together, picked greedily from the dictionary,
// with some chance in it so that every restart starts elsewhere.
#pragma once

#include "fit/starts/dictionary.hpp"

namespace nalm::fitting {

// Powers of the columns, and the logarithm of a factor, of the one product that is closest to the target, by least
// squares on logarithms in scaled units; small targets count little, as their errors are large there.
numeric::Vector powers_of_one_product(const Data& data, const std::vector<std::size_t>& rows);

// Picks products for one goal.
class ProductPicker {
 public:
  ProductPicker(const Dictionary& dictionary, Goal goal);

  // So many entries and a constant. Without chance: the best every time. whole: only whole powers, of which fewer look
  // alike.
  Picked pick(int count, bool chance, bool whole, Xoshiro& random) const;

 private:
  class Pursuit;

  void fill(std::size_t entry, numeric::Vector& out) const;     // its weighted values
  numeric::Vector products_with(numeric::Vector values) const;  // of every entry

  const Dictionary& d_;
  const Goal goal_;
  numeric::Vector whole_, weighted_;        // squares of every entry; the target
  numeric::Vector of_target_, of_weights_;  // products of every entry with these
  std::vector<numeric::Vector> of_beside_;
};

}  // namespace nalm::fitting
