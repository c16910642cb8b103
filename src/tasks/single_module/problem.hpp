// What is known about a cell of the single module task: the operation, the ranges, and so what almost right means.
#pragma once

#include "experiment/cell.hpp"
#include "tasks/single_module/data.hpp"
#include "tasks/single_module/ranges.hpp"

namespace nalm {

class SingleModuleProblem final : public Problem {
 public:
  SingleModuleProblem(const Pair& p, const TaskRange& r, int i) : pair(p), range(r), inputs(i) {}

  // Epsilon and LogSpace: thresholds.hpp. Mape: that of the model behind Epsilon, on the test rows. Correlation does
  // not see an error that all weights share, so its model has the first operand's weight, or power, 1 - epsilon and the
  // second one's 1 + epsilon.
  std::optional<double> limit(const Criterion& criterion, std::uint32_t seed) const override;
  std::shared_ptr<const Rows> test_rows(std::uint32_t seed) const override;
  std::optional<Failure> diagnose(const Cell& cell, const RunRecord& record, const RunResult& result) const override;

  const Pair pair;
  const TaskRange range;
  const int inputs;
};

// The problem of a cell of this task.
const SingleModuleProblem& problem_of(const Cell& cell);

// The order of a cell's measures.
namespace single_module {
inline constexpr std::size_t validation_mse = 0, test_mse = 1, sparsity_error = 2;
}

}  // namespace nalm
