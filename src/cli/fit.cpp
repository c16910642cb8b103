// nalm fit: a table in, a formula out.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <mutex>

#include "base/text.hpp"
#include "base/write_file.hpp"
#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "fit/form.hpp"
#include "nalm/fit.hpp"
#include "nalm/version.hpp"

namespace nalm::cli {

namespace {

struct FitCommand {
  std::string data, target, inputs, model, powers = "half", use, score, format, out, accept = "law";
  double time_limit = 0;
  std::uint64_t seed = 1;
  int threads = 0;
  bool quiet = false;
};

// Names at commas; none if nothing was given.
std::vector<std::string> names_in(const std::string& text) {
  if (text.empty()) return {};
  const std::vector<std::string_view> parts = split(text);
  return {parts.begin(), parts.end()};
}

std::string quoted(const std::string& word) {
  const bool plain = !word.empty() &&
                     word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=") ==
                         std::string::npos;
  if (plain) return word;
  std::string result = "'";
  for (const char c : word) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

// The command that gives the same formula again.
std::string command_of(const FitCommand& o) {
  std::string text = fmt::format("nalm fit {} --target {}", quoted(o.data), quoted(o.target));
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) text += fmt::format(" {} {}", name, quoted(value));
  };
  add("--inputs", o.inputs);
  add("--model", o.model);
  if (o.powers != "half") add("--powers", o.powers);
  add("--use", o.use);
  add("--score", o.score);
  return text + fmt::format(" --seed {}", o.seed);
}

void add_error_line(std::string& text, const char* name, const FitError& error) {
  if (error.rows == 0) return;
  text += fmt::format("  {:<10} {:>8}   {:>9.3g}   {:>14.3g} %   {:>9.3g}\n", name, error.rows, error.rmse,
                      100 * error.relative, error.largest);
}

// "9.81 (between 9.8 and 9.82)".
std::string describe(const FitConstant& c) {
  const double half = (c.high - c.low) / 2;
  const double size = std::max(std::fabs(c.estimate), 1e-300);
  const int digits = half > 0 ? std::clamp(static_cast<int>(std::ceil(std::log10(size / half))) + 2, 2, 15) : 15;
  const std::string interval = half > 1e-12 * size ? fmt::format("{:.{}g} ± {:.2g}", c.estimate, digits, half)
                                                   : fmt::format("{:.12g} to rounding", c.estimate);
  return c.snapped ? fmt::format("{}, fitted {}", print(Expression(c.value)), interval) : fmt::format("{}", interval);
}

std::string probe_text(const FitProbe& probe, bool valid) {
  std::string box;
  for (const FitProbe::Range& r : probe.box) {
    box += fmt::format("{}{} from {:.4g} to {:.4g}", box.empty() ? "" : ", ", print(Expression::variable(r.column)),
                       r.probed_low, r.probed_high);
  }
  if (probe.remarks.empty())
    return fmt::format("Outside  {} on the box twice as wide: {}\n", valid ? "valid" : "defined", box);
  std::string text = fmt::format("Outside  on the box twice as wide ({}):\n", box);
  for (const std::string& remark : probe.remarks) text += fmt::format("  {}\n", remark);
  return text;
}

std::string summary(const Fit& fit, const FitCommand& o) {
  const Candidate& best = fit.best();
  std::string text;
  const std::string reason = std::string(1, static_cast<char>(std::toupper(fit.reason[0]))) + fit.reason.substr(1);
  if (fit.verdict() == Verdict::None) {
    text += fmt::format("{}.\n{}: {}\n", reason, o.score.empty() ? "The best was" : "The formula", print(best.formula));
  } else {
    text += fmt::format("{}\n\n{}. {}.\n", export_formula(best.formula, fit.target, fit.columns, FormulaFormat::Text),
                        fit.is_law() ? "Law" : "Approximation, for the inside of the data only", reason);
  }
  text += fmt::format("\n  {:<10} {:>8}   {:>9}   {:>16}   {:>9}\n", "rows", "number", "rmse", "of the deviation",
                      "largest");
  add_error_line(text, "training", best.train);
  add_error_line(text, "held out", best.held_out);
  add_error_line(text, "outside", best.outside);
  text += "\n";
  bool any = false;
  for (const FitConstant& c : best.constants) {
    if (std::fabs(c.value) == 1 && c.snapped) continue;
    if (!any) text += "Constants, with 99 % intervals\n";
    any = true;
    text += fmt::format("  {}\n", describe(c));
  }
  text += probe_text(fit.probe, fit.is_law());
  if (o.score.empty()) {
    text += fmt::format("Agreement  {} of {} restarts that converged spell this formula ({} restarts in all)\n",
                        best.agreeing, fit.converged, fit.restarts);
    text +=
        fmt::format("The printed formula is {}the model: largest difference {:.2g} on {} rows and {} points outside\n",
                    fit.verified ? "" : "NOT ", fit.verification_error, fit.rows, fit.probe.points);
  }
  if (fit.candidates.size() > 1) {
    text += "\nAlternatives\n  size   error        formula\n";
    for (std::size_t k = 0; k < fit.candidates.size(); ++k) {
      const Candidate& c = fit.candidates[k];
      text += fmt::format("  {:>4}   {:<9.3g} {}  {}\n", c.size, c.train.rmse, k == fit.chosen ? "*" : " ",
                          print(c.formula));
    }
  }
  for (const std::string& note : fit.notes) text += fmt::format("Note: {}.\n", note);
  if (fit.cut) text += "The search was cut short, so repeating it may give something else.\n";
  text += fmt::format("\n{:.1f} s with nalm {}. Again: {}\n", fit.seconds, version(), command_of(o));
  return text;
}

Status write_export(const Fit& fit, const Table& table, const FitCommand& o) {
  std::string text;
  if (o.format == "json") {
    if (!o.score.empty()) return Error{"--format json writes a model, and --score has none; use another format."};
    text = to_json(fit, table, {o.data, command_of(o)});
  } else {
    const Result<FormulaFormat> format = find_format(o.format.empty() ? "text" : o.format);
    if (!format) return format.error();
    // A spreadsheet has the table as it is: all of its columns, and the first row of numbers below the header.
    text = *format == FormulaFormat::Spreadsheet
               ? export_formula(fit.best().formula, fit.target, table.columns, *format, table.has_header ? 2 : 1)
               : export_formula(fit.best().formula, fit.target, fit.columns, *format);
    if (text.empty() || text.back() != '\n') text += '\n';
  }
  if (!o.out.empty()) return write_file(o.out, text);
  write_data(text);
  return Done{};
}

int run_fit(const FitCommand& o) {
  const bool exports = !o.format.empty() || !o.out.empty();
  if (!o.out.empty()) {
    if (Status possible = may_write(o.out); !possible) return fail(possible.error());
  }
  std::error_code none;
  if (!o.out.empty() && std::filesystem::equivalent(o.out, o.data, none))
    return fail({fmt::format("{}: the export would replace the table; name another file with -o.", o.out)});
  if (!o.format.empty() && o.format != "json") {
    if (const Result<FormulaFormat> format = find_format(o.format); !format)
      return fail({fmt::format("--format: {}, and json for the model.", format.error().message)});
  }
  if (!(o.time_limit >= 0)) return fail({"--time-limit must be a number of seconds, such as 10."});
  std::optional<Expression> scored;
  if (!o.score.empty()) {
    if (!o.model.empty()) return fail({"--score judges a formula and --model trains a stack; give one of them."});
    const Result<Expression> parsed = parse_expression(o.score);
    if (!parsed) return fail({fmt::format("--score: {}", parsed.error().message)});
    constexpr int longest = 500;
    const int size = fitting::size_of(*parsed);
    if (size > longest)
      return fail(
          {fmt::format("--score: the formula has {} numbers, names and operations, and at most {} are judged; "
                       "make new columns of its parts.",
                       size, longest)});
    scored = *parsed;
  }
  const Result<Table> table = read_table_file(o.data, Cells::Words);
  if (!table) return fail(table.error());

  FitOptions options;
  options.target = o.target;
  options.inputs = names_in(o.inputs);
  options.stack = o.model;
  options.powers = o.powers == "integer" ? Powers::Integer : o.powers == "half" ? Powers::Half : Powers::Any;
  options.use = names_in(o.use);
  options.seed = o.seed;
  options.threads = o.threads;
  options.time_limit = o.time_limit;

  const Interruptible interruptible;
  std::mutex lock;
  FitProgress state;
  Progress progress(o.quiet ? ProgressStyle::Quiet : default_progress(), [&] {
    const std::lock_guard guard(lock);
    std::string best = state.best.substr(0, 60);
    return fmt::format("{} restarts{}{}", state.restarts, best.empty() ? "" : ", best so far " + best,
                       best.size() < state.best.size() ? "..." : "");
  });
  FitWatch watch;
  watch.stop = interruptible.token();
  watch.progress = [&](const FitProgress& now) {
    const std::lock_guard guard(lock);
    state = now;
    progress.done() = now.share;
  };
  const Result<Fit> result = scored ? score(*table, options, *scored) : fit(*table, options, watch);
  progress.finish();
  if (!result) return fail({fmt::format("{}: {}", o.data, result.error().message)});
  const int interrupted = Interruptible::flag() ? Interruptible::exit_code() : yes;
  if (result->candidates.empty()) {
    tell("nalm: {}.\n", result->reason);
    return interrupted != yes ? interrupted : no;
  }
  if (!table->has_header && !o.quiet)
    tell("Every cell of the first row is a number, so the table has no header: its columns are x1 to x{}.\n",
         table->columns.size());
  // Only the export goes to standard output when it goes there.
  const bool summary_aside = exports && o.out.empty();
  if (!o.quiet || !exports) write_text(summary_aside ? stderr : stdout, summary(*result, o));
  const bool usable = result->verdict() != Verdict::None && result->verified;
  const bool good = usable && (result->is_law() || o.accept == "approximation");
  if (exports && usable) {
    if (Status written = write_export(*result, *table, o); !written) return fail(written.error());
    if (!o.out.empty() && !o.quiet) put("Written to {}\n", o.out);
  } else if (exports) {
    tell("nalm: nothing was written, because there is no formula to trust.\n");
  }
  if (interrupted != yes) return interrupted;
  return good ? yes : no;
}

}  // namespace

void add_fit(Program& program) {
  static FitCommand o;
  program
      .add("fit",
           "Find the formula behind a table: + - * /, powers, constants, sums of products, ratios of sums and "
           "comparison; not sin or exp")
      .word("data", o.data, "Table (CSV: comma, semicolon or tab); - is standard input")
      .text("--target", o.target, "The column that the formula should give")
      .text("--inputs", o.inputs, "Columns that it may use, such as a,b,c; all others if not given")
      .text("--model", o.model, "Train only this stack, such as \"NAU:2,NMU:1\"; a scale and an offset are added")
      .choice("--powers", o.powers, {"integer", "half", "any"}, "Powers that may appear")
      .text("--use", o.use, "Columns that must appear, such as a,b")
      .text("--score", o.score, "Judge this formula on the data instead of searching, such as \"a*b + c\"")
      .choice("--accept", o.accept, {"law", "approximation"}, "Exit code 0 for a law only, or for an approximation too")
      .text("--format", o.format, fmt::format("Export: {} or json (the model file)", format_names()))
      .text("-o,--out", o.out, "File for the export; standard output if not given", Value::File)
      .number("--time-limit", o.time_limit, "Seconds after which the search ends with the best so far; 0: none")
      .number("--seed", o.seed, "The same data and seed give the same bits, for any number of threads")
      .number("--threads", o.threads, 0, 1024, "Threads; 0 uses all processors")
      .flag("--quiet", o.quiet, "No progress; with an export, nothing else either")
      .example(
          "  nalm fit data.csv --target y\n"
          "  nalm fit data.csv --target y --format json -o model.json     for nalm predict and nalm report\n"
          "  nalm fit data.csv --target force --format python > force.py\n"
          "  nalm fit data.csv --target y --score \"a*b + c\"\n"
          "Exit code 0: a law was found; 1: an approximation (0 with --accept approximation) or nothing; 2: bad data; "
          "130 "
          "after Ctrl-C.")
      .run([] {
        if (o.target.empty()) return fail({"--target must name the column that the formula should give."});
        return run_fit(o);
      });
}

}  // namespace nalm::cli
