// Trains the runs of the single module task: bundles of runs that share their batches, spread over threads.
#pragma once

#include "experiment/executor.hpp"

namespace nalm {

Status train_single_modules(const std::vector<Cell>& cells, const std::vector<RunId>& runs,
                            const ExecutorSettings& settings);

}  // namespace nalm
