// Plans, cells and records for tests, and a folder for their stores.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/plan.hpp"
#include "experiment/store.hpp"
#include "temporary_folder.hpp"
#include "words.hpp"

namespace nalm::test {

// The same for every test; models, operations and settings as on the command line.
inline Plan plan_of(std::string_view task, std::string_view preset, std::string models = "",
                    std::string operations = "", std::string settings = "") {
  Plan plan;
  plan.task = *find_task(task);
  plan.preset = preset;
  plan.models = std::move(models);
  plan.operations = std::move(operations);
  plan.settings = std::move(settings);
  plan.seeds = {0};
  return plan;
}

// One cell of the single module task; setting: "6" or "[1,2)", the latter with a test range.
inline Cell single_module_cell(std::string model, std::string operation, std::string setting,
                               std::string test_range = "", int inputs = 2) {
  Plan plan = plan_of("single-module", "primer", std::move(model), std::move(operation), std::move(setting));
  if (!test_range.empty()) plan.options["test-range"] = std::move(test_range);
  if (inputs != 2) plan.options["inputs"] = std::to_string(inputs);
  Result<std::vector<Cell>> cells = cells_of(plan);
  EXPECT_TRUE(cells.ok()) << complaint(cells);
  return cells ? std::move(cells->front()) : Cell{};
}

// These values at the iterations 0, 1000, 2000, ...; no parameters.
inline RunRecord record_of(const std::vector<std::vector<double>>& values) {
  RunRecord record;
  record.values = values;
  record.parameters.resize(values.size());
  for (std::size_t row = 0; row < values.size(); ++row) record.steps.push_back(static_cast<long>(1000 * row));
  return record;
}

// What is stored, in the store's order.
inline Result<std::vector<FinishedRun>> runs_in(const Store& store, std::optional<std::size_t> cell = {}) {
  std::vector<FinishedRun> runs;
  const Status read = store.for_each_run(
      [&](const FinishedRun& run) -> Status {
        runs.push_back(run);
        return Done{};
      },
      cell);
  if (!read) return read.error();
  return runs;
}

}  // namespace nalm::test
