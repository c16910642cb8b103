// How deep stacks of additive and multiplicative units may be and still learn: two to six layers, taking turns.
#include <fmt/format.h>

#include "experiment/task.hpp"
#include "nalm/model.hpp"

namespace nalm {
namespace deep_stacks_task {
namespace {

constexpr std::size_t evaluation_rows = 2000, threshold_rows = 10000;
constexpr double train_limit = 1, test_limit = 2;  // of the magnitude of the inputs

// The target of depth d, layer by layer: (u, v) becomes (u + v, u - v), then (u*v, v), then (u + v, u - v) again, and
// so on; the last layer gives its first value. Every product doubles the degree, and a product of two values can do no
// more, so that 2k layers of width 2 are needed for the degree 2^k; one layer more adds values of different degree,
// which no product of sums without a constant term gives.
double target(double u, double v, int depth) {
  for (int layer = 1; layer <= depth; ++layer) {
    const double first = layer % 2 == 1 ? u + v : u * v;
    v = layer % 2 == 1 ? u - v : v;
    u = first;
  }
  return u;
}

// Units that take turns.
struct Pair {
  std::string_view name, add, multiply;
};
constexpr Pair pairs[] = {
    {"NAU and NMU", "NAU", "NMU"},         {"NAU and sNMU", "NAU", "sNMU"},   {"NAU and NMRU", "NAU", "NMRU"},
    {"NAU and NRU-log", "NAU", "NRU-log"}, {"NAC+ and NAC*", "NAC+", "NAC*"},
};

Stack stack_of_depth(const Pair& pair, int depth, int hidden) {
  std::string text;
  for (int layer = 1; layer <= depth; ++layer)
    text += fmt::format("{}{}:{}", layer == 1 ? "" : ",", layer % 2 == 1 ? pair.add : pair.multiply,
                        layer == depth ? 1 : hidden);
  return stack_of(text, 2);
}

void draw(Xoshiro& stream, double least, double most, int depth, std::span<double> x, std::span<double> t) {
  for (double& value : x) {
    const double magnitude = stream.between(least, most);
    value = static_cast<float>(stream.unit() < 0.5 ? -magnitude : magnitude);
  }
  for (std::size_t r = 0; r < t.size(); ++r) t[r] = target(x[2 * r], x[2 * r + 1], depth);
}

// Rows outside of the training range, or inside.
Rows rows_of(Xoshiro stream, std::size_t count, bool outside, int depth) {
  Rows rows{std::vector<double>(2 * count), std::vector<double>(count)};
  draw(stream, outside ? train_limit : 0, outside ? test_limit : train_limit, depth, rows.x, rows.t);
  return rows;
}

class Data final : public RunData {
 public:
  Data(int depth, std::uint32_t seed) : depth_(depth), seed_(seed), stream_(stream_of("deep stacks", seed)) {}
  void batch(long, std::span<double> x, std::span<double> t) override { draw(stream_, 0, train_limit, depth_, x, t); }
  Rows set(int k) override {
    return rows_of(stream_of(k == 0 ? "deep stacks, validation" : "deep stacks, test", seed_), evaluation_rows, k == 1,
                   depth_);
  }

 private:
  int depth_;
  std::uint32_t seed_;
  Xoshiro stream_;
};

// The mean squared error outside of NAUs and NMUs that have every weight off by epsilon towards the inside.
double threshold(int depth, double epsilon) {
  Model model;
  for (const LayerSpec& layer : stack_of_depth(pairs[0], depth, 2)) {
    const bool adds = model.layers.size() % 2 == 0, one_output = layer.shape.outputs == 1;
    // [input][output]: the sum and the difference, or the product and the second value.
    const std::vector<double> exact = adds ? std::vector<double>{1, 1, 1, -1} : std::vector<double>{1, 0, 1, 1};
    std::vector<double> weights;
    for (std::size_t k = 0; k < 4; ++k)
      if (!one_output || k % 2 == 0) weights.push_back(exact[k] == 0 ? epsilon : exact[k] * (1 - epsilon));
    model.layers.push_back({layer.module, layer.shape, weights});
  }
  const Rows rows = rows_of(stream_of("deep stacks, threshold", 0), threshold_rows, true, depth);
  const Result<std::vector<double>> y = predict(model, rows.x, Precision::Double);
  double sum = 0;
  for (std::size_t r = 0; y && r < rows.t.size(); ++r) sum += ((*y)[r] - rows.t[r]) * ((*y)[r] - rows.t[r]);
  return sum / static_cast<double>(threshold_rows);
}

Cell cell_of(const Pair& pair, int depth, int hidden, long iterations) {
  Cell cell(pair.name, fmt::format("{} layers", depth), fmt::format("hidden {}", hidden));
  cell.stack = stack_of_depth(pair, depth, hidden);
  // The habits of the unit that multiplies, which is the harder one to train; every layer keeps its own regularisers.
  const Recipe multiplying = (*find_module(pair.multiply))->recipe();
  cell.recipe.training = multiplying.training;
  cell.recipe.training.loss = {};  // sums come out of some stacks, and their sign matters
  cell.recipe.training.cool_down = CoolDown{0.7 * static_cast<double>(iterations), static_cast<double>(iterations)};
  cell.recipe.training.iterations = iterations;
  cell.recipe.layers.clear();
  for (const LayerSpec& layer : cell.stack) {
    LayerRecipe own = layer.module->recipe().layers[0];
    for (Regulariser& r : own.regularisers)
      r.start = 0.4 * static_cast<double>(iterations), r.end = 0.7 * static_cast<double>(iterations);
    cell.recipe.layers.push_back(std::move(own));
  }
  cell.log_every = 1000;
  cell.measures = {{"validation", Measure::Kind::Mse, 0, 0},
                   {"test", Measure::Kind::Mse, 1, 0},
                   {"sparsity", Measure::Kind::Sparsity, 0, 0}};
  cell.goal = {"test", "validation", threshold(depth, 1e-5), false, {}};
  cell.data = [depth](std::uint32_t seed) { return std::make_unique<Data>(depth, seed); };
  return cell;
}

std::vector<Cell> cells(std::string_view preset) {
  if (preset == "quick") return {cell_of(pairs[0], 2, 2, 20000), cell_of(pairs[0], 3, 2, 20000)};
  std::vector<Cell> list;
  for (const int hidden : {2, 4})
    for (const Pair& pair : pairs)
      for (int depth = 2; depth <= 6; ++depth) list.push_back(cell_of(pair, depth, hidden, 50000));
  return list;
}

}  // namespace
}  // namespace deep_stacks_task

extern const Task deep_stacks{
    .name = "deep-stacks",
    .title = "Success against depth: two to six layers of additive and multiplicative units",
    .source = "the survey's open question: \"Deep stacking ... remains untested\"",
    .settings =
        "Two inputs, uniform in [-1,1], tested where both magnitudes lie in [1,2). The target is made layer by layer: "
        "sum and difference of the two values, then their product beside the second, and so on; the last layer gives "
        "the first. With two values per layer the degree doubles at most at every product, so that no shallower stack "
        "of this width is the target. Layers of an additive and of a multiplicative unit take turns, 2 or 4 wide. The "
        "training of the multiplicative unit's header, squared error, regularisers from 40 to 70 % of the iterations, "
        "learning rate falling to 0 from there on, batch 128. Success: test error below that of NAUs and NMUs with "
        "every weight off by 1e-5, at the row with the smallest validation error.",
    .differences = {"Target and protocol are this project's own: nothing was published."},
    .presets = {{"quick", "NAU and NMU, 2 and 3 layers, 20,000 iterations", 8, "3 s"},
                {"full", "all units, 2 to 6 layers, 50,000 iterations", 25, "15 min"}},
    .checks = {{"NAU and NMU", "2 layers", "hidden 2", "success", true, 0.25},
               {"NAU and NMU", "3 layers", "hidden 2", "success", true, 0.25}},
    .preset_cells = deep_stacks_task::cells,
};

}  // namespace nalm
