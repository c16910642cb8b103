// From a table to a formula: prepare, search, give the numbers of the best formulas their final form, choose, and say
// how far the choice can be trusted.
#include "nalm/fit.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "base/threads.hpp"
#include "fit/climb.hpp"
#include "fit/compare.hpp"
#include "fit/data.hpp"
#include "fit/search.hpp"
#include "fit/stack_fit.hpp"
#include "fit/trust.hpp"

namespace nalm {

using namespace fitting;

namespace {

constexpr std::size_t rows_for_comparing = 500, rows_for_spelling = 2000, rows_for_numbers = 100000;
constexpr std::size_t most_finalists = 16, most_listed = 8;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// A candidate with its numbers in their final form.
struct Finalist {
  Candidate candidate;
  double length = std::numeric_limits<double>::infinity();
  std::string key;
};

bool finish_spelling(Form& form, const Data& data, const Rows& rows, SnappedNumbers& numbers, double& length) {
  if (!snap_numbers(form, data, rows, numbers)) return false;
  length = description_length(form, numbers.mse, rows.size());
  return std::isfinite(length);
}

// Of all ways to write the formula, that with the simplest numbers.
Finalist finish(const Found& found, const Data& data) {
  const Rows few = rows_of(data, data.train, rows_for_spelling), many = rows_of(data, data.train, rows_for_numbers);
  Finalist result;
  result.key = found.key;
  Form best = found.form;
  double best_length = std::numeric_limits<double>::infinity();
  int best_size = 0;
  for (const Form& spelling : spellings(found.form)) {
    Form form = spelling;
    SnappedNumbers numbers;
    double length = 0;
    if (!finish_spelling(form, data, few, numbers, length)) continue;
    const int size = fitting::size_of(to_expression(form, data.columns, data.negative));
    if (length < best_length - 0.5 || (length < best_length + 0.5 && size < best_size)) {
      best = spelling, best_length = length, best_size = size;
    }
  }
  SnappedNumbers numbers;
  std::vector<FitConstant> powers;
  if (!std::isfinite(best_length) || !polish_powers(best, data, few, powers)) return result;
  if (!finish_spelling(best, data, many, numbers, result.length)) return result;
  numbers.constants.insert(numbers.constants.end(), powers.begin(), powers.end());
  Candidate& c = result.candidate;
  c.formula = to_expression(best, data.columns, data.negative);
  c.size = fitting::size_of(c.formula);
  c.model = to_model(best, data.columns);
  c.constants = numbers.constants;
  c.description = result.length;
  return result;
}

void measure(Candidate& c, const Data& data) {
  c.train = error_on(c.formula, data, data.train);
  c.held_out = error_on(c.formula, data, data.held_out);
  c.outside = error_on(c.formula, data, data.outside);
}

// The best by description length, and the smallest for every error: what a reader wants to compare.
std::vector<Found> finalists_of(const std::vector<Found>& found) {
  std::vector<Found> result(found.begin(),
                            found.begin() + static_cast<std::ptrdiff_t>(std::min(found.size(), most_finalists / 2)));
  std::vector<const Found*> by_size;
  for (const Found& f : found) by_size.push_back(&f);
  std::stable_sort(by_size.begin(), by_size.end(), [](const Found* a, const Found* b) {
    const int fa = free_count(a->form), fb = free_count(b->form);
    return fa != fb ? fa < fb : a->mse < b->mse;
  });
  double error = std::numeric_limits<double>::infinity();
  for (const Found* f : by_size) {
    if (result.size() >= most_finalists || !(f->mse < 0.8 * error)) continue;
    error = f->mse;
    const bool known = std::any_of(result.begin(), result.end(), [&](const Found& r) { return r.key == f->key; });
    if (!known) result.push_back(*f);
  }
  return result;
}

// Smallest first, each with a smaller error than those before it; the chosen one is always there.
void list_candidates(Fit& fit, std::vector<Finalist>& finalists, const Finalist& best) {
  std::vector<Finalist*> order;
  for (Finalist& f : finalists) order.push_back(&f);
  std::stable_sort(order.begin(), order.end(), [](const Finalist* a, const Finalist* b) {
    if (a->candidate.size != b->candidate.size) return a->candidate.size < b->candidate.size;
    return a->candidate.train.rmse < b->candidate.train.rmse;
  });
  double error = std::numeric_limits<double>::infinity();
  std::vector<const Finalist*> kept;
  std::set<std::string> texts;
  for (const Finalist* f : order) {
    if (f != &best && !(f->candidate.train.rmse < error)) continue;
    if (f != &best && f->candidate.size > best.candidate.size && best.candidate.train.relative < 1e-9) continue;
    if (!texts.insert(print(f->candidate.formula)).second) continue;
    error = std::min(error, f->candidate.train.rmse);
    kept.push_back(f);
  }
  // The list stays short around the chosen one.
  while (kept.size() > most_listed) {
    const auto chosen = std::find(kept.begin(), kept.end(), &best) - kept.begin();
    kept.erase(chosen > static_cast<std::ptrdiff_t>(kept.size()) / 2 ? kept.begin() : kept.end() - 1);
  }
  for (const Finalist* f : kept) {
    if (f == &best) fit.chosen = fit.candidates.size();
    fit.candidates.push_back(f->candidate);
  }
}

std::string percent(double share) { return fmt::format("{:.3g} %", 100 * share); }

// How a verdict speaks of the formula: it was found, or the user gave it.
struct Spoken {
  std::string_view refusal, it, its_errors;
};
constexpr Spoken of_a_search{"no formula found", "the best one", "the errors of the best one"};
constexpr Spoken of_a_user{"the formula does not hold", "it", "its errors"};

// Whether the best candidate deserves to be called a formula for the data.
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

Fit begin(const Data& data, const FitOptions& options) {
  Fit fit;
  fit.columns = data.columns;
  fit.target = data.target;
  fit.rows = data.rows;
  fit.set_of_row = data.set_of_row;
  fit.notes = data.notes;
  fit.seed = options.seed;
  return fit;
}

// What the user's own stack comes to.
Status fit_stack(Fit& fit, const Data& data, const FitOptions& options, const FitWatch& watch,
                 const std::function<bool()>& stop) {
  StackWatch stack_watch{stop, nullptr};
  if (watch.progress) stack_watch.progress = [&](double share) { watch.progress({share, 0, ""}); };
  Result<std::vector<TrainedStack>> trained = train_stack(data, options, stack_watch, fit.cut);
  if (!trained) return trained.error();
  fit.restarts = static_cast<int>(trained->size());
  std::vector<Finalist> finalists;
  for (const TrainedStack& t : *trained) {
    if (!std::isfinite(t.mse)) continue;
    const std::string key = print(t.formula);
    const auto same = std::find_if(finalists.begin(), finalists.end(), [&](const Finalist& f) { return f.key == key; });
    if (same != finalists.end()) {
      ++same->candidate.agreeing;
      continue;
    }
    Finalist f;
    f.key = key;
    f.candidate.formula = t.formula;
    f.candidate.model = t.model;
    f.candidate.constants = t.constants;
    f.candidate.size = fitting::size_of(t.formula);
    f.candidate.agreeing = 1;
    measure(f.candidate, data);
    const double mse = std::max(t.mse, rounding_level * rounding_level), n = static_cast<double>(data.train.size());
    f.length = f.candidate.description = 0.5 * n * std::log(mse) + 2 * f.candidate.size;
    finalists.push_back(std::move(f));
  }
  if (finalists.empty()) return Done{};
  const Finalist& best = *std::min_element(finalists.begin(), finalists.end(),
                                           [](const Finalist& a, const Finalist& b) { return a.length < b.length; });
  for (const Finalist& f : finalists) {
    if (f.candidate.train.rmse <= 1.1 * best.candidate.train.rmse + rounding_level * data.y_scale) {
      fit.converged += f.candidate.agreeing;
    }
  }
  list_candidates(fit, finalists, best);
  return Done{};
}

// Everything about the best candidate that does not depend on how it was found.
Status conclude(Fit& fit, const Data& data, const FitOptions& options) {
  if (fit.candidates.empty()) {
    fit.verdict = fit.cut ? "no formula found: the fit was stopped before any training ended"
                          : "no formula found: no training came to a finite error";
    return Done{};
  }
  fit.probe = probe(fit.best().formula, data, options.seed);
  // The modules of the user's stack have terms that cancel in the formula, as in x*W + 1 - W.
  std::optional<Expression> literal;
  if (!options.stack.empty()) literal = literal_formula(fit.best().model, data.columns).outputs[0];
  const Result<double> difference =
      verification_error(fit.best().formula, fit.best().model, data, options.seed, literal ? &*literal : nullptr);
  if (!difference) return difference.error();
  fit.verification_error = *difference;
  fit.verified = *difference <= largest_verification_error;
  judge(fit, data, of_a_search);
  return Done{};
}

void add_comparison(std::vector<Finalist>& finalists, const Data& data, const FitOptions& options) {
  const Rows rows = rows_of(data, data.train, rows_for_comparing);
  std::optional<Compared> compared = compare(data, rows, options);
  if (!compared || !std::isfinite(compared->mse)) return;
  Finalist f;
  f.candidate.formula = compared->formula;
  f.candidate.model = std::move(compared->model);
  f.candidate.constants = std::move(compared->constants);
  f.candidate.size = fitting::size_of(f.candidate.formula);
  f.candidate.agreeing = 1;
  // Measured on as many rows as the others; what it takes to describe the formula stays.
  const Rows many = rows_of(data, data.train, rows_for_numbers);
  const double mse = mean_squared_error(f.candidate.formula, data, many) / (data.y_scale * data.y_scale);
  f.length = description_length({}, mse, many.size()) +
             (compared->length - description_length({}, compared->mse, rows.size()));
  f.candidate.description = f.length;
  measure(f.candidate, data);
  finalists.push_back(std::move(f));
}

// What the ladder of stacks comes to.
void fit_ladder(Fit& fit, const Data& data, const FitOptions& options, const FitWatch& watch,
                const std::function<bool()>& stop) {
  SearchWatch search_watch{stop, nullptr};
  if (watch.progress) {
    search_watch.progress = [&](double share, int restarts, const Found* best) {
      watch.progress({share, restarts, best ? print(to_expression(best->form, data.columns, data.negative)) : ""});
    };
  }
  const SearchResult found = search(data, options, search_watch);
  fit.cut = found.cut;
  fit.restarts = static_cast<int>(found.restarts.size());
  const std::vector<Found> chosen = finalists_of(found.found);
  std::vector<Finalist> finalists(chosen.size());
  parallel_for(static_cast<int>(chosen.size()), options.threads, [&](int k) {
    const std::size_t i = static_cast<std::size_t>(k);
    finalists[i] = finish(chosen[i], data);
    if (std::isfinite(finalists[i].length)) measure(finalists[i].candidate, data);
  });
  std::erase_if(finalists, [](const Finalist& f) { return !std::isfinite(f.length); });
  if (finalists.empty()) return;
  // A formula that compares is tried where the others leave something to explain.
  const bool exact = std::any_of(finalists.begin(), finalists.end(),
                                 [](const Finalist& f) { return f.candidate.train.relative < rounding_level; });
  if (!exact) add_comparison(finalists, data, options);
  for (Finalist& f : finalists) {
    if (f.key.empty()) continue;
    f.candidate.agreeing = static_cast<int>(
        std::count_if(found.restarts.begin(), found.restarts.end(), [&](const Found& r) { return r.key == f.key; }));
  }
  const Finalist& best = *std::min_element(finalists.begin(), finalists.end(),
                                           [](const Finalist& a, const Finalist& b) { return a.length < b.length; });
  const auto as_found = std::find_if(chosen.begin(), chosen.end(), [&](const Found& f) { return f.key == best.key; });
  if (as_found == chosen.end()) {
    fit.converged = 1;  // a comparison, of which there is only one try
  } else {
    const double good_enough = std::max(1.1 * as_found->mse, 1e4 * rounding_level * rounding_level);
    fit.converged = static_cast<int>(std::count_if(found.restarts.begin(), found.restarts.end(),
                                                   [&](const Found& r) { return r.mse <= good_enough; }));
  }
  list_candidates(fit, finalists, best);
}

}  // namespace

Result<Fit> fit(const Table& table, const FitOptions& options, const FitWatch& watch) {
  const Clock::time_point start = Clock::now();
  const Result<Data> prepared = prepare(table, options);
  if (!prepared) return prepared.error();
  const Data& data = *prepared;
  Fit fit = begin(data, options);

  const auto stop = [&] {
    return (watch.stop && *watch.stop) || (options.time_limit > 0 && seconds_since(start) > options.time_limit);
  };
  if (options.stack.empty()) {
    fit_ladder(fit, data, options, watch, stop);
  } else if (Status trained = fit_stack(fit, data, options, watch, stop); !trained) {
    return trained.error();
  }
  if (Status concluded = conclude(fit, data, options); !concluded) return concluded.error();
  fit.seconds = seconds_since(start);
  return fit;
}

Result<Fit> score(const Table& table, const FitOptions& options, const Expression& formula, const FitWatch&) {
  const Clock::time_point start = Clock::now();
  const Result<Data> prepared = prepare(table, options);
  if (!prepared) return prepared.error();
  const Data& data = *prepared;
  for (const std::string& name : variables(formula)) {
    if (std::find(data.columns.begin(), data.columns.end(), name) == data.columns.end()) {
      std::string known;
      for (const std::string& column : data.columns) known += (known.empty() ? "" : ", ") + column;
      return Error{fmt::format("the formula uses \"{}\", which is not an input; the inputs are {}.", name, known)};
    }
  }
  Fit fit = begin(data, options);
  Candidate candidate;
  candidate.formula = formula;
  candidate.size = fitting::size_of(formula);
  measure(candidate, data);
  fit.candidates.push_back(std::move(candidate));
  fit.probe = probe(formula, data, options.seed);
  fit.verified = true;
  judge(fit, data, of_a_user);
  fit.seconds = seconds_since(start);
  return fit;
}

}  // namespace nalm
