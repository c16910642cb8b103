#include "nalm/check.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/random.hpp"
#include "nalm/detail/portable.hpp"
#include "nalm/model.hpp"
#include "train/network.hpp"
#include "train/start_values.hpp"

namespace nalm {

namespace {

constexpr int samples = 3;
// Of the differences. The second is for functions that bend within the first, such as tanh(1000 W); it is worse at all
// others, where rounding errors weigh more.
constexpr double first_step = 1e-3, second_step = 1e-4;

// A network of one module over an identity layer, so that the gradient of the inputs shows in that layer's weights.
struct Case {
  Stack stack;
  std::vector<std::vector<double>> parameters;  // per layer
  std::vector<double> x;                        // samples x inputs
};

// One value per lane is enough for everything that is not perturbed.
template <class F>
AlignedVector<double> in_lanes(std::size_t n, std::size_t lanes, F value) {
  AlignedVector<double> result(n * lanes);
  for (std::size_t k = 0; k < n * lanes; ++k) result[k] = value(k / lanes);
  return result;
}

class Checker {
 public:
  Checker(const Case& c, const simd::Target& target) : case_(c), network_(c.stack, target) {
    lanes_ = static_cast<std::size_t>(network_.lanes());
    x_ = in_lanes(c.x.size(), lanes_, [&](std::size_t k) { return c.x[k]; });
    y_.resize(static_cast<std::size_t>(samples * network_.outputs()) * lanes_);
    for (int lane = 0; lane < network_.lanes(); ++lane) restore(lane);
    network_.update_weights();
    if (double* noise = network_.noise(1, samples)) {
      for (std::size_t k = 0; k < c.x.size() * lanes_; ++k) noise[k] = 1 + 0.4 * static_cast<double>(k / lanes_ % 7);
    }
    compute();
    for (std::size_t k = 0; k < y_.size() / lanes_; ++k) center_.push_back(y_[k * lanes_]);
  }

  const std::vector<double>& outputs() const { return center_; }

  // Gradients of sum_k dy_k y_k, by backward.
  std::vector<std::vector<double>> backward(const std::vector<double>& dy) {
    const AlignedVector<double> t = in_lanes(dy.size(), lanes_, [&](std::size_t k) { return center_[k] - dy[k]; });
    // The target was rounded; what it stands for is y - t.
    dy_.clear();
    for (std::size_t k = 0; k < dy.size(); ++k) dy_.push_back(center_[k] - t[k * lanes_]);
    network_.clear_gradients();
    network_.learn(x_.data(), t.data(), samples, 1.0);
    network_.pull_back();
    std::vector<std::vector<double>> result;
    for (int k = 0; k < network_.layer_count(); ++k) result.push_back(network_.gradients(0, k));
    return result;
  }

  // The same by differences for one entry, and how far from smooth the function is within the step.
  struct Difference {
    double slope, kink;
  };
  Difference difference(int layer, std::size_t entry, double step) {
    double f[4];
    const double at[4] = {-step, -step / 2, step / 2, step};
    const double value = case_.parameters[static_cast<std::size_t>(layer)][entry];
    for (int k = 0; k < 4; ++k) f[k] = change_at(layer, entry, value + at[k]);
    const double d1 = (f[3] - f[0]) / (2 * step), d2 = (f[2] - f[1]) / step;
    // Changes are relative to the centre, so these are the second differences. A smooth function has s1 = 4 s2.
    const double s1 = f[3] + f[0], s2 = f[2] + f[1];
    return {(4 * d2 - d1) / 3, std::fabs(s1 - 4 * s2) / (2 * step)};
  }

 private:
  // In the form that backward belongs to.
  void compute() { network_.training_predict(x_.data(), y_.data(), samples, network_.layer_count()); }

  void restore(int lane) {
    for (int k = 0; k < network_.layer_count(); ++k) {
      network_.set_parameters(lane, k, case_.parameters[static_cast<std::size_t>(k)]);
    }
  }

  // sum_k dy_k (y_k - centre_k) with one entry changed.
  double change_at(int layer, std::size_t entry, double value) {
    std::vector<double> p = case_.parameters[static_cast<std::size_t>(layer)];
    p[entry] = value;
    network_.set_parameters(0, layer, p);
    network_.update_weights();
    compute();
    network_.set_parameters(0, layer, case_.parameters[static_cast<std::size_t>(layer)]);
    double sum = 0;
    for (std::size_t k = 0; k < center_.size(); ++k) sum += dy_[k] * (y_[k * lanes_] - center_[k]);
    return sum;
  }

  const Case& case_;
  Network<double> network_;
  std::size_t lanes_ = 1;
  AlignedVector<double> x_, y_;
  std::vector<double> center_, dy_;
};

double draw_input(const ModuleInfo& module, Xoshiro& random, int inputs, double spread) {
  if (module.truth_values) return random.between(0.1, 0.9);
  // Around 1, so that products of many inputs keep their size; few are negative, for the same reason.
  const bool is_negative = !module.positive_inputs && random.unit() < std::min(0.5, 2.0 / inputs) * spread;
  return (is_negative ? -1 : 1) * portable::exp(random.between(-1, 1) * spread);
}

std::vector<double> draw_parameters(const LayerSpec& spec, Xoshiro& random, int attempt) {
  std::vector<double> p = start_values(*spec.module, spec.shape, random);
  std::size_t next = 0;
  for (const ParameterInfo& info : spec.module->parameters) {
    if (!is_present(info, spec.shape)) continue;
    const std::size_t n = static_cast<std::size_t>(size_of(*spec.module, info.axes, spec.shape));
    // A common shift per tensor reaches regions where layers with many inputs do not saturate.
    const double shift = attempt == 0 ? 0 : random.gaussian() * std::min(3.0, 0.5 * attempt);
    for (std::size_t k = next; k < next + n; ++k) {
      p[k] = std::clamp(p[k], -2.0, 2.0) + 0.3 * random.gaussian() + shift;
      // Well inside, so that a step of the difference stays inside too.
      if (info.clamp) p[k] = std::clamp(p[k], info.clamp->lo + 0.01, info.clamp->hi - 0.01);
    }
    next += n;
  }
  return p;
}

struct Drawn {
  Case problem;
  std::vector<double> dy;
};

// Parameters and inputs for which outputs are within 1e-3 .. 1e3 and no tensor's gradient drowns in rounding errors.
Drawn draw_case(const LayerSpec& spec, Xoshiro& random) {
  const Result<Stack> identity = parse_stack("NAU:" + std::to_string(spec.shape.inputs), spec.shape.inputs);
  Drawn best;
  double best_quality = -1;
  for (int attempt = 0; attempt < 60 && best_quality < 1; ++attempt) {
    Drawn d;
    d.problem.stack = {identity->front(), spec};
    const std::size_t inputs = static_cast<std::size_t>(spec.shape.inputs);
    std::vector<double> diagonal(inputs * inputs, 0.0);
    for (std::size_t i = 0; i < inputs; ++i) diagonal[i * inputs + i] = 0.5;  // away from the clamp's kink at 1
    d.problem.parameters = {diagonal, draw_parameters(spec, random, attempt)};
    const double spread = 1 / (1 + 0.1 * attempt) / std::sqrt(static_cast<double>(inputs));
    for (std::size_t k = 0; k < samples * inputs; ++k) {
      d.problem.x.push_back(2 * draw_input(*spec.module, random, spec.shape.inputs, spread));
    }
    Checker checker(d.problem, simd::active_target());
    double quality = 1, scale = 0;
    for (double y : checker.outputs()) {
      d.dy.push_back(random.between(0.5, 1.5));
      scale += std::fabs(y);
      if (!(std::fabs(y) < 1e3)) quality = 0;
    }
    if (!(scale > 1e-3)) quality = 0;
    const std::vector<double> gradients = checker.backward(d.dy)[1];
    std::size_t next = 0;
    for (const ParameterInfo& info : spec.module->parameters) {
      if (!is_present(info, spec.shape)) continue;
      const std::size_t n = static_cast<std::size_t>(size_of(*spec.module, info.axes, spec.shape));
      double largest = 0;
      for (std::size_t k = next; k < next + n; ++k) largest = std::max(largest, std::fabs(gradients[k]));
      next += n;
      // Rounding errors of a difference are about 1e-16 * scale / step; some parameters cannot matter at all (one
      // input of a softmax), and their gradient is exactly 0.
      if (largest > 0) quality = std::min(quality, largest / scale / 1e-4);
    }
    if (quality > best_quality) best_quality = quality, best = std::move(d);
  }
  return best;
}

struct Entry {
  int layer;
  std::size_t index;
};

}  // namespace

Result<ModuleCheck> check_gradients(const ModuleInfo& module, const CheckSettings& settings) {
  if (settings.inputs.empty() || settings.outputs.empty())
    return Error{"a gradient check needs at least one number of inputs and of outputs."};
  for (const int inputs : settings.inputs) {
    for (const int outputs : settings.outputs) {
      const LayerShape shape = default_shape(module, inputs, outputs * module.outputs_multiple_of);
      if (Status possible = check_shape(module, shape); !possible) return possible.error();
    }
  }
  ModuleCheck result;
  result.module = &module;
  for (const ParameterInfo& p : module.parameters) result.gradients.push_back({.name = std::string(p.name)});
  result.gradients.push_back({.name = "inputs"});

  const int shapes = static_cast<int>(settings.inputs.size() * settings.outputs.size());
  Xoshiro random(settings.seed);
  for (int k = 0; k < std::max(settings.cases, shapes); ++k) {
    const std::size_t pair = static_cast<std::size_t>(k % shapes);
    LayerSpec spec{&module,
                   default_shape(module, settings.inputs[pair / settings.outputs.size()],
                                 settings.outputs[pair % settings.outputs.size()] * module.outputs_multiple_of)};
    for (std::size_t o = 0; o < module.options.size(); ++o) {
      const OptionInfo& option = module.options[o];
      if (option.choices[0].empty()) {
        // Numbers: small whole ones, which keep the number of paths down.
        spec.shape.options[o] = 1 + static_cast<double>(random.below(3));
        continue;
      }
      std::size_t count = 0;
      while (count < option.choices.size() && !option.choices[count].empty()) ++count;
      spec.shape.options[o] = static_cast<double>(random.below(count));
    }
    const Drawn drawn = draw_case(spec, random);
    Checker checker(drawn.problem, simd::active_target());
    const std::vector<std::vector<double>> gradients = checker.backward(drawn.dy);
    double scale = 0;
    for (double y : checker.outputs()) scale += std::fabs(y);

    const auto compare = [&](CheckedGradient& checked, const std::vector<Entry>& entries) {
      double largest = 0;
      for (const Entry& e : entries) {
        largest = std::max(largest, std::fabs(gradients[static_cast<std::size_t>(e.layer)][e.index]));
      }
      // Below this, differences are rounding errors of the outputs.
      const double unit = std::max(largest, 1e-5 * scale);
      // All entries of small tensors, a sample of large ones.
      const std::size_t stride = std::max<std::size_t>(1, entries.size() / 24);
      for (std::size_t n = random.below(stride); n < entries.size(); n += stride) {
        const Entry& e = entries[n];
        const double gradient = gradients[static_cast<std::size_t>(e.layer)][e.index];
        Checker::Difference d = checker.difference(e.layer, e.index, first_step);
        double error = std::fabs(d.slope - gradient) / unit;
        if (error > settings.tolerance / 100) {
          const Checker::Difference closer = checker.difference(e.layer, e.index, second_step);
          const double other = std::fabs(closer.slope - gradient) / unit;
          if (other < error) d = closer, error = other;
        }
        if (d.kink > 1e-5 * unit && error > settings.tolerance) {
          ++checked.at_kinks;
          continue;
        }
        ++checked.compared;
        if (!(error <= checked.worst_error)) {
          checked.worst_error = error;
          checked.worst_backward = gradient;
          checked.worst_difference = d.slope;
          checked.worst_place =
              fmt::format("{} inputs, {} outputs, entry {}", spec.shape.inputs, spec.shape.outputs, e.index);
        }
      }
    };

    std::size_t next = 0;
    for (std::size_t p = 0; p < module.parameters.size(); ++p) {
      if (!is_present(module.parameters[p], spec.shape)) continue;
      std::vector<Entry> entries;
      const std::size_t n = static_cast<std::size_t>(size_of(module, module.parameters[p].axes, spec.shape));
      for (std::size_t e = next; e < next + n; ++e) entries.push_back({1, e});
      next += n;
      compare(result.gradients[p], entries);
    }
    std::vector<Entry> diagonal;
    const std::size_t inputs = static_cast<std::size_t>(spec.shape.inputs);
    for (std::size_t i = 0; i < inputs; ++i) diagonal.push_back({0, i * inputs + i});
    compare(result.gradients.back(), diagonal);
  }
  for (const CheckedGradient& g : result.gradients) {
    if (!(g.worst_error <= settings.tolerance) || g.compared < 4 * g.at_kinks || g.compared == 0) result.passed = false;
  }
  return result;
}

}  // namespace nalm
