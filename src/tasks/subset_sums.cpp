#include "tasks/subset_sums.hpp"

#include <algorithm>
#include <cmath>

#include "tasks/subset_kernels.hpp"
#include "train/step_kernels.hpp"

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

double apply(SubsetOperation operation, double a, double b) {
  switch (operation) {
    case SubsetOperation::Add:
      return a + b;
    case SubsetOperation::Subtract:
      return a - b;
    case SubsetOperation::Multiply:
      return a * b;
    case SubsetOperation::Divide:
      return a / b;
    case SubsetOperation::Square:
      return a * a;
    case SubsetOperation::Root:
      return std::sqrt(a);
  }
  return 0;
}

SubsetSource::SubsetSource(const simd::Target& target, std::span<const std::uint32_t> seeds,
                           std::span<const Subsets> subsets, const Range& range, SubsetOperation operation, int inputs,
                           int rows)
    : target_index_(target.index),
      inputs_(inputs),
      rows_(rows),
      lanes_(seeds.size()),
      operation_(operation),
      range_(range),
      first_(inputs),
      state_(4 * lanes_),
      limit_(lanes_),
      in_a_(static_cast<std::size_t>(inputs) * lanes_),
      in_b_(in_a_.size()),
      sums_(2 * lanes_) {
  for (std::size_t l = 0; l < lanes_; ++l) {
    Xoshiro stream = stream_of("training batches", seeds[l]);
    for (std::size_t word = 0; word < 4; ++word)
      state_[word * lanes_ + l] = static_cast<std::uint32_t>(stream.next() >> 32);
    // Two parts are drawn as one of twice the width, and moved apart.
    limit_[l] = static_cast<float>(range.second ? range.lo + 2 * (range.hi - range.lo) : range.hi);
    const Subsets& s = subsets[l];
    for (int i = s.a_first; i < s.a_end; ++i) in_a_[static_cast<std::size_t>(i) * lanes_ + l] = 1;
    for (int i = s.b_first; i < s.b_end; ++i) in_b_[static_cast<std::size_t>(i) * lanes_ + l] = 1;
    first_ = std::min({first_, s.a_first, s.b_first});
    end_ = std::max({end_, s.a_end, s.b_end});
  }
}

void SubsetSource::batch(long, float* x, float* t) {
  const auto draw = step_kernels<float>(target_index_).noise;
  const auto sums = subset_kernels(target_index_).sums;
  const std::size_t row = static_cast<std::size_t>(inputs_) * lanes_, start = static_cast<std::size_t>(first_) * lanes_;
  const float middle = static_cast<float>(range_.hi);
  const float apart = range_.second ? static_cast<float>(range_.second->lo - range_.hi) : 0;
  for (int r = 0; r < rows_; ++r, x += row) {
    draw(state_.data(), x, inputs_, range_.lo, limit_.data());
    if (range_.second)
      for (std::size_t k = 0; k < row; ++k) x[k] += x[k] < middle ? 0 : apart;
    sums(x + start, in_a_.data() + start, in_b_.data() + start, end_ - first_, sums_.data());
    const float *a = sums_.data(), *b = a + lanes_;
    for (std::size_t l = 0; l < lanes_; ++l) *t++ = static_cast<float>(apply(operation_, a[l], b[l]));
  }
}

}  // namespace nalm
