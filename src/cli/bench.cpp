// nalm bench: runs a task, seed for seed, into a store.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <ctime>
#include <thread>
#include "base/json.hpp"

#include "base/threads.hpp"
#include "base/write_file.hpp"
#include "cli/judgement.hpp"
#include "cli/progress.hpp"
#include "experiment/ranks.hpp"
#include "experiment/shard.hpp"
#include "nalm/version.hpp"
#include "report/page.hpp"
#include "report/report.hpp"
#include "report/table.hpp"

namespace nalm::cli {
namespace {

struct BenchCommand {
  std::string task, preset, modules, operations, settings, seeds, out, resume, series, recipe, emit, shard;
  std::optional<long> iterations, log_every;
  std::optional<double> learning_rate;
  std::map<std::string, std::string, std::less<>> own;  // of single tasks; "" if not given
  int threads = 0;
  bool quiet = false, json_lines = false;

  bool talks() const { return !quiet && !json_lines; }
  // Whether anything is given that says what to run.
  bool names_runs() const {
    return !task.empty() || !preset.empty() || !modules.empty() || !operations.empty() || !settings.empty() ||
           !seeds.empty() || !recipe.empty() || !out.empty() || !shard.empty() || iterations || log_every ||
           learning_rate ||
           std::any_of(own.begin(), own.end(), [](const auto& option) { return !option.second.empty(); });
  }
};

std::vector<std::string_view> tasks_with_tables() {
  std::vector<std::string_view> names;
  for (const Task* task : all_tasks())
    if (task->emit) names.push_back(task->name);
  return names;
}

std::string now() {
  const std::time_t time = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&time));
  return text;
}

// One line; what is not Unicode, such as the name of a folder, is replaced.
void print_event(const Json& event) { write_data(event.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"); }

Result<Plan> plan_of(const BenchCommand& o) {
  const Result<const Task*> task = find_task(o.task.empty() ? all_tasks().front()->name : o.task);
  if (!task) return task.error();
  const Result<const TaskPreset*> preset = find_preset(**task, o.preset);
  if (!preset) return preset.error();
  Plan plan;
  plan.task = *task, plan.preset = (*preset)->name;
  plan.models = o.modules, plan.operations = o.operations, plan.settings = o.settings;
  plan.iterations = o.iterations, plan.log_every = o.log_every, plan.learning_rate = o.learning_rate;
  plan.recipe = o.recipe;
  for (const auto& [name, value] : o.own)
    if (!value.empty()) plan.options[name] = value;
  const std::uint32_t first = (*task)->first_seed;
  auto seeds = parse_seeds(o.seeds.empty()
                               ? fmt::format("{}..{}", first, first + static_cast<std::uint32_t>((*preset)->seeds) - 1)
                               : o.seeds);
  if (!seeds) return seeds.error();
  plan.seeds = std::move(*seeds);
  if (Status good = check(plan); !good) return good.error();
  return plan;
}

Result<Store> resume_store(const std::string& folder) {
  Result<Store> store = Store::resume(folder);
  if (store && store->info().version != version())
    return Error{fmt::format(
        "{} was begun by version {}, and this is {}: the rest might not be the same bits; start anew with --out.",
        folder, store->info().version, version())};
  return store;
}

// A job on a cluster is started again by the command that began it, so that this goes on with what is there.
bool is_begun(const std::string& folder, const Plan& plan, const std::string& shard) {
  const Result<Store> store = Store::read(folder);
  return store && to_json(store->info().plan) == to_json(plan) && store->info().shard == shard;
}

Result<Store> open_store(const BenchCommand& o, const std::string& folder, const std::optional<Shard>& shard,
                         bool is_job) {
  if (!o.resume.empty()) return resume_store(folder);
  Result<Plan> plan = plan_of(o);
  if (!plan) return plan.error();
  const std::string part = shard ? shard->text() : "";
  if (is_job && is_begun(folder, *plan, part)) return resume_store(folder);
  const int threads = o.threads > 0 ? o.threads : processor_count();
  const std::string command = command_of(*plan) + (shard ? " --shard " + part : "");
  return Store::create(
      folder, {std::move(*plan), command, std::string(version()), std::string(simd_target()), now(), threads, 0, part});
}

// What is said about a finished run in --json-lines.
void print_run(const Task& task, const Cell& cell, const FinishedRun& run) {
  Json line{{"event", "run"},
            {std::string(task.model_word), cell.model},
            {"operation", cell.operation},
            {std::string(task.setting_word), cell.setting},
            {"seed", run.id.seed}};
  if (const Result<RunResult> result = judge(cell, run.record, run.id.seed)) {
    line["success"] = result->success;
    line["solved_at"] = result->solved_at ? Json(*result->solved_at) : Json();
    line["judged_step"] = result->judged_step;
    for (std::size_t m = 0; m < result->values.size(); ++m)
      line["values"][cell.measures[m].name] = finite_or_null(result->values[m]);
  }
  if (!run.record.note.empty()) line["note"] = run.record.note;
  print_event(line);
}

// One line per check of this preset.
bool all_checks_hold(const Results& results, const BenchCommand& o) {
  bool all = true;
  for (const CheckResult& result : run_checks(results)) {
    const Check& check = *result.check;
    all = all && result.passed;
    const auto or_all = [](std::string_view name) { return name.empty() ? std::string_view("all") : name; };
    if (o.talks())
      put("{:<8}{} | {} | {}: {} {:.4g}, should be at {} {:.4g}\n", result.passed ? "holds" : "FAILS",
          or_all(check.model), or_all(check.operation), or_all(check.setting), check.measure, result.value,
          check.at_least ? "least" : "most", check.value);
    if (o.json_lines)
      print_event({{"event", "check"},
                   {std::string(results.task().model_word), check.model},
                   {"operation", check.operation},
                   {std::string(results.task().setting_word), check.setting},
                   {"measure", check.measure},
                   {"value", finite_or_null(result.value)},
                   {check.at_least ? "at_least" : "at_most", check.value},
                   {"passed", result.passed}});
  }
  return all;
}

void announce(const Store& store, std::size_t total, std::size_t left, const BenchCommand& o) {
  const Plan& plan = store.info().plan;
  const std::string& shard = store.info().shard;
  if (o.talks()) {
    tell("{}, preset {}: {} runs, {} cells of {} seeds{}; results go to {}.\n", plan.task->name, plan.preset,
         store.run_count(), store.cells().size(), plan.seeds.size(),
         shard.empty() ? "" : fmt::format(", of which shard {} has {} runs", shard, total), store.folder());
    if (!store.left_out().empty()) tell("Not learned by design, left out: {}.\n", fmt::join(store.left_out(), ", "));
    if (left < total) tell("{} runs are there already.\n", total - left);
  }
  if (o.json_lines)
    print_event({{"event", "start"},
                 {"task", plan.task->name},
                 {"preset", plan.preset},
                 {"folder", store.folder()},
                 {"runs", total},
                 {"left", left}});
}

// A part of the runs says nothing yet.
int finish_shard(const Store& store, const BenchCommand& o, std::size_t total, std::size_t trained, double seconds) {
  if (!o.series.empty())
    if (Status written = write_series(store, o.series); !written) return fail(written.error());
  if (o.talks())
    put("{} runs trained in {:.1f} s: shard {} is complete.\nNext, with all shards: nalm merge {} ... --out DIR\n",
        trained, seconds, store.info().shard, store.folder());
  if (o.json_lines)
    print_event({{"event", "end"}, {"runs", total}, {"seconds", seconds}, {"report", Json()}, {"checks", Json()}});
  return yes;
}

// The report, the overview, the checks, and what to do next.
int finish(const Store& store, const BenchCommand& o, std::size_t trained, double seconds) {
  const std::string& folder = store.folder();
  if (!o.series.empty())
    if (Status written = write_series(store, o.series); !written) return fail(written.error());
  const std::string report_path = folder + "/report.html";
  const Result<std::string> page = report_page(store);
  if (!page && has_plotting_library()) return fail(page.error());
  if (page)
    if (Status written = write_file(report_path, *page); !written) return fail(written.error());
  const Result<Results> results = judge_store(store);
  if (!results) return fail(results.error());
  if (o.out.ends_with(".csv"))
    if (Status written = write_file(o.out, print_table(*results, "", "csv")); !written) return fail(written.error());
  if (o.talks()) {
    put("{}{} runs trained in {:.1f} s.\n", print_overview(*results), trained, seconds);
    put("Next: nalm table {}{}{}\n", folder,
        compare_with_published(*results) ? fmt::format(", nalm compare {}", folder) : "",
        page ? fmt::format(", or open {} in a browser", report_path) : "");
    if (!page) tell("No report: {}\n", page.error().message);
  }
  const bool good = all_checks_hold(*results, o);
  if (o.json_lines)
    print_event({{"event", "end"},
                 {"runs", store.run_count()},
                 {"seconds", seconds},
                 {"report", page ? Json(report_path) : Json()},
                 {"checks", good}});
  return good ? yes : no;
}

int run(Store& store, const BenchCommand& o, Leader* leader) {
  const Result<std::vector<RunId>> todo = runs_to_do(store);
  if (!todo) return fail(todo.error());
  const Result<std::size_t> wanted = runs_wanted(store);
  if (!wanted) return fail(wanted.error());
  const std::size_t total = *wanted;
  announce(store, total, todo->size(), o);
  std::optional<Interruptible> interruptible(std::in_place);
  std::atomic<std::size_t> finished = total - todo->size();
  Progress progress(o.quiet        ? ProgressStyle::Quiet
                    : o.json_lines ? ProgressStyle::JsonLines
                                   : default_progress(),
                    [&] { return fmt::format("{} of {} runs", finished.load(), total); });
  double stored_until = 0;
  ExecutorSettings settings;
  settings.threads = o.threads;
  settings.progress = &progress.done();
  settings.stop = interruptible->token();
  settings.finished = [&](const FinishedRuns& runs) -> Status {
    const double seconds = progress.seconds();
    if (Status added = store.add(runs, seconds - stored_until); !added) return added;
    stored_until = seconds;
    finished += runs.runs.size();
    if (o.json_lines)
      for (const FinishedRun& one : runs.runs) print_run(*store.info().plan.task, store.cells()[one.id.cell], one);
    return Done{};
  };
  const Plan& plan = store.info().plan;
  const Status trained =
      leader ? leader->train(plan, store.cells(), *todo, settings) : plan.task->execute(store.cells(), *todo, settings);
  const double seconds = progress.seconds();
  progress.finish();
  if (!trained) {
    const int code = fail(trained.error());
    if (leader)
      tell("{} of {} runs are stored; the same command goes on, or \"nalm bench --resume {}\".\n", finished.load(),
           total, store.folder());
    return code;
  }
  if (finished < total) {
    tell("Interrupted: {} of {} runs are stored; go on with \"nalm bench --resume {}\".\n", finished.load(), total,
         store.folder());
    return Interruptible::exit_code();
  }
  interruptible.reset();  // everything is stored: what follows may end at once
  return store.info().shard.empty() ? finish(store, o, todo->size(), seconds)
                                    : finish_shard(store, o, total, todo->size(), seconds);
}

// With a leader: on all ranks of the job.
int bench_runs(const BenchCommand& o, Leader* leader) {
  if (o.quiet && o.json_lines) return fail({"--quiet and --json-lines exclude each other."});
  if (!o.emit.empty()) {
    if (!o.out.empty() || !o.resume.empty())
      return fail({"--emit writes tables and fits nothing, so that there are no results for --out or --resume."});
    const Result<Plan> plan = plan_of(o);
    if (!plan) return fail(plan.error());
    if (!plan->task->emit)
      return fail({fmt::format("--emit writes the tables of --task {}; add one of them, or leave it away.",
                               fmt::join(tasks_with_tables(), " and --task "))});
    const Result<std::size_t> written = plan->task->emit(*plan, o.emit);
    if (!written) return fail(written.error());
    if (!o.quiet) put("{} tables, and formulas.csv that says what made them, are in {}.\n", *written, o.emit);
    return yes;
  }
  std::optional<Shard> shard;
  if (!o.shard.empty()) {
    const Result<Shard> wanted = o.shard == "auto" ? shard_of(own_environment()) : parse_shard(o.shard);
    if (!wanted) return fail(wanted.error());
    shard = *wanted;
  }
  // Better known before an hour's work than after.
  if (!o.series.empty())
    if (Status possible = may_write(o.series); !possible) return fail(possible.error());
  if (!o.resume.empty() && o.names_runs())
    return fail({"--resume goes on with the settings that the folder has; leave the other options away."});
  // results.csv: the folder results, and its table in results.csv.
  std::string folder = !o.resume.empty() ? o.resume : o.out.empty() ? default_folder : o.out;
  if (o.out.ends_with(".csv")) {
    if (Status possible = may_write(o.out); !possible) return fail(possible.error());
    if (shard) return fail({"a shard has no table yet, so --out must be a folder; nalm merge, then nalm table."});
    folder.resize(folder.size() - 4);
  }
  // Shards that are started by one command have a folder each.
  if (shard && (o.shard == "auto" || o.out.empty())) folder += fmt::format("-{}-of-{}", shard->number, shard->count);
  Result<Store> store = open_store(o, folder, shard, shard || leader);
  return store ? run(*store, o, leader) : fail(store.error());
}

// One of several processes that a launcher started.
int bench_rank(const BenchCommand& o, const LaunchedProcess& process) {
  const Result<std::unique_ptr<Link>> link = open_mpi_link();
  if (!link || (*link)->size() != process.count) {
    const std::string reason = link
                                   ? "MPI connects them in another way than that launcher; use the launcher of the MPI "
                                     "that nalm was built with, or --shard auto."
                                   : link.error().message;
    const Error error{fmt::format("{} started {} of these, which would write to one folder, and {}", process.by,
                                  process.count, reason)};
    // Once is enough; the others wait, because many launchers end everything when the first process has ended.
    if (process.rank == 0) return fail(error);
    std::this_thread::sleep_for(std::chrono::seconds(2));
    return bad_use;
  }
  RankSettings settings;
  settings.threads = o.threads;
  if ((*link)->rank() == 0) {
    Leader leader(**link, settings);
    const int code = bench_runs(o, &leader);
    flush_output();
    leader.leave(code);
    return code;
  }
  const Interruptible interruptible;
  const Status followed = follow(**link, settings, interruptible.token());
  if (followed) return yes;
  const int code = fail(followed.error());
  flush_output();
  (*link)->abort(code);
  return code;
}

int bench(const BenchCommand& o) {
  const LaunchedProcess process = launched_process(own_environment());
  const bool has_ranks = process.count > 1 && o.shard.empty() && o.emit.empty();
  return has_ranks ? bench_rank(o, process) : bench_runs(o, nullptr);
}

}  // namespace

void add_bench(Program& program) {
  static BenchCommand o;
  std::vector<std::string> tasks;
  for (const Task* task : all_tasks()) tasks.emplace_back(task->name);
  Command command =
      program.add("bench", "Run the Single Module Arithmetic Task, seed for seed as the paper did, or another task");
  command.choice("--task", o.task, tasks, "What to run: the paper's task if not given, or one of `nalm list --tasks`")
      .text("--preset", o.preset, "Named settings of the task: `nalm list TASK` shows them")
      .text(
          "modules,--modules,--models,--only", o.modules,
          "Modules or other models of the task by name, such as NAU,NMU, or one stack, such as NAU:2,NMU:1; all of the "
          "preset if not given",
          Value::Module)
      .text("--operations", o.operations, "Some of add,sub,mul,div, or of the task's; all if not given",
            Value::Operation)
      .text("--settings,--ranges", o.settings,
            "Some of the task's settings by name. Single module task: training ranges, by their number in the paper (0 "
            "to 8) or as text such as \"[-2,2)\"; all if not given")
      .text("--seeds,--seed", o.seeds, "Seeds: 3, or 3,11, or 0..24; as many as the preset has if not given")
      .number("--iterations", o.iterations, 0, 1000000000,
              "Iterations instead of the recipe's; schedules are not rescaled")
      .number("--log-every", o.log_every, 1, 1000000000, "Iterations between logged rows (1000; tasks have their own)")
      .number("--learning-rate", o.learning_rate, "Learning rate instead of the recipe's; 0 teaches nothing")
      .text("--recipe", o.recipe,
            "Changes to every recipe, as JSON such as '{\"clip_norm\": 1}'; `nalm list NAME --json` shows a recipe");
  std::vector<std::pair<std::string, std::string>> own;  // tasks may share an option
  for (const Task* task : all_tasks()) {
    for (const TaskOption& option : task->options) {
      const std::string help = fmt::format("ask {}: {}", task->name, option.help);
      const auto known =
          std::find_if(own.begin(), own.end(), [&](const auto& known_one) { return known_one.first == option.name; });
      if (known == own.end())
        own.emplace_back(option.name, "T" + help);
      else
        known->second += "; t" + help;
    }
  }
  for (const auto& [name, help] : own) command.text(fmt::format("--{}", name), o.own[name], help);
  command.number("--threads", o.threads, 0, 1024, "Threads; 0 uses all processors. Results are the same bits")
      .text("--out", o.out,
            fmt::format(
                "Folder for the results; {} if not given. One with results is refused. NAME.csv: the folder NAME, and "
                "its table in NAME.csv",
                default_folder),
            Value::Folder)
      .text("--resume", o.resume, "Go on with an interrupted benchmark in this folder", Value::Folder)
      .text(
          "--shard", o.shard,
          "Train a share of the runs, for `nalm merge`: 3/16 is the third of sixteen; auto asks Slurm, OpenMPI or PMI "
          "which, and appends it to the folder's name. The same command again goes on with what is there")
      .text("--series", o.series, "Also write every logged row to this CSV file", Value::File)
      .text("--emit", o.emit,
            fmt::format("Tasks {}: write the tables as CSV files into this folder, and fit nothing",
                        fmt::join(tasks_with_tables(), " and ")),
            Value::Folder)
      .flag("--quiet", o.quiet, "Print nothing but errors")
      .flag("--json-lines", o.json_lines, "Print events, one JSON object per line")
      .example(
          "  nalm bench                                        the paper's whole grid\n"
          "  nalm bench --modules NAU,NMU --ranges 6 --seeds 0..4 --out quick\n"
          "  nalm bench --ranges \"[1,100)\" --test-range \"[100,200)\" --out wide\n"
          "  nalm bench --modules NMRU --inputs 10 --recipe '{\"clip_norm\": null}' --out unclipped\n"
          "  nalm bench --resume nalm-results\n"
          "  nalm bench --task arithmetic-dataset --preset quick --out quick\n"
          "  nalm bench --task formulas --rows 200 --noise 0,0.01 --out formulas\n"
          "  nalm bench --task feynman --noise 0,0.01 --out feynman\n"
          "  nalm bench --shard 3/16 --out part-3              a sixteenth of it; then nalm merge part-* --out all\n"
          "Exit code 1 if a check of the task fails: those of the preset quick (`nalm list TASK`); formulas: at\n"
          "least 90 % are recovered without noise and 80 % with 1 % noise. Exit code 130 after Ctrl-C;\n"
          "everything finished by then is kept. Under mpirun all ranks train, and rank 0 has the folder; the same\n"
          "command again goes on with what is there (docs/cluster.md).")
      .run([] { return bench(o); });
}

}  // namespace nalm::cli
