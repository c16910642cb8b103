#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/hash.hpp"
#include "base/nearest.hpp"
#include "base/text.hpp"
#include "experiment/task.hpp"

namespace nalm {

// One file each, in the order of `nalm list --tasks`. The first is what `nalm bench` runs.
// clang-format off: it would fill lines, and a task is a line.
#define NALM_FOR_EACH_TASK(X) \
  X(single_module_task)       \
  X(arithmetic_dataset)       \
  X(recurrent_arithmetic)     \
  X(sir_discovery)            \
  X(calcnet)                  \
  X(npu_gate_toy)             \
  X(inalu_1)                  \
  X(inalu_2)                  \
  X(inalu_3)                  \
  X(inalu_4)                  \
  X(inalu_5)                  \
  X(large_scale_arithmetic)   \
  X(simple_arithmetic)        \
  X(nlrl_functions)           \
  X(nsr_comparisons)          \
  X(nsr_piecewise)            \
  X(nsr_minimum)              \
  X(nsr_counting)             \
  X(nsr_shortest_paths)       \
  X(identity_function)        \
  X(deep_stacks)              \
  X(formulas_task)            \
  X(feynman_task)
// clang-format on

#define NALM_DECLARE_TASK(name) extern const Task name;
NALM_FOR_EACH_TASK(NALM_DECLARE_TASK)
#define NALM_POINTER_TO_TASK(name) &name,

std::span<const Task* const> all_tasks() {
  static constexpr const Task* tasks[] = {NALM_FOR_EACH_TASK(NALM_POINTER_TO_TASK)};
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
