#include "train/bundle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "train/start_values.hpp"

namespace nalm {

template <class S>
Bundle<S>::Bundle(const Stack& stack, Wiring wiring, Recipe recipe, const simd::Target& target)
    : network_(stack, std::move(wiring), target),
      recipe_(std::move(recipe)),
      validation_error_(static_cast<std::size_t>(network_.lanes()), std::numeric_limits<double>::infinity()),
      batch_error_(static_cast<std::size_t>(network_.lanes())),
      per_lane_(static_cast<std::size_t>(network_.lanes())),
      history_(static_cast<std::size_t>(network_.lanes())),
      streams_(static_cast<std::size_t>(network_.lanes())) {
  recipe_.layers.resize(stack.size());  // layers that are not named want nothing
  state_.resize(stack.size());
  forget();
  if (recipe_.training.noise) {
    for (const LayerSpec& spec : stack) noisy_ = noisy_ || spec.module->takes_noise;
    noise_state_.resize(4 * per_lane_.size());
    noise_limit_.resize(per_lane_.size());
    noise_mean_.resize(per_lane_.size());
  }
  best_.resize(per_lane_.size());
}

template <class S>
void Bundle<S>::forget() {
  const Optimiser& optimiser = recipe_.training.optimiser;
  const S first =
      optimiser.kind == Optimiser::Kind::RmsProp ? static_cast<S>(optimiser.rms_prop.first_accumulator) : S(0);
  for (int k = 0; k < network_.layer_count(); ++k) {
    const std::size_t size = static_cast<std::size_t>(network_.values(k).count) * per_lane_.size();
    OptimiserState& state = state_[static_cast<std::size_t>(k)];
    state.m.assign(size, S(0));
    state.v.assign(size, first);
  }
  beta1_power_ = beta2_power_ = 1;
}

template <class S>
void Bundle<S>::start(int lane, std::shared_ptr<StartStream> stream) {
  for (int k = 0; k < network_.layer_count(); ++k) {
    const LayerSpec& spec = network_.spec(k);
    network_.set_parameters(
        lane, k, start_values(*spec.module, spec.shape, *stream, recipe_.layers[static_cast<std::size_t>(k)].starts));
  }
  if (noisy_) {
    for (std::size_t word = 0; word < 4; ++word) {
      // 16 bits at a time: a stream may have no more than 24.
      double halves[2];
      stream->uniform(halves, 0, 1);
      const auto bits = [](double u) { return static_cast<std::uint32_t>(u * 65536); };
      noise_state_[word * per_lane_.size() + static_cast<std::size_t>(lane)] = bits(halves[0]) << 16 | bits(halves[1]);
    }
  }
  streams_[static_cast<std::size_t>(lane)] = std::move(stream);
}

template <class S>
RunState Bundle<S>::state(int lane) const {
  const std::size_t l = static_cast<std::size_t>(lane), lanes = per_lane_.size();
  RunState state;
  const auto of_lane = [&](const auto& values) {
    std::vector<double> result;
    for (std::size_t k = l; k < values.size(); k += lanes) result.push_back(static_cast<double>(values[k]));
    return result;
  };
  for (int k = 0; k < network_.layer_count(); ++k) {
    state.parameters.push_back(network_.parameters(lane, k));
    state.m.push_back(of_lane(state_[static_cast<std::size_t>(k)].m));
    state.v.push_back(of_lane(state_[static_cast<std::size_t>(k)].v));
  }
  state.beta1_power = beta1_power_, state.beta2_power = beta2_power_;
  state.validation_error = validation_error_[l];
  state.history = history_[l].runs;
  state.best_error = best_[l].error;
  state.best_parameters = best_[l].parameters;
  if (noisy_)
    for (std::size_t word = 0; word < 4; ++word) state.noise.push_back(noise_state_[word * lanes + l]);
  if (streams_[l]) state.stream = streams_[l]->state();
  return state;
}

template <class S>
void Bundle<S>::set_state(int lane, const RunState& state, std::shared_ptr<StartStream> stream) {
  const std::size_t l = static_cast<std::size_t>(lane), lanes = per_lane_.size();
  const auto into_lane = [&](const std::vector<double>& from, AlignedVector<S>& values) {
    for (std::size_t k = 0; k < from.size(); ++k) values[k * lanes + l] = static_cast<S>(from[k]);
  };
  for (std::size_t k = 0; k < state_.size(); ++k) {
    network_.set_parameters(lane, static_cast<int>(k), state.parameters[k]);
    into_lane(state.m[k], state_[k].m);
    into_lane(state.v[k], state_[k].v);
  }
  beta1_power_ = state.beta1_power, beta2_power_ = state.beta2_power;
  validation_error_[l] = state.validation_error;
  history_[l] = {state.history, 0};
  for (const auto& [value, count] : state.history) history_[l].size += count;
  best_[l] = {state.best_error, state.best_parameters};
  for (std::size_t word = 0; word < state.noise.size(); ++word)
    noise_state_[word * lanes + l] = static_cast<std::uint32_t>(state.noise[word]);
  streams_[l] = std::move(stream);
}

template <class S>
void Bundle<S>::step(const S* x, const S* t, int samples, const S* prepared) {
  restart();
  network_.update_weights();
  const TrainingRecipe& recipe = recipe_.training;
  if (recipe.phases || (recipe.reinitialise && recipe.reinitialise->range)) {
    network_.squared_error(x, t, samples, batch_error_, prepared);
    for (double& error : batch_error_) error /= static_cast<double>(samples) * network_.outputs();
  }
  network_.clear_gradients();
  if (noisy_) draw_noise(x, samples);
  network_.learn(x, t, samples, 2.0 / (static_cast<double>(samples) * network_.outputs()), prepared, recipe.loss);
  network_.pull_back();
  regularise(recipe.phases ? Regularisers::AllButSaturate : Regularisers::All);
  clip();
  if (!recipe.phases) {
    optimise(Part::All);
  } else {
    optimise(iteration_ % recipe.phases->block < recipe.phases->first ? Part::Rest : Part::Phased);
    saturate_in_own_steps();
  }
  clamp();
  reinitialise_where_stuck();
  ++iteration_;
}

template <class S>
void Bundle<S>::draw_noise(const S* x, int samples) {
  const StepKernels<S>& kernels = network_.step_kernels();
  const InputNoise& noise = *recipe_.training.noise;
  for (int k = 0; k < network_.layer_count(); ++k) {
    S* factors = network_.noise(k, samples);
    if (!factors) continue;
    const int n = samples * network_.spec(k).shape.inputs;
    std::fill(noise_limit_.begin(), noise_limit_.end(), static_cast<S>(noise.hi));
    if (noise.batch_adaptive) {
      const S* inputs = x;
      if (k > 0) {
        layer_inputs_.resize(static_cast<std::size_t>(n) * per_lane_.size());
        network_.training_predict(x, layer_inputs_.data(), samples, k);
        inputs = layer_inputs_.data();
      }
      std::fill(noise_mean_.begin(), noise_mean_.end(), S(0));
      kernels.add(inputs, n, noise_mean_.data());
      for (S& mean : noise_mean_) mean /= static_cast<S>(n);
      std::fill(per_lane_.begin(), per_lane_.end(), S(0));
      kernels.add_squared_deviations(inputs, n, noise_mean_.data(), per_lane_.data());
      for (std::size_t l = 0; l < per_lane_.size(); ++l) {
        const S deviation = std::sqrt(per_lane_[l] / static_cast<S>(n - 1));
        noise_limit_[l] = static_cast<S>(noise.lo) + (deviation > 0 ? 1 / deviation : 0);
      }
    }
    kernels.noise(noise_state_.data(), factors, n, noise.lo, noise_limit_.data());
  }
}

template <class S>
void Bundle<S>::restart() {
  if (!recipe_.training.restarts) return;
  const Restarts& rule = *recipe_.training.restarts;
  if (rule.count < 2 || iteration_ == 0 || iteration_ % rule.every != 0) return;
  const long tries = iteration_ / rule.every;
  if (tries > rule.count) return;
  for (std::size_t l = 0; l < best_.size(); ++l) {
    if (!streams_[l]) continue;
    const int lane = static_cast<int>(l);
    Best& best = best_[l];
    // A NaN never wins, unless nothing else was tried.
    if (tries == 1 || validation_error_[l] < best.error || std::isnan(best.error)) {
      best = {validation_error_[l], {}};
      for (int k = 0; k < network_.layer_count(); ++k) best.parameters.push_back(network_.parameters(lane, k));
    }
    if (tries < rule.count) {
      start(lane, streams_[l]);
    } else {
      for (int k = 0; k < network_.layer_count(); ++k)
        network_.set_parameters(lane, k, best.parameters[static_cast<std::size_t>(k)]);
    }
  }
  forget();
}

template <class S>
template <class F>
void Bundle<S>::for_each_parameter(int layer, F f) {
  const LayerSpec& spec = network_.spec(layer);
  const auto values = network_.values(layer);
  OptimiserState& state = state_[static_cast<std::size_t>(layer)];
  std::size_t offset = 0;
  for (const ParameterInfo& parameter : spec.module->parameters) {
    if (!is_present(parameter, spec.shape)) continue;
    const int n = size_of(*spec.module, parameter.axes, spec.shape);
    f(parameter, values.parameters + offset, values.gradients + offset, state.m.data() + offset,
      state.v.data() + offset, n);
    offset += static_cast<std::size_t>(n) * per_lane_.size();
  }
}

template <class S>
void Bundle<S>::regularise(Regularisers which) {
  const StepKernels<S>& kernels = network_.step_kernels();
  for (int k = 0; k < network_.layer_count(); ++k) {
    for (const Regulariser& r : recipe_.layers[static_cast<std::size_t>(k)].regularisers) {
      const bool saturates = r.kind == Regulariser::Kind::Saturate;
      if (which != Regularisers::All && saturates != (which == Regularisers::Saturate)) continue;
      const double coefficient = r.coefficient(iteration_);
      if (coefficient == 0) continue;
      if (saturates) {
        const std::vector<double>& error = recipe_.training.phases ? batch_error_ : validation_error_;
        for (std::size_t l = 0; l < per_lane_.size(); ++l) per_lane_[l] = error[l] < 1 ? S(1) : S(0);
      }
      for_each_parameter(k, [&](const ParameterInfo& parameter, const S* p, S* gradient, S*, S*, int n) {
        if (!r.parameter.empty() && r.parameter != parameter.name) return;
        switch (r.kind) {
          case Regulariser::Kind::Sparsity:
            kernels.sparsity(p, gradient, n, coefficient / n);
            break;
          case Regulariser::Kind::Saturate:
            kernels.saturate(p, gradient, n, coefficient / n, per_lane_.data());
            break;
          case Regulariser::Kind::L1:
            kernels.l1(p, gradient, n, coefficient);
            break;
          case Regulariser::Kind::Unit:
            kernels.unit(p, gradient, n, coefficient / n);
            break;
          case Regulariser::Kind::Grow:
            kernels.grow(p, gradient, n, coefficient / n);
            break;
        }
      });
    }
  }
}

// Schloer's loop: two steps on the regulariser alone, for the runs whose batch went well. The others keep what they
// have.
template <class S>
void Bundle<S>::saturate_in_own_steps() {
  const auto is_on = [&](const Regulariser& r) {
    return r.kind == Regulariser::Kind::Saturate && r.coefficient(iteration_) != 0;
  };
  bool on = false;
  for (const LayerRecipe& layer : recipe_.layers) on = on || std::ranges::any_of(layer.regularisers, is_on);
  // Lanes without a run have no say.
  bool good = false;
  for (std::size_t l = 0; l < batch_error_.size(); ++l) good = good || (streams_[l] && batch_error_[l] < 1);
  if (!on || !good) return;
  std::vector<AlignedVector<S>> kept;
  for (int k = 0; k < network_.layer_count(); ++k) {
    for_each_parameter(k, [&](const ParameterInfo&, const S* p, S*, const S* m, const S* v, int n) {
      for (const S* values : {p, m, v})
        kept.emplace_back(values, values + static_cast<std::size_t>(n) * per_lane_.size());
    });
  }
  for (const Part part : {Part::Rest, Part::Phased}) {
    network_.clear_gradients();
    regularise(Regularisers::Saturate);
    clip();
    optimise(part);
  }
  std::size_t next = 0;
  for (int k = 0; k < network_.layer_count(); ++k) {
    for_each_parameter(k, [&](const ParameterInfo&, S* p, S*, S* m, S* v, int n) {
      for (S* values : {p, m, v}) {
        const AlignedVector<S>& old = kept[next++];
        for (std::size_t j = 0; j < static_cast<std::size_t>(n) * per_lane_.size(); ++j)
          if (!(batch_error_[j % per_lane_.size()] < 1)) values[j] = old[j];
      }
    });
  }
}

template <class S>
void Bundle<S>::clip() {
  const StepKernels<S>& kernels = network_.step_kernels();
  if (recipe_.training.clip_value) {
    for (int k = 0; k < network_.layer_count(); ++k) {
      kernels.clip_value(network_.values(k).gradients, network_.values(k).count, *recipe_.training.clip_value);
    }
  }
  if (recipe_.training.clip_norm) {
    std::fill(per_lane_.begin(), per_lane_.end(), S(0));
    for (int k = 0; k < network_.layer_count(); ++k) {
      kernels.add_squares(network_.values(k).gradients, network_.values(k).count, per_lane_.data());
    }
    kernels.norm_to_factor(per_lane_.data(), *recipe_.training.clip_norm);
    for (int k = 0; k < network_.layer_count(); ++k) {
      kernels.multiply(network_.values(k).gradients, network_.values(k).count, per_lane_.data());
    }
  }
}

template <class S>
void Bundle<S>::optimise(Part part) {
  const StepKernels<S>& kernels = network_.step_kernels();
  Optimiser optimiser = recipe_.training.optimiser;
  double rate = optimiser.learning_rate();
  if (recipe_.training.cool_down) rate *= recipe_.training.cool_down->factor(iteration_);
  if (recipe_.training.decay) rate *= recipe_.training.decay->at(iteration_);
  optimiser.set_learning_rate(rate);
  AdamStep adam{};
  if (optimiser.kind == Optimiser::Kind::Adam) {
    const Adam& a = optimiser.adam;
    beta1_power_ *= a.beta1;
    beta2_power_ *= a.beta2;
    adam = {a.beta1, a.beta2, a.epsilon, a.learning_rate / (1 - beta1_power_), std::sqrt(1 - beta2_power_)};
  }
  const auto step = [&](S* p, const S* gradient, S* m, S* v, int n) {
    if (optimiser.kind == Optimiser::Kind::Adam) {
      kernels.adam(p, gradient, m, v, n, adam);
    } else {
      kernels.rms_prop(p, gradient, v, n, optimiser.rms_prop);
    }
  };
  for (int k = 0; k < network_.layer_count(); ++k) {
    if (part == Part::All) {
      const auto values = network_.values(k);
      OptimiserState& state = state_[static_cast<std::size_t>(k)];
      step(values.parameters, values.gradients, state.m.data(), state.v.data(), values.count);
      continue;
    }
    for_each_parameter(k, [&](const ParameterInfo& parameter, S* p, const S* gradient, S* m, S* v, int n) {
      if ((parameter.name == recipe_.training.phases->parameter) == (part == Part::Phased)) step(p, gradient, m, v, n);
    });
  }
}

template <class S>
void Bundle<S>::clamp() {
  for (int k = 0; k < network_.layer_count(); ++k) {
    if (!recipe_.layers[static_cast<std::size_t>(k)].clamp) continue;
    for_each_parameter(k, [&](const ParameterInfo& parameter, S* p, S*, S*, S*, int n) {
      if (parameter.clamp) network_.step_kernels().clamp(p, n, parameter.clamp->lo, parameter.clamp->hi);
    });
  }
}

template <class S>
void Bundle<S>::set_validation_error(int lane, double error) {
  validation_error_[static_cast<std::size_t>(lane)] = error;
}

template <class S>
void Bundle<S>::reinitialise_where_stuck() {
  if (!recipe_.training.reinitialise) return;
  const Reinitialise& rule = *recipe_.training.reinitialise;
  const bool check = iteration_ > 0 && iteration_ % rule.every == 0;
  for (std::size_t l = 0; l < history_.size(); ++l) {
    history_[l].add(rule.range ? batch_error_[l] : validation_error_[l]);
    if (!check || history_[l].size <= rule.more_than || !streams_[l]) continue;
    if (history_[l].is_stuck(rule.error_above)) {
      if (rule.range) {
        for (int k = 0; k < network_.layer_count(); ++k) {
          std::vector<double> values(static_cast<std::size_t>(network_.values(k).count));
          streams_[l]->uniform(values, -*rule.range, *rule.range);
          network_.set_parameters(static_cast<int>(l), k, values);
        }
      } else {
        start(static_cast<int>(l), streams_[l]);
      }
      history_[l] = {};
    }
  }
}

template <class S>
void Bundle<S>::History::add(double value) {
  // NaN never equals itself; such a run is lost anyway, and a run of length one per iteration would only waste memory.
  if (!runs.empty() && (runs.back().first == value || (std::isnan(value) && std::isnan(runs.back().first)))) {
    ++runs.back().second;
  } else {
    runs.push_back({value, 1});
  }
  ++size;
}

template <class S>
bool Bundle<S>::History::is_stuck(double error_above) const {
  const long half = size / 2;
  double first = 0, second = 0;
  long seen = 0;
  for (const auto& [value, count] : runs) {
    const long in_first = std::clamp(half - seen, 0L, count);
    if (in_first > 0) first += value * static_cast<double>(in_first);
    if (count > in_first) second += value * static_cast<double>(count - in_first);
    seen += count;
  }
  const double n1 = static_cast<double>(half), n2 = static_cast<double>(size - half);
  first /= n1;
  second /= n2;
  if (!(second > error_above)) return false;
  double spread = 0;
  seen = 0;
  for (const auto& [value, count] : runs) {
    const long in_second = count - std::clamp(half - seen, 0L, count);
    spread += (value - second) * (value - second) * static_cast<double>(in_second);
    seen += count;
  }
  return first <= second + std::sqrt(spread / n2);
}

template class Bundle<float>;
template class Bundle<double>;

}  // namespace nalm
