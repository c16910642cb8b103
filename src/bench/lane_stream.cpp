#include "bench/lane_stream.hpp"

#include <algorithm>

#include "simd/compiled_targets.hpp"

namespace nalm {

#define NALM_DECLARE_STREAM(target) extern const StreamKernels stream_kernels_##target;
NALM_FOR_EACH_TARGET(NALM_DECLARE_STREAM)
#define NALM_STREAM(target) &stream_kernels_##target,

const StreamKernels& stream_kernels(int target_index) {
  static constexpr const StreamKernels* tables[] = {NALM_FOR_EACH_TARGET(NALM_STREAM)};
  return *tables[static_cast<std::size_t>(target_index)];
}

LaneStream::LaneStream(const simd::Target& target, std::span<const Lane> lanes, int inputs)
    : target_index_(target.index),
      inputs_(inputs),
      lanes_(lanes.size()),
      state_(state_size * lanes_),
      lo_(lanes_),
      width_(lanes_),
      exact_(static_cast<std::size_t>(block * inputs) * lanes_),
      operands_(static_cast<std::size_t>(2 * block) * lanes_) {
  for (std::size_t l = 0; l < lanes_; ++l) {
    const OperandPlace data(lanes[l].seed, inputs);
    first_operand_.push_back(data.first_operand);
    operands_first_ = operands_first_ && data.first_operand == 0;
    lo_[l] = lanes[l].range.lo;
    width_[l] = lanes[l].range.hi - lanes[l].range.lo;
    // Knuth's initialiser, as in std::mt19937.
    std::uint32_t word = data.train_seed;
    for (std::uint32_t k = 0; k < state_size; ++k) {
      if (k > 0) word = 1812433253u * (word ^ (word >> 30)) + k;
      state_[k * lanes_ + l] = word;
    }
  }
}

void LaneStream::draw(int values, float* x) {
  const StreamKernels& kernels = stream_kernels(target_index_);
  double* exact = exact_.data();
  while (values > 0) {
    if (position_ == state_size) {
      kernels.refill(state_.data());
      position_ = 0;
    }
    const int count = std::min(values, (state_size - position_) / 2);
    kernels.uniform(state_.data() + static_cast<std::size_t>(position_) * lanes_, count, lo_.data(), width_.data(),
                    exact, x);
    position_ += 2 * count;
    exact += static_cast<std::size_t>(count) * lanes_;
    x += static_cast<std::size_t>(count) * lanes_;
    values -= count;
  }
}

void LaneStream::next(int samples, float* x, const Targets& targets) {
  const StreamKernels& kernels = stream_kernels(target_index_);
  const std::size_t row = static_cast<std::size_t>(inputs_) * lanes_;
  for (int first = 0; first < samples; first += block) {
    const int count = std::min(block, samples - first);
    draw(count * inputs_, x + static_cast<std::size_t>(first) * row);
    const double *a = exact_.data(), *b = a + lanes_;
    int stride = inputs_;
    if (!operands_first_) {
      for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
        for (std::size_t l = 0; l < lanes_; ++l) {
          const double* operand = exact_.data() + k * row + static_cast<std::size_t>(first_operand_[l]) * lanes_ + l;
          operands_[2 * k * lanes_ + l] = operand[0];
          operands_[(2 * k + 1) * lanes_ + l] = operand[lanes_];
        }
      }
      a = operands_.data(), b = a + lanes_, stride = 2;
    }
    for (const Operation operation : all_operations) {
      float* t = targets[static_cast<std::size_t>(operation)];
      if (t) kernels.target(operation, a, b, stride, count, t + static_cast<std::size_t>(first) * lanes_);
    }
  }
}

}  // namespace nalm
