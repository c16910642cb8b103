// Trains the runs of the single module task: bundles of runs that share their batches, spread over threads.
#pragma once

#include "experiment/executor.hpp"
#include "experiment/units.hpp"

namespace nalm {

Status train_single_modules(const std::vector<Cell>& cells, const std::vector<RunId>& runs,
                            const ExecutorSettings& settings);

// A unit is a pair on as many places, ranges and seeds, as there are lanes; the pairs of the same places are a group.
std::vector<Unit> units_of_places(const std::vector<Cell>& cells, const std::vector<RunId>& runs, std::size_t lanes);

}  // namespace nalm
