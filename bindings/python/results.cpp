// The benchmark and its stores.
#include "common.hpp"

#include <atomic>
#include <chrono>
#include <ctime>
#include <map>

#include <nanobind/stl/map.h>

#include "base/threads.hpp"
#include "base/write_file.hpp"
#include "experiment/compare.hpp"
#include "experiment/store.hpp"
#include "nalm/version.hpp"
#include "report/comparison.hpp"
#include "report/report.hpp"
#include "report/table.hpp"

namespace nalm::python {
namespace {

using Texts = std::map<std::string, std::string>;

std::string text_in(const Texts& texts, const std::string& name) {
  const auto found = texts.find(name);
  return found == texts.end() ? "" : found->second;
}

// Fields by the names of the command line's options; what is missing is as the task says.
Plan plan_of(const Texts& asked, std::optional<long> iterations, std::optional<long> log_every,
             std::optional<double> learning_rate, const Texts& own) {
  const std::string task_name = text_in(asked, "task");
  const Task* task = take(find_task(task_name.empty() ? all_tasks().front()->name : task_name));
  const TaskPreset* preset = take(find_preset(*task, text_in(asked, "preset")));
  Plan plan;
  plan.task = task;
  plan.preset = std::string(preset->name);
  plan.models = text_in(asked, "modules");
  plan.operations = text_in(asked, "operations");
  plan.settings = text_in(asked, "settings");
  plan.recipe = text_in(asked, "recipe");
  plan.iterations = iterations;
  plan.log_every = log_every;
  plan.learning_rate = learning_rate;
  for (const auto& [name, value] : own) plan.options[name] = value;
  const std::string seeds = text_in(asked, "seeds");
  const std::uint32_t last = task->first_seed + static_cast<std::uint32_t>(preset->seeds) - 1;
  plan.seeds =
      take(parse_seeds(!seeds.empty() ? seeds : std::to_string(task->first_seed) + ".." + std::to_string(last)));
  take(check(plan));
  return plan;
}

std::string now() {
  const std::time_t time = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&time));
  return text;
}

// Trains what the store lacks. Gives what was raised meanwhile, or None; progress(share, runs done, runs in all).
nb::object train_missing(Store& store, int threads, const nb::object& progress) {
  const std::vector<RunId> todo = take(store.missing());
  const std::size_t total = store.run_count();
  std::atomic<std::size_t> finished = total - todo.size();
  std::atomic<double> share = 0;
  const auto start = std::chrono::steady_clock::now();
  double stored_until = 0;
  std::optional<nb::python_error> raised;
  std::function<void()> look;
  if (!progress.is_none()) look = [&] { progress(share.load(), finished.load(), total); };
  const Status trained = interruptibly(
      [&](std::stop_token stop) {
        ExecutorSettings settings;
        settings.threads = threads;
        settings.progress = &share;
        settings.stop = std::move(stop);
        settings.finished = [&](const FinishedRuns& runs) -> Status {
          const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
          if (Status added = store.add(runs, seconds - stored_until); !added) return added;
          stored_until = seconds;
          finished += runs.runs.size();
          return Done{};
        };
        return store.info().plan.task->execute(store.cells(), todo, settings);
      },
      raised, look);
  if (!raised) take(trained);
  return exception_of(raised);
}

nb::object bench(const std::string& folder, const Texts& asked, std::optional<long> iterations,
                 std::optional<long> log_every, std::optional<double> learning_rate, const Texts& own, int threads,
                 const nb::object& progress) {
  const Plan plan = plan_of(asked, iterations, log_every, learning_rate, own);
  const int count = threads > 0 ? threads : processor_count();
  Store store = take(Store::create(
      folder, {plan, command_of(plan), std::string(version()), std::string(simd_target()), now(), count, 0}));
  return train_missing(store, threads, progress);
}

nb::object resume(const std::string& folder, int threads, const nb::object& progress) {
  Store store = take(Store::resume(folder));
  if (store.info().version != version())
    throw Failure(folder + " was begun by version " + store.info().version + ", and this is " + std::string(version()) +
                  ": the rest might not be the same bits; start anew in another folder.");
  return train_missing(store, threads, progress);
}

Results judged(const std::string& folder, bool paper_intervals = false) {
  Judgement judgement;
  judgement.paper_intervals = paper_intervals;
  return take(judge_store(take(Store::read(folder)), judgement));
}

std::string table(const std::string& folder, const std::string& metric, const std::string& format,
                  bool paper_intervals) {
  const nb::gil_scoped_release release;
  bool metric_known = metric.empty() || metric == "all", format_known = false;
  std::string metric_names = "all", format_names;
  for (const Metric& m : metrics()) metric_known |= m.name == metric, metric_names += ", " + std::string(m.name);
  for (const TableFormat& f : table_formats())
    format_known |= f.name == format, format_names += (format_names.empty() ? "" : ", ") + std::string(f.name);
  if (!metric_known) throw Failure("there is no metric \"" + metric + "\"; there are " + metric_names + ".");
  if (!format_known) throw Failure("there is no format \"" + format + "\"; there are " + format_names + ".");
  return print_table(judged(folder, paper_intervals), metric, format);
}

// Every logged row, column by column: which cell it is of, the seed, the step and the measures, in the cell's order.
nb::dict series(const std::string& folder) {
  std::vector<std::int32_t> cell, measure;
  std::vector<std::int64_t> seed, step;
  std::vector<double> value;
  std::vector<std::string> models, operations, settings, measures;
  std::string model_word, setting_word;
  {
    const nb::gil_scoped_release release;
    const Store store = take(Store::read(folder));
    model_word = store.info().plan.task->model_word;
    setting_word = store.info().plan.task->setting_word;
    std::vector<std::vector<std::int32_t>> codes;
    for (const Cell& c : store.cells()) {
      models.push_back(c.model), operations.push_back(c.operation), settings.push_back(c.setting);
      codes.emplace_back();
      for (const Measure& m : c.measures) {
        const auto known = std::find(measures.begin(), measures.end(), m.name);
        codes.back().push_back(static_cast<std::int32_t>(known - measures.begin()));
        if (known == measures.end()) measures.push_back(m.name);
      }
    }
    take(store.for_each_run([&](const FinishedRun& run) -> Status {
      const Cell& c = store.cells()[run.id.cell];
      for (std::size_t r = 0; r < run.record.rows(); ++r) {
        for (std::size_t k = 0; k < c.measures.size(); ++k) {
          cell.push_back(static_cast<std::int32_t>(run.id.cell));
          measure.push_back(codes[run.id.cell][k]);
          seed.push_back(run.id.seed);
          step.push_back(run.record.steps[r]);
          value.push_back(run.record.values[r][k]);
        }
      }
      return Done{};
    }));
  }
  const std::size_t rows = cell.size();
  nb::dict result;
  result["words"] = nb::make_tuple(model_word, setting_word);
  result["cells"] = nb::make_tuple(models, operations, settings);
  result["measures"] = measures;
  result["cell"] = to_numpy(std::move(cell), {rows});
  result["measure"] = to_numpy(std::move(measure), {rows});
  result["seed"] = to_numpy(std::move(seed), {rows});
  result["step"] = to_numpy(std::move(step), {rows});
  result["value"] = to_numpy(std::move(value), {rows});
  return result;
}

// What it says, and whether the answer is yes: with what was published, or folders with each other.
std::pair<std::string, bool> compare(const std::vector<std::string>& folders, bool all) {
  const nb::gil_scoped_release release;
  std::vector<Results> results;
  for (const std::string& folder : folders) results.push_back(judged(folder));
  if (results.size() == 1) {
    const Comparison comparison = take(compare_with_published(results[0]));
    return {print(comparison, all), comparison.agrees()};
  }
  std::vector<StoreComparison> comparisons;
  bool same = true;
  for (std::size_t k = 1; k < results.size(); ++k) {
    comparisons.push_back(take(compare_stores(results[0], results[k])));
    same = same && comparisons.back().differing == 0;
  }
  return {print(comparisons, folders, all), same};
}

}  // namespace

void bind_results(nb::module_& m) {
  m.def("tasks", [] {
    std::vector<std::string> names;
    for (const Task* task : all_tasks()) names.emplace_back(task->name);
    return names;
  });
  m.def("bench", &bench, nb::arg("folder"), nb::arg("asked"), nb::arg("iterations").none(), nb::arg("log_every").none(),
        nb::arg("learning_rate").none(), nb::arg("own"), nb::arg("threads"), nb::arg("progress").none());
  m.def("resume", &resume, nb::arg("folder"), nb::arg("threads"), nb::arg("progress").none());
  m.def("table", &table, nb::arg("folder"), nb::arg("metric"), nb::arg("format"), nb::arg("paper_intervals"));
  m.def("series", &series, nb::arg("folder"));
  m.def("compare", &compare, nb::arg("folders"), nb::arg("all"));
  m.def("write_series", [](const std::string& folder, const std::string& path) {
    take(write_series(take(Store::read(folder)), path));
  });
  m.def("report_page", [](const std::string& folder) { return take(report_page(take(Store::read(folder)))); });
  m.def("write_file", [](const std::string& path, const std::string& text) { take(write_file(path, text)); });
  m.def("info", [](const std::string& folder) {
    const Store store = take(Store::read(folder));
    const StoreInfo& info = store.info();
    nb::dict result;
    result["task"] = std::string(info.plan.task->name);
    result["preset"] = info.plan.preset;
    result["command"] = info.command;
    result["version"] = info.version;
    result["created"] = info.created;
    result["seconds"] = info.seconds;
    result["runs"] = store.run_count();
    result["missing"] = take(store.missing()).size();
    return result;
  });
}

}  // namespace nalm::python
