// The results of a task as an HTML page.
#pragma once

#include <string>

#include "report/task_tables.hpp"

namespace nalm {

Result<std::string> task_page(const TaskStore& store);

// What the page's script reads, as JSON. The runs are those of the results, ordered by arm and seed.
std::string task_page_data(const TaskResults& results, const std::vector<StoredTaskRun>& runs);

}  // namespace nalm
