// The training batches of a bundle of runs: each lane has the numbers of its own seed on its own range, to the bit as
// draw() gives them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "simd/dispatch.hpp"
#include "tasks/single_module/data.hpp"

namespace nalm {

class LaneStream {
 public:
  struct Lane {
    std::uint32_t seed = 0;  // of the run
    Range range;
  };
  // As many lanes as the target has.
  LaneStream(const simd::Target& target, std::span<const Lane> lanes, int inputs);

  // So many samples from what SeedStreams drew, values row numbers apart, beginning with the number of the first lane:
  // inputs, in lane layout, and the targets of every operation whose array is not null.
  using Targets = std::array<float*, all_operations.size()>;
  void read(const double* numbers, std::size_t row, int samples, float* x, const Targets& targets);

 private:
  int target_index_, inputs_;
  std::size_t lanes_;
  bool same_operands_ = true;  // in every lane
  std::vector<int> first_operand_;
  AlignedVector<double> lo_, step_;  // number n stands for lo + step * n
  AlignedVector<double> operands_;   // their numbers, where they stand elsewhere from lane to lane
};

// Compiled per instruction set. Arrays are in lane layout, but for numbers: those of one value stand together, and
// values a row apart.
struct StreamKernels {
  // The next 624 words of every generator, before tempering.
  void (*refill)(std::uint32_t* state);
  // Whole numbers below 2^53, each from two words; unless it is 0, so far behind them once more.
  void (*numbers)(const std::uint32_t* words, int count, double* n, std::size_t row, std::size_t again);
  // lo + step * n, rounded.
  void (*inputs)(const double* n, std::size_t row, int count, const double* lo, const double* step, float* x);
  // The operation on lo + step * a and lo + step * b: computed in double, rounded once. Unless x is null, these two are
  // stored there too, each rounded. Operands of samples stand stride numbers apart.
  void (*target)(Operation operation, const double* a, const double* b, std::size_t stride, int count, const double* lo,
                 const double* step, float* x, float* t);
  // So many values, in every lane those of its own source.
  void (*spread)(const float* const* sources, std::size_t different, const std::int32_t* source, std::size_t count,
                 float* x);
};
const StreamKernels& stream_kernels(int target_index);

}  // namespace nalm
