// The training batches of a bundle of runs: each lane has the paper's stream of its own seed and its own range, and all
// lanes draw side by side. Drawing is the same Mersenne Twister and the same mapping as NumpyStream, to the bit.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "bench/single_module_data.hpp"
#include "simd/dispatch.hpp"

namespace nalm {

class LaneStream {
 public:
  struct Lane {
    std::uint32_t seed = 0;  // of the run
    Range range;
  };
  // As many lanes as the target has.
  LaneStream(const simd::Target& target, std::span<const Lane> lanes, int inputs);

  // The next samples in lane layout: inputs, and the targets of every operation whose array is not null.
  using Targets = std::array<float*, all_operations.size()>;
  void next(int samples, float* x, const Targets& targets);

 private:
  static constexpr int state_size = 624;
  // Samples whose inputs are kept in double at a time; the targets are computed from those.
  static constexpr int block = 32;

  void draw(int values, float* x);

  int target_index_, inputs_;
  std::size_t lanes_;
  bool operands_first_ = true;
  std::vector<int> first_operand_;
  AlignedVector<std::uint32_t> state_;
  int position_ = state_size;
  AlignedVector<double> lo_, width_;
  AlignedVector<double> exact_;     // inputs of a block, before rounding
  AlignedVector<double> operands_;  // the two operands of a block, where they differ from lane to lane
};

// Compiled per instruction set. Arrays are in lane layout.
struct StreamKernels {
  // The next 624 words of every generator, before tempering.
  void (*refill)(std::uint32_t* state);
  // lo + width * u for u in [0, 1), each from two words: in double, and rounded.
  void (*uniform)(const std::uint32_t* words, int count, const double* lo, const double* width, double* exact,
                  float* rounded);
  // Computed in double, rounded once. a, b and the next sample's a stand stride values apart.
  void (*target)(Operation operation, const double* a, const double* b, int stride, int count, float* t);
};
const StreamKernels& stream_kernels(int target_index);

}  // namespace nalm
