// nalm bench: the Single Module Arithmetic Task; bench_formulas.cpp has the other task.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/threads.hpp"
#include "base/write_file.hpp"
#include "bench/run_store.hpp"
#include "bench/thresholds.hpp"
#include "cli/bench_formulas.hpp"
#include "cli/judgement.hpp"
#include "cli/progress.hpp"
#include "nalm/version.hpp"
#include "report/page.hpp"
#include "report/report.hpp"
#include "report/tables.hpp"

namespace nalm::cli {
namespace {

struct Options {
  std::string task = "single-module";
  FormulaOptions formulas;
  std::string preset, modules, operations, ranges, test_ranges, seeds = "0..24", out, resume, series, recipe;
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
  add("--preset", o.preset);
  add("--modules", o.modules);
  add("--operations", o.operations);
  add("--ranges", o.ranges);
  add("--test-range", o.test_ranges);
  if (o.seeds != "0..24") add("--seeds", o.seeds);
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
  auto seeds = parse_seeds(o.seeds);
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

std::string now() {
  const std::time_t time = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&time));
  return text;
}

Result<RunStore> open_store(const Options& o, const std::string& folder, std::vector<std::string>& skipped) {
  if (!o.resume.empty()) {
    if (command_of(o) != "nalm bench" || !o.out.empty())
      return Error{"--resume goes on with the settings that the folder has; leave the other options away."};
    Result<RunStore> store = RunStore::resume(folder);
    if (!store) return store;
    const Result<StoreInfo> info = store->info();
    if (!info) return info.error();
    if (info->version != version())
      return Error{
          fmt::format("{} was begun by version {}, and this is {}: the rest might not be the same bits; start "
                      "anew with --out.",
                      folder, info->version, version())};
    return store;
  }
  Result<Grid> grid = grid_of(o, skipped);
  if (!grid) return grid.error();
  return RunStore::create(folder, {std::move(*grid),
                                   command_of(o),
                                   std::string(version()),
                                   std::string(simd_target()),
                                   now(),
                                   o.threads > 0 ? o.threads : processor_count(),
                                   0,
                                   {}});
}

// One line; what is not Unicode, such as the name of a folder, is replaced.
std::string line_of(const nlohmann::json& event) {
  return event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
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

int bench(const Options& o) {
  if (o.task == "formulas") {
    if (command_of(o) != "nalm bench" || !o.resume.empty() || !o.series.empty() || o.json_lines)
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
  const std::string folder = !o.resume.empty() ? o.resume : o.out.empty() ? default_folder : o.out;
  if (!o.series.empty()) {
    if (Status possible = FileWriter(o.series).begun(); !possible) return fail(possible.error());
  }
  std::vector<std::string> skipped;
  Result<RunStore> store = open_store(o, folder, skipped);
  if (!store) return fail(store.error());
  const Result<StoreInfo> info = store->info();
  if (!info) return fail(info.error());
  const Result<std::vector<RunId>> todo = store->missing();
  if (!todo) return fail(todo.error());
  const Grid& grid = info->grid;
  const bool talk = !o.quiet && !o.json_lines;
  const std::size_t total = grid.run_count();
  if (talk) {
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
  Progress progress(o.quiet        ? ProgressStyle::Quiet
                    : o.json_lines ? ProgressStyle::JsonLines
                                   : default_progress(),
                    [&] { return fmt::format("{} of {} runs", finished.load(), total); });
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
  if (finished < total) {
    fmt::print(stderr, "Interrupted: {} of {} runs are stored; go on with \"nalm bench --resume {}\".\n",
               finished.load(), total, folder);
    return Interruptible::exit_code();
  }

  if (!o.series.empty())
    if (Status written = write_series(*store, o.series); !written) return fail(written.error());
  std::string report_path;
  if (has_plotting_library()) {
    report_path = folder + "/report.html";
    const Result<std::string> page = report_page(*store, {});
    if (!page) return fail(page.error());
    if (Status written = write_file(report_path, *page); !written) return fail(written.error());
  }
  if (talk) {
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

}  // namespace

void add_bench(Program& program) {
  static Options o;
  std::string preset_list = "Named settings:";
  for (const Preset& preset : presets()) preset_list += fmt::format(" {} ({});", preset.name, preset.meaning);
  preset_list.back() = '.';
  Command command = program.add("bench", "Run the Single Module Arithmetic Task, seed for seed as the paper did");
  command
      .choice("--task", o.task, {"single-module", "formulas"},
              "What to run: the paper's task, or how many of a set of formulas `nalm fit` finds again")
      .text("--preset", o.preset, preset_list)
      .text("--modules", o.modules, "Modules by name, such as NAU,NMU; the paper's nine if not given")
      .text("--operations", o.operations, "Some of add,sub,mul,div; all four if not given")
      .text("--ranges", o.ranges,
            "Training ranges: numbers of the paper's list (0 to 8), or text such as \"[-2,2)\"; all nine if not given")
      .text("--test-range", o.test_ranges,
            "Test range for training ranges that the paper does not have, such as "
            "\"[20,40)\" or \"[-6,-2)+[2,6)\"; one for all or one for each")
      .text("--seeds", o.seeds, "Seeds: 3, or 3,11, or 0..24")
      .number("--iterations", o.iterations, 0, 1000000000,
              "Iterations instead of the recipe's; schedules are not rescaled")
      .number("--log-every", o.log_every, 1, 1000000000, "Iterations between logged rows (1000)")
      .number("--inputs", o.inputs, 2, 10000, "Inputs, of which two are the operands (2)")
      .number("--learning-rate", o.learning_rate, "Learning rate instead of the recipe's")
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
          "  nalm bench --task formulas --rows 200 --noise 0,0.01 --out formulas.csv\n"
          "Formulas: exit code 0 if at least 90 % are recovered without noise and 80 % with 1 % noise, else 1.\n"
          "Exit code 130 after Ctrl-C; everything finished by then is kept.")
      .run([] { return bench(o); });
}

}  // namespace nalm::cli
