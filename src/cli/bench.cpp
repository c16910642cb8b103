// nalm bench: the Single Module Arithmetic Task; bench_formulas.cpp and bench_task.cpp have the others.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/write_file.hpp"
#include "bench/run_store.hpp"
#include "bench/thresholds.hpp"
#include "cli/bench_formulas.hpp"
#include "cli/bench_task.hpp"
#include "cli/judgement.hpp"
#include "nalm/version.hpp"
#include "report/page.hpp"
#include "report/report.hpp"
#include "report/tables.hpp"

namespace nalm::cli {
namespace {

constexpr const char* single_module = "single-module";

struct Options {
  std::string task = single_module;
  FormulaOptions formulas;
  std::string preset, modules, operations, settings, ranges, test_ranges, seeds, out, resume, series, recipe;
  std::optional<long> iterations, log_every;
  std::optional<double> learning_rate;
  std::optional<long> inputs;
  int threads = 0;
  bool quiet = false, json_lines = false;
};

// Only what differs from the default, so that the command can be typed again.
std::string command_of(const Options& o) {
  std::string command = "nalm bench";
  const auto add = [&](const char* name, const std::string& value) {
    if (value.empty()) return;
    const bool plain = value.find_first_of(" [()*<>&;|") == value.npos;
    command += plain ? fmt::format(" {} {}", name, value) : fmt::format(" {} \"{}\"", name, value);
  };
  if (o.task != single_module) add("--task", o.task);
  add("--preset", o.preset);
  add("--modules", o.modules);
  add("--operations", o.operations);
  add("--settings", o.settings);
  add("--ranges", o.ranges);
  add("--test-range", o.test_ranges);
  add("--seeds", o.seeds);
  if (o.iterations) add("--iterations", std::to_string(*o.iterations));
  if (o.log_every) add("--log-every", std::to_string(*o.log_every));
  if (o.inputs) add("--inputs", std::to_string(*o.inputs));
  if (o.learning_rate) add("--learning-rate", fmt::format("{}", *o.learning_rate));
  if (!o.recipe.empty()) command += fmt::format(" --recipe '{}'", o.recipe);
  return command;
}

Result<Grid> grid_of(const Options& o, std::vector<std::string>& skipped) {
  const Result<const Preset*> preset = find_preset(o.preset.empty() ? "primer" : o.preset);
  if (!preset) return preset.error();
  Grid grid;
  const auto modules = parse_modules(o.modules.empty() ? (*preset)->modules : std::string_view(o.modules));
  if (!modules) return modules.error();
  const auto operations =
      parse_operations(o.operations.empty() ? (*preset)->operations : std::string_view(o.operations));
  if (!operations) return operations.error();
  auto pairs = make_pairs(*modules, *operations, skipped);
  if (!pairs) return pairs.error();
  grid.pairs = std::move(*pairs);
  auto ranges = parse_ranges(o.ranges.empty() ? "0,1,2,3,4,5,6,7,8" : std::string_view(o.ranges), o.test_ranges);
  if (!ranges) return ranges.error();
  grid.ranges = std::move(*ranges);
  auto seeds = parse_seeds(o.seeds.empty() ? "0..24" : std::string_view(o.seeds));
  if (!seeds) return seeds.error();
  grid.seeds = std::move(*seeds);
  grid.inputs = o.inputs ? static_cast<int>(*o.inputs) : (*preset)->inputs;
  grid.iterations = o.iterations ? o.iterations : (*preset)->iterations;
  grid.learning_rate = o.learning_rate;
  if (grid.learning_rate && !(*grid.learning_rate > 0 && *grid.learning_rate < 1e6))
    return Error{"--learning-rate must be above 0, such as 0.001."};
  grid.recipe_changes = o.recipe;
  if (Status good = check_recipe_changes(grid); !good) return good.error();
  if (o.log_every) grid.log_every = *o.log_every;
  for (const TaskRange& range : grid.ranges) {
    for (const Pair& pair : grid.pairs) {
      if (Status good = check_test_range(pair.operation, range.test); !good) return good.error();
    }
  }
  return grid;
}

// The same options, for one of the other tasks.
Result<TaskPlan> plan_of(const Options& o) {
  if (!o.ranges.empty() || !o.test_ranges.empty() || o.inputs || !o.recipe.empty())
    return Error{
        fmt::format("--ranges, --test-range, --inputs and --recipe belong to the single module task; leave them away, "
                    "and choose parts of {} with --modules, --operations and --settings.",
                    o.task)};
  const Result<const Task*> task = find_task(o.task);
  if (!task) return task.error();
  const Result<const TaskPreset*> preset = find_preset(**task, o.preset);
  if (!preset) return preset.error();
  TaskPlan plan{
      *task,          std::string((*preset)->name), o.modules, o.operations, o.settings, {}, o.iterations, o.log_every,
      o.learning_rate};
  auto seeds = parse_seeds(o.seeds.empty() ? fmt::format("0..{}", (*preset)->seeds - 1) : o.seeds);
  if (!seeds) return seeds.error();
  plan.seeds = std::move(*seeds);
  if (plan.learning_rate && !(*plan.learning_rate >= 0 && *plan.learning_rate < 1e6))
    return Error{"--learning-rate must be from 0, which teaches nothing, to 1e6; 0.001 is usual."};
  return plan;
}

Result<RunStore> open_store(const Options& o, const BenchOutput& output, std::vector<std::string>& skipped) {
  if (!o.resume.empty()) {
    Result<RunStore> store = RunStore::resume(output.folder);
    if (!store) return store;
    const Result<StoreInfo> info = store->info();
    if (!info) return info.error();
    if (Status same = check_version(output.folder, info->version); !same) return same.error();
    return store;
  }
  Result<Grid> grid = grid_of(o, skipped);
  if (!grid) return grid.error();
  return RunStore::create(output.folder, {std::move(*grid),
                                          command_of(o),
                                          std::string(version()),
                                          std::string(simd_target()),
                                          now(),
                                          output.thread_count(),
                                          0,
                                          {}});
}

// What is said about a finished run in --json-lines.
std::string json_line(const Run& run) {
  const Result<RunResult> result = judge(run, {});
  nlohmann::json line{{"event", "run"},
                      {"module", run.id.module->name},
                      {"operation", name_of(run.id.operation)},
                      {"range", name_of(run.id.range.train)},
                      {"seed", run.id.seed}};
  if (result) {
    line["success"] = result->success;
    line["solved_at"] = result->solved_at ? nlohmann::json(*result->solved_at) : nlohmann::json();
    line["best_step"] = result->best_step;
    line["validation_mse"] = result->validation_mse;  // NaN becomes null
    line["test_mse"] = result->test_mse;
    line["sparsity_error"] = result->sparsity_error;
  }
  return line_of(line);
}

int bench_single_module(const Options& o, const BenchOutput& output) {
  const std::string& folder = output.folder;
  std::vector<std::string> skipped;
  Result<RunStore> store = open_store(o, output, skipped);
  if (!store) return fail(store.error());
  const Result<StoreInfo> info = store->info();
  if (!info) return fail(info.error());
  const Result<std::vector<RunId>> todo = store->missing();
  if (!todo) return fail(todo.error());
  const Grid& grid = info->grid;
  const std::size_t total = grid.run_count();
  if (output.talks()) {
    fmt::print(stderr, "{} runs: {} pairs of module and operation, {} ranges, {} seeds; results go to {}.\n", total,
               grid.pairs.size(), grid.ranges.size(), grid.seeds.size(), folder);
    if (!skipped.empty() && (!o.modules.empty() || !o.operations.empty()))
      fmt::print(stderr, "Not learned by design, left out: {}.\n", fmt::join(skipped, ", "));
    if (todo->size() < total) fmt::print(stderr, "{} runs are there already.\n", total - todo->size());
  }
  if (o.json_lines) {
    fmt::print("{}", line_of({{"event", "start"}, {"folder", folder}, {"runs", total}, {"left", todo->size()}}));
  }

  const Interruptible interruptible;
  std::atomic<std::size_t> finished = total - todo->size();
  Progress progress(output.progress(), [&] { return fmt::format("{} of {} runs", finished.load(), total); });
  double stored_until = 0;
  RunnerSettings settings;
  settings.threads = o.threads;
  settings.progress = &progress.done();
  settings.stop = &Interruptible::flag();
  settings.finished = [&](const FinishedRuns& runs) -> Status {
    const double seconds = progress.seconds();
    if (Status added = store->add(runs, seconds - stored_until); !added) return added;
    stored_until = seconds;
    finished += runs.runs.size();
    if (o.json_lines)
      for (const Run& run : runs.runs) fmt::print("{}", json_line(run));
    return Done{};
  };
  const Status trained = train_runs(grid, *todo, settings);
  const double seconds = progress.seconds();
  progress.finish();
  if (!trained) return fail(trained.error());
  if (finished < total) return interrupted(finished, total, folder);

  if (!o.series.empty())
    if (Status written = write_series(*store, o.series); !written) return fail(written.error());
  std::string report_path;
  if (has_plotting_library()) {
    report_path = folder + "/report.html";
    const Result<std::string> page = report_page(*store, {});
    if (!page) return fail(page.error());
    if (Status written = write_file(report_path, *page); !written) return fail(written.error());
  }
  if (output.talks()) {
    const Result<Results> results = judge_store(*store, {});
    if (!results) return fail(results.error());
    fmt::print("{}", print_overview(*results));
    fmt::print("{} runs trained in {:.1f} s. Success: {}.\n", todo->size(), seconds, describe({}));
    fmt::print("Next: nalm table {0}, nalm compare {0}{1}\n", folder,
               report_path.empty() ? " (no report: built without the plotting library)"
                                   : fmt::format(", or open {} in a browser", report_path));
  }
  if (o.json_lines)
    fmt::print("{}", line_of({{"event", "end"}, {"runs", total}, {"seconds", seconds}, {"report", report_path}}));
  return yes;
}

int bench(const Options& o) {
  if (o.task == "formulas") {
    Options rest = o;
    rest.task = single_module;
    if (command_of(rest) != "nalm bench" || !o.resume.empty() || !o.series.empty() || o.json_lines)
      return fail(
          {"--task formulas takes --rows, --noise, --part, --only, --seed, --out, --markdown, --emit, --threads "
           "and --quiet; leave the other options away."});
    return bench_formulas(o.formulas, o.out, o.threads, o.quiet);
  }
  if (o.formulas != FormulaOptions())
    return fail(
        {"--rows, --noise, --part, --only, --seed, --markdown and --emit belong to --task formulas; add that, or "
         "leave them away."});
  if (o.quiet && o.json_lines) return fail({"--quiet and --json-lines exclude each other."});
  const BenchOutput output{!o.resume.empty() ? o.resume
                           : o.out.empty()   ? default_folder
                                             : o.out,
                           o.series, o.threads, o.quiet, o.json_lines};
  if (!o.series.empty()) {
    if (Status possible = FileWriter(o.series).begun(); !possible) return fail(possible.error());
  }
  if (!o.resume.empty()) {
    if (command_of(o) != "nalm bench" || !o.out.empty())
      return fail({"--resume goes on with the settings that the folder has; leave the other options away."});
    return TaskStore::is_one(output.folder) ? resume_task(output) : bench_single_module(o, output);
  }
  if (o.task != single_module) {
    const Result<TaskPlan> plan = plan_of(o);
    return plan ? bench_task(*plan, command_of(o), output) : fail(plan.error());
  }
  if (!o.settings.empty())
    return fail({"--settings belongs to the other tasks (nalm list --tasks); the single module task has --ranges."});
  return bench_single_module(o, output);
}

}  // namespace

void add_bench(Program& program) {
  static Options o;
  std::string preset_list = "Named settings:";
  for (const Preset& preset : presets()) preset_list += fmt::format(" {} ({});", preset.name, preset.meaning);
  preset_list.back() = '.';
  std::vector<std::string> tasks{single_module, "formulas"};
  for (const Task* task : all_tasks()) tasks.emplace_back(task->name);
  Command command =
      program.add("bench", "Run the Single Module Arithmetic Task, seed for seed as the paper did, or another task");
  command
      .choice("--task", o.task, tasks,
              "What to run: the paper's task, how many of a set of formulas `nalm fit` finds again, or one of `nalm "
              "list --tasks`")
      .text("--preset", o.preset, preset_list + " Other tasks have their own: `nalm list --tasks`")
      .text("--modules", o.modules,
            "Modules by name, such as NAU,NMU; the paper's nine, or all of the task's models, if "
            "not given")
      .text("--operations", o.operations, "Some of add,sub,mul,div, or of the task's; all if not given")
      .text("--settings", o.settings, "Other tasks: some of the task's settings, by name; all if not given")
      .text("--ranges", o.ranges,
            "Training ranges: numbers of the paper's list (0 to 8), or text such as \"[-2,2)\"; all nine if not given")
      .text("--test-range", o.test_ranges,
            "Test range for training ranges that the paper does not have, such as "
            "\"[20,40)\" or \"[-6,-2)+[2,6)\"; one for all or one for each")
      .text("--seeds", o.seeds, "Seeds: 3, or 3,11, or 0..24; 0..24, or as many as the task's preset has, if not given")
      .number("--iterations", o.iterations, 0, 1000000000,
              "Iterations instead of the recipe's; schedules are not rescaled")
      .number("--log-every", o.log_every, 1, 1000000000, "Iterations between logged rows (1000; tasks have their own)")
      .number("--inputs", o.inputs, 2, 10000, "Inputs, of which two are the operands (2)")
      .number("--learning-rate", o.learning_rate, "Learning rate instead of the recipe's; other tasks take 0")
      .text("--recipe", o.recipe,
            "Changes to every recipe, as JSON such as '{\"clip_norm\": 1}'; `nalm list NAME --json` shows a recipe")
      .number("--threads", o.threads, 0, 1024, "Threads; 0 uses all processors. Results are the same bits")
      .text("--out", o.out,
            fmt::format("Folder for the results; {} if not given. One with results is refused. "
                        "Formulas: a CSV file",
                        default_folder))
      .text("--resume", o.resume, "Go on with an interrupted benchmark in this folder")
      .text("--series", o.series, "Also write every logged row to this CSV file")
      .flag("--quiet", o.quiet, "Print nothing but errors")
      .flag("--json-lines", o.json_lines, "Print events, one JSON object per line");
  o.formulas.add_to(command)
      .example(
          "  nalm bench                                        the paper's whole grid\n"
          "  nalm bench --modules NAU,NMU --ranges 6 --seeds 0..4 --out quick\n"
          "  nalm bench --ranges \"[1,100)\" --test-range \"[100,200)\" --out wide\n"
          "  nalm bench --modules NMRU --inputs 10 --recipe '{\"clip_norm\": null}' --out unclipped\n"
          "  nalm bench --resume nalm-results\n"
          "  nalm bench --task arithmetic-dataset --preset quick --out quick\n"
          "  nalm bench --task formulas --rows 200 --noise 0,0.01 --out formulas.csv\n"
          "Formulas: exit code 0 if at least 90 % are recovered without noise and 80 % with 1 % noise, else 1.\n"
          "Other tasks with the preset quick: exit code 1 if one of the task's checks fails.\n"
          "Exit code 130 after Ctrl-C; everything finished by then is kept.")
      .run([] { return bench(o); });
}

}  // namespace nalm::cli
