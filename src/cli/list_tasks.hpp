// What `nalm list` says about tasks and modules.
#pragma once

#include "base/json.hpp"

#include "experiment/task.hpp"

namespace nalm::cli {

void print_module(const ModuleInfo& module);  // everything about it
void print_tasks();                           // all of them, in a few lines each
void print_task(const Task& task);
Json to_json(const Task& task);

}  // namespace nalm::cli
