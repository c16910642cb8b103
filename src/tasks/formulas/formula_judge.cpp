#include "tasks/formulas/formula_judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/random.hpp"
#include "numeric/levenberg_marquardt.hpp"

namespace nalm {
namespace {

using Kind = Expression::Kind;

constexpr int point_count = 10000;
constexpr int least_points = 100;
constexpr std::uint64_t point_seed = 1;

// The variables that stand under a root.
void collect_rooted(const Expression& e, bool under_root, std::set<std::string>& names) {
  if (e.kind() == Kind::Variable && under_root) names.insert(e.name());
  if (e.kind() == Kind::Power && e.operands()[1].kind() == Kind::Constant) {
    const double exponent = e.operands()[1].constant();
    under_root = under_root || exponent != std::round(exponent);
  }
  if (e.kind() == Kind::Call && e.name() == "sqrt") under_root = true;
  for (const Expression& operand : e.operands()) collect_rooted(operand, under_root, names);
}

// The found formula with its estimated numbers as further variables.
struct FreeFormula {
  const Expression& expression;
  std::vector<std::size_t> constants;  // which of the fit's constants have a place in it
  std::vector<std::string> names;      // columns, then the places of the constants
  std::vector<double> start;
};

FreeFormula set_free(const Candidate& found, const std::vector<std::string>& columns) {
  FreeFormula free{found.open_formula, {}, columns, {}};
  for (std::size_t k = 0; k < found.constants.size(); ++k) {
    if (found.constants[k].slot.empty()) continue;
    free.constants.push_back(k);
    free.names.push_back(found.constants[k].slot);
    free.start.push_back(found.constants[k].value);
  }
  return free;
}

// (f - truth)/reference at every point; infinite where f is not finite.
std::vector<double> errors_of(const Expression& f, std::span<const std::string> names, const JudgePoints& points,
                              std::span<const double> parameters) {
  std::vector<double> errors(points.size()), values(names.size());
  std::copy(parameters.begin(), parameters.end(), values.end() - static_cast<std::ptrdiff_t>(parameters.size()));
  for (std::size_t k = 0; k < points.size(); ++k) {
    const std::span<const double> row = points.row(k);
    std::copy(row.begin(), row.end(), values.begin());
    const Result<double> value = evaluate(f, names, values);
    errors[k] = value && std::isfinite(*value) ? (*value - points.truth[k]) / points.reference[k] : infinity;
  }
  return errors;
}

// The points of a rule, box by box.
struct JudgedBoxes {
  std::vector<JudgePoints> boxes;
  bool mean_square;

  const JudgePoints& widest() const { return boxes.back(); }
  // Of the worst box.
  double error_of(const Expression& f, std::span<const std::string> names, std::span<const double> parameters) const {
    double worst = 0;
    for (const JudgePoints& points : boxes) {
      double largest = 0, squares = 0;
      for (const double error : errors_of(f, names, points, parameters)) {
        largest = std::max(largest, std::abs(error));
        squares += error * error;
      }
      const double mean = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(points.size(), 1)));
      worst = std::max(worst, mean_square ? mean : largest);
    }
    return worst;
  }
};

JudgePoints points_of(const FormulaCase& truth, const JudgeRule& rule, double times_as_wide, int count,
                      std::uint64_t seed) {
  JudgePoints points = judge_points(truth, times_as_wide, count, seed);
  if (rule.mean_square && points.size() > 0) {
    const double squares = numeric::dot(points.truth, points.truth);
    const double size = std::sqrt(squares / static_cast<double>(points.size()));
    points.reference.assign(points.size(), std::max(size, std::numeric_limits<double>::min()));
  }
  return points;
}

// Least squares over the constants, with numerical derivatives. Errors are compressed to less than 1: one point beside
// a pole would otherwise outweigh all others.
std::vector<double> fit_constants(const FreeFormula& free, const JudgePoints& points, std::vector<double> values) {
  const auto errors_at = [&](const std::vector<double>& at) {
    std::vector<double> errors = errors_of(free.expression, free.names, points, at);
    for (double& error : errors) error = std::isfinite(error) ? error / (1 + std::abs(error)) : 1.0;
    return errors;
  };
  const numeric::LeastSquaresProblem problem{
      [&](const std::vector<numeric::Vector>& trials) {
        const std::vector<double> errors = errors_at(trials[0]);
        return numeric::Vector{numeric::dot(errors, errors) / static_cast<double>(points.size())};
      },
      [&](const numeric::Vector& at, numeric::Vector& errors, numeric::Matrix& slopes) {
        errors = errors_at(at);
        slopes = numeric::Matrix(points.size(), at.size());
        for (std::size_t j = 0; j < at.size(); ++j) {
          const double step = 1e-5 * std::abs(free.start[j]);
          std::vector<double> moved = at;
          moved[j] = at[j] + step;
          const std::vector<double> above = errors_at(moved);
          moved[j] = at[j] - step;
          const std::vector<double> below = errors_at(moved);
          for (std::size_t k = 0; k < points.size(); ++k) slopes(k, j) = (above[k] - below[k]) / (2 * step);
        }
      }};
  // The least damping keeps numbers near their start if the values leave them open, as the twos in 2*a/(2*b).
  return numeric::minimise(problem, std::move(values), {.steps = 200, .good_enough = 1e-20}).parameters;
}

// A number of which the formula can do without: a term too many.
bool is_superfluous(const FreeFormula& free, const JudgedBoxes& judged, std::vector<double> values, std::size_t which) {
  values[which] = 0;
  return judged.error_of(free.expression, free.names, values) <= judge_tolerance;
}

bool allows(const FitConstant& constant, double value) {
  const double slack = 1e-6 * std::abs(constant.value);  // what the tolerance of the values leaves open
  return (value >= constant.low - slack && value <= constant.high + slack) || std::abs(value - constant.value) <= slack;
}

// "another formula", and if a constant has no place in the formula that too: it is an exponent, which stays as it is,
// or the fit's list of constants is to blame.
std::string another_formula(std::span<const FitConstant> constants) {
  for (std::size_t k = 0; k < constants.size(); ++k) {
    if (constants[k].slot.empty() && constants[k].value != 0)
      return fmt::format("another formula (constant {} is not in it)", k + 1);
  }
  return "another formula";
}

FormulaVerdict verdict(FormulaVerdict result, Recovery recovery, bool recovered, std::string words) {
  result.recovery = recovery;
  result.recovered = recovered;
  result.words = std::move(words);
  return result;
}

}  // namespace

JudgePoints judge_points(const FormulaCase& formula, double times_as_wide, int count, std::uint64_t seed) {
  JudgePoints points;
  points.names = formula.column_names();
  std::set<std::string> rooted;
  collect_rooted(formula.formula, false, rooted);
  std::vector<Xoshiro> streams;
  std::vector<double> low, high;
  streams.reserve(formula.columns.size());
  for (const FormulaColumn& column : formula.columns) {
    streams.emplace_back(stream_seed(seed, formula.name, "judge " + column.name));
    const double centre = column.low + (column.high - column.low) / 2;
    const double half_width = times_as_wide * (column.high - column.low) / 2;
    low.push_back(centre - half_width);
    high.push_back(centre + half_width);
    if (rooted.contains(column.name) && column.low >= 0) low.back() = std::max(low.back(), 0.0);
    if (rooted.contains(column.name) && column.high <= 0) high.back() = std::min(high.back(), 0.0);
  }
  std::vector<double> row(points.names.size());
  for (int k = 0; k < count; ++k) {
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = streams[j].between(low[j], high[j]);
    const Result<ScaledValue> truth = evaluate_with_scale(formula.formula, points.names, row);
    if (!truth || !std::isfinite(truth->value) || !std::isfinite(truth->scale)) continue;
    points.inputs.insert(points.inputs.end(), row.begin(), row.end());
    points.truth.push_back(truth->value);
    points.reference.push_back(
        std::max({std::abs(truth->value), truth->scale / 1000, std::numeric_limits<double>::min()}));
  }
  return points;
}

FormulaVerdict judge_formula(const FormulaCase& truth, const Candidate& found, bool noisy, const JudgeRule& rule) {
  FormulaVerdict result;
  JudgedBoxes judged{{}, rule.mean_square};
  for (const double box : rule.boxes) judged.boxes.push_back(points_of(truth, rule, box, point_count, point_seed));
  result.points = static_cast<int>(judged.widest().size());
  result.error = judged.error_of(found.formula, judged.widest().names, {});
  if (result.points < least_points)
    return verdict(result, Recovery::AnotherFormula, false,
                   fmt::format("cannot be judged: {} has a value at only {} of {} points", truth.name, result.points,
                               point_count));
  if (result.error <= judge_tolerance) return verdict(result, Recovery::Exact, true, "exact");

  const FreeFormula free = set_free(found, judged.widest().names);
  const std::string another = another_formula(found.constants);
  if (free.constants.empty()) return verdict(result, Recovery::AnotherFormula, false, another);
  // First where the found formula is close, then everywhere.
  constexpr int few = 300;
  std::vector<double> values = fit_constants(free, points_of(truth, rule, 1, few, point_seed + 1), free.start);
  JudgePoints both = points_of(truth, rule, 1, few, point_seed + 2);
  const JudgePoints outside = points_of(truth, rule, rule.boxes.back(), few, point_seed + 3);
  both.inputs.insert(both.inputs.end(), outside.inputs.begin(), outside.inputs.end());
  both.truth.insert(both.truth.end(), outside.truth.begin(), outside.truth.end());
  both.reference.insert(both.reference.end(), outside.reference.begin(), outside.reference.end());
  values = fit_constants(free, both, std::move(values));
  if (!(judged.error_of(free.expression, free.names, values) <= judge_tolerance))
    return verdict(result, Recovery::AnotherFormula, false, another);
  for (std::size_t j = 0; j < values.size(); ++j)
    if (is_superfluous(free, judged, values, j))
      return verdict(result, Recovery::AnotherFormula, false, "another formula: it has a term too many");
  for (std::size_t j = 0; j < values.size(); ++j)
    if (!allows(found.constants[free.constants[j]], values[j]))
      return verdict(result, Recovery::OutsideInterval, false,
                     fmt::format("same formula, constant {} outside its interval", free.constants[j] + 1));
  if (!noisy)
    return verdict(result, Recovery::WithinIntervals, false,
                   fmt::format("same formula, but its constants are wrong by up to {:.1g}", result.error));
  return verdict(result, Recovery::WithinIntervals, true, "same formula, constants within their intervals");
}

FormulaVerdict judge_fit(const FormulaCase& truth, const Fit& fit, bool noisy, const JudgeRule& rule) {
  if (!fit.is_law()) return verdict({}, Recovery::NoFormula, false, "no formula");
  return judge_formula(truth, fit.best(), noisy, rule);
}

bool is_false_law(const FormulaCase& truth, const Fit& fit) {
  if (!fit.is_law()) return false;
  const JudgePoints points = judge_points(truth, 2, point_count, point_seed);
  double finite = 0, mean = 0, errors = 0, squares = 0;
  std::vector<double> values;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const Result<double> value = evaluate(fit.best().formula, points.names, points.row(k));
    values.push_back(value ? *value : infinity);
    if (!std::isfinite(values[k])) continue;
    ++finite;
    mean += points.truth[k];
  }
  if (finite < 0.8 * static_cast<double>(points.size())) return true;
  mean /= std::max(finite, 1.0);
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (!std::isfinite(values[k])) continue;
    errors += (values[k] - points.truth[k]) * (values[k] - points.truth[k]);
    squares += (points.truth[k] - mean) * (points.truth[k] - mean);
  }
  return errors > 0.1 * squares;
}

}  // namespace nalm
