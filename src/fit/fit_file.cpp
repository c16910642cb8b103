// A fit as JSON: a model file with an entry "fit".
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include "base/json.hpp"
#include "base/number.hpp"

#include "nalm/fit.hpp"
#include "nalm/version.hpp"

namespace nalm {

namespace {

constexpr std::size_t most_points = 2000;

Json error_json(const FitError& error) {
  return {{"rows", error.rows},
          {"rmse", finite_or_null(error.rmse)},
          {"relative", finite_or_null(error.relative)},
          {"largest", finite_or_null(error.largest)}};
}

Json errors_json(const Candidate& c) {
  return {{"train", error_json(c.train)}, {"held_out", error_json(c.held_out)}, {"outside", error_json(c.outside)}};
}

Json judgement_json(const FitJudgement& j) {
  return {{"verdict", name_of(j.verdict)},
          {"reason", j.reason},
          {"r_squared", finite_or_null(j.r_squared)},
          {"cross_validated", finite_or_null(j.cross_validated)},
          {"edge", finite_or_null(j.edge)},
          {"p_value", finite_or_null(j.p_value)},
          {"pattern", finite_or_null(j.pattern)},
          {"disagreement", finite_or_null(j.disagreement)},
          {"rival", j.rival}};
}

const char* name_of_set(FitRow set) {
  return set == FitRow::Train ? "train" : set == FitRow::HeldOut ? "held_out" : "outside";
}

double with_group(double value, const FitGroups& groups, const Table& table, std::size_t row) {
  const auto column = static_cast<std::size_t>(std::find(table.columns.begin(), table.columns.end(), groups.column) -
                                               table.columns.begin());
  const std::string* text = table.text_at(row, column);
  const std::string name = text ? *text : fmt::format("{}", table.at(row, column));
  for (const FitGroups::Group& group : groups.groups)
    if (group.name == name) return groups.added ? value + group.value : value * group.value;
  return no_value;
}

// Evenly spread rows; a picture does not need more.
Json points_json(const Fit& fit, const Table& table) {
  const auto position = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(table.columns.begin(), table.columns.end(), name) -
                                    table.columns.begin());
  };
  const std::vector<std::string> used = variables(fit.best().formula);
  Json points{{"set", Json::array()}, {"target", Json::array()}, {"predicted", Json::array()}};
  points["inputs"] = Json::object();
  const std::size_t rows = fit.row_of_table.size(), count = std::min(most_points, rows), target = position(fit.target);
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t place = k * rows / count, row = fit.row_of_table[place];
    std::vector<double> values;
    for (const std::string& name : used) values.push_back(table.at(row, position(name)));
    Result<double> predicted = evaluate(fit.best().formula, used, values);
    if (predicted && !fit.groups.groups.empty()) predicted = with_group(*predicted, fit.groups, table, row);
    points["set"].push_back(name_of_set(fit.set_of_row[place]));
    points["target"].push_back(finite_or_null(table.at(row, target)));
    points["predicted"].push_back(predicted ? finite_or_null(*predicted) : Json());
    for (std::size_t i = 0; i < used.size(); ++i) points["inputs"][used[i]].push_back(finite_or_null(values[i]));
  }
  return points;
}

Json probe_json(const FitProbe& probe) {
  Json box = Json::array();
  for (const FitProbe::Range& range : probe.box) {
    box.push_back({{"column", range.column},
                   {"low", range.low},
                   {"high", range.high},
                   {"probed_low", range.probed_low},
                   {"probed_high", range.probed_high}});
  }
  return {{"box", box}, {"points", probe.points}, {"undefined", probe.undefined}, {"remarks", probe.remarks}};
}

Json spread_json(const FitSpread& spread) {
  Json covariance = Json::array();
  for (const double value : spread.covariance) covariance.push_back(finite_or_null(value));
  return {{"formula", print(spread.formula)},
          {"names", spread.names},
          {"values", spread.values},
          {"covariance", covariance},
          {"deviation", finite_or_null(spread.deviation)},
          {"degrees", spread.degrees},
          {"relative", spread.relative}};
}

Json groups_json(const FitGroups& groups) {
  Json list = Json::array();
  for (const FitGroups::Group& group : groups.groups)
    list.push_back({{"name", group.name},
                    {"rows", group.rows},
                    {"value", finite_or_null(group.value)},
                    {"low", finite_or_null(group.low)},
                    {"high", finite_or_null(group.high)}});
  return {{"column", groups.column}, {"added", groups.added}, {"groups", std::move(list)}};
}

std::string format(const Fit& fit, const Expression& formula, FormulaFormat format) {
  return export_formula(formula, fit.target, fit.columns, format);
}

}  // namespace

std::string to_json(const Fit& fit, const Table& table, const FitSource& source) {
  const Candidate& best = fit.best();
  Model model = best.model;
  model.columns = fit.columns;
  model.target = fit.target;
  model.formula = print(best.formula);
  Json json = Json::parse(to_json(model));
  Json f;
  f["target"] = fit.target;
  f["data"] = source.data;
  f["command"] = source.command;
  f["rows"] = fit.rows;
  f["seed"] = fit.seed;
  f["version"] = fmt::format("nalm {} ({})", version(), compiler());
  f["seconds"] = fit.seconds;
  f["found"] = fit.is_law();
  f["verdict"] = fit.reason;
  f["judgement"] = judgement_json(best.judgement);
  f["cut"] = fit.cut;
  f["formula"] = model.formula;
  f["mathml"] = format(fit, best.formula, FormulaFormat::MathMl);
  f["latex"] = format(fit, best.formula, FormulaFormat::Latex);
  f["errors"] = errors_json(best);
  f["constants"] = Json::array();
  for (const FitConstant& c : best.constants) {
    f["constants"].push_back({{"value", finite_or_null(c.value)},
                              {"estimate", finite_or_null(c.estimate)},
                              {"low", finite_or_null(c.low)},
                              {"high", finite_or_null(c.high)},
                              {"snapped", c.snapped},
                              {"name", c.name}});
    if (!fit.units.empty()) f["constants"].back()["unit"] = c.unit;
  }
  f["candidates"] = Json::array();
  for (std::size_t k = 0; k < fit.candidates.size(); ++k) {
    const Candidate& c = fit.candidates[k];
    Json entry{{"formula", print(c.formula)},
               {"mathml", format(fit, c.formula, FormulaFormat::MathMl)},
               {"size", c.size},
               {"agreeing", c.agreeing},
               {"chosen", k == fit.chosen},
               {"judgement", judgement_json(c.judgement)}};
    entry.update(errors_json(c));
    f["candidates"].push_back(std::move(entry));
  }
  f["agreement"] = {{"agreeing", best.agreeing}, {"converged", fit.converged}, {"restarts", fit.restarts}};
  f["verified"] = fit.verified;
  f["verification_error"] = finite_or_null(fit.verification_error);
  f["probe"] = probe_json(fit.probe);
  f["spread"] = spread_json(fit.spread);
  f["groups"] = groups_json(fit.groups);
  for (std::size_t k = 0; k < fit.units.size(); ++k)
    f["units"][k < fit.columns.size() ? fit.columns[k] : fit.target] = fit.units[k];
  f["notes"] = fit.notes;
  f["points"] = points_json(fit, table);
  json["fit"] = std::move(f);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace {

const Json& part(const Json& object, const char* key) {
  static const Json none;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? *found : none;
}
double number_in(const Json& object, const char* key, double otherwise) {
  const Json& value = part(object, key);
  return value.is_number() ? value.get<double>() : otherwise;
}
std::string text_in(const Json& object, const char* key) {
  const Json& value = part(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}
bool flag_in(const Json& object, const char* key) {
  const Json& value = part(object, key);
  return value.is_boolean() && value.get<bool>();
}
std::vector<double> numbers_in(const Json& object, const char* key) {
  std::vector<double> numbers;
  const Json& list = part(object, key);
  if (list.is_array())
    for (const Json& value : list) numbers.push_back(value.is_number() ? value.get<double>() : infinity);
  return numbers;
}

// One that is not whole has no degrees of freedom, and gives no intervals.
FitSpread spread_in(const Json& json) {
  FitSpread spread;
  const Result<Expression> formula = parse_expression(text_in(json, "formula"));
  if (!formula) return spread;
  spread.formula = *formula;
  const Json& names = part(json, "names");
  if (names.is_array())
    for (const Json& name : names) spread.names.push_back(name.is_string() ? name.get<std::string>() : "");
  spread.values = numbers_in(json, "values");
  spread.covariance = numbers_in(json, "covariance");
  spread.deviation = number_in(json, "deviation", infinity);
  spread.relative = flag_in(json, "relative");
  const std::size_t k = spread.names.size();
  const auto finite = [](const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
  };
  const bool whole = spread.values.size() == k && spread.covariance.size() == k * k && finite(spread.values) &&
                     finite(spread.covariance) && std::isfinite(spread.deviation);
  if (whole) spread.degrees = std::max(0.0, number_in(json, "degrees", 0));
  return spread;
}

FitGroups groups_in(const Json& json) {
  FitGroups groups;
  groups.column = text_in(json, "column");
  groups.added = flag_in(json, "added");
  const Json& list = part(json, "groups");
  if (!list.is_array()) return groups;
  for (const Json& group : list) {
    const double value = number_in(group, "value", infinity);
    groups.groups.push_back(
        {text_in(group, "name"), 0, value, number_in(group, "low", value), number_in(group, "high", value)});
  }
  return groups;
}

}  // namespace

Result<FittedModel> read_fitted(std::string_view json, std::string_view source_name) {
  const Result<Json> parsed = parse_json(json, "file");
  if (!parsed) return Error{fmt::format("{}: {}", source_name, parsed.error().message)};
  FittedModel fitted;
  const Json& fit = part(*parsed, "fit");
  if (!fit.is_object()) return fitted;
  const Json& judgement = part(fit, "judgement");
  fitted.verdict = judgement.is_object() ? text_in(judgement, "verdict") : flag_in(fit, "found") ? "law" : "none";
  fitted.reason = text_in(fit, "verdict");
  const Json& box = part(part(fit, "probe"), "box");
  if (box.is_array()) {
    for (const Json& range : box)
      fitted.box.push_back({text_in(range, "column"), number_in(range, "low", -infinity),
                            number_in(range, "high", infinity), -infinity, infinity});
  }
  fitted.spread = spread_in(part(fit, "spread"));
  fitted.groups = groups_in(part(fit, "groups"));
  return fitted;
}

}  // namespace nalm
