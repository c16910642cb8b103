#include "tasks/sir_discovery.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "train/network.hpp"

namespace nalm::sir_discovery_test {
namespace {

// tests/tasks/reference_values.py prints these states.
TEST(SirDiscovery, TheTrajectoryIsTheReference) {
  const auto states = sir_trajectory({});
  ASSERT_EQ(states.size(), 40u);
  const std::pair<std::size_t, std::array<double, 3>> wanted[] = {{0, {100, 0.01, 0}},
                                                                  {1, {97.4672, 2.3260, 0.2168}},
                                                                  {5, {59.3617, 26.8521, 13.7961}},
                                                                  {10, {15.9845, 34.8143, 49.2112}},
                                                                  {20, {7.8629, 16.2441, 75.9030}},
                                                                  {39, {10.4530, 14.9141, 74.6429}}};
  for (const auto& [point, state] : wanted)
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(states[point][k], state[k], 6e-5) << point << " " << k;
  for (const auto& [s, i, r] : states) EXPECT_NEAR(s + i + r, 100.01, 1e-9);
}

// The error of the true equations as a network, three units, S^0.5*I^0.5, I and R, over all 40 points.
double error_of_truth(Wiring (*wiring)(const Stack& layers)) {
  const Stack layers = stack_of("RealNPU:3,Linear:3(bias=no)", 3);
  Network<double> network(layers, wiring(layers), simd::active_target());
  const std::vector<double> powers{0.5, 0, 0, 0.5, 1, 0, 0, 0, 1, 1, 1, 1},
      factors{-0.06, 0.06, 0, 0, -0.05, 0.05, 0.01, 0, -0.01};
  const std::size_t lanes = static_cast<std::size_t>(network.lanes());
  for (int lane = 0; lane < network.lanes(); ++lane) {
    network.set_parameters(lane, 0, powers);
    network.set_parameters(lane, 1, factors);
  }
  network.update_weights();
  AlignedVector<double> x, y(117 * lanes);
  for (const double value : sir_start) x.insert(x.end(), lanes, value);
  network.predict(x.data(), y.data(), 1);
  const auto states = sir_trajectory({});
  double squares = 0;
  for (std::size_t p = 1; p < states.size(); ++p)
    for (std::size_t k = 0; k < 3; ++k) squares += std::pow(y[(3 * (p - 1) + k) * lanes] - states[p][k], 2);
  return squares / 120;
}

TEST(SirDiscovery, TheTrueNetworkFollowsTheCurves) {
  const double error = error_of_truth([](const Stack& layers) { return runge_kutta(layers, sir_end, sir_points, 11); });
  EXPECT_LT(error, 1e-4);
  EXPECT_GT(error, 0);
}

// The published solver's own error, computed independently: 1.084.
TEST(SirDiscovery, EulersMethodCostsTheTruthMoreThanOne) { EXPECT_NEAR(error_of_truth(euler), 1.084, 0.02); }

}  // namespace
}  // namespace nalm::sir_discovery_test
