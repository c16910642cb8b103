#include "report/fit_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/json.hpp"
#include "nalm/module.hpp"
#include "nalm/version.hpp"
#include "report/page.hpp"

namespace nalm {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_points = 2000, most_candidates = 500, most_cells = 4096, most_layers = 64;

// ---- entries that may be missing, or something else ----------------------------------------------------------------

const Json& entry(const Json& object, std::string_view key) {
  static const Json missing;
  if (!object.is_object()) return missing;
  const auto found = object.find(std::string(key));
  return found == object.end() ? missing : *found;
}
// A finite number, or null.
Json number(const Json& value) {
  if (!value.is_number() || !std::isfinite(value.get<double>())) return {};
  return value.get<double>();
}
Json number(const Json& object, std::string_view key) { return number(entry(object, key)); }
Json flag(const Json& object, std::string_view key) {
  const Json& value = entry(object, key);
  return value.is_boolean() ? value : Json();
}
std::string text(const Json& object, std::string_view key) {
  const Json& value = entry(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}
// As text: a script would round a number of 64 bits.
std::string whole(const Json& object, std::string_view key) {
  const Json& value = entry(object, key);
  return value.is_number_integer() ? value.dump() : "";
}
std::vector<std::string> texts(const Json& object, std::string_view key) {
  std::vector<std::string> list;
  for (const Json& value : entry(object, key))
    if (value.is_string()) list.push_back(value.get<std::string>());
  return list;
}
// The objects in a list.
std::vector<const Json*> objects(const Json& object, std::string_view key) {
  std::vector<const Json*> list;
  const Json& values = entry(object, key);
  if (!values.is_array()) return list;
  for (const Json& value : values)
    if (value.is_object()) list.push_back(&value);
  return list;
}

// ---- the parts of a fit --------------------------------------------------------------------------------------------

constexpr std::array<std::string_view, 3> sets{"train", "held_out", "outside"};

Json error_of(const Json& value) {
  if (!value.is_object()) return {};
  return {{"rows", number(value, "rows")},
          {"rmse", number(value, "rmse")},
          {"relative", number(value, "relative")},
          {"largest", number(value, "largest")}};
}

Json errors_of(const Json& value) {
  Json errors = Json::object();
  for (const std::string_view set : sets) errors[std::string(set)] = error_of(entry(value, set));
  return errors;
}

Json constants_of(const Json& fit) {
  Json list = Json::array();
  for (const Json* constant : objects(fit, "constants")) {
    list.push_back({{"value", number(*constant, "value")},
                    {"estimate", number(*constant, "estimate")},
                    {"low", number(*constant, "low")},
                    {"high", number(*constant, "high")},
                    {"snapped", flag(*constant, "snapped")}});
  }
  return list;
}

Json candidates_of(const Json& fit) {
  Json list = Json::array();
  for (const Json* candidate : objects(fit, "candidates")) {
    if (list.size() == most_candidates) break;
    list.push_back({{"formula", text(*candidate, "formula")},
                    {"mathml", text(*candidate, "mathml")},
                    {"size", number(*candidate, "size")},
                    {"agreeing", number(*candidate, "agreeing")},
                    {"chosen", flag(*candidate, "chosen")},
                    {"errors", errors_of(*candidate)}});
  }
  return list;
}

Json probe_of(const Json& fit) {
  const Json& probe = entry(fit, "probe");
  if (!probe.is_object()) return {};
  Json box = Json::array();
  for (const Json* range : objects(probe, "box")) {
    box.push_back({{"column", text(*range, "column")},
                   {"low", number(*range, "low")},
                   {"high", number(*range, "high")},
                   {"probed_low", number(*range, "probed_low")},
                   {"probed_high", number(*range, "probed_high")}});
  }
  return {{"box", std::move(box)},
          {"points", number(probe, "points")},
          {"undefined", number(probe, "undefined")},
          {"remarks", texts(probe, "remarks")}};
}

Json named_constants_of(const Json& model) {
  Json list = Json::array();
  const Json& constants = entry(model, "constants");
  if (!constants.is_object()) return list;
  for (const auto& [name, value] : constants.items()) list.push_back({{"name", name}, {"value", number(value)}});
  return list;
}

// The columns in the formula; where it cannot be read, those that were probed.
std::vector<std::string> used_columns(const Json& fit, const std::vector<std::string>& columns) {
  std::vector<std::string> named;
  if (const Result<Expression> formula = parse_expression(text(fit, "formula"))) named = variables(*formula);
  if (named.empty())
    for (const Json* range : objects(entry(fit, "probe"), "box")) named.push_back(text(*range, "column"));
  std::vector<std::string> used;
  for (const std::string& column : columns)
    if (named.empty() || std::find(named.begin(), named.end(), column) != named.end()) used.push_back(column);
  return used;
}

// Rows of a known set, as lists of the same length. Inputs are a list, so that any name will do.
Json points_of(const Json& fit) {
  const Json& points = entry(fit, "points");
  const Json& set_of_row = entry(points, "set");
  if (!set_of_row.is_array()) return {};
  std::vector<std::size_t> rows;
  for (std::size_t k = 0; k < set_of_row.size(); ++k) {
    const bool known = set_of_row[k].is_string() &&
                       std::find(sets.begin(), sets.end(), set_of_row[k].get<std::string>()) != sets.end();
    if (known) rows.push_back(k);
  }
  if (const std::size_t step = (rows.size() + most_points - 1) / most_points; step > 1) {
    for (std::size_t k = 0; k * step < rows.size(); ++k) rows[k] = rows[k * step];
    rows.resize((rows.size() + step - 1) / step);
  }
  const auto values = [&](const Json& list) {
    Json chosen = Json::array();
    for (const std::size_t row : rows)
      chosen.push_back(list.is_array() && row < list.size() ? number(list[row]) : Json());
    return chosen;
  };
  Json chosen_sets = Json::array(), inputs = Json::array();
  for (const std::size_t row : rows) chosen_sets.push_back(set_of_row[row]);
  std::vector<std::string> columns;
  const Json& columns_of_points = entry(points, "inputs");
  if (columns_of_points.is_object())
    for (const auto& column : columns_of_points.items()) columns.push_back(column.key());
  for (const std::string& column : used_columns(fit, columns))
    inputs.push_back({{"name", column}, {"values", values(columns_of_points[column])}});
  return {{"set", std::move(chosen_sets)},
          {"target", values(entry(points, "target"))},
          {"predicted", values(entry(points, "predicted"))},
          {"inputs", std::move(inputs)}};
}

// ---- the layers ----------------------------------------------------------------------------------------------------

std::string_view name_of(Axis axis) {
  switch (axis) {
    case Axis::Input:
      return "input";
    case Axis::Output:
      return "output";
    case Axis::Comparison:
      return "comparison";
    case Axis::Path:
      return "path";
    case Axis::One:
      return "";
  }
  return "";
}

// A matrix with what its indices count: {"name", "rows": "input", "columns": "output", "values": [[...]]}. Lists become
// a row, or a column if they have one number per input; of lists of matrices each becomes one.
void add_matrices(const Json& value, const std::string& name, const std::vector<Axis>& axes, Json& matrices) {
  if (!value.is_array() || value.empty()) return;
  if (!value.front().is_array()) {
    const Axis axis = axes.empty() ? Axis::Output : axes.back();
    Json nested = Json::array();
    if (axis == Axis::Input) {
      for (const Json& one : value) nested.push_back(Json::array({one}));
      return add_matrices(nested, name, {axis, Axis::One}, matrices);
    }
    nested.push_back(value);
    return add_matrices(nested, name, {Axis::One, axis}, matrices);
  }
  if (!value.front().empty() && value.front().front().is_array()) {
    for (std::size_t k = 0; k < value.size() && k < most_layers; ++k)
      add_matrices(value[k], fmt::format("{}, {} {}", name, axes.empty() ? "part" : name_of(axes.front()), k + 1), axes,
                   matrices);
    return;
  }
  const std::size_t columns = value.front().size();
  Json rows = Json::array();
  for (const Json& row : value) {
    if (!row.is_array() || row.size() != columns) return;
    Json numbers = Json::array();
    for (const Json& one : row) numbers.push_back(number(one));
    rows.push_back(std::move(numbers));
  }
  const bool known = axes.size() >= 2;
  const std::size_t height = value.size();
  matrices.push_back({{"name", name},
                      {"rows", name_of(known ? axes[axes.size() - 2] : Axis::Input)},
                      {"columns", name_of(known ? axes.back() : Axis::Output)},
                      {"height", height},
                      {"width", columns},
                      {"values", height * columns > most_cells ? Json() : std::move(rows)}});
}

Json layers_of(const Json& model) {
  Json layers = Json::array();
  for (const Json* layer : objects(model, "layers")) {
    if (layers.size() == most_layers) break;
    const std::string name = text(*layer, "module");
    const Result<const ModuleInfo*> module = find_module(name);
    Json matrices = Json::array();
    const Json& parameters = entry(*layer, "parameters");
    if (parameters.is_object()) {
      for (const auto& [parameter, value] : parameters.items()) {
        std::vector<Axis> axes;
        if (module) {
          for (const ParameterInfo& info : (*module)->parameters)
            if (info.name == parameter) axes.assign(info.axes.axis.begin(), info.axes.axis.begin() + info.axes.count);
        }
        add_matrices(value, parameter, axes, matrices);
      }
    }
    layers.push_back({{"module", name},
                      {"title", module ? std::string((*module)->title) : ""},
                      {"inputs", number(*layer, "inputs")},
                      {"outputs", number(*layer, "outputs")},
                      {"parameters", std::move(matrices)}});
  }
  return layers;
}

Result<Json> read(std::string_view source, std::string_view name) {
  const auto refuse = [&](std::string_view problem) { return Error{fmt::format("{}: {}", name, problem)}; };
  Result<Json> parsed = parse_json<Json>(source, "file");
  if (!parsed) return refuse(parsed.error().message);
  const Json& model = *parsed;
  if (text(model, "format") != "nalm-model")
    return refuse("this is not a model file; `nalm fit --format json -o FILE` writes one with a fit to report.");
  if (!entry(model, "fit").is_object())
    return refuse("this model has no fit to report; `nalm fit --format json -o FILE` writes one that has.");
  return parsed;
}

}  // namespace

Result<std::string> fit_data(std::string_view source, std::string_view source_name) {
  const Result<Json> read_model = read(source, source_name);
  if (!read_model) return read_model.error();
  const Json &model = *read_model, &fit = entry(model, "fit"), &agreement = entry(fit, "agreement");
  const std::string formula = text(fit, "formula");
  const Json data{{"source", source_name},
                  {"made_by", fmt::format("nalm {}", version())},
                  {"columns", texts(model, "columns")},
                  {"target", text(fit, "target")},
                  {"data", text(fit, "data")},
                  {"rows", number(fit, "rows")},
                  {"seed", whole(fit, "seed")},
                  {"version", text(fit, "version")},
                  {"seconds", number(fit, "seconds")},
                  {"command", text(fit, "command")},
                  {"found", flag(fit, "found")},
                  {"verdict", text(fit, "verdict")},
                  {"cut", flag(fit, "cut")},
                  {"formula", formula.empty() ? text(model, "formula") : formula},
                  {"mathml", text(fit, "mathml")},
                  {"latex", text(fit, "latex")},
                  {"errors", errors_of(entry(fit, "errors"))},
                  {"constants", constants_of(fit)},
                  {"named_constants", named_constants_of(model)},
                  {"candidates", candidates_of(fit)},
                  {"agreement",
                   {{"agreeing", number(agreement, "agreeing")},
                    {"converged", number(agreement, "converged")},
                    {"restarts", number(agreement, "restarts")}}},
                  {"verified", flag(fit, "verified")},
                  {"verification_error", number(fit, "verification_error")},
                  {"probe", probe_of(fit)},
                  {"notes", texts(fit, "notes")},
                  {"points", points_of(fit)},
                  {"layers", layers_of(model)}};
  return data.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<std::string> fit_page(std::string_view source, std::string_view source_name) {
  const Result<std::string> data = fit_data(source, source_name);
  if (!data) return data.error();
  const std::string target = Json::parse(*data)["target"].get<std::string>();
  return make_page(target.empty() ? "nalm: a fitted formula" : fmt::format("nalm: a formula for {}", target),
                   PageScript::Fit, *data);
}

}  // namespace nalm
