// The results of a task as an HTML page.
#pragma once

#include <string>

#include "tasks/task_store.hpp"

namespace nalm {

Result<std::string> task_page(const TaskStore& store);

}  // namespace nalm
