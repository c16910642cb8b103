// Model files: JSON, described in docs/model-file.md.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include "base/json.hpp"

#include "base/read_file.hpp"
#include "base/write_file.hpp"
#include "modules/options.hpp"
#include "nalm/model.hpp"

namespace nalm {

namespace {

constexpr int format_version = 1;

std::string kind_of(const Json& json) {
  if (json.is_null()) return "null";
  if (json.is_object()) return "an object";
  if (json.is_array()) return "a list";
  if (json.is_string()) return "text";
  if (json.is_boolean()) return "true or false";
  return "a number";
}

// Where we are in the file, for messages: "model.json: layer 2 (NALU)".
struct Place {
  std::string text;
  Error operator()(const std::string& problem) const { return Error{text + ": " + problem}; }
};

// Reads nested lists of the given dimensions into flat storage.
Status read_tensor(const Json& json, std::span<const int> dims, const std::string& name, const Place& place,
                   std::vector<double>& out) {
  if (dims.empty()) {
    if (!json.is_number()) return place(fmt::format("{} should be a number, not {}.", name, kind_of(json)));
    const double value = json.get<double>();
    if (!std::isfinite(value)) return place(fmt::format("{} is not finite.", name));
    out.push_back(value);
    return Done{};
  }
  if (!json.is_array()) {
    return place(fmt::format("{} should be a list of {} entries, not {}.", name, dims[0], kind_of(json)));
  }
  if (json.size() != static_cast<std::size_t>(dims[0])) {
    return place(fmt::format("{} has {} entries, but {} are needed.", name, json.size(), dims[0]));
  }
  for (std::size_t k = 0; k < json.size(); ++k) {
    if (Status s = read_tensor(json[k], dims.subspan(1), fmt::format("{}[{}]", name, k), place, out); !s) return s;
  }
  return Done{};
}

Result<int> read_size(const Json& layer, const char* key, const Place& place) {
  if (!layer.contains(key)) return place(fmt::format("\"{}\" is missing.", key));
  const Json& value = layer[key];
  if (!value.is_number_integer() || value.get<double>() < 1 || value.get<double>() > 1e6) {
    return place(fmt::format("\"{}\" should be a whole number from 1 to 1e6.", key));
  }
  return value.get<int>();
}

Status read_options(const Json& layer, const ModuleInfo& module, const Place& place, LayerShape& shape) {
  if (!layer.contains("options")) return Done{};
  const Json& options = layer["options"];
  if (!options.is_object()) return place("\"options\" should be an object.");
  for (const auto& [key, value] : options.items()) {
    if (!value.is_string() && !value.is_number()) {
      return place(fmt::format("option \"{}\" should be a number or text, not {}.", key, kind_of(value)));
    }
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (Status set = set_option(module, key, text, shape); !set) return place(set.error().message);
  }
  return Done{};
}

// What the parameters say without options: a parameter that exists only for one value of an option sets it, and the
// number of paths is the length of the last index.
void infer_options(const Json& layer, const Json& parameters, const ModuleInfo& module, LayerShape& shape) {
  const auto stated = [&](int option) {
    return layer.contains("options") &&
           layer["options"].contains(module.options[static_cast<std::size_t>(option)].name);
  };
  for (const ParameterInfo& p : module.parameters) {
    if (!parameters.contains(p.name)) continue;
    if (p.condition.option >= 0 && !stated(p.condition.option)) {
      shape.options[static_cast<std::size_t>(p.condition.option)] = p.condition.value;
    }
    if (module.path_option >= 0 && !stated(module.path_option) && p.axes.axis[2] == Axis::Path && p.axes.count == 3) {
      const Json* inner = &parameters[p.name];
      while (inner->is_array() && !inner->empty() && inner->front().is_array()) inner = &inner->front();
      if (inner->is_array() && !inner->empty()) {
        shape.options[static_cast<std::size_t>(module.path_option)] = static_cast<double>(inner->size());
      }
    }
  }
}

Result<Layer> read_layer(const Json& json, const std::string& where) {
  Place place{where};
  if (!json.is_object()) return place(fmt::format("should be an object, not {}.", kind_of(json)));
  if (!json.contains("module") || !json["module"].is_string()) return place("\"module\" should name a module.");
  const Result<const ModuleInfo*> module = find_module(json["module"].get<std::string>());
  if (!module) return place(module.error().message);
  place.text += fmt::format(" ({})", (*module)->name);

  const Result<int> inputs = read_size(json, "inputs", place);
  if (!inputs) return inputs.error();
  const Result<int> outputs = read_size(json, "outputs", place);
  if (!outputs) return outputs.error();
  Layer layer{*module, default_shape(**module, *inputs, *outputs), {}};
  if (!json.contains("parameters") || !json["parameters"].is_object()) {
    return place("\"parameters\" should be an object with one entry per parameter.");
  }
  const Json& parameters = json["parameters"];
  if (Status s = read_options(json, **module, place, layer.shape); !s) return s.error();
  infer_options(json, parameters, **module, layer.shape);
  if (Status s = check_shape(**module, layer.shape); !s) return place(s.error().message);

  std::string known;
  for (const ParameterInfo& p : (*module)->parameters) {
    if (!is_present(p, layer.shape)) continue;
    known += (known.empty() ? "" : ", ") + std::string(p.name);
    if (!parameters.contains(p.name)) return place(fmt::format("parameter \"{}\" is missing.", p.name));
    const std::vector<int> dims = dimensions(**module, p, layer.shape);
    if (Status s = read_tensor(parameters[p.name], dims, std::string(p.name), place, layer.parameters); !s) {
      return s.error();
    }
  }
  for (const auto& [key, value] : parameters.items()) {
    bool found = false;
    for (const ParameterInfo& p : (*module)->parameters) found |= is_present(p, layer.shape) && key == p.name;
    if (!found) return place(fmt::format("parameter \"{}\" is unknown here; the parameters are {}.", key, known));
  }
  return layer;
}

Json write_tensor(std::span<const int> dims, const double*& next) {
  Json list = Json::array();
  for (int k = 0; k < dims[0]; ++k) {
    if (dims.size() == 1) {
      list.push_back(*next++);
    } else {
      list.push_back(write_tensor(dims.subspan(1), next));
    }
  }
  return list;
}

Json write_layer(const Layer& layer) {
  Json json = Json::object();
  json["module"] = layer.module->name;
  json["inputs"] = layer.shape.inputs;
  json["outputs"] = layer.shape.outputs;
  json["options"] = Json::object();
  for (std::size_t k = 0; k < layer.module->options.size(); ++k) {
    const OptionInfo& option = layer.module->options[k];
    if (option.choices[0].empty()) {
      json["options"][std::string(option.name)] = layer.shape.options[k];
    } else {
      json["options"][std::string(option.name)] = option_text(option, layer.shape.options[k]);
    }
  }
  const double* next = layer.parameters.data();
  json["parameters"] = Json::object();
  for (const ParameterInfo& p : layer.module->parameters) {
    if (!is_present(p, layer.shape)) continue;
    const std::vector<int> dims = dimensions(*layer.module, p, layer.shape);
    json["parameters"][std::string(p.name)] = write_tensor(dims, next);
  }
  return json;
}

// What a fit adds: "target", "constants" and "formula".
Status read_formula(const Json& json, const Place& place, Model& model) {
  if (json.contains("target")) {
    if (!json["target"].is_string()) return place("\"target\" should be the name of the output.");
    model.target = json["target"].get<std::string>();
  }
  if (json.contains("constants")) {
    if (!json["constants"].is_object()) return place("\"constants\" should be an object of names and numbers.");
    for (const auto& [name, value] : json["constants"].items()) {
      if (!value.is_number() || !std::isfinite(value.get<double>())) {
        return place(fmt::format("the constant \"{}\" should be a finite number.", name));
      }
      if (const std::vector<std::string> columns = model.column_names();
          std::find(columns.begin(), columns.end(), name) != columns.end()) {
        return place(fmt::format("\"{}\" is the name of a constant and of a column; rename one of them.", name));
      }
      model.constants.push_back({name, value.get<double>()});
    }
  }
  if (!json.contains("formula")) return Done{};
  if (!json["formula"].is_string()) return place("\"formula\" should be text.");
  model.formula = json["formula"].get<std::string>();
  if (model.outputs() != 1) return place("\"formula\" needs a model with one output.");
  const Result<Expression> formula = stated_formula(model);
  if (!formula) return place(formula.error().message);
  return Done{};
}

}  // namespace

Result<Model> parse_model(std::string_view text, std::string_view source_name) {
  const Place place{std::string(source_name)};
  Result<Json> parsed = parse_json(text, "file");
  if (!parsed) return place(parsed.error().message);
  const Json& json = *parsed;
  if (!json.is_object() || !json.contains("format") || json["format"] != "nalm-model") {
    return place("this is not a model file; it should begin with {\"format\":\"nalm-model\",\"version\":1,...}.");
  }
  if (!json.contains("version") || !json["version"].is_number_integer()) {
    return place(fmt::format("\"version\" should be the number {}.", format_version));
  }
  if (json["version"].get<double>() != format_version) {
    return place(fmt::format("the file has version {}, but this program reads version {}.", json["version"].dump(),
                             format_version));
  }
  if (!json.contains("layers") || !json["layers"].is_array() || json["layers"].empty()) {
    return place("\"layers\" should be a list with at least one layer.");
  }
  Model model;
  for (std::size_t k = 0; k < json["layers"].size(); ++k) {
    Result<Layer> layer = read_layer(json["layers"][k], fmt::format("{}: layer {}", source_name, k + 1));
    if (!layer) return layer.error();
    model.layers.push_back(*std::move(layer));
  }
  if (Status fits = check_stack(model.stack()); !fits) return place(fits.error().message);
  if (json.contains("columns")) {
    const Json& columns = json["columns"];
    if (!columns.is_array() || columns.size() != static_cast<std::size_t>(model.inputs())) {
      return place(fmt::format("\"columns\" should list the names of the {} inputs.", model.inputs()));
    }
    std::set<std::string> names;
    for (const Json& name : columns) {
      if (!name.is_string()) return place("\"columns\" should contain only text.");
      model.columns.push_back(name.get<std::string>());
      if (!names.insert(model.columns.back()).second) {
        return place(fmt::format("\"columns\" has the name \"{}\" twice.", model.columns.back()));
      }
    }
  }
  if (Status s = read_formula(json, place, model); !s) return s.error();
  return model;
}

Result<Expression> stated_formula(const Model& model) {
  if (model.formula.empty()) return Error{"the model has no formula; only those that \"nalm fit\" writes have one."};
  Result<Expression> formula = parse_expression(model.formula);
  if (!formula) return Error{fmt::format("the formula \"{}\" is wrong in {}", model.formula, formula.error().message)};
  if (!model.constants.empty()) *formula = with_values(*formula, model.constants);
  const std::vector<std::string> columns = model.column_names();
  for (const std::string& name : variables(*formula)) {
    if (std::find(columns.begin(), columns.end(), name) == columns.end()) {
      return Error{fmt::format("the formula uses \"{}\", which is neither a column nor a constant.", name)};
    }
  }
  return formula;
}

Result<Model> load_model(const std::string& path) {
  const Result<std::string> text = read_file(path, "model file");
  if (!text) return text.error();
  return parse_model(*text, path);
}

std::string to_json(const Model& model) {
  // Objects are made before they are filled: a null that becomes one while memory is short is destroyed as half of it.
  Json json = Json::object();
  json["format"] = "nalm-model";
  json["version"] = format_version;
  if (!model.columns.empty()) json["columns"] = model.columns;
  if (!model.target.empty()) json["target"] = model.target;
  if (!model.formula.empty()) json["formula"] = model.formula;
  if (!model.constants.empty()) json["constants"] = Json::object();
  for (const auto& [name, value] : model.constants) json["constants"][name] = value;
  json["layers"] = Json::array();
  for (const Layer& layer : model.layers) json["layers"].push_back(write_layer(layer));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Status save_model(const Model& model, const std::string& path) {
  if (Status whole = check_model(model); !whole)
    return Error{fmt::format("{}: not written: {}", path, whole.error().message)};
  for (const Layer& layer : model.layers) {
    for (double value : layer.parameters) {
      if (!std::isfinite(value)) {
        return Error{
            fmt::format("{}: not written, because a parameter of {} is not finite.", path, layer.module->name)};
      }
    }
  }
  return write_file(path, to_json(model));
}

}  // namespace nalm
