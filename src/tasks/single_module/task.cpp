// The Single Module Arithmetic Task of the survey: one module, two operands, an operation, nine ranges, seed for seed
// as the reference software draws it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/csv.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "experiment/plan.hpp"
#include "nalm/train.hpp"
#include "tasks/single_module/problem.hpp"
#include "tasks/single_module/recipes.hpp"
#include "tasks/single_module/runner.hpp"
#include "tasks/single_module/thresholds.hpp"

namespace nalm {

namespace assets {
extern const std::string_view primer_single_module, later_modules;  // the CSV files, see CMakeLists.txt
}

namespace {

constexpr int largest_inputs = 10000;
constexpr double loose_epsilon = 0.49;  // weights just good enough to be rounded: the survey's suggestion

// What a preset stands for, besides its name.
struct PresetCells {
  std::string_view name;
  std::string_view modules, operations;  // as for parse_modules and parse_operations
  int inputs = 2;
  std::optional<long> iterations{};  // otherwise the recipes'
};

// The modules that came after the survey, beside the survey's best.
constexpr std::string_view later =
    "NAU,NMU,RealNPU,sNMU,sNMU-batch,NRU,NRU-separate,NRU-log,NMRU,NMRU-vanilla,sNMRU,RealNPU-modified,NaiveNPU,MC-FC,"
    "MulMC-FC,MulMC-FC-iNALU,MulMC-FC-RealNPU,NALU2M,NALUIG,NALU2MIG,HillSpace-add,HillSpace-exp,DMU-add,DMU-sub,DMU";
constexpr std::string_view survey = "NAC+,NAC*,NALU,G-NALU,iNALU,NAU,NMU,NPU,RealNPU";
constexpr std::string_view four = "add,sub,mul,div";

constexpr PresetCells preset_cells[] = {
    {"primer", survey, four},
    {"quick", "NAU", "add,sub", 2, 12000},
    {"beyond-primer", later, four},
    {"beyond-primer-10", later, four, 10, 100000},
    {"redundancy-10-inalu", "iNALU", "add", 10},
    {"redundancy-10-nau", "NAU", "add,sub", 10},
    {"redundancy-100-nau", "NAU", "add,sub", 100},
};

const PresetCells& cells_of_preset(std::string_view name) {
  const auto at = std::find_if(std::begin(preset_cells), std::end(preset_cells),
                               [&](const PresetCells& preset) { return preset.name == name; });
  return at == std::end(preset_cells) ? preset_cells[0] : *at;
}

Result<int> inputs_of(const Plan& plan) {
  const std::string text = plan.option("inputs");
  if (text.empty()) return cells_of_preset(plan.preset).inputs;
  const std::optional<int> inputs = number_in<int>(text);
  if (!inputs || *inputs < 2 || *inputs > largest_inputs)
    return Error{fmt::format("--inputs must be a whole number from 2 to {}, unlike \"{}\".", largest_inputs, text)};
  return *inputs;
}

Result<std::vector<TaskRange>> ranges_of(const Plan& plan) {
  const std::string_view all_ranges = plan.preset == "quick" ? "6,7" : "0,1,2,3,4,5,6,7,8";
  return parse_ranges(plan.settings.empty() ? all_ranges : plan.settings, plan.option("test-range"));
}

Cell cell_of(std::string_view model, const Stack& stack, Operation operation, const TaskRange& range,
             std::optional<long> iterations) {
  const Pair pair{stack.front().module, operation};
  const int inputs = stack.front().shape.inputs;
  Cell cell(model, name_of(operation), name_of(range.train));
  cell.stack = stack;
  cell.recipe = stack.size() == 1 ? single_module_recipe(*pair.module, operation, inputs) : default_recipe(stack);
  if (iterations) cell.recipe.training.iterations = *iterations;
  cell.keeps_parameters = true;
  cell.measures = {{"validation_mse", Measure::Kind::Mse, 0, 0, true},
                   {"test_mse", Measure::Kind::Mse, 1, 0, true},
                   {"sparsity_error", Measure::Kind::Sparsity}};
  const auto problem = std::make_shared<SingleModuleProblem>(pair, range, inputs);
  cell.goal = {"test_mse", "validation_mse", epsilon_threshold(pair.operation, range.test, inputs), false,
               epsilon_threshold(pair.operation, range.test, inputs, loose_epsilon)};
  cell.problem = problem;
  return cell;
}

// One stack of layers, such as NAU:2,NMU:1, and not a list of modules.
bool is_stack(std::string_view models) { return models.find(':') != models.npos; }

Result<std::vector<Cell>> single_module_cells(const Plan& plan, std::vector<std::string>& left_out) {
  const PresetCells& preset = cells_of_preset(plan.preset);
  const auto or_preset = [](const std::string& given, std::string_view own) {
    return given.empty() ? own : std::string_view(given);
  };
  const auto operations = parse_operations(or_preset(plan.operations, preset.operations));
  if (!operations) return operations.error();
  const auto ranges = ranges_of(plan);
  if (!ranges) return ranges.error();
  const Result<int> inputs = inputs_of(plan);
  if (!inputs) return inputs.error();
  std::vector<Cell> cells;
  const auto add = [&](std::string_view model, const Stack& stack, Operation operation) -> Status {
    for (const TaskRange& range : *ranges) {
      if (Status good = check_test_range(operation, range.test); !good) return good;
      cells.push_back(cell_of(model, stack, operation, range, preset.iterations));
    }
    return Done{};
  };
  if (is_stack(plan.models)) {
    const Result<Stack> stack = parse_stack(plan.models, *inputs);
    if (!stack) return stack.error();
    if (const int outputs = stack->back().shape.outputs; outputs != 1)
      return Error{
          fmt::format("the stack {} has {} outputs, and an operation has one result: end it with a layer of "
                      "one output, such as {}:1.",
                      plan.models, outputs, stack->back().module->name)};
    for (const Operation operation : *operations)
      if (Status added = add(print(*stack), *stack, operation); !added) return added.error();
    return cells;
  }
  const auto modules = parse_modules(or_preset(plan.models, preset.modules));
  if (!modules) return modules.error();
  const auto pairs = make_pairs(*modules, *operations, left_out);
  if (!pairs) return pairs.error();
  if (plan.models.empty() && plan.operations.empty()) left_out.clear();  // nobody asked for them
  for (const auto& [module, operation] : *pairs) {
    const Stack alone = {{module, default_shape(*module, *inputs, 1)}};
    if (Status added = add(module->name, alone, operation); !added) return added.error();
  }
  return cells;
}

// ---- published -----------------------------------------------------------------------------------------------------

double number(const std::string& cell) { return number_of(cell).value_or(no_value); }

// A range of the paper that is tested elsewhere is another task, and so is a mean over other ranges.
bool is_run_as_published(std::string_view setting, const std::vector<TaskRange>& ranges) {
  const auto is_of_paper = [](const TaskRange& range) {
    return std::any_of(paper_ranges().begin(), paper_ranges().end(), [&](const TaskRange& paper) {
      return name_of(paper.train) == name_of(range.train) && name_of(paper.test) == name_of(range.test);
    });
  };
  if (setting == PublishedFigure::all_settings)
    return ranges.size() == paper_ranges().size() && std::all_of(ranges.begin(), ranges.end(), is_of_paper);
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const TaskRange& range) { return name_of(range.train) == setting && is_of_paper(range); });
}

std::vector<PublishedFigure> published(const Plan& plan) {
  const Result<int> inputs = inputs_of(plan);
  const Result<std::vector<TaskRange>> ranges = ranges_of(plan);
  std::vector<PublishedFigure> figures;
  if (!inputs || !ranges) return figures;
  constexpr int runs = 25;
  if (*inputs == 2) {
    for_each_line(assets::primer_single_module, [&](const std::vector<std::string>& cells) {
      if (cells.size() < 12) return;
      constexpr std::string_view what[] = {"success", "solved-at", "sparsity"};
      for (std::size_t k = 0; k < 3; ++k) {
        const std::size_t first = 3 + 3 * k;
        const Estimate value{number(cells[first]), number(cells[first + 1]), number(cells[first + 2])};
        if (std::isnan(value.value)) continue;
        PublishedFigure figure{cells[0], cells[1], cells[2], std::string(what[k]), value, "", runs, true};
        figure.same_seeds = true;
        figures.push_back(std::move(figure));
      }
    });
  }
  for_each_line(assets::later_modules, [&](const std::vector<std::string>& cells) {
    if (cells.size() < 7 || std::atoi(cells[2].c_str()) != *inputs) return;
    const int per_figure = cells[3] == PublishedFigure::all_settings ? runs * 9 : runs;
    figures.push_back({cells[0],
                       cells[1],
                       cells[3],
                       "success",
                       {number(cells[4]), no_value, no_value},
                       cells[5],
                       per_figure,
                       true,
                       cells[6] != "no"});
  });
  std::erase_if(figures, [&](const PublishedFigure& figure) { return !is_run_as_published(figure.setting, *ranges); });
  return figures;
}

}  // namespace

extern const Task single_module_task{
    .name = "single-module",
    .title = "Single Module Arithmetic Task",
    .source = "Mistry, Farrahi, Hare: A Primer for Neural Arithmetic Logic Modules, JMLR 2022",
    .settings =
        "One module with two inputs (more are redundant) learns one operation from one range and is tested outside of "
        "it. Batches of 128 new samples, 50,000 iterations, the recipe of the module; a row is logged every 1,000 "
        "iterations on 10,000 validation and 10,000 test samples. A run has succeeded if, at the row with the smallest "
        "validation error, its test error is below that of the right model with every weight off by 1e-5.",
    .differences =
        {"The survey says that early stopping is applied; its software trains on and takes the logged row with the "
         "smallest validation error, and so does this."},
    .presets = {{"primer", "the paper's tables: nine modules, 23 pairs, 9 ranges", 25, "a minute"},
                {"quick", "NAU, two operations, two ranges, 12,000 iterations", 4, "seconds"},
                {"beyond-primer", "the modules after the survey, 9 ranges", 25, "minutes"},
                {"beyond-primer-10", "the same with 8 redundant inputs, 100,000 iterations", 25, "half an hour"},
                {"redundancy-10-inalu", "iNALU with 8 redundant inputs, addition", 25, "minutes"},
                {"redundancy-10-nau", "NAU with 8 redundant inputs, addition and subtraction", 25, "minutes"},
                {"redundancy-100-nau", "NAU with 98 redundant inputs, addition and subtraction", 25, "minutes"}},
    .checks = {{"NAU", "add", "U[1,2)", "success", true, 1}, {"NAU", "sub", "U[1,2)", "success", true, 1}},
    .options =
        {{"inputs", "Inputs, of which two are the operands (2)"},
         {"test-range",
          "Test range for training ranges that the paper does not have, such as \"[20,40)\" or \"[-6,-2)+[2,6)\"; one "
          "for all or one for each"}},
    .cells = single_module_cells,
    .execute = train_single_modules,
    .divide = units_of_places,
    .published = published,
    .model_word = "module",
    .setting_word = "range",
    .layout = Task::Layout::Grid,
};

}  // namespace nalm
