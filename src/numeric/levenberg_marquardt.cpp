#include "numeric/levenberg_marquardt.hpp"

#include <algorithm>

namespace nalm::numeric {

Minimum minimise(const LeastSquaresProblem& problem, Vector start, const MinimiseOptions& options) {
  Minimum best{std::move(start), 0, true};
  best.error = problem.errors({best.parameters})[0];
  const Damping& rule = options.damping;
  double damping = rule.start;
  Vector residuals, lengths;
  Matrix slopes;
  int failures = 0;
  for (int k = 0; k < options.steps && failures < options.failures && damping <= rule.most; ++k) {
    if (!(best.error > options.good_enough) || (options.stop && options.stop())) break;
    if (failures == 0) {
      problem.linearise(best.parameters, residuals, slopes);
      best.regular = all_finite(slopes.values) && all_finite(residuals);
      if (!best.regular) break;
      lengths = normalise_columns(slopes);
    }
    std::vector<Vector> trials;
    for (const double factor : rule.factors) {
      const Vector direction = damped_least_squares(slopes, residuals, damping * factor);
      trials.push_back(best.parameters);
      for (std::size_t p = 0; p < direction.size(); ++p) trials.back()[p] -= direction[p] / lengths[p];
    }
    const Vector errors = problem.errors(trials);
    const auto least = static_cast<std::size_t>(std::min_element(errors.begin(), errors.end()) - errors.begin());
    if (!(errors[least] < best.error)) {
      damping *= rule.after_failure;
      ++failures;
      continue;
    }
    const bool last = best.error - errors[least] < options.least_gain * best.error;
    best.error = errors[least];
    best.parameters = std::move(trials[least]);
    damping = std::max(rule.least, damping * rule.factors[least] * rule.after_success);
    failures = 0;
    if (last) break;
  }
  return best;
}

}  // namespace nalm::numeric
