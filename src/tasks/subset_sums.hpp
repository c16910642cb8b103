// The data of the tasks that sum two subsets of many inputs, a whole bundle at a time: drawing a hundred numbers per
// row costs more than the network itself, so it is done in lanes.
#pragma once

#include <cstdint>
#include <span>

#include "base/aligned.hpp"
#include "experiment/task.hpp"
#include "simd/dispatch.hpp"
#include "tasks/single_module/data.hpp"
#include "tasks/subset_kernels.hpp"

namespace nalm {

// a and b are the sums over these inputs; both ends count from 0, and the last is not included.
struct Subsets {
  int a_first = 0, a_end = 0, b_first = 0, b_end = 0;
};

std::string_view name_of(SubsetOperation operation);  // add, sub, mul, div, square, root

// Endless batches: every lane has a stream and subsets of its own. The sums are taken in float here, which is label
// noise of about 1e-7; validation and test rows are computed in double.
class SubsetSource final : public LaneSource {
 public:
  SubsetSource(const simd::Target& target, std::span<const std::uint32_t> seeds, std::span<const Subsets> subsets,
               const Range& range, SubsetOperation operation, int inputs, int rows);
  void batch(long iteration, float* x, float* t) override;

 private:
  int row_count_;
  AlignedVector<std::uint32_t> state_;
  AlignedVector<float> in_a_, in_b_;
  SubsetRows rows_;
  DrawRows draw_;
};

}  // namespace nalm
