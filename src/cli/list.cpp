// nalm list: what modules and tasks there are, and everything about one of them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include "base/json.hpp"

#include "cli/command.hpp"
#include "cli/list_tasks.hpp"
#include "cli/wrap.hpp"
#include "nalm/module.hpp"
#include "tasks/single_module/recipes.hpp"
#include "train/recipe_fields.hpp"

namespace nalm::cli {

namespace {

std::string text_of(const modules::Start& start) {
  // In the order of Start::Kind.
  static constexpr std::string_view words[] = {"{}",
                                               "uniform in ({}, {})",
                                               "normal, mean {}, deviation {}",
                                               "uniform in +-sqrt(6/(inputs + outputs))",
                                               "normal, deviation sqrt(2/(rows + columns))",
                                               "uniform in +-min(1/2, sqrt(6/(inputs + outputs)))",
                                               "uniform in +-r, var(W) = 2/max(inputs + outputs, 5)",
                                               "orthonormal"};
  return fmt::format(fmt::runtime(words[static_cast<std::size_t>(start.kind)]), start.a, start.b);
}

std::string text_of(const Axes& axes) {
  static constexpr std::string_view words[] = {"[input]", "[output]", "[comparison]", "[path]", "[1]"};
  std::string text;
  for (int k = 0; k < axes.count; ++k) text += words[static_cast<std::size_t>(axes.axis[static_cast<std::size_t>(k)])];
  return text;
}

// How the module is trained, and where the benchmark does it differently: there, by what.
using Habits = std::vector<std::pair<std::string, std::vector<std::string>>>;
Habits habits(const ModuleInfo& module) {
  Habits result{{"", recipe_in_words(module.recipe())}};
  for (const int inputs : {2, 10}) {
    for (const Operation operation : module.operations) {
      std::vector<std::string> lines = recipe_in_words(single_module_recipe(module, operation, inputs));
      std::erase_if(lines, [&](const std::string& line) {
        return std::find(result[0].second.begin(), result[0].second.end(), line) != result[0].second.end();
      });
      const auto same = std::find_if(result.begin(), result.end(), [&](const auto& h) { return h.second == lines; });
      const std::string name =
          inputs == 2 ? fmt::format("benchmark, {}", name_of(operation)) : fmt::format("benchmark, {} inputs", inputs);
      if (!lines.empty() && same == result.end()) result.push_back({name, std::move(lines)});
    }
  }
  return result;
}

std::string operations_text(const ModuleInfo& module) {
  std::string text;
  for (Operation operation : module.operations) text += (text.empty() ? "" : " ") + std::string(name_of(operation));
  return text.empty() ? "-" : text;
}

}  // namespace

void print_module(const ModuleInfo& m) {
  put("{}: {}\n\n", m.name, m.title);
  print_field("formula", m.formula);
  if (!m.training_form.empty()) print_field("trained as", m.training_form);
  print_field("learned", m.learned);
  print_field("operations", operations_text(m));
  print_field("citation", m.citation);
  put("\nparameters\n");
  for (const ParameterInfo& p : m.parameters) {
    put("  {:<10}{:<28}{}\n", p.name, text_of(p.axes), wrap(p.meaning, 40));
    put("  {:<38}starts {}{}\n", "", text_of(p.start),
        p.clamp ? fmt::format("; kept in [{}, {}]", p.clamp->lo, p.clamp->hi) : "");
  }
  if (!m.options.empty()) put("\noptions\n");
  for (const OptionInfo& o : m.options) {
    const std::string standard = o.choices[0].empty() ? fmt::format("{}", o.standard)
                                                      : std::string(o.choices[static_cast<std::size_t>(o.standard)]);
    put("  {:<17}{} (default {})\n", o.name, wrap(o.meaning, 19), standard);
  }
  put("\ntraining\n");
  for (const auto& [where, lines] : habits(m)) {
    if (!where.empty()) put("  {}\n", where);
    for (const std::string& line : lines) put("  {}{}\n", where.empty() ? "" : "  ", wrap(line, 6));
  }
  put("\ndifferences from the paper\n");
  for (std::string_view d : m.differences) put("  - {}\n", wrap(d, 4));
  put("\nunusual inputs\n  {}\n", wrap(m.unusual_inputs, 2));
  if (std::find(m.operations.begin(), m.operations.end(), Operation::Divide) != m.operations.end())
    put("  {}\n",
        wrap("Dividing by 0 has no value, and gives a number all the same: nalm eval --mark-invalid says where.", 2));
}

namespace {

Json to_json(const ModuleInfo& m) {
  Json object = Json::object();
  object["name"] = m.name;
  object["title"] = m.title;
  object["formula"] = m.formula;
  if (!m.training_form.empty()) object["training_form"] = m.training_form;
  object["learned"] = m.learned;
  object["citation"] = m.citation;
  object["operations"] = Json::array();
  for (Operation operation : m.operations) object["operations"].push_back(name_of(operation));
  object["parameters"] = Json::array();
  for (const ParameterInfo& p : m.parameters) {
    Json entry{{"name", p.name}, {"shape", text_of(p.axes)}, {"meaning", p.meaning}, {"start", text_of(p.start)}};
    if (p.clamp) entry["clamp"] = {p.clamp->lo, p.clamp->hi};
    object["parameters"].push_back(entry);
  }
  object["options"] = Json::array();
  for (const OptionInfo& o : m.options) {
    Json entry{{"name", o.name}, {"meaning", o.meaning}};
    if (o.choices[0].empty()) {
      entry["default"] = o.standard;
    } else {
      entry["default"] = o.choices[static_cast<std::size_t>(o.standard)];
      for (std::string_view choice : o.choices) {
        if (!choice.empty()) entry["choices"].push_back(choice);
      }
    }
    object["options"].push_back(entry);
  }
  object["training"] = Json::object();
  for (const auto& [where, lines] : habits(m)) object["training"][where.empty() ? "default" : where] = lines;
  object["recipe"] = Json::parse(nalm::to_json(m.recipe()));
  object["recipes"] = Json::object();  // of the benchmark
  for (Operation operation : m.operations)
    object["recipes"][std::string(name_of(operation))] =
        Json::parse(nalm::to_json(single_module_recipe(m, operation, 2)));
  object["differences"] = m.differences;
  object["unusual_inputs"] = m.unusual_inputs;
  return object;
}

// ---- the command ---------------------------------------------------------------------------------------------------

void print_rule() { put("\n{}\n\n", std::string(100, '-')); }

// What the names mean: modules, or tasks.
struct Chosen {
  std::vector<const ModuleInfo*> modules;
  std::vector<const Task*> tasks;
};
Result<Chosen> choose(const std::vector<std::string>& names, bool only_tasks) {
  Chosen chosen;
  for (const std::string& name : names) {
    const Result<const Task*> task = find_task(name);
    const Result<const ModuleInfo*> module = find_module(name);
    if (task) {
      chosen.tasks.push_back(*task);
    } else if (only_tasks) {
      return task.error();
    } else if (module) {
      chosen.modules.push_back(*module);
    } else {
      return module.error();
    }
  }
  return chosen;
}

void print_modules() {
  const std::size_t width = module_column(all_modules());
  put("{:<{}}{:<17}{}\n", "module", width, "operations", "learns");
  for (const ModuleInfo* m : all_modules()) {
    put("{:<{}}{:<17}{}\n", m->name, width, operations_text(*m), wrap(m->learned, width + 17));
  }
  put("\n\"nalm list NAME\" tells everything about one module; \"nalm list --tasks\" lists the tasks.\n");
}

int list(const std::vector<std::string>& names, bool tasks, bool as_json) {
  Result<Chosen> chosen = choose(names, tasks);
  if (!chosen) return fail(chosen.error());
  if (as_json) {
    if (names.empty() && tasks) chosen->tasks.assign(all_tasks().begin(), all_tasks().end());
    if (names.empty() && !tasks) chosen->modules = all_modules();
    Json object = Json::array();
    for (const ModuleInfo* m : chosen->modules) object.push_back(to_json(*m));
    for (const Task* task : chosen->tasks) object.push_back(cli::to_json(*task));
    write_data(object.dump(2) + "\n");
    return yes;
  }
  if (names.empty() && tasks) print_tasks();
  if (names.empty() && !tasks) print_modules();
  for (std::size_t k = 0; k < chosen->modules.size(); ++k) {
    if (k > 0) print_rule();
    print_module(*chosen->modules[k]);
  }
  for (std::size_t k = 0; k < chosen->tasks.size(); ++k) {
    if (k > 0 || !chosen->modules.empty()) print_rule();
    print_task(*chosen->tasks[k]);
  }
  return yes;
}

}  // namespace

void add_list(Program& program) {
  static std::vector<std::string> names;
  static bool as_json = false, tasks = false;
  program.add("list", "The modules, the tasks, or everything about some of them")
      .words("name", names, "Modules or tasks to describe, such as NMU or \"NAC*\" (upper or lower case)",
             Value::Module)
      .flag("--tasks", tasks, "The tasks that `nalm bench --task` runs, instead of the modules")
      .flag("--json", as_json, "Write JSON")
      .example("  nalm list\n  nalm list NMU\n  nalm list --json\n  nalm list --tasks\n  nalm list arithmetic-dataset")
      .run([] { return list(names, tasks, as_json); });
}

}  // namespace nalm::cli
