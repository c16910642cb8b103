#include "tasks/formulas/formula_fits.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/csv.hpp"
#include "base/text.hpp"
#include "base/write_file.hpp"
#include "nalm/fit.hpp"

namespace nalm {
namespace {

struct Tables {
  std::vector<FormulaCase> formulas;
  std::vector<int> rows;
  std::vector<double> noise;
};

template <class T>
Result<std::vector<T>> numbers_of(std::string_view name, std::string_view text, T lowest, T highest) {
  std::vector<T> numbers;
  for (const std::string_view part : split(text)) {
    const std::optional<T> value = number_in<T>(part);
    if (!value || !(*value >= lowest && *value <= highest))
      return Error{fmt::format("--{} must be numbers from {} to {}, separated by commas, unlike \"{}\".", name, lowest,
                               highest, part)};
    if (std::find(numbers.begin(), numbers.end(), *value) != numbers.end())
      return Error{fmt::format("--{} names {} twice.", name, part)};
    numbers.push_back(*value);
  }
  return numbers;
}

std::string_view name_of(NoiseUnit unit) { return unit == NoiseUnit::RootMeanSquare ? "rms" : "deviation"; }

Result<Tables> tables_of(const Plan& plan, const FormulaBenchmark& benchmark) {
  if (!plan.operations.empty() || !plan.settings.empty())
    return Error{
        fmt::format("--task {} takes --only, --rows, --noise and --part; leave --operations and --settings away.",
                    plan.task->name)};
  const bool quick = plan.preset == "quick";
  const auto given = [&](std::string_view name, std::string_view usual) {
    const std::string text = plan.option(name);
    return text.empty() ? std::string(usual) : text;
  };
  const std::string part = given("part", quick ? "all" : benchmark.parts.front());
  if (part != "all" && std::find(benchmark.parts.begin(), benchmark.parts.end(), part) == benchmark.parts.end())
    return Error{fmt::format("--part must be {} or all, unlike \"{}\".", fmt::join(benchmark.parts, ", "), part)};
  const auto rows = numbers_of<int>("rows", given("rows", quick ? "200" : benchmark.rows), 20, 1000000);
  if (!rows) return rows.error();
  const auto noise = numbers_of<double>("noise", given("noise", quick ? "0" : benchmark.noise), 0, 10);
  if (!noise) return noise.error();
  Result<std::vector<FormulaCase>> set = benchmark.formulas();
  if (!set) return set.error();
  const std::vector<std::string_view> names = split(plan.models);
  const auto wanted = [&](const FormulaCase& formula) {
    if (!plan.models.empty())
      return std::any_of(names.begin(), names.end(), [&](std::string_view n) { return same_name(n, formula.name); });
    return (part == "all" || part == formula.part) &&
           (!quick || std::find(benchmark.quick.begin(), benchmark.quick.end(), formula.name) != benchmark.quick.end());
  };
  for (const std::string_view name : names)
    if (!plan.models.empty() &&
        std::none_of(set->begin(), set->end(), [&](const FormulaCase& f) { return same_name(name, f.name); }))
      return Error{fmt::format("there is no formula {} in the set; data/{}.csv and --emit DIR list them.", name,
                               plan.task->name)};
  Tables tables{{}, *rows, *noise};
  for (FormulaCase& formula : *set)
    if (wanted(formula)) tables.formulas.push_back(std::move(formula));
  return tables;
}

// What a fit of this table says. The order of the measures and of the facts is that of the columns of the table.
Result<RunRecord> fit_again(const FormulaBenchmark& benchmark, const FormulaCase& formula, int rows, double noise,
                            const std::vector<std::string>& functions, const OwnRunSettings& settings) {
  const Result<Table> table =
      make_table(formula, static_cast<std::size_t>(rows), noise, settings.seed, benchmark.noise_unit);
  if (!table) return table.error();
  FitOptions options;
  options.target = formula.target;
  options.powers = formula.powers;
  options.functions = functions;
  options.seed = settings.seed;
  options.threads = settings.threads;
  FitWatch watch;
  watch.stop = settings.stop;
  watch.progress = [&](const FitProgress& now) {
    if (settings.progress) settings.progress(now.share);
  };
  // A learning rate of 0 must teach nothing: then there is no search either.
  const bool learns = !settings.learning_rate || *settings.learning_rate > 0;
  const Result<Fit> result = learns ? fit(*table, options, watch) : Result<Fit>(Error{"nothing was searched."});
  FormulaVerdict verdict;
  verdict.words = "no formula";
  RunRecord record;
  std::string remark;
  double held_out = 0;
  if (result) {
    verdict = judge_fit(formula, *result, noise > 0, benchmark.rule);
    remark = result->reason;
    if (!result->candidates.empty()) {
      record.note = print(result->best().formula);
      held_out = result->best().held_out.relative;
    }
  } else {
    remark = result.error().message;
  }
  record.steps = {0};
  record.values = {{verdict.recovered ? 1.0 : 0.0, held_out, verdict.error, static_cast<double>(verdict.points)}};
  record.parameters = {{}};
  record.facts = {{"name", formula.name},
                  {"part", formula.part},
                  {"family", formula.family},
                  {"rows", std::to_string(rows)},
                  {"noise", fmt::format("{}", noise)},
                  {"seed", std::to_string(settings.seed)},
                  {"recovered", verdict.recovered ? "1" : "0"},
                  {"verdict", verdict.words},
                  {"seconds", ""},
                  {"held_out_error", fmt::format("{:.6g}", held_out)},
                  {std::string(benchmark.rule.error_name), fmt::format("{:.6g}", verdict.error)},
                  {"points", std::to_string(verdict.points)},
                  {"found", record.note},
                  {"formula", formula.text},
                  {"remark", remark},
                  {"claim", std::string(result ? name_of(result->verdict()) : "none")},
                  {"false_law", result && !verdict.recovered && is_false_law(formula, *result) ? "1" : "0"},
                  {"noise_unit", std::string(name_of(benchmark.noise_unit))}};
  return record;
}

}  // namespace

Result<std::vector<Cell>> formula_cells(const Plan& plan, const FormulaBenchmark& benchmark) {
  const Result<Tables> tables = tables_of(plan, benchmark);
  if (!tables) return tables.error();
  const std::vector<std::string> functions = read_functions(plan.option("functions"));
  std::vector<Cell> cells;
  for (const FormulaCase& formula : tables->formulas) {
    for (const int rows : tables->rows) {
      for (const double noise : tables->noise) {
        const std::string_view unit = benchmark.noise_unit == NoiseUnit::RootMeanSquare ? " rms" : "";
        Cell cell(formula.name, formula.family, fmt::format("{} rows, noise {}{}", rows, noise, unit));
        cell.measures = {{"recovered", Measure::Kind::Other},
                         {"held_out_error", Measure::Kind::Other},
                         {std::string(benchmark.rule.error_name), Measure::Kind::Other},
                         {"points", Measure::Kind::Other}};
        cell.goal = {"recovered", "", 0.5, true, {}};
        cell.own = [&benchmark, formula, rows, noise, functions](const OwnRunSettings& settings) {
          return fit_again(benchmark, formula, rows, noise, functions, settings);
        };
        cell.own_uses_all_threads = true;
        cells.push_back(std::move(cell));
      }
    }
  }
  return cells;
}

Result<std::size_t> emit_tables(const Plan& plan, const FormulaBenchmark& benchmark, const std::string& folder) {
  const Result<Tables> tables = tables_of(plan, benchmark);
  if (!tables) return tables.error();
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return Error{fmt::format("{}: the folder cannot be made ({}).", folder, failed.message())};
  std::string index = "file,part,family,target,formula\n";
  std::size_t written = 0;
  for (const FormulaCase& formula : tables->formulas) {
    for (const int rows : tables->rows) {
      for (const double noise : tables->noise) {
        const Result<Table> table =
            make_table(formula, static_cast<std::size_t>(rows), noise, plan.seeds.front(), benchmark.noise_unit);
        if (!table) return table.error();
        const std::string name = fmt::format("{}-{}-{}.csv", formula.name, rows, noise);
        FileWriter file(folder + "/" + name);
        for (std::size_t k = 0; k < table->columns.size(); ++k) file.write((k ? "," : "") + table->columns[k]);
        file.write("\n");
        for (std::size_t row = 0; row < table->rows; ++row)
          for (std::size_t k = 0; k < table->columns.size(); ++k)
            file.write(fmt::format("{}{}", table->at(row, k), k + 1 < table->columns.size() ? "," : "\n"));
        if (Status done = file.finish(); !done) return done.error();
        index +=
            fmt::format("{},{},{},{},{}\n", name, formula.part, formula.family, formula.target, csv_cell(formula.text));
        ++written;
      }
    }
  }
  if (Status done = write_file(folder + "/formulas.csv", index); !done) return done.error();
  return written;
}

}  // namespace nalm
