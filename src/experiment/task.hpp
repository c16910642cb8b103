// A task: a list of cells, how they are run, and what was published for them. Each is one file in src/tasks and one
// line in src/tasks/tasks.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "experiment/cell.hpp"
#include "experiment/executor.hpp"
#include "experiment/published.hpp"
#include "experiment/units.hpp"
#include "nalm/result.hpp"

namespace nalm {

// What a task must reach: the success rate or the median of a measure at the judged row. Names that are not of one cell
// stand for several, whose runs are taken together: "" for all, "*noise 0" for those that end so, "!x" for all but x.
struct Check {
  std::string_view model, operation, setting;
  std::string_view measure;  // "success" or a measure's name
  bool at_least = true;      // otherwise at most
  double value = 0;
  std::string_view preset = "quick";  // "": of every preset
};

struct TaskPreset {
  std::string_view name;  // "quick", "full", ...
  std::string_view meaning;
  int seeds = 10;
  std::string_view time{};  // on two cores
};

// What can be chosen in one task only, as --name on the command line. Values are text: the task reads them.
struct TaskOption {
  std::string_view name;
  std::string_view help;
};

struct Plan;

struct Task {
  std::string_view name, title, source;
  std::string_view settings;                    // data, networks, training, in a few sentences
  std::vector<std::string_view> differences{};  // from the papers, and why
  std::vector<TaskPreset> presets{};            // the first one that is not "quick" is the default
  std::vector<Check> checks{};
  std::vector<TaskOption> options{};

  // The cells of a preset.
  std::vector<Cell> (*preset_cells)(std::string_view preset) = nullptr;
  // The same, where the plan says more than the preset. Models, operations and settings are then the task's to read; if
  // it leaves out something that was asked for, it says what.
  Result<std::vector<Cell>> (*cells)(const Plan& plan, std::vector<std::string>& left_out) = nullptr;

  // Writes the data of the cells as files into a folder, and says how many; null if that makes no sense.
  Result<std::size_t> (*emit)(const Plan& plan, const std::string& folder) = nullptr;

  Executor execute = train_networks;
  Divider divide = units_of_cells;                                        // in the pieces that the executor trains best
  std::vector<PublishedFigure> (*published)(const Plan& plan) = nullptr;  // otherwise those in data/published_tasks.csv

  // What tables and pages call a model and a setting, and which they show; see report/table.hpp.
  std::string_view model_word = "model", setting_word = "setting";
  enum class Layout { Cells, Grid, Runs } layout = Layout::Cells;
  std::uint32_t first_seed = 0;

  const TaskPreset& default_preset() const {
    return presets[presets.size() > 1 && presets.front().name == "quick" ? 1 : 0];
  }
};

// All tasks, in the order of `nalm list --tasks`.
std::span<const Task* const> all_tasks();
Result<const Task*> find_task(std::string_view name);
Result<const TaskPreset*> find_preset(const Task& task, std::string_view name);  // "": the default

// ---- for writing tasks ---------------------------------------------------------------------------------------------

// A stream for one purpose of one run: different purposes, different numbers.
Xoshiro stream_of(std::string_view purpose, std::uint32_t seed);

// parse_stack for stacks that are known to be right.
Stack stack_of(std::string_view text, int inputs);

}  // namespace nalm
