// Networks that are wired: values by hand, and gradients against differences.
#include "nalm/wiring.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "train/bundle.hpp"

namespace nalm::wiring_test {
namespace {

Stack layers_of(std::initializer_list<std::pair<const char*, int>> layers) {
  Stack stack;
  for (const auto& [text, inputs] : layers) stack.push_back(parse_stack(text, inputs)->front());
  return stack;
}

// The same numbers in all lanes.
struct Wired {
  Wired(const Stack& stack, const Wiring& wiring, std::uint64_t seed)
      : network(stack, wiring, simd::active_target()), lanes(static_cast<std::size_t>(network.lanes())), random(seed) {
    for (int k = 0; k < network.layer_count(); ++k) {
      std::vector<double> values(static_cast<std::size_t>(network.values(k).count));
      for (double& value : values) value = random.between(0.2, 0.8);
      parameters.push_back(values);
    }
    set();
  }
  void set() {
    for (int k = 0; k < network.layer_count(); ++k)
      for (int lane = 0; lane < network.lanes(); ++lane)
        network.set_parameters(lane, k, parameters[static_cast<std::size_t>(k)]);
    network.update_weights();
  }
  AlignedVector<double> spread(const std::vector<double>& values) const {
    AlignedVector<double> result;
    for (const double value : values) result.insert(result.end(), lanes, value);
    return result;
  }
  std::vector<double> predict(const std::vector<double>& x, int samples) {
    const AlignedVector<double> in = spread(x);
    AlignedVector<double> out(static_cast<std::size_t>(samples * network.outputs()) * lanes);
    network.predict(in.data(), out.data(), samples);
    std::vector<double> y;
    for (std::size_t k = 0; k < out.size(); k += lanes) y.push_back(out[k]);
    return y;
  }

  Network<double> network;
  std::size_t lanes;
  Xoshiro random;
  std::vector<std::vector<double>> parameters;
};

// The gradient of the squared error, per parameter, against central differences.
void check_gradients(const Stack& stack, const Wiring& wiring, std::uint64_t seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Wired wired(stack, wiring, seed);
  constexpr int samples = 7;
  std::vector<double> x(static_cast<std::size_t>(samples * wiring.inputs())),
      t(static_cast<std::size_t>(samples * wiring.outputs()));
  for (double& value : x) value = wired.random.between(0.3, 1.5);
  for (double& value : t) value = wired.random.between(0.3, 1.5);
  const auto error = [&] {
    wired.set();
    const std::vector<double> y = wired.predict(x, samples);
    double sum = 0;
    for (std::size_t k = 0; k < y.size(); ++k) sum += (y[k] - t[k]) * (y[k] - t[k]);
    return sum / 2;
  };
  wired.network.clear_gradients();
  wired.network.learn(wired.spread(x).data(), wired.spread(t).data(), samples, 1);
  wired.network.pull_back();
  std::vector<std::vector<double>> gradients;
  for (int k = 0; k < wired.network.layer_count(); ++k) gradients.push_back(wired.network.gradients(0, k));
  for (std::size_t k = 0; k < wired.parameters.size(); ++k) {
    for (std::size_t j = 0; j < wired.parameters[k].size(); ++j) {
      double& parameter = wired.parameters[k][j];
      const double old = parameter, h = 1e-5;
      parameter = old + h;
      const double above = error();
      parameter = old - h;
      const double below = error();
      parameter = old;
      const double slope = (above - below) / (2 * h);
      EXPECT_NEAR(gradients[k][j], slope, 1e-6 * std::max(1.0, std::fabs(slope)))
          << "layer " << k << " parameter " << j;
    }
  }
}

TEST(Wiring, OfAStackIsTheStack) {
  const Stack stack = *parse_stack("NAU:3,NMU:2", 4);
  Wired plain(stack, Wiring::of(stack), 1);
  EXPECT_EQ(plain.network.inputs(), 4);
  EXPECT_EQ(plain.network.outputs(), 2);
  Network<double> direct(stack, simd::active_target());
  for (int k = 0; k < 2; ++k)
    for (int lane = 0; lane < direct.lanes(); ++lane)
      direct.set_parameters(lane, k, plain.parameters[static_cast<std::size_t>(k)]);
  direct.update_weights();
  const std::vector<double> x{1, 2, 3, 4};
  AlignedVector<double> y(2 * plain.lanes);
  direct.predict(plain.spread(x).data(), y.data(), 1);
  EXPECT_EQ(plain.predict(x, 1), (std::vector<double>{y[0], y[plain.lanes]}));
}

TEST(Wiring, PicksMixesAndSums) {
  const Stack stack = layers_of({{"NAU:1", 2}});
  Wiring wiring(3);
  const int pair = wiring.pick({{0, 2}, {0, 0}});
  const int seven = wiring.constant(7, 2);
  const int mixed = wiring.mix({0, 1}, pair, seven);  // x1 * (x2, x0) + (1 - x1) * (7, 7)
  const int sum = wiring.sum({{2, mixed}, {-1, pair}}, 0.5);
  wiring.pick({{sum, 0}, {sum, 1}, {wiring.layer(stack, 0, pair), 0}});
  Wired wired(stack, wiring, 2);
  wired.parameters[0] = {1, -1};
  wired.set();
  // Mixed: 0.25*10 + 0.75*7 = 7.75 and 0.25*3 + 0.75*7 = 6; twice that less (10, 3): 5.5 and 9.
  EXPECT_EQ(wired.predict({3, 0.25, 10}, 1), (std::vector<double>{5.5, 9, 7}));
  // Never below 0.5: 2*(1*10) - 10 = 10, and 2*(1*-3) + 3 = -3.
  EXPECT_EQ(wired.predict({-3, 1, 10}, 1), (std::vector<double>{10, 0.5, 13}));
}

TEST(Wiring, MultipliesAndSquashes) {
  const Stack stack = layers_of({{"NAU:2", 2}});
  Wiring wiring(2);
  const int layer = wiring.layer(stack, 0, 0);
  wiring.product(wiring.tanh(layer), 0);
  Wired wired(stack, wiring, 4);
  wired.parameters[0] = {1, 0, 0, 1};
  wired.set();
  const std::vector<double> y = wired.predict({0.5, -3}, 1);
  EXPECT_NEAR(y[0], 0.5 * std::tanh(0.5), 1e-15);
  EXPECT_NEAR(y[1], 3 * std::tanh(3.0), 1e-14);
}

// c = f*c + i*g, h = o*tanh(c), three steps.
TEST(Wiring, GradientsOfAnLstmAreRight) {
  const Stack stack = layers_of({{"Dense:6(activation=sigmoid)", 4}, {"Dense:2(activation=tanh)", 4}, {"Linear:1", 2}});
  Wiring wiring(6);
  int h = wiring.constant(0, 2), c = wiring.constant(0, 2);
  for (int step = 0; step < 3; ++step) {
    const int row = wiring.pick({{0, 2 * step}, {0, 2 * step + 1}, {h, 0}, {h, 1}});
    const int gates = wiring.layer(stack, 0, row), g = wiring.layer(stack, 1, row);
    const auto gate = [&](int k) { return wiring.pick({{gates, 2 * k}, {gates, 2 * k + 1}}); };
    c = wiring.sum({{1, wiring.product(gate(1), c)}, {1, wiring.product(gate(0), g)}});
    h = wiring.product(gate(2), wiring.tanh(c));
  }
  wiring.layer(stack, 2, h);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) check_gradients(stack, wiring, seed);
}

TEST(Wiring, ACellAddsUpOverTime) {
  const Stack stack = layers_of({{"NAU:1", 2}});
  Wiring wiring(5);
  int state = wiring.constant(0, 1);
  for (int step = 0; step < 5; ++step) state = wiring.layer(stack, 0, wiring.pick({{0, step}, {state, 0}}));
  Wired wired(stack, wiring, 3);
  wired.parameters[0] = {1, 1};
  wired.set();
  EXPECT_EQ(wired.predict({1, 2, 3, 4, 5, 10, 20, 30, 40, 50}, 2), (std::vector<double>{15, 150}));
}

TEST(Wiring, GradientsOfARecurrentCellAreRight) {
  for (const char* cell : {"NAU:2", "NMU:2", "RealNPU:2", "NALU:2", "Dense:2(activation=tanh)"}) {
    SCOPED_TRACE(cell);
    const Stack stack = layers_of({{cell, 4}, {"Linear:2", 1}, {"NMU:1", 2}});
    Wiring wiring(6);
    int state = wiring.layer(stack, 1, wiring.constant(0, 1));
    for (int step = 0; step < 3; ++step)
      state = wiring.layer(stack, 0, wiring.pick({{0, 2 * step}, {0, 2 * step + 1}, {state, 0}, {state, 1}}));
    wiring.layer(stack, 2, state);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) check_gradients(stack, wiring, seed);
  }
}

TEST(Wiring, GradientsOfMixedBranchesAreRight) {
  const Stack stack = layers_of({{"NSR:2(redundancy=3)", 3}, {"NAU:2", 3}, {"Linear:2", 3}});
  Wiring wiring(3);
  const int condition = wiring.layer(stack, 0, 0);
  wiring.mix({condition, 0}, wiring.layer(stack, 1, 0), wiring.layer(stack, 2, 0));
  for (std::uint64_t seed = 1; seed <= 20; ++seed) check_gradients(stack, wiring, seed);
}

TEST(Wiring, GradientsOfASolverAreRight) {
  const Stack stack = layers_of({{"RealNPU:3", 2}, {"Linear:2", 3}});
  Wiring wiring(2);
  int state = 0;
  for (int step = 0; step < 40; ++step) {  // many nodes: a tile of few samples
    const int slope = wiring.layer(stack, 1, wiring.layer(stack, 0, state));
    state = wiring.sum({{1, state}, {0.01, slope}}, 1e-6);
  }
  for (std::uint64_t seed = 1; seed <= 5; ++seed) check_gradients(stack, wiring, seed);
}

}  // namespace
}  // namespace nalm::wiring_test
