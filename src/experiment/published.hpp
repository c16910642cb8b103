// What was published for the cells of a task.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/intervals.hpp"

namespace nalm {

struct PublishedFigure {
  // Of the cell; all_settings: of all settings of this model and operation; all_cells for model and operation: of all
  // cells of this setting, as the share of a list of problems that was solved.
  std::string model, operation, setting;
  std::string what;           // "success", "solved-at", "sparsity", "trask", or a measure's name
  Estimate value{};           // lo and hi are NaN unless an interval was printed
  std::string source;         // and remarks for people
  std::optional<int> runs{};  // behind a rate, if known
  bool mean = false;          // otherwise a median
  bool comparable = true;     // false: measured otherwise than here
  // Our runs are theirs, seed by seed (0, 1, ..., runs - 1), so that counts must be the same but for a few runs.
  bool same_seeds = false;

  static constexpr std::string_view all_settings = "all", all_cells = "all";

  bool is_of_all_cells() const { return model == all_cells && operation == all_cells; }
};

// Of data/published_tasks.csv: task,model,operation,setting,what,value,remark,runs,statistic,comparable.
std::vector<PublishedFigure> published_in_tasks_csv(std::string_view task);

}  // namespace nalm
