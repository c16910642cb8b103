#include "fit/choice.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/threads.hpp"
#include "fit/compare.hpp"
#include "fit/description.hpp"
#include "fit/formula_units.hpp"

namespace nalm::fitting {

namespace {

constexpr std::size_t rows_for_comparing = 500;

void add_comparison(std::vector<Finalist>& finalists, const Data& data, const FitOptions& options) {
  const Rows rows = rows_of(data, data.train, rows_for_comparing);
  std::optional<Finalist> compared = compare(data, rows, options);
  if (!compared || !std::isfinite(compared->mse)) return;
  Candidate& candidate = compared->candidate;
  candidate.agreeing = 1;
  if (!give_units(candidate, data).empty()) return;
  // Measured on as many rows as the others; what it takes to describe the formula stays.
  const Rows many = rows_of(data, data.all, rows_for_numbers);
  const double mse = mean_squared_error(candidate.formula, data, many) / (data.y_scale * data.y_scale);
  compared->length = length_of_errors(mse, rows_beside(candidate.constants.size(), many.size())) +
                     (compared->length - length_of_errors(compared->mse, rows.size()));
  candidate.description = compared->length;
  candidate.size = size_of(candidate.formula);
  finalists.push_back(std::move(*compared));
}

}  // namespace

const Finalist& most_trusted(std::vector<Finalist>& finalists, const Data& data, LazyGrounds& lazy, int restarts,
                             int threads) {
  constexpr double as_short = 2, nearly_as_short = 4, as_short_with_functions = 8;  // nats
  std::stable_sort(finalists.begin(), finalists.end(),
                   [](const Finalist& a, const Finalist& b) { return a.length < b.length; });
  // Comparisons are no trainings: there is only one try. Many rows say by themselves which other formulas are possible.
  const bool many_rows = data.train.size() >= fewest_of_many_rows;
  std::vector<char> again(finalists.size(), 0);
  const auto judge_all = [&](const Grounds& grounds, bool first) {
    parallel_for(static_cast<int>(finalists.size()), threads, [&](int k) {
      const auto place = static_cast<std::size_t>(k);
      Finalist& f = finalists[place];
      if (!first && again[place] == 0) return;
      again[place] = judge(f.candidate, data, grounds, of_a_search, f.key.empty() || many_rows ? 0 : restarts) ? 1 : 0;
    });
  };
  judge_all(lazy.few(), true);
  const bool more = lazy.has_many() && std::any_of(again.begin(), again.end(), [](char a) { return a != 0; });
  if (more) judge_all(lazy.many(), false);
  const Grounds& grounds = more ? lazy.many() : lazy.few();
  for (Finalist& f : finalists) {
    if (f.candidate.judgement.verdict != Verdict::Law) continue;
    const bool functions = has_functions(f.candidate.formula);
    const double enough = functions                                               ? as_short_with_functions
                          : many_rows && restarts > 1 && f.candidate.agreeing < 2 ? nearly_as_short
                                                                                  : as_short;
    std::vector<const Candidate*> rivals;
    for (const Finalist& other : finalists)
      if (&other != &f && other.length < f.length + enough && other.candidate.judgement.verdict != Verdict::None)
        rivals.push_back(&other.candidate);
    doubt_by_rivals(f.candidate, rivals, data, grounds, of_a_search);
    if (functions && f.candidate.judgement.verdict == Verdict::Law && finalists[0].length + enough < f.length &&
        finalists[0].candidate.judgement.verdict == Verdict::Approximation) {
      FitJudgement& judgement = f.candidate.judgement;
      judgement.verdict = Verdict::Approximation;
      judgement.rival = print(finalists[0].candidate.formula);
      judgement.reason = fmt::format("{}: {} describes the rows more shortly than {}, and is none either",
                                     of_a_search.no_law, judgement.rival, of_a_search.it);
    }
  }
  return *std::max_element(finalists.begin(), finalists.end(), [](const Finalist& a, const Finalist& b) {
    return a.candidate.judgement.verdict < b.candidate.judgement.verdict;
  });
}

void choose(Fit& fit, const SearchResult& found, const Data& data, LazyGrounds& grounds, const FitOptions& options) {
  fit.cut = found.cut;
  fit.restarts = static_cast<int>(found.restarts.size());
  const std::vector<Found> chosen = finalists_of(found.found);
  std::vector<Finalist> finalists(chosen.size());
  parallel_for(static_cast<int>(chosen.size()), options.threads, [&](int k) {
    finalists[static_cast<std::size_t>(k)] = finish(chosen[static_cast<std::size_t>(k)], data);
  });
  std::erase_if(finalists, [](const Finalist& f) { return !std::isfinite(f.length); });
  if (finalists.empty()) return;
  // A formula that compares is tried where the others leave something to explain.
  const bool exact = std::any_of(finalists.begin(), finalists.end(),
                                 [](const Finalist& f) { return f.mse < rounding_level * rounding_level; });
  if (!exact) add_comparison(finalists, data, options);
  for (Finalist& f : finalists) {
    if (f.key.empty()) continue;
    f.candidate.agreeing = static_cast<int>(
        std::count_if(found.restarts.begin(), found.restarts.end(), [&](const Found& r) { return r.key == f.key; }));
  }
  const Finalist& best = most_trusted(finalists, data, grounds, fit.restarts, options.threads);
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

}  // namespace nalm::fitting
