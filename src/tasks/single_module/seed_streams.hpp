// The uniform numbers of many seeds, drawn once for all ranges, operations and modules: they depend on the seed alone.
// Drawing is the same Mersenne Twister and the same 53 bits as NumpyStream, for as many seeds at a time as there are
// lanes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "simd/dispatch.hpp"

namespace nalm {

class SeedStreams {
 public:
  explicit SeedStreams(const simd::Target& target);

  // The column from which on these streams stand side by side, one seed per lane. They are added unless they stand so
  // already: of 25 seeds in a ring, any eight in a row are found in 32 columns. Before the first draw.
  std::size_t column_of(std::span<const std::uint32_t> seeds);

  // The next values of every stream; those before are gone.
  void draw(int values);
  // Value k of column c stands at uniform()[k * columns() + c].
  const double* uniform() const { return uniform_.data(); }
  std::size_t columns() const { return seeds_.size(); }

 private:
  static constexpr int state_size = 624;

  int target_index_;
  std::size_t lanes_;
  std::vector<std::uint32_t> seeds_;                  // per column
  std::vector<AlignedVector<std::uint32_t>> states_;  // of as many columns as there are lanes
  int position_ = state_size;
  AlignedVector<double> uniform_;
};

}  // namespace nalm
