#include "bench/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <list>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "bench/thresholds.hpp"

namespace nalm {

namespace {

constexpr int kTestRows = 10000;

Status check_series(const Series& series) {
  const std::size_t rows = series.rows();
  if (rows == 0) return Error{"the run has no logged rows: it needs at least one to be judged"};
  if (series.validation_mse.size() == rows && series.test_mse.size() == rows && series.sparsity_error.size() == rows) {
    return Done{};
  }
  return Error{
      fmt::format("the run is not whole: {} steps, but {} validation errors, {} test errors and {} sparsity "
                  "errors",
                  rows, series.validation_mse.size(), series.test_mse.size(), series.sparsity_error.size())};
}

std::size_t best_row(const Series& series) {
  std::size_t best = series.rows();
  for (std::size_t row = 0; row < series.rows(); ++row) {
    if (std::isnan(series.validation_mse[row])) continue;
    if (best == series.rows() || series.validation_mse[row] < series.validation_mse[best]) best = row;
  }
  return std::min(best, series.rows() - 1);
}

// ---- criteria on predictions ---------------------------------------------------------------------------------------

struct TestSet {
  std::vector<double> x, t;
};

// Drawing a test set costs about as much as a prediction, and the runs of a cell share it: the last few are kept.
class TestSets {
 public:
  std::shared_ptr<const TestSet> get(const RunId& id, int first_operand) {
    const Range& range = id.range.test;
    const Key key{range.lo,     range.hi,  range.second ? std::optional(range.second->lo) : std::nullopt,
                  id.operation, id.inputs, first_operand};
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(sets_.begin(), sets_.end(), [&](const Entry& entry) { return entry.key == key; });
    if (found != sets_.end()) {
      sets_.splice(sets_.begin(), sets_, found);
      return sets_.front().set;
    }
    NumpyStream stream(test_seed);
    const Samples samples = draw(stream, id.range.test, id.operation, id.inputs, first_operand, kTestRows);
    auto set = std::make_shared<TestSet>();
    set->x.assign(samples.x.begin(), samples.x.end());
    set->t.assign(samples.t.begin(), samples.t.end());
    sets_.push_front({key, set});
    numbers_ += set->x.size();
    while (numbers_ > largest_size && sets_.size() > 1) {
      numbers_ -= sets_.back().set->x.size();
      sets_.pop_back();
    }
    return set;
  }

 private:
  static constexpr std::size_t largest_size = 4'000'000;  // 32 MB

  // Both parts of a range are equally wide, so that the second one needs one end only.
  using Key = std::tuple<double, double, std::optional<double>, Operation, int, int>;
  struct Entry {
    Key key;
    std::shared_ptr<const TestSet> set;
  };

  std::mutex mutex_;
  std::list<Entry> sets_;  // the latest first
  std::size_t numbers_ = 0;
};

std::shared_ptr<const TestSet> test_set(const RunId& id) {
  static TestSets sets;
  return sets.get(id, OperandPlace(id.seed, id.inputs).first_operand);
}

// NaN if either side is constant. Distances are taken from the first value, so that constants give exactly 0.
double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const double n = static_cast<double>(a.size());
  double sum_a = 0, sum_b = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum_a += a[k] - a[0], sum_b += b[k] - b[0];
  double aa = 0, bb = 0, ab = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double da = a[k] - a[0] - sum_a / n, db = b[k] - b[0] - sum_b / n;
    aa += da * da;
    bb += db * db;
    ab += da * db;
  }
  return ab / (std::sqrt(aa) * std::sqrt(bb));
}

// NaN if no target is left.
double relative_error(const std::vector<double>& predictions, const std::vector<double>& targets) {
  double sum = 0, count = 0;
  for (std::size_t k = 0; k < targets.size(); ++k) {
    if (targets[k] == 0) continue;
    sum += std::abs((predictions[k] - targets[k]) / targets[k]);
    ++count;
  }
  return sum / count;
}

// Comparisons with NaN are false, so what has no correlation or error fails.
Result<bool> predictions_pass(const Run& run, std::size_t row, const TestSet& test, const Criterion& criterion) {
  const Result<Model> model = model_at(run, row);
  if (!model) return model.error();
  const Result<std::vector<double>> predictions = predict(*model, test.x, Precision::Float);
  if (!predictions) return predictions.error();
  if (criterion.kind == Criterion::Kind::Pearson) return correlation(*predictions, test.t) >= criterion.limit;
  return relative_error(*predictions, test.t) <= criterion.limit;
}

Status check_criterion(const Criterion& criterion) {
  switch (criterion.kind) {
    case Criterion::Kind::Mse:
    case Criterion::Kind::LogSpaceMse:
      if (criterion.epsilon > 0 && criterion.epsilon < 1) return Done{};
      return Error{fmt::format("epsilon is how far weights may be off, so it lies between 0 and 1, unlike {}",
                               criterion.epsilon)};
    case Criterion::Kind::Pearson:
      if (criterion.limit >= -1 && criterion.limit <= 1) return Done{};
      return Error{
          fmt::format("a correlation lies between -1 and 1, so none can be required to be {}", criterion.limit)};
    case Criterion::Kind::Mape:
      if (criterion.limit >= 0) return Done{};
      return Error{fmt::format("a mean relative error is not negative, so none can be at most {}", criterion.limit)};
  }
  return Error{"the criterion has no kind"};
}

}  // namespace

Result<Model> model_at(const Run& run, std::size_t row) {
  const LayerShape shape = default_shape(*run.id.module, run.id.inputs, 1);
  const std::size_t count = static_cast<std::size_t>(parameter_count(*run.id.module, shape));
  const std::vector<float>& stored = run.series.parameters;
  if (stored.size() != run.series.rows() * count || row >= run.series.rows()) {
    return Error{fmt::format("{} rows of {} with {} inputs need {} parameters each, but {} numbers are stored",
                             run.series.rows(), run.id.module->name, run.id.inputs, count, stored.size())};
  }
  const auto first = stored.begin() + static_cast<std::ptrdiff_t>(row * count);
  return Model{{{run.id.module, shape, {first, first + static_cast<std::ptrdiff_t>(count)}}}, {}};
}

Result<RunResult> judge(const Run& run, const Criterion& criterion) {
  const Series& series = run.series;
  if (Status whole = check_series(series); !whole) return whole.error();
  if (Status sensible = check_criterion(criterion); !sensible) return sensible.error();

  RunResult result;
  result.best_row = best_row(series);
  result.best_step = series.steps[result.best_row];
  result.validation_mse = series.validation_mse[result.best_row];
  result.test_mse = series.test_mse[result.best_row];
  result.sparsity_error = series.sparsity_error[result.best_row];

  // The best row decides; rows before it are looked at only to see when a success began.
  const auto decide = [&](auto passes) -> Result<RunResult> {
    const Result<bool> success = passes(result.best_row);
    if (!success) return success.error();
    result.success = *success;
    if (!result.success) return result;
    std::size_t row = 0;
    for (; row < result.best_row; ++row) {
      const Result<bool> solved = passes(row);
      if (!solved) return solved.error();
      if (*solved) break;
    }
    result.solved_at = series.steps[row];
    return result;
  };

  if (criterion.kind == Criterion::Kind::Mse || criterion.kind == Criterion::Kind::LogSpaceMse) {
    const RunId& id = run.id;
    if (Status range = check_test_range(id.operation, id.range.test); !range) return range.error();
    const double threshold = criterion.kind == Criterion::Kind::Mse
                                 ? epsilon_threshold(id.operation, id.range.test, id.inputs, criterion.epsilon)
                                 : log_space_threshold(id.operation, id.range.test, id.inputs, criterion.epsilon);
    const auto passes = [&](std::size_t row) { return series.test_mse[row] < threshold; };
    result.at_end = passes(series.rows() - 1);
    result.ever = false;
    for (std::size_t row = 0; row < series.rows(); ++row) result.ever = *result.ever || passes(row);
    return decide([&](std::size_t row) -> Result<bool> { return passes(row); });
  }
  const std::shared_ptr<const TestSet> test = test_set(run.id);
  return decide([&](std::size_t row) { return predictions_pass(run, row, *test, criterion); });
}

CellSummary summarise(std::span<const RunResult> runs, bool paper_intervals) {
  std::vector<double> steps, errors;
  for (const RunResult& run : runs) {
    if (!run.success) continue;
    steps.push_back(static_cast<double>(run.solved_at.value_or(run.best_step)));
    errors.push_back(run.sparsity_error);
  }
  CellSummary summary;
  summary.runs = static_cast<int>(runs.size());
  summary.successes = static_cast<int>(steps.size());
  const auto count = [&](std::optional<bool> RunResult::*held) -> std::optional<int> {
    int sum = 0;
    for (const RunResult& run : runs) {
      if (!(run.*held)) return std::nullopt;
      sum += *(run.*held);
    }
    return sum;
  };
  summary.ever = count(&RunResult::ever);
  summary.at_end = count(&RunResult::at_end);
  summary.success = wilson(summary.successes, summary.runs);
  summary.solved_at = paper_intervals ? paper_solved_at(steps) : solved_at_estimate(steps);
  summary.sparsity = paper_intervals ? paper_sparsity(errors) : sparsity_estimate(errors);
  summary.median_solved_at = median(steps);
  summary.median_sparsity = median(errors);
  return summary;
}

}  // namespace nalm
