// nalm table, compare, report: what a store of results says, or a fit.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/write_file.hpp"
#include "cli/judgement.hpp"
#include "report/comparison.hpp"
#include "report/fit_report.hpp"
#include "report/report.hpp"
#include "report/tables.hpp"
#include "report/task_comparison.hpp"
#include "report/task_report.hpp"
#include "report/task_tables.hpp"

namespace nalm::cli {
namespace {

// To a file, or to standard output.
int deliver(const std::string& text, const std::string& path) {
  if (path.empty()) {
    fmt::print("{}", text);
    return yes;
  }
  if (Status written = write_file(path, text); !written) return fail(written.error());
  return yes;
}

TableFormat format_of(const std::string& name) {
  return name == "csv"        ? TableFormat::Csv
         : name == "markdown" ? TableFormat::Markdown
         : name == "json"     ? TableFormat::Json
         : name == "latex"    ? TableFormat::Latex
                              : TableFormat::Terminal;
}

// How the results of a task are shown; the other tables have JudgementOptions.
struct MetricOptions {
  std::string metric;  // empty: all
  std::optional<double> limit;

  bool given() const { return !metric.empty() || limit; }
  TaskMetric get() const {
    return metric == "success"              ? TaskMetric::Success
           : metric == "mad"                ? TaskMetric::Mad
           : metric == "trask"              ? TaskMetric::Trask
           : metric == "threshold"          ? TaskMetric::Threshold
           : metric == "pre-regularisation" ? TaskMetric::PreRegularisation
                                            : TaskMetric::All;
  }
};

Error not_for_tasks(const std::string& folder) {
  return {fmt::format(
      "{} holds results of a task, which says itself when a run has succeeded; --paper-intervals, --epsilon, "
      "--log-space, --correlation and --mape are for the single module task.",
      folder)};
}

int table_of_task(const std::string& folder, const std::string& format, const MetricOptions& metric,
                  const std::string& series, const std::string& out) {
  if ((metric.metric == "threshold") != metric.limit.has_value())
    return fail({"--metric threshold and --limit belong together, as in --metric threshold --limit 1e-5."});
  const Result<TaskStore> store = TaskStore::read(folder);
  if (!store) return fail(store.error());
  if (!series.empty()) {
    if (Status written = write_series(*store, series); !written) return fail(written.error());
  }
  if (metric.limit && !(*metric.limit > 0)) return fail({"--limit must be a number above 0, such as 1e-5."});
  const Result<TaskResults> results = judge_task(*store, metric.limit);
  if (!results) return fail(results.error());
  return deliver(print_task_table(*results, metric.get(), format_of(format)), out);
}

int table(const std::string& folder, const std::string& format, const JudgementOptions& options,
          const MetricOptions& metric, const std::string& series, const std::string& out) {
  if (TaskStore::is_one(folder)) {
    if (options.given()) return fail(not_for_tasks(folder));
    return table_of_task(folder, format, metric, series, out);
  }
  Result<Judgement> judgement = options.get();
  if (!judgement) return fail(judgement.error());
  const Result<RunStore> store = RunStore::read(folder);
  if (!store) return fail(store.error());
  if (metric.given())
    return fail(
        {fmt::format("{} holds results of the single module task; --metric and --limit are for other tasks.", folder)});
  if (!series.empty()) {
    if (Status written = write_series(*store, series); !written) return fail(written.error());
  }
  judgement->diagnose = format == "json";
  const Result<Results> results = judge_store(*store, *judgement);
  if (!results) return fail(results.error());
  return deliver(print_table(*results, format_of(format)), out);
}

int compare_results_of_task(const std::string& folder, bool all) {
  const Result<TaskStore> store = TaskStore::read(folder);
  if (!store) return fail(store.error());
  const Result<TaskResults> results = judge_task(*store);
  if (!results) return fail(results.error());
  const Result<TaskComparison> comparison = compare_task(*results);
  if (!comparison) return fail(comparison.error());
  fmt::print("{}", print(*comparison, all));
  return comparison->agrees() ? yes : no;
}

int compare(const std::string& folder, bool all) {
  if (TaskStore::is_one(folder)) return compare_results_of_task(folder, all);
  const Result<RunStore> store = RunStore::read(folder);
  if (!store) return fail(store.error());
  const Result<Results> results = judge_store(*store, {});
  if (!results) return fail(results.error());
  const Result<Comparison> comparison = compare_with_paper(*results);
  if (!comparison) return fail(comparison.error());
  fmt::print("{}", print(*comparison, all));
  return comparison->agrees() ? yes : no;
}

// model.json becomes model.html.
int report_fit(const std::string& file, const JudgementOptions& options, const std::string& out) {
  if (options.given())
    return fail(
        {fmt::format("{}: a fit has no runs to judge; --paper-intervals, --epsilon, --log-space, --correlation "
                     "and --mape are for a folder with results.",
                     file)});
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return fail({fmt::format("{}: the file cannot be read ({}).", file, std::strerror(errno))});
  std::ostringstream text;
  text << stream.rdbuf();
  const Result<std::string> page = fit_page(text.str(), file);
  if (!page) return fail(page.error());
  const std::string path = out.empty() ? std::filesystem::path(file).replace_extension(".html").string() : out;
  std::error_code ignored;
  if (std::filesystem::equivalent(file, path, ignored))
    return fail({fmt::format("{}: the page would replace the model; name another file with -o.", path)});
  if (const int code = deliver(*page, path); code != yes) return code;
  fmt::print("Written: {}\n", path);
  return yes;
}

Result<std::string> page_of_task(const std::string& folder, const JudgementOptions& options) {
  if (options.given()) return not_for_tasks(folder);
  const Result<TaskStore> store = TaskStore::read(folder);
  if (!store) return store.error();
  return task_page(*store);
}

Result<std::string> page_of_single_module(const std::string& folder, const JudgementOptions& options) {
  const Result<Judgement> judgement = options.get();
  if (!judgement) return judgement.error();
  const Result<RunStore> store = RunStore::read(folder);
  if (!store) return store.error();
  return report_page(*store, *judgement);
}

int report(const std::string& folder, const JudgementOptions& options, const std::string& out) {
  std::error_code ignored;
  if (std::filesystem::exists(folder, ignored) && !std::filesystem::is_directory(folder, ignored))
    return report_fit(folder, options, out);
  const Result<std::string> page =
      TaskStore::is_one(folder) ? page_of_task(folder, options) : page_of_single_module(folder, options);
  if (!page) return fail(page.error());
  const std::string path = out.empty() ? folder + "/report.html" : out;
  if (const int code = deliver(*page, path); code != yes) return code;
  fmt::print("Written: {}\n", path);
  return yes;
}

}  // namespace

void add_table(Program& program) {
  static std::string folder = default_folder, format = "terminal", series, out;
  static JudgementOptions options;
  static MetricOptions metric;
  Command command = program.add("table", "Tables of a benchmark's results");
  command.optional_word("folder", folder, "Folder with results")
      .choice("--format", format, {"terminal", "csv", "markdown", "json", "latex"},
              "latex has the paper's layout; json has every run, with the reason why it failed");
  options.add_to(command)
      .choice(
          "--metric", metric.metric, {"all", "success", "mad", "trask", "threshold", "pre-regularisation"},
          "Tasks: what is shown: success rates, median +- MAD of each measure, error in % of the start's, success by "
          "--limit, or runs good enough to be rounded before regularisers start; all if not given")
      .number("--limit", metric.limit,
              "Tasks: with --metric threshold, the error below which, or the accuracy above which, a run has succeeded")
      .text("--series", series, "Also write every logged row to this CSV file")
      .text("-o,--output", out, "Write to this file")
      .example(
          "  nalm table\n  nalm table nalm-results --format latex --paper-intervals -o tables.tex\n"
          "  nalm table --mape 0.001\n"
          "  nalm table quick --metric threshold --limit 1e-5")
      .run([] { return table(folder, format, options, metric, series, out); });
}

void add_compare(Program& program) {
  static std::string folder = default_folder;
  static bool all = false;
  program.add("compare", "Set a benchmark's results beside the published ones")
      .optional_word("folder", folder, "Folder with results")
      .flag("--all", all, "Show all cells, not only those that differ")
      .example(
          "  nalm compare nalm-results --all\n"
          "Exit code 1 if a cell is outside the limits: 1 run, for NPU and RealNPU 4. Other tasks: if a published "
          "success\n"
          "rate and ours are both outside the other's 95 % interval.")
      .run([] { return compare(folder, all); });
}

void add_report(Program& program) {
  static std::string folder = default_folder, out;
  static JudgementOptions options;
  Command command = program.add("report", "An HTML page with the figures and tables of a benchmark, or of a fit");
  command.optional_word("path", folder, "Folder with results, or the model file of a fit");
  options.add_to(command)
      .text("-o,--output", out,
            "Write to this file; report.html in the folder, or model.html for model.json, if not given")
      .example("  nalm report nalm-results -o report.html\n  nalm report model.json")
      .run([] { return report(folder, options, out); });
}

}  // namespace nalm::cli
