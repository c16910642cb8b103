#include "tasks/single_module/lane_stream.hpp"

#include <utility>

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
    : target_index_(target.index), inputs_(inputs), lanes_(lanes.size()), lo_(lanes_), step_(lanes_) {
  for (std::size_t l = 0; l < lanes_; ++l) {
    const OperandPlace data(lanes[l].seed, inputs);
    first_operand_.push_back(data.first_operand);
    same_operands_ = same_operands_ && data.first_operand == first_operand_.front();
    lo_[l] = lanes[l].range.lo;
    // A power of two does not change the rounding: the same bits as lo + width * unit().
    step_[l] = (lanes[l].range.hi - lanes[l].range.lo) * 0x1p-53;
  }
}

void LaneStream::read(const double* numbers, std::size_t row, int samples, float* x, const Targets& targets) {
  const StreamKernels& kernels = stream_kernels(target_index_);
  const std::size_t sample = static_cast<std::size_t>(inputs_) * row;
  // Two inputs are written together with the first target.
  if (inputs_ > 2) kernels.inputs(numbers, row, samples * inputs_, lo_.data(), step_.data(), std::exchange(x, nullptr));
  const double *a = numbers + static_cast<std::size_t>(first_operand_.front()) * row, *b = a + row;
  std::size_t stride = sample;
  if (!same_operands_) {
    operands_.resize(2 * static_cast<std::size_t>(samples) * lanes_);
    for (std::size_t k = 0; k < static_cast<std::size_t>(samples); ++k) {
      for (std::size_t l = 0; l < lanes_; ++l) {
        const double* operand = numbers + k * sample + static_cast<std::size_t>(first_operand_[l]) * row + l;
        operands_[2 * k * lanes_ + l] = operand[0];
        operands_[(2 * k + 1) * lanes_ + l] = operand[row];
      }
    }
    a = operands_.data(), b = a + lanes_, stride = 2 * lanes_;
  }
  for (const Operation operation : all_operations)
    if (float* t = targets[static_cast<std::size_t>(operation)])
      kernels.target(operation, a, b, stride, samples, lo_.data(), step_.data(), std::exchange(x, nullptr), t);
}

}  // namespace nalm
