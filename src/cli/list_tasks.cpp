#include "cli/list_tasks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/output.hpp"
#include "cli/wrap.hpp"
#include "experiment/plan.hpp"

namespace nalm::cli {
namespace {

Plan listed_plan(const Task& task, const TaskPreset& preset) {
  Plan plan;
  plan.task = &task;
  plan.preset = preset.name;
  plan.seeds = {task.first_seed};
  return plan;
}

std::vector<Cell> cells_in(const Task& task, const TaskPreset& preset) {
  Result<std::vector<Cell>> cells = cells_of(listed_plan(task, preset));
  return cells ? std::move(*cells) : std::vector<Cell>{};
}

std::vector<PublishedFigure> published_for(const Task& task) {
  return task.published ? task.published(listed_plan(task, task.default_preset())) : published_in_tasks_csv(task.name);
}

std::string or_all(std::string_view name) { return name.empty() ? "all" : std::string(name); }

std::string words_of(const Check& check) {
  return fmt::format("{} | {} | {}: {} at {} {:g}", or_all(check.model), or_all(check.operation), or_all(check.setting),
                     check.measure, check.at_least ? "least" : "most", check.value);
}

std::string words_of(const PublishedFigure& figure) {
  const bool rate = figure.what == "success";
  return fmt::format("{} | {} | {}: {} {:g}{}{}{}", figure.model, figure.operation, figure.setting, figure.what,
                     rate ? 100 * figure.value.value : figure.value.value, rate ? " %" : "",
                     figure.source.empty() ? "" : "; ", figure.source);
}

// The cells of large presets take seconds to make: they are not counted.
bool is_counted(const Task& task, const TaskPreset& preset) { return &preset - task.presets.data() < 2; }

void print_presets(const Task& task, std::size_t indent) {
  for (const TaskPreset& preset : task.presets) {
    std::string cells;
    if (is_counted(task, preset)) {
      const std::size_t count = cells_in(task, preset).size();
      cells = fmt::format("{} cell{}, ", count, count == 1 ? "" : "s");
    }
    put("{:<{}}{:<22}{}\n", "", indent, preset.name,
        wrap(fmt::format("{} ({}{} seed{}, {})", preset.meaning, cells, preset.seeds, preset.seeds == 1 ? "" : "s",
                         preset.time),
             indent + 22));
  }
}

}  // namespace

void print_tasks() {
  for (const Task* task : all_tasks()) {
    put("{:<24}{}\n{:<24}{}\n", task->name, wrap(task->title, 24), "", wrap(task->source, 24));
    print_presets(*task, 24);
    put("\n");
  }
  put("\"nalm list NAME\" tells everything about one task, \"nalm bench --task NAME\" runs it.\n");
}

void print_task(const Task& task) {
  put("{}: {}\n\n", task.name, task.title);
  print_field("source", task.source);
  print_field("settings", task.settings);
  put("\npresets ({} is the default; times are for two cores)\n", task.default_preset().name);
  print_presets(task, 2);
  const std::vector<Cell> cells = cells_in(task, task.default_preset());
  put("\nparts of the default preset\n");
  const auto print_part = [&](std::string_view option, std::string Cell::*part) {
    put("  {:<14}{}\n", option, wrap(fmt::format("{}", fmt::join(distinct(cells, part), ", ")), 16));
  };
  print_part("--modules", &Cell::model);
  print_part("--operations", &Cell::operation);
  print_part("--settings", &Cell::setting);
  for (const TaskOption& option : task.options)
    put("  {:<14}{}\n", fmt::format("--{}", option.name), wrap(option.help, 16));
  if (!task.differences.empty()) put("\ndifferences from the papers\n");
  for (const std::string_view difference : task.differences) put("  - {}\n", wrap(difference, 4));
  put("\npublished\n");
  const std::vector<PublishedFigure> figures = published_for(task);
  for (const PublishedFigure& figure : figures) put("  - {}\n", wrap(words_of(figure), 4));
  if (figures.empty()) put("  no figures that ours could be set beside\n");
  put("\nchecks\n");
  for (const Check& check : task.checks)
    put("  - {}{}\n", wrap(words_of(check), 4), check.preset.empty() ? "" : fmt::format(" (preset {})", check.preset));
}

Json to_json(const Task& task) {
  Json object{{"name", task.name}, {"title", task.title}, {"source", task.source}, {"settings", task.settings}};
  object["presets"] = Json::array();
  for (const TaskPreset& preset : task.presets) {
    Json entry{{"name", preset.name}, {"meaning", preset.meaning}, {"seeds", preset.seeds}, {"time", preset.time}};
    if (is_counted(task, preset)) {
      const std::vector<Cell> cells = cells_in(task, preset);
      entry["cells"] = cells.size();
      entry["models"] = distinct(cells, &Cell::model);
      entry["operations"] = distinct(cells, &Cell::operation);
      entry["settings"] = distinct(cells, &Cell::setting);
    }
    object["presets"].push_back(std::move(entry));
  }
  object["differences"] = task.differences;
  object["published"] = Json::array();
  for (const PublishedFigure& figure : published_for(task))
    object["published"].push_back({{"model", figure.model},
                                   {"operation", figure.operation},
                                   {"setting", figure.setting},
                                   {"what", figure.what},
                                   {"value", figure.value.value},
                                   {"remark", figure.source}});
  object["checks"] = Json::array();
  for (const Check& check : task.checks)
    object["checks"].push_back({{"model", check.model},
                                {"operation", check.operation},
                                {"setting", check.setting},
                                {"measure", check.measure},
                                {check.at_least ? "at_least" : "at_most", check.value}});
  return object;
}

}  // namespace nalm::cli
