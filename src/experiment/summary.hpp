// From what runs logged to the cells of a table, by every metric that the papers used.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiment/intervals.hpp"
#include "experiment/store.hpp"

namespace nalm {

// One run, judged.
struct RunResult {
  std::uint32_t seed = 0;
  std::size_t judged_row = 0;
  long judged_step = 0;
  bool success = false;
  // At any row, and at the last one. Nothing where that takes parameters that were not stored.
  std::optional<bool> ever, at_end;
  std::optional<long> solved_at;            // the first row that meets the criterion; nothing without success
  std::optional<bool> before_regularisers;  // met the loose limit at the last row before regularisers start
  std::vector<double> values;               // of the judged row, per measure
  std::optional<double> trask;              // 100 * the judged measure / its value at the first row
  std::optional<double> limit;              // what it was judged by
  std::optional<Failure> failure;           // why it failed
  std::string note;                         // see RunRecord
  std::vector<std::pair<std::string, std::string>> facts;
  double seconds = 0;
};

// An error says why the criterion cannot be applied to the cell, or that the run is not whole.
Result<RunResult> judge(const Cell& cell, const RunRecord& record, std::uint32_t seed, const Criterion& criterion = {});

struct Spread {
  double median = 0, mad = 0, mean = 0, smallest = 0, largest = 0;  // mad: median of |v - median|, as Heim has it
};
Spread spread_of(std::span<const double> values);  // values that are not numbers count as infinite

// One cell, judged.
struct CellResult {
  const Cell* cell = nullptr;
  std::vector<RunResult> runs;  // in the order of the plan's seeds
  int successes = 0;
  std::optional<int> ever, at_end;
  Estimate success{};                                // Wilson
  Estimate solved_at{}, sparsity{};                  // means over the runs that succeeded
  double median_solved_at = 0, median_sparsity = 0;  // NaN if no run succeeded
  std::vector<Spread> measures;                      // in the order of Cell::measures
  Spread trask;
  Estimate before_regularisers{};
  double limit = 0;  // NaN where runs have different ones

  int run_count() const { return static_cast<int>(runs.size()); }
  const Spread* spread(std::string_view measure) const;
};
CellResult summarise(const Cell& cell, std::vector<RunResult> runs, bool paper_intervals = false);

// A store, judged.
struct Results {
  StoreInfo info;
  Judgement judgement;
  std::vector<Cell> cells;
  std::vector<CellResult> results;  // they point at the cells
  std::vector<PublishedFigure> published;
  std::size_t missing = 0;  // runs

  Results() = default;
  Results(Results&&) = default;
  Results& operator=(Results&&) = default;

  const Task& task() const { return *info.plan.task; }
  // Of all cells, in the order in which they first appear.
  std::vector<std::string> measure_names() const;
  std::vector<std::string> models(std::string_view operation = {}) const;
  std::vector<std::string> operations() const;
  std::vector<std::string> settings() const;
  const CellResult* find(std::string_view model, std::string_view operation, std::string_view setting) const;
  // What was published for a cell: "success", "solved-at", "trask" or the name of a measure.
  std::vector<const PublishedFigure*> published_for(const Cell& cell, std::string_view what = {}) const;  // "": all
};

// seen, if given, is called with every run: the cell's position, the record, and how it was judged.
Result<Results> judge_store(const Store& store, const Judgement& judgement = {},
                            const std::function<void(std::size_t, const RunRecord&, const RunResult&)>& seen = {});

// When a run has succeeded, in words.
std::string describe_goal(const Results& results);

// The checks of this preset: one entry per check that has runs here.
struct CheckResult {
  const Check* check = nullptr;
  double value = 0;
  bool passed = false;
};
std::vector<CheckResult> run_checks(const Results& results);

}  // namespace nalm
