#include "cli/bench_task.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/write_file.hpp"
#include "cli/command.hpp"
#include "nalm/version.hpp"
#include "report/page.hpp"
#include "report/task_comparison.hpp"
#include "report/task_report.hpp"
#include "report/task_tables.hpp"

namespace nalm::cli {
namespace {

using nlohmann::json;

json number(double value) { return std::isfinite(value) ? json(value) : json(); }

// What is said about a finished run in --json-lines.
std::string json_line(const Arm& arm, const TaskRunId& id, const RunRecord& record) {
  const TaskRunResult result = judge(arm, record, id.seed);
  json values = json::object();
  for (std::size_t m = 0; m < result.values.size(); ++m) values[arm.measures[m].name] = number(result.values[m]);
  json line{{"event", "run"},  {"model", arm.model},        {"operation", arm.operation}, {"setting", arm.setting},
            {"seed", id.seed}, {"success", result.success}, {"values", std::move(values)}};
  line["solved_at"] = result.solved_at ? json(*result.solved_at) : json();
  if (!record.note.empty()) line["note"] = record.note;
  return line_of(line);
}

std::string words_of(const CheckResult& result) {
  const Check& check = *result.check;
  return fmt::format("{} | {} | {}: {} {:.4g}, should be at {} {:.4g}", check.model, check.operation, check.setting,
                     check.measure, result.value, check.at_least ? "least" : "most", check.value);
}

// The checks of the preset quick, one line each. Those whose cell was not asked for are left out.
bool all_checks_hold(const TaskResults& results, const BenchOutput& output) {
  if (results.info.plan.preset != "quick") return true;
  bool all = true;
  for (const CheckResult& result : run_checks(*results.info.plan.task, results.cells)) {
    const Check& check = *result.check;
    const bool asked_for = std::any_of(results.arms.begin(), results.arms.end(), [&](const Arm& arm) {
      return arm.model == check.model && arm.operation == check.operation && arm.setting == check.setting;
    });
    if (!asked_for) continue;
    all = all && result.passed;
    if (output.talks()) fmt::print("{:<8}{}\n", result.passed ? "holds" : "FAILS", words_of(result));
    if (output.json_lines)
      fmt::print("{}", line_of({{"event", "check"},
                                {"model", check.model},
                                {"operation", check.operation},
                                {"setting", check.setting},
                                {"measure", check.measure},
                                {"value", number(result.value)},
                                {check.at_least ? "at_least" : "at_most", check.value},
                                {"passed", result.passed}}));
  }
  return all;
}

int run(TaskStore& store, const BenchOutput& output) {
  const Result<std::vector<TaskRunId>> todo = store.missing();
  if (!todo) return fail(todo.error());
  const TaskStoreInfo info = store.info();
  const std::string& folder = output.folder;
  const std::size_t total = store.arms().size() * info.plan.seeds.size();
  if (output.talks()) {
    fmt::print(stderr, "{}, preset {}: {} runs, {} cells of {} seeds; results go to {}.\n", info.plan.task->name,
               info.plan.preset, total, store.arms().size(), info.plan.seeds.size(), folder);
    if (todo->size() < total) fmt::print(stderr, "{} runs are there already.\n", total - todo->size());
  }
  if (output.json_lines)
    fmt::print("{}", line_of({{"event", "start"},
                              {"task", info.plan.task->name},
                              {"preset", info.plan.preset},
                              {"folder", folder},
                              {"runs", total},
                              {"left", todo->size()}}));

  const Interruptible interruptible;
  std::atomic<std::size_t> finished = total - todo->size();
  Progress progress(output.progress(), [&] { return fmt::format("{} of {} runs", finished.load(), total); });
  double stored_until = 0;
  TaskRunnerSettings settings;
  settings.threads = output.threads;
  settings.iterations = info.plan.iterations;
  settings.learning_rate = info.plan.learning_rate;
  settings.log_every = info.plan.log_every;
  settings.progress = &progress.done();
  settings.stop = &Interruptible::flag();
  settings.finished = [&](const TaskRunId& id, const RunRecord& record, double run_seconds) -> Status {
    const double seconds = progress.seconds();
    if (Status added = store.add(id, record, run_seconds, seconds - stored_until); !added) return added;
    stored_until = seconds;
    ++finished;
    if (output.json_lines) fmt::print("{}", json_line(store.arms()[id.arm], id, record));
    return Done{};
  };
  const Status trained = train_task(store.arms(), *todo, settings);
  const double seconds = progress.seconds();
  progress.finish();
  if (!trained) return fail(trained.error());
  if (finished < total) return interrupted(finished, total, folder);

  if (!output.series.empty())
    if (Status written = write_series(store, output.series); !written) return fail(written.error());
  std::string report_path;
  if (has_plotting_library()) {
    report_path = folder + "/report.html";
    const Result<std::string> page = task_page(store);
    if (!page) return fail(page.error());
    if (Status written = write_file(report_path, *page); !written) return fail(written.error());
  }
  const Result<TaskResults> results = judge_task(store);
  if (!results) return fail(results.error());
  if (output.talks()) {
    fmt::print("{}{} runs trained in {:.1f} s.\n", print_task_table(*results, TaskMetric::All, TableFormat::Terminal),
               todo->size(), seconds);
    fmt::print("Next: nalm table {}{}{}\n", folder,
               compare_task(*results) ? fmt::format(", nalm compare {}", folder) : "",
               report_path.empty() ? "" : fmt::format(", or open {} in a browser", report_path));
  }
  const bool good = all_checks_hold(*results, output);
  if (output.json_lines)
    fmt::print(
        "{}",
        line_of({{"event", "end"}, {"runs", total}, {"seconds", seconds}, {"report", report_path}, {"checks", good}}));
  return good ? yes : no;
}

}  // namespace

int bench_task(const TaskPlan& plan, const std::string& command, const BenchOutput& output) {
  Result<TaskStore> store = TaskStore::create(
      output.folder,
      {plan, command, std::string(version()), std::string(simd_target()), now(), output.thread_count(), 0});
  if (!store) return fail(store.error());
  return run(*store, output);
}

int resume_task(const BenchOutput& output) {
  Result<TaskStore> store = TaskStore::resume(output.folder);
  if (!store) return fail(store.error());
  if (Status same = check_version(output.folder, store->info().version); !same) return fail(same.error());
  return run(*store, output);
}

}  // namespace nalm::cli
