#include "train/network.hpp"

#include <algorithm>
#include <cmath>

#include "modules/sparsity.hpp"

namespace nalm {

template <class S>
Network<S>::Network(const Stack& stack, Wiring wiring, const simd::Target& target)
    : lanes_(target.lanes<S>()),
      step_kernels_(&nalm::step_kernels<S>(target.index)),
      wiring_(std::move(wiring)),
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
    layers_.push_back(std::move(layer));
  }
  const std::vector<Wiring::Node>& nodes = wiring_.nodes();
  is_stack_ = nodes.size() == layers_.size() + 1;
  for (std::size_t k = 1; k < nodes.size(); ++k) {
    const int before = static_cast<int>(k) - 1;
    is_stack_ =
        is_stack_ && nodes[k].kind == Wiring::Node::Kind::Layer && nodes[k].layer == before && nodes[k].from == before;
  }
  const Wiring::Node& last = nodes.back();
  has_own_loss_ = last.kind == Wiring::Node::Kind::Layer &&
                  layers_[static_cast<std::size_t>(last.layer)].kernels->own_backward != nullptr;
  // What a tile needs should stay in the caches.
  if (nodes.size() > 64) tile_ = nodes.size() > 1024 ? 1 : 4;
  // A layer that stands in several places adds up its gradient tile by tile: there the tile must not depend on the
  // lanes.
  const std::size_t lanes_bytes = is_stack_ ? at(1) * sizeof(S) : 32;
  const int in_cache = 24 * 1024 / static_cast<int>(static_cast<std::size_t>(inputs()) * lanes_bytes);
  learn_tile_ = std::min(tile_, std::max(4, in_cache));
  nodes_.resize(nodes.size());
  for (std::size_t k = 1; k < nodes.size(); ++k) {
    NodeState& state = nodes_[k];
    state.y.resize(at(tile_ * nodes[k].width));
    state.dy.resize(state.y.size());
    if (nodes[k].kind == Wiring::Node::Kind::Layer) {
      // learn() of a single layer keeps y and dy of one sample beside its steps.
      const int steps = layers_[static_cast<std::size_t>(nodes[k].layer)].step_count;
      state.step.resize(at(std::max(tile_ * steps, steps + 2 * nodes[k].width)));
    } else if (nodes[k].kind == Wiring::Node::Kind::Constant) {
      std::fill(state.y.begin(), state.y.end(), static_cast<S>(nodes[k].number));
    }
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
void Network<S>::set_parameters(int lane, std::span<const double> values) {
  for (int k = 0; k < layer_count(); ++k) {
    const std::size_t count = static_cast<std::size_t>(layers_[static_cast<std::size_t>(k)].parameter_count);
    set_parameters(lane, k, values.first(count));
    values = values.subspan(count);
  }
}

template <class S>
std::vector<double> Network<S>::joined(AlignedVector<S> LayerState::*values, int lane, int first_layer, int end) const {
  std::vector<double> all;
  for (int layer = first_layer; layer < end; ++layer) {
    const LayerState& l = layers_[static_cast<std::size_t>(layer)];
    for (int k = 0; k < l.parameter_count; ++k) all.push_back((l.*values)[at(k) + static_cast<std::size_t>(lane)]);
  }
  return all;
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
void Network<S>::forward_tile(Form form, const S* x, int first_sample, int samples, std::size_t nodes) {
  for (std::size_t k = 1; k < nodes; ++k) {
    const Wiring::Node& node = wiring_.nodes()[k];
    NodeState& state = nodes_[k];
    if (node.kind != Wiring::Node::Kind::Layer) {
      apply(node, state, x, samples);
      continue;
    }
    const LayerState& l = layers_[static_cast<std::size_t>(node.layer)];
    const S* from = values_of(node.from, x);
    if (form == Form::Trained && l.kernels->training_forward) {
      const S* noise = l.noise.empty() ? nullptr : l.noise.data() + at(first_sample * l.spec.shape.inputs);
      l.kernels->training_forward(l.spec.shape, l.p.data(), l.w.data(), from, noise, state.y.data(), state.step.data(),
                                  l.step_count, samples);
    } else {
      l.kernels->forward(l.spec.shape, l.p.data(), l.w.data(), from, state.y.data(), state.step.data(), l.step_count,
                         samples);
    }
  }
}

// From the gradient of the output, which is there already, to those of the effective weights and, unless dx is null, of
// the inputs.
template <class S>
void Network<S>::backward_tile(const S* x, int samples, S* dx, const OwnLoss* own) {
  for (std::size_t k = 1; k + 1 < nodes_.size(); ++k)
    std::fill_n(nodes_[k].dy.data(), at(samples * wiring_.nodes()[k].width), S(0));
  for (std::size_t k = nodes_.size(); k-- > 1;) {
    const Wiring::Node& node = wiring_.nodes()[k];
    NodeState& state = nodes_[k];
    if (node.kind != Wiring::Node::Kind::Layer) {
      apply_back(node, state, x, samples, dx);
      continue;
    }
    LayerState& l = layers_[static_cast<std::size_t>(node.layer)];
    const bool wanted =
        node.from > 0 && wiring_.nodes()[static_cast<std::size_t>(node.from)].kind != Wiring::Node::Kind::Constant;
    S* below = node.from == 0 ? dx : wanted ? nodes_[static_cast<std::size_t>(node.from)].dy.data() : nullptr;
    if (own && k + 1 == nodes_.size()) {
      l.kernels->own_backward(l.spec.shape, l.p.data(), l.w.data(), values_of(node.from, x), state.y.data(),
                              state.step.data(), l.step_count, own->t, own->scale, below, l.dp.data(), l.dw.data(),
                              samples);
      continue;
    }
    l.kernels->backward(l.spec.shape, l.p.data(), l.w.data(), values_of(node.from, x), state.y.data(),
                        state.step.data(), l.step_count, state.dy.data(), below, l.dp.data(), l.dw.data(), samples);
  }
}

template <class S>
void Network<S>::training_predict(const S* x, S* y, int samples, int layers) {
  const std::size_t last = is_stack_ ? static_cast<std::size_t>(layers) : nodes_.size() - 1;
  const int width = wiring_.nodes()[last].width;
  for (int k = 0; k < layers; ++k) noise(k, samples);
  for (int first = 0; first < samples; first += tile_) {
    const int count = std::min(tile_, samples - first);
    forward_tile(Form::Trained, x + at(first * inputs()), first, count, last + 1);
    std::copy_n(nodes_[last].y.data(), at(count * width), y + at(first * width));
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
  for (int first = 0; first < samples; first += tile_) {
    const int count = std::min(tile_, samples - first);
    forward_tile(Form::Evaluated, x + at(first * inputs()), first, count, nodes_.size());
    std::copy_n(nodes_.back().y.data(), at(count * outputs()), y + at(first * outputs()));
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
void Network<S>::prepare(const S* x, S* prepared, int samples, bool finite) const {
  layers_.front().kernels->prepare(layers_.front().spec.shape, x, prepared, samples, finite);
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
  if (is_stack_ && layers_.size() == 1 && layers_.front().kernels->learn) {
    LayerState& l = layers_.front();
    l.kernels->learn(l.spec.shape, l.p.data(), l.w.data(), x, prepared_or_own(x, samples, prepared), noise(0, samples),
                     t, scale, loss.kind == Loss::Kind::Squared ? nullptr : &loss, nodes_.back().step.data(),
                     l.dp.data(), l.dw.data(), samples);
    return;
  }
  for (int k = 0; k < layer_count(); ++k) noise(k, samples);
  for (int first = 0; first < samples; first += learn_tile_) {
    const int count = std::min(learn_tile_, samples - first);
    const S* tile_x = x + at(first * inputs());
    forward_tile(Form::Trained, tile_x, first, count, nodes_.size());
    NodeState& last = nodes_.back();
    if (loss.kind == Loss::Kind::Own && has_own_loss_) {
      const OwnLoss own{t + at(first * outputs()), scale};
      backward_tile(tile_x, count, nullptr, &own);
      continue;
    }
    step_kernels_->error_gradient(last.y.data(), t + at(first * outputs()), last.dy.data(), count * outputs(), scale,
                                  loss);
    backward_tile(tile_x, count);
  }
}

template <class S>
void Network<S>::input_gradients(const S* x, const S* t, int samples, double scale, S* dx) {
  for (int k = 0; k < layer_count(); ++k) noise(k, samples);
  for (int first = 0; first < samples; first += tile_) {
    const int count = std::min(tile_, samples - first);
    const S* tile_x = x + at(first * inputs());
    forward_tile(Form::Trained, tile_x, first, count, nodes_.size());
    NodeState& last = nodes_.back();
    step_kernels_->error_gradient(last.y.data(), t + at(first * outputs()), last.dy.data(), count * outputs(), scale,
                                  Loss());
    backward_tile(tile_x, count, dx + at(first * inputs()));
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
  forward_tile(Form::Trained, x, 0, samples, nodes_.size());
  std::copy_n(nodes_.back().y.data(), at(samples), y);
  for (int sample = 0; sample < samples; ++sample) {
    clear_gradients();
    std::fill_n(nodes_.back().dy.data(), at(1), S(1));
    for (std::size_t k = layers_.size(); k-- > 0;) {
      LayerState& l = layers_[k];
      const NodeState& state = nodes_[k + 1];
      S* dx = k > 0 ? nodes_[k].dy.data() : nullptr;
      const S* layer_x = values_of(static_cast<int>(k), x) + at(sample * l.spec.shape.inputs);
      if (dx) std::fill_n(dx, at(l.spec.shape.inputs), S(0));
      l.kernels->backward(l.spec.shape, l.p.data(), l.w.data(), layer_x,
                          state.y.data() + at(sample * l.spec.shape.outputs),
                          state.step.data() + at(sample * l.step_count), l.step_count, state.dy.data(), dx, l.dp.data(),
                          l.dw.data(), 1);
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
  if (is_stack_ && layers_.size() == 1) {
    LayerState& l = layers_.front();
    NodeState& state = nodes_.back();
    l.kernels->squared_error(l.spec.shape, l.p.data(), l.w.data(), x, prepared_or_own(x, samples, prepared), t,
                             state.y.data(), state.step.data(), sums_.data(), samples);
  } else {
    for (int first = 0; first < samples; first += tile_) {
      const int count = std::min(tile_, samples - first);
      forward_tile(Form::Evaluated, x + at(first * inputs()), first, count, nodes_.size());
      const S* y = nodes_.back().y.data();
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
