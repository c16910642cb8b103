// nalm export: one run of a benchmark as a model file.
#include <fmt/format.h>

#include "bench/metrics.hpp"
#include "cli/judgement.hpp"
#include "nalm/model.hpp"

namespace nalm::cli {
namespace {

struct Options {
  std::string folder = default_folder, module, operation, range, out;
  std::uint64_t seed = 0;
  std::optional<long> step;
};

int export_run(const Options& o) {
  const Result<RunStore> store = RunStore::read(o.folder);
  if (!store) return fail(store.error());
  const Result<const ModuleInfo*> module = find_module(o.module);
  if (!module) return fail(module.error());
  const Result<Operation> operation = parse_operation(o.operation);
  if (!operation) return fail(operation.error());
  const Result<StoreInfo> info = store->info();
  if (!info) return fail(info.error());
  // A number counts in the folder's own list, which for the whole grid is the paper's.
  std::string wanted, known;
  for (std::size_t k = 0; k < info->grid.ranges.size(); ++k) {
    const std::string name = name_of(info->grid.ranges[k].train);
    if (o.range == std::to_string(k) || o.range == name || "U" + o.range == name) wanted = name;
    known += (k ? ", " : "") + name;
  }
  if (wanted.empty()) return fail({fmt::format("{} has no range \"{}\"; it has {}.", o.folder, o.range, known)});
  const Result<std::vector<Run>> runs = store->runs(Pair{*module, *operation});
  if (!runs) return fail(runs.error());
  for (const Run& run : *runs) {
    if (name_of(run.id.range.train) != wanted || run.id.seed != o.seed) continue;
    const Result<RunResult> result = judge(run, {});
    if (!result) return fail(result.error());
    std::size_t row = result->best_row;
    if (o.step) {
      const auto& steps = run.series.steps;
      row = static_cast<std::size_t>(std::find(steps.begin(), steps.end(), *o.step) - steps.begin());
      if (row == steps.size())
        return fail(
            {fmt::format("step {} was not logged; logged are {} to {}.", *o.step, steps.front(), steps.back())});
    }
    const Result<Model> model = model_at(run, row);
    if (!model) return fail(model.error());
    if (o.out.empty()) {
      fmt::print("{}", to_json(*model));
      return yes;
    }
    if (Status saved = save_model(*model, o.out); !saved) return fail(saved.error());
    fmt::print("Written: {} (step {}, {}).\n", o.out, run.series.steps[row],
               result->success ? "a solved run" : "a run that failed");
    return yes;
  }
  return fail({fmt::format("{} has no run of {} {} on {} with seed {}.", o.folder, (*module)->name, name_of(*operation),
                           wanted, o.seed)});
}

}  // namespace

void add_export(Program& program) {
  static Options o;
  program.add("export", "Write one run of a benchmark as a model file")
      .optional_word("folder", o.folder, "Folder with results")
      .text("--module", o.module, "Module")
      .text("--operation", o.operation, "add, sub, mul or div")
      .text("--range", o.range, "Training range, such as \"[1,2)\"")
      .number("--seed", o.seed, "Seed of the run")
      .number("--step", o.step, 0, 1000000000,
              "Logged iteration; the one with the smallest validation error if not given")
      .text("-o,--output", o.out, "Write to this file instead of standard output")
      .example(
          "  nalm export --module NMU --operation mul --range \"[1,2)\" --seed 3 -o nmu.json\n"
          "  nalm explain nmu.json --input 2,3")
      .run([] { return export_run(o); });
}

}  // namespace nalm::cli
