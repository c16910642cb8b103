// Layers, stacked or wired, for a bundle of runs: one run per SIMD lane, all with the same architecture.
#pragma once

#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "modules/registry.hpp"
#include "nalm/stack.hpp"
#include "nalm/wiring.hpp"
#include "simd/dispatch.hpp"
#include "train/step_kernels.hpp"

namespace nalm {

// S is float or double. Arrays passed in are in lane layout (modules/kernels.hpp) and aligned to 64 bytes.
template <class S>
class Network {
 public:
  Network(const Stack& stack, const simd::Target& target) : Network(stack, Wiring::of(stack), target) {}
  Network(const Stack& stack, Wiring wiring, const simd::Target& target);

  int lanes() const { return lanes_; }
  int inputs() const { return wiring_.inputs(); }
  int outputs() const { return wiring_.outputs(); }
  int layer_count() const { return static_cast<int>(layers_.size()); }
  const LayerSpec& spec(int layer) const { return layers_[static_cast<std::size_t>(layer)].spec; }
  const StepKernels<S>& step_kernels() const { return *step_kernels_; }

  // Raw parameters of one run, of a layer or of all of them, one after the other. update_weights() must follow before
  // anything is computed.
  void set_parameters(int lane, int layer, std::span<const double> values);
  void set_parameters(int lane, std::span<const double> values);
  std::vector<double> parameters(int lane, int layer) const { return joined(&LayerState::p, lane, layer, layer + 1); }
  std::vector<double> parameters(int lane) const { return joined(&LayerState::p, lane, 0, layer_count()); }
  std::vector<double> gradients(int lane, int layer) const { return joined(&LayerState::dp, lane, layer, layer + 1); }
  std::vector<double> gradients(int lane) const { return joined(&LayerState::dp, lane, 0, layer_count()); }
  Model model(int lane) const;
  // Of the effective weights as of the last update_weights(), computed in S; the largest over the layers.
  double sparsity_error(int lane) const;

  void update_weights();
  void predict(const S* x, S* y, int samples);
  // In the form that the layers train in, of the first so many layers of a stack; learn() minimises the error of this
  // one.
  void training_predict(const S* x, S* y, int samples, int layers);

  // Random factors for the next learn() of so many samples, [sample][input]; null for a layer that takes none. They are
  // 1 until somebody fills them in.
  S* noise(int layer, int samples);

  void clear_gradients();
  // What the first layer computes from the inputs alone, [sample][input]: for networks that share it (ModuleInfo::
  // prepared). Whoever has it passes it on below; null means that it is computed there. finite: all inputs are.
  bool is_stack() const { return is_stack_; }
  bool has_prepared() const { return is_stack_ && layers_.front().kernels->prepare != nullptr; }
  void prepare(const S* x, S* prepared, int samples, bool finite = false) const;

  // Adds the gradient of scale/2 * sum of the loss with respect to the effective weights ...
  void learn(const S* x, const S* t, int samples, double scale, const S* prepared = nullptr, const Loss& loss = {});
  // ... and turns it into that of the raw parameters.
  void pull_back();
  // The gradient of the same, for the squared error, with respect to the inputs, added to dx. What it adds to the other
  // gradients is of no use; clear them before learn().
  void input_gradients(const S* x, const S* t, int samples, double scale, S* dx);

  // Sum of (y - t)^2 per lane, in double.
  void squared_error(const S* x, const S* t, int samples, std::span<double> sums, const S* prepared = nullptr);

  // Outputs of at most `tile` samples of a stack with one output, and the gradient of each with respect to all raw
  // parameters, layer by layer: [sample][parameter].
  void output_gradients(const S* x, int samples, S* y, S* gradients);

  // For the optimiser: the values of one layer in lane layout.
  struct Values {
    S* parameters;
    S* gradients;
    int count;
  };
  Values values(int layer);

  // Samples that go through all layers before the next ones: small enough to stay in the first-level cache.
  static constexpr int tile = 32;

 private:
  struct LayerState {
    LayerSpec spec;
    const LayerKernels<S>* kernels = nullptr;
    int parameter_count = 0, weight_count = 0, step_count = 0;
    AlignedVector<S> p, w, dp, dw;
    AlignedVector<S> noise;  // of a batch
  };
  // Of one tile.
  struct NodeState {
    AlignedVector<S> y, dy, step;
  };

  std::size_t at(int value) const { return static_cast<std::size_t>(value) * static_cast<std::size_t>(lanes_); }
  const S* values_of(int node, const S* x) const {
    return node == 0 ? x : nodes_[static_cast<std::size_t>(node)].y.data();
  }
  void apply(const Wiring::Node& node, NodeState& state, const S* x, int samples) const;
  void apply_back(const Wiring::Node& node, const NodeState& state, const S* x, int samples, S* dx);
  std::vector<double> joined(AlignedVector<S> LayerState::*values, int lane, int first_layer, int end) const;
  enum class Form { Evaluated, Trained };
  void forward_tile(Form form, const S* x, int first_sample, int samples, std::size_t nodes);
  // own: what the last layer needs for its module's own loss, in place of the gradient of its output; or null.
  struct OwnLoss {
    const S* t;
    double scale;
  };
  void backward_tile(const S* x, int samples, S* dx = nullptr, const OwnLoss* own = nullptr);
  const S* prepared_or_own(const S* x, int samples, const S* prepared);

  int lanes_ = 0;
  const StepKernels<S>* step_kernels_;
  Wiring wiring_;
  bool is_stack_ = true;
  bool has_own_loss_ = false;  // the node behind all others is a layer whose module has one
  int tile_ = tile;            // smaller for wirings with many nodes
  int learn_tile_ = tile;      // smaller for wide inputs
  std::vector<LayerState> layers_;
  std::vector<NodeState> nodes_;
  AlignedVector<double> sums_;
  AlignedVector<S> prepared_;  // where nobody passes one on
};

extern template class Network<float>;
extern template class Network<double>;

}  // namespace nalm
