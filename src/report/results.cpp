#include "report/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "bench/thresholds.hpp"

namespace nalm {
namespace {

double threshold_of(const Criterion& criterion, Operation operation, const Range& test, int inputs) {
  switch (criterion.kind) {
    case Criterion::Kind::Mse:
      return epsilon_threshold(operation, test, inputs, criterion.epsilon);
    case Criterion::Kind::LogSpaceMse:
      return log_space_threshold(operation, test, inputs, criterion.epsilon);
    case Criterion::Kind::Pearson:
    case Criterion::Kind::Mape:
      break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

// A range of the paper that is tested elsewhere is another task.
bool is_of_paper(const TaskRange& range) {
  return std::any_of(paper_ranges().begin(), paper_ranges().end(), [&](const TaskRange& r) {
    return name_of(r.train) == name_of(range.train) && name_of(r.test) == name_of(range.test);
  });
}

}  // namespace

std::string describe(const Criterion& criterion) {
  switch (criterion.kind) {
    case Criterion::Kind::Mse:
      return fmt::format("test error below that of the right model with every weight off by {:g}", criterion.epsilon);
    case Criterion::Kind::LogSpaceMse:
      return fmt::format("test error below that of the right model in log space with every power off by {:g}",
                         criterion.epsilon);
    case Criterion::Kind::Pearson:
      return fmt::format("correlation of output and target on the test set of at least {:g}", criterion.limit);
    case Criterion::Kind::Mape:
      return fmt::format("mean relative error on the test set of at most {:g}", criterion.limit);
  }
  return "";
}

Result<Results> judge_store(const RunStore& store, const Judgement& judgement,
                            const std::function<void(const Cell&, const Run&)>& seen) {
  Results results;
  results.judgement = judgement;
  Result<StoreInfo> info = store.info();
  if (!info) return info.error();
  results.info = std::move(*info);
  const Grid& grid = results.info.grid;
  std::size_t stored = 0;
  for (const Pair& pair : grid.pairs) {
    // One pair at a time: the rows of all of them at once would be the largest thing in memory.
    const Result<std::vector<Run>> runs = store.runs(pair);
    if (!runs) return runs.error();
    stored += runs->size();
    std::size_t next = 0;
    for (const TaskRange& range : grid.ranges) {
      Cell cell;
      cell.pair = pair;
      cell.range = range;
      cell.threshold = threshold_of(judgement.criterion, pair.operation, range.test, grid.inputs);
      if (is_of_paper(range))
        cell.published = find_published(pair.module->name, pair.operation, name_of(range.train), grid.inputs);
      std::vector<RunResult> judged;
      const std::string name = name_of(range.train);
      for (; next < runs->size() && name_of((*runs)[next].id.range.train) == name; ++next) {
        const Run& run = (*runs)[next];
        Result<RunResult> result = judge(run, judgement.criterion);
        if (!result) return result.error();
        JudgedRun one{run.id.seed, *result, {}, Basin::NoRegulariser};
        if (judgement.diagnose) {
          if (!result->success) one.failure = diagnose(run, *result);
          one.basin = basin(run, *result);
        }
        judged.push_back(*result);
        cell.runs.push_back(std::move(one));
        if (seen) seen(cell, run);
      }
      cell.summary = summarise(judged, judgement.paper_intervals);
      results.cells.push_back(std::move(cell));
    }
  }
  results.missing = grid.run_count() - stored;
  return results;
}

}  // namespace nalm
