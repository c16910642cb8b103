// The random numbers of some seeds: they depend on the seed alone, so all ranges, operations and modules share them.
// The same Mersenne Twister and the same 53 bits as NumpyStream.
#pragma once

#include <cstdint>
#include <vector>

#include "base/aligned.hpp"
#include "simd/dispatch.hpp"

namespace nalm {

class SeedStreams {
 public:
  SeedStreams(const simd::Target& target, const std::vector<std::uint32_t>& seeds);

  // Doubles that stand for one value of every stream: number j belongs to seed j, and behind the last seed the first
  // ones follow again, so that the lanes of a bundle whose runs go round the seeds are one load, wherever they begin.
  std::size_t row() const { return row_; }

  // The next values of every stream, row by row: whole numbers below 2^53, of which NumpyStream::unit() is the 2^53rd
  // part.
  void draw(int values, double* numbers);

 private:
  static constexpr int state_size = 624;

  int target_index_;
  std::size_t lanes_, seeds_, row_;
  std::vector<AlignedVector<std::uint32_t>> states_;  // each of as many generators as there are lanes
  int position_ = state_size;
};

}  // namespace nalm
