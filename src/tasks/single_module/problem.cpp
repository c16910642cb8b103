#include "tasks/single_module/problem.hpp"

#include <list>
#include <mutex>
#include <tuple>

#include "experiment/predictions.hpp"
#include "tasks/single_module/failures.hpp"
#include "tasks/single_module/thresholds.hpp"

namespace nalm {
namespace {

constexpr int test_row_count = 10000;

// Drawing test rows costs about as much as a prediction, and the runs of a cell share them: the last few are kept.
class TestSets {
 public:
  std::shared_ptr<const Rows> get(const SingleModuleProblem& problem, int first_operand) {
    const Range& range = problem.range.test;
    const Key key{range.lo,
                  range.hi,
                  range.second ? std::optional(range.second->lo) : std::nullopt,
                  problem.pair.operation,
                  problem.inputs,
                  first_operand};
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(sets_.begin(), sets_.end(), [&](const Entry& entry) { return entry.key == key; });
    if (found != sets_.end()) {
      sets_.splice(sets_.begin(), sets_, found);
      return sets_.front().rows;
    }
    NumpyStream stream(test_seed);
    const Samples samples = draw(stream, range, problem.pair.operation, problem.inputs, first_operand, test_row_count);
    auto rows = std::make_shared<Rows>();
    rows->x.assign(samples.x.begin(), samples.x.end());
    rows->t.assign(samples.t.begin(), samples.t.end());
    sets_.push_front({key, rows});
    numbers_ += rows->x.size();
    while (numbers_ > largest_size && sets_.size() > 1) {
      numbers_ -= sets_.back().rows->x.size();
      sets_.pop_back();
    }
    return rows;
  }

 private:
  static constexpr std::size_t largest_size = 4'000'000;  // 32 MB

  // Both parts of a range are equally wide, so that the second one needs one end only.
  using Key = std::tuple<double, double, std::optional<double>, Operation, int, int>;
  struct Entry {
    Key key;
    std::shared_ptr<const Rows> rows;
  };

  std::mutex mutex_;
  std::list<Entry> sets_;  // the latest first
  std::size_t numbers_ = 0;
};

}  // namespace

const SingleModuleProblem& problem_of(const Cell& cell) {
  return static_cast<const SingleModuleProblem&>(*cell.problem);
}

std::shared_ptr<const Rows> SingleModuleProblem::test_rows(std::uint32_t seed) const {
  static TestSets sets;
  return sets.get(*this, OperandPlace(seed, inputs).first_operand);
}

std::optional<double> SingleModuleProblem::limit(const Criterion& criterion, std::uint32_t seed) const {
  if (criterion.kind == Criterion::Kind::Epsilon)
    return epsilon_threshold(pair.operation, range.test, inputs, criterion.epsilon);
  if (criterion.kind == Criterion::Kind::LogSpace)
    return log_space_threshold(pair.operation, range.test, inputs, criterion.epsilon);
  if (!criterion.needs_predictions()) return std::nullopt;
  const std::shared_ptr<const Rows> rows = test_rows(seed);
  const std::size_t first = static_cast<std::size_t>(OperandPlace(seed, inputs).first_operand);
  const bool correlated = criterion.kind == Criterion::Kind::Correlation;
  std::vector<double> almost;
  for (std::size_t row = 0; row < rows->t.size(); ++row)
    almost.push_back(almost_right(pair.operation,
                                  {&rows->x[row * static_cast<std::size_t>(inputs)], static_cast<std::size_t>(inputs)},
                                  first, criterion.epsilon, correlated ? Almost::Opposed : Almost::Alike));
  return correlated ? correlation(almost, rows->t) : mean_relative_error(almost, rows->t);
}

std::optional<Failure> SingleModuleProblem::diagnose(const Cell& cell, const RunRecord& record,
                                                     const RunResult& result) const {
  return nalm::diagnose(cell, record, result);
}

}  // namespace nalm
