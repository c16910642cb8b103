#include "report/task_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/page.hpp"
#include "report/task_tables.hpp"

namespace nalm {

Result<std::string> task_page(const TaskStore& store) {
  using nlohmann::json;
  const Result<TaskResults> results = judge_task(store);
  if (!results) return results.error();
  const TaskStoreInfo& info = results->info;
  const Task& task = *info.plan.task;
  const TaskTable table = make_task_table(*results, TaskMetric::All);
  const std::vector<std::vector<std::string>>& rows = table.columns.rows();
  const json data{{"task", task.name},
                  {"title", task.title},
                  {"source", task.source},
                  {"preset", info.plan.preset},
                  {"settings", task.settings},
                  {"differences", task.differences},
                  {"version", info.version},
                  {"table",
                   {{"headings", rows.front()},
                    {"rows", std::vector<std::vector<std::string>>(rows.begin() + 1, rows.end())},
                    {"left", table.columns.left()},
                    {"notes", table.notes}}},
                  {"made",
                   {fmt::format("Command: {}", info.command), fmt::format("Seeds: {} per cell", info.plan.seeds.size()),
                    fmt::format("Begun: {}", info.created),
                    fmt::format("Time worked: {:.0f} s on {} threads", info.seconds, info.threads),
                    fmt::format("Version: {}, SIMD target {}", info.version, info.simd_target)}}};
  return make_page(fmt::format("nalm: {}", task.title), PageScript::Task,
                   data.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace nalm
