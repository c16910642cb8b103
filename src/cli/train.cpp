// nalm train: one training to watch, the student's way in.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "cli/wrap.hpp"
#include "experiment/plan.hpp"
#include "experiment/summary.hpp"
#include "formula/rewrite.hpp"
#include "nalm/model.hpp"
#include "tasks/single_module/problem.hpp"

namespace nalm::cli {
namespace {

struct TrainCommand {
  std::string recipe, module, operation = "add", range = "[1,2)", test_range, out;
  std::uint64_t seed = 0;
  std::optional<long> iterations, log_every, inputs;
  std::optional<double> learning_rate;
};

// Errors over iterations, logarithmic: v validation, t test, * both; a line where a run counts as solved.
std::string chart(const RunRecord& s, long last_step, double threshold) {
  constexpr int height = 14;
  const std::size_t width = std::min<std::size_t>(64, columns_of(stdout) - 10);
  const auto decades = [](double v) { return std::log10(std::max(v, 1e-16)); };
  double lo = decades(threshold), hi = lo;
  for (std::size_t r = 0; r < s.rows(); ++r) {
    for (const double v : {s.values[r][single_module::validation_mse], s.values[r][single_module::test_mse]}) {
      if (!std::isfinite(v)) continue;
      lo = std::min(lo, decades(v));
      hi = std::max(hi, decades(v));
    }
  }
  lo = std::floor(lo), hi = std::max(std::ceil(hi), lo + 1);
  std::vector<std::string> rows(height, std::string(width, ' '));
  const auto place = [&](double v) {
    return static_cast<std::size_t>(std::clamp((hi - decades(v)) / (hi - lo) * (height - 1) + 0.5, 0.0, height - 1.0));
  };
  rows[place(threshold)] = std::string(width, '-');
  for (std::size_t r = 0; r < s.rows(); ++r) {
    const auto x =
        static_cast<std::size_t>(static_cast<double>(s.steps[r]) / static_cast<double>(std::max(1L, last_step)) *
                                 static_cast<double>(width - 1));
    const auto put = [&](double v, char mark) {
      if (!std::isfinite(v)) return;
      char& at = rows[place(v)][x];
      at = at == 'v' && mark == 't' ? '*' : mark;
    };
    put(s.values[r][single_module::validation_mse], 'v');
    put(s.values[r][single_module::test_mse], 't');
  }
  std::string text;
  for (int k = 0; k < height; ++k) {
    const bool labelled = k == 0 || k == height - 1;
    std::string& row = rows[static_cast<std::size_t>(k)];
    row.erase(row.find_last_not_of(' ') + 1);
    text += fmt::format("{:>7} |{}\n", labelled ? fmt::format("1e{:+.0f}", k == 0 ? hi : lo) : "", row);
  }
  return text + fmt::format("{:>7} 0{:>{}}\niterations: v validation, t test, * both, - solved below\n", "", last_step,
                            width - 1);
}

// The weights of every layer, and the gates as they are for such an input.
std::string weights_of(const Model& model, double input) {
  const auto layers = explain(model, std::vector<double>(static_cast<std::size_t>(model.inputs()), input));
  if (!layers) return "";
  std::string text;
  const auto add = [&](const Quantity& quantity, const ExplainedArray& array) {
    if (!quantity.counts_as_sparse && quantity.role != Role::Gate) return;
    constexpr std::size_t most = 10;
    std::string list;
    for (std::size_t k = 0; k < array.values.size() && k < most; ++k)
      list += fmt::format("{}{:.7g}", k ? ", " : "", array.values[k]);
    text += fmt::format("{}{} = ({}{})", text.empty() || text.ends_with(": ") ? "" : "  ", quantity.name, list,
                        array.values.size() > most ? ", ..." : "");
  };
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    const ModuleInfo& module = *model.layers[l].module;
    if (model.layers.size() > 1) text += fmt::format("{}layer {}: ", l > 0 ? "  " : "", l + 1);
    for (std::size_t k = 0; k < module.weights.size(); ++k) add(module.weights[k], (*layers)[l].weights[k]);
    for (std::size_t k = 0; k < module.steps.size(); ++k) add(module.steps[k], (*layers)[l].steps[k]);
  }
  return text;
}

// A module, or a stack of them, is one cell and one seed of the benchmark.
Result<Plan> training_plan(const TrainCommand& o) {
  const Result<const Task*> task = find_task("single-module");
  if (!task) return task.error();
  if (o.module.empty()) return Error{"name the module to train, such as nalm train NAU; nalm list shows them all."};
  if (o.module.find(',') != o.module.npos && o.module.find(':') == o.module.npos)
    return Error{
        fmt::format("{} is not one module; write a stack with the outputs of each layer, such as NAU:2,NMU:1, "
                    "or train several modules with nalm bench --modules {}.",
                    o.module, o.module)};
  if (o.seed > 0xffffffffu) return Error{"--seed must be below 4294967296."};
  Plan plan;
  plan.task = *task;
  plan.preset = (*task)->default_preset().name;
  plan.models = o.module;
  plan.operations = o.operation;
  plan.settings = o.range;
  plan.seeds = {static_cast<std::uint32_t>(o.seed)};
  plan.iterations = o.iterations;
  plan.learning_rate = o.learning_rate;
  plan.log_every = o.log_every;
  plan.recipe = o.recipe;
  if (!o.test_range.empty()) plan.options["test-range"] = o.test_range;
  if (o.inputs) plan.options["inputs"] = std::to_string(*o.inputs);
  return plan;
}

int train(const TrainCommand& o) {
  if (!o.out.empty())
    if (Status possible = may_write(o.out); !possible) return fail(possible.error());
  const Result<Plan> plan = training_plan(o);
  if (!plan) return fail(plan.error());
  const Result<std::vector<Cell>> cells = cells_of(*plan);
  if (!cells) return fail(cells.error());
  if (cells->size() != 1)
    return fail({fmt::format("nalm train shows one training, and --operation {} --range {} are {}: {}", o.operation,
                             o.range, cells->size(),
                             o.range.find_first_of("[(") == o.range.npos && o.range.find(',') != o.range.npos
                                 ? "the range is two ranges by their numbers; write \"[1,2)\" for values from 1 to 2."
                                 : "give one operation and one range, or use nalm bench for many.")});
  const Cell& cell = cells->front();
  const long last = cell.iterations();
  const double threshold = cell.goal.limit;
  const Range& range = problem_of(cell).range.train;
  const double middle = (range.lo + range.hi) / 2;

  put("{} learns {} on {}, tested on {} (seed {}).\n", cell.model, cell.operation, cell.setting,
      name_of(problem_of(cell).range.test), o.seed);
  const bool live = is_terminal(stdout);
  int drawn = 0;  // lines on the screen that the next picture replaces
  const Interruptible interruptible;
  ExecutorSettings settings;
  settings.threads = 1;
  settings.stop = interruptible.token();
  if (!live) put("{:>9}  {:>12}  {:>12}  {:>9}  {}\n", "iteration", "validation", "test", "sparsity", "weights");
  long latest = 0, repeated = 0;
  std::string shown;  // the last row, without its iteration: nobody needs it forty times
  settings.logged = [&](const RunId&, const RunRecord& record) {
    const std::size_t r = record.rows() - 1;
    latest = record.steps[r];
    const Result<Model> model = model_at(cell, record, r);
    const std::string weights = model ? weights_of(*model, middle) : "";
    const double validation = record.values[r][single_module::validation_mse];
    const double test = record.values[r][single_module::test_mse];
    const double sparsity = record.values[r][single_module::sparsity_error];
    if (!live) {
      const std::string row = fmt::format("{:>12.6g}  {:>12.6g}  {:>9.3g}  {}", validation, test, sparsity, weights);
      if (row == shown && latest < last) {
        ++repeated;
        return;
      }
      if (repeated > 0) put("{:>9}  {} row{} like this one\n", "", repeated, repeated == 1 ? "" : "s");
      put("{:>9}  {}\n", latest, row);
      flush_output();
      shown = row;
      repeated = 0;
      return;
    }
    const std::string picture =
        lay_out(chart(record, last, threshold) +
                    fmt::format("iteration {:>7}  validation {:.3g}  test {:.3g}  sparsity {:.2g}\n{}\n", latest,
                                validation, test, sparsity, weights),
                columns_of(stdout));
    if (drawn) draw(stdout, fmt::format("\033[{}A\033[J", drawn));
    put("{}", picture);
    flush_output();
    drawn = static_cast<int>(std::count(picture.begin(), picture.end(), '\n'));
    // Training takes a moment; people need a few seconds to see it.
    std::this_thread::sleep_for(std::chrono::milliseconds(std::min(60L, 4000 * cell.log_every / std::max(1L, last))));
  };
  std::optional<RunRecord> trained;
  settings.finished = [&](const FinishedRuns& finished) -> Status {
    trained = finished.runs.front().record;
    return Done{};
  };
  if (Status done = plan->task->execute(*cells, {{0, plan->seeds.front()}}, settings); !done) return fail(done.error());
  if (!trained) {
    tell("Interrupted after {} iterations.\n", latest);
    return Interruptible::exit_code();
  }
  if (!live) put("{}", chart(*trained, last, threshold));

  const Result<RunResult> result = judge(cell, *trained, plan->seeds.front());
  if (!result) return fail(result.error());
  const Result<Model> model = model_at(cell, *trained, result->judged_row);
  if (!model) return fail(model.error());
  if (!o.out.empty()) {
    if (Status saved = save_model(*model, o.out); !saved) return fail(saved.error());
  }
  put("\nThe best iteration by validation error is {}: {}\n", result->judged_step, weights_of(*model, middle));
  if (formula_size(*model) <= 1000) {
    const Result<Formula> formula = ideal_formula(*model, model->column_names());
    if (!formula) return fail(formula.error());
    put("The formula the weights spell: y = {}\n", print(in_digits(formula->outputs.front(), 7)));
  }
  const double test = result->values[single_module::test_mse];
  if (result->success) {
    put("Solved: the test error {:.3g} is below {:.3g}, the error of weights that are off by 1e-5; first so at "
        "iteration {}.\n",
        test, threshold, *result->solved_at);
    return yes;
  }
  const std::optional<Failure> failure = cell.problem->diagnose(cell, *trained, *result);
  put("Not solved: the test error {:.3g} is not below {:.3g}. Why: {}{}.\n", test, threshold,
      failure ? failure->kind : "unknown", failure && !failure->detail.empty() ? ", " + failure->detail : "");
  return no;
}

}  // namespace

void add_train(Program& program) {
  static TrainCommand o;
  program.add("train", "Train one module, or a stack, and watch it: errors, weights, and the formula they spell")
      .text("module,--module", o.module, "Module, such as NAU, or a stack, such as NAU:2,NMU:1", Value::Module)
      .text("--operation", o.operation, "add, sub, mul or div", Value::Operation)
      .text("--range", o.range, "Training range, by number or as text")
      .text("--test-range", o.test_range, "Test range, for a training range that the paper does not have")
      .number("--seed", o.seed, "Seed")
      .number("--iterations", o.iterations, 0, 1000000000, "Iterations instead of the recipe's")
      .number("--log-every", o.log_every, 1, 1000000000, "Iterations between two pictures (1000)")
      .number("--inputs", o.inputs, 2, 10000, "Inputs, of which two are the operands (2)")
      .number("--learning-rate", o.learning_rate, "Learning rate instead of the recipe's")
      .text("--recipe", o.recipe, "Changes to the recipe, as JSON such as '{\"loss\": {\"kind\": \"log\"}}'")
      .text("-o,--output", o.out, "Write the best model to this file", Value::File)
      .example(
          "  nalm train NAU --operation add --range \"[1,2)\"\n"
          "  nalm train NALU --operation mul --range \"[-2,2)\" --seed 3\n"
          "  nalm train NAU:2,NMU:1 --operation mul\n"
          "Exit code 0 if it solved the task, 1 if not.")
      .run([] { return train(o); });
}

}  // namespace nalm::cli
