#include "report/fit_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>
#include "base/json.hpp"
#include "base/number.hpp"

#include "nalm/fit.hpp"
#include "nalm/module.hpp"
#include "nalm/version.hpp"
#include "report/page.hpp"

namespace nalm {
namespace {

constexpr std::size_t most_points = 2000, most_entries = 500, most_cells = 4096, most_layers = 64;

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
std::string text(const Json& object, std::string_view key) {
  const Json& value = entry(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}
// As text: a script would round a number of 64 bits.
std::string whole(const Json& object, std::string_view key) {
  const Json& value = entry(object, key);
  return value.is_number_integer() ? value.dump() : "";
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

// What a fit has, each entry with a value of its kind: as fit_file.cpp writes one that has one of everything.
const Json& shape_of_fit() {
  static const Json shape = [] {
    Fit fit;
    fit.notes = fit.probe.remarks = {""};
    fit.probe.box.resize(1);
    fit.candidates.resize(1);
    fit.candidates[0].constants.resize(1);
    fit.groups.groups.resize(1);
    fit.units = {""};
    fit.candidates[0].judgement = {Verdict::None, "", 0, 0, 0, 0, 0, 0, ""};
    Json written = Json::parse(to_json(fit, {}, {}))["fit"];
    Json& candidate = written["candidates"][0];
    for (const std::string_view set : sets) candidate.erase(std::string(set));
    candidate["errors"] = written["errors"];
    for (const char* other : {"seed", "points", "spread", "units"}) written.erase(other);
    return written;
  }();
  return shape;
}

// The same entries as the shape: texts are texts, numbers are finite or null, flags true, false or null, lists hold
// what is of the kind of the shape's one element. An object that is something else is null.
Json like(const Json& shape, const Json& value) {
  if (shape.is_string()) return value.is_string() ? value : Json("");
  if (shape.is_number()) return number(value);
  if (shape.is_boolean()) return value.is_boolean() ? value : Json();
  if (shape.is_array()) {
    Json list = Json::array();
    if (value.is_array())
      for (const Json& one : value)
        if (one.type() == shape.front().type() && list.size() < most_entries) list.push_back(like(shape.front(), one));
    return list;
  }
  if (!value.is_object()) return {};
  Json object;
  for (const auto& [key, part] : shape.items()) object[key] = like(part, entry(value, key));
  return object;
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

// ---- the formula as a curve or a map --------------------------------------------------------------------------------

constexpr std::size_t points_of_curve = 241, points_of_side = 41, most_curves = 12;

// Evenly spread over the data, and a tenth of them more on both sides.
std::vector<double> spread_over(const FitProbe::Range& range, std::size_t count) {
  std::vector<double> values;
  const double width = range.high - range.low, first = range.low - width / 10;
  for (std::size_t k = 0; k < count; ++k)
    values.push_back(first + 1.2 * width * static_cast<double>(k) / static_cast<double>(count - 1));
  return values;
}

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(finite_or_null(value));
  return list;
}

// {"input", "x", "lines": [{"name", "y", "low", "high"}]} of a formula with one input, one line per group;
// {"inputs", "x", "y", "z"} of one with two, z row by row. Nothing for others.
Json picture_of(const FittedModel& fitted, const Json& fit) {
  const Result<Expression> formula = parse_expression(text(fit, "formula"));
  if (!formula) return {};
  const std::vector<std::string> used = variables(*formula);
  std::vector<std::vector<double>> axes;
  for (const std::string& name : used) {
    if (used.size() > 2) return {};
    const auto range =
        std::find_if(fitted.box.begin(), fitted.box.end(), [&](const FitProbe::Range& r) { return r.column == name; });
    if (range == fitted.box.end() || !(range->high > range->low) || !std::isfinite(range->high - range->low)) return {};
    axes.push_back(spread_over(*range, used.size() == 1 ? points_of_curve : points_of_side));
  }
  const auto value_at = [&](const std::vector<double>& x) {
    const Result<double> y = evaluate(*formula, used, x);
    return y ? *y : no_value;
  };
  if (used.size() == 1) {
    std::vector<double> y;
    for (const double x : axes[0]) y.push_back(value_at({x}));
    std::vector<double> reach = prediction_reach(fitted.spread, used, axes[0]);
    reach.resize(y.size(), no_value);
    Json lines = Json::array();
    const auto add = [&](const std::string& name, double factor, double offset) {
      std::vector<double> line, low, high;
      for (std::size_t k = 0; k < y.size(); ++k) {
        line.push_back(y[k] * factor + offset);
        low.push_back(line[k] - reach[k] * std::fabs(factor));
        high.push_back(line[k] + reach[k] * std::fabs(factor));
      }
      lines.push_back({{"name", name}, {"y", numbers(line)}, {"low", numbers(low)}, {"high", numbers(high)}});
    };
    const FitGroups& groups = fitted.groups;
    for (std::size_t k = 0; k < std::min(groups.groups.size(), most_curves); ++k)
      add(groups.groups[k].name, groups.added ? 1 : groups.groups[k].value, groups.added ? groups.groups[k].value : 0);
    if (groups.groups.empty()) add("", 1, 0);
    return {{"input", used[0]}, {"x", numbers(axes[0])}, {"lines", std::move(lines)}};
  }
  if (used.size() != 2 || !fitted.groups.groups.empty()) return {};
  std::vector<double> z;
  for (const double b : axes[1])
    for (const double a : axes[0]) z.push_back(value_at({a, b}));
  return {{"inputs", used}, {"x", numbers(axes[0])}, {"y", numbers(axes[1])}, {"z", numbers(z)}};
}

// ---- the layers ----------------------------------------------------------------------------------------------------

// By Axis.
constexpr std::string_view axis_names[] = {"input", "output", "comparison", "path", ""};
std::string_view name_of(Axis axis) { return axis_names[static_cast<std::size_t>(axis)]; }

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
                      {"inputs", number(entry(*layer, "inputs"))},
                      {"outputs", number(entry(*layer, "outputs"))},
                      {"parameters", std::move(matrices)}});
  }
  return layers;
}

Result<Json> read(std::string_view source, std::string_view name) {
  const auto refuse = [&](std::string_view problem) { return Error{fmt::format("{}: {}", name, problem)}; };
  Result<Json> parsed = parse_json(source, "file");
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
  const Json &model = *read_model, &shape = shape_of_fit();
  Json fit = entry(model, "fit");
  // Candidates have their errors beside the rest; agreement and errors are always there.
  for (Json& candidate : fit["candidates"])
    if (candidate.is_object()) candidate["errors"] = candidate;
  for (const char* always : {"agreement", "errors"})
    if (!fit[always].is_object()) fit[always] = Json::object();
  Json data = like(shape, fit);
  for (Json& constant : data["constants"])
    if (constant["unit"] == "") constant.erase("unit");
  if (data["formula"] == "") data["formula"] = text(model, "formula");
  data["source"] = source_name;
  data["made_by"] = fmt::format("nalm {}", version());
  data["columns"] = like(Json::array({""}), entry(model, "columns"));
  data["seed"] = whole(fit, "seed");
  data["named_constants"] = named_constants_of(model);
  data["points"] = points_of(fit);
  const Result<FittedModel> fitted = read_fitted(source, source_name);
  data["picture"] = fitted ? picture_of(*fitted, data) : Json();
  data["layers"] = layers_of(model);
  return data.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<std::string> fit_page(std::string_view source, std::string_view source_name) {
  const Result<std::string> data = fit_data(source, source_name);
  if (!data) return data.error();
  const std::string target = Json::parse(*data)["target"].get<std::string>();
  return make_page(target.empty() ? "nalm: a fitted formula" : fmt::format("nalm: a formula for {}", target),
                   assets::page_fit, *data);
}

}  // namespace nalm
