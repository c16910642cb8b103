// Grids as JSON text: what the store keeps so that a benchmark can be resumed and repeated.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "bench/grid.hpp"
#include "bench/single_module_recipes.hpp"

namespace nalm {

using nlohmann::json;

Status check_recipe_changes(const Grid& grid) {
  if (grid.recipe_changes.empty()) return Done{};
  for (const Pair& pair : grid.pairs) {
    const Recipe own = single_module_recipe(*pair.module, pair.operation, grid.inputs);
    if (const Result<Recipe> changed = change_recipe(own, grid.recipe_changes); !changed) return changed.error();
  }
  return Done{};
}

std::string to_json(const Grid& grid) {
  json value{{"inputs", grid.inputs}, {"log_every", grid.log_every}, {"seeds", grid.seeds}};
  for (const Pair& pair : grid.pairs)
    value["pairs"].push_back({{"module", pair.module->name}, {"operation", name_of(pair.operation)}});
  for (const TaskRange& range : grid.ranges)
    value["ranges"].push_back({{"train", name_of(range.train)}, {"test", name_of(range.test)}});
  if (grid.iterations) value["iterations"] = *grid.iterations;
  if (grid.learning_rate) value["learning_rate"] = *grid.learning_rate;
  if (!grid.recipe_changes.empty()) value["recipe_changes"] = json::parse(grid.recipe_changes);
  return value.dump();
}

Result<Grid> grid_from_json(std::string_view text) {
  const Result<json> value = parse_json<json>(text, "text");
  if (!value) return Error{fmt::format("the stored settings cannot be read: {}", value.error().message)};
  Grid grid;
  try {
    grid.inputs = value->at("inputs");
    grid.log_every = value->at("log_every");
    grid.seeds = value->at("seeds").get<std::vector<std::uint32_t>>();
    for (const json& pair : value->at("pairs")) {
      const Result<const ModuleInfo*> module = find_module(pair.at("module").get<std::string>());
      if (!module) return module.error();
      const Result<Operation> operation = parse_operation(pair.at("operation").get<std::string>());
      if (!operation) return operation.error();
      grid.pairs.push_back({*module, *operation});
    }
    for (const json& range : value->at("ranges")) {
      const Result<Range> train = parse_range(range.at("train").get<std::string>());
      if (!train) return train.error();
      const Result<Range> test = parse_range(range.at("test").get<std::string>());
      if (!test) return test.error();
      grid.ranges.push_back({*train, *test});
    }
    if (grid.inputs < 2 || grid.log_every < 1 || grid.pairs.empty() || grid.ranges.empty() || grid.seeds.empty())
      return Error{"the stored settings cannot be read: they describe no benchmark."};
    if (value->contains("iterations")) grid.iterations = (*value)["iterations"].get<long>();
    if (value->contains("learning_rate")) grid.learning_rate = (*value)["learning_rate"].get<double>();
    if (value->contains("recipe_changes")) {
      grid.recipe_changes = (*value)["recipe_changes"].dump();
      if (Status good = check_recipe_changes(grid); !good) return good.error();
    }
  } catch (const json::exception& e) {
    return Error{fmt::format("the stored settings cannot be read: {}.", e.what())};
  }
  return grid;
}

}  // namespace nalm
