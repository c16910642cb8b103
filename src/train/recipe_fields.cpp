#include "train/recipe_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "train/bundle.hpp"

namespace nalm {
namespace {

using nlohmann::json;

template <class F>
auto parsed(std::string_view text, std::string_view what, F f) -> Result<decltype(f(json()))> {
  const Result<json> value = parse_json<json>(text, "text");
  if (!value) return Error{fmt::format("the stored {} cannot be read: {}", what, value.error().message)};
  try {
    return f(*value);
  } catch (const json::exception& e) {
    return Error{fmt::format("the stored {} cannot be read: {}.", what, e.what())};
  }
}

constexpr const char* kinds[] = {"sparsity", "saturate", "l1", "unit", "grow"};  // in the order of Regulariser::Kind
constexpr const char* losses[] = {"squared", "huber", "relative", "log", "absolute"};  // in the order of Loss::Kind

// The position of a name in a list of kinds.
template <std::size_t N>
int kind_of(const json& name, const char* const (&names)[N], const char* what) {
  const std::string text = name;
  const auto known = std::find(std::begin(names), std::end(names), text);
  if (known == std::end(names)) throw json::other_error::create(501, fmt::format("unknown {} {}", what, text), nullptr);
  return static_cast<int>(known - std::begin(names));
}

json to_value(const Regulariser& r) {
  json value{{"kind", kinds[static_cast<int>(r.kind)]}, {"strength", r.strength}};
  if (r.kind != Regulariser::Kind::L1) value["start"] = r.start;
  if (r.has_ramp()) value["end"] = r.end;
  if (r.kind == Regulariser::Kind::L1) value["growth"] = r.growth, value["every"] = r.every, value["limit"] = r.limit;
  if (!r.parameter.empty()) value["parameter"] = r.parameter;
  return value;
}

json to_values(const std::vector<Regulariser>& regularisers) {
  json values = json::array();
  for (const Regulariser& r : regularisers) values.push_back(to_value(r));
  return values;
}

Regulariser regulariser_from(const json& value) {
  Regulariser r;
  r.kind = static_cast<Regulariser::Kind>(kind_of(value.at("kind"), kinds, "regulariser"));
  r.strength = value.at("strength");
  r.start = value.value("start", 0.0);
  r.end = value.value("end", 0.0);
  r.growth = value.value("growth", 1.0);
  r.every = value.value("every", 0.0);
  r.limit = value.value("limit", 0.0);
  r.parameter = value.value("parameter", "");
  return r;
}

// The first name in changes that the result does not have, or nothing.
std::string unknown_name(const json& changes, const json& result) {
  for (const auto& [name, value] : changes.items()) {
    if (value.is_null()) continue;
    if (!result.contains(name)) return name;
    if (!value.is_object()) continue;
    if (const std::string inside = unknown_name(value, result[name]); !inside.empty()) return name + "." + inside;
  }
  return "";
}

// What cannot be trained, or nothing.
std::string senseless(const Recipe& recipe) {
  const double rate = recipe.optimiser.learning_rate();
  if (!(rate > 0 && rate < 1e6)) return "learning_rate must be above 0, such as 0.001";
  if (recipe.batch < 1 || recipe.batch > 1000000) return "batch must be a whole number from 1 to 1000000";
  if (recipe.iterations < 0) return "iterations must not be negative";
  if (recipe.clip_value && !(*recipe.clip_value > 0)) return "clip_value must be above 0, or null";
  if (recipe.clip_norm && !(*recipe.clip_norm > 0)) return "clip_norm must be above 0, or null";
  if (!(recipe.loss.limit > 0)) return "the limit of the huber loss must be above 0";
  if (recipe.noise && !(recipe.noise->lo <= recipe.noise->hi)) return "noise.lo must not be above noise.hi";
  for (const StartChange& change : recipe.starts)
    if (change.kind == StartChange::Kind::Uniform && !(change.lo <= change.hi))
      return fmt::format("starts.{} must be [low, high]", change.parameter);
  if (recipe.decay && recipe.decay->every < 1) return "decay.every must be at least 1";
  if (recipe.phases && (recipe.phases->block < 1 || recipe.phases->first < 0))
    return "phases.block must be at least 1, and phases.first must not be negative";
  if (recipe.restarts && (recipe.restarts->count < 1 || recipe.restarts->count > 1000000))
    return "restarts.count must be a whole number from 1 to 1000000";
  if (recipe.restarts && (recipe.restarts->every < 1 || recipe.restarts->every % 1000 != 0))
    return "restarts.every must be a multiple of 1000, because validation errors are renewed so often";
  return "";
}

}  // namespace

Result<Recipe> change_recipe(const Recipe& recipe, std::string_view changes) {
  const auto wrong = [&](std::string_view why) {
    return Error{
        fmt::format("the changes to the recipe cannot be used: {}; they look like "
                    "{{\"clip_norm\": 1, \"optimiser\": {{\"learning_rate\": 0.01}}}}, and this is a whole recipe: {}.",
                    why, to_json(recipe))};
  };
  const Result<json> parsed_patch = parse_json<json>(changes, "text");
  if (!parsed_patch) return wrong(parsed_patch.error().message);
  const json& patch = *parsed_patch;
  if (!patch.is_object()) return wrong("they are not an object");
  json merged = json::parse(to_json(recipe));
  merged.merge_patch(patch);
  Result<Recipe> result = recipe_from_json(merged.dump());
  if (!result) return wrong(result.error().message);
  if (const std::string name = unknown_name(patch, json::parse(to_json(*result))); !name.empty())
    return wrong(fmt::format("\"{}\" is not known there", name));
  if (const std::string why = senseless(*result); !why.empty()) return wrong(why);
  return result;
}

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
  value["regularisers"] = to_values(recipe.regularisers);
  if (recipe.clip_value) value["clip_value"] = *recipe.clip_value;
  if (recipe.clip_norm) value["clip_norm"] = *recipe.clip_norm;
  if (recipe.reinitialise) {
    value["reinitialise"] = {{"every", recipe.reinitialise->every},
                             {"more_than", recipe.reinitialise->more_than},
                             {"error_above", recipe.reinitialise->error_above}};
    if (recipe.reinitialise->range) value["reinitialise"]["range"] = *recipe.reinitialise->range;
  }
  if (recipe.loss.kind != Loss::Kind::Squared) value["loss"]["kind"] = losses[static_cast<int>(recipe.loss.kind)];
  if (recipe.loss.kind == Loss::Kind::Huber) value["loss"]["limit"] = recipe.loss.limit;
  if (const auto& noise = recipe.noise) {
    value["noise"]["lo"] = noise->lo;
    if (noise->batch_adaptive) {
      value["noise"]["batch_adaptive"] = true;
    } else {
      value["noise"]["hi"] = noise->hi;
    }
  }
  for (const StartChange& change : recipe.starts) {
    json& start = value["starts"][change.parameter];
    if (change.kind == StartChange::Kind::Uniform) start = {change.lo, change.hi};
    if (change.kind == StartChange::Kind::Normal) start = {{"mean", change.lo}, {"deviation", change.hi}};
    if (change.kind == StartChange::Kind::Scaled) start = {{"factor", change.lo}};
  }
  if (recipe.decay) value["decay"] = {{"factor", recipe.decay->factor}, {"every", recipe.decay->every}};
  if (recipe.phases) {
    value["phases"] = {
        {"parameter", recipe.phases->parameter}, {"block", recipe.phases->block}, {"first", recipe.phases->first}};
  }
  if (recipe.cool_down) value["cool_down"] = {{"start", recipe.cool_down->start}, {"end", recipe.cool_down->end}};
  if (recipe.restarts) value["restarts"] = {{"count", recipe.restarts->count}, {"every", recipe.restarts->every}};
  return value.dump();
}

std::string to_json(const StackRecipe& recipe) {
  json value = json::parse(to_json(recipe.whole));
  value.erase("regularisers");
  value["layers"] = json::array();
  for (const std::vector<Regulariser>& layer : recipe.layers)
    value["layers"].push_back({{"regularisers", to_values(layer)}});
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
      recipe.reinitialise = Reinitialise{r.at("every"), r.at("more_than"), r.at("error_above"), {}};
      if (r.contains("range")) recipe.reinitialise->range = r["range"].get<double>();
    }
    if (value.contains("loss")) {
      const json& loss = value["loss"];
      recipe.loss.kind = static_cast<Loss::Kind>(kind_of(loss.at("kind"), losses, "loss"));
      if (recipe.loss.kind == Loss::Kind::Huber) recipe.loss.limit = loss.at("limit");
    }
    if (value.contains("noise")) {
      const json& noise = value["noise"];
      recipe.noise = Noise{noise.at("lo"), noise.value("hi", 5.0), noise.value("batch_adaptive", false)};
    }
    if (value.contains("starts")) {
      for (const auto& [parameter, start] : value["starts"].items()) {
        if (start.is_array()) {
          recipe.starts.push_back({parameter, start.at(0), start.at(1)});
        } else if (start.contains("factor")) {
          recipe.starts.push_back({parameter, start["factor"], 0, StartChange::Kind::Scaled});
        } else {
          recipe.starts.push_back({parameter, start.at("mean"), start.at("deviation"), StartChange::Kind::Normal});
        }
      }
    }
    if (value.contains("decay")) recipe.decay = Decay{value["decay"].at("factor"), value["decay"].at("every")};
    if (value.contains("phases")) {
      const json& phases = value["phases"];
      recipe.phases = Phases{phases.at("parameter"), phases.at("block"), phases.at("first")};
    }
    if (value.contains("cool_down"))
      recipe.cool_down = CoolDown{value["cool_down"].at("start"), value["cool_down"].at("end")};
    if (value.contains("restarts"))
      recipe.restarts = Restarts{value["restarts"].at("count"), value["restarts"].at("every")};
    return recipe;
  });
}

}  // namespace nalm
