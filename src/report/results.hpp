// A store, judged: every cell with its runs, its estimates, and what the paper printed for it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/failures.hpp"
#include "bench/metrics.hpp"
#include "bench/published.hpp"
#include "bench/run_store.hpp"

namespace nalm {

struct JudgedRun {
  std::uint32_t seed = 0;
  RunResult result;
  std::optional<Failure> failure;  // why it failed
  Basin basin = Basin::NoRegulariser;
};

struct Cell {
  Pair pair;
  TaskRange range;
  double threshold = 0;  // NaN where the criterion is no error
  std::vector<JudgedRun> runs;
  CellSummary summary;
  const PublishedCell* published = nullptr;

  std::string range_name() const { return name_of(range.train); }
};

struct Judgement {
  Criterion criterion;
  bool paper_intervals = false;
  bool diagnose = false;  // why runs failed
};

struct Results {
  StoreInfo info;
  Judgement judgement;
  std::vector<Cell> cells;  // as the grid orders them: pair, range
  std::size_t missing = 0;  // runs of the grid that are not there
};

// seen, if given, is called with every run and its cell.
Result<Results> judge_store(const RunStore& store, const Judgement& judgement,
                            const std::function<void(const Cell&, const Run&)>& seen = {});

// What a criterion asks for, in words.
std::string describe(const Criterion& criterion);

}  // namespace nalm
