#include "fit/finds.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "fit/form_algebra.hpp"
#include "fit/other_terms.hpp"

namespace nalm::fitting {

namespace {

constexpr std::size_t most_kept = 200, most_improved = 4, most_climbing = 8, rows_of_a_climb = 1024;
constexpr std::size_t most_products = 1500, most_with_other_terms = 16;
constexpr std::size_t most_rows = 6000, most_on_all_rows = 32;
constexpr double clearly_worse = 12;  // nats, on few rows

Found with_key(Scored scored) {
  std::string key = key_of(scored.form);
  return {std::move(scored), std::move(key)};
}

}  // namespace

Finds::Finds(const Data& data, const FitOptions& options, const SearchWatch& watch, const SearchRows& rows)
    : data_(data),
      options_(options),
      watch_(watch),
      rows_(rows),
      judgement_(rows_of(data, data.train, rows.judgement)),
      few_(rows_of(data, data.train, SearchRows().judgement)),
      judge_{data, judgement_, options.powers, options.use},
      sieve_{data, few_, options.powers, options.use} {}

Found Finds::judged(const Form& form, bool pruned) const {
  std::optional<Scored> best;
  if (is_sifted()) {
    // Of many rows a few are enough to see that a formula is much worse than the best.
    best = sieve_.measure(form, 6);
    if (!best || best->length > best_of_few_ + clearly_worse) return {};
  }
  best = judge_.measure(best ? std::move(best->form) : form);
  if (!best) return {};
  // Without a term the error is no smaller: what is worse than the best by its errors alone is not made better.
  if (length_of_errors(best->mse, judgement_.size()) > best_length_) {
    return with_key(std::move(*best));
  }
  if (pruned) prune(judge_, *best);
  // Squares of sums can be turned like axes without changing their sum; written out there is only one way.
  if (std::optional<Form> other = expanded(best->form)) {
    if (std::optional<Scored> scored = judge_.measure(std::move(*other))) {
      prune(judge_, *scored);
      if (scored->length < best->length) best = std::move(scored);
    }
  }
  return with_key(std::move(*best));
}

void Finds::keep(const Found& found) {
  if (!std::isfinite(found.length)) return;
  exact_ = exact_ || is_exact(found);
  const auto same =
      std::find_if(result_.found.begin(), result_.found.end(), [&](const Found& f) { return f.key == found.key; });
  if (same == result_.found.end()) {
    result_.found.push_back(found);
  } else if (found.length < same->length) {
    *same = found;
  }
}

void Finds::sort_found() {
  std::stable_sort(result_.found.begin(), result_.found.end(),
                   [](const Found& a, const Found& b) { return a.length < b.length; });
  if (result_.found.size() > most_kept) result_.found.resize(most_kept);
  if (result_.found.empty()) return;
  limit_ = std::min(limit_, result_.found[0].mse);
  best_length_ = result_.found[0].length;
  if (!is_sifted()) return;
  if (const std::optional<Scored> best = sieve_.measure(result_.found[0].form, 6)) best_of_few_ = best->length;
}

long Finds::agreeing() const {
  if (result_.found.empty()) return 0;
  return std::count_if(result_.restarts.begin(), result_.restarts.end(),
                       [&](const Found& r) { return r.key == result_.found[0].key; });
}

std::vector<Found> Finds::best(std::size_t count) const {
  const auto end = static_cast<std::ptrdiff_t>(std::min(count, result_.found.size()));
  return {result_.found.begin(), result_.found.begin() + end};
}

void Finds::improve_best() {
  if (exact_ || result_.cut) return;
  for (Found& found : best(most_improved)) {
    climb(judge_, found, options_.threads, watch_.stop);
    found.key = key_of(found.form);
    keep(found);
  }
  sort_found();
}

void Finds::go_on_from(SearchResult before) {
  std::vector<Found>& found = before.found;
  each(found.size(), [&](std::size_t k) { found[k] = judged(found[k].form, true); });
  for (const Found& f : found) keep(f);
  result_.restarts = std::move(before.restarts);
  sort_found();
}

void Finds::climb_on_own_rows() {
  std::vector<Found> climbing = best(most_climbing);
  each(climbing.size(), [&](std::size_t k) {
    Xoshiro random(options_.seed * 0x9e3779b97f4a7c15u + k);
    const Rows own = rows_of(data_, draw_rows(std::min(rows_of_a_climb, data_.train.size()), random), rows_of_a_climb);
    const Judge judge{data_, own, options_.powers, options_.use};
    std::optional<Scored> scored = judge.measure(climbing[k].form);
    if (!scored) return;
    climb(judge, *scored, 1, watch_.stop);
    const std::string from = std::move(climbing[k].key);
    climbing[k] = judged(scored->form, true);
    if (climbing[k].key == from) climbing[k] = {};
  });
  for (Found& f : climbing) {
    keep(f);
    result_.restarts.push_back(std::move(f));
  }
  sort_found();
}

void Finds::keep_neighbours() { keep_neighbours(judge_, 2); }

void Finds::keep_neighbours(const Judge& judge, int rounds) {
  std::set<std::string> seen;
  for (int round = 0; round < rounds && !exact_ && !result_.cut; ++round) {
    for (const Found& next : best(most_improved)) {
      if (!seen.insert(next.key).second) continue;
      for (Scored& scored : neighbours_of(judge, next.form, options_.threads, watch_.stop)) {
        keep_once({with_key(std::move(scored))});
      }
    }
    sort_found();
  }
}

// However often a formula is come across, that is one way to it.
void Finds::keep_once(std::vector<Found> found) {
  for (Found& f : found) {
    keep(f);
    const bool known = std::any_of(result_.restarts.begin(), result_.restarts.end(),
                                   [&](const Found& restart) { return restart.key == f.key; });
    if (!known) result_.restarts.push_back(std::move(f));
  }
}

void Finds::keep_other_terms() {
  if (exact_ || result_.cut) return;
  if (!terms_) {
    Xoshiro random(options_.seed * 0x9e3779b97f4a7c15u + 77);
    rows_of_terms_ = draw_rows(std::min(rows_of_a_climb, data_.train.size()), random);
    terms_.emplace(data_, rows_of_terms_, options_.powers, most_products);
  }
  const Rows rows = rows_of(data_, rows_of_terms_, rows_of_terms_.size());
  for (const Found& next : best(most_improved)) {
    if (!searched_.insert(next.key).second) continue;
    const std::vector<Form> forms = with_other_terms(next.form, data_, *terms_, rows, most_with_other_terms);
    std::vector<Found> found(forms.size());
    each(forms.size(), [&](std::size_t k) { found[k] = judged(forms[k], true); });
    std::erase_if(found, [](const Found& f) { return !std::isfinite(f.length); });
    keep_once(std::move(found));
  }
  sort_found();
}

void Finds::judge_on_all_rows() {
  if (result_.cut || exact_) return;
  const Rows all = rows_of(data_, data_.train, most_rows);
  const Judge judge{data_, all, options_.powers, options_.use};
  std::vector<Found>& found = result_.found;
  found.resize(std::min(found.size(), most_on_all_rows));
  std::vector<Found> again(found.size());
  each(found.size(), [&](std::size_t k) {
    std::optional<Scored> scored = judge.measure(found[k].form);
    if (!scored) return;
    prune(judge, *scored);
    again[k] = with_key(std::move(*scored));
  });
  if (result_.cut) return;
  // A restart spells what is left of its formula.
  for (Found& restart : result_.restarts) {
    const auto same = std::find_if(found.begin(), found.end(), [&](const Found& f) { return f.key == restart.key; });
    if (same != found.end()) restart.key = again[static_cast<std::size_t>(same - found.begin())].key;
  }
  found.clear();
  for (const Found& f : again) keep(f);
  sort_found();
  // Another one may be the best now.
  keep_neighbours(judge, 1);
}

std::vector<std::size_t> Finds::draw_rows(std::size_t count, Xoshiro& random) const {
  std::vector<std::size_t> rows = data_.train;
  for (std::size_t k = 0; k < count; ++k) std::swap(rows[k], rows[k + random.below(rows.size() - k)]);
  rows.resize(count);
  return rows;
}

}  // namespace nalm::fitting
