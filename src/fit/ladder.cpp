#include "fit/ladder.hpp"

#include <algorithm>
#include <cmath>

namespace nalm::fitting {

namespace {

using RungKind = Rung::Kind;

Rung ratio(int terms, int below, int restarts) { return {RungKind::Ratio, terms, restarts, 1, below}; }
Rung nested(int terms, int inner, int restarts) { return {RungKind::Nested, terms, restarts, 1, 0, inner}; }

}  // namespace

std::vector<Wave> ladder(const Data& data, Powers powers) {
  std::vector<double> target_powers = {-1};
  // Noise may bring a few below 0 of what is a root.
  const auto negative = std::count_if(data.y.begin(), data.y.end(), [](double y) { return !(y > 0); });
  if (100 * static_cast<std::size_t>(negative) <= data.y.size()) {
    if (powers != Powers::Integer) target_powers.insert(target_powers.end(), {2, -2});
    target_powers.insert(target_powers.end(), {0.5, -0.5});
  }
  const auto for_each_power = [&](Wave& wave, RungKind kind, int terms, int restarts, double least_size = 0) {
    for (const double power : target_powers) {
      if (std::fabs(power) >= least_size) wave.push_back({kind, terms, restarts, power});
    }
  };
  const auto add = [](Wave& wave, std::initializer_list<Rung> rungs) { wave.insert(wave.end(), rungs); };

  const Wave products = {{RungKind::Line, 1, 8}, {RungKind::Product, 1, 24}};

  Wave small = {{RungKind::Sum, 2, 16}};
  for_each_power(small, RungKind::Power, 2, 8);
  add(small, {ratio(1, 1, 12), ratio(0, 1, 8), ratio(2, 1, 12)});
  for (const int terms : {1, 2, 3}) small.push_back({RungKind::Factor, terms, 12});
  for_each_power(small, RungKind::Factor, 2, 8, 1);
  add(small, {nested(1, 1, 8), nested(1, 2, 16)});

  Wave medium = {{RungKind::Sum, 3, 24}, {RungKind::Sum, 4, 24}};
  for_each_power(medium, RungKind::Power, 3, 8);
  for_each_power(medium, RungKind::Factor, 3, 8, 1);
  medium.push_back({RungKind::Quadratic, 1, 4});
  for_each_power(medium, RungKind::Quadratic, 1, 4);
  medium.push_back({RungKind::Rational, 1, 4});
  add(medium, {ratio(1, 2, 12), ratio(2, 2, 16), ratio(3, 1, 12), ratio(3, 2, 16)});
  add(medium, {nested(2, 2, 24), nested(2, 3, 24)});

  Wave large = {{RungKind::Sum, 5, 16}, {RungKind::Sum, 6, 16}};
  for_each_power(large, RungKind::Power, 4, 8);
  for_each_power(large, RungKind::Power, 6, 8);
  for (const int terms : {4, 6}) {
    large.push_back({RungKind::Factor, terms, 8});
    for_each_power(large, RungKind::Factor, terms, 8);
  }
  add(large, {ratio(3, 3, 8), ratio(4, 2, 8), ratio(5, 3, 8)});
  add(large, {nested(3, 3, 16), nested(3, 4, 16)});
  return {products, small, medium, large};
}

std::vector<Wave> simple_ladder(const Data& data, Powers powers) {
  std::vector<Wave> waves = ladder(data, powers);
  waves.resize(3);
  std::erase_if(waves[2], [](const Rung& rung) { return !rung.is_linear(); });
  return waves;
}

}  // namespace nalm::fitting
