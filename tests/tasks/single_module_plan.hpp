// Plans and cells of the single module task, as if they were typed.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "experiment/plan.hpp"
#include "tasks/single_module/problem.hpp"
#include "words.hpp"

namespace nalm {

inline Plan single_module_plan(const std::string& modules, const std::string& operations, const std::string& ranges) {
  Plan plan;
  plan.task = *find_task("single-module");
  plan.preset = "primer";
  plan.models = modules;
  plan.operations = operations;
  plan.settings = ranges;
  plan.seeds = {0};
  return plan;
}

inline std::vector<Cell> made(const Plan& plan) {
  Result<std::vector<Cell>> cells = cells_of(plan);
  EXPECT_TRUE(cells.ok()) << complaint(cells);
  return cells ? std::move(*cells) : std::vector<Cell>();
}

// Every module with everything that it can learn.
inline std::vector<Pair> all_pairs() {
  std::vector<Pair> pairs;
  for (const Operation operation : all_operations)
    for (const ModuleInfo* module : all_modules())
      for (const Operation can : module->operations)
        if (can == operation) pairs.push_back({module, operation});
  return pairs;
}

// The recipe of a pair, with the plan's changes.
inline Recipe recipe_in(Plan plan, const Pair& pair) {
  plan.models = pair.module->name;
  plan.operations = name_of(pair.operation);
  plan.settings = "6";
  const std::vector<Cell> cells = made(plan);
  return cells.empty() ? Recipe() : cells.front().recipe;
}

}  // namespace nalm
