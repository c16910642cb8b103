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

int table(const std::string& folder, const std::string& format, const JudgementOptions& options,
          const std::string& series, const std::string& out) {
  Result<Judgement> judgement = options.get();
  if (!judgement) return fail(judgement.error());
  const Result<RunStore> store = RunStore::read(folder);
  if (!store) return fail(store.error());
  if (!series.empty()) {
    if (Status written = write_series(*store, series); !written) return fail(written.error());
  }
  judgement->diagnose = format == "json";
  const Result<Results> results = judge_store(*store, *judgement);
  if (!results) return fail(results.error());
  const TableFormat chosen = format == "csv"        ? TableFormat::Csv
                             : format == "markdown" ? TableFormat::Markdown
                             : format == "json"     ? TableFormat::Json
                             : format == "latex"    ? TableFormat::Latex
                                                    : TableFormat::Terminal;
  return deliver(print_table(*results, chosen), out);
}

int compare(const std::string& folder, bool all) {
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

int report(const std::string& folder, const JudgementOptions& options, const std::string& out) {
  std::error_code ignored;
  if (std::filesystem::exists(folder, ignored) && !std::filesystem::is_directory(folder, ignored))
    return report_fit(folder, options, out);
  const Result<Judgement> judgement = options.get();
  if (!judgement) return fail(judgement.error());
  const Result<RunStore> store = RunStore::read(folder);
  if (!store) return fail(store.error());
  const Result<std::string> page = report_page(*store, *judgement);
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
  Command command = program.add("table", "Tables of a benchmark's results");
  command.optional_word("folder", folder, "Folder with results")
      .choice("--format", format, {"terminal", "csv", "markdown", "json", "latex"},
              "latex has the paper's layout; json has every run, with the reason why it failed");
  options.add_to(command)
      .text("--series", series, "Also write every logged row to this CSV file")
      .text("-o,--output", out, "Write to this file")
      .example(
          "  nalm table\n  nalm table nalm-results --format latex --paper-intervals -o tables.tex\n"
          "  nalm table --mape 0.001")
      .run([] { return table(folder, format, options, series, out); });
}

void add_compare(Program& program) {
  static std::string folder = default_folder;
  static bool all = false;
  program.add("compare", "Set a benchmark's results beside the published ones")
      .optional_word("folder", folder, "Folder with results")
      .flag("--all", all, "Show all cells, not only those that differ")
      .example(
          "  nalm compare nalm-results --all\n"
          "Exit code 1 if a cell is outside the limits: 1 run, for NPU and RealNPU 4.")
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
