// nalm bench --task NAME: the paper's other experiments.
#pragma once

#include <optional>
#include <string>

#include "cli/bench_session.hpp"
#include "tasks/task_store.hpp"

namespace nalm::cli {

// A new task; the command is what it was started with.
int bench_task(const TaskPlan& plan, const std::string& command, const BenchOutput& output);
// One that is in the folder.
int resume_task(const BenchOutput& output);

}  // namespace nalm::cli
