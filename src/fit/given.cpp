// The constants of a form that somebody gives: least squares from many starts.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/random.hpp"
#include "base/threads.hpp"
#include "fit/fit.hpp"
#include "fit/refine.hpp"
#include "fit/relative.hpp"
#include "fit/simple_numbers.hpp"
#include "fit/spread.hpp"
#include "fit/tape.hpp"
#include "formula/rewrite.hpp"
#include "nalm/detail/portable.hpp"

namespace nalm {

using namespace fitting;

namespace {

constexpr std::size_t most_constants = 12, rows_for_starts = 128, rows_for_trials = 500;
constexpr std::size_t tried_starts = 400, most_trials = 24, most_ends = 4;

struct Trial {
  std::vector<double> values;
  double mse = infinity;
};

void sort_trials(std::vector<Trial>& trials, std::size_t kept) {
  std::stable_sort(trials.begin(), trials.end(), [](const Trial& a, const Trial& b) { return a.mse < b.mse; });
  if (trials.size() > kept) trials.resize(kept);
}

// Constants have the size of a column, of the target, of their ratio, or none: each start takes one of them, and a
// factor.
std::vector<double> random_start(std::size_t count, const Data& data, Xoshiro& random) {
  std::vector<double> values;
  for (std::size_t k = 0; k < count; ++k) {
    const double column = data.x_scale[random.below(data.inputs)];
    const double sizes[] = {1, 1, column, data.y_scale, data.y_scale / column, 1 / column};
    const double factor = portable::exp(random.between(-3, 3));
    values.push_back((random.unit() < 0.25 ? -1 : 1) * factor * sizes[random.below(std::size(sizes))]);
  }
  return values;
}

std::vector<Trial> best_trials(const Expression& open, std::size_t count, const Data& data, const FitOptions& options) {
  const Rows few = rows_of(data, data.train, rows_for_starts), more = rows_of(data, data.train, rows_for_trials);
  std::vector<Trial> trials(tried_starts);
  parallel_for(static_cast<int>(trials.size()), options.threads, [&](int k) {
    Trial& trial = trials[static_cast<std::size_t>(k)];
    Xoshiro random(options.seed * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(k));
    trial.values = k == 0 ? std::vector<double>(count, 1.0) : random_start(count, data, random);
    trial.mse = mean_squared_error(open, trial.values, data, few);
    // A few steps say more about a start than its error.
    if (const std::optional<Solved> solved = solve(open, trial.values, data, few, 6)) trial.mse = solved->mse;
  });
  sort_trials(trials, most_trials);
  parallel_for(static_cast<int>(trials.size()), options.threads, [&](int k) {
    Trial& trial = trials[static_cast<std::size_t>(k)];
    const std::optional<Solved> solved = solve(open, trial.values, data, more, 100);
    trial.mse = solved ? solved->mse : infinity;
  });
  std::erase_if(trials, [](const Trial& trial) { return !std::isfinite(trial.mse); });
  sort_trials(trials, most_trials);
  return trials;
}

Expression with_constants(const Expression& open, const std::vector<double>& values) {
  std::vector<std::pair<std::string, double>> known;
  for (std::size_t k = 0; k < values.size(); ++k) known.emplace_back(slot_name(static_cast<int>(k)), values[k]);
  return with_values(open, known);
}

// Goes on around what was found until that stands still; the steps are those of Gauss and Newton.
void settle_relative(const Expression& open, std::vector<double>& values, Solved& best, Data& data,
                     const std::vector<std::size_t>& all) {
  const Data measured = data;
  for (int round = 0; round < 30; ++round) {
    std::optional<Data> next = around(with_constants(open, values), measured);
    if (!next) return;
    std::vector<double> moved = values;
    std::optional<Solved> solved = solve(open, moved, *next, rows_of(*next, all, rows_for_numbers), 100);
    if (!solved) return;
    double change = 0;
    for (std::size_t k = 0; k < values.size(); ++k)
      change = std::max(change, std::fabs(moved[k] - values[k]) / std::max(std::fabs(moved[k]), 1e-300));
    values = std::move(moved);
    best = std::move(*solved);
    data = std::move(*next);
    if (change < 1e-10) return;
  }
}

}  // namespace

Result<Fit> fit_form(const Table& table, const FitOptions& options, const Expression& form, const FitWatch& watch) {
  const auto start = std::chrono::steady_clock::now();
  if (options.robust || !options.by.empty() || !options.stack.empty())
    return Error{"the constants of a form are fitted to all rows alike; leave out robust, by and the stack."};
  Result<Data> prepared = prepare(table, options);
  if (!prepared) return prepared.error();
  Data& data = *prepared;
  std::vector<std::string> names;
  for (const std::string& name : variables(form)) {
    if (std::find(data.columns.begin(), data.columns.end(), name) == data.columns.end()) names.push_back(name);
  }
  for (const std::string& name : names) {
    if (name.empty()) return Error{"the form has a constant without a name, \"\"; write a name between the quotes."};
    if (std::find(table.columns.begin(), table.columns.end(), name) != table.columns.end())
      return Error{fmt::format("the form uses \"{}\", a column that is not an input; the inputs are {}.", name,
                               fmt::join(data.columns, ", "))};
  }
  if (names.size() == variables(form).size())
    return Error{fmt::format("the form uses no column; the inputs are {}.", fmt::join(data.columns, ", "))};
  if (names.empty()) return score(table, options, form);
  if (names.size() > most_constants)
    return Error{fmt::format("the form has {} constants ({}), and at most {} can be fitted; the inputs are {}.",
                             names.size(), fmt::join(names, ", "), most_constants, fmt::join(data.columns, ", "))};
  if (names.size() + 2 > data.train.size())
    return Error{fmt::format("the form has {} constants, too many for {} rows.", names.size(), data.train.size())};
  const Expression open = rewrite(form, [&](const Expression& e) -> std::optional<Expression> {
    if (e.kind() != Expression::Kind::Variable) return std::nullopt;
    const auto found = std::find(names.begin(), names.end(), e.name());
    if (found == names.end()) return std::nullopt;
    return Expression::variable(slot_name(static_cast<int>(found - names.begin())));
  });
  std::vector<Trial> trials = best_trials(open, names.size(), data, options);
  if (watch.progress) watch.progress({0.8, static_cast<int>(tried_starts), ""});
  Fit fit = begin(data, options);
  fit.restarts = static_cast<int>(most_trials);
  fit.verified = true;
  std::vector<std::size_t> all(data.rows);
  std::iota(all.begin(), all.end(), std::size_t{0});
  const Rows rows = rows_of(data, all, rows_for_numbers);
  std::optional<Solved> best;
  std::vector<double> values;
  for (std::size_t k = 0; k < std::min(most_ends, trials.size()); ++k) {
    std::vector<double> moved = trials[k].values;
    std::optional<Solved> solved = solve(open, moved, data, rows, 300);
    if (solved && (!best || solved->mse < best->mse)) best = std::move(solved), values = std::move(moved);
  }
  if (!best) {
    fit.reason = "no constants found: the form has no finite values on the rows, whatever the constants";
    return fit;
  }
  if (options.relative) settle_relative(open, values, *best, data, all);
  Candidate candidate;
  const double good_enough = 1.01 * trials[0].mse + 1e-18;
  for (const Trial& trial : trials) candidate.agreeing += trial.mse <= good_enough ? 1 : 0;
  fit.converged = static_cast<int>(trials.size());
  candidate.open_formula = open;
  const double reach = interval_reach(rows.size(), values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    // Where there are errors, only a constant that makes no difference has none.
    const double variance = best->covariance(k, k), estimate = values[k];
    const double deviation = best->mse > 0 && !(variance > 0) ? infinity : std::sqrt(std::max(0.0, variance));
    const double half = reach * deviation;
    values[k] = with_meaningful_digits(estimate, deviation);
    candidate.constants.push_back(
        {values[k], estimate, estimate - half, estimate + half, false, slot_name(static_cast<int>(k)), names[k]});
  }
  candidate.formula = with_constants(open, values);
  conclude_given(fit, std::move(candidate), data, options);
  fit.spread = spread_of(fit.best(), data, options.relative);
  fit.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return fit;
}

}  // namespace nalm
