#include "numeric/quasi_newton.hpp"

#include <cmath>
#include <deque>

namespace nalm::numeric {
namespace {

struct Pair {
  Vector step, change;  // of the parameters, and of the gradient
  double curvature;     // their product
};

// The product of the inverse Hessian that the pairs stand for and -gradient; newest pair last.
Vector direction_of(const std::deque<Pair>& pairs, const Vector& gradient) {
  Vector q = gradient;
  Vector factors(pairs.size());
  for (std::size_t k = pairs.size(); k-- > 0;) {
    factors[k] = dot(pairs[k].step, q) / pairs[k].curvature;
    add(q, -factors[k], pairs[k].change);
  }
  // Before there is a pair, a step is at most 1 long.
  const double size = std::sqrt(dot(gradient, gradient));
  const double scale =
      pairs.empty() ? 1 / std::max(1.0, size) : pairs.back().curvature / dot(pairs.back().change, pairs.back().change);
  for (double& value : q) value *= scale;
  for (std::size_t k = 0; k < pairs.size(); ++k)
    add(q, factors[k] - dot(pairs[k].change, q) / pairs[k].curvature, pairs[k].step);
  for (double& value : q) value = -value;
  return q;
}

}  // namespace

Lowest minimise_smooth(const std::function<std::vector<ValueAndGradient>(const std::vector<Vector>&)>& evaluate,
                       Vector start, const QuasiNewtonOptions& options) {
  constexpr double enough = 1e-4;  // of the decrease that the slope promises
  Lowest now{std::move(start), 0, 0};
  ValueAndGradient at = evaluate({now.parameters}).front();
  now.value = at.value;
  std::deque<Pair> pairs;
  double shrink = 1;
  while (now.steps < options.steps && std::isfinite(at.value) && !(options.stop && options.stop())) {
    const Vector direction = direction_of(pairs, at.gradient);
    const double slope = dot(direction, at.gradient);
    std::vector<Vector> trials;
    for (const double length : options.lengths) {
      trials.push_back(now.parameters);
      add(trials.back(), shrink * length, direction);
    }
    const std::vector<ValueAndGradient> found = evaluate(trials);
    std::size_t best = found.size();
    for (std::size_t k = 0; k < found.size(); ++k) {
      const bool down = found[k].value <= at.value + enough * shrink * options.lengths[k] * slope;
      if (down && slope < 0 && (best == found.size() || found[k].value < found[best].value)) best = k;
    }
    ++now.steps;
    if (best == found.size()) {
      // First without what it remembers, then with shorter steps.
      if (!pairs.empty()) {
        pairs.clear();
        continue;
      }
      shrink *= 1e-3;
      if (shrink < 1e-12) break;
      continue;
    }
    shrink = 1;
    Pair pair{trials[best], found[best].gradient, 0};
    add(pair.step, -1, now.parameters);
    add(pair.change, -1, at.gradient);
    pair.curvature = dot(pair.step, pair.change);
    if (pair.curvature > 1e-12 * dot(pair.change, pair.change)) pairs.push_back(std::move(pair));
    if (pairs.size() > options.memory) pairs.pop_front();
    now.parameters = trials[best];
    at = found[best];
    now.value = at.value;
  }
  return now;
}

}  // namespace nalm::numeric
