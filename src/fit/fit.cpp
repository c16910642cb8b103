// From a table to a formula: prepare, search, give the numbers of the best formulas their final form, choose, and say
// how far the choice can be trusted.
#include "nalm/fit.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "fit/candidates.hpp"
#include "fit/choice.hpp"
#include "fit/data.hpp"
#include "fit/fit.hpp"
#include "fit/formula_units.hpp"
#include "fit/functions/search.hpp"
#include "fit/groups.hpp"
#include "fit/relative.hpp"
#include "fit/robust.hpp"
#include "fit/search.hpp"
#include "fit/spread.hpp"
#include "fit/stack_fit.hpp"
#include "fit/stages.hpp"
#include "fit/trust.hpp"
#include "formula/rewrite.hpp"
#include "formula/spell.hpp"

namespace nalm {

using namespace fitting;

namespace {

constexpr int digits_for_people = 4;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}  // namespace

Fit fitting::begin(const Data& data, const FitOptions& options) {
  Fit fit;
  fit.columns = data.columns;
  fit.target = data.target;
  fit.units = data.units.texts();
  fit.rows = data.rows;
  fit.set_of_row = data.set_of_row;
  fit.row_of_table = data.row_of_table;
  fit.notes = data.notes;
  fit.seed = options.seed;
  return fit;
}

namespace {

// What the user's own stack comes to.
Status fit_stack(Fit& fit, const Data& data, const FitOptions& options, const FitWatch& watch,
                 const std::function<bool()>& stop) {
  StackWatch stack_watch{stop, nullptr};
  if (watch.progress) stack_watch.progress = [&](double share) { watch.progress({share, 0, ""}); };
  Result<std::vector<Finalist>> trained = train_stack(data, options, stack_watch, fit.cut);
  if (!trained) return trained.error();
  fit.restarts = static_cast<int>(trained->size());
  std::vector<Finalist> finalists;
  for (Finalist& f : *trained) {
    if (!std::isfinite(f.mse)) continue;
    const auto same =
        std::find_if(finalists.begin(), finalists.end(), [&](const Finalist& other) { return other.key == f.key; });
    if (same != finalists.end()) {
      ++same->candidate.agreeing;
      continue;
    }
    f.candidate.agreeing = 1;
    f.candidate.size = size_of(f.candidate.formula);
    f.length = f.candidate.description = length_of_errors(f.mse, data.train.size()) + 2 * f.candidate.size;
    finalists.push_back(std::move(f));
  }
  if (finalists.empty()) return Done{};
  LazyGrounds grounds(data, options.threads);
  const Finalist& best = most_trusted(finalists, data, grounds, fit.restarts, options.threads);
  for (const Finalist& f : finalists) {
    if (f.candidate.train.rmse <= 1.1 * best.candidate.train.rmse + rounding_level * data.y_scale) {
      fit.converged += f.candidate.agreeing;
    }
  }
  list_candidates(fit, finalists, best);
  return Done{};
}

std::set<std::string> positive_inputs(const Data& data) {
  std::set<std::string> positive;
  for (std::size_t c = 0; c < data.inputs; ++c) {
    const std::vector<double> values = data.column(c);
    if (std::all_of(values.begin(), values.end(), [](double x) { return x > 0; })) positive.insert(data.columns[c]);
  }
  return positive;
}

// Everything about the best candidate that does not depend on how it was found.
// What is wrong with the units of a formula that was found, where factors of 1, which nobody sees, are pure numbers.
std::string wrong_without_ones(Candidate candidate, const Data& data) {
  if (!data.units.given()) return "";
  std::erase_if(candidate.constants, [&](const FitConstant& c) {
    if (!c.snapped || std::fabs(c.value) != 1) return false;
    candidate.open_formula = rewrite(candidate.open_formula, [&](const Expression& e) -> std::optional<Expression> {
      if (e.kind() != Expression::Kind::Variable || e.name() != c.slot) return std::nullopt;
      return Expression(c.value);
    });
    return true;
  });
  return give_units(candidate, data);
}

Status conclude(Fit& fit, const Data& data, const FitOptions& options) {
  if (fit.candidates.empty()) {
    fit.reason = fit.cut ? "no formula found: the fit was stopped before any training ended"
                         : "no formula found: no training came to a finite error";
    return Done{};
  }
  fit.spread = spread_of(fit.best(), data, options.relative);
  // What the layers compute term by term: as it was found, or of the user's stack with terms that cancel, as in
  // x*W + 1 - W.
  Expression literal = fit.best().formula;
  if (options.stack.empty()) {
    // Only now: until here formulas are what the layers compute, to the last bit. What is printed is verified below.
    const std::set<std::string> positive = positive_inputs(data);
    for (Candidate& candidate : fit.candidates) candidate.formula = spelled(candidate.formula, positive);
  } else {
    literal = literal_formula(fit.best().model, data.columns)->outputs[0];
  }
  if (const std::string wrong = wrong_without_ones(fit.best(), data); !wrong.empty())
    fit.notes.push_back(fmt::format("the formula fits the units only if a factor of 1 carries one: {}", wrong));
  fit.probe = probe(fit.best().formula, data, options.seed);
  const Result<double> difference =
      verification_error(fit.best().formula, fit.best().model, data, options.seed, &literal);
  if (!difference) return difference.error();
  fit.verification_error = *difference;
  fit.verified = *difference <= largest_verification_error;
  fit.reason = fit.best().judgement.reason;
  return Done{};
}

// Settled: a law whose numbers are simple, or one number times a product; others may be the beginning of a series.
Outlooks outlook_of(const Data& data, LazyGrounds& grounds) {
  constexpr double most_left_with_hope = 0.65;
  return [&data, &grounds](const Found& found) {
    Finalist finalist = finish(found, data);
    if (!std::isfinite(finalist.length)) return Outlook::Open;
    judge(finalist.candidate, data, grounds, of_a_search, 0);
    const std::vector<FitConstant>& constants = finalist.candidate.constants;
    const auto fitted =
        std::count_if(constants.begin(), constants.end(), [](const FitConstant& c) { return !c.snapped; });
    const bool product = found.form.products.size() == 1 && found.form.sums.empty();
    const FitJudgement& judgement = finalist.candidate.judgement;
    if (judgement.verdict == Verdict::Law) return fitted > (product ? 1 : 0) ? Outlook::Open : Outlook::Settled;
    // The limit of what may be left is no border between rows with a law and without: the law itself may be near it.
    if (judgement.verdict == Verdict::None)
      return finalist.candidate.train.relative > most_left_with_hope ? Outlook::Hopeless : Outlook::Open;
    return seen_on(SearchRows().judgement, judgement, grounds.few()) ? Outlook::Hopeless : Outlook::Open;
  };
}

// What the ladder of stacks comes to.
void fit_ladder(Fit& fit, const Data& data, const FitOptions& options, const FitWatch& watch,
                const std::function<bool()>& stop) {
  SearchWatch search_watch{stop, nullptr};
  if (watch.progress) {
    search_watch.progress = [&](double share, int restarts, const Found* best) {
      watch.progress(
          {share, restarts,
           best ? print(in_digits(to_expression(best->form, data.columns, data.negative), digits_for_people)) : ""});
    };
  }
  // With units, constants that carry them are only looked for where no law does without: first one, a factor of the
  // whole, then any. Restarts must agree within a step: else three searches would find more agreement than one.
  LazyGrounds grounds(data, options.threads);
  SearchResult found;
  for (const auto similar : {similarity_of, similarity_but_for_a_factor}) {
    const std::optional<Similarity> similarity = similar(data, options.powers);
    if (!similarity) continue;
    found.restarts.clear();
    join(found, search_similar(data, *similarity, options, search_watch));
    Fit so_far = fit;
    choose(so_far, found, data, grounds, options);
    if (!so_far.is_law() && !so_far.cut) continue;
    fit = std::move(so_far);
    return;
  }
  SearchResult all = search_all(data, options, search_watch, outlook_of(data, grounds));
  if (data.units.given()) {
    found.restarts.clear();
    join(found, std::move(all));
  } else {
    found = std::move(all);
  }
  choose(fit, found, data, grounds, options);
  if (options.functions.empty() && !fit.cut && fit.verdict() == Verdict::Approximation && !found.found.empty()) {
    const std::vector<std::string> names = functions_worth_a_try(data, options, found.found[0].form);
    if (!names.empty())
      fit.notes.push_back(fmt::format("a formula with {} describes these rows more shortly; try --functions {}",
                                      fmt::join(names, " and "), fmt::join(names, ",")));
  }
}

Status check_options(const FitOptions& options) {
  for (const std::string& name : options.functions) {
    if (std::find(std::begin(fit_functions), std::end(fit_functions), name) == std::end(fit_functions))
      return Error{fmt::format("\"{}\" is not a function that a fit may use; there are {}.", name,
                               fmt::join(fit_functions, ", "))};
  }
  if (!options.stack.empty() && !options.functions.empty())
    return Error{"a stack of your own has the functions that its modules have; leave out functions, or the stack."};
  if (!options.stack.empty() && !options.units.empty())
    return Error{"a stack of your own knows no units; leave out units, or the stack."};
  const bool weighted = options.relative || !options.weights.empty() || !options.sigma.empty();
  if (!options.stack.empty() && (weighted || options.robust || !options.by.empty()))
    return Error{
        "a stack of your own is trained on all rows alike; leave out weights, sigma, relative, robust and by, or "
        "the stack."};
  if (static_cast<int>(options.robust) + static_cast<int>(!options.by.empty()) + static_cast<int>(options.relative) > 1)
    return Error{"only one of robust, by and relative is possible at a time; leave out the others."};
  return Done{};
}

}  // namespace

Result<Fit> fit(const Table& table, const FitOptions& options, const FitWatch& watch) {
  const Clock::time_point start = Clock::now();
  if (Status possible = check_options(options); !possible) return possible.error();
  Result<Data> prepared = prepare(table, options);
  if (!prepared) return prepared.error();
  Data& data = *prepared;

  const auto stop = [&] {
    return watch.stop.stop_requested() || (options.time_limit > 0 && seconds_since(start) > options.time_limit);
  };
  const auto run = [&](const Data& rows) -> Result<Fit> {
    Fit fit = begin(rows, options);
    if (options.stack.empty()) {
      fit_ladder(fit, rows, options, watch, stop);
    } else if (Status trained = fit_stack(fit, rows, options, watch, stop); !trained) {
      return trained.error();
    }
    return fit;
  };
  Result<Fit> fit = options.robust        ? fit_without_outliers(data, run)
                    : !options.by.empty() ? fit_groups(data, options, run)
                    : options.relative    ? fit_relative(data, run)
                                          : run(data);
  if (!fit) return fit;
  if (Status concluded = conclude(*fit, data, options); !concluded) return concluded.error();
  fit->seconds = seconds_since(start);
  return fit;
}

void fitting::conclude_given(Fit& fit, Candidate candidate, const Data& data, const FitOptions& options) {
  candidate.size = size_of(candidate.formula);
  if (const std::string wrong = give_units(candidate, data); !wrong.empty())
    fit.notes.push_back(fmt::format("the formula does not fit the units: {}", wrong));
  LazyGrounds grounds(data, options.threads);
  judge(candidate, data, grounds, of_a_user, 0);
  fit.reason = candidate.judgement.reason;
  fit.probe = probe(candidate.formula, data, options.seed);
  fit.candidates.push_back(std::move(candidate));
  fit.verified = true;
}

Result<Fit> score(const Table& table, const FitOptions& options, const Expression& formula) {
  const Clock::time_point start = Clock::now();
  const Result<Data> prepared = prepare(table, options);
  if (!prepared) return prepared.error();
  const Data& data = *prepared;
  for (const std::string& name : variables(formula)) {
    if (std::find(data.columns.begin(), data.columns.end(), name) == data.columns.end()) {
      return Error{fmt::format("the formula uses \"{}\", which is not an input; the inputs are {}.", name,
                               fmt::join(data.columns, ", "))};
    }
  }
  Fit fit = begin(data, options);
  Candidate candidate;
  candidate.formula = candidate.open_formula = formula;
  conclude_given(fit, std::move(candidate), data, options);
  fit.seconds = seconds_since(start);
  return fit;
}

}  // namespace nalm
