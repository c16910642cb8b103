// nalm table, compare, report: what a store of results says, or a fit.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/write_file.hpp"
#include "cli/judgement.hpp"
#include "cli/picture_file.hpp"
#include "report/comparison.hpp"
#include "report/fit_report.hpp"
#include "report/report.hpp"
#include "report/result_figures.hpp"
#include "report/table.hpp"

namespace nalm::cli {
namespace {

// To a file, or to standard output.
int deliver(const std::string& text, const std::string& path) {
  if (path.empty()) {
    write_data(text);
    return yes;
  }
  if (Status possible = may_write(path); !possible) return fail(possible.error());
  if (Status written = write_file(path, text); !written) return fail(written.error());
  return yes;
}

int deliver_page(const Result<std::string>& page, const std::string& path) {
  if (!page) return fail(page.error());
  if (const int code = deliver(*page, path); code != yes) return code;
  put("Written: {}\n", path);
  return yes;
}

int table(const std::string& folder, const std::string& format, const JudgementOptions& options,
          const std::string& series, const std::string& out) {
  Result<Judgement> judgement = options.get();
  if (!judgement) return fail(judgement.error());
  const Result<Store> store = Store::read(folder);
  if (!store) return fail(store.error());
  for (const std::string& path : {series, out})
    if (!path.empty())
      if (Status possible = may_write(path); !possible) return fail(possible.error());
  if (!series.empty())
    if (Status written = write_series(*store, series); !written) return fail(written.error());
  judgement->diagnose = format == "json";
  const Result<Results> results = judge_store(*store, *judgement);
  if (!results) return fail(results.error());
  return deliver(print_table(*results, options.table_metric(), format), out);
}

Result<Results> results_in(const std::string& folder) {
  const Result<Store> store = Store::read(folder);
  if (!store) return store.error();
  return judge_store(*store);
}

int compare_folders(const std::vector<std::string>& folders, bool all, const std::string& report) {
  std::vector<Results> results;
  for (const std::string& folder : folders) {
    Result<Results> one = results_in(folder);
    if (!one) return fail(one.error());
    results.push_back(std::move(*one));
  }
  std::vector<StoreComparison> comparisons;
  bool same = true;
  for (std::size_t k = 1; k < results.size(); ++k) {
    Result<StoreComparison> comparison = compare_stores(results[0], results[k]);
    if (!comparison) return fail({fmt::format("{}, {}: {}", folders[0], folders[k], comparison.error().message)});
    same = same && comparison->differing == 0;
    comparisons.push_back(std::move(*comparison));
  }
  put("{}", print(comparisons, folders, all));
  if (!report.empty())
    if (const int code = deliver_page(comparison_page(comparisons, folders), report); code != yes) return code;
  return same ? yes : no;
}

int compare(const std::vector<std::string>& folders, bool all, const std::string& report) {
  if (folders.size() > 1) return compare_folders(folders, all, report);
  if (!report.empty())
    return fail(
        {"--report sets several folders side by side; for one folder use nalm report, which has the published "
         "figures."});
  const Result<Results> results = results_in(folders.empty() ? default_folder : folders.front());
  if (!results) return fail(results.error());
  const Result<Comparison> comparison = compare_with_published(*results);
  if (!comparison) return fail(comparison.error());
  put("{}", print(*comparison, all));
  return comparison->agrees() ? yes : no;
}

// model.json becomes model.html.
int report_fit(const std::string& file, const JudgementOptions& options, const std::string& out) {
  if (options.given())
    return fail(
        {fmt::format("{}: a fit has no runs to judge; the options that say when a run has succeeded are for a "
                     "folder with results.",
                     file)});
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return fail({fmt::format("{}: the file cannot be read ({}).", file, std::strerror(errno))});
  std::ostringstream text;
  text << stream.rdbuf();
  const std::string path = out.empty() ? std::filesystem::path(file).replace_extension(".html").string() : out;
  std::error_code ignored;
  if (std::filesystem::equivalent(file, path, ignored))
    return fail({fmt::format("{}: the page would replace the model; name another file with -o.", path)});
  return deliver_page(fit_page(text.str(), file), path);
}

// Figures for print.
struct PrintOptions {
  std::string folder, format = "svg", width = "174mm";
};

int write_figures(const Store& store, const Judgement& judgement, const PrintOptions& print) {
  const Result<double> width = read_width(print.width);
  if (!width) return fail(width.error());
  const Result<std::vector<NamedPicture>> pictures = result_figures(store, judgement, *width);
  if (!pictures) return fail(pictures.error());
  std::error_code failed;
  std::filesystem::create_directories(print.folder, failed);
  if (failed) return fail({fmt::format("{}: the folder cannot be made ({}).", print.folder, failed.message())});
  for (const NamedPicture& one : *pictures)
    if (Status written = write_picture(one.picture, print.format, print.width,
                                       fmt::format("{}/{}.{}", print.folder, one.name, print.format));
        !written)
      return fail(written.error());
  put("Written: {} figures in {}\n", pictures->size(), print.folder);
  return yes;
}

int report(const std::string& folder, const JudgementOptions& options, const std::string& out,
           const PrintOptions& print) {
  std::error_code ignored;
  if (std::filesystem::exists(folder, ignored) && !std::filesystem::is_directory(folder, ignored)) {
    if (!print.folder.empty())
      return fail({fmt::format("{}: --figures draws the results of a benchmark, which a model file is not.", folder)});
    return report_fit(folder, options, out);
  }
  const Result<Judgement> judgement = options.get();
  if (!judgement) return fail(judgement.error());
  const Result<Store> store = Store::read(folder);
  if (!store) return fail(store.error());
  if (!print.folder.empty()) return write_figures(*store, *judgement, print);
  return deliver_page(report_page(*store, *judgement), out.empty() ? folder + "/report.html" : out);
}

}  // namespace

void add_table(Program& program) {
  static std::string folder = default_folder, format = "terminal", series, out;
  static JudgementOptions options;
  std::vector<std::string> formats;
  std::string meanings;
  for (const TableFormat& f : table_formats()) {
    formats.emplace_back(f.name);
    meanings += fmt::format("{}{}: {}", meanings.empty() ? "" : "; ", f.name, f.meaning);
  }
  Command command = program.add("table", "Tables of a benchmark's results");
  command.optional_word("folder", folder, "Folder with results").choice("--format", format, formats, meanings);
  options.add_to(command)
      .text("--series", series, "Also write every logged row to this CSV file", Value::File)
      .text("-o,--output", out, "Write to this file", Value::File)
      .example(
          "  nalm table\n  nalm table nalm-results --format latex --paper-intervals -o tables.tex\n"
          "  nalm table --metric all                           the four papers' metrics on the same runs\n"
          "  nalm table --metric mape\n"
          "  nalm table quick --metric threshold --limit 1e-5")
      .run([] { return table(folder, format, options, series, out); });
}

void add_compare(Program& program) {
  static std::vector<std::string> folders;
  static bool all = false;
  static std::string report;
  program.add("compare", "Set a benchmark's results beside the published ones, or folders beside each other")
      .words("folders", folders,
             fmt::format("One folder ({} if none is named): with what was published; several: each "
                         "beside the first",
                         default_folder),
             Value::Folder)
      .flag("--all", all, "Show all cells, not only those that differ")
      .text("--report", report, "Several folders: also write an HTML page to this file", Value::File)
      .example(
          "  nalm compare nalm-results --all\n"
          "  nalm compare mine theirs --report difference.html\n"
          "Exit code 1 if the answer is no. With what was published: runs with the published seeds may differ by 1\n"
          "run, by 4 for NPU and RealNPU; for others the 95 % interval of the difference of the rates must hold 0.\n"
          "Folders: no cell may differ by more than chance allows among so many.")
      .run([] { return compare(folders, all, report); });
}

void add_report(Program& program) {
  static std::string folder = default_folder, out;
  static JudgementOptions options;
  static PrintOptions print;
  Command command = program.add("report", "An HTML page with the figures and tables of a benchmark, or of a fit");
  command.optional_word("path", folder, "Folder with results, or the model file of a fit");
  options.add_to(command)
      .text("-o,--output", out,
            "Write to this file; report.html in the folder, or model.html for model.json, if not given", Value::File)
      .text("--figures", print.folder, "Write the figures for print to this folder instead of a page", Value::Folder)
      .choice("--format", print.format, {"svg", "pdf", "png"}, "Of the figures; pdf and png need rsvg-convert")
      .text("--width", print.width, "Of the figures: their width in print; letters keep their size")
      .example(
          "  nalm report nalm-results -o report.html\n  nalm report nalm-results --figures figures --format pdf "
          "--width 84mm\n"
          "  nalm report model.json")
      .run([] { return report(folder, options, out, print); });
}

}  // namespace nalm::cli
