// The epidemic as it was published: NPU, RealNPU and a dense network as right-hand sides, by Euler's method.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "numeric/quasi_newton.hpp"
#include "tasks/sir_discovery.hpp"
#include "train/bundle.hpp"

namespace nalm {
namespace {

using numeric::Vector;

constexpr double values_in_all = 3.0 * sir_points;

struct Setting {
  std::string model;
  int hidden;
  double strength;  // of L1
  long iterations, refinements;

  Stack layers() const {
    if (model == "Dense")
      return stack_of(fmt::format("Dense:{0}(activation=tanh),Dense:{0}(activation=tanh),Linear:3", hidden), 3);
    return stack_of(fmt::format("{}:{},Linear:3(bias=no)", model, hidden), 3);
  }
};

Recipe recipe_of(const Setting& setting, std::size_t layers, double learning_rate) {
  Recipe recipe;
  recipe.training.optimiser = RmsProp{.learning_rate = learning_rate};
  recipe.training.batch = 1;
  recipe.layers.resize(layers);
  for (LayerRecipe& layer : recipe.layers) {
    for (const char* parameter : {"W", "W_re"}) layer.starts.push_back({parameter, 0.2, 0, StartChange::Kind::Scaled});
    // An imaginary power that starts at 0 stays there on positive states, and the NPU would be the RealNPU.
    const double r = 0.2 * std::sqrt(6.0 / (3 + setting.hidden));
    layer.starts.push_back({"W_im", -r, r});
    if (setting.strength > 0) layer.regularisers = {Regulariser::l1(setting.strength, 0, 1, 0)};
  }
  return recipe;
}

// The mean squared error over all points with its L1 penalty, as many vectors at a time as there are lanes.
class Objective {
 public:
  Objective(Network<double>& network, const AlignedVector<double>& x, const AlignedVector<double>& t, double strength)
      : network_(network), x_(x), t_(t), strength_(strength) {}

  std::vector<numeric::ValueAndGradient> operator()(const std::vector<Vector>& points) {
    const std::size_t lanes = static_cast<std::size_t>(network_.lanes());
    std::vector<numeric::ValueAndGradient> result;
    for (std::size_t first = 0; first < points.size(); first += lanes) {
      const std::size_t count = std::min(lanes, points.size() - first);
      for (std::size_t l = 0; l < lanes; ++l)
        network_.set_parameters(static_cast<int>(l), points[first + std::min(l, count - 1)]);
      network_.update_weights();
      Vector sums(lanes);
      network_.squared_error(x_.data(), t_.data(), 1, sums);
      network_.clear_gradients();
      network_.learn(x_.data(), t_.data(), 1, 2 / values_in_all);
      network_.pull_back();
      for (std::size_t l = 0; l < count; ++l) result.push_back(one(static_cast<int>(l), sums[l], points[first + l]));
    }
    return result;
  }

  double mse(const Vector& point) {
    for (int l = 0; l < network_.lanes(); ++l) network_.set_parameters(l, point);
    network_.update_weights();
    Vector sums(static_cast<std::size_t>(network_.lanes()));
    network_.squared_error(x_.data(), t_.data(), 1, sums);
    return std::isfinite(sums[0]) ? sums[0] / values_in_all : std::numeric_limits<double>::infinity();
  }

 private:
  numeric::ValueAndGradient one(int lane, double sum, const Vector& point) const {
    numeric::ValueAndGradient result{sum / values_in_all, network_.gradients(lane)};
    for (std::size_t k = 0; k < point.size(); ++k) {
      result.value += strength_ * std::fabs(point[k]);
      result.gradient[k] += strength_ * (point[k] > 0 ? 1 : point[k] < 0 ? -1 : 0);
    }
    return result;
  }

  Network<double>& network_;
  const AlignedVector<double>&x_, &t_;
  double strength_;
};

Result<RunRecord> run(const Setting& setting, const OwnRunSettings& own) {
  const Result<const simd::Target*> target = simd::choose_target();
  if (!target) return target.error();
  const Stack layers = setting.layers();
  const double learning_rate = own.learning_rate.value_or(0.005);
  Bundle<double> bundle(layers, euler(layers), recipe_of(setting, layers.size(), learning_rate), **target);
  const std::size_t lanes = static_cast<std::size_t>(bundle.lanes());
  AlignedVector<double> x, t;
  for (const double value : sir_start) x.insert(x.end(), lanes, value);
  const auto trajectory = sir_trajectory({});
  for (std::size_t p = 1; p < trajectory.size(); ++p)
    for (const double value : trajectory[p]) t.insert(t.end(), lanes, value);
  for (int l = 0; l < bundle.lanes(); ++l)
    bundle.start(l, std::make_shared<Xoshiro>(stream_of("sir euler start", own.seed)));

  const long iterations = own.iterations.value_or(setting.iterations);
  Objective objective(bundle.network(), x, t, setting.strength);
  RunRecord record;
  const auto log = [&](long step, const Vector& parameters) {
    record.steps.push_back(step);
    record.values.push_back({objective.mse(parameters), non_zero_count(parameters)});
  };
  for (long e = 0; e < iterations; ++e) {
    if (own.stop.stop_requested()) return RunRecord{};
    bundle.step(x.data(), t.data(), 1);
  }
  Vector parameters = bundle.network().parameters(0);
  log(iterations, parameters);
  // With a learning rate of 0 nothing is learned here either.
  const int refinements = learning_rate > 0 ? static_cast<int>(setting.refinements) : 0;
  const numeric::Lowest found =
      numeric::minimise_smooth([&](const std::vector<Vector>& points) { return objective(points); }, parameters,
                               {.steps = refinements, .stop = [&] { return own.stop.stop_requested(); }});
  log(iterations + std::max(1, found.steps), found.parameters);
  record.keep(found.parameters);
  return record;
}

}  // namespace

Wiring euler(const Stack& layers) {
  Wiring wiring(3);
  std::vector<int> states{0};
  for (int step = 0; step < static_cast<int>(sir_end); ++step) {
    int slope = states.back();
    for (int k = 0; k < static_cast<int>(layers.size()); ++k) slope = wiring.layer(layers, k, slope);
    states.push_back(wiring.sum({{1, states.back()}, {1, slope}}, sir_lowest));
  }
  // Points lie between steps.
  std::vector<Wiring::Port> ports;
  for (int point = 1; point < sir_points; ++point) {
    const double time = sir_end * point / (sir_points - 1);
    const std::size_t before = static_cast<std::size_t>(std::min(std::floor(time), sir_end - 1));
    const double share = time - static_cast<double>(before);
    const int state = wiring.sum({{1 - share, states[before]}, {share, states[before + 1]}});
    for (int k = 0; k < 3; ++k) ports.push_back({state, k});
  }
  wiring.pick(std::move(ports));
  return wiring;
}

std::vector<Cell> sir_euler_cells(bool quick) {
  std::vector<Setting> settings;
  if (quick) {
    settings = {{"Dense", 6, 0, 300, 100}};
  } else {
    for (const char* model : {"NPU", "RealNPU", "Dense"})
      for (const int hidden : {6, 9, 12, 15, 20})
        for (const double strength : {0.0, 0.01, 0.1, 1.0}) settings.push_back({model, hidden, strength, 3000, 1000});
  }
  std::vector<Cell> list;
  for (const Setting& setting : settings) {
    Cell cell(setting.model, sir_euler_operation, fmt::format("hidden {}, L1 {:g}", setting.hidden, setting.strength));
    for (const char* name : {"MSE", "non-zero"}) cell.measures.push_back({name, {}, 0, 0});
    cell.goal = {"MSE", "", 0.1, false, {}};
    cell.own_cost = setting.hidden;
    cell.own = [setting](const OwnRunSettings& own) { return run(setting, own); };
    list.push_back(std::move(cell));
  }
  return list;
}

}  // namespace nalm
