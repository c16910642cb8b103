// What was asked for: enough to make the list of runs again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/task.hpp"

namespace nalm {

struct Plan {
  const Task* task = nullptr;
  std::string preset;                        // "quick", "full", ...
  std::string models, operations, settings;  // names separated by commas; empty: all of the preset
  std::vector<std::uint32_t> seeds;
  std::optional<long> iterations, log_every;
  std::optional<double> learning_rate;
  std::string recipe;                                       // JSON that is merged into every recipe, or empty
  std::map<std::string, std::string, std::less<>> options;  // the task's own, by name

  // What differs from what the task itself says, as it was typed: "--iterations 100". Nothing of it may be compared
  // with what was published.
  std::vector<std::string> changes() const;
  // An option of the task, or "" if it was not given.
  std::string option(std::string_view name) const;
};

// Everything that a command line or a store that somebody sent may have wrong.
Status check(const Plan& plan);

// The cells that the plan asks for, with the plan's changes made. An error if there is none, with the names that there
// are.
Result<std::vector<Cell>> cells_of(const Plan& plan, std::vector<std::string>& left_out);
inline Result<std::vector<Cell>> cells_of(const Plan& plan) {
  std::vector<std::string> left_out;
  return cells_of(plan, left_out);
}

// The command that makes the same again.
std::string command_of(const Plan& plan);

std::string to_json(const Plan& plan);
Result<Plan> plan_from_json(std::string_view text);

// "3", "3,11", "0..24", "0..4,10".
Result<std::vector<std::uint32_t>> parse_seeds(std::string_view text);

}  // namespace nalm
