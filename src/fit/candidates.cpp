#include "fit/candidates.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "fit/description.hpp"
#include "fit/form_layers.hpp"
#include "fit/form_spell.hpp"
#include "fit/form_units.hpp"
#include "fit/snap.hpp"
#include "fit/trust.hpp"

namespace nalm::fitting {

namespace {

constexpr std::size_t rows_for_spelling = 2000;
constexpr std::size_t most_finalists = 20, most_listed = 8;

// The formula with a variable for every number that is free in the form as it was before rounding.
Expression open_formula(Form form, Form before, const Data& data) {
  const std::vector<Number*> after = numbers(form), free = numbers(before);
  for (std::size_t k = 0; k < after.size(); ++k) after[k]->free = free[k]->free;
  return to_expression(form, data.columns, data.negative, true);
}

}  // namespace

Finalist finish(const Found& found, const Data& data) {
  const Rows few = rows_of(data, data.all, rows_for_spelling), many = rows_of(data, data.all, rows_for_numbers);
  Finalist result;
  result.key = found.key;
  Form best = found.form;
  double best_length = infinity;
  int best_size = 0;
  for (const Form& spelling : spellings(found.form)) {
    Form form = spelling;
    const std::optional<SnappedNumbers> numbers = snap_numbers(form, data, few);
    if (!numbers) continue;
    const double length = description_length(form, numbers->mse, few.size()) + cost_of_units(spelling, data.units);
    const int size = size_of(to_expression(form, data.columns, data.negative));
    if (length < best_length - 0.5 || (length < best_length + 0.5 && size < best_size)) {
      best = spelling, best_length = length, best_size = size;
    }
  }
  if (!std::isfinite(best_length)) return result;
  const std::optional<std::vector<FitConstant>> powers = polish_powers(best, data, few);
  if (!powers) return result;
  const Form before = best;
  std::optional<SnappedNumbers> numbers = snap_numbers(best, data, many);
  if (!numbers) return result;
  result.mse = numbers->mse;
  result.length = description_length(best, result.mse, many.size()) + cost_of_units(before, data.units);
  Candidate& c = result.candidate;
  c.formula = to_expression(best, data.columns, data.negative);
  c.open_formula = open_formula(best, before, data);
  c.model = to_model(best, data.columns);
  c.constants = std::move(numbers->constants);
  const std::vector<std::string> units = units_of_free_numbers(before, data.units);
  for (std::size_t k = 0; k < units.size(); ++k) c.constants[k].unit = units[k];
  c.constants.insert(c.constants.end(), powers->begin(), powers->end());
  c.description = result.length;
  c.size = size_of(c.formula);
  return result;
}

std::vector<Found> finalists_of(const std::vector<Found>& found) {
  std::vector<Found> result(
      found.begin(), found.begin() + static_cast<std::ptrdiff_t>(std::min(found.size(), most_finalists * 3 / 4)));
  std::vector<std::pair<int, const Found*>> by_size;
  for (const Found& f : found) by_size.push_back({free_count(f.form), &f});
  std::stable_sort(by_size.begin(), by_size.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second->mse < b.second->mse;
  });
  double error = infinity;
  for (const auto& [size, f] : by_size) {
    if (result.size() >= most_finalists || !(f->mse < 0.8 * error)) continue;
    error = f->mse;
    const bool known =
        std::any_of(result.begin(), result.end(), [&key = f->key](const Found& r) { return r.key == key; });
    if (!known) result.push_back(*f);
  }
  return result;
}

void list_candidates(Fit& fit, const std::vector<Finalist>& finalists, const Finalist& best) {
  std::vector<const Finalist*> order;
  for (const Finalist& f : finalists) order.push_back(&f);
  std::stable_sort(order.begin(), order.end(), [](const Finalist* a, const Finalist* b) {
    if (a->candidate.size != b->candidate.size) return a->candidate.size < b->candidate.size;
    return a->candidate.train.rmse < b->candidate.train.rmse;
  });
  double error = infinity;
  std::vector<const Finalist*> kept;
  std::set<std::string> texts{print(best.candidate.formula)};  // two ways to the same formula are listed once
  for (const Finalist* f : order) {
    if (f != &best && !(f->candidate.train.rmse < error)) continue;
    if (f != &best && f->candidate.size > best.candidate.size && best.candidate.train.relative < 1e-9) continue;
    if (f != &best && !texts.insert(print(f->candidate.formula)).second) continue;
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

}  // namespace nalm::fitting
