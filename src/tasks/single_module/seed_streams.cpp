#include "tasks/single_module/seed_streams.hpp"

#include <algorithm>

#include "tasks/single_module/lane_stream.hpp"

namespace nalm {

SeedStreams::SeedStreams(const simd::Target& target)
    : target_index_(target.index), lanes_(static_cast<std::size_t>(target.float_lanes)) {}

std::size_t SeedStreams::column_of(std::span<const std::uint32_t> seeds) {
  const auto found = std::search(seeds_.begin(), seeds_.end(), seeds.begin(), seeds.end());
  const std::size_t column = static_cast<std::size_t>(found - seeds_.begin());
  if (found != seeds_.end()) return column;
  seeds_.insert(seeds_.end(), seeds.begin(), seeds.end());
  AlignedVector<std::uint32_t>& state = states_.emplace_back(state_size * lanes_);
  for (std::size_t l = 0; l < lanes_; ++l) {
    // Knuth's initialiser, as in std::mt19937.
    std::uint32_t word = seeds[l];
    for (std::uint32_t k = 0; k < state_size; ++k) {
      if (k > 0) word = 1812433253u * (word ^ (word >> 30)) + k;
      state[k * lanes_ + l] = word;
    }
  }
  return column;
}

void SeedStreams::draw(int values) {
  const StreamKernels& kernels = stream_kernels(target_index_);
  if (const std::size_t size = static_cast<std::size_t>(values) * columns(); uniform_.size() < size)
    uniform_.resize(size);
  for (double* row = uniform_.data(); values > 0;) {
    if (position_ == state_size) {
      for (AlignedVector<std::uint32_t>& state : states_) kernels.refill(state.data());
      position_ = 0;
    }
    const int count = std::min(values, (state_size - position_) / 2);
    for (std::size_t k = 0; k < states_.size(); ++k)
      kernels.uniform(states_[k].data() + static_cast<std::size_t>(position_) * lanes_, count, row + k * lanes_,
                      columns());
    position_ += 2 * count;
    row += static_cast<std::size_t>(count) * columns();
    values -= count;
  }
}

}  // namespace nalm
