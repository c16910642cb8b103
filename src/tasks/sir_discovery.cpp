#include "tasks/sir_discovery.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/numeric/odeint/integrate/integrate_times.hpp>
#include <boost/numeric/odeint/stepper/generation.hpp>
#include <boost/numeric/odeint/stepper/runge_kutta_dopri5.hpp>
#include <cmath>
#include <limits>
#include <optional>

#include "nalm/detail/portable.hpp"
#include "numeric/levenberg_marquardt.hpp"
#include "train/bundle.hpp"

namespace nalm {
namespace sir_discovery_task {
namespace {

constexpr double typical_state = 30;
constexpr int steps_between = 11;  // 200/39/11 = 0.466
constexpr int starts = 4;          // per run; the best of them goes on
constexpr int outputs = 3 * (sir_points - 1);
constexpr std::array<char, 3> letters{'S', 'I', 'R'};

using numeric::Matrix;
using numeric::Vector;

// How the curves are followed.
enum class Course {
  Whole,      // from the first point to the last
  Intervals,  // from every point to the next: what goes wrong in one interval does not spoil the others
};

struct Curves {
  Wiring wiring;
  int rows;
  Vector x, wanted;  // row by row

  Curves(const Stack& layers, Course course)
      : wiring(runge_kutta(layers, course == Course::Whole ? sir_end : sir_end / (sir_points - 1),
                           course == Course::Whole ? sir_points : 2, steps_between)),
        rows(course == Course::Whole ? 1 : sir_points - 1) {
    const auto trajectory = sir_trajectory({});
    for (std::size_t p = 1; p < trajectory.size(); ++p) {
      if (course == Course::Intervals || p == 1) x.insert(x.end(), trajectory[p - 1].begin(), trajectory[p - 1].end());
      wanted.insert(wanted.end(), trajectory[p].begin(), trajectory[p].end());
    }
  }
};

// Errors of a network for many parameter vectors, one per lane.
class Errors {
 public:
  Errors(const Stack& layers, const Curves& curves, const simd::Target& target)
      : network_(layers, curves.wiring, target),
        rows_(curves.rows),
        lanes_(static_cast<std::size_t>(network_.lanes())),
        y_(outputs * lanes_),
        wanted_(curves.wanted) {
    for (const double value : curves.x) x_.insert(x_.end(), lanes_, value);
  }

  // y - wanted, for each of the parameter vectors.
  std::vector<Vector> of(const std::vector<Vector>& parameters) {
    std::vector<Vector> result;
    for (std::size_t first = 0; first < parameters.size(); first += lanes_) {
      const std::size_t count = std::min(lanes_, parameters.size() - first);
      for (std::size_t l = 0; l < lanes_; ++l)
        network_.set_parameters(static_cast<int>(l), parameters[first + std::min(l, count - 1)]);
      network_.update_weights();
      network_.predict(x_.data(), y_.data(), rows_);
      for (std::size_t l = 0; l < count; ++l) {
        Vector errors(outputs);
        for (std::size_t j = 0; j < outputs; ++j) errors[j] = y_[j * lanes_ + l] - wanted_[j];
        result.push_back(std::move(errors));
      }
    }
    return result;
  }

 private:
  Network<double> network_;
  int rows_;
  std::size_t lanes_;
  AlignedVector<double> x_, y_;
  Vector wanted_;
};

// Over all points, the first included, whose error is 0.
double mse_of(const Vector& errors) {
  const double sum = numeric::dot(errors, errors) / (3.0 * sir_points);
  return std::isfinite(sum) ? sum : std::numeric_limits<double>::infinity();
}

// Least squares over the free parameters, with slopes by differences: as many forward passes as there are parameters,
// in lanes, are cheaper than as many backward passes as there are points.
double polish(Errors& errors, Vector& parameters, const std::vector<bool>& free, int iterations,
              const std::stop_token& stop) {
  std::vector<std::size_t> which;
  Vector start;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    if (free[k]) which.push_back(k), start.push_back(parameters[k]);
  }
  const auto with = [&](const Vector& values) {
    Vector all = parameters;
    for (std::size_t c = 0; c < which.size(); ++c) all[which[c]] = values[c];
    return all;
  };
  const numeric::LeastSquaresProblem problem{[&](const std::vector<Vector>& trials) {
                                               std::vector<Vector> all;
                                               for (const Vector& values : trials) all.push_back(with(values));
                                               Vector result;
                                               for (const Vector& e : errors.of(all)) result.push_back(mse_of(e));
                                               return result;
                                             },
                                             [&](const Vector& values, Vector& residuals, Matrix& slopes) {
                                               std::vector<Vector> moved{with(values)};
                                               Vector steps;
                                               for (std::size_t c = 0; c < which.size(); ++c) {
                                                 steps.push_back(1e-6 * std::max(std::fabs(values[c]), 1e-2));
                                                 moved.push_back(moved[0]);
                                                 moved.back()[which[c]] += steps.back();
                                               }
                                               const std::vector<Vector> shifted = errors.of(moved);
                                               residuals = shifted[0];
                                               slopes = Matrix(outputs, which.size());
                                               for (std::size_t c = 0; c < which.size(); ++c)
                                                 for (std::size_t r = 0; r < outputs; ++r)
                                                   slopes(r, c) = (shifted[c + 1][r] - residuals[r]) / steps[c];
                                             }};
  // Several dampings at once: they share the lanes.
  const numeric::Damping damping{.factors = {0.1, 1, 10, 1000}, .after_success = 1, .after_failure = 1e4};
  const numeric::Minimum found = numeric::minimise(
      problem, std::move(start),
      {.steps = iterations, .good_enough = 1e-12, .least_gain = 1e-5, .damping = damping, .stop = [&] {
         return stop.stop_requested();
       }});
  parameters = with(found.parameters);
  return found.error;
}

// The position of a parameter: powers first, [input][unit], then three gates, then factors, [unit][output].
struct Places {
  std::size_t units;
  std::size_t power(std::size_t input, std::size_t unit) const { return input * units + unit; }
  std::size_t gate(std::size_t input) const { return 3 * units + input; }
  std::size_t factor(std::size_t unit, std::size_t output) const { return 3 * units + 3 + 3 * unit + output; }
};

// A network of more units than the truth has shares the work among them. Units go, one after the other, as long as the
// others can do without; then single parameters.
struct Pruned {
  Vector parameters;
  std::vector<bool> free;
  double mse;
};

constexpr double good_enough = 1e-3;  // for going on with fewer units: what comes after can still repair it
constexpr double rounding = 1e-7;     // errors of the solver: below this, smaller is no better

void remove_units(Errors& errors, const Places& places, Pruned& now, const std::stop_token& stop) {
  for (std::vector<bool> gone(places.units, false);;) {
    std::optional<Pruned> best;
    std::size_t removed = 0;
    for (std::size_t u = 0; u < places.units; ++u) {
      if (gone[u] || stop.stop_requested()) continue;
      Pruned trial = now;
      for (std::size_t k = 0; k < 3; ++k)
        for (const std::size_t place : {places.power(k, u), places.factor(u, k)})
          trial.parameters[place] = 0, trial.free[place] = false;
      trial.mse = polish(errors, trial.parameters, trial.free, 60, stop);
      if (!best || trial.mse < best->mse) best = std::move(trial), removed = u;
    }
    if (!best) return;
    best->mse = polish(errors, best->parameters, best->free, 200, stop);
    if (!(best->mse < std::max(good_enough, now.mse))) return;
    gone[removed] = true;
    now = std::move(*best);
  }
}

// The least squares have other bottoms than the deepest: what is a plain column in the truth can be found as a product
// of small powers that looks alike. So each unit is tried as each of the columns alone.
void try_single_columns(Errors& errors, const Places& places, Pruned& now, const std::stop_token& stop) {
  for (;;) {
    std::optional<Pruned> best;
    for (std::size_t u = 0; u < places.units; ++u) {
      if (!now.free[places.power(0, u)]) continue;  // the unit is gone
      for (std::size_t column = 0; column < 3; ++column) {
        if (stop.stop_requested()) return;
        Pruned trial = now;
        double powers = 0;
        for (std::size_t k = 0; k < 3; ++k) {
          powers += trial.parameters[places.power(k, u)];
          trial.parameters[places.power(k, u)] = k == column ? 1 : 0;
        }
        for (std::size_t k = 0; k < 3; ++k)
          trial.parameters[places.factor(u, k)] *= portable::pow(typical_state, powers - 1);
        trial.mse = polish(errors, trial.parameters, trial.free, 100, stop);
        if (!best || trial.mse < best->mse) best = std::move(trial);
      }
    }
    if (!best || !(best->mse < 0.5 * now.mse)) return;
    now = std::move(*best);
  }
}

void remove_parameters(Errors& errors, const Places& places, Pruned& now, const std::stop_token& stop) {
  const auto size = [&](std::size_t k) {
    if (k < places.gate(0)) return std::fabs(now.parameters[k]);
    // A factor counts with the typical size of what it multiplies.
    double typical = 1;
    for (std::size_t i = 0; i < 3; ++i)
      typical *= portable::pow(typical_state, now.parameters[places.power(i, (k - places.factor(0, 0)) / 3)]);
    return std::fabs(now.parameters[k]) * typical;
  };
  for (bool again = true; again;) {
    again = false;
    std::vector<std::size_t> order;
    for (std::size_t k = 0; k < now.parameters.size(); ++k)
      if (now.free[k]) order.push_back(k);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return size(a) < size(b); });
    for (const std::size_t k : order) {
      if (stop.stop_requested()) return;
      Pruned trial = now;
      trial.parameters[k] = 0, trial.free[k] = false;
      trial.mse = polish(errors, trial.parameters, trial.free, 30, stop);
      if (!(trial.mse < std::max(rounding, 1.5 * now.mse))) continue;
      now = std::move(trial);
      again = true;
      break;
    }
  }
}

// The unit that the infection goes through: it has powers of S and I, and takes the most from S.
struct Infection {
  double gamma = std::numeric_limits<double>::infinity(), kappa = gamma;
};
Infection infection_of(const Places& places, const Vector& p) {
  Infection result;
  double largest = 0;
  for (std::size_t u = 0; u < places.units; ++u) {
    const double s = p[places.power(0, u)], i = p[places.power(1, u)];
    const double effect = -p[places.factor(u, 0)] * portable::pow(typical_state, s + i);
    if (s == 0 || i == 0 || effect <= largest) continue;
    largest = effect;
    result = {i, s};
  }
  return result;
}

std::string equations(const Places& places, const Vector& p) {
  std::string text;
  for (std::size_t row = 0; row < 3; ++row) {
    text += fmt::format("{}d{}/dt =", row ? "; " : "", letters[row]);
    bool any = false;
    for (std::size_t u = 0; u < places.units; ++u) {
      const double factor = p[places.factor(u, row)];
      if (factor == 0) continue;
      text += fmt::format("{}{:.4g}", factor < 0 ? " - " : any ? " + " : " ", std::fabs(factor));
      for (std::size_t i = 0; i < 3; ++i)
        if (p[places.power(i, u)] != 0) text += fmt::format("*{}^{:.4g}", letters[i], p[places.power(i, u)]);
      any = true;
    }
    if (!any) text += " 0";
  }
  return text;
}

struct Setting {
  std::string model;
  int hidden;
  double strength;  // of L1
  long iterations;
};

Result<RunRecord> run(const Setting& setting, const OwnRunSettings& own) {
  const Result<const simd::Target*> target = simd::choose_target();
  if (!target) return target.error();
  const Stack layers = stack_of(fmt::format("{}:{},Linear:3(bias=no)", setting.model, setting.hidden), 3);
  Recipe recipe;
  recipe.training.optimiser = RmsProp{.learning_rate = own.learning_rate.value_or(0.005)};
  recipe.training.batch = 1;
  const std::vector<StartChange> small = {{"W_re", 0.2, 0, StartChange::Kind::Scaled},
                                          {"W", 0.2, 0, StartChange::Kind::Scaled}};
  recipe.layers.assign(2, {.regularisers = {}, .starts = small});
  if (setting.strength > 0)
    for (auto& layer : recipe.layers) layer.regularisers = {Regulariser::l1(setting.strength, 0, 1, 0)};
  const long iterations = own.iterations.value_or(setting.iterations);

  const Curves intervals(layers, Course::Intervals), whole(layers, Course::Whole);
  Errors interval_errors(layers, intervals, **target), errors(layers, whole, **target);
  const Places places{static_cast<std::size_t>(setting.hidden)};
  recipe.training.batch = intervals.rows;
  const bool learns = recipe.training.optimiser.learning_rate() > 0;
  Pruned best{{}, {}, std::numeric_limits<double>::infinity()};
  for (int first = 0; first < starts;) {
    Bundle<double> bundle(layers, intervals.wiring, recipe, **target);
    const std::size_t lanes = static_cast<std::size_t>(bundle.lanes());
    AlignedVector<double> x, t;
    for (const double value : intervals.x) x.insert(x.end(), lanes, value);
    for (const double value : intervals.wanted) t.insert(t.end(), lanes, value);
    for (std::size_t l = 0; l < lanes; ++l)
      bundle.start(static_cast<int>(l), std::make_shared<Xoshiro>(stream_of(
                                            fmt::format("sir start {}", first + static_cast<int>(l)), own.seed)));
    for (long e = 0; e < iterations; ++e) {
      if (own.stop.stop_requested()) return RunRecord{};
      bundle.step(x.data(), t.data(), intervals.rows);
    }
    for (std::size_t l = 0; l < lanes && first < starts; ++l, ++first) {
      Pruned start{bundle.network().parameters(static_cast<int>(l)), {}, 0};
      start.free.assign(start.parameters.size(), true);
      // Gates decide themselves: an input is used.
      for (std::size_t k = 0; k < 3; ++k) start.parameters[places.gate(k)] = 1, start.free[places.gate(k)] = false;
      // With a learning rate of 0 nothing is learned here either.
      start.mse = polish(interval_errors, start.parameters, start.free, learns ? 200 : 0, own.stop);
      if (best.parameters.empty() || start.mse < best.mse) best = std::move(start);
    }
  }
  const auto row = [&] {
    const Infection infection = infection_of(places, best.parameters);
    const double worst = std::max(std::fabs(infection.gamma - 0.5), std::fabs(infection.kappa - 0.5));
    return std::vector<double>{mse_of(errors.of({best.parameters}).front()), non_zero_count(best.parameters),
                               infection.gamma, infection.kappa, worst};
  };
  RunRecord record;
  record.steps = {iterations};
  record.values = {row()};
  if (learns) {
    remove_units(interval_errors, places, best, own.stop);
    try_single_columns(interval_errors, places, best, own.stop);
    remove_parameters(interval_errors, places, best, own.stop);
    polish(errors, best.parameters, best.free, 100, own.stop);
  }
  record.steps.push_back(iterations + 1);
  record.values.push_back(row());
  record.keep(best.parameters);
  record.note = equations(places, best.parameters);
  return record;
}

std::vector<Cell> cells(std::string_view preset) {
  if (preset == "published") return sir_euler_cells(false);
  std::vector<Setting> settings;
  if (preset == "quick") {
    settings = {{"RealNPU", 4, 0.01, 150}};
  } else {
    const std::vector<int> sizes = preset == "full" ? std::vector{6, 9} : std::vector{6, 9, 12, 15, 20};
    const std::vector<double> strengths = preset == "full" ? std::vector{0.0, 0.1} : std::vector{0.0, 0.01, 0.1, 1.0};
    for (const int hidden : sizes)
      for (const double strength : strengths) settings.push_back({"RealNPU", hidden, strength, 3000});
  }
  std::vector<Cell> list;
  for (const Setting& setting : settings) {
    Cell cell(setting.model, "SIR", fmt::format("hidden {}, L1 {:g}", setting.hidden, setting.strength));
    for (const char* name : {"MSE", "non-zero", "gamma", "kappa", "exponent error"})
      cell.measures.push_back({name, {}, 0, 0});
    cell.goal = {"exponent error", "", 0.05, false, {}};
    cell.own = [setting](const OwnRunSettings& own) { return run(setting, own); };
    list.push_back(std::move(cell));
  }
  if (preset == "quick")
    for (Cell& cell : sir_euler_cells(true)) list.push_back(std::move(cell));
  return list;
}

const std::vector<std::string_view> differences = {
    "The solver is the classic Runge-Kutta method of fourth order with steps of 0.466 instead of Euler's with steps of "
    "1, whose own error is larger than the published ones: with it the true equations have an MSE of 1.08.",
    "Training follows the curves from each point to the next instead of from the first to the last, so that an error "
    "in one interval does not spoil the others; the MSE that is shown, and the last fit, are those of the "
    "whole curves.",
    "A run is the best of four starts by its training error. Instead of L-BFGS, Levenberg and Marquardt's method "
    "polishes it; then units that the rest can do without are set to 0, each unit is tried as a single column, and "
    "single parameters are set to 0.",
    "Gates are 1 from the polishing on.",
    "The preset published (operation \"SIR by Euler\") follows the paper instead, with NPU, RealNPU and a dense "
    "network of two tanh layers: Euler's method with steps of 1 over the whole curves and straight lines between "
    "steps, one start, 3,000 iterations, up to 1,000 of L-BFGS with the same penalty, nothing pruned. Line searches "
    "are not the "
    "authors': of four lengths at a time the best counts. Imaginary powers start at random too, a fifth of Glorot's.",
};

}  // namespace
}  // namespace sir_discovery_task

std::vector<std::array<double, 3>> sir_trajectory(const Sir& sir) {
  namespace odeint = boost::numeric::odeint;
  using State = std::array<double, 3>;
  std::vector<double> times;
  for (int k = 0; k < sir_points; ++k) times.push_back(sir_end * k / (sir_points - 1));
  std::vector<State> states;
  State state = sir_start;
  const auto right_hand_side = [&](const State& u, State& slope, double) {
    const double q = sir.beta * portable::pow(u[1], sir.gamma) * portable::pow(u[0], sir.kappa);
    slope = {-q + sir.eta * u[2], q - sir.alpha * u[1], sir.alpha * u[1] - sir.eta * u[2]};
  };
  odeint::integrate_times(odeint::make_controlled(1e-12, 1e-12, odeint::runge_kutta_dopri5<State>()), right_hand_side,
                          state, times.begin(), times.end(), 1e-3,
                          [&](const State& u, double) { states.push_back(u); });
  return states;
}

Wiring runge_kutta(const Stack& layers, double time, int points, int steps_between_points) {
  const double h = time / ((points - 1) * steps_between_points);
  Wiring wiring(layers.front().shape.inputs);
  const auto slope = [&](int state) { return wiring.layer(layers, 1, wiring.layer(layers, 0, state)); };
  std::vector<Wiring::Port> ports;
  int state = 0;
  for (int point = 1; point < points; ++point) {
    for (int step = 0; step < steps_between_points; ++step) {
      const int k1 = slope(state);
      const int k2 = slope(wiring.sum({{1, state}, {h / 2, k1}}, sir_lowest));
      const int k3 = slope(wiring.sum({{1, state}, {h / 2, k2}}, sir_lowest));
      const int k4 = slope(wiring.sum({{1, state}, {h, k3}}, sir_lowest));
      state = wiring.sum({{1, state}, {h / 6, k1}, {h / 3, k2}, {h / 3, k3}, {h / 6, k4}}, sir_lowest);
    }
    for (int k = 0; k < layers.back().shape.outputs; ++k) ports.push_back({state, k});
  }
  wiring.pick(std::move(ports));
  return wiring;
}

extern const Task sir_discovery{
    .name = "sir-discovery",
    .title = "The equations of a fractional epidemic model from its curves",
    .source = "Heim, Pevny, Smidl: Neural Power Units, NeurIPS 2020",
    .settings =
        "dS/dt = -q + 0.01*R, dI/dt = q - 0.05*I, dR/dt = 0.05*I - 0.01*R, q = 0.06*I^0.5*S^0.5, from (100, 0.01, 0), "
        "at 40 times from 0 to 200. dU/dt = linear(RealNPU(U)); start values a fifth of Glorot's; RMSProp 0.005, MSE "
        "over all points and an L1 penalty.",
    .differences = sir_discovery_task::differences,
    .presets = {{"quick", "RealNPU with 4 units, 150 iterations; Dense as published, shortly", 1, "ten seconds"},
                {"full", "6 and 9 units, two strengths of L1, 3,000 iterations", 5, "five minutes"},
                {"published", "NPU, RealNPU and Dense as published, all sizes and strengths", 5, "half an hour"},
                {"all", "the published grid of sizes and strengths", 5, "hours"}},
    .checks = {{"RealNPU", "SIR", "hidden 4, L1 0.01", "MSE", false, 0.1},
               {"RealNPU", "SIR", "hidden 4, L1 0.01", "exponent error", false, 0.1},
               {"Dense", sir_euler_operation, "hidden 6, L1 0", "MSE", false, 50}},
    .preset_cells = sir_discovery_task::cells,
};

}  // namespace nalm
