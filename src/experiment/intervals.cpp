#include "experiment/intervals.hpp"

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "nalm/detail/portable.hpp"
#include "numeric/student.hpp"

namespace nalm {

namespace {

constexpr double kNotDefined = std::numeric_limits<double>::quiet_NaN();
constexpr double kNormalQuantile = 1.959963984540054;                 // of 0.975
constexpr double kDevianceLimit = kNormalQuantile * kNormalQuantile;  // 3.841459

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// With n - 1.
double deviation_of(std::span<const double> values, double mean) {
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

bool all_equal(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [&](double value) { return value == values.front(); });
}

Estimate student(std::span<const double> values, double lowest, double highest) {
  if (values.empty()) return {kNotDefined, kNotDefined, kNotDefined};
  const double n = static_cast<double>(values.size());
  const double mean = all_equal(values) ? values.front() : mean_of(values);
  if (values.size() == 1) return {mean, kNotDefined, kNotDefined};
  const double half_width = numeric::student_quantile(0.975, n - 1) * deviation_of(values, mean) / std::sqrt(n);
  return {mean, std::max(lowest, mean - half_width), std::min(highest, mean + half_width)};
}

// ---- search --------------------------------------------------------------------------------------------------------

// Where f, of different signs at the two ends, is 0. Rounding may give both ends one sign; then the end nearer to 0.
template <class F>
double root_between(F f, double lo, double hi) {
  if (lo > hi) std::swap(lo, hi);
  const double at_lo = f(lo), at_hi = f(hi);
  if ((at_lo < 0) == (at_hi < 0)) return std::abs(at_lo) < std::abs(at_hi) ? lo : hi;
  std::uintmax_t steps = 200;
  const auto [a, b] =
      boost::math::tools::toms748_solve(f, lo, hi, at_lo, at_hi, boost::math::tools::eps_tolerance<double>(44), steps);
  return (a + b) / 2;
}

// Where f, negative at the start, becomes positive in steps that double; the limit if it does not.
template <class F>
double first_root(F f, double start, double step, double limit) {
  double from = start;
  for (double to = start + step;; to += step) {
    const bool last = step > 0 ? to >= limit : to <= limit;
    if (last) to = limit;
    if (f(to) > 0) return root_between(f, from, to);
    if (last) return limit;
    from = to;
    step *= 2;
  }
}

// {where, value} of the minimum of a function with one valley.
template <class F>
std::pair<double, double> lowest_point(F f, double lo, double hi) {
  std::uintmax_t steps = 200;
  return boost::math::tools::brent_find_minima(f, lo, hi, 30, steps);
}

// ---- special functions, without cancellation where arguments are large ---------------------------------------------

constexpr double kLarge = 30;

// What ln Gamma(x) has beyond (x - 1/2) ln x - x + ln(2 pi)/2: Stirling's series, to 1e-16 for large x.
double stirling_rest(double x) {
  const double s = 1 / (x * x);
  return (1 / 12.0 - s * (1 / 360.0 - s * (1 / 1260.0 - s / 1680.0))) / x;
}

// ln Gamma(x) and its derivative: by Gamma(x) = Gamma(x + 1) / x where x is not large.
double log_gamma(double x) {
  double product = 1;
  for (; x < kLarge; ++x) product *= x;
  return (x - 0.5) * portable::log(x) - x + portable::log(2 * std::numbers::pi) / 2 + stirling_rest(x) -
         portable::log(product);
}
double digamma(double x) {
  double sum = 0;
  for (; x < kLarge; ++x) sum += 1 / x;
  const double s = 1 / (x * x);
  return portable::log(x) - 1 / (2 * x) - s * (1 / 12.0 - s * (1 / 120.0 - s * (1 / 252.0 - s / 240.0))) - sum;
}

// x ln x - x - ln Gamma(x)
double gamma_gap(double x) {
  return x > kLarge ? portable::log(x / (2 * std::numbers::pi)) / 2 - stirling_rest(x)
                    : x * portable::log(x) - x - log_gamma(x);
}

// ln x - digamma(x)
double digamma_gap(double x) {
  if (x <= kLarge) return portable::log(x) - digamma(x);
  const double s = 1 / (x * x);
  return 1 / (2 * x) + s * (1 / 12.0 - s * (1 / 120.0 - s * (1 / 252.0 - s / 240.0)));
}

// ln B(a, b) from the gaps: x ln x - x cancels as far as it can before anything is rounded.
double log_beta(double a, double b) {
  if (a > b) std::swap(a, b);
  return -a * portable::log1p(b / a) - b * portable::log1p(a / b) - gamma_gap(a) - gamma_gap(b) + gamma_gap(a + b);
}

// ---- the honest intervals ------------------------------------------------------------------------------------------

// How far twice the log-likelihood may fall. For the mean of a normal distribution this is exactly Student's interval.
double deviance_limit(std::size_t values) {
  const double n = static_cast<double>(values), t = numeric::student_quantile(0.975, n - 1);
  return n * portable::log1p(t * t / (n - 1));
}

// A gamma distribution of positive values that are not all equal.
class GammaFit {
 public:
  explicit GammaFit(std::span<const double> values)
      : n_(static_cast<double>(values.size())), mean_(mean_of(values)), spread_(0) {
    for (const double value : values) {
      const double difference = (value - mean_) / mean_;
      // Exact for values close to the mean and for values far below it.
      spread_ += (difference - (difference < -0.5 ? portable::log(value / mean_) : portable::log1p(difference))) / n_;
    }
    best_ = likelihood(spread_);
  }

  double best_mean() const { return mean_; }
  double largest_mean() const { return infinity; }

  // Twice how far the log-likelihood falls if this is the mean, with the best shape for it.
  double deviance(double mean) const {
    const double ratio = mean_ / mean;
    return 2 * n_ * (best_ - likelihood(spread_ + (ratio - 1) - portable::log(ratio)));
  }

 private:
  // Per value, up to a constant, at the best shape. Mean and values enter through one number only: by how much the
  // mean of x / mean - 1 - ln(x / mean) exceeds 0. The best shape k has ln k - digamma(k) = spread.
  static double likelihood(double spread) {
    // 1/(2k) < ln k - digamma(k) < 1/k
    const auto excess = [&](double log_k) { return portable::log(digamma_gap(portable::exp(log_k)) / spread); };
    const double k =
        portable::exp(root_between(excess, -portable::log(2 * spread) - 1e-9, -portable::log(spread) + 1e-9));
    return gamma_gap(k) - k * spread;
  }

  double n_, mean_, spread_, best_;
};

// A beta distribution of values between 0 and 1 that are not all equal.
class BetaFit {
 public:
  explicit BetaFit(std::span<const double> values) : n_(static_cast<double>(values.size())) {
    for (const double value : values) {
      log_mean_ += portable::log(value) / n_;
      log_rest_mean_ += portable::log1p(-value) / n_;
    }
    const double mean = mean_of(values), start = portable::log(mean) - portable::log1p(-mean);
    const auto [logit, lowest] = lowest_point([&](double l) { return -likelihood(l); }, start - 2, start + 2);
    best_logit_ = logit;
    best_ = -lowest;
  }

  double best_mean() const { return 1 / (1 + portable::exp(-best_logit_)); }
  double largest_mean() const { return 1 - 1e-12; }
  double deviance(double mean) const {
    return 2 * n_ * (best_ - likelihood(portable::log(mean) - portable::log1p(-mean)));
  }

 private:
  // Per value, up to a constant, at the best a + b. For a given mean the log-likelihood is concave in a + b.
  double likelihood(double logit) const {
    const double odds = portable::exp(logit);  // a / b
    const auto minus_likelihood = [&](double log_smaller) {
      const double smaller = portable::exp(log_smaller);
      const double a = odds < 1 ? smaller : smaller * odds, b = odds < 1 ? smaller / odds : smaller;
      return log_beta(a, b) - a * log_mean_ - b * log_rest_mean_;
    };
    return -lowest_point(minus_likelihood, -14, 60).second;
  }

  double n_, log_mean_ = 0, log_rest_mean_ = 0;
  double best_logit_ = 0, best_ = 0;
};

// Zeros and other values: the mean is share * mean of the others, and share has a binomial likelihood of its own.
template <class Fit>
class FitWithZeros {
 public:
  FitWithZeros(const Fit& fit, double zeros, double others) : fit_(fit), zeros_(zeros), others_(others) {}

  double best_mean() const { return best_share() * fit_.best_mean(); }
  double largest_mean() const { return fit_.largest_mean() * (zeros_ == 0 ? 1 : share(highest_logit() - 0.01)); }

  double deviance(double mean) const {
    if (zeros_ == 0) return fit_.deviance(mean);
    // mean / share must stay a possible mean.
    const double least_share = mean / fit_.largest_mean();
    const double lo = std::max(highest_logit() - 16, portable::log(least_share) - portable::log1p(-least_share) + 1e-6);
    const auto total = [&](double logit) { return share_deviance(logit) + fit_.deviance(mean / share(logit)); };
    return lowest_point(total, lo, highest_logit()).second;
  }

 private:
  static double share(double logit) { return 1 / (1 + portable::exp(-logit)); }
  double best_share() const { return others_ / (others_ + zeros_); }
  // The share is looked for within 8 of the observed one, on a logit scale: farther out it alone has a deviance of 16.
  double highest_logit() const { return portable::log(others_ / zeros_) + 8; }
  double share_deviance(double logit) const {
    const double log_share = -portable::log1p(portable::exp(-logit)), log_rest = -portable::log1p(portable::exp(logit));
    return 2 *
           (others_ * (portable::log(best_share()) - log_share) + zeros_ * (portable::log1p(-best_share()) - log_rest));
  }

  const Fit& fit_;
  double zeros_, others_;
};

// The means whose deviance is within the limit, looked for on a logarithmic scale.
template <class Fit>
std::pair<double, double> profile_interval(const Fit& fit, double limit) {
  const double centre = portable::log(fit.best_mean());
  const auto excess = [&](double log_mean) { return fit.deviance(portable::exp(log_mean)) - limit; };
  const double top = std::min(portable::log(fit.largest_mean()), centre + 600);
  return {portable::exp(first_root(excess, centre, -0.01, centre - 600)),
          portable::exp(first_root(excess, centre, 0.01, top))};
}

}  // namespace

double median(std::span<const double> values) {
  if (values.empty()) return kNotDefined;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

Estimate wilson(int successes, int runs) {
  if (runs == 0) return {kNotDefined, kNotDefined, kNotDefined};
  const double n = runs, p = successes / n, z2 = kDevianceLimit;
  const double centre = p + z2 / (2 * n), half_width = std::sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n * n)));
  // At the ends the limit is exactly the rate; rounding must not move it.
  return {p, successes == 0 ? 0 : (centre - half_width) / (1 + z2 / n),
          successes == runs ? 1 : (centre + half_width) / (1 + z2 / n)};
}

Estimate solved_at_estimate(std::span<const double> steps, double last) {
  const bool has_zeros = std::any_of(steps.begin(), steps.end(), [](double step) { return step <= 0; });
  if (steps.size() < 2 || all_equal(steps) || has_zeros) return student(steps, 0, last);
  const auto [lo, hi] = profile_interval(GammaFit(steps), deviance_limit(steps.size()));
  return {mean_of(steps), lo, std::min(hi, last)};
}

Estimate sparsity_estimate(std::span<const double> errors) {
  // Twice the errors, without zeros.
  std::vector<double> positive;
  for (const double error : errors) {
    if (error > 0) positive.push_back(2 * error);
  }
  // Values that agree to four digits have the same interval, and the likelihood too few digits.
  const bool alike = positive.size() < 2 || deviation_of(positive, mean_of(positive)) <= 1e-4 * mean_of(positive);
  const bool unbounded = std::any_of(positive.begin(), positive.end(), [](double value) { return value >= 1; });
  if (alike || errors.size() < 2) return student(errors, 0, unbounded ? infinity : 0.5);
  const double others = static_cast<double>(positive.size()), zeros = static_cast<double>(errors.size()) - others;
  const double limit = deviance_limit(positive.size()), mean = mean_of(errors);
  const auto estimate = [&](const auto& fit) -> Estimate {
    const auto [lo, hi] = profile_interval(FitWithZeros(fit, zeros, others), limit);
    return {mean, std::min(lo / 2, mean), std::max(hi / 2, mean)};
  };
  return unbounded ? estimate(GammaFit(positive)) : estimate(BetaFit(positive));
}

// ---- the paper's ---------------------------------------------------------------------------------------------------

namespace {

// The paper's gamma likelihood of a mean: shape mean^2 / variance and rate mean / variance at the sample variance.
class FrozenGamma {
 public:
  FrozenGamma(std::span<const double> values, double mean, double variance)
      : n_(static_cast<double>(values.size())), mean_(mean), variance_(variance) {
    for (const double value : values) log_mean_ += portable::log(value) / n_;
  }

  double likelihood(double mean) const {
    const double shape = mean * mean / variance_, rate = mean / variance_;
    return n_ * (shape * portable::log(rate) - log_gamma(shape) + (shape - 1) * log_mean_ - rate * mean_);
  }
  double slope(double mean) const {
    const double shape = mean * mean / variance_, rate = mean / variance_;
    return n_ * (2 * rate * (portable::log(rate) - digamma(shape) + log_mean_) + (mean - mean_) / variance_);
  }
  // From + at small means to - at large ones.
  double best_mean() const {
    double lo = mean_, hi = mean_;
    while (slope(lo) <= 0) lo /= 2;
    while (slope(hi) >= 0) hi *= 2;
    return root_between([&](double mean) { return slope(mean); }, lo, hi);
  }

 private:
  double n_, mean_, variance_, log_mean_ = 0;
};

}  // namespace

Estimate paper_solved_at(std::span<const double> steps) {
  const bool has_zeros = std::any_of(steps.begin(), steps.end(), [](double step) { return step <= 0; });
  if (steps.size() < 2 || has_zeros) return student(steps, 0, infinity);
  const double mean = mean_of(steps), deviation = deviation_of(steps, mean);
  if (deviation <= 1e-5) return student(steps, 0, infinity);
  const FrozenGamma fit(steps, mean, deviation * deviation);
  const double best = fit.best_mean(), slope = fit.slope(mean), n = static_cast<double>(steps.size());
  // The paper's optimiser stops where it starts if the slope is small; if it moves, it ends close to the best mean.
  const bool stops_at_once = slope * slope <= 2.22e-9 * std::max(std::abs(fit.likelihood(mean)), 1.0) &&
                             std::abs(best - mean) < deviation / std::sqrt(n) / 3;
  const double value = stops_at_once ? mean : best;
  const auto excess = [&](double x) { return 2 * (fit.likelihood(value) - fit.likelihood(x)) - kDevianceLimit; };
  double lo = best, hi = best;
  while (excess(lo) < 0) lo /= 2;
  while (excess(hi) < 0) hi *= 2;
  return {value, root_between(excess, lo, best), root_between(excess, best, hi)};
}

Estimate paper_sparsity(std::span<const double> errors) {
  std::vector<double> clipped(errors.begin(), errors.end());
  for (double& error : clipped) error = std::clamp(error, 1e-16, 0.5 - 1e-16);
  if (clipped.size() < 2) return student(clipped, 0, 0.5);
  const double mean = mean_of(clipped), deviation = deviation_of(clipped, mean);
  if (deviation <= 1e-10) return student(clipped, 0, 0.5);

  const double n = static_cast<double>(clipped.size());
  const double v = std::max(1e-5, mean * (0.5 - mean) / (deviation * deviation) - 1);
  double log_mean = 0, log_rest_mean = 0;
  for (const double error : clipped) {
    log_mean += portable::log(error) / n;
    log_rest_mean += portable::log1p(-error) / n;
  }
  const auto minus_likelihood = [&](double log_mu) {
    const double twice = 2 * portable::exp(log_mu), a = twice * v, b = (1 - twice) * v;
    return n * (log_beta(a, b) - (a - 1) * log_mean - (b - 1) * log_rest_mean);
  };
  const double lowest = portable::log(1e-18), highest = portable::log(0.5) - 1e-12;
  const auto [best, at_best] = lowest_point(minus_likelihood, lowest, highest);
  // Below, the paper's numerical second derivative steps to negative means, is not a number, and Student's rule is
  // used.
  if (portable::exp(best) < 1.781e-5) return student(clipped, 0, 0.5);
  const auto excess = [&, least = at_best](double log_mu) {
    return 2 * (minus_likelihood(log_mu) - least) - kDevianceLimit;
  };
  return {portable::exp(best), portable::exp(first_root(excess, best, -0.01, lowest)),
          portable::exp(first_root(excess, best, 0.01, highest))};
}

}  // namespace nalm
