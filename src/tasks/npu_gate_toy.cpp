#include "tasks/npu_gate_toy.hpp"

#include <fmt/format.h>

#include <cmath>

#include "experiment/task.hpp"
#include "nalm/detail/portable.hpp"
#include "train/bundle.hpp"

namespace nalm {
namespace npu_gate_toy_task {
namespace {

constexpr double x1_end = 2, x2_end = 0.05;
constexpr std::string_view operation = "f(x1,x2)=x1";
constexpr ToyGate gates[] = {{1, 1}, {0.5, 0.5}, {1, 0}};
constexpr double start_w1 = 0.5, start_w2 = 0.9;  // where the naive unit's gradient is small

struct Point {
  double w1, w2;
};
constexpr Point points[] = {{1, 0}, {0.5, 0.2}, {1, 0.5}, {0.5, 0.9}, {2, 0.9}, {0, 0.9}};
constexpr int table_points = 100, log_points = 30;

std::string name_of(const ToyGate& gate) { return fmt::format("gate ({},{})", gate.first, gate.second); }

Cell table_cell(const ToyGate& gate, const Point& point) {
  Cell cell(name_of(gate), operation, fmt::format("({},{})", point.w1, point.w2));
  cell.measures = {{.name = "gradient norm"}, {.name = "loss"}};
  cell.own = [=](const OwnRunSettings&) -> Result<RunRecord> {
    const ToyLoss at = gate_toy_loss(gate, point.w1, point.w2, table_points);
    return RunRecord{{0}, {{at.gradient_norm, at.loss}}, {{point.w1, point.w2}}, {}, {}};
  };
  return cell;
}

// Training from the flat place, on the engine's Adam, with gates that stay what they are.
Cell training_cell(const ToyGate& gate) {
  Cell cell(name_of(gate), operation, fmt::format("trained from ({},{})", start_w1, start_w2));
  cell.measures = {{.name = "w1"}, {.name = "w2"}, {.name = "loss"}};
  cell.goal = {.measure = "loss", .limit = 1e-4};
  cell.own_cost = 20;
  cell.own = [=](const OwnRunSettings& settings) -> Result<RunRecord> {
    const Result<const simd::Target*> target = simd::choose_target();
    if (!target) return target.error();
    const Model start = gate_toy_model(gate, start_w1, start_w2);
    Recipe recipe;
    recipe.training.optimiser = Adam{.learning_rate = settings.learning_rate.value_or(5e-3)};
    recipe.training.batch = 32;
    if (start.layers.front().module->name == "NPU")
      recipe.training.phases = Phases{.parameter = "g", .block = 1, .first = 1};  // no iteration is the gate's
    const std::size_t batch = static_cast<std::size_t>(recipe.training.batch);
    Bundle<double> bundle(start.stack(), recipe, **target);
    for (int lane = 0; lane < bundle.lanes(); ++lane) {
      bundle.start(lane, std::make_shared<Xoshiro>(settings.seed));
      bundle.network().set_parameters(lane, 0, start.layers.front().parameters);
    }
    // All lanes are the same run.
    const std::size_t lanes = static_cast<std::size_t>(bundle.lanes());
    AlignedVector<double> x(2 * batch * lanes), t(batch * lanes);
    Xoshiro stream = stream_of("npu-gate-toy, batches", settings.seed);
    RunRecord record;
    const long last = settings.iterations.value_or(2000);
    for (long e = 0; !settings.stop.stop_requested(); ++e) {
      if (e % 100 == 0 || e == last) {
        const std::vector<double> weights = bundle.network().parameters(0, 0);
        record.steps.push_back(e);
        record.values.push_back({weights[0], weights[1], gate_toy_loss(gate, weights[0], weights[1], log_points).loss});
        record.keep(weights);
      }
      if (e == last) break;
      for (std::size_t k = 0; k < batch; ++k) {
        const double x1 = stream.between(0, x1_end), x2 = stream.between(-x2_end, x2_end);
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          x[2 * k * lanes + lane] = t[k * lanes + lane] = x1;
          x[(2 * k + 1) * lanes + lane] = std::fabs(x2);
        }
      }
      bundle.step(x.data(), t.data(), recipe.training.batch);
    }
    return record;
  };
  return cell;
}

std::vector<Cell> cells(std::string_view /*preset*/) {
  std::vector<Cell> list;
  for (const Point& point : points)
    for (const ToyGate& gate : gates) list.push_back(table_cell(gate, point));
  for (const ToyGate& gate : gates) list.push_back(training_cell(gate));
  return list;
}

}  // namespace
}  // namespace npu_gate_toy_task

Model gate_toy_model(const ToyGate& gate, double w1, double w2) {
  const bool naive = gate.first == 1 && gate.second == 1;
  const ModuleInfo& module = **find_module(naive ? "NaiveNPU" : "NPU");
  std::vector<double> parameters{w1, w2, 0, 0};
  if (!naive) parameters.insert(parameters.end(), {gate.first, gate.second});
  return {{{&module, default_shape(module, 2, 1), std::move(parameters)}}, {}};
}

ToyLoss gate_toy_loss(const ToyGate& gate, double w1, double w2, int count) {
  using npu_gate_toy_task::x1_end, npu_gate_toy_task::x2_end;
  std::vector<double> x, t;
  const int x1_count = 5 * count;  // the logarithm of x1 matters more
  for (int i = 0; i < x1_count; ++i) {
    for (int j = 0; j < count; ++j) {
      x.insert(x.end(), {x1_end * (i + 0.5) / x1_count, x2_end * (j + 0.5) / count});
      t.push_back(x1_end * (i + 0.5) / x1_count);
    }
  }
  const Result<Gradients> at = gradients(gate_toy_model(gate, w1, w2), x, t, Precision::Double);
  if (!at) return {std::nan(""), std::nan("")};
  return {at->mse, portable::hypot(at->layers.front()[0], at->layers.front()[1])};
}

extern const Task npu_gate_toy{
    .name = "npu-gate-toy",
    .title = "Why the NPU has a gate",
    .source = "Heim, Pevný, Šmídl: Neural Power Units, NeurIPS 2020, figure 3",
    .settings =
        "One unit y = r1^w1 * r2^w2 with fixed gates should learn f(x1, x2) = x1; x1 ~ U(0, 2), x2 ~ U(0, 0.05). The "
        "table has the loss and the norm of its gradient at chosen weights: with gates (1,1), the NaiveNPU, the "
        "surface is nearly flat where w2 is large; with gates (1,0) w2 does not matter. Trainings: Adam, learning rate "
        "0.005, batches of 32, 2000 iterations from (0.5, 0.9). Success: a loss below 1e-4.",
    .differences =
        {"The paper shows gradient norms as a figure only; the numbers are by the midpoint rule with 500 x 100 "
         "points (nalm figure npu-gate draws the surfaces).",
         "The paper trains nothing here. The trainings start where the naive unit's gradient is small, with gates that "
         "stay what they are."},
    .presets = {{"quick", "the table, and three trainings", 3, "1 s"}, {"full", "the same with more seeds", 10, "2 s"}},
    // The table needs no training; tests/tasks/npu_gate_toy_test.cpp compares it.
    .checks = {{"gate (1,0)", npu_gate_toy_task::operation, "trained from (0.5,0.9)", "w1", true, 0.99},
               {"gate (1,0)", npu_gate_toy_task::operation, "trained from (0.5,0.9)", "loss", false, 1e-6},
               {"gate (1,1)", npu_gate_toy_task::operation, "trained from (0.5,0.9)", "loss", false, 1e-6}},
    .preset_cells = npu_gate_toy_task::cells,
};

}  // namespace nalm
