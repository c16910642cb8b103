// Who trains runs. An executor is told which runs of which cells are left to do, and hands over what is finished: the
// threads of this process here, the fused runner of the single module task, fits for formulas.
#pragma once

#include <atomic>
#include <functional>
#include <stop_token>
#include <string_view>
#include <vector>

#include "experiment/cell.hpp"

namespace nalm {

struct FinishedRun {
  RunId id;
  RunRecord record;
  double seconds = 0;
};

// Runs that were trained together are finished together.
struct FinishedRuns {
  std::vector<FinishedRun> runs;
  std::vector<std::pair<std::string_view, double>> timings;  // where the time went, summed over threads
};

struct ExecutorSettings {
  int threads = 0;  // 0: all processors
  // Called by one thread at a time; an error ends everything.
  std::function<Status(const FinishedRuns&)> finished;
  // Called after every logged row, by the thread that trains, where the executor has it; may be empty.
  std::function<void(const RunId&, const RunRecord&)> logged;
  std::atomic<double>* progress = nullptr;  // what is done, from 0 to 1; may be null
  std::stop_token stop{};                   // runs in flight are given up
};

// Every run gives the same bits, whatever runs beside it.
using Executor = Status (*)(const std::vector<Cell>& cells, const std::vector<RunId>& runs,
                            const ExecutorSettings& settings);

// Runs of one cell in the lanes of a bundle, bundles over threads; cells with a run of their own one by one.
Status train_networks(const std::vector<Cell>& cells, const std::vector<RunId>& runs, const ExecutorSettings& settings);

}  // namespace nalm
