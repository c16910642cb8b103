// Grids and recipes as JSON text: what the store keeps so that a benchmark can be resumed and repeated.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/grid.hpp"

namespace nalm {
namespace {

using nlohmann::json;

template <class F>
auto parsed(std::string_view text, std::string_view what, F f) -> Result<decltype(f(json()))> {
  try {
    return f(json::parse(text));
  } catch (const json::exception& e) {
    return Error{fmt::format("the stored {} cannot be read: {}.", what, e.what())};
  }
}

constexpr const char* kinds[] = {"sparsity", "saturate", "l1"};  // in the order of Regulariser::Kind

json to_value(const Regulariser& r) {
  json value{{"kind", kinds[static_cast<int>(r.kind)]}, {"strength", r.strength}};
  if (r.kind != Regulariser::Kind::L1) value["start"] = r.start;
  if (r.kind == Regulariser::Kind::Sparsity) value["end"] = r.end;
  if (r.kind == Regulariser::Kind::L1) value["growth"] = r.growth, value["every"] = r.every, value["limit"] = r.limit;
  if (!r.parameter.empty()) value["parameter"] = r.parameter;
  return value;
}

Regulariser regulariser_from(const json& value) {
  Regulariser r;
  const std::string kind = value.at("kind");
  const auto known = std::find(std::begin(kinds), std::end(kinds), kind);
  if (known == std::end(kinds)) throw json::other_error::create(501, "unknown regulariser " + kind, nullptr);
  r.kind = static_cast<Regulariser::Kind>(known - std::begin(kinds));
  r.strength = value.at("strength");
  r.start = value.value("start", 0.0);
  r.end = value.value("end", 0.0);
  r.growth = value.value("growth", 1.0);
  r.every = value.value("every", 0.0);
  r.limit = value.value("limit", 0.0);
  r.parameter = value.value("parameter", "");
  return r;
}

}  // namespace

std::string to_json(const Recipe& recipe) {
  json value{{"iterations", recipe.iterations}, {"batch", recipe.batch}};
  const Optimiser& o = recipe.optimiser;
  if (o.kind == Optimiser::Kind::Adam) {
    value["optimiser"] = {{"kind", "adam"},
                          {"learning_rate", o.adam.learning_rate},
                          {"beta1", o.adam.beta1},
                          {"beta2", o.adam.beta2},
                          {"epsilon", o.adam.epsilon}};
  } else {
    value["optimiser"] = {{"kind", "rmsprop"},
                          {"learning_rate", o.rms_prop.learning_rate},
                          {"decay", o.rms_prop.decay},
                          {"epsilon", o.rms_prop.epsilon},
                          {"first_accumulator", o.rms_prop.first_accumulator},
                          {"epsilon_inside_root", o.rms_prop.epsilon_inside_root}};
  }
  value["regularisers"] = json::array();
  for (const Regulariser& r : recipe.regularisers) value["regularisers"].push_back(to_value(r));
  if (recipe.clip_value) value["clip_value"] = *recipe.clip_value;
  if (recipe.clip_norm) value["clip_norm"] = *recipe.clip_norm;
  if (recipe.reinitialise) {
    value["reinitialise"] = {{"every", recipe.reinitialise->every},
                             {"more_than", recipe.reinitialise->more_than},
                             {"error_above", recipe.reinitialise->error_above}};
  }
  return value.dump();
}

Result<Recipe> recipe_from_json(std::string_view text) {
  return parsed(text, "recipe", [](const json& value) {
    Recipe recipe;
    recipe.iterations = value.at("iterations");
    recipe.batch = value.at("batch");
    const json& o = value.at("optimiser");
    if (o.at("kind") == "adam") {
      recipe.optimiser = Adam{o.at("learning_rate"), o.at("beta1"), o.at("beta2"), o.at("epsilon")};
    } else {
      recipe.optimiser = RmsProp{o.at("learning_rate"), o.at("decay"), o.at("epsilon"), o.at("first_accumulator"),
                                 o.at("epsilon_inside_root")};
    }
    for (const json& r : value.at("regularisers")) recipe.regularisers.push_back(regulariser_from(r));
    if (value.contains("clip_value")) recipe.clip_value = value["clip_value"].get<double>();
    if (value.contains("clip_norm")) recipe.clip_norm = value["clip_norm"].get<double>();
    if (value.contains("reinitialise")) {
      const json& r = value["reinitialise"];
      recipe.reinitialise = Reinitialise{r.at("every"), r.at("more_than"), r.at("error_above")};
    }
    return recipe;
  });
}

std::string to_json(const Grid& grid) {
  json value{{"inputs", grid.inputs}, {"log_every", grid.log_every}, {"seeds", grid.seeds}};
  for (const Pair& pair : grid.pairs)
    value["pairs"].push_back({{"module", pair.module->name}, {"operation", name_of(pair.operation)}});
  for (const TaskRange& range : grid.ranges)
    value["ranges"].push_back({{"train", name_of(range.train)}, {"test", name_of(range.test)}});
  if (grid.iterations) value["iterations"] = *grid.iterations;
  if (grid.learning_rate) value["learning_rate"] = *grid.learning_rate;
  return value.dump();
}

Result<Grid> grid_from_json(std::string_view text) {
  const Result<json> value = parsed(text, "settings", [](json v) { return v; });
  if (!value) return value.error();
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
  } catch (const json::exception& e) {
    return Error{fmt::format("the stored settings cannot be read: {}.", e.what())};
  }
  return grid;
}

}  // namespace nalm
