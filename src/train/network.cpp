#include "train/network.hpp"

#include <algorithm>
#include <cmath>

#include "modules/sparsity.hpp"

namespace nalm {

template <class S>
Network<S>::Network(const Stack& stack, const simd::Target& target)
    : lanes_(target.lanes<S>()),
      step_kernels_(&nalm::step_kernels<S>(target.index)),
      sums_(static_cast<std::size_t>(lanes_)) {
  for (const LayerSpec& spec : stack) {
    const ModuleEntry& entry = entry_of(*spec.module);
    LayerState layer;
    layer.spec = spec;
    layer.kernels = &entry.kernels[static_cast<std::size_t>(target.index)]->template of<S>();
    layer.parameter_count = nalm::parameter_count(*spec.module, spec.shape);
    layer.weight_count = quantity_count(*spec.module, spec.module->weights, spec.shape);
    layer.step_count = quantity_count(*spec.module, spec.module->steps, spec.shape);
    // Kernels for a fixed shape copy conditional parameters too, so there is room for all of them.
    int room = 0;
    for (const ParameterInfo& p : spec.module->parameters) room += size_of(*spec.module, p.axes, spec.shape);
    layer.p.resize(at(room));
    layer.dp.resize(at(room));
    layer.w.resize(at(layer.weight_count));
    layer.dw.resize(at(layer.weight_count));
    layer.y.resize(at(tile * spec.shape.outputs));
    layer.dy.resize(at(tile * spec.shape.outputs));
    // learn() of a single layer keeps y and dy of one sample beside its steps.
    layer.step.resize(at(std::max(tile * layer.step_count, layer.step_count + 2 * spec.shape.outputs)));
    layers_.push_back(std::move(layer));
  }
}

template <class S>
void Network<S>::set_parameters(int lane, int layer, std::span<const double> values) {
  LayerState& l = layers_[static_cast<std::size_t>(layer)];
  for (std::size_t k = 0; k < values.size(); ++k) {
    l.p[at(static_cast<int>(k)) + static_cast<std::size_t>(lane)] = static_cast<S>(values[k]);
  }
}

template <class S>
std::vector<double> Network<S>::parameters(int lane, int layer) const {
  const LayerState& l = layers_[static_cast<std::size_t>(layer)];
  std::vector<double> values;
  for (int k = 0; k < l.parameter_count; ++k) values.push_back(l.p[at(k) + static_cast<std::size_t>(lane)]);
  return values;
}

template <class S>
std::vector<double> Network<S>::gradients(int lane, int layer) const {
  const LayerState& l = layers_[static_cast<std::size_t>(layer)];
  std::vector<double> values;
  for (int k = 0; k < l.parameter_count; ++k) values.push_back(l.dp[at(k) + static_cast<std::size_t>(lane)]);
  return values;
}

template <class S>
Model Network<S>::model(int lane) const {
  Model result;
  for (int k = 0; k < layer_count(); ++k) result.layers.push_back({spec(k).module, spec(k).shape, parameters(lane, k)});
  return result;
}

template <class S>
double Network<S>::sparsity_error(int lane) const {
  S worst = 0;
  for (const LayerState& l : layers_) {
    const S error = sparsity_of_weights(*l.spec.module, l.spec.shape, l.w.data() + lane, at(1));
    worst = error > worst || std::isnan(error) ? error : worst;  // std::max would lose NaN
  }
  return static_cast<double>(worst);
}

template <class S>
void Network<S>::update_weights() {
  for (LayerState& l : layers_) l.kernels->weights(l.spec.shape, l.p.data(), l.w.data());
}

template <class S>
void Network<S>::forward_tile(const S* x, int samples) {
  for (LayerState& l : layers_) {
    l.kernels->forward(l.spec.shape, l.p.data(), l.w.data(), x, l.y.data(), l.step.data(), l.step_count, samples);
    x = l.y.data();
  }
}

template <class S>
void Network<S>::training_forward_tile(const S* x, int first_sample, int samples, std::size_t layers) {
  for (std::size_t k = 0; k < layers; ++k) {
    LayerState& l = layers_[k];
    if (l.kernels->training_forward) {
      const S* noise = l.noise.empty() ? nullptr : l.noise.data() + at(first_sample * l.spec.shape.inputs);
      l.kernels->training_forward(l.spec.shape, l.p.data(), l.w.data(), x, noise, l.y.data(), l.step.data(),
                                  l.step_count, samples);
    } else {
      l.kernels->forward(l.spec.shape, l.p.data(), l.w.data(), x, l.y.data(), l.step.data(), l.step_count, samples);
    }
    x = l.y.data();
  }
}

template <class S>
void Network<S>::training_predict(const S* x, S* y, int samples, int layers) {
  const LayerState& last = layers_[static_cast<std::size_t>(layers - 1)];
  const int outputs = last.spec.shape.outputs;
  for (int k = 0; k < layers; ++k) noise(k, samples);
  for (int first = 0; first < samples; first += tile) {
    const int count = std::min(tile, samples - first);
    training_forward_tile(x + at(first * inputs()), first, count, static_cast<std::size_t>(layers));
    std::copy_n(last.y.data(), at(count * outputs), y + at(first * outputs));
  }
}

template <class S>
S* Network<S>::noise(int layer, int samples) {
  LayerState& l = layers_[static_cast<std::size_t>(layer)];
  if (!l.spec.module->takes_noise) return nullptr;
  const std::size_t size = at(samples * l.spec.shape.inputs);
  if (l.noise.size() < size) l.noise.assign(size, S(1));
  return l.noise.data();
}

template <class S>
void Network<S>::predict(const S* x, S* y, int samples) {
  for (int first = 0; first < samples; first += tile) {
    const int count = std::min(tile, samples - first);
    forward_tile(x + at(first * inputs()), count);
    std::copy_n(layers_.back().y.data(), at(count * outputs()), y + at(first * outputs()));
  }
}

template <class S>
void Network<S>::clear_gradients() {
  for (LayerState& l : layers_) {
    std::fill(l.dp.begin(), l.dp.end(), S(0));
    std::fill(l.dw.begin(), l.dw.end(), S(0));
  }
}

template <class S>
void Network<S>::prepare(const S* x, S* prepared, int samples) const {
  layers_.front().kernels->prepare(layers_.front().spec.shape, x, prepared, samples);
}

template <class S>
const S* Network<S>::prepared_or_own(const S* x, int samples, const S* prepared) {
  if (prepared || !has_prepared()) return prepared;
  prepared_.resize(at(samples * inputs()));
  prepare(x, prepared_.data(), samples);
  return prepared_.data();
}

template <class S>
void Network<S>::learn(const S* x, const S* t, int samples, double scale, const S* prepared, const Loss& loss) {
  if (layers_.size() == 1) {
    LayerState& l = layers_.front();
    l.kernels->learn(l.spec.shape, l.p.data(), l.w.data(), x, prepared_or_own(x, samples, prepared), noise(0, samples),
                     t, scale, loss.kind == Loss::Kind::Squared ? nullptr : &loss, l.step.data(), l.dp.data(),
                     l.dw.data(), samples);
    return;
  }
  for (int k = 0; k < layer_count(); ++k) noise(k, samples);
  for (int first = 0; first < samples; first += tile) {
    const int count = std::min(tile, samples - first);
    const S* tile_x = x + at(first * inputs());
    training_forward_tile(tile_x, first, count, layers_.size());
    LayerState& last = layers_.back();
    step_kernels_->error_gradient(last.y.data(), t + at(first * outputs()), last.dy.data(), count * outputs(), scale,
                                  loss);
    for (std::size_t k = layers_.size(); k-- > 0;) {
      LayerState& l = layers_[k];
      LayerState* below = k > 0 ? &layers_[k - 1] : nullptr;
      if (below) std::fill(below->dy.begin(), below->dy.end(), S(0));
      l.kernels->backward(l.spec.shape, l.p.data(), l.w.data(), below ? below->y.data() : tile_x, l.y.data(),
                          l.step.data(), l.step_count, l.dy.data(), below ? below->dy.data() : nullptr, l.dp.data(),
                          l.dw.data(), count);
    }
  }
}

template <class S>
void Network<S>::pull_back() {
  for (LayerState& l : layers_) {
    l.kernels->pull_back(l.spec.shape, l.p.data(), l.w.data(), l.dw.data(), l.dp.data());
  }
}

template <class S>
void Network<S>::output_gradients(const S* x, int samples, S* y, S* gradients) {
  for (int k = 0; k < layer_count(); ++k) noise(k, samples);
  training_forward_tile(x, 0, samples, layers_.size());
  std::copy_n(layers_.back().y.data(), at(samples), y);
  for (int sample = 0; sample < samples; ++sample) {
    clear_gradients();
    std::fill_n(layers_.back().dy.data(), at(1), S(1));
    for (std::size_t k = layers_.size(); k-- > 0;) {
      LayerState& l = layers_[k];
      LayerState* below = k > 0 ? &layers_[k - 1] : nullptr;
      const S* layer_x = (below ? below->y.data() : x) + at(sample * l.spec.shape.inputs);
      if (below) std::fill_n(below->dy.data(), at(l.spec.shape.inputs), S(0));
      l.kernels->backward(l.spec.shape, l.p.data(), l.w.data(), layer_x, l.y.data() + at(sample * l.spec.shape.outputs),
                          l.step.data() + at(sample * l.step_count), l.step_count, l.dy.data(),
                          below ? below->dy.data() : nullptr, l.dp.data(), l.dw.data(), 1);
    }
    pull_back();
    for (const LayerState& l : layers_) {
      std::copy_n(l.dp.data(), at(l.parameter_count), gradients);
      gradients += at(l.parameter_count);
    }
  }
}

template <class S>
void Network<S>::squared_error(const S* x, const S* t, int samples, std::span<double> sums, const S* prepared) {
  std::fill(sums_.begin(), sums_.end(), 0.0);
  if (layers_.size() == 1) {
    LayerState& l = layers_.front();
    l.kernels->squared_error(l.spec.shape, l.p.data(), l.w.data(), x, prepared_or_own(x, samples, prepared), t,
                             l.y.data(), l.step.data(), sums_.data(), samples);
  } else {
    for (int first = 0; first < samples; first += tile) {
      const int count = std::min(tile, samples - first);
      forward_tile(x + at(first * inputs()), count);
      const S* y = layers_.back().y.data();
      const S* wanted = t + at(first * outputs());
      for (std::size_t k = 0; k < at(count * outputs()); ++k) {
        const double difference = static_cast<double>(static_cast<S>(y[k] - wanted[k]));
        sums_[k % static_cast<std::size_t>(lanes_)] += difference * difference;
      }
    }
  }
  std::copy(sums_.begin(), sums_.end(), sums.begin());
}

template <class S>
typename Network<S>::Values Network<S>::values(int layer) {
  LayerState& l = layers_[static_cast<std::size_t>(layer)];
  return {l.p.data(), l.dp.data(), l.parameter_count};
}

template class Network<float>;
template class Network<double>;

}  // namespace nalm
