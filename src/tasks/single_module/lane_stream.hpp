// The training batches of a bundle of runs: each lane has the uniform numbers of its own seed on its own range, to the
// bit as draw() gives them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "simd/dispatch.hpp"
#include "tasks/single_module/data.hpp"
#include "tasks/single_module/seed_streams.hpp"

namespace nalm {

class LaneStream {
 public:
  struct Lane {
    std::uint32_t seed = 0;  // of the run
    Range range;
  };
  // As many lanes as the target has. Whoever draws from the streams does so after all bundles that share them are made.
  LaneStream(const simd::Target& target, SeedStreams& streams, std::span<const Lane> lanes, int inputs);

  // The samples that were drawn last, in lane layout: inputs, and the targets of every operation whose array is not
  // null.
  using Targets = std::array<float*, all_operations.size()>;
  void read(const SeedStreams& streams, int samples, float* x, const Targets& targets);

 private:
  int target_index_, inputs_;
  std::size_t lanes_, column_;
  bool same_operands_ = true;  // in every lane
  std::vector<int> first_operand_;
  AlignedVector<double> lo_, width_;
  AlignedVector<double> operands_;  // their uniform numbers, where they stand elsewhere from lane to lane
};

// Compiled per instruction set. Arrays are in lane layout, but rows of uniform numbers stand stride numbers apart.
struct StreamKernels {
  // The next 624 words of every generator, before tempering.
  void (*refill)(std::uint32_t* state);
  // u in [0, 1), each from two words.
  void (*uniform)(const std::uint32_t* words, int count, double* u, std::size_t stride);
  // lo + width * u, rounded.
  void (*inputs)(const double* u, std::size_t stride, int count, const double* lo, const double* width, float* x);
  // The operation on lo + width * a and lo + width * b: computed in double, rounded once. Unless x is null, these two
  // are stored there too, each rounded.
  void (*target)(Operation operation, const double* a, const double* b, std::size_t stride, int count, const double* lo,
                 const double* width, float* x, float* t);
};
const StreamKernels& stream_kernels(int target_index);

}  // namespace nalm
