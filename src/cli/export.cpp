// nalm export: one run of a benchmark as a model file, or the formula of a model file in another language.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "base/write_file.hpp"
#include "cli/judgement.hpp"
#include "experiment/summary.hpp"
#include "formula/exports.hpp"
#include "nalm/fit.hpp"
#include "nalm/model.hpp"

namespace nalm::cli {
namespace {

struct ExportCommand {
  std::vector<std::string> words;
  std::string folder = default_folder, model, operation, setting, format, out;
  std::optional<long> seed, step;
};

// Leaves the cells whose part has the name. A setting may be given by its number in the folder's own list, which for
// the whole grid is the paper's, and a range without its U.
Status keep(std::vector<std::size_t>& chosen, const std::vector<Cell>& cells, std::string Cell::*part,
            const std::string& name, std::string_view option, const std::string& folder) {
  std::vector<std::string> known;
  for (const std::size_t c : chosen)
    if (std::find(known.begin(), known.end(), cells[c].*part) == known.end()) known.push_back(cells[c].*part);
  if (name.empty() && known.size() == 1) return Done{};
  const auto is = [&](const std::string& candidate, std::size_t number) {
    return same_name(candidate, name) || candidate == "U" + name ||
           (part == &Cell::setting && name == std::to_string(number));
  };
  std::string wanted;
  for (std::size_t k = 0; k < known.size() && wanted.empty(); ++k)
    if (!name.empty() && is(known[k], k)) wanted = known[k];
  if (wanted.empty())
    return Error{name.empty()
                     ? fmt::format("{} has several; choose one with --{}: {}.", folder, option, fmt::join(known, ", "))
                     : fmt::format("{} has no {} \"{}\"; it has {}.", folder, option, name, fmt::join(known, ", "))};
  std::erase_if(chosen, [&](std::size_t c) { return cells[c].*part != wanted; });
  return Done{};
}

// A word that is the name of a module, and of no folder, is the module.
Status name_words(ExportCommand& o) {
  bool has_folder = false;
  for (const std::string& word : o.words) {
    std::error_code ignored;
    const bool is_module = !std::filesystem::exists(word, ignored) && find_module(word);
    if (is_module ? !o.model.empty() : has_folder)
      return Error{
          fmt::format("\"{}\" is one {} too many; nalm export writes one run.", word, is_module ? "module" : "folder")};
    (is_module ? o.model : o.folder) = word;
    has_folder = has_folder || !is_module;
  }
  return Done{};
}

int export_run(const ExportCommand& o) {
  const Result<Store> store = Store::read(o.folder);
  if (!store) return fail(store.error());
  const std::vector<Cell>& cells = store->cells();
  const Task& task = *store->info().plan.task;
  std::vector<std::size_t> chosen;
  for (std::size_t c = 0; c < cells.size(); ++c) chosen.push_back(c);
  if (Status kept = keep(chosen, cells, &Cell::model, o.model, task.model_word, o.folder); !kept)
    return fail(kept.error());
  if (Status kept = keep(chosen, cells, &Cell::operation, o.operation, "operation", o.folder); !kept)
    return fail(kept.error());
  if (Status kept = keep(chosen, cells, &Cell::setting, o.setting, task.setting_word, o.folder); !kept)
    return fail(kept.error());
  const Cell& cell = cells[chosen.front()];
  const long seed = o.seed.value_or(store->info().plan.seeds.front());
  std::optional<FinishedRun> found;
  const Status read = store->for_each_run(
      [&](const FinishedRun& run) -> Status {
        if (run.id.seed == static_cast<std::uint64_t>(seed)) found = run;
        return Done{};
      },
      chosen.front());
  if (!read) return fail(read.error());
  if (!found) return fail({fmt::format("{} has no run of {} with seed {}.", o.folder, cell.name(), seed)});
  const Result<RunResult> result = judge(cell, found->record, found->id.seed);
  if (!result) return fail(result.error());
  std::size_t row = result->judged_row;
  if (o.step) {
    const std::vector<long>& steps = found->record.steps;
    row = static_cast<std::size_t>(std::find(steps.begin(), steps.end(), *o.step) - steps.begin());
    if (row == steps.size())
      return fail({fmt::format("step {} was not logged; logged are {} to {}.", *o.step, steps.front(), steps.back())});
  }
  const Result<Model> model = model_at(cell, found->record, row);
  if (!model) return fail(model.error());
  if (o.out.empty()) {
    write_data(to_json(*model));
    return yes;
  }
  if (Status saved = save_model(*model, o.out); !saved) return fail(saved.error());
  put("Written: {} (step {}, {}).\n", o.out, found->record.steps[row],
      result->success ? "a solved run" : "a run that failed");
  return yes;
}

// A model file that nalm fit wrote.
int export_model(const ExportCommand& o, const std::string& path) {
  if (!o.model.empty() || !o.operation.empty() || !o.setting.empty() || o.seed || o.step)
    return fail(
        {fmt::format("{} is one model; --module, --operation, --range, --seed and --step choose from a folder "
                     "with results.",
                     path)});
  if (o.format.empty())
    return fail(
        {fmt::format("{} is a model file already; choose a language with --format: {}.", path, format_names())});
  const Result<FormulaFormat> format = find_format(o.format);
  if (!format) return fail({fmt::format("--format: {}.", format.error().message)});
  const Result<std::string> file = read_file(path, "model file");
  if (!file) return fail(file.error());
  const Result<Model> model = parse_model(*file, path);
  if (!model) return fail(model.error());
  const Result<FittedModel> fitted = read_fitted(*file, path);
  if (!fitted) return fail(fitted.error());
  const Result<Expression> formula = stated_formula(*model);
  if (!formula) return fail({fmt::format("{}: {}", path, formula.error().message)});
  if (!fitted->groups.groups.empty())
    return fail(
        {fmt::format("{}: the formula has a constant for each group of \"{}\", which no language of nalm export "
                     "has; use nalm predict.",
                     path, fitted->groups.column)});
  std::string text;
  if (fitted->verdict == "approximation" || fitted->verdict == "none")
    text =
        formula::remark(*format, "An approximation inside the data, and no law: nothing is claimed outside of them.");
  text += export_formula(*formula, model->target.empty() ? "y1" : model->target, model->column_names(), *format, 2,
                         positive_columns(fitted->box));
  if (text.back() != '\n') text += '\n';
  if (o.out.empty()) {
    write_data(text);
    return yes;
  }
  if (Status written = write_file(o.out, text); !written) return fail(written.error());
  put("Written: {}\n", o.out);
  return yes;
}

// The one word that is a file, such as model.json.
std::optional<std::string> model_file(const ExportCommand& o) {
  std::error_code ignored;
  if (o.words.size() == 1 && std::filesystem::is_regular_file(o.words[0], ignored)) return o.words[0];
  return std::nullopt;
}

}  // namespace

void add_export(Program& program) {
  static ExportCommand o;
  program.add("export", "Write one run of a benchmark as a model file, or the formula of a fit in another language")
      .words("what", o.words,
             fmt::format("Folder with results ({} if not given), and the module; or a model file of nalm fit",
                         default_folder),
             Value::Folder)
      .text("--format", o.format, fmt::format("Of a model file's formula: {}", format_names()))
      .text("--module,--model", o.model, "Module, or another model of the task", Value::Module)
      .text("--operation", o.operation, "add, sub, mul or div, or another of the task", Value::Operation)
      .text("--range,--setting", o.setting, "Training range, such as \"[1,2)\", or another setting of the task")
      .number("--seed", o.seed, 0, 4294967295, "Seed of the run; the first one if not given")
      .number("--step", o.step, 0, 1000000000, "Logged iteration; the one where the run is judged if not given")
      .text("-o,--output", o.out, "Write to this file instead of standard output", Value::File)
      .example(
          "  nalm export NMU --operation mul --range \"[1,2)\" --seed 3 -o nmu.json\n"
          "  nalm explain nmu.json --input 2,3\n"
          "  nalm export model.json --format numpy > formula.py     a model file of nalm fit --format json")
      .run([] {
        if (!o.out.empty())
          if (Status possible = may_write(o.out); !possible) return fail(possible.error());
        if (const std::optional<std::string> file = model_file(o)) return export_model(o, *file);
        if (!o.format.empty())
          return fail({"--format is for a model file of nalm fit; a run of a benchmark is written as a model file."});
        if (Status named = name_words(o); !named) return fail(named.error());
        return export_run(o);
      });
}

}  // namespace nalm::cli
