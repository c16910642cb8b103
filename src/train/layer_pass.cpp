#include "nalm/layer.hpp"

#include <algorithm>

#include "base/aligned.hpp"
#include "base/random.hpp"
#include "modules/registry.hpp"
#include "simd/dispatch.hpp"
#include "train/start_values.hpp"

namespace nalm {

std::vector<double> start_values(const LayerSpec& layer, std::uint64_t seed) {
  Xoshiro stream(seed);
  return start_values(*layer.module, layer.shape, stream);
}

// A name instead of none: sources are compiled together, where lambdas that hold something nameless are warned about.
namespace layer_pass {

// What both directions need: the parameters in every lane, and a tile of rows in lane layout.
template <class S>
class RowsInLanes {
 public:
  RowsInLanes(const LayerSpec& layer, const LayerBatch<S>& batch, bool keeps_steps)
      : layer_(layer),
        batch_(batch),
        lanes_(static_cast<std::size_t>(simd::active_target().lanes<S>())),
        inputs_(static_cast<std::size_t>(layer.shape.inputs)),
        outputs_(static_cast<std::size_t>(layer.shape.outputs)),
        kernels_(
            entry_of(*layer.module).kernels[static_cast<std::size_t>(simd::active_target().index)]->template of<S>()),
        steps_(static_cast<std::size_t>(quantity_count(*layer.module, layer.module->steps, layer.shape))) {
    // What a tile needs should stay in the second-level cache.
    constexpr std::size_t in_cache = 128 * 1024;
    const std::size_t per_sample = (inputs_ + 2 * outputs_ + (keeps_steps ? steps_ : 0)) * lanes_ * sizeof(S);
    tile_ = std::clamp<std::size_t>(in_cache / per_sample, 1, 32);
    // Kernels for a fixed shape copy conditional parameters too, so there is room for all of them.
    for (const ParameterInfo& parameter : layer.module->parameters)
      room_ += static_cast<std::size_t>(size_of(*layer.module, parameter.axes, layer.shape));
    p.resize(room_ * lanes_);
    const std::size_t count = static_cast<std::size_t>(parameter_count(*layer.module, layer.shape));
    for (std::size_t k = 0; k < count; ++k) std::fill_n(p.data() + k * lanes_, lanes_, batch.parameters[k]);
    w.resize(static_cast<std::size_t>(quantity_count(*layer.module, layer.module->weights, layer.shape)) * lanes_);
    kernels_.weights(layer.shape, p.data(), w.data());
    x.resize(tile_ * inputs_ * lanes_);
    y.resize(tile_ * outputs_ * lanes_);
    step.resize((keeps_steps ? tile_ : 1) * steps_ * lanes_);
    stride_ = keeps_steps ? static_cast<int>(steps_) : 0;
    if (layer.module->takes_noise) noise.assign(tile_ * inputs_ * lanes_, S(1));
  }

  // f(first row, rows, samples) for one tile after the other.
  template <class F>
  void for_each_tile(F f) {
    for (std::size_t first = 0; first < batch_.rows; first += tile_ * lanes_) {
      const std::size_t rows = std::min(tile_ * lanes_, batch_.rows - first);
      const std::size_t samples = (rows + lanes_ - 1) / lanes_;
      to_lanes(batch_.x + first * inputs_, rows, samples, inputs_, x.data());
      if (batch_.noise && !noise.empty())
        to_lanes(batch_.noise + first * inputs_, rows, samples, inputs_, noise.data());
      f(first, rows, static_cast<int>(samples));
    }
  }

  void forward(bool training, int samples) {
    if (training && kernels_.training_forward) {
      kernels_.training_forward(layer_.shape, p.data(), w.data(), x.data(), noise.empty() ? nullptr : noise.data(),
                                y.data(), step.data(), stride_, samples);
    } else {
      kernels_.forward(layer_.shape, p.data(), w.data(), x.data(), y.data(), step.data(), stride_, samples);
    }
  }

  // Lanes left over repeat the last row, so that they meet nothing that the rows do not.
  void to_lanes(const S* from, std::size_t rows, std::size_t samples, std::size_t width, S* to) const {
    for (std::size_t r = 0; r < samples * lanes_; ++r) {
      const S* row = from + std::min(r, rows - 1) * width;
      S* place = to + (r / lanes_) * width * lanes_ + r % lanes_;
      for (std::size_t k = 0; k < width; ++k) place[k * lanes_] = row[k];
    }
  }
  void from_lanes(const S* from, std::size_t rows, std::size_t width, S* to) const {
    for (std::size_t r = 0; r < rows; ++r) {
      const S* place = from + (r / lanes_) * width * lanes_ + r % lanes_;
      for (std::size_t k = 0; k < width; ++k) to[r * width + k] = place[k * lanes_];
    }
  }

  AlignedVector<S> p, w, x, y, step, noise;

  const LayerSpec& layer_;
  const LayerBatch<S>& batch_;
  std::size_t lanes_, inputs_, outputs_;
  const LayerKernels<S>& kernels_;
  std::size_t steps_, tile_ = 1, room_ = 0;
  int stride_ = 0;
};

}  // namespace layer_pass

using layer_pass::RowsInLanes;

template <class S>
void layer_forward(const LayerSpec& layer, const LayerBatch<S>& batch, bool training, S* y) {
  RowsInLanes<S> lanes(layer, batch, false);
  lanes.for_each_tile([&](std::size_t first, std::size_t rows, int samples) {
    lanes.forward(training, samples);
    lanes.from_lanes(lanes.y.data(), rows, lanes.outputs_, y + first * lanes.outputs_);
  });
}

template <class S>
void layer_backward(const LayerSpec& layer, const LayerBatch<S>& batch, const S* dy, S* dx, S* parameters) {
  RowsInLanes<S> lanes(layer, batch, true);
  const std::size_t width = lanes.lanes_;
  AlignedVector<S> lane_dy(lanes.y.size()), lane_dx(dx ? lanes.x.size() : 0), dp(lanes.p.size()), dw(lanes.w.size());
  lanes.for_each_tile([&](std::size_t first, std::size_t rows, int samples) {
    lanes.forward(true, samples);
    lanes.to_lanes(dy + first * lanes.outputs_, rows, static_cast<std::size_t>(samples), lanes.outputs_,
                   lane_dy.data());
    // A row that only fills a lane has no say.
    for (std::size_t r = rows; r < static_cast<std::size_t>(samples) * width; ++r)
      for (std::size_t o = 0; o < lanes.outputs_; ++o)
        lane_dy[((r / width) * lanes.outputs_ + o) * width + r % width] = S(0);
    std::fill(lane_dx.begin(), lane_dx.end(), S(0));
    lanes.kernels_.backward(layer.shape, lanes.p.data(), lanes.w.data(), lanes.x.data(), lanes.y.data(),
                            lanes.step.data(), lanes.stride_, lane_dy.data(), dx ? lane_dx.data() : nullptr, dp.data(),
                            dw.data(), samples);
    if (dx) lanes.from_lanes(lane_dx.data(), rows, lanes.inputs_, dx + first * lanes.inputs_);
  });
  lanes.kernels_.pull_back(layer.shape, lanes.p.data(), lanes.w.data(), dw.data(), dp.data());
  const std::size_t count = static_cast<std::size_t>(parameter_count(*layer.module, layer.shape));
  for (std::size_t k = 0; k < count; ++k) {
    S sum = 0;
    for (std::size_t lane = 0; lane < width; ++lane) sum += dp[k * width + lane];
    parameters[k] = sum;
  }
}

template void layer_forward<float>(const LayerSpec&, const LayerBatch<float>&, bool, float*);
template void layer_forward<double>(const LayerSpec&, const LayerBatch<double>&, bool, double*);
template void layer_backward<float>(const LayerSpec&, const LayerBatch<float>&, const float*, float*, float*);
template void layer_backward<double>(const LayerSpec&, const LayerBatch<double>&, const double*, double*, double*);

}  // namespace nalm
