#include "tasks/single_module/data.hpp"

#include <array>

#include "tasks/operation.hpp"

namespace nalm {

std::span<const TaskRange> paper_ranges() {
  static const std::array<TaskRange, 9> ranges{{
      {{-20, -10, {}}, {-40, -20, {}}},
      {{-2, -1, {}}, {-6, -2, {}}},
      {{-1.2, -1.1, {}}, {-6.1, -1.2, {}}},
      {{-0.2, -0.1, {}}, {-2, -0.2, {}}},
      {{-2, 2, {}}, {-6, -2, Range::Part{2, 6}}},
      {{0.1, 0.2, {}}, {0.2, 2, {}}},
      {{1, 2, {}}, {2, 6, {}}},
      {{1.1, 1.2, {}}, {1.2, 6, {}}},
      {{10, 20, {}}, {20, 40, {}}},
  }};
  return ranges;
}

OperandPlace::OperandPlace(std::uint32_t run_seed, int inputs) {
  NumpyStream root(run_seed);
  first_operand = static_cast<int>(root.up_to(static_cast<std::uint32_t>(inputs > 2 ? inputs - 2 : 0)));
  do {
    train_seed = root.next();
  } while (train_seed == 0xffffffffu);
}

Samples draw(NumpyStream& stream, const Range& range, Operation operation, int inputs, int first_operand, int rows) {
  const std::size_t n = static_cast<std::size_t>(rows) * static_cast<std::size_t>(inputs);
  std::vector<double> x(n);
  for (double& value : x) value = range.lo + (range.hi - range.lo) * stream.unit();
  if (range.second) {
    // The whole block of the second part, then the coins: 1 keeps the first part.
    std::vector<double> other(n);
    for (double& value : other) value = range.second->lo + (range.second->hi - range.second->lo) * stream.unit();
    for (std::size_t k = 0; k < n; ++k) x[k] = (stream.next() & 1u) ? x[k] : other[k];
  }
  Samples samples;
  samples.x.assign(x.begin(), x.end());
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
    const double a = x[row * static_cast<std::size_t>(inputs) + static_cast<std::size_t>(first_operand)];
    const double b = x[row * static_cast<std::size_t>(inputs) + static_cast<std::size_t>(first_operand) + 1];
    samples.t.push_back(static_cast<float>(apply(operation, a, b)));
  }
  return samples;
}

}  // namespace nalm
