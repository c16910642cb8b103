// How many of a set of formulas `nalm fit` finds again: a cell is a formula and a table made from it, a run is a fit.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/csv.hpp"
#include "base/text.hpp"
#include "base/write_file.hpp"
#include "nalm/fit.hpp"
#include "tasks/formulas/formula_judge.hpp"
#include "tasks/formulas/formula_set.hpp"
#include "tasks/formulas/formulas.hpp"

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

bool is_quick(std::string_view name) {
  return name == "friction_force" || name == "kinetic_energy_3d" || name == "parallel_resistors";
}

Result<Tables> tables_of(const Plan& plan) {
  if (!plan.operations.empty() || !plan.settings.empty())
    return Error{"--task formulas takes --only, --rows, --noise and --part; leave --operations and --settings away."};
  const bool quick = plan.preset == "quick";
  const auto given = [&](std::string_view name, std::string_view usual) {
    const std::string text = plan.option(name);
    return text.empty() ? std::string(usual) : text;
  };
  const std::string part = given("part", quick ? "all" : "tune");
  if (part != "tune" && part != "unseen" && part != "all")
    return Error{fmt::format("--part must be tune, unseen or all, unlike \"{}\".", part)};
  const auto rows = numbers_of<int>("rows", given("rows", quick ? "200" : "200,10000"), 20, 1000000);
  if (!rows) return rows.error();
  const auto noise = numbers_of<double>("noise", given("noise", quick ? "0" : "0,0.01,0.1"), 0, 10);
  if (!noise) return noise.error();
  Result<std::vector<FormulaCase>> set = formula_set();
  if (!set) return set.error();
  const std::vector<std::string_view> names = split(plan.models);
  const auto wanted = [&](const FormulaCase& formula) {
    if (!plan.models.empty())
      return std::any_of(names.begin(), names.end(), [&](std::string_view n) { return same_name(n, formula.name); });
    return (part == "all" || part == formula.part) && (!quick || is_quick(formula.name));
  };
  for (const std::string_view name : names)
    if (!plan.models.empty() &&
        std::none_of(set->begin(), set->end(), [&](const FormulaCase& f) { return same_name(name, f.name); }))
      return Error{fmt::format("there is no formula {} in the set; data/formulas.csv and --emit DIR list them.", name)};
  Tables tables{{}, *rows, *noise};
  for (FormulaCase& formula : *set)
    if (wanted(formula)) tables.formulas.push_back(std::move(formula));
  return tables;
}

// What a fit of this table says. The order of the measures and of the facts is that of the columns of the table.
Result<RunRecord> fit_again(const FormulaCase& formula, int rows, double noise, const OwnRunSettings& settings) {
  const Result<Table> table = make_table(formula, static_cast<std::size_t>(rows), noise, settings.seed);
  if (!table) return table.error();
  FitOptions options;
  options.target = formula.target;
  options.powers = formula.powers;
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
    verdict = judge_fit(formula, *result, noise > 0);
    remark = result->reason;
    if (!result->candidates.empty()) {
      record.note = print(result->best().formula);
      held_out = result->best().held_out.relative;
    }
  } else {
    remark = result.error().message;
  }
  record.steps = {0};
  record.values = {
      {verdict.recovered ? 1.0 : 0.0, held_out, verdict.largest_error, static_cast<double>(verdict.points)}};
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
                  {"largest_error", fmt::format("{:.6g}", verdict.largest_error)},
                  {"points", std::to_string(verdict.points)},
                  {"found", record.note},
                  {"formula", formula.text},
                  {"remark", remark}};
  return record;
}

Result<std::vector<Cell>> formula_cells(const Plan& plan, std::vector<std::string>&) {
  const Result<Tables> tables = tables_of(plan);
  if (!tables) return tables.error();
  std::vector<Cell> cells;
  for (const FormulaCase& formula : tables->formulas) {
    for (const int rows : tables->rows) {
      for (const double noise : tables->noise) {
        Cell cell(formula.name, formula.family, fmt::format("{} rows, noise {}", rows, noise));
        cell.measures = {{"recovered", Measure::Kind::Other},
                         {"held_out_error", Measure::Kind::Other},
                         {"largest_error", Measure::Kind::Other},
                         {"points", Measure::Kind::Other}};
        cell.goal = {"recovered", "", 0.5, true, {}};
        cell.own = [formula, rows, noise](const OwnRunSettings& settings) {
          return fit_again(formula, rows, noise, settings);
        };
        cell.own_uses_all_threads = true;
        cells.push_back(std::move(cell));
      }
    }
  }
  return cells;
}

}  // namespace

Result<std::size_t> emit_tables(const Plan& plan, const std::string& folder) {
  if (plan.task->name != "formulas")
    return Error{"--emit writes the tables of --task formulas; add that, or leave it away."};
  const Result<Tables> tables = tables_of(plan);
  if (!tables) return tables.error();
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return Error{fmt::format("{}: the folder cannot be made ({}).", folder, failed.message())};
  std::string index = "file,part,family,target,formula\n";
  std::size_t written = 0;
  for (const FormulaCase& formula : tables->formulas) {
    for (const int rows : tables->rows) {
      for (const double noise : tables->noise) {
        const Result<Table> table = make_table(formula, static_cast<std::size_t>(rows), noise, plan.seeds.front());
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

extern const Task formulas_task{
    .name = "formulas",
    .title = "Formulas that `nalm fit` finds again",
    .source = "data/formulas.csv",
    .settings =
        "Tables made from known formulas, with columns that do not matter, with and without Gaussian noise (a share of "
        "the target's standard deviation). Recovered: without noise, the formula that was found gives the true values "
        "to 1e-6 on a box ten times as wide; with noise, it is the true one with every constant inside its interval.",
    .presets = {{"quick", "three formulas, 200 rows, without noise", 1, "seconds"},
                {"full", "the formulas of --part, with every number of rows and every noise", 1,
                 "a quarter of an hour"}},
    .checks = {{"", "!comparison", "*noise 0", "success", true, 0.9, ""},
               {"", "!comparison", "*noise 0.01", "success", true, 0.8, ""}},
    .options = {{"rows", "rows of the tables, such as 200,10000 (both)"},
                {"noise", "noise as shares of the target's standard deviation (0,0.01,0.1)"},
                {"part", "tune (the default), unseen or all of the set; who works on the search leaves unseen alone"}},
    .cells = formula_cells,
    .model_word = "name",
    .setting_word = "setting",
    .layout = Task::Layout::Runs,
    .first_seed = 1,
};

}  // namespace nalm
