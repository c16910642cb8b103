// The random numbers of as many seeds as there are lanes: they depend on the seed alone, so all ranges, operations and
// modules share them. The same Mersenne Twister and the same 53 bits as NumpyStream.
#pragma once

#include <cstdint>
#include <vector>

#include "base/aligned.hpp"
#include "simd/dispatch.hpp"

namespace nalm {

class SeedStreams {
 public:
  SeedStreams(const simd::Target& target, std::vector<std::uint32_t> seeds);

  const std::vector<std::uint32_t>& seeds() const { return seeds_; }

  // The next values of every stream, in lane layout: whole numbers below 2^53, of which NumpyStream::unit() is the
  // 2^53rd part.
  void draw(int values, double* numbers);

 private:
  static constexpr int state_size = 624;

  int target_index_;
  std::vector<std::uint32_t> seeds_;  // per lane
  AlignedVector<std::uint32_t> state_;
  int position_ = state_size;
};

}  // namespace nalm
