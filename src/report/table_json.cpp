#include "report/table_json.hpp"

namespace nalm {

namespace {

Json with_median(const Estimate& estimate, double median) {
  Json value = to_value(estimate);
  value["median"] = finite_or_null(median);
  return value;
}

Json to_value(const Spread& spread) {
  return {{"median", finite_or_null(spread.median)},
          {"mad", finite_or_null(spread.mad)},
          {"mean", finite_or_null(spread.mean)},
          {"smallest", finite_or_null(spread.smallest)},
          {"largest", finite_or_null(spread.largest)}};
}

Json run_json(const Cell& cell, const RunResult& run) {
  Json values = Json::object(), facts = Json::object();
  for (std::size_t m = 0; m < run.values.size(); ++m) values[cell.measures[m].name] = finite_or_null(run.values[m]);
  for (const auto& [name, value] : run.facts) facts[name] = value;
  Json value{{"seed", run.seed},
             {"success", run.success},
             {"ever", value_or_null(run.ever)},
             {"at_end", value_or_null(run.at_end)},
             {"solved_at", value_or_null(run.solved_at)},
             {"judged_step", run.judged_step},
             {"before_regularisers", value_or_null(run.before_regularisers)},
             {"trask", run.trask ? finite_or_null(*run.trask) : Json()},
             {"values", std::move(values)},
             {"note", run.note}};
  if (!facts.empty()) value["facts"] = std::move(facts);
  if (run.failure)
    value["failure"] = {{"kind", run.failure->kind}, {"detail", run.failure->detail}, {"when", run.failure->when}};
  return value;
}

}  // namespace

Json to_value(const Estimate& e) {
  return {{"value", finite_or_null(e.value)}, {"lo", finite_or_null(e.lo)}, {"hi", finite_or_null(e.hi)}};
}

Json cell_json(const Results& results, const CellResult& result) {
  const Cell& cell = *result.cell;
  Json measures = Json::object(), published = Json::array(), goal;
  for (std::size_t m = 0; m < result.measures.size(); ++m)
    measures[cell.measures[m].name] = to_value(result.measures[m]);
  for (const PublishedFigure* figure : results.published_for(cell))
    published.push_back({{"what", figure->what},
                         {"value", finite_or_null(figure->value.value)},
                         {"lo", finite_or_null(figure->value.lo)},
                         {"hi", finite_or_null(figure->value.hi)},
                         {"remark", figure->source},
                         {"mean", figure->mean}});
  if (cell.has_goal())
    goal = {{"measure", cell.goal.measure},
            {"best_by", cell.goal.best_by.empty() ? Json() : Json(cell.goal.best_by)},
            {cell.goal.above ? "above" : "below", finite_or_null(result.limit)}};
  return {{std::string(results.task().model_word), cell.model},
          {"operation", cell.operation},
          {std::string(results.task().setting_word), cell.setting},
          {"goal", std::move(goal)},
          {"runs", result.run_count()},
          {"successes", result.successes},
          {"ever", value_or_null(result.ever)},
          {"at_end", value_or_null(result.at_end)},
          {"success", to_value(result.success)},
          {"solved_at", with_median(result.solved_at, result.median_solved_at)},
          {"sparsity", with_median(result.sparsity, result.median_sparsity)},
          {"measures", std::move(measures)},
          {"trask", to_value(result.trask)},
          {"before_regularisers", to_value(result.before_regularisers)},
          {"published", std::move(published)}};
}

std::string json_of(const Results& results, std::string_view) {
  Json cells = Json::array();
  for (const CellResult& result : results.results) {
    Json cell = cell_json(results, result);
    cell["seeds"] = Json::array();
    for (const RunResult& run : result.runs) cell["seeds"].push_back(run_json(*result.cell, run));
    cells.push_back(std::move(cell));
  }
  const Json all{{"version", results.info.version},
                 {"task", results.task().name},
                 {"preset", results.info.plan.preset},
                 {"command", results.info.command},
                 {"changes", results.info.plan.changes()},
                 {"criterion", describe_goal(results)},
                 {"intervals", results.judgement.paper_intervals ? "paper" : "honest"},
                 {"missing", results.missing},
                 {"cells", std::move(cells)}};
  return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace nalm
