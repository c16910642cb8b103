// A share of a plan's runs, for machines that share nothing but the plan: each trains its own, and a merge puts them
// together (experiment/merge.hpp).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/store.hpp"

namespace nalm {

struct Shard {
  int number = 1, count = 1;  // the number counts from 1

  std::string text() const;  // "3/16"
};

// "3/16".
Result<Shard> parse_shard(std::string_view text);

// A process among those that a launcher started together; the first is 0.
struct LaunchedProcess {
  int rank = 0, count = 1;
  std::string_view by;  // whose variables say so: "OpenMPI"
};
// The value of a variable of the environment, or "".
using Environment = std::function<std::string(const char* name)>;
Environment own_environment();

// What OpenMPI, PMI or a step of Slurm says; one process alone if none of them does.
LaunchedProcess launched_process(const Environment& environment);
// The same, and the place in a Slurm array: which shard this process is.
Result<Shard> shard_of(const Environment& environment);

// The runs of a shard: neighbours in the plan, so that data are shared as in the whole, with the most expensive shard
// as cheap as it can be. Every run is in one shard, on every machine in the same.
std::vector<RunId> runs_of(const Shard& shard, const Task& task, const std::vector<Cell>& cells,
                           const std::vector<std::uint32_t>& seeds);

// What a store still needs: all that is missing, or of its shard alone.
Result<std::vector<RunId>> runs_to_do(const Store& store);
// How many runs it should have in the end.
Result<std::size_t> runs_wanted(const Store& store);

}  // namespace nalm
