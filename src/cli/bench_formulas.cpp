#include "cli/bench_formulas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "base/write_file.hpp"
#include "bench/formula_judge.hpp"
#include "bench/formula_set.hpp"
#include "cli/progress.hpp"
#include "nalm/fit.hpp"
#include "report/columns.hpp"

namespace nalm::cli {
namespace {

// One table to find a formula for.
struct Task {
  const FormulaCase* formula = nullptr;
  int rows = 0;
  double noise = 0;
};

struct Outcome {
  Task task;
  FormulaVerdict verdict;
  double seconds = 0;
  std::string found;    // empty if there is none
  std::string remark;   // what fit() says about it
  double held_out = 0;  // relative error of the best candidate
};

// How many of the formulas with this noise should be found, in percent; 0 if nothing is promised.
int target_percent(double noise) { return noise == 0 ? 90 : noise == 0.01 ? 80 : 0; }

bool is_comparison(const Outcome& outcome) { return outcome.task.formula->family == "comparison"; }

Result<std::vector<const FormulaCase*>> chosen(const std::vector<FormulaCase>& set, const FormulaOptions& o) {
  std::vector<const FormulaCase*> formulas;
  for (const FormulaCase& formula : set)
    if (o.only.empty() ? o.part == "all" || o.part == formula.part : o.only == formula.name)
      formulas.push_back(&formula);
  if (formulas.empty())
    return Error{fmt::format("there is no formula {} in the set; data/formulas.csv and --emit DIR list them.", o.only)};
  return formulas;
}

// All tables of a formula one after the other: then the time left is a good guess from the start.
std::vector<Task> tasks_of(const std::vector<const FormulaCase*>& formulas, const FormulaOptions& o) {
  std::vector<Task> tasks;
  for (const FormulaCase* formula : formulas)
    for (const int rows : o.rows)
      for (const double noise : o.noise) tasks.push_back({formula, rows, noise});
  return tasks;
}

Status emit(const std::vector<Task>& tasks, const FormulaOptions& o) {
  std::error_code failed;
  std::filesystem::create_directories(o.emit, failed);
  if (failed) return Error{fmt::format("{}: the folder cannot be made ({}).", o.emit, failed.message())};
  std::string index = "file,part,family,target,formula\n";
  for (const Task& task : tasks) {
    const Result<Table> table = make_table(*task.formula, static_cast<std::size_t>(task.rows), task.noise, o.seed);
    if (!table) return table.error();
    const std::string name = fmt::format("{}-{}-{}.csv", task.formula->name, task.rows, task.noise);
    FileWriter file(o.emit + "/" + name);
    for (std::size_t k = 0; k < table->columns.size(); ++k) file.write((k ? "," : "") + table->columns[k]);
    file.write("\n");
    for (std::size_t row = 0; row < table->rows; ++row)
      for (std::size_t k = 0; k < table->columns.size(); ++k)
        file.write(fmt::format("{}{}", table->at(row, k), k + 1 < table->columns.size() ? "," : "\n"));
    if (Status written = file.finish(); !written) return written;
    index += fmt::format("{},{},{},{},{}\n", name, task.formula->part, task.formula->family, task.formula->target,
                         csv_cell(task.formula->text));
  }
  return write_file(o.emit + "/formulas.csv", index);
}

Result<Outcome> run(const Task& task, const FormulaOptions& o, int threads, const FitWatch& watch) {
  const Result<Table> table = make_table(*task.formula, static_cast<std::size_t>(task.rows), task.noise, o.seed);
  if (!table) return table.error();
  FitOptions options;
  options.target = task.formula->target;
  options.powers = task.formula->powers;
  options.seed = o.seed;
  options.threads = threads;
  Outcome outcome;
  outcome.task = task;
  const auto start = std::chrono::steady_clock::now();
  const Result<Fit> result = fit(*table, options, watch);
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!result) {
    outcome.verdict.words = "no formula";
    outcome.remark = result.error().message;
    return outcome;
  }
  outcome.verdict = judge_fit(*task.formula, *result, task.noise > 0);
  outcome.remark = result->verdict;
  if (!result->candidates.empty()) {
    outcome.found = print(result->best().formula);
    outcome.held_out = result->best().held_out.relative;
  }
  return outcome;
}

std::string csv_of(const std::vector<Outcome>& outcomes, std::uint64_t seed) {
  std::string text =
      "name,part,family,rows,noise,seed,recovered,verdict,seconds,held_out_error,largest_error,points,found,formula,"
      "remark\n";
  for (const Outcome& outcome : outcomes) {
    const FormulaCase& formula = *outcome.task.formula;
    const FormulaVerdict& verdict = outcome.verdict;
    text += fmt::format("{},{},{},{},{},{},{},{},{:.3f},{:.6g},{:.6g},{},{},{},{}\n", formula.name, formula.part,
                        formula.family, outcome.task.rows, outcome.task.noise, seed, verdict.recovered ? 1 : 0,
                        csv_cell(verdict.words), outcome.seconds, outcome.held_out, verdict.largest_error,
                        verdict.points, csv_cell(outcome.found), csv_cell(formula.text), csv_cell(outcome.remark));
  }
  return text;
}

// One line of the summary: the outcomes with this noise, and with this many rows or any.
struct Line {
  double noise = 0;
  int rows = 0;  // 0: any
  int found = 0, all = 0, comparisons_found = 0, comparisons = 0;
  double median_seconds = 0, most_seconds = 0;

  double percent() const { return all ? 100.0 * found / all : 0; }
  bool has_target() const { return rows == 0 && all > 0 && target_percent(noise) > 0; }
  bool reached() const { return 100 * found >= target_percent(noise) * all; }
  std::string words() const { return all ? fmt::format("{} of {} ({:.0f} %)", found, all, percent()) : "-"; }
  std::string comparison_words() const {
    return comparisons ? fmt::format("{} of {}", comparisons_found, comparisons) : "-";
  }
  std::string target_words() const {
    if (!has_target()) return "";
    return fmt::format("{} % {}", target_percent(noise), reached() ? "reached" : "missed");
  }
  std::string row_words() const { return rows ? std::to_string(rows) : "all"; }
};

Line summarise(const std::vector<Outcome>& outcomes, double noise, int rows) {
  Line line;
  line.noise = noise;
  line.rows = rows;
  std::vector<double> seconds;
  for (const Outcome& outcome : outcomes) {
    if (outcome.task.noise != noise || (rows != 0 && outcome.task.rows != rows)) continue;
    seconds.push_back(outcome.seconds);
    ++(is_comparison(outcome) ? line.comparisons : line.all);
    if (outcome.verdict.recovered) ++(is_comparison(outcome) ? line.comparisons_found : line.found);
  }
  std::sort(seconds.begin(), seconds.end());
  if (!seconds.empty()) {
    const std::size_t n = seconds.size();
    line.median_seconds = (seconds[(n - 1) / 2] + seconds[n / 2]) / 2;
    line.most_seconds = seconds.back();
  }
  return line;
}

std::vector<Line> summary_of(const std::vector<Outcome>& outcomes, const FormulaOptions& o) {
  std::vector<Line> lines;
  for (const double noise : o.noise) {
    if (o.rows.size() > 1)
      for (const int rows : o.rows) lines.push_back(summarise(outcomes, noise, rows));
    lines.push_back(summarise(outcomes, noise, 0));
  }
  std::erase_if(lines, [](const Line& line) { return line.all + line.comparisons == 0; });
  return lines;
}

std::string noise_words(double noise) { return noise == 0 ? "none" : fmt::format("{:g} %", 100 * noise); }

std::string text_of(const std::vector<Line>& summary) {
  std::string text = fmt::format("\n{:>6}  {:>7}  {:<18}  {:<10}  {:>8}  {:>8}  {}\n", "noise", "rows", "recovered",
                                 "comparison", "median s", "most s", "target");
  for (const Line& line : summary) {
    std::string row =
        fmt::format("{:>6}  {:>7}  {:<18}  {:<10}  {:>8.1f}  {:>8.1f}  {}", noise_words(line.noise), line.row_words(),
                    line.words(), line.comparison_words(), line.median_seconds, line.most_seconds, line.target_words());
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text;
}

std::string markdown_of(const std::vector<Outcome>& outcomes, const FormulaOptions& o) {
  std::string text = fmt::format("Formulas found again by `nalm fit`: part {}, seed {}. Comparisons count apart.\n\n",
                                 o.only.empty() ? o.part : o.only, o.seed);
  text += "| noise | rows | recovered | comparison | median s | most s | target |\n|---|---|---|---|---|---|---|\n";
  for (const Line& line : summary_of(outcomes, o))
    text +=
        fmt::format("| {} | {} | {} | {} | {:.1f} | {:.1f} | {} |\n", noise_words(line.noise), line.row_words(),
                    line.words(), line.comparison_words(), line.median_seconds, line.most_seconds, line.target_words());
  text += "\n| formula | rows | noise | verdict | s | truth | found |\n|---|---|---|---|---|---|---|\n";
  for (const Outcome& outcome : outcomes)
    text += fmt::format("| {} | {} | {} | {} | {:.1f} | `{}` | {} |\n", outcome.task.formula->name, outcome.task.rows,
                        noise_words(outcome.task.noise), outcome.verdict.words, outcome.seconds,
                        outcome.task.formula->text, outcome.found.empty() ? "" : "`" + outcome.found + "`");
  return text;
}

std::string line_of(const Outcome& outcome) {
  constexpr std::size_t longest = 120;  // the file has the rest
  const std::string found = outcome.found.size() > longest ? outcome.found.substr(0, longest) + "..." : outcome.found;
  std::string line =
      fmt::format("{:<30}  {:>7}  {:>6}  {:<46}  {:>7.1f}  {}", outcome.task.formula->name, outcome.task.rows,
                  noise_words(outcome.task.noise), outcome.verdict.words, outcome.seconds, found);
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

Status check(const FormulaOptions& o, const std::string& csv_path) {
  for (const double noise : o.noise)
    if (!(noise >= 0 && noise <= 10))
      return Error{"--noise must be shares of the target's standard deviation from 0 to 10, such as 0,0.01."};
  if (!o.emit.empty() && (!csv_path.empty() || !o.markdown.empty()))
    return Error{"--emit only writes the tables; leave --out and --markdown away."};
  // Better known before an hour's work than after.
  for (const std::string& path : {csv_path, o.markdown})
    if (!path.empty())
      if (Status possible = FileWriter(path).begun(); !possible) return possible;
  return Done{};
}

}  // namespace

Command& FormulaOptions::add_to(Command& command) {
  return command.numbers("--rows", rows, 20, 1000000, "Formulas: rows of the tables, such as 200,10000")
      .numbers("--noise", noise, "Formulas: noise as shares of the target's standard deviation (0,0.01,0.1)")
      .choice("--part", part, {"tune", "unseen", "all"},
              "Formulas: which part of the set; who works on the search leaves unseen alone")
      .text("--only", only, "Formulas: the one with this name")
      .number("--seed", seed, "Formulas: seed of the tables and of the fits")
      .text("--markdown", markdown, "Formulas: also write the results to this Markdown file")
      .text("--emit", emit, "Formulas: write the tables as CSV files into this folder, and fit nothing");
}

int bench_formulas(const FormulaOptions& o, const std::string& csv_path, int threads, bool quiet) {
  if (Status good = check(o, csv_path); !good) return fail(good.error());
  const Result<std::vector<FormulaCase>> set = formula_set();
  if (!set) return fail(set.error());
  const Result<std::vector<const FormulaCase*>> formulas = chosen(*set, o);
  if (!formulas) return fail(formulas.error());
  const std::vector<Task> tasks = tasks_of(*formulas, o);
  if (!o.emit.empty()) {
    if (Status written = emit(tasks, o); !written) return fail(written.error());
    if (!quiet) fmt::print("{} tables, and formulas.csv that says what made them, are in {}.\n", tasks.size(), o.emit);
    return yes;
  }
  if (!quiet) {
    fmt::print(stderr, "{} fits: {} formulas, {} of rows, {} of noise.\n", tasks.size(), formulas->size(),
               fmt::format("{} number{}", o.rows.size(), o.rows.size() == 1 ? "" : "s"),
               fmt::format("{} level{}", o.noise.size(), o.noise.size() == 1 ? "" : "s"));
    fmt::print("{:<30}  {:>7}  {:>6}  {:<46}  {:>7}  {}\n", "formula", "rows", "noise", "verdict", "s", "found");
    std::fflush(stdout);
  }

  const Interruptible interruptible;
  const ProgressStyle style = quiet ? ProgressStyle::Quiet : default_progress();
  std::atomic<std::size_t> current = 0, recovered = 0;
  Progress progress(style, [&] {
    const std::size_t k = std::min(current.load(), tasks.size() - 1);
    return fmt::format("{} of {} fits, {} recovered, now {}", current.load(), tasks.size(), recovered.load(),
                       tasks[k].formula->name);
  });
  std::vector<Outcome> outcomes;
  for (const Task& task : tasks) {
    FitWatch watch;
    watch.stop = &Interruptible::flag();
    watch.progress = [&](const FitProgress& now) {
      progress.done() = (static_cast<double>(current) + now.share) / static_cast<double>(tasks.size());
    };
    Result<Outcome> outcome = run(task, o, threads, watch);
    if (!outcome) return fail(outcome.error());
    if (Interruptible::flag()) break;  // this fit was cut short and says nothing
    outcomes.push_back(std::move(*outcome));
    recovered += outcomes.back().verdict.recovered;
    progress.done() = static_cast<double>(++current) / static_cast<double>(tasks.size());
    if (!quiet) {
      if (style == ProgressStyle::Bar) fmt::print(stderr, "\r\033[K");
      fmt::print("{}\n", line_of(outcomes.back()));
      std::fflush(stdout);
    }
    // After every fit: hours of work survive whatever ends the program.
    if (!csv_path.empty())
      if (Status written = write_file(csv_path, csv_of(outcomes, o.seed)); !written) return fail(written.error());
  }
  progress.finish();
  if (!csv_path.empty())
    if (Status written = write_file(csv_path, csv_of(outcomes, o.seed)); !written) return fail(written.error());
  if (!o.markdown.empty())
    if (Status written = write_file(o.markdown, markdown_of(outcomes, o)); !written) return fail(written.error());
  const std::vector<Line> summary = summary_of(outcomes, o);
  if (!quiet) fmt::print("{}", text_of(summary));
  if (outcomes.size() < tasks.size()) {
    fmt::print(stderr, "Interrupted: {} of {} fits are done.\n", outcomes.size(), tasks.size());
    return Interruptible::exit_code();
  }
  return std::all_of(summary.begin(), summary.end(),
                     [](const Line& line) { return !line.has_target() || line.reached(); })
             ? yes
             : no;
}

}  // namespace nalm::cli
