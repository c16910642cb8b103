#include "tasks/identity.hpp"

#include <fmt/format.h>

#include <cmath>

#include "experiment/task.hpp"
#include "nalm/model.hpp"

namespace nalm {
namespace identity_function_task {
namespace {

constexpr double train_limit = 5, test_limit = 20;  // of the magnitude
constexpr int evaluation_rows = 2000;

class Data final : public RunData {
 public:
  explicit Data(std::uint32_t seed) : seed_(seed), stream_(stream_of("identity", seed)) {}

  void batch(long, std::span<double> x, std::span<double> t) override {
    for (double& value : x) value = static_cast<float>(stream_.between(-train_limit, train_limit));
    std::copy(x.begin(), x.end(), t.begin());
  }
  // Inside and outside of the training range.
  Rows set(int k) override {
    Xoshiro stream = stream_of(k == 0 ? "identity inside" : "identity outside", seed_);
    Rows rows;
    for (int r = 0; r < evaluation_rows; ++r) {
      const double magnitude = k == 0 ? stream.between(0, train_limit) : stream.between(train_limit, test_limit);
      rows.x.push_back(static_cast<float>(stream.unit() < 0.5 ? -magnitude : magnitude));
    }
    rows.t = rows.x;
    return rows;
  }

 private:
  std::uint32_t seed_;
  Xoshiro stream_;
};

// The activations of the figure under their usual names, none at all, and two units that were made for this.
constexpr std::pair<std::string_view, std::string_view> models[] = {
    {"sigmoid", "Dense:8(activation=sigmoid)"},
    {"tanh", "Dense:8(activation=tanh)"},
    {"hardtanh", "Dense:8(activation=hardtanh)"},
    {"softsign", "Dense:8(activation=softsign)"},
    {"ReLU6", "Dense:8(activation=relu6)"},
    {"ReLU", "Dense:8(activation=relu)"},
    {"LeakyReLU", "Dense:8(activation=leaky_relu)"},
    {"PReLU", "Dense:8(activation=prelu)"},
    {"ELU", "Dense:8(activation=elu)"},
    {"SELU", "Dense:8(activation=selu)"},
    {"softplus", "Dense:8(activation=softplus)"},
    {"tanhshrink", "Dense:8(activation=tanhshrink)"},
    {"hardshrink", "Dense:8(activation=hardshrink)"},
    {"softshrink", "Dense:8(activation=softshrink)"},
    {"none", "Linear:8"},
    {"NAC+", "NAC+:8"},
    {"NAU", "NAU:8"},
};

// Three hidden layers of eight, and a linear one behind them; the units are their own last layer.
Cell cell_of(std::string_view model, std::string_view layer, long iterations) {
  Cell cell(model, "identity", "[-5,5]");
  const std::string last = model.starts_with("NA") ? fmt::format("{}:1", model) : "Linear:1";
  cell.stack = stack_of(fmt::format("{0},{0},{0},{1}", layer, last), 1);
  cell.recipe.layers.resize(cell.stack.size());
  cell.recipe.training.optimiser = Adam{.learning_rate = 1e-2};
  cell.recipe.training.iterations = iterations;
  cell.log_every = iterations / 10;
  cell.measures = {{"inside", Measure::Kind::Mae, 0, 0}, {"outside", Measure::Kind::Mae, 1, 0}};
  // A hundredth of the mean magnitude of the inputs outside.
  cell.goal = {"outside", "", 0.01 * (train_limit + test_limit) / 2, false, {}};
  cell.data = [](std::uint32_t seed) { return std::make_unique<Data>(seed); };
  return cell;
}

std::vector<Cell> cells(std::string_view preset) {
  std::vector<Cell> list;
  for (const auto& [model, layer] : models) {
    if (preset != "quick") {
      list.push_back(cell_of(model, layer, 10000));
    } else if (model == "tanh" || model == "PReLU" || model == "none" || model == "NAC+") {
      list.push_back(cell_of(model, layer, 2000));
    }
  }
  return list;
}

}  // namespace
}  // namespace identity_function_task

Result<std::vector<IdentityCurve>> identity_curves(std::span<const double> inputs, int seeds) {
  const std::vector<Cell> all = identity_function_task::cells("full");
  std::vector<IdentityCurve> curves;
  std::vector<RunId> runs;
  for (std::size_t c = 0; c < all.size(); ++c) {
    curves.push_back({all[c].model, std::vector<double>(inputs.size())});
    for (int seed = 0; seed < seeds; ++seed) runs.push_back({c, static_cast<std::uint32_t>(seed)});
  }
  ExecutorSettings settings;
  settings.finished = [&](const FinishedRuns& finished) -> Status {
    for (const FinishedRun& run : finished.runs) {
      const Cell& cell = all[run.id.cell];
      const Result<Model> model = model_at(cell, run.record, run.record.rows() - 1);
      if (!model) return model.error();
      const Result<std::vector<double>> y = predict(*model, inputs, Precision::Double);
      if (!y) return y.error();
      for (std::size_t k = 0; k < inputs.size(); ++k)
        curves[run.id.cell].errors[k] += std::fabs((*y)[k] - inputs[k]) / seeds;
    }
    return Done{};
  };
  if (Status trained = train_networks(all, runs, settings); !trained) return trained.error();
  return curves;
}

extern const Task identity_function{
    .name = "identity-function",
    .title = "The identity function, inside and outside of the training range",
    .source = "Trask et al.: Neural Arithmetic Logic Units, NeurIPS 2018, the first figure",
    .settings =
        "A network of one input, three hidden layers of eight and a linear output learns y = x for x uniform in "
        "[-5,5], with 14 activations and none; layers of NAC+ and of NAU beside them. Squared error, Adam 0.01, 10,000 "
        "iterations. Measured is the mean absolute error inside, and outside where 5 < |x| < 20; success: below 0.125 "
        "outside, a hundredth of what x is there. `nalm figure identity` draws the error over x.",
    .differences =
        {"Size, iterations, learning rate and ranges are those of the paper; its optimiser and batches are not known "
         "to us: here Adam, and 128 fresh numbers for every iteration.",
         "The list of activations is that of the figure, not checked against the paper, with the constants that are "
         "usual: slope 0.01 (LeakyReLU) and 0.25 at the start (PReLU, one per layer), shrinking by 0.5.",
         "No figure was published as a number: the paper's statement is that all of them fail outside, the more the "
         "less linear they are, and PReLU least."},
    .presets = {{"quick", "tanh, PReLU, none and NAC+, 2,000 iterations", 4, "2 s"},
                {"full", "all activations, 10,000 iterations", 100, "5 min"}},
    .checks = {{"tanh", "identity", "[-5,5]", "inside", false, 0.3},
               {"PReLU", "identity", "[-5,5]", "inside", false, 0.3},
               {"none", "identity", "[-5,5]", "success", true, 1},
               {"NAC+", "identity", "[-5,5]", "outside", false, 1}},
    .preset_cells = identity_function_task::cells,
};

}  // namespace nalm
