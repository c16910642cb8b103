// For modules that train with noise: both forms of a model, and one factor of the sNMU's training form.
#pragma once

#include <cmath>
#include <vector>

#include "base/aligned.hpp"
#include "nalm/model.hpp"
#include "train/network.hpp"

namespace nalm::test {

using Values = std::vector<double>;

// Both forms of a model on rows x with noise n, an array like x.
template <class S>
struct Noisy {
  Values training, evaluation;
  Values gradient;  // of the sum of the training form over samples

  Noisy(const Model& model, const Values& x, const Values& n) {
    Network<S> network(model.stack(), simd::active_target());
    const std::size_t lanes = static_cast<std::size_t>(network.lanes());
    const int samples = static_cast<int>(x.size()) / network.inputs();
    for (int lane = 0; lane < network.lanes(); ++lane) network.set_parameters(lane, 0, model.layers[0].parameters);
    network.update_weights();
    AlignedVector<S> in(x.size() * lanes), out(static_cast<std::size_t>(samples * network.outputs()) * lanes);
    S* noise = network.noise(0, samples);
    for (std::size_t k = 0; k < in.size(); ++k) {
      in[k] = static_cast<S>(x[k / lanes]);
      noise[k] = static_cast<S>(n[k / lanes]);
    }
    network.predict(in.data(), out.data(), samples);
    for (std::size_t k = 0; k < out.size(); k += lanes) evaluation.push_back(out[k]);
    network.training_predict(in.data(), out.data(), samples, 1);
    for (std::size_t k = 0; k < out.size(); k += lanes) training.push_back(out[k]);
    AlignedVector<S> targets = out;
    for (S& t : targets) t -= 1;
    network.clear_gradients();
    network.learn(in.data(), targets.data(), samples, 1.0);
    network.pull_back();
    gradient = network.gradients(0, 0);
  }
};

// One factor of the training form, and its slope n (x - 1) / divisor^2.
inline double noisy_factor(double W, double x, double n) { return (n * W * x + 1 - W) / (n * W + 1 - W); }
inline double noisy_slope(double W, double x, double n) { return n * (x - 1) / std::pow(n * W + 1 - W, 2); }

}  // namespace nalm::test
