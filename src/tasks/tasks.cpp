#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tasks/task.hpp"

namespace nalm {

// One file each.
extern const Task arithmetic_dataset;

std::span<const Task* const> all_tasks() {
  static constexpr const Task* tasks[] = {
      &arithmetic_dataset,
  };
  return tasks;
}

Result<const Task*> find_task(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Task* task : all_tasks()) {
    if (task->name == name) return task;
    names.push_back(task->name);
  }
  return Error{
      fmt::format("there is no task \"{}\"; the tasks are {} (nalm list --tasks).", name, fmt::join(names, ", "))};
}

Result<const TaskPreset*> find_preset(const Task& task, std::string_view name) {
  if (name.empty()) return &task.presets[1];
  std::vector<std::string_view> names;
  for (const TaskPreset& preset : task.presets) {
    if (preset.name == name) return &preset;
    names.push_back(preset.name);
  }
  return Error{fmt::format("the task {} has no preset \"{}\"; it has {}.", task.name, name, fmt::join(names, ", "))};
}

Xoshiro stream_of(std::string_view purpose, std::uint32_t seed) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const char c : purpose) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return Xoshiro(hash ^ (static_cast<std::uint64_t>(seed) << 32 | seed));
}

Stack stack_of(std::string_view text, int inputs) {
  Result<Stack> stack = parse_stack(text, inputs);
  return stack ? std::move(*stack) : Stack{};
}

}  // namespace nalm
