// The runs of a plan in pieces that are handed to somebody as a whole: a shard, or a rank of an MPI job.
#pragma once

#include <cstddef>
#include <vector>

#include "experiment/cell.hpp"

namespace nalm {

struct Unit {
  std::vector<RunId> runs;  // trained side by side, one in a lane
  double cost = 0;          // of all of them; a number of no unit, and the same on every machine
  // Neighbours of one group are cheaper together, because they train on the same data.
  std::size_t group = 0;
};

// Every run is in one unit, in an order that depends on the plan only. No unit has more runs than lanes, and none has
// many fewer than another: a lane that is empty costs as much as a full one.
using Divider = std::vector<Unit> (*)(const std::vector<Cell>& cells, const std::vector<RunId>& runs,
                                      std::size_t lanes);

// For train_networks: runs of one cell; one run where that is more than a network.
std::vector<Unit> units_of_cells(const std::vector<Cell>& cells, const std::vector<RunId>& runs, std::size_t lanes);

// What one run of a cell costs, against other cells of its task.
double cost_of(const Cell& cell);

double cost_of(const std::vector<Unit>& units);

// n things in as few parts as are needed, if each holds so many, all of about the same size: where each part begins,
// and n.
std::vector<std::size_t> even_parts(std::size_t n, std::size_t most);

}  // namespace nalm
