// Trains the runs of a benchmark: bundles of runs that share their batches, spread over threads.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "bench/grid.hpp"
#include "nalm/result.hpp"

namespace nalm {

// Where the time went, summed over threads.
struct Timings {
  double data = 0;        // batches drawn
  double evaluation = 0;  // validation and test errors
  double training = 0;

  Timings& operator+=(const Timings& other);
};

// Runs that were trained together are finished together.
struct FinishedRuns {
  std::vector<Run> runs;
  std::vector<double> seconds;  // per run: its share of training and evaluation
  Timings timings;
};

struct RunnerSettings {
  int threads = 0;  // 0: all processors
  // Called by one thread at a time; an error ends everything.
  std::function<Status(const FinishedRuns&)> finished;
  // Called after every logged row, by the thread that trains; for whoever watches single runs. May be empty.
  std::function<void(const RunId&, const Series&)> logged;
  // What is done so far, from 0 to 1; for whoever watches. May be null.
  std::atomic<double>* progress = nullptr;
  // Set by somebody else to end early: runs in flight are given up. May be null.
  const std::atomic<bool>* stop = nullptr;
};

// Every run gives the same bits, whatever runs beside it. Recipes come from the grid. runs is any part of
// runs_of(grid): what is left to do.
Status train_runs(const Grid& grid, const std::vector<RunId>& runs, const RunnerSettings& settings);

}  // namespace nalm
