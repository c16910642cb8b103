#include "tasks/single_module/seed_streams.hpp"

#include <algorithm>
#include <utility>

#include "tasks/single_module/lane_stream.hpp"

namespace nalm {

SeedStreams::SeedStreams(const simd::Target& target, std::vector<std::uint32_t> seeds)
    : target_index_(target.index), seeds_(std::move(seeds)), state_(state_size * seeds_.size()) {
  const std::size_t lanes = seeds_.size();
  for (std::size_t w = 0; w < lanes; ++w) {
    // Words become doubles by pairs, the first two of every four in the lower half of the lanes.
    const std::size_t lane = lanes < 4 ? w : w % 4 / 2 * (lanes / 2) + w / 4 * 2 + w % 2;
    // Knuth's initialiser, as in std::mt19937.
    std::uint32_t word = seeds_[lane];
    for (std::uint32_t k = 0; k < state_size; ++k) {
      if (k > 0) word = 1812433253u * (word ^ (word >> 30)) + k;
      state_[k * lanes + w] = word;
    }
  }
}

void SeedStreams::draw(int values, double* numbers) {
  const StreamKernels& kernels = stream_kernels(target_index_);
  while (values > 0) {
    if (position_ == state_size) {
      kernels.refill(state_.data());
      position_ = 0;
    }
    const int count = std::min(values, (state_size - position_) / 2);
    kernels.numbers(state_.data() + static_cast<std::size_t>(position_) * seeds_.size(), count, numbers);
    position_ += 2 * count;
    numbers += static_cast<std::size_t>(count) * seeds_.size();
    values -= count;
  }
}

}  // namespace nalm
