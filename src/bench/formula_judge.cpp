#include "bench/formula_judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "base/random.hpp"

namespace nalm {
namespace {

using Kind = Expression::Kind;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double widening = 10;
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

// A number of the found formula that was estimated.
struct Parameter {
  double start = 0;
  std::vector<std::size_t> constants;  // those it may be: indices of the constants with this value
};

// The found formula with its estimated numbers as further variables.
struct FreeFormula {
  Expression expression;
  std::vector<Parameter> parameters;
  std::vector<std::string> names;  // columns, then parameters
};

bool close(double a, double b) { return std::abs(a - b) <= 1e-12 * std::abs(b); }

// Numbers are recognised by their value: nothing else ties Candidate::constants to places in the formula. In a - 2*b
// the constant is -2.
Expression with_parameters(const Expression& e, std::span<const FitConstant> constants, FreeFormula& free) {
  if (e.kind() == Kind::Constant) {
    for (const double sign : {1.0, -1.0}) {
      Parameter parameter{sign * e.constant(), {}};
      for (std::size_t k = 0; k < constants.size(); ++k)
        if (constants[k].value != 0 && close(parameter.start, constants[k].value)) parameter.constants.push_back(k);
      if (parameter.constants.empty()) continue;
      // No column has a space in front.
      const Expression variable = Expression::variable(fmt::format(" {}", free.parameters.size()));
      free.names.push_back(variable.name());
      free.parameters.push_back(std::move(parameter));
      return sign > 0 ? variable : -variable;
    }
    return e;
  }
  std::vector<Expression> operands;
  for (const Expression& operand : e.operands()) {
    const bool exponent = e.kind() == Kind::Power && operands.size() == 1;
    operands.push_back(exponent ? operand : with_parameters(operand, constants, free));
  }
  switch (e.kind()) {
    case Kind::Negate:
      return -operands[0];
    case Kind::Add:
      return operands[0] + operands[1];
    case Kind::Subtract:
      return operands[0] - operands[1];
    case Kind::Multiply:
      return operands[0] * operands[1];
    case Kind::Divide:
      return operands[0] / operands[1];
    case Kind::Power:
      return pow(operands[0], operands[1]);
    case Kind::Call:
      return Expression::call(e.name(), std::move(operands));
    case Kind::Constant:
    case Kind::Variable:
      break;
  }
  return e;
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

double largest(std::span<const double> errors) {
  double result = 0;
  for (const double error : errors) result = std::max(result, std::abs(error));
  return result;
}

// Solves a x = b for a symmetric positive definite matrix by Cholesky's decomposition; empty if it is not.
std::optional<std::vector<double>> solve(std::vector<double> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) {
      double sum = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      if (i == j && !(sum > 0)) return std::nullopt;
      a[i * n + j] = i == j ? std::sqrt(sum) : sum / a[j * n + j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i * n + k] * b[k];
    b[i] /= a[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k * n + i] * b[k];
    b[i] /= a[i * n + i];
  }
  return b;
}

// Least squares over the parameters, Levenberg-Marquardt with numerical derivatives. Parameters are in units of their
// start values. Errors are compressed to less than 1: one point beside a pole would otherwise outweigh all others.
std::vector<double> fit_parameters(const FreeFormula& free, const JudgePoints& points, std::vector<double> values) {
  const std::size_t n = values.size(), m = points.size();
  const auto residuals = [&](const std::vector<double>& at) {
    std::vector<double> errors = errors_of(free.expression, free.names, points, at);
    for (double& error : errors) error = std::isfinite(error) ? error / (1 + std::abs(error)) : 1.0;
    return errors;
  };
  const auto sum_of_squares = [](const std::vector<double>& r) {
    double sum = 0;
    for (const double v : r) sum += v * v;
    return sum;
  };
  std::vector<double> current = residuals(values);
  double cost = sum_of_squares(current), damping = 1e-3;
  for (int step = 0; step < 100 && cost > 1e-20 * static_cast<double>(m) && damping < 1e8; ++step) {
    std::vector<double> slopes(n * m);
    for (std::size_t j = 0; j < n; ++j) {
      const double unit = std::abs(free.parameters[j].start), h = 1e-5;
      std::vector<double> moved = values;
      moved[j] = values[j] + h * unit;
      const std::vector<double> above = residuals(moved);
      moved[j] = values[j] - h * unit;
      const std::vector<double> below = residuals(moved);
      for (std::size_t k = 0; k < m; ++k) slopes[j * m + k] = (above[k] - below[k]) / (2 * h);
    }
    std::vector<double> matrix(n * n), right(n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < m; ++k) right[i] -= slopes[i * m + k] * current[k];
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t k = 0; k < m; ++k) matrix[i * n + j] += slopes[i * m + k] * slopes[j * m + k];
    }
    bool better = false;
    while (!better && damping < 1e8) {
      std::vector<double> damped = matrix;
      // The small addition keeps numbers near their start if the values leave them open, as the twos in 2*a/(2*b).
      for (std::size_t i = 0; i < n; ++i) damped[i * n + i] += damping * matrix[i * n + i] + 1e-12;
      if (const std::optional<std::vector<double>> change = solve(std::move(damped), right)) {
        std::vector<double> moved = values;
        for (std::size_t j = 0; j < n; ++j) moved[j] += (*change)[j] * std::abs(free.parameters[j].start);
        std::vector<double> there = residuals(moved);
        const double new_cost = sum_of_squares(there);
        if (new_cost < cost) {
          better = true;
          values = std::move(moved);
          current = std::move(there);
          cost = new_cost;
        }
      }
      damping = better ? std::max(damping / 10, 1e-15) : damping * 10;
    }
  }
  return values;
}

// A number of which the formula can do without: a term too many.
bool is_superfluous(const FreeFormula& free, const JudgePoints& points, std::vector<double> values, std::size_t which) {
  values[which] = 0;
  return largest(errors_of(free.expression, free.names, points, values)) <= judge_tolerance;
}

bool allows(const FitConstant& constant, double value) {
  const double slack = 1e-6 * std::abs(constant.value);  // what the tolerance of the values leaves open
  return (value >= constant.low - slack && value <= constant.high + slack) || std::abs(value - constant.value) <= slack;
}

// "another formula", and if a constant is not in the formula that too: then the fit's list of constants is to blame.
// Factors of 1 are not written.
std::string another_formula(const FreeFormula& free, std::span<const FitConstant> constants) {
  for (std::size_t k = 0; k < constants.size(); ++k) {
    const double size = std::abs(constants[k].value);
    const bool used = std::any_of(free.parameters.begin(), free.parameters.end(), [&](const Parameter& parameter) {
      return std::find(parameter.constants.begin(), parameter.constants.end(), k) != parameter.constants.end();
    });
    if (!used && size != 0 && size != 1) return fmt::format("another formula (constant {} is not in it)", k + 1);
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

FormulaVerdict judge_formula(const FormulaCase& truth, const Expression& found, std::span<const FitConstant> constants,
                             bool noisy) {
  FormulaVerdict result;
  const JudgePoints wide = judge_points(truth, widening, point_count, point_seed);
  result.points = static_cast<int>(wide.size());
  result.largest_error = largest(errors_of(found, wide.names, wide, {}));
  if (result.points < least_points)
    return verdict(result, Recovery::AnotherFormula, false,
                   fmt::format("cannot be judged: {} has a value at only {} of {} points", truth.name, result.points,
                               point_count));
  if (result.largest_error <= judge_tolerance) return verdict(result, Recovery::Exact, true, "exact");

  FreeFormula free;
  free.names = wide.names;
  free.expression = with_parameters(found, constants, free);
  const std::string another = another_formula(free, constants);
  if (free.parameters.empty()) return verdict(result, Recovery::AnotherFormula, false, another);
  std::vector<double> values;
  for (const Parameter& parameter : free.parameters) values.push_back(parameter.start);
  // First where the found formula is close, then everywhere.
  constexpr int few = 300;
  values = fit_parameters(free, judge_points(truth, 1, few, point_seed + 1), std::move(values));
  JudgePoints both = judge_points(truth, 1, few, point_seed + 2);
  const JudgePoints outside = judge_points(truth, widening, few, point_seed + 3);
  both.inputs.insert(both.inputs.end(), outside.inputs.begin(), outside.inputs.end());
  both.truth.insert(both.truth.end(), outside.truth.begin(), outside.truth.end());
  both.reference.insert(both.reference.end(), outside.reference.begin(), outside.reference.end());
  values = fit_parameters(free, both, std::move(values));
  if (!(largest(errors_of(free.expression, free.names, wide, values)) <= judge_tolerance))
    return verdict(result, Recovery::AnotherFormula, false, another);
  for (std::size_t j = 0; j < values.size(); ++j)
    if (is_superfluous(free, wide, values, j))
      return verdict(result, Recovery::AnotherFormula, false, "another formula: it has a term too many");
  for (std::size_t j = 0; j < values.size(); ++j) {
    const std::vector<std::size_t>& candidates = free.parameters[j].constants;
    if (std::none_of(candidates.begin(), candidates.end(),
                     [&](std::size_t k) { return allows(constants[k], values[j]); }))
      return verdict(result, Recovery::OutsideInterval, false,
                     fmt::format("same formula, constant {} outside its interval", candidates.front() + 1));
  }
  if (!noisy)
    return verdict(result, Recovery::WithinIntervals, false,
                   fmt::format("same formula, but its constants are wrong by up to {:.1g}", result.largest_error));
  return verdict(result, Recovery::WithinIntervals, true, "same formula, constants within their intervals");
}

FormulaVerdict judge_fit(const FormulaCase& truth, const Fit& fit, bool noisy) {
  if (!fit.found || fit.candidates.empty() || fit.chosen >= fit.candidates.size())
    return verdict({}, Recovery::NoFormula, false, "no formula");
  const Candidate& best = fit.best();
  return judge_formula(truth, best.formula, best.constants, noisy);
}

}  // namespace nalm
