// Trains the runs of a task: runs of one arm in the lanes of a bundle, bundles over threads.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "tasks/task.hpp"

namespace nalm {

struct TaskRunId {
  std::size_t arm = 0;  // position in the list of arms
  std::uint32_t seed = 0;
};

struct TaskRunnerSettings {
  int threads = 0;                      // 0: all processors
  std::optional<long> iterations;       // instead of the recipes'
  std::optional<double> learning_rate;  // instead of the recipes'; 0 is allowed, and teaches nothing
  std::optional<long> log_every;
  // Called by one thread at a time; an error ends everything.
  std::function<Status(const TaskRunId&, const RunRecord&, double seconds)> finished;
  std::atomic<double>* progress = nullptr;  // from 0 to 1; may be null
  const std::atomic<bool>* stop = nullptr;  // runs in flight are given up; may be null
};

// Every run gives the same bits, whatever runs beside it.
Status train_task(const std::vector<Arm>& arms, const std::vector<TaskRunId>& runs, const TaskRunnerSettings& settings);

// The recipe that a run of an arm is trained with.
Recipe resolve_recipe(const Arm& arm, const TaskRunnerSettings& settings);

}  // namespace nalm
