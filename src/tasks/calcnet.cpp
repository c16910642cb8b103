// CalcNet's two tables: how well modules learn single operators, and what a calculator of them makes of an expression.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiment/task.hpp"
#include "tasks/calculator.hpp"

namespace nalm {
namespace calcnet_task {
namespace {

constexpr std::size_t test_rows = 1000;
constexpr double outside = 5;  // the extrapolation range, as a multiple of the training range
constexpr double operator_range = 10, expression_range = 20;

constexpr std::string_view expression = "a + b/c*sqrt(d) - e + f^2";
constexpr std::string_view ours = "NAU, NMU, NMRU, NRU-power";

// Rana's stack of two layers and his schedule, with Adam in the place of Nadam.
OperatorTraining two_layers(CalcOperator op, std::string_view module) {
  OperatorTraining training;
  training.settings = default_training(stack_of(fmt::format("{0}:3,{0}:1", module), operand_count(op)));
  TrainingRecipe& recipe = training.settings.recipe.training;
  recipe.optimiser = Adam{.learning_rate = 1e-2};
  recipe.decay = Decay{.factor = 0.1, .every = 6400};  // 100 epochs of 2^16 samples
  recipe.iterations = 19200;
  recipe.batch = 1024;
  for (LayerRecipe& layer : training.settings.recipe.layers)
    layer.starts = {{"W_hat", 0, 1, StartChange::Kind::Normal}, {"M_hat", 0, 1, StartChange::Kind::Normal}};
  training.magnitudes = op != CalcOperator::Add && op != CalcOperator::Subtract;
  return training;
}

OperatorTraining training_of(CalcOperator op, std::string_view module) {
  const bool rana = module == "NAC+" || module == "G-NAC" || module == "NALU" || module == "G-NALU";
  return rana ? two_layers(op, module) : *module_training(op, module);
}

void change(OperatorTraining& training, const OwnRunSettings& settings, long at_most) {
  long& iterations = training.settings.recipe.training.iterations;
  iterations = settings.iterations.value_or(std::min(iterations, at_most));
  if (settings.learning_rate) training.settings.recipe.training.optimiser.set_learning_rate(*settings.learning_rate);
}

// Errors of predictions: the mean square, and its root against that of the targets.
struct Errors {
  double squares = 0, targets = 0;
  std::size_t rows = 0;

  void add(double y, double t) {
    squares += (y - t) * (y - t);
    targets += t * t;
    ++rows;
  }
  double mse() const { return squares / static_cast<double>(rows); }
  double relative() const { return std::sqrt(squares / targets); }
};

// The rows of a record: before training, and after it.
template <class F>
Result<RunRecord> before_and_after(const OwnRunSettings& settings, F measure) {
  RunRecord record;
  OwnRunSettings untrained = settings;
  untrained.iterations = 0;
  for (const OwnRunSettings& now : {untrained, settings})
    if (Status done = measure(now, record); !done) return done.error();
  return record;
}

Cell make_cell(std::string_view model, std::string_view operation, std::string_view setting) {
  Cell cell(model, operation, setting);
  cell.measures = {{.name = "interpolation"}, {.name = "extrapolation"}, {.name = "relative error"}};
  cell.goal = {.measure = "extrapolation", .limit = 1e-9};
  return cell;
}

Cell operator_cell(CalcOperator op, std::string_view operation, std::string_view module, long at_most) {
  Cell cell = make_cell(module, operation, "operators");
  // Where there is no module for squares, they are products.
  const CalcOperator learnt_as = op == CalcOperator::Square && module == "NMU" ? CalcOperator::Multiply : op;
  cell.own = [=](const OwnRunSettings& settings) {
    return before_and_after(settings, [&](const OwnRunSettings& now, RunRecord& record) -> Status {
      OperatorTraining training = training_of(learnt_as, module);
      training.range = operator_range;
      change(training, now, at_most);
      const Result<LearntOperator> learnt = learn_operator(learnt_as, training, now.seed, now.stop);
      if (!learnt) return learnt.error();
      const auto errors = [&](double range, std::string_view purpose) {
        const OperatorRows rows = operator_rows(op, training, range, test_rows, purpose, now.seed);
        const std::size_t operands = rows.x.size() / rows.t.size();
        Errors result;
        for (std::size_t k = 0; k < rows.t.size(); ++k) {
          std::vector<double> x(rows.x.begin() + static_cast<std::ptrdiff_t>(k * operands),
                                rows.x.begin() + static_cast<std::ptrdiff_t>((k + 1) * operands));
          if (learnt_as != op) x.push_back(x.front());
          result.add((*learnt)(x, true), rows.t[k]);
        }
        return result;
      };
      const Errors near = errors(operator_range, "calcnet, interpolation"),
                   far = errors(outside * operator_range, "calcnet, extrapolation");
      record.steps.push_back(learnt->iterations);
      record.values.push_back({near.mse(), far.mse(), far.relative()});
      std::vector<double> parameters;
      for (const Layer& layer : learnt->model.layers)
        parameters.insert(parameters.end(), layer.parameters.begin(), layer.parameters.end());
      record.keep(std::move(parameters));
      record.note = learnt->spelled ? "the weights spell " + print(*learnt->spelled) : "";
      return Done{};
    });
  };
  return cell;
}

// Every row as a text, through parser and modules, as `nalm calc` does it.
Status measure_expression(Calculator& calculator, double range, std::string_view purpose, std::uint32_t seed,
                          Errors& errors) {
  Xoshiro stream = stream_of(purpose, seed);
  for (std::size_t k = 0; k < test_rows; ++k) {
    double v[6];
    for (double& x : v) x = stream.between(-range, range);
    v[2] = std::copysign(stream.between(1, range), v[2]);
    v[3] = std::fabs(v[3]);
    const std::string text =
        fmt::format("({}) + ({})/({})*sqrt({}) - ({}) + ({})^2", v[0], v[1], v[2], v[3], v[4], v[5]);
    const auto parsed = parse_calculation(text);
    const auto outcome = calculator.run(std::get<std::vector<CalcToken>>(parsed));
    if (const auto* mistake = std::get_if<CalcMistake>(&outcome)) return Error{mistake->sentence};
    const Calculation& result = std::get<Calculation>(outcome);
    errors.add(result.value, result.exact);
  }
  return Done{};
}

Cell expression_cell(std::string_view model, std::string_view sums, std::string_view products, long at_most) {
  Cell cell = make_cell(model, expression, "expression");
  cell.own = [=](const OwnRunSettings& settings) {
    return before_and_after(settings, [&](const OwnRunSettings& now, RunRecord& record) -> Status {
      Calculator calculator(now.seed, true, now.stop);
      for (const CalcOperator op : all_calc_operators) {
        const bool sum = op == CalcOperator::Add || op == CalcOperator::Subtract;
        const std::string_view module = !products.empty() ? (sum ? sums : products) : standard_module(op);
        if (module == "NMU" && op == CalcOperator::Square) continue;
        OperatorTraining training = training_of(op, module);
        training.range = expression_range;
        change(training, now, at_most);
        calculator.set(op, std::move(training));
      }
      Errors near, far;
      if (Status done = measure_expression(calculator, expression_range, "calcnet, near", now.seed, near); !done)
        return done;
      if (Status done = measure_expression(calculator, outside * expression_range, "calcnet, far", now.seed, far);
          !done)
        return done;
      long iterations = 0;
      for (const CalcOperator op : all_calc_operators)
        if (const LearntOperator* learnt = calculator.learnt(op)) iterations += learnt->iterations;
      record.steps.push_back(iterations);
      record.values.push_back({near.mse(), far.mse(), far.relative()});
      return Done{};
    });
  };
  return cell;
}

std::vector<Cell> cells(std::string_view preset) {
  struct Row {
    CalcOperator op;
    std::string_view operation;
  };
  constexpr Row rows[] = {{CalcOperator::Add, "a+b"},      {CalcOperator::Subtract, "a-b"},
                          {CalcOperator::Multiply, "a*b"}, {CalcOperator::Divide, "a/b"},
                          {CalcOperator::Square, "a^2"},   {CalcOperator::Root, "sqrt(a)"}};
  // Ours are exact by then; the rest of their recipe is a regulariser that finds nothing to do.
  const long at_most = preset == "quick" ? 20000 : std::numeric_limits<long>::max();
  std::vector<Cell> list;
  for (const Row& row : rows) list.push_back(operator_cell(row.op, row.operation, standard_module(row.op), at_most));
  list.push_back(expression_cell(ours, {}, {}, at_most));
  if (preset == "quick") return list;

  const auto add = [&](Cell cell, int operators) {
    cell.own_cost = 50 * operators;  // against ours, which end as soon as they are exact
    list.push_back(std::move(cell));
  };
  for (const std::string_view module : {"NAC+", "NALU", "G-NAC", "G-NALU"}) {
    for (const Row& row : rows) {
      const bool sum = row.op == CalcOperator::Add || row.op == CalcOperator::Subtract;
      if ((module == "NAC+" || module == "G-NAC") && !sum) continue;
      add(operator_cell(row.op, row.operation, module, at_most), 1);
    }
  }
  add(expression_cell("CalcNet", "NAC+", "NALU", at_most), 6);
  add(expression_cell("G-CalcNet", "G-NAC", "G-NALU", at_most), 6);
  return list;
}

}  // namespace
}  // namespace calcnet_task

extern const Task calcnet{
    .name = "calcnet",
    .title = "CalcNet: a calculator of trained modules",
    .source = "Rana, Malhi, Främling: Exploring Numerical Calculations with CalcNet, ICTAI 2019",
    .settings =
        "Single operators on operands from U[-10, 10] (roots U[0, 10]), tested there and on five times the range; then "
        "the expression on U[-20, 20] and U[-100, 100], through the parser, with a module for each operator. Modules "
        "for products see magnitudes only if their products have no sign. NAC+, NALU, G-NAC and G-NALU in two layers "
        "of 3 and 1 units, batch 1024, 6400 iterations each with learning rate 0.01, 0.001 and 0.0001; the others as "
        "single modules in their own way, until they are exact up to rounding. NAU, NMU and NMRU end with weights at "
        "their bounds, exactly -1, 0 or 1, before their regulariser starts; NRU-power's is 1/2 up to rounding. "
        "Success: an extrapolation error (mean squared) below 1e-9. Relative error: root mean squared, against that of "
        "the targets, outside the training range.",
    .differences =
        {"Adam instead of Nadam, fresh samples instead of 2^16 fixed ones, double instead of float32.",
         "A seed trains four runs and keeps the one with the smallest validation error, as it was then: a calculator "
         "is built from modules that work. The paper does not say what it kept.",
         "Denominators keep a distance of 1 from 0 (the paper is silent): the mean squared error of a/b is infinite "
         "otherwise.",
         "The gate starts as the module has it, not at 10: gate 1 is the sum here, and with positive operands and G = "
         "10 it never opens for products (a*b then extrapolates with errors above 1000).",
         "The gate sees x, the paper's code gives it |x|: with operands of both signs NALU cannot hold it open for "
         "sums, and fails at a+b and a-b where the paper's succeeds.",
         "NAC and G-NAC for products are left out, they cannot express them.",
         "The published roots of quartics are not run: neither the coefficients they were drawn from nor the order of "
         "operations are known, and a root formula in real arithmetic meets square roots of negative numbers.",
         "NMU has a^2 as a*a. Errors are those of the modules' own arithmetic, not of the formula that their "
         "weights spell."},
    .presets = {{"quick", "NAU, NMU, NMRU and NRU-power", 3, "2 s"},
                {"full", "and the stacks of NAC+, NALU, G-NAC and G-NALU", 4, "8 min"}},
    .checks = {{"NAU", "a+b", "operators", "relative error", false, 1e-14},
               {"NAU", "a-b", "operators", "relative error", false, 1e-14},
               {"NMU", "a*b", "operators", "relative error", false, 1e-14},
               {"NMRU", "a/b", "operators", "relative error", false, 1e-14},
               {"NMU", "a^2", "operators", "relative error", false, 1e-14},
               {"NRU-power", "sqrt(a)", "operators", "relative error", false, 1e-14},
               {calcnet_task::ours, calcnet_task::expression, "expression", "extrapolation", false, 1e-18},
               {calcnet_task::ours, calcnet_task::expression, "expression", "success", true, 1}},
    .preset_cells = calcnet_task::cells,
};

}  // namespace nalm
