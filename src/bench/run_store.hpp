// The results of a benchmark in a folder: one SQLite file that survives being killed at any moment.
//
// Runs are added in transactions, so a run is there as a whole or not at all. A file named "lock" keeps a second
// program from writing; the system gives the lock back when its holder dies.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/grid.hpp"
#include "bench/runner.hpp"

namespace nalm {

// What a store says about itself.
struct StoreInfo {
  Grid grid;
  std::string command;  // that made it
  std::string version;  // of the program: the same version, the same bits
  std::string simd_target;
  std::string created;  // UTC
  int threads = 0;
  double seconds = 0;  // of work so far, over all sessions
  Timings timings;
};

class RunStore {
 public:
  // A new store in a folder that is made if need be. A folder that has one already is refused.
  static Result<RunStore> create(const std::string& folder, const StoreInfo& info);
  // An existing store, to add to it.
  static Result<RunStore> resume(const std::string& folder);
  // An existing store, to look at it, also while somebody adds to it.
  static Result<RunStore> read(const std::string& folder);

  RunStore(RunStore&&) noexcept;
  RunStore& operator=(RunStore&&) noexcept;
  ~RunStore();

  Result<StoreInfo> info() const;

  // All of them or, on an error, none. seconds is added to the time worked.
  Status add(const FinishedRuns& finished, double seconds);

  // Which runs of the grid are not there yet, in the order of runs_of().
  Result<std::vector<RunId>> missing() const;

  // Stored runs, ordered by pair, range and seed as the grid has them; of one pair, or all.
  Result<std::vector<Run>> runs(const std::optional<Pair>& pair = {}) const;
  Result<std::size_t> run_count() const;

  const std::string& folder() const;

 private:
  struct State;
  explicit RunStore(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace nalm
