// A task's cells beside the published figures.
#pragma once

#include <string>
#include <vector>

#include "report/task_tables.hpp"

namespace nalm {

struct ComparedFigure {
  const TaskCell* cell = nullptr;
  const PublishedFigure* figure = nullptr;
  double ours = 0;
  // Success rates are judged: either rate lies in the other's 95 % interval. Others are shown only.
  bool judged = false, agrees = false;
};

struct TaskComparison {
  std::vector<ComparedFigure> figures;
  std::string remark;  // why the answer means less than it seems to; may be empty

  bool agrees() const;
};

// An error if there is nothing to compare. The results must outlive the comparison.
Result<TaskComparison> compare_task(const TaskResults& results);

std::string print(const TaskComparison& comparison, bool all);

}  // namespace nalm
