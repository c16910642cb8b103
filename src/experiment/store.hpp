// The results of a task in a folder: one SQLite file that survives being killed at any moment.
//
// Runs are added in transactions, so a run is there as a whole or not at all, and each has a checksum. A file named
// "lock" keeps a second program from writing; the system gives the lock back when its holder dies.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiment/plan.hpp"

namespace nalm {

// What a store says about itself.
struct StoreInfo {
  Plan plan;
  std::string command;  // that made it
  std::string version;  // of the program: the same version, the same bits
  std::string simd_target;
  std::string created;  // UTC
  int threads = 0;
  double seconds = 0;  // of work so far, over all sessions
  // Which share of the plan is to be trained here, such as "3/16" (experiment/shard.hpp); empty: all of it.
  std::string shard{};
};

class Store {
 public:
  // A new one in a folder that is made if need be. A folder that has one already is refused.
  static Result<Store> create(const std::string& folder, const StoreInfo& info);
  // An existing one, to add to it: nobody else can, until this is gone.
  static Result<Store> resume(const std::string& folder);
  // An existing one, to look at it, also while somebody adds to it.
  static Result<Store> read(const std::string& folder);

  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  const StoreInfo& info() const;
  const std::vector<Cell>& cells() const;
  const std::vector<std::string>& left_out() const;  // what was asked for, but is not among the cells
  const std::string& folder() const;
  std::size_t run_count() const;  // of the plan, stored or not

  // All of them or, on an error, none. seconds is added to the time worked.
  Status add(const FinishedRuns& finished, double seconds);

  // What is not there yet: all cells with one seed before the next seed, so that the time left is a good guess, and
  // half a table says more.
  Result<std::vector<RunId>> missing() const;

  // A run, if it is there.
  Result<std::optional<FinishedRun>> find(const RunId& id) const;

  // Ordered by cell and, within one, as the plan orders its seeds. The first error of f ends it. Runs of one cell, or
  // of all.
  Status for_each_run(const std::function<Status(const FinishedRun&)>& f, std::optional<std::size_t> cell = {}) const;

 private:
  struct State;
  explicit Store(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace nalm
