// nalm fit: a table in, a formula out.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <mutex>

#include "base/text.hpp"
#include "base/write_file.hpp"
#include "cli/command.hpp"
#include "cli/fit_summary.hpp"
#include "cli/progress.hpp"
#include "fit/form.hpp"
#include "formula/exports.hpp"
#include "nalm/fit.hpp"

namespace nalm::cli {

namespace {

struct FitCommand {
  std::string data, target, inputs, model, powers = "half", functions, units, use, by, weights, sigma, score, given,
                                           format, out;
  std::string accept = "law";
  double time_limit = 0;
  std::uint64_t seed = 1;
  int threads = 0;
  bool relative = false, robust = false, quiet = false;
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
  add("--functions", o.functions);
  add("--units", o.units);
  add("--use", o.use);
  add("--by", o.by);
  add("--weights", o.weights);
  add("--sigma", o.sigma);
  if (o.relative) text += " --relative";
  if (o.robust) text += " --robust";
  add("--score", o.score);
  add("--given", o.given);
  if (o.time_limit > 0) text += fmt::format(" --time-limit {}", o.time_limit);
  return text + fmt::format(" --seed {}", o.seed);
}

Status write_export(const Fit& fit, const Table& table, const FitCommand& o, const std::string& out) {
  std::string text;
  if (o.format == "json") {
    text = to_json(fit, table, {o.data, command_of(o)});
  } else {
    const Result<FormulaFormat> format = find_format(o.format.empty() ? "text" : o.format);
    if (!format) return format.error();
    if (!fit.is_law())
      text =
          formula::remark(*format, "An approximation inside the data, and no law: nothing is claimed outside of them.");
    // A spreadsheet has the table as it is: all of its columns, and the first row of numbers below the header.
    text +=
        *format == FormulaFormat::Spreadsheet
            ? export_formula(fit.best().formula, fit.target, table.columns, *format,
                             (table.has_header ? 2 : 1) + (table.units.empty() ? 0 : 1))
            : export_formula(fit.best().formula, fit.target, fit.columns, *format, 2, positive_columns(fit.probe.box));
    if (text.empty() || text.back() != '\n') text += '\n';
  }
  if (!out.empty()) return write_file(out, text);
  write_data(text);
  return Done{};
}

// A formula of the command line, or of a form.
Result<std::optional<Expression>> formula_of(const std::string& text, const char* option) {
  if (text.empty()) return std::optional<Expression>();
  const Result<Expression> parsed = parse_expression(text);
  if (!parsed) return Error{fmt::format("{}: {}", option, parsed.error().message)};
  constexpr int longest = 500;
  const int size = fitting::size_of(*parsed);
  if (size > longest)
    return Error{
        fmt::format("{}: the formula has {} numbers, names and operations, and at most {} are judged; "
                    "make new columns of its parts.",
                    option, size, longest)};
  return std::optional(*parsed);
}

// What is wrong with the command, before any work.
Status check(const FitCommand& o, const std::vector<std::string>& targets) {
  if (targets.size() > 1 && (!o.format.empty() || !o.out.empty()) && o.out.find("{target}") == std::string::npos)
    return Error{
        "several targets make several files; give -o a name with {target} in it, such as -o model-{target}.json."};
  if (!o.format.empty() && o.format != "json") {
    if (const Result<FormulaFormat> format = find_format(o.format); !format)
      return Error{fmt::format("--format: {}, and json for the model.", format.error().message)};
  }
  const bool exports_formula = (!o.format.empty() || !o.out.empty()) && o.format != "json";
  if (exports_formula && !o.by.empty())
    return Error{"a formula alone does not have the groups of --by; use --format json, which nalm predict reads."};
  for (const auto& [value, name] : {std::pair(&o.score, "--score"), std::pair(&o.given, "--given")}) {
    if (value->empty()) continue;
    if (!o.model.empty())
      return Error{fmt::format("{} judges a formula and --model trains a stack; give one of them.", name)};
    if (o.format == "json")
      return Error{fmt::format("--format json writes a model, and {} has none; use another format.", name)};
    if (o.robust || !o.by.empty())
      return Error{fmt::format("{} takes neither --robust nor --by; leave them out.", name)};
  }
  if (!o.score.empty() && !o.given.empty())
    return Error{"--score judges a formula and --given fits one; give one of them."};
  if (!(o.time_limit >= 0)) return Error{"--time-limit must be a number of seconds, such as 10."};
  return Done{};
}

// Other targets are no inputs.
Table without_columns(const Table& table, const std::vector<std::string>& names, const std::string& but) {
  Table rest = table;
  std::vector<std::size_t> kept, place(table.columns.size(), table.columns.size());
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const std::string& name = table.columns[c];
    if (name != but && std::find(names.begin(), names.end(), name) != names.end()) continue;
    place[c] = kept.size();
    kept.push_back(c);
  }
  rest.columns.clear();
  rest.values.clear();
  rest.units.clear();
  for (const std::size_t c : kept) rest.columns.push_back(table.columns[c]);
  for (const std::size_t c : kept)
    if (c < table.units.size()) rest.units.push_back(table.units[c]);
  for (std::size_t r = 0; r < table.rows; ++r)
    for (const std::size_t c : kept) rest.values.push_back(table.at(r, c));
  std::erase_if(rest.text, [&](const TextCell& cell) { return place[cell.column] == table.columns.size(); });
  for (TextCell& cell : rest.text) cell.column = place[cell.column];
  return rest;
}

int fit_target(const FitCommand& o, const Table& table, const FitOptions& options,
               const std::optional<Expression>& scored, const std::optional<Expression>& given,
               const Interruptible& interruptible) {
  const bool exports = !o.format.empty() || !o.out.empty();
  const std::string out = replaced(o.out, "{target}", options.target);
  if (!out.empty()) {
    if (Status possible = may_write(out); !possible) return fail(possible.error());
  }
  std::error_code none;
  if (!out.empty() && std::filesystem::equivalent(out, o.data, none))
    return fail({fmt::format("{}: the export would replace the table; name another file with -o.", out)});
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
  const Result<Fit> result = scored  ? score(table, options, *scored)
                             : given ? fit_form(table, options, *given, watch)
                                     : fit(table, options, watch);
  progress.finish();
  if (!result) return fail({fmt::format("{}: {}", o.data, result.error().message)});
  const int interrupted = Interruptible::flag() ? Interruptible::exit_code() : yes;
  if (result->candidates.empty()) {
    tell("nalm: {}.\n", result->reason);
    return interrupted != yes ? interrupted : no;
  }
  if (!table.has_header && !o.quiet)
    tell("Every cell of the first row is a number, so the table has no header: its columns are x1 to x{}.\n",
         table.columns.size());
  // Only the export goes to standard output when it goes there.
  const bool summary_aside = exports && out.empty();
  FitCommand one = o;
  one.target = options.target;
  if (!o.quiet || !exports)
    write_text(summary_aside ? stderr : stdout, summary(*result, options, scored || given, command_of(one)));
  const bool usable = result->verdict() != Verdict::None && result->verified;
  const bool good = usable && (result->is_law() || o.accept == "approximation");
  if (exports && usable) {
    if (Status written = write_export(*result, table, one, out); !written) return fail(written.error());
    if (!out.empty() && !o.quiet) put("Written to {}\n", out);
  } else if (exports) {
    tell("nalm: nothing was written, because there is no formula to trust.\n");
  }
  if (interrupted != yes) return interrupted;
  return good ? yes : no;
}

int run_fit(const FitCommand& o) {
  Result<Table> table = read_table_file(o.data, Cells::Words);
  // A column may have a comma in its name.
  const bool one_column =
      table && std::find(table->columns.begin(), table->columns.end(), o.target) != table->columns.end();
  const std::vector<std::string> targets = one_column ? std::vector{o.target} : names_in(o.target);
  if (Status possible = check(o, targets); !possible) return fail(possible.error());
  const Result<std::optional<Expression>> scored = formula_of(o.score, "--score"),
                                          given = formula_of(o.given, "--given");
  if (!scored) return fail(scored.error());
  if (!given) return fail(given.error());
  if (!table) return fail(table.error());
  if (Status units = take_units(*table); !units) return fail({fmt::format("{}: {}", o.data, units.error().message)});

  for (const std::string& target : targets) {
    if (targets.size() > 1 && std::find(table->columns.begin(), table->columns.end(), target) == table->columns.end())
      return fail({fmt::format("{}: the table has no column \"{}\" for the target; its columns are {}.", o.data, target,
                               fmt::join(table->columns, ", "))});
  }

  FitOptions options;
  options.inputs = names_in(o.inputs);
  options.stack = o.model;
  options.functions = read_functions(o.functions);
  options.powers = o.powers == "integer" ? Powers::Integer : o.powers == "half" ? Powers::Half : Powers::Any;
  if (!o.units.empty()) {
    Result<std::vector<std::pair<std::string, std::string>>> units = read_units(o.units);
    if (!units) return fail({fmt::format("--units: {}", units.error().message)});
    options.units = std::move(*units);
  }
  options.use = names_in(o.use);
  options.by = o.by;
  options.weights = o.weights;
  options.sigma = o.sigma;
  options.relative = o.relative;
  options.robust = o.robust;
  options.seed = o.seed;
  options.threads = o.threads;
  options.time_limit = o.time_limit;

  const Interruptible interruptible;
  int worst = yes;
  for (const std::string& target : targets) {
    options.target = target;
    if (targets.size() > 1 && !o.quiet) tell("{}{}\n", &target == &targets.front() ? "" : "\n", target);
    const int code = targets.size() == 1 ? fit_target(o, *table, options, *scored, *given, interruptible)
                                         : fit_target(o, without_columns(*table, targets, target), options, *scored,
                                                      *given, interruptible);
    worst = std::max(worst, code);
    if (Interruptible::flag()) break;
  }
  return worst;
}

}  // namespace

void add_fit(Program& program) {
  static FitCommand o;
  program
      .add("fit",
           "Find the formula behind a table: + - * /, powers, constants, sums of products, ratios of sums and "
           "comparison; functions such as sin and exp with --functions")
      .word("data", o.data, "Table (CSV: comma, semicolon or tab); - is standard input")
      .text("--target", o.target, "The column that the formula should give; several, such as y,z, one after the other")
      .text("--inputs", o.inputs, "Columns that it may use, such as a,b,c; all others if not given")
      .text("--model", o.model, "Train only this stack, such as \"NAU:2,NMU:1\"; a scale and an offset are added")
      .choice("--powers", o.powers, {"integer", "half", "any"}, "Powers that may appear")
      .text("--functions", o.functions,
            "Functions that may appear besides: some of exp,log,sin,cos,tanh,asin,acos, or all")
      .text("--units", o.units,
            "Units of the columns, such as \"m:kg,v:m/s,E:J\"; formulas that fit them are looked for first, and "
            "constants "
            "have units. A row of units below the header does the same")
      .text("--use", o.use, "Columns that must appear, such as a,b")
      .text("--by", o.by, "Column of groups: each has a constant of its own, a factor or what is added")
      .text("--weights", o.weights, "Column that says how much each row's squared error counts")
      .text("--sigma", o.sigma, "Column with the standard error of each row's target")
      .flag("--relative", o.relative, "Errors count in proportion to the target")
      .flag("--robust", o.robust, "Find rows that are far off, list them and leave them out")
      .text("--given", o.given, "Fit the constants of this form instead of searching, such as \"c1*x/(x + K)\"")
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
          "  nalm fit puromycin.csv --target rate --inputs conc --given \"Vmax*conc/(K + conc)\"\n"
          "  nalm fit swing.csv --target y --functions sin,exp\n"
          "  nalm fit mammals.csv --target brain --relative --powers any\n"
          "  nalm fit growth.csv --target height --by species\n"
          "  nalm fit motion.csv --target E --units \"m:kg,v:m/s,h:m,E:J\"\n"
          "Exit code 0: a law was found; 1: an approximation (0 with --accept approximation) or nothing; 2: bad data; "
          "130 "
          "after Ctrl-C.")
      .run([] {
        if (o.target.empty()) return fail({"--target must name the column that the formula should give."});
        return run_fit(o);
      });
}

}  // namespace nalm::cli
