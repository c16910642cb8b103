#include "fit/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "fit/trust.hpp"

namespace nalm {

std::string_view name_of(Verdict verdict) {
  return verdict == Verdict::Law ? "law" : verdict == Verdict::Approximation ? "approximation" : "none";
}

namespace fitting {

namespace {

std::string percent(double share) { return fmt::format("{:.3g} %", 100 * share); }

FitJudgement judged(const Fit& fit, const Candidate& c, const Data& data, const Spoken& spoken) {
  FitJudgement result;
  std::vector<std::size_t> all(data.rows);
  for (std::size_t r = 0; r < data.rows; ++r) all[r] = r;
  const double left = error_on(c.formula, data, all).relative;
  result.r_squared = 1 - left * left;
  const double train = c.train.relative;
  const double unseen = std::max(c.held_out.relative, c.outside.relative);
  const auto free =
      std::count_if(c.constants.begin(), c.constants.end(), [](const FitConstant& f) { return !f.snapped; });
  const auto no = [&](const std::string& why) {
    result.verdict = unseen < 0.5 && train < 0.5 ? Verdict::Approximation : Verdict::None;
    result.reason = fmt::format("{}: {}", spoken.refusal, why);
    return result;
  };
  if (!(train < 0.6) || !(c.held_out.relative < 0.75)) {
    return no(fmt::format("{} leaves {} of the target's deviation unexplained", spoken.it, percent(train)));
  }
  if (fit.restarts > 0 && free > 3 && c.agreeing < 2) {
    return no(fmt::format("{} has {} constants and an error of {}, and no two of {} restarts agree on it", spoken.it,
                          free, percent(train), fit.restarts));
  }
  result.verdict = Verdict::Law;
  if (train < 1e-7 && unseen < std::max(30 * train, 1e-10)) {
    result.reason = "the formula gives every row to rounding";
    return result;
  }
  // Few rows scatter more.
  const auto allowed = [&](std::size_t rows, double factor) {
    return factor + 4 / std::sqrt(std::max<double>(1, static_cast<double>(rows)));
  };
  if (c.held_out.rows > 0 && c.held_out.relative > allowed(c.held_out.rows, 1.4) * train) {
    return no(fmt::format("{} has an error of {} on the rows it was fitted to, but {} on others", spoken.it,
                          percent(train), percent(c.held_out.relative)));
  }
  if (c.outside.rows > 0 && c.outside.relative > allowed(c.outside.rows, 2) * train) {
    return no(fmt::format("{} has an error of {} on the rows it was fitted to, but {} at the edge of the data",
                          spoken.it, percent(train), percent(c.outside.relative)));
  }
  if (const std::string along = pattern_in_errors(c.formula, data); !along.empty()) {
    return no(fmt::format("{} ({} of the target's deviation) are no noise, they follow {}", spoken.its_errors,
                          percent(train), along));
  }
  result.reason =
      fmt::format("the formula leaves {} of the target's deviation, which looks like noise", percent(train));
  return result;
}

}  // namespace

void judge(Fit& fit, const Data& data, const Spoken& spoken) {
  Candidate& best = fit.candidates[fit.chosen];
  best.judgement = judged(fit, best, data, spoken);
  fit.reason = best.judgement.reason;
}

}  // namespace fitting
}  // namespace nalm
