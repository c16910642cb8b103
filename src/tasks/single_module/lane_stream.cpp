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

LaneStream::LaneStream(const simd::Target& target, SeedStreams& streams, std::span<const Lane> lanes, int inputs)
    : target_index_(target.index), inputs_(inputs), lanes_(lanes.size()), lo_(lanes_), width_(lanes_) {
  std::vector<std::uint32_t> seeds;
  for (std::size_t l = 0; l < lanes_; ++l) {
    const OperandPlace data(lanes[l].seed, inputs);
    seeds.push_back(data.train_seed);
    first_operand_.push_back(data.first_operand);
    same_operands_ = same_operands_ && data.first_operand == first_operand_.front();
    lo_[l] = lanes[l].range.lo;
    width_[l] = lanes[l].range.hi - lanes[l].range.lo;
  }
  column_ = streams.column_of(seeds);
}

void LaneStream::read(const SeedStreams& streams, int samples, float* x, const Targets& targets) {
  const StreamKernels& kernels = stream_kernels(target_index_);
  const std::size_t columns = streams.columns(), row = static_cast<std::size_t>(inputs_) * columns;
  const double* u = streams.uniform() + column_;
  // Two inputs are written together with the first target.
  if (inputs_ > 2) kernels.inputs(u, columns, samples * inputs_, lo_.data(), width_.data(), std::exchange(x, nullptr));
  const double *a = u + static_cast<std::size_t>(first_operand_.front()) * columns, *b = a + columns;
  std::size_t stride = row;
  if (!same_operands_) {
    operands_.resize(2 * static_cast<std::size_t>(samples) * lanes_);
    for (std::size_t k = 0; k < static_cast<std::size_t>(samples); ++k) {
      for (std::size_t l = 0; l < lanes_; ++l) {
        const double* operand = u + k * row + static_cast<std::size_t>(first_operand_[l]) * columns + l;
        operands_[2 * k * lanes_ + l] = operand[0];
        operands_[(2 * k + 1) * lanes_ + l] = operand[columns];
      }
    }
    a = operands_.data(), b = a + lanes_, stride = 2 * lanes_;
  }
  for (const Operation operation : all_operations)
    if (float* t = targets[static_cast<std::size_t>(operation)])
      kernels.target(operation, a, b, stride, samples, lo_.data(), width_.data(), std::exchange(x, nullptr), t);
}

}  // namespace nalm
