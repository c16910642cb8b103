// nalm check: does every module's backward pass agree with its forward pass?
#include <fmt/format.h>

#include "cli/command.hpp"
#include "nalm/check.hpp"

namespace nalm::cli {

namespace {

std::string failure(const CheckedGradient& g) {
  return fmt::format("FAILED at {}: backward gives {:.9g}, differences of forward {:.9g}", g.worst_place,
                     g.worst_backward, g.worst_difference);
}

int check(const std::vector<std::string>& names, const CheckSettings& settings) {
  std::vector<const ModuleInfo*> chosen;
  for (const std::string& name : names) {
    const Result<const ModuleInfo*> module = find_module(name);
    if (!module) return fail(module.error());
    chosen.push_back(*module);
  }
  if (chosen.empty()) chosen = all_modules();
  put("Gradients against central differences, in double; errors relative to the largest gradient of the tensor.\n");
  const std::size_t width = module_column(chosen);
  put("{:<{}}{:<11}{:>12}{:>10}{:>10}  {}\n", "module", width, "parameter", "worst error", "compared", "at kinks", "");
  int failures = 0;
  for (const ModuleInfo* module : chosen) {
    const Result<ModuleCheck> result = check_gradients(*module, settings);
    if (!result) return fail(result.error());
    bool first = true;
    for (const CheckedGradient& g : result->gradients) {
      const bool good = g.worst_error <= settings.tolerance && g.compared > 0;
      put("{:<{}}{:<11}{:>12.1e}{:>10}{:>10}  {}\n", first ? module->name : "", width, g.name, g.worst_error,
          g.compared, g.at_kinks, good ? "ok" : failure(g));
      first = false;
    }
    flush_output();
    if (!result->passed) ++failures;
  }
  put("{} of {} modules agree to {:.0e} (seed {}).\n", static_cast<int>(chosen.size()) - failures, chosen.size(),
      settings.tolerance, settings.seed);
  return failures == 0 ? yes : no;
}

}  // namespace

void add_check(Program& program) {
  static std::vector<std::string> names;
  static CheckSettings settings;
  program.add("check", "Check gradients: backward against differences of forward")
      .words("module", names, "Modules to check; all of them if none is named", Value::Module)
      .number("--seed", settings.seed, "Seed of the random shapes, parameters and inputs")
      .number("--cases", settings.cases, 1, 1000000, "Random cases per module")
      .numbers("--inputs", settings.inputs, 1, 10000, "Numbers of inputs to try, such as 1,2,100")
      .numbers("--outputs", settings.outputs, 1, 1000, "Numbers of outputs to try (NSR: comparisons)")
      .number("--tolerance", settings.tolerance, "Largest error that counts as agreement")
      .example("  nalm check\n  nalm check NMU NPU --inputs 1,2,100 --cases 50\nExit code 1 if a module disagrees.")
      .run([] { return check(names, settings); });
}

}  // namespace nalm::cli
