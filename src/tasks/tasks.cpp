#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/hash.hpp"
#include "base/nearest.hpp"
#include "base/text.hpp"
#include "experiment/task.hpp"

namespace nalm {

// One file each.
extern const Task single_module_task, arithmetic_dataset, recurrent_arithmetic, sir_discovery, calcnet, npu_gate_toy,
    inalu_1, inalu_2, inalu_3, inalu_4, inalu_5, large_scale_arithmetic, simple_arithmetic, nlrl_functions,
    nsr_comparisons, nsr_piecewise, nsr_minimum, nsr_counting, nsr_shortest_paths, identity_function, deep_stacks,
    formulas_task;

std::span<const Task* const> all_tasks() {
  static constexpr const Task* tasks[] = {
      &single_module_task,  // the first is what `nalm bench` runs
      &arithmetic_dataset,
      &recurrent_arithmetic,
      &sir_discovery,
      &calcnet,
      &npu_gate_toy,
      &inalu_1,
      &inalu_2,
      &inalu_3,
      &inalu_4,
      &inalu_5,
      &large_scale_arithmetic,
      &simple_arithmetic,
      &nlrl_functions,
      &nsr_comparisons,
      &nsr_piecewise,
      &nsr_minimum,
      &nsr_counting,
      &nsr_shortest_paths,
      &identity_function,
      &deep_stacks,
      &formulas_task,
  };
  return tasks;
}

Result<const Task*> find_task(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Task* task : all_tasks()) {
    if (same_name(name, task->name)) return task;
    names.push_back(task->name);
  }
  return Error{fmt::format("there is no task \"{}\"; the tasks are {} (nalm list --tasks).{}", name,
                           fmt::join(names, ", "), did_you_mean(name, names))};
}

Result<const TaskPreset*> find_preset(const Task& task, std::string_view name) {
  if (name.empty()) return &task.default_preset();
  std::vector<std::string_view> names;
  for (const TaskPreset& preset : task.presets) {
    if (preset.name == name) return &preset;
    names.push_back(preset.name);
  }
  return Error{fmt::format("the task {} has no preset \"{}\"; it has {}.{}", task.name, name, fmt::join(names, ", "),
                           did_you_mean(name, names))};
}

Xoshiro stream_of(std::string_view purpose, std::uint32_t seed) {
  return Xoshiro(hash_of(purpose) ^ (static_cast<std::uint64_t>(seed) << 32 | seed));
}

Stack stack_of(std::string_view text, int inputs) {
  Result<Stack> stack = parse_stack(text, inputs);
  return stack ? std::move(*stack) : Stack{};
}

}  // namespace nalm
