#include "report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "report/curve_codes.hpp"
#include "report/page.hpp"

namespace nalm {
namespace {

using nlohmann::json;

json number(double value) { return std::isfinite(value) ? json(value) : json(); }

json numbers(const Estimate& e) { return {number(e.value), number(e.lo), number(e.hi)}; }

json estimate(const Estimate& e, double median) {
  if (std::isnan(e.value)) return {};
  return {number(e.value), number(e.lo), number(e.hi), number(median)};
}

json published(const PublishedCell* cell) {
  if (!cell) return {};
  const auto or_null = [](const Estimate& e) { return std::isnan(e.value) ? json() : numbers(e); };
  return {{"success", numbers(cell->success)},
          {"solved_at", or_null(cell->solved_at)},
          {"sparsity", or_null(cell->sparsity)}};
}

using CellKey = std::tuple<const ModuleInfo*, Operation, std::string>;

json settings_of(const StoreInfo& info) {
  const Grid& grid = info.grid;
  json settings{{"inputs", std::to_string(grid.inputs)},
                {"seeds", grid.seeds.size() == 1 ? fmt::format("{}", grid.seeds.front())
                                                 : fmt::format("{} from {} to {}", grid.seeds.size(),
                                                               grid.seeds.front(), grid.seeds.back())},
                {"logged every", fmt::format("{} iterations", grid.log_every)},
                {"SIMD target", info.simd_target},
                {"threads", std::to_string(info.threads)},
                {"time", fmt::format("{:.1f} s", info.seconds)}};
  // Pairs with the same recipe stand together.
  std::map<std::string, std::string> recipes;
  for (const Pair& pair : grid.pairs) {
    std::string& names = recipes[to_json(resolve_recipe(grid, pair))];
    names += fmt::format("{}{} {}", names.empty() ? "" : ", ", pair.module->name, name_of(pair.operation));
  }
  for (const auto& [recipe, names] : recipes) settings["recipe of " + names] = recipe;
  return settings;
}

}  // namespace

Result<std::string> report_page(const RunStore& store, const Judgement& wanted) {
  Judgement judgement = wanted;
  judgement.diagnose = true;
  // In 16 bits: two megabytes instead of ten.
  std::map<CellKey, std::vector<std::int16_t>> curves;
  std::vector<long> steps;
  const Result<Results> judged = judge_store(store, judgement, [&](const Cell& cell, const Run& run) {
    std::vector<std::int16_t>& curve = curves[{cell.pair.module, cell.pair.operation, cell.range_name()}];
    const Series& s = run.series;
    if (s.steps.size() > steps.size()) steps = s.steps;
    for (std::size_t r = 0; r < s.rows(); ++r) {
      curve.push_back(thousandths_of_decades(static_cast<double>(s.validation_mse[r])));
      curve.push_back(thousandths_of_decades(static_cast<double>(s.test_mse[r])));
      curve.push_back(thousandths_of_decades(s.sparsity_error[r]));
    }
  });
  if (!judged) return judged.error();
  const StoreInfo& info = judged->info;

  json data{{"title", "Single Module Arithmetic Task"},
            {"version", "nalm " + info.version},
            {"created", info.created},
            {"command", info.command},
            {"settings", settings_of(info)},
            {"intervals", judgement.paper_intervals ? "paper" : "honest"},
            {"criterion", describe(judgement.criterion)},
            {"steps", steps}};
  data["reproduce"] = {info.command + " --out again", "nalm compare again"};
  data["operations"] = data["modules"] = data["ranges"] = data["cells"] = json::array();
  const auto add_once = [&](const char* list, std::string_view name) {
    json& names = data[list];
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const TaskRange& range : info.grid.ranges) add_once("ranges", name_of(range.train));
  for (const Operation operation : all_operations)
    for (const Pair& pair : info.grid.pairs)
      if (pair.operation == operation) add_once("operations", name_of(operation));
  for (const ModuleInfo* module : all_modules())
    for (const Pair& pair : info.grid.pairs)
      if (pair.module == module) add_once("modules", module->name);

  for (const Cell& cell : judged->cells) {
    json failures = json::object(), seeds = json::array();
    for (const JudgedRun& run : cell.runs) {
      json one{{"seed", run.seed},
               {"success", run.result.success},
               {"solved_at", run.result.solved_at ? json(*run.result.solved_at) : json()},
               {"best_step", run.result.best_step},
               {"validation", number(run.result.validation_mse)},
               {"test", number(run.result.test_mse)},
               {"sparsity", number(run.result.sparsity_error)},
               {"failure", nullptr}};
      if (run.failure) {
        const std::string kind(name_of(run.failure->kind));
        failures[kind] = failures.value(kind, 0) + 1;
        one["failure"] = run.failure->detail.empty() ? kind : kind + ": " + run.failure->detail;
        if (run.basin != Basin::NoRegulariser)
          one["failure"] = fmt::format("{} ({})", one["failure"].get<std::string>(), name_of(run.basin));
      }
      seeds.push_back(std::move(one));
    }
    const CellSummary& s = cell.summary;
    data["cells"].push_back({{"module", cell.pair.module->name},
                             {"operation", name_of(cell.pair.operation)},
                             {"range", cell.range_name()},
                             {"runs", s.runs},
                             {"successes", s.successes},
                             {"ever", s.ever ? json(*s.ever) : json()},
                             {"at_end", s.at_end ? json(*s.at_end) : json()},
                             {"threshold", number(cell.threshold)},
                             {"success", numbers(s.success)},
                             {"solved_at", estimate(s.solved_at, s.median_solved_at)},
                             {"sparsity", estimate(s.sparsity, s.median_sparsity)},
                             {"published", published(cell.published)},
                             {"failures", std::move(failures)},
                             {"seeds", std::move(seeds)},
                             {"curves", base64(curves[{cell.pair.module, cell.pair.operation, cell.range_name()}])}});
  }
  return make_page("nalm: Single Module Arithmetic Task", PageScript::Report,
                   data.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace nalm
