#include "tasks/single_module/seed_streams.hpp"

#include <algorithm>

#include "tasks/single_module/lane_stream.hpp"

namespace nalm {

SeedStreams::SeedStreams(const simd::Target& target, const std::vector<std::uint32_t>& seeds)
    : target_index_(target.index),
      lanes_(static_cast<std::size_t>(target.float_lanes)),
      seeds_(seeds.size()),
      row_(seeds_ % lanes_ == 0 ? seeds_ : (seeds_ / lanes_ + 2) * lanes_) {
  for (std::size_t first = 0; first < seeds_; first += lanes_) {
    AlignedVector<std::uint32_t>& state = states_.emplace_back(state_size * lanes_);
    for (std::size_t w = 0; w < lanes_; ++w) {
      // Words become doubles by pairs, the first two of every four in the lower half of the lanes.
      const std::size_t lane = lanes_ < 4 ? w : w % 4 / 2 * (lanes_ / 2) + w / 4 * 2 + w % 2;
      // Knuth's initialiser, as in std::mt19937.
      std::uint32_t word = seeds[(first + lane) % seeds_];
      for (std::uint32_t k = 0; k < state_size; ++k) {
        if (k > 0) word = 1812433253u * (word ^ (word >> 30)) + k;
        state[k * lanes_ + w] = word;
      }
    }
  }
}

void SeedStreams::draw(int values, double* numbers) {
  const StreamKernels& kernels = stream_kernels(target_index_);
  while (values > 0) {
    if (position_ == state_size) {
      for (AlignedVector<std::uint32_t>& state : states_) kernels.refill(state.data());
      position_ = 0;
    }
    const int count = std::min(values, (state_size - position_) / 2);
    for (std::size_t k = 0; k < states_.size(); ++k) {
      const std::size_t again = k == 0 && row_ > seeds_ ? seeds_ : 0;
      kernels.numbers(states_[k].data() + static_cast<std::size_t>(position_) * lanes_, count, numbers + k * lanes_,
                      row_, again);
    }
    position_ += 2 * count;
    numbers += static_cast<std::size_t>(count) * row_;
    values -= count;
  }
}

}  // namespace nalm
