#include "fit/spread.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fit/refine.hpp"
#include "fit/tape.hpp"
#include "formula/rewrite.hpp"
#include "numeric/student.hpp"

namespace nalm {

using namespace fitting;

namespace {

constexpr std::size_t rows_for_spread = 20000;

// The formula with these variables called by other names.
Expression with_names(const Expression& formula, const std::vector<std::string>& from,
                      const std::vector<std::string>& to) {
  return rewrite(formula, [&](const Expression& e) -> std::optional<Expression> {
    if (e.kind() != Expression::Kind::Variable) return std::nullopt;
    const auto found = std::find(from.begin(), from.end(), e.name());
    if (found == from.end()) return std::nullopt;
    return Expression::variable(to[static_cast<std::size_t>(found - from.begin())]);
  });
}

std::vector<std::string> slot_names(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < count; ++k) names.push_back(slot_name(static_cast<int>(k)));
  return names;
}

}  // namespace

namespace fitting {

FitSpread spread_of(const Candidate& candidate, const Data& data, bool relative) {
  FitSpread spread;
  spread.relative = relative;
  // Numbers that were fitted become variables: those with a slot, and exponents, which stand in the formula as they
  // are.
  std::vector<std::pair<std::string, double>> fixed;
  std::vector<std::string> from;
  Expression open = candidate.open_formula;
  for (const FitConstant& c : candidate.constants) {
    if (c.snapped) {
      if (!c.slot.empty()) fixed.emplace_back(c.slot, c.value);
      continue;
    }
    const std::string name = fmt::format("constant {}", spread.names.size() + 1);
    if (c.slot.empty()) {
      bool written = false;
      open = rewrite(open, [&](const Expression& e) -> std::optional<Expression> {
        if (written || e.kind() != Expression::Kind::Power || !e.operands()[1].is_constant(c.value))
          return std::nullopt;
        written = true;
        return pow(e.operands()[0], Expression::variable(name));
      });
      if (!written) continue;
      from.push_back(name);
    } else {
      from.push_back(c.slot);
    }
    spread.names.push_back(name);
    spread.values.push_back(c.value);
  }
  open = with_values(open, fixed);
  spread.formula = with_names(open, from, spread.names);
  std::vector<std::size_t> all(data.rows);
  for (std::size_t r = 0; r < data.rows; ++r) all[r] = r;
  const Rows rows = rows_of(data, all, rows_for_spread);
  if (rows.size() <= spread.values.size()) return spread;
  const Expression slotted = with_names(spread.formula, spread.names, slot_names(spread.names.size()));
  const double mse = mean_squared_error(slotted, spread.values, data, rows);
  const double degrees = static_cast<double>(rows.size() - spread.values.size());
  if (!std::isfinite(mse)) return spread;
  if (!spread.values.empty()) {
    const std::optional<numeric::Matrix> covariance = covariance_at(slotted, spread.values, data, rows);
    if (!covariance || !numeric::all_finite(covariance->values)) return spread;
    spread.covariance = covariance->values;
  }
  spread.deviation =
      std::sqrt(mse * static_cast<double>(rows.size()) / degrees) * data.y_scale * (relative ? data.error_unit : 1);
  // Rows that were not needed for the slopes still say how large errors are.
  spread.degrees = static_cast<double>(data.rows - spread.values.size());
  return spread;
}

}  // namespace fitting

std::vector<double> prediction_reach(const FitSpread& spread, const std::vector<std::string>& columns,
                                     std::span<const double> rows) {
  std::vector<double> reach;
  const std::size_t k = spread.values.size();
  if (!(spread.degrees > 0) || columns.empty() || spread.covariance.size() != k * k) return reach;
  std::vector<const double*> places;
  for (std::size_t r = 0; r + columns.size() <= rows.size(); r += columns.size()) places.push_back(rows.data() + r);
  Tape tape(with_names(spread.formula, spread.names, slot_names(k)), columns, static_cast<int>(k), places);
  const double t = numeric::student_quantile(0.995, spread.degrees);
  std::vector<double> y(Tape::block), d(std::max<std::size_t>(1, k) * Tape::block);
  for (std::size_t first = 0; first < places.size(); first += Tape::block) {
    const std::size_t count = std::min(Tape::block, places.size() - first);
    tape.run(first, count, spread.values, y.data(), d.data());
    for (std::size_t r = 0; r < count; ++r) {
      const double scatter = spread.deviation * (spread.relative ? std::fabs(y[r]) : 1);
      double variance = scatter * scatter;
      for (std::size_t i = 0; i < k; ++i)
        for (std::size_t j = 0; j < k; ++j)
          variance += d[i * Tape::block + r] * spread.covariance[i * k + j] * d[j * Tape::block + r];
      reach.push_back(t * std::sqrt(std::max(variance, 0.0)));
    }
  }
  return reach;
}

}  // namespace nalm
