#include "tasks/subset_sums.hpp"

namespace nalm {

#define NALM_DECLARE_SUBSETS(target) extern const SubsetKernels subset_sums_##target;
NALM_FOR_EACH_TARGET(NALM_DECLARE_SUBSETS)
#define NALM_SUBSETS(target) &subset_sums_##target,

static const SubsetKernels& subset_kernels(int target_index) {
  static constexpr const SubsetKernels* tables[] = {NALM_FOR_EACH_TARGET(NALM_SUBSETS)};
  return *tables[static_cast<std::size_t>(target_index)];
}

std::string_view name_of(SubsetOperation operation) {
  static constexpr std::string_view names[] = {"add", "sub", "mul", "div", "square", "root"};
  return names[static_cast<std::size_t>(operation)];
}

SubsetSource::SubsetSource(const simd::Target& target, std::span<const std::uint32_t> seeds,
                           std::span<const Subsets> subsets, const Range& range, SubsetOperation operation, int inputs,
                           int rows)
    : row_count_(rows),
      state_(4 * seeds.size()),
      in_a_(static_cast<std::size_t>(inputs) * seeds.size()),
      in_b_(in_a_.size()),
      rows_{operation, inputs, in_a_.data(), in_b_.data(), range.lo, range.hi, range.hi, 0},
      draw_(range.second ? subset_kernels(target.index).two_parts : subset_kernels(target.index).one_part) {
  if (range.second) {
    // Two parts are drawn as one of twice the width, and moved apart.
    rows_.hi = range.lo + 2 * (range.hi - range.lo);
    rows_.apart = range.second->lo - range.hi;
  }
  const std::size_t lanes = seeds.size();
  for (std::size_t l = 0; l < lanes; ++l) {
    Xoshiro stream = stream_of("training batches", seeds[l]);
    for (std::size_t word = 0; word < 4; ++word)
      state_[word * lanes + l] = static_cast<std::uint32_t>(stream.next() >> 32);
    const Subsets& s = subsets[l];
    for (int i = s.a_first; i < s.a_end; ++i) in_a_[static_cast<std::size_t>(i) * lanes + l] = 1;
    for (int i = s.b_first; i < s.b_end; ++i) in_b_[static_cast<std::size_t>(i) * lanes + l] = 1;
  }
}

void SubsetSource::batch(long, float* x, float* t) { draw_(rows_, state_.data(), row_count_, x, t); }

}  // namespace nalm
