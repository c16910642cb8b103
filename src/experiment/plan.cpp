#include "experiment/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>
#include "base/json.hpp"

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "train/recipe_fields.hpp"

namespace nalm {
namespace {

constexpr long most_iterations = 1'000'000'000;
constexpr std::size_t most_seeds = 1'000'000;

// The names in a list, of which some have commas themselves: what is no name alone may be one with what follows.
std::vector<std::string> names_in(std::string_view text, const std::vector<std::string>& known) {
  const std::vector<std::string_view> parts = split_outside_brackets(text);
  const auto is_known = [&](const std::string& name) {
    return std::any_of(known.begin(), known.end(), [&](const std::string& k) { return same_name(k, name); });
  };
  std::vector<std::string> names;
  for (std::size_t first = 0; first < parts.size();) {
    std::string name(parts[first]);
    std::string longer = name;
    std::size_t next = first + 1;
    for (std::size_t end = next; end < parts.size() && !is_known(name); ++end) {
      longer += fmt::format(", {}", parts[end]);
      if (is_known(longer)) name = longer, next = end + 1;
    }
    names.push_back(std::move(name));
    first = next;
  }
  return names;
}

// Leaves the cells whose part (model, operation or setting) is named.
Status keep(std::vector<Cell>& cells, std::string Cell::*part, std::string_view what, const std::string& wanted,
            const Plan& plan) {
  if (wanted.empty()) return Done{};
  const std::vector<std::string> known = distinct(cells, part);
  if (known == std::vector<std::string>{""})
    return Error{fmt::format("the task {} has no {}s to choose from; leave the option away.", plan.task->name, what)};
  const std::vector<std::string> names = names_in(wanted, known);
  for (const std::string& name : names)
    if (std::none_of(known.begin(), known.end(), [&](const std::string& k) { return same_name(k, name); }))
      return Error{fmt::format("the preset {} of the task {} has no {} \"{}\"{}; there is: {}.{}", plan.preset,
                               plan.task->name, what, name,
                               part != &Cell::model && !plan.models.empty() ? " for these models" : "",
                               fmt::join(known, ", "), did_you_mean(name, known))};
  std::erase_if(cells, [&](const Cell& cell) {
    return std::none_of(names.begin(), names.end(),
                        [&](const std::string& name) { return same_name(cell.*part, name); });
  });
  return Done{};
}

Status change(Cell& cell, const Plan& plan) {
  if (plan.log_every) cell.log_every = *plan.log_every;
  if (cell.own) {
    if (!plan.recipe.empty())
      return Error{
          fmt::format("--recipe changes how networks are trained, and a run of {} is more than that; leave it "
                      "away.",
                      cell.name())};
    cell.own_iterations = plan.iterations;
    cell.own_learning_rate = plan.learning_rate;
    return Done{};
  }
  if (!plan.recipe.empty()) {
    Result<Recipe> changed = change_recipe(cell.recipe, plan.recipe);
    if (!changed) return changed.error();
    cell.recipe = std::move(*changed);
  }
  if (plan.iterations) cell.recipe.training.iterations = *plan.iterations;
  if (plan.learning_rate) cell.recipe.training.optimiser.set_learning_rate(*plan.learning_rate);
  return Done{};
}

std::string quoted(const std::string& value) {
  const bool plain = value.find_first_of(" [()*<>&;|\"'{") == value.npos;
  return plain ? value : value.find('"') == value.npos ? fmt::format("\"{}\"", value) : fmt::format("'{}'", value);
}

template <class T>
std::optional<T> optional_from(const Json& value) {
  return value.is_null() ? std::nullopt : std::optional<T>(value.get<T>());
}

}  // namespace

std::vector<std::string> Plan::changes() const {
  std::vector<std::string> changes;
  if (iterations) changes.push_back(fmt::format("--iterations {}", *iterations));
  if (log_every) changes.push_back(fmt::format("--log-every {}", *log_every));
  if (learning_rate) changes.push_back(fmt::format("--learning-rate {}", *learning_rate));
  if (!recipe.empty()) changes.push_back(fmt::format("--recipe {}", quoted(recipe)));
  return changes;
}

std::string Plan::option(std::string_view name) const {
  const auto at = options.find(name);
  return at == options.end() ? "" : at->second;
}

Status check(const Plan& plan) {
  if (plan.seeds.empty()) return Error{"there must be at least one seed, such as --seeds 0..9."};
  if (plan.seeds.size() > most_seeds) return Error{fmt::format("there may be at most {} seeds.", most_seeds)};
  if (std::set<std::uint32_t>(plan.seeds.begin(), plan.seeds.end()).size() != plan.seeds.size())
    return Error{"a seed is named twice."};
  if (plan.iterations && (*plan.iterations < 0 || *plan.iterations > most_iterations))
    return Error{fmt::format("--iterations must be from 0 to {}.", most_iterations)};
  if (plan.log_every && (*plan.log_every < 1 || *plan.log_every > most_iterations))
    return Error{fmt::format("--log-every must be from 1 to {}.", most_iterations)};
  if (plan.learning_rate && !(*plan.learning_rate >= 0 && *plan.learning_rate < 1e6))
    return Error{"--learning-rate must be from 0, which teaches nothing, to 1e6; 0.001 is usual."};
  for (const auto& option : plan.options) {
    const std::string& name = option.first;
    const auto has = [&](const Task& task) {
      return std::any_of(task.options.begin(), task.options.end(), [&](const TaskOption& o) { return o.name == name; });
    };
    if (has(*plan.task)) continue;
    std::vector<std::string_view> owners;
    for (const Task* task : all_tasks())
      if (has(*task)) owners.push_back(task->name);
    return Error{fmt::format("--{} does not belong to the task {}{}; leave it away.", name, plan.task->name,
                             owners.empty() ? "" : fmt::format(" but to {}", fmt::join(owners, ", ")))};
  }
  return Done{};
}

Result<std::vector<Cell>> cells_of(const Plan& plan, std::vector<std::string>& left_out) {
  if (Status good = check(plan); !good) return good.error();
  if (const Result<const TaskPreset*> preset = find_preset(*plan.task, plan.preset); !preset) return preset.error();
  std::vector<Cell> cells;
  if (plan.task->cells) {
    Result<std::vector<Cell>> made = plan.task->cells(plan, left_out);
    if (!made) return made.error();
    cells = std::move(*made);
  } else {
    cells = plan.task->preset_cells(plan.preset);
    // Every name has to be there among what those before it left, so that something always remains.
    if (Status kept = keep(cells, &Cell::model, "model", plan.models, plan); !kept) return kept.error();
    if (Status kept = keep(cells, &Cell::operation, "operation", plan.operations, plan); !kept) return kept.error();
    if (Status kept = keep(cells, &Cell::setting, "setting", plan.settings, plan); !kept) return kept.error();
  }
  for (Cell& cell : cells)
    if (Status changed = change(cell, plan); !changed) return changed.error();
  return cells;
}

std::string command_of(const Plan& plan) {
  std::string command = "nalm bench";
  const auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) command += fmt::format(" --{} {}", name, quoted(value));
  };
  if (plan.task != all_tasks().front()) add("task", std::string(plan.task->name));
  if (plan.preset != plan.task->default_preset().name) add("preset", plan.preset);
  add("modules", plan.models);
  add("operations", plan.operations);
  add("settings", plan.settings);
  for (const auto& [name, value] : plan.options) add(name, value);
  const auto is_default = [&] {
    const Result<const TaskPreset*> preset = find_preset(*plan.task, plan.preset);
    if (!preset || plan.seeds.size() != static_cast<std::size_t>((*preset)->seeds)) return false;
    for (std::size_t k = 0; k < plan.seeds.size(); ++k)
      if (plan.seeds[k] != plan.task->first_seed + k) return false;
    return true;
  };
  if (!is_default()) {
    std::string text;
    for (std::size_t k = 0; k < plan.seeds.size();) {
      std::size_t last = k;
      while (last + 1 < plan.seeds.size() && plan.seeds[last + 1] == plan.seeds[last] + 1) ++last;
      text += fmt::format("{}{}", text.empty() ? "" : ",", plan.seeds[k]);
      if (last > k) text += fmt::format("..{}", plan.seeds[last]);
      k = last + 1;
    }
    add("seeds", text);
  }
  for (const std::string& change : plan.changes()) command += " " + change;
  return command;
}

std::string to_json(const Plan& plan) {
  return Json{{"task", plan.task->name},
              {"preset", plan.preset},
              {"models", plan.models},
              {"operations", plan.operations},
              {"settings", plan.settings},
              {"seeds", plan.seeds},
              {"iterations", value_or_null(plan.iterations)},
              {"log_every", value_or_null(plan.log_every)},
              {"learning_rate", value_or_null(plan.learning_rate)},
              {"recipe", plan.recipe},
              {"options", plan.options}}
      .dump();
}

Result<Plan> plan_from_json(std::string_view text) {
  const Result<Json> value = parse_json(text, "stored plan");
  if (!value) return value.error();
  try {
    // JSON's numbers would be rounded, or wrapped around, without a word.
    const auto is_whole = [](const Json& number) { return number.is_null() || number.is_number_integer(); };
    const Json& seeds = value->at("seeds");
    if (!is_whole(value->at("iterations")) || !is_whole(value->at("log_every")) ||
        !std::all_of(seeds.begin(), seeds.end(), [](const Json& seed) {
          return seed.is_number_unsigned() && seed.get<std::uint64_t>() <= std::numeric_limits<std::uint32_t>::max();
        }))
      return Error{"the stored plan cannot be read: seeds, iterations and log_every must be whole numbers."};
    const Result<const Task*> task = find_task(value->at("task").get<std::string>());
    if (!task) return task.error();
    Plan plan{*task,
              value->at("preset"),
              value->at("models"),
              value->at("operations"),
              value->at("settings"),
              value->at("seeds").get<std::vector<std::uint32_t>>(),
              optional_from<long>(value->at("iterations")),
              optional_from<long>(value->at("log_every")),
              optional_from<double>(value->at("learning_rate")),
              value->at("recipe"),
              value->at("options").get<decltype(Plan::options)>()};
    if (Status good = check(plan); !good) return good.error();
    return plan;
  } catch (const Json::exception& e) {
    return Error{fmt::format("the stored plan cannot be read: {}.", e.what())};
  }
}

Result<std::vector<std::uint32_t>> parse_seeds(std::string_view text) {
  const auto wrong = [&](std::string_view part) {
    return Error{
        fmt::format("\"{}\" is not a seed; write --seeds 3, --seeds 3,11 or --seeds 0..24, with whole numbers "
                    "from 0 to 4294967295.",
                    part)};
  };
  std::vector<std::uint32_t> seeds;
  std::set<std::uint32_t> seen;
  for (const std::string_view part : split(text)) {
    const std::size_t dots = part.find("..");
    const auto first = number_in<std::uint32_t>(trim(part.substr(0, dots)));
    const auto last = dots == part.npos ? first : number_in<std::uint32_t>(trim(part.substr(dots + 2)));
    if (!first || !last) return wrong(part);
    if (*last < *first) return Error{fmt::format("\"{}\" runs backwards; write the smaller seed first.", part)};
    if (*last - *first >= most_seeds) return Error{fmt::format("\"{}\" is more than {} seeds.", part, most_seeds)};
    for (std::uint64_t seed = *first; seed <= *last; ++seed) {
      if (!seen.insert(static_cast<std::uint32_t>(seed)).second)
        return Error{fmt::format("seed {} is named twice.", seed)};
      seeds.push_back(static_cast<std::uint32_t>(seed));
    }
  }
  return seeds;
}

}  // namespace nalm
