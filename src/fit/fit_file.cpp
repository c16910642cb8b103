// A fit as JSON: a model file with an entry "fit".
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include "base/json.hpp"

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
    const Result<double> predicted = evaluate(fit.best().formula, used, values);
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
                              {"snapped", c.snapped}});
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
  f["notes"] = fit.notes;
  f["points"] = points_json(fit, table);
  json["fit"] = std::move(f);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace nalm
