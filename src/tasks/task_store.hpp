// The results of a task in a folder: the same kind of SQLite file as the benchmark's, with the same promises.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tasks/task_runner.hpp"

namespace nalm {

// What was asked for; enough to make the list of runs again.
struct TaskPlan {
  const Task* task = nullptr;
  std::string preset;                        // "quick", "full", ...
  std::string models, operations, settings;  // parts of the preset's arms, by name, separated by commas; empty: all
  std::vector<std::uint32_t> seeds;
  std::optional<long> iterations, log_every;
  std::optional<double> learning_rate;
};

// The preset's arms that the plan asks for. An error if there is none, with the names that there are.
Result<std::vector<Arm>> arms_of(const TaskPlan& plan);

struct TaskStoreInfo {
  TaskPlan plan;
  std::string command, version, simd_target, created;
  int threads = 0;
  double seconds = 0;  // of work so far
};

struct StoredTaskRun {
  TaskRunId id;
  RunRecord record;
  std::string recipe;  // JSON
  double seconds = 0;
};

class TaskStore {
 public:
  // As for RunStore. A folder that holds a store of any kind is refused by create.
  static Result<TaskStore> create(const std::string& folder, const TaskStoreInfo& info);
  static Result<TaskStore> resume(const std::string& folder);
  static Result<TaskStore> read(const std::string& folder);
  // Whether the folder holds results of a task, rather than of the single module task.
  static bool is_one(const std::string& folder);

  TaskStore(TaskStore&&) noexcept;
  TaskStore& operator=(TaskStore&&) noexcept;
  ~TaskStore();

  const TaskStoreInfo& info() const;
  const std::vector<Arm>& arms() const;
  const std::string& folder() const;

  Status add(const TaskRunId& id, const RunRecord& record, double run_seconds, double worked_seconds);
  Result<std::vector<TaskRunId>> missing() const;
  Result<std::vector<StoredTaskRun>> runs() const;  // ordered by arm and seed

 private:
  struct State;
  explicit TaskStore(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace nalm
