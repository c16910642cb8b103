#include "fit/climb.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "base/threads.hpp"
#include "fit/changes.hpp"
#include "fit/form_algebra.hpp"
#include "fit/form_units.hpp"

namespace nalm::fitting {

namespace {

constexpr int most_climbs = 12;
constexpr std::size_t most_promising = 16, fewest_rows_to_sift = 40, most_to_sift = 128;

bool uses(const Form& form, std::size_t column) {
  const auto has_it = [column](const auto& part) { return part.powers[column] != 0; };
  return std::any_of(form.products.begin(), form.products.end(), has_it) ||
         std::any_of(form.sums.begin(), form.sums.end(),
                     [&](const InnerSum& sum) { return std::any_of(sum.terms.begin(), sum.terms.end(), has_it); });
}

// Goes on with the shortest description among these, if it is shorter by more than the margin. False if none is, or
// there is no time left to look.
bool take_best(const Judge& judge, std::vector<Form> changed, int steps, double margin, int threads,
               const std::function<bool()>& stop, Scored& scored) {
  std::vector<std::optional<Scored>> measured(changed.size());
  parallel_for(static_cast<int>(changed.size()), threads, [&](int k) {
    const auto place = static_cast<std::size_t>(k);
    if (!stop || !stop()) measured[place] = judge.measure(std::move(changed[place]), steps);
  });
  if (stop && stop()) return false;
  Scored best{{}, 0, scored.length};
  for (std::optional<Scored>& other : measured) {
    if (other && other->length < best.length - margin) best = std::move(*other);
  }
  if (!(best.length < scored.length)) return false;
  scored = std::move(best);
  return true;
}

}  // namespace

std::optional<Scored> Judge::measure(Form form, int steps) const {
  if (!normalise(form, data.negative)) return std::nullopt;
  // The root of a half power is a quarter power, which the search does not round to.
  if (powers != Powers::Any && !has_half_powers(form)) return std::nullopt;
  if (static_cast<std::size_t>(free_count(form)) + 1 > rows.size() / 2) return std::nullopt;
  for (const std::string& name : use) {
    if (!uses(form, data.position(name))) return std::nullopt;
  }
  const std::optional<Refit> fitted = refit(form, data, rows, steps);
  if (!fitted) return std::nullopt;
  const double length = description_length(form, fitted->mse, rows.size()) + cost_of_units(form, data.units);
  return Scored{std::move(form), fitted->mse, length, fitted->deviations};
}

void prune(const Judge& judge, Scored& scored) {
  while (take_best(judge, without_a_doubtful_term(scored), 6, 0, 1, nullptr, scored)) {
  }
}

namespace {

// Of many changes those that do best on a quarter of the rows, or on fewer where there are many. What helps much helps
// there too.
std::vector<Form> promising(const Judge& coarse, std::vector<Form> changed, std::size_t count, int threads,
                            const std::function<bool()>& stop) {
  std::vector<double> lengths(changed.size(), infinity);
  parallel_for(static_cast<int>(changed.size()), threads, [&](int k) {
    const auto place = static_cast<std::size_t>(k);
    if (stop && stop()) return;
    if (const std::optional<Scored> scored = coarse.measure(changed[place], 4)) lengths[place] = scored->length;
  });
  std::vector<Form> result;
  for (const std::size_t k : ranked(lengths))
    if (result.size() < count && std::isfinite(lengths[k])) result.push_back(std::move(changed[k]));
  return result;
}

Rows some_of(const Rows& rows, std::size_t at_most) {
  Rows some;
  for (std::size_t k = 0; k < rows.size(); k += std::max<std::size_t>(4, rows.size() / at_most)) {
    some.x.push_back(rows.x[k]);
    some.y.push_back(rows.y[k]);
    if (!rows.weight.empty()) some.weight.push_back(rows.weight[k]);
  }
  return some;
}

// Small changes that were not seen before; of many, those that look promising on some of the rows.
std::vector<Form> changes(const Judge& judge, const Rows& some, const Form& form, std::set<std::string>& seen,
                          std::size_t count, int threads, const std::function<bool()>& stop) {
  std::vector<Form> unseen;
  for (Form& other : small_changes(form, judge.data, judge.powers)) {
    if (normalise(other, judge.data.negative) && seen.insert(key_of(other)).second) unseen.push_back(std::move(other));
  }
  if (some.size() < fewest_rows_to_sift || unseen.size() <= 2 * count) return unseen;
  return promising({judge.data, some, judge.powers, judge.use}, std::move(unseen), count, threads, stop);
}

}  // namespace

void climb(const Judge& judge, Scored& scored, int threads, const std::function<bool()>& stop) {
  const Rows some = some_of(judge.rows, most_to_sift);
  std::set<std::string> seen{key_of(scored.form)};
  for (int k = 0; k < most_climbs; ++k) {
    std::vector<Form> changed = changes(judge, some, scored.form, seen, most_promising, threads, stop);
    if (!take_best(judge, std::move(changed), 8, 0.01, threads, stop, scored)) return;
    prune(judge, scored);
  }
}

std::vector<Scored> neighbours_of(const Judge& judge, const Form& form, int threads,
                                  const std::function<bool()>& stop) {
  std::set<std::string> seen{key_of(form)};
  std::vector<Form> changed =
      changes(judge, some_of(judge.rows, 4 * most_to_sift), form, seen, 2 * most_promising, threads, stop);
  std::vector<std::optional<Scored>> measured(changed.size());
  parallel_for(static_cast<int>(changed.size()), threads, [&](int k) {
    const auto place = static_cast<std::size_t>(k);
    if (!stop || !stop()) measured[place] = judge.measure(std::move(changed[place]), 8);
  });
  std::vector<Scored> result;
  for (std::optional<Scored>& scored : measured)
    if (scored) result.push_back(std::move(*scored));
  return result;
}

}  // namespace nalm::fitting
