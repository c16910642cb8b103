#include "fit/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "fit/trust.hpp"

namespace nalm::fitting {

namespace {

std::string percent(double share) { return fmt::format("{:.3g} %", 100 * share); }

}  // namespace

void judge(Fit& fit, const Data& data, const Spoken& spoken) {
  const Candidate& best = fit.best();
  const double train = best.train.relative;
  const double unseen = std::max(best.held_out.relative, best.outside.relative);
  const auto free =
      std::count_if(best.constants.begin(), best.constants.end(), [](const FitConstant& c) { return !c.snapped; });
  const auto no = [&](const std::string& why) { fit.verdict = fmt::format("{}: {}", spoken.refusal, why); };
  if (!(train < 0.6) || !(best.held_out.relative < 0.75)) {
    return no(fmt::format("{} leaves {} of the target's deviation unexplained", spoken.it, percent(train)));
  }
  if (fit.restarts > 0 && free > 3 && best.agreeing < 2) {
    return no(fmt::format("{} has {} constants and an error of {}, and no two of {} restarts agree on it", spoken.it,
                          free, percent(train), fit.restarts));
  }
  if (train < 1e-7 && unseen < std::max(30 * train, 1e-10)) {
    fit.found = true;
    fit.verdict = "the formula gives every row to rounding";
    return;
  }
  // Few rows scatter more.
  const auto allowed = [&](std::size_t rows, double factor) {
    return factor + 4 / std::sqrt(std::max<double>(1, static_cast<double>(rows)));
  };
  if (best.held_out.rows > 0 && best.held_out.relative > allowed(best.held_out.rows, 1.4) * train) {
    return no(fmt::format("{} has an error of {} on the rows it was fitted to, but {} on others", spoken.it,
                          percent(train), percent(best.held_out.relative)));
  }
  if (best.outside.rows > 0 && best.outside.relative > allowed(best.outside.rows, 2) * train) {
    return no(fmt::format("{} has an error of {} on the rows it was fitted to, but {} at the edge of the data",
                          spoken.it, percent(train), percent(best.outside.relative)));
  }
  if (const std::string along = pattern_in_errors(best.formula, data); !along.empty()) {
    return no(fmt::format("{} ({} of the target's deviation) are no noise, they follow {}", spoken.its_errors,
                          percent(train), along));
  }
  fit.found = true;
  fit.verdict = fmt::format("the formula leaves {} of the target's deviation, which looks like noise", percent(train));
}

}  // namespace nalm::fitting
