// Heim's "simple arithmetic": one network learns x + y, x * y, x / y and the root of x at once.
#include <fmt/format.h>

#include <cmath>

#include "experiment/task.hpp"

namespace nalm {
namespace simple_arithmetic_task {
namespace {

constexpr int inputs = 2, outputs = 4;
constexpr double lo = 0.1, hi = 2.1;
constexpr int validation_rows = 1000;
constexpr long iterations = 20000;
constexpr std::string_view names[outputs] = {"add", "mul", "div", "sqrt"};

void answer(double x, double y, double* t) {
  t[0] = x + y;
  t[1] = x * y;
  t[2] = x / y;
  t[3] = std::sqrt(x);
}

// Set 0: as in training. Then one set per output: a grid far beyond that, of positive numbers only for the root. The
// last one: the first three outputs together.
constexpr int first_output_set = 1, together_set = first_output_set + outputs;

class Data final : public RunData {
 public:
  explicit Data(std::uint32_t seed) : random_(stream_of("simple arithmetic training", seed)), seed_(seed) {}

  void batch(long, std::span<double> x, std::span<double> t) override { fill(random_, x, t); }

  Rows set(int k) override {
    Rows rows;
    if (k == 0) {
      rows = {std::vector<double>(validation_rows * inputs), std::vector<double>(validation_rows * outputs)};
      Xoshiro random = stream_of("simple arithmetic validation", seed_);
      fill(random, rows.x, rows.t);
      return rows;
    }
    const int output = k - first_output_set;
    const bool positive = output == 3;
    const int count = positive ? 40 : 41;
    const auto at = [&](int j) { return positive ? 0.1 + 0.1 * j : -4.1 + 0.2 * j; };
    for (int i = 0; i < count; ++i) {
      for (int j = 0; j < count; ++j) {
        rows.x.insert(rows.x.end(), {at(i), at(j)});
        double t[outputs];
        answer(at(i), at(j), t);
        if (k == together_set)
          rows.t.insert(rows.t.end(), t, t + 3);
        else
          rows.t.push_back(t[output]);
      }
    }
    return rows;
  }

 private:
  static void fill(Xoshiro& random, std::span<double> x, std::span<double> t) {
    for (std::size_t r = 0; r < x.size() / inputs; ++r) {
      x[2 * r] = random.between(lo, hi);
      x[2 * r + 1] = random.between(lo, hi);
      answer(x[2 * r], x[2 * r + 1], &t[outputs * r]);
    }
  }

  Xoshiro random_;
  std::uint32_t seed_;
};

struct NetworkOf {
  std::string_view model, layers;
  Optimiser optimiser;
};
const std::vector<NetworkOf>& networks() {
  static const std::vector<NetworkOf> all = {
      {"NPU", "NPU:6,Linear:4(bias=no)", Adam{.learning_rate = 5e-3}},
      {"RealNPU", "RealNPU:6,Linear:4(bias=no)", Adam{.learning_rate = 5e-3}},
      {"NMU", "NMU:6,Linear:4(bias=no)", Adam{.learning_rate = 5e-3}},
      {"NALU", "NALU:6,NALU:4", RmsProp{.learning_rate = 5e-3}},
      {"iNALU", "iNALU:6,iNALU:4", RmsProp{.learning_rate = 1e-3}},
      {"Dense", "Dense:50(activation=sigmoid),Dense:50(activation=sigmoid),Linear:4", Adam{.learning_rate = 5e-3}},
  };
  return all;
}

Cell cell_of(const NetworkOf& network) {
  Cell cell(network.model, "all", "U(.1,2.1)");
  cell.stack = stack_of(network.layers, inputs);
  TrainingRecipe& recipe = cell.recipe.training;
  recipe.optimiser = network.optimiser;
  recipe.batch = 100;
  recipe.iterations = iterations;
  if (network.model == "iNALU")
    cell.recipe.layers.assign(
        2, {.regularisers = {Regulariser::saturate(1e-5, static_cast<double>(iterations / 2))}, .starts = {}});

  cell.measures = {{.name = "validation MSE", .set = 0}};
  cell.set_wirings.resize(together_set + 1);
  const auto measure = [&](std::string name, int set, std::initializer_list<int> picked) {
    cell.measures.push_back({.name = std::move(name), .kind = Measure::Kind::Mae, .set = set});
    Wiring wiring = Wiring::of(cell.stack);
    std::vector<Wiring::Port> ports;
    for (const int output : picked) ports.push_back({static_cast<int>(wiring.nodes().size()) - 1, output});
    wiring.pick(std::move(ports));
    cell.set_wirings[static_cast<std::size_t>(set)] = std::move(wiring);
  };
  for (int k = 0; k < outputs; ++k) measure(fmt::format("MAE {}", names[k]), first_output_set + k, {k});
  measure("MAE add, mul, div", together_set, {0, 1, 2});
  cell.goal = {.measure = "MAE add, mul, div", .limit = 0.1};
  cell.data = [](std::uint32_t seed) -> std::unique_ptr<RunData> { return std::make_unique<Data>(seed); };
  return cell;
}

std::vector<Cell> cells(std::string_view preset) {
  std::vector<Cell> result;
  for (const NetworkOf& network : networks()) {
    if (preset == "quick" && network.model != "RealNPU" && network.model != "NMU") continue;
    result.push_back(cell_of(network));
  }
  return result;
}

}  // namespace
}  // namespace simple_arithmetic_task

extern const Task simple_arithmetic{
    .name = "simple-arithmetic",
    .title = "Simple arithmetic: sum, product, quotient and root of two inputs, learnt by one network",
    .source = "Heim, Pevný, Šmídl: Neural Power Units, NeurIPS 2020",
    .settings =
        "Inputs from U(0.1,2.1), batch 100, 20,000 iterations. Six units of one kind and a plain matrix; NALU and "
        "iNALU in both layers; a dense network of 50 and 50 sigmoids. Adam, learning rate 0.005; RMSProp for the NALU "
        "(0.005) and the iNALU (0.001, its weights pushed outwards in the second half). Errors are mean absolute "
        "errors on a grid from -4.1 to 3.9, for the root from 0.1 to 4.",
    .differences =
        {"The paper's iNALU has a gate that sees the input; this one is Schlör's.",
         "NPU and RealNPU give the same here, run by run: the imaginary weights start at 0 and stay there on positive "
         "inputs.",
         "The paper's table has means and standard errors of 20 runs, although it says medians; a few runs decide "
         "them.",
         "The paper's text says inputs up to 2, learning rate 0.001 and 10 hidden values for the dense network; its "
         "program, as here, has 2.1, 0.005 and 50.",
         "The paper knows no success. Here it is a mean absolute error below 0.1 of sum, product and quotient "
         "together."},
    .presets = {{"quick", "RealNPU and NMU", 8, "1 second"}, {"full", "everything, as published", 20, "a minute"}},
    .checks = {{"RealNPU", "all", "U(.1,2.1)", "MAE mul", false, 0.3},
               {"RealNPU", "all", "U(.1,2.1)", "MAE div", false, 0.2},
               {"NMU", "all", "U(.1,2.1)", "MAE mul", false, 0.5}},
    .preset_cells = simple_arithmetic_task::cells,
};

}  // namespace nalm
