#include "tasks/single_module/failures.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "experiment/summary.hpp"
#include "tasks/single_module/problem.hpp"

namespace nalm {

namespace {

constexpr double kDecided = 0.01;  // how close to 0 or 1 a gate must be
constexpr double kFar = 0.1;       // from here on a weight is more than imprecise
constexpr int kInputsToTry = 8;

bool is_sum(Operation operation) { return operation == Operation::Add || operation == Operation::Subtract; }

// ---- what a model should look like ---------------------------------------------------------------------------------

struct Found {
  FailureKind kind;
  std::string detail;
};

// A weight or gate, its target, and its name: W[2], or "gate of x2".
struct Entry {
  std::string name;
  double value, target;

  double distance() const { return std::abs(value - target); }
  bool rounds_to_target() const { return std::round(value) == target; }
};

// Many weights of a stack give the same formula: none of them is right or wrong by itself.
bool has_targets(const Cell& cell) { return cell.stack.size() == 1; }

// The effective weights and gates of a model with one layer.
struct Anatomy {
  std::vector<Entry> weights;
  std::vector<Entry> input_gates;  // of operands, and of other inputs that are not switched off by their weights
  // Of each gate per output the values farthest apart, over the inputs tried; no target if the module has but one path.
  struct OutputGate {
    std::string name;
    double lowest, highest;
    std::optional<double> target;
  };
  std::vector<OutputGate> output_gates;
};

// Weights of the path that does not take part in the operation.
bool is_idle(const Quantity& array, Operation operation) {
  return array.role == (is_sum(operation) ? Role::OfProduct : Role::OfSum);
}

std::optional<double> output_gate_target(const ModuleInfo& module, Operation operation) {
  const auto learns = [&](bool sums) {
    return std::any_of(module.operations.begin(), module.operations.end(),
                       [&](Operation known) { return is_sum(known) == sums; });
  };
  if (!learns(true) || !learns(false)) return std::nullopt;
  return is_sum(operation) ? 1.0 : 0.0;
}

class Dissection {
 public:
  Dissection(const SingleModuleProblem& problem, std::uint32_t seed, const std::vector<ExplainedLayer>& layers)
      : problem_(problem), layers_(layers) {
    first_operand_ = static_cast<std::size_t>(OperandPlace(seed, problem.inputs).first_operand);
  }

  Anatomy operator()() {
    Anatomy anatomy;
    std::vector<bool> closed(static_cast<std::size_t>(problem_.inputs), false), silent(closed.size(), true);
    const ModuleInfo& module = *problem_.pair.module;
    for_each_array([&](const Quantity& quantity, auto values) {
      if (!is_gate(quantity) || !per_input(quantity)) return;
      for (std::size_t i = 0; i < closed.size(); ++i) closed[i] = values(0)[i] < kDecided;
    });
    for_each_array([&](const Quantity& quantity, auto values) {
      if (!is_weight(quantity.role) || values(0).size() != closed.size() || is_idle(quantity, problem_.pair.operation))
        return;
      if (quantity.role == Role::Divisor) return;  // judged with the weights before it
      const ExplainedArray* divided = divisor_of(quantity);
      const std::string name =
          divided ? fmt::format("{}-{}", quantity.name, divided->name) : std::string(quantity.name);
      for (std::size_t i = 0; i < closed.size(); ++i) {
        const double value = divided ? values(0)[i] - divided->values[i] : values(0)[i];
        silent[i] = silent[i] && std::abs(value) < kDecided;
        // Behind a closed gate the weight of an input that should be ignored is free.
        if (closed[i] && !is_operand(i)) continue;
        const double target = quantity.role == Role::Imaginary ? 0 : operand_target(i);
        anatomy.weights.push_back({fmt::format("{}[{}]", name, i + 1), value, target});
      }
    });
    for_each_array([&](const Quantity& quantity, auto values) {
      if (!is_gate(quantity)) return;
      if (per_input(quantity)) {
        for (std::size_t i = 0; i < closed.size(); ++i) {
          if (!is_operand(i) && (closed[i] || silent[i])) continue;
          // An input that should be ignored may be let through: then its weight, which is judged too, must be 0.
          const double value = values(0)[i], target = is_operand(i) ? 1 : std::round(value);
          anatomy.input_gates.push_back({fmt::format("gate of x{}", i + 1), value, target});
        }
        return;
      }
      for (std::size_t o = 0; o < values(0).size(); ++o) {
        Anatomy::OutputGate gate{std::string(quantity.name), 1, 0, output_gate_target(module, problem_.pair.operation)};
        gate.lowest = gate.highest = values(0)[o];
        for (std::size_t k = 1; k < layers_.size(); ++k) {
          gate.lowest = std::min(gate.lowest, values(k)[o]);
          gate.highest = std::max(gate.highest, values(k)[o]);
        }
        anatomy.output_gates.push_back(gate);
      }
    });
    return anatomy;
  }

 private:
  static bool is_gate(const Quantity& quantity) { return quantity.role == Role::Gate; }
  static bool per_input(const Quantity& quantity) {
    return quantity.axes.count == 1 && quantity.axes.axis[0] == Axis::Input;
  }

  // Weights, then steps: visit(quantity, values), where values(k) is the array for the k-th input that was tried.
  template <class Visit>
  void for_each_array(Visit visit) const {
    for (std::size_t q = 0; q < problem_.pair.module->weights.size(); ++q) {
      visit(
          problem_.pair.module->weights[q], [&](std::size_t k) -> const auto& { return layers_[k].weights[q].values; });
    }
    for (std::size_t q = 0; q < problem_.pair.module->steps.size(); ++q) {
      visit(
          problem_.pair.module->steps[q], [&](std::size_t k) -> const auto& { return layers_[k].steps[q].values; });
    }
  }

  // What these weights' inputs are divided by, for the first input that was tried, or null.
  const ExplainedArray* divisor_of(const Quantity& quantity) const {
    const std::span<const Quantity> all = problem_.pair.module->weights;
    for (std::size_t q = 1; q < all.size(); ++q)
      if (&all[q - 1] == &quantity && all[q].role == Role::Divisor) return &layers_[0].weights[q];
    return nullptr;
  }

  bool is_operand(std::size_t i) const { return i == first_operand_ || i == first_operand_ + 1; }
  double operand_target(std::size_t i) const {
    if (i == first_operand_) return 1;
    if (i != first_operand_ + 1) return 0;
    return problem_.pair.operation == Operation::Add || problem_.pair.operation == Operation::Multiply ? 1 : -1;
  }

  const SingleModuleProblem& problem_;
  const std::vector<ExplainedLayer>& layers_;
  std::size_t first_operand_ = 0;
};

Result<Anatomy> dissect(const Cell& cell, const RunRecord& record, std::size_t row, std::uint32_t seed) {
  const Result<Model> model = model_at(cell, record, row);
  if (!model) return model.error();
  const SingleModuleProblem& problem = problem_of(cell);
  NumpyStream stream(test_seed);
  const Samples samples = draw(stream, problem.range.test, problem.pair.operation, problem.inputs, 0, kInputsToTry);
  std::vector<ExplainedLayer> layers;
  for (std::size_t k = 0; k < kInputsToTry; ++k) {
    const auto first = samples.x.begin() + static_cast<std::ptrdiff_t>(k) * problem.inputs;
    const std::vector<double> x(first, first + problem.inputs);
    Result<std::vector<ExplainedLayer>> explained = explain(*model, x);
    if (!explained) return explained.error();
    layers.push_back(std::move(explained->front()));
  }
  return Dissection(problem, seed, layers)();
}

// ---- the kinds, in their order -------------------------------------------------------------------------------------

// Rows of a record.
double validation(const RunRecord& record, std::size_t row) {
  return record.values[row][single_module::validation_mse];
}

std::optional<Found> not_a_number(const RunRecord& record, std::size_t row) {
  const auto lost = [&](std::size_t r) { return std::isnan(validation(record, r)); };
  if (lost(record.rows() - 1)) {
    std::size_t first = record.rows() - 1;
    while (first > 0 && lost(first - 1)) --first;
    return Found{FailureKind::NotANumber, fmt::format("lost from step {} on", record.steps[first])};
  }
  if (std::isnan(record.values[row][single_module::test_mse])) {
    return Found{FailureKind::NotANumber, fmt::format("the test error at step {} is not a number", record.steps[row])};
  }
  return std::nullopt;
}

std::optional<Found> wrong_weights(const Anatomy& anatomy) {
  // Gates first: of a path that is not taken the weights do not matter.
  for (const Anatomy::OutputGate& gate : anatomy.output_gates) {
    if (!gate.target) continue;
    const double wrong = 1 - *gate.target;
    if (std::abs(gate.lowest - wrong) > kDecided || std::abs(gate.highest - wrong) > kDecided) continue;
    return Found{FailureKind::WrongWeights,
                 fmt::format("the gate takes the {}, {} = {:.2g} instead of {}", wrong == 1 ? "sum" : "product",
                             gate.name, (gate.lowest + gate.highest) / 2, *gate.target)};
  }
  for (const Entry& gate : anatomy.input_gates) {
    if (gate.value >= kDecided) continue;
    return Found{FailureKind::WrongWeights, fmt::format("{} is closed", gate.name)};
  }
  std::string detail;
  for (const Entry& weight : anatomy.weights) {
    if (weight.rounds_to_target()) continue;
    detail += fmt::format("{}{} = {:.2g} instead of {}", detail.empty() ? "" : ", ", weight.name, weight.value,
                          weight.target);
  }
  if (detail.empty()) return std::nullopt;
  return Found{FailureKind::WrongWeights, detail};
}

std::optional<Found> gate_undecided(const Anatomy& anatomy) {
  for (const Entry& gate : anatomy.input_gates) {
    if (gate.value > 1 - kDecided) continue;
    return Found{FailureKind::GateUndecided, fmt::format("{} = {:.2g}", gate.name, gate.value)};
  }
  for (const Anatomy::OutputGate& gate : anatomy.output_gates) {
    if (gate.highest <= kDecided || gate.lowest >= 1 - kDecided) continue;
    if (gate.highest - gate.lowest < kDecided) {
      return Found{FailureKind::GateUndecided, fmt::format("{} = {:.2g}", gate.name, gate.lowest)};
    }
    return Found{FailureKind::GateUndecided, fmt::format("{} is between {:.2g} and {:.2g}, depending on the input",
                                                         gate.name, gate.lowest, gate.highest)};
  }
  return std::nullopt;
}

// Over the last fifth of the rows; one row alone tells nothing, and counts as moving.
bool validation_error_moves(const RunRecord& record) {
  const std::size_t rows = std::min(record.rows(), std::max<std::size_t>(2, record.rows() / 5 + 1));
  if (rows < 2) return true;
  double least = validation(record, record.rows() - rows), most = least;
  for (std::size_t r = record.rows() - rows; r < record.rows(); ++r) {
    least = std::min(least, validation(record, r));
    most = std::max(most, validation(record, r));
  }
  return most - least >= 0.01 * most;
}

Found find(const Cell& cell, const RunRecord& record, const RunResult& result) {
  if (const std::optional<Found> lost = not_a_number(record, result.judged_row)) return *lost;
  const bool moves = validation_error_moves(record);
  const FailureKind far = moves ? FailureKind::NotConverged : FailureKind::Stuck;
  const std::string_view change =
      moves ? "the validation error still changes" : "the validation error no longer changes";
  if (!has_targets(cell)) return {far, std::string(change)};
  const Result<Anatomy> anatomy = dissect(cell, record, result.judged_row, result.seed);
  if (!anatomy) return {FailureKind::Imprecise, anatomy.error().message};
  if (const std::optional<Found> wrong = wrong_weights(*anatomy)) return *wrong;
  if (const std::optional<Found> undecided = gate_undecided(*anatomy)) return *undecided;
  const auto farthest = std::max_element(anatomy->weights.begin(), anatomy->weights.end(),
                                         [](const Entry& a, const Entry& b) { return a.distance() < b.distance(); });
  if (farthest == anatomy->weights.end()) return {FailureKind::Imprecise, "the module has no weights to judge"};
  if (farthest->distance() > kFar) {
    return {far, fmt::format("{} = {:.2g} instead of {}, and {}", farthest->name, farthest->value, farthest->target,
                             change)};
  }
  return {FailureKind::Imprecise, fmt::format("every weight is within {:.1e} of its target; the test error is {:.2e}",
                                              farthest->distance(), result.values[single_module::test_mse])};
}

}  // namespace

Failure diagnose(const Cell& cell, const RunRecord& record, const RunResult& result) {
  const Found found = find(cell, record, result);
  const Basin where = basin(cell, record, result);
  return {std::string(name_of(found.kind)), found.detail,
          where == Basin::NoRegulariser ? "" : std::string(name_of(where))};
}

std::string_view name_of(FailureKind kind) {
  constexpr std::string_view names[] = {"not a number", "wrong weights", "gate undecided",
                                        "stuck",        "not converged", "imprecise"};
  return names[static_cast<std::size_t>(kind)];
}

// ---- before regularisation -----------------------------------------------------------------------------------------

std::optional<BeforeRegularisation> before_regularisation(const Cell& cell, const RunRecord& record,
                                                          std::uint32_t seed) {
  if (!has_targets(cell)) return std::nullopt;
  const auto is_on = [&](long step) {
    return std::ranges::any_of(cell.recipe.layers[0].regularisers, [&](const Regulariser& r) {
      return (r.kind == Regulariser::Kind::Sparsity || r.kind == Regulariser::Kind::Unit ||
              r.kind == Regulariser::Kind::Saturate) &&
             r.coefficient(step) != 0;
    });
  };
  const std::vector<long>& steps = record.steps;
  const auto first_on = std::find_if(steps.begin(), steps.end(), is_on);
  if (first_on == steps.begin() || first_on == steps.end()) return std::nullopt;

  BeforeRegularisation before;
  before.row = static_cast<std::size_t>(first_on - steps.begin()) - 1;
  before.below_loose_threshold = record.values[before.row][single_module::test_mse] < *cell.goal.loose_limit;
  // Lost weights round to nothing, and neither do weights that were not stored.
  const Result<Anatomy> anatomy = dissect(cell, record, before.row, seed);
  if (!anatomy) return before;
  const auto rounds = [](const Entry& entry) { return entry.rounds_to_target(); };
  before.weights_round_to_targets =
      std::all_of(anatomy->weights.begin(), anatomy->weights.end(), rounds) &&
      std::all_of(anatomy->input_gates.begin(), anatomy->input_gates.end(), rounds) &&
      std::all_of(anatomy->output_gates.begin(), anatomy->output_gates.end(), [](const Anatomy::OutputGate& gate) {
        return !gate.target || (std::round(gate.lowest) == *gate.target && std::round(gate.highest) == *gate.target);
      });
  return before;
}

Basin basin(const Cell& cell, const RunRecord& record, const RunResult& result) {
  const std::optional<BeforeRegularisation> before = before_regularisation(cell, record, result.seed);
  if (!before) return Basin::NoRegulariser;
  if (result.success) return Basin::Solved;
  return before->weights_round_to_targets ? Basin::RegularisationFailure : Basin::WrongBasin;
}

std::string_view name_of(Basin basin) {
  constexpr std::string_view names[] = {"no regulariser", "wrong basin", "regularisation failure", "solved"};
  return names[static_cast<std::size_t>(basin)];
}

}  // namespace nalm
