#include "fit/stages.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "base/threads.hpp"
#include "fit/climb.hpp"
#include "fit/form_algebra.hpp"
#include "fit/form_units.hpp"
#include "fit/functions/search.hpp"
#include "fit/similarity.hpp"
#include "nalm/detail/portable.hpp"

namespace nalm::fitting {

namespace {

constexpr std::size_t simple_waves = 3, rows_of_a_formula = 256, most_with_units = 32;
constexpr int most_free = 5;

// A form of the table without units on the table that was read.
class WithUnits {
 public:
  WithUnits(const Data& data, const FitOptions& options)
      : data_(data),
        options_(options),
        rows_(rows_of(data, data.train, rows_of_a_formula)),
        judge_{data, rows_, options.powers, options.use} {}

  Found found(Form form) const {
    std::optional<Scored> scored =
        form.atoms.empty() && form.outer.empty() ? judge_.measure(std::move(form)) : with_functions(std::move(form));
    if (!scored) return {};
    std::string key = key_of(scored->form);
    return {std::move(*scored), std::move(key)};
  }

 private:
  std::optional<Scored> with_functions(Form form) const {
    const std::vector<std::string> used = variables(to_expression(form, data_.columns, data_.negative));
    for (const std::string& name : options_.use)
      if (std::find(used.begin(), used.end(), name) == used.end()) return std::nullopt;
    const std::optional<Refit> fitted = refit(form, data_, rows_, 30);
    if (!fitted) return std::nullopt;
    const double length = description_length(form, fitted->mse, rows_.size()) + cost_of_units(form, data_.units);
    return Scored{std::move(form), fitted->mse, length, fitted->deviations};
  }

  const Data& data_;
  const FitOptions& options_;
  const Rows rows_;
  const Judge judge_;
};

void sort_by_length(std::vector<Found>& found) {
  std::erase_if(found, [](const Found& f) { return !std::isfinite(f.length); });
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.length < b.length; });
}

// The first or the second half of a search.
SearchWatch half_of(const SearchWatch& watch, double before) {
  if (!watch.progress) return watch;
  return {watch.stop, [&watch, before](double share, int restarts, const Found* best) {
            watch.progress(before + 0.5 * share, restarts, best);
          }};
}

}  // namespace

// Simple arithmetic first: a function has to pay for itself. Larger stacks only where products with functions do not
// give every row.
SearchResult search_all(const Data& data, const FitOptions& options, const SearchWatch& watch,
                        const Outlooks& outlook) {
  if (options.functions.empty()) {
    const bool many = outlook && data.train.size() >= fewest_of_many_rows;
    SearchResult few = search(data, options, many ? half_of(watch, 0) : watch);
    const bool exact = std::any_of(few.found.begin(), few.found.end(), is_exact);
    if (!many || exact || few.cut || few.found.empty() || outlook(few.found[0]) == Outlook::Hopeless) return few;
    return search_many_rows(data, options, half_of(watch, 0.5), std::move(few), outlook);
  }
  // A long polynomial comes as close to a function as anybody likes, but not with simple numbers.
  const auto ended = [&](const SearchResult& result) {
    return result.cut || std::any_of(result.found.begin(), result.found.end(), [&](const Found& found) {
             return is_exact(found) &&
                    (free_count(found.form) <= most_free || (outlook && outlook(found) == Outlook::Settled));
           });
  };
  SearchResult plain = search(data, options, watch, simple_waves);
  if (ended(plain)) return plain;
  SearchResult found = search_functions(data, options, watch, [&] {
    plain = search(data, options, watch);
    return ended(plain);
  });
  found.cut = found.cut || plain.cut;
  std::move(plain.found.begin(), plain.found.end(), std::back_inserter(found.found));
  std::move(plain.restarts.begin(), plain.restarts.end(), std::back_inserter(found.restarts));
  std::stable_sort(found.found.begin(), found.found.end(),
                   [](const Found& a, const Found& b) { return a.length < b.length; });
  return found;
}

SearchResult search_similar(const Data& data, const Similarity& similarity, const FitOptions& options,
                            const SearchWatch& watch) {
  const WithUnits with(data, options);
  SearchResult result;
  // The one product that has the target's unit; where there are no dimensionless products it is the only formula.
  if (!is_constant(similarity.factor)) {
    double size = data.y_scale;
    for (std::size_t i = 0; i < data.inputs; ++i) size *= portable::pow(data.x_scale[i], -similarity.factor[i]);
    Found product = with.found({{}, {{{size, true}, similarity.factor, {}}}});
    const bool enough = is_exact(product) || similarity.products.empty();
    result.found.push_back(product);
    if (enough) result.restarts.push_back(std::move(product));
    sort_by_length(result.found);
    if (enough) return result;
  }
  if (similarity.products.empty()) return result;
  const Data rest = without_units(data, similarity);
  FitOptions inner = options;
  inner.use.clear();  // columns that it does not have
  SearchWatch quiet{watch.stop, nullptr};
  if (watch.progress)
    quiet.progress = [&](double share, int restarts, const Found*) { watch.progress(share, restarts, nullptr); };
  const SearchResult found = search_all(rest, inner, quiet);
  result.cut = found.cut;
  std::vector<Found> whole(std::min(found.found.size(), most_with_units));
  parallel_for(static_cast<int>(whole.size()), options.threads, [&](int k) {
    const auto place = static_cast<std::size_t>(k);
    if (std::optional<Form> form = with_units(found.found[place].form, similarity))
      whole[place] = with.found(std::move(*form));
  });
  std::map<std::string, const Found*> by_key;
  for (std::size_t k = 0; k < whole.size(); ++k) by_key[found.found[k].key] = &whole[k];
  for (const Found& restart : found.restarts) {
    const auto same = by_key.find(restart.key);
    result.restarts.push_back(same == by_key.end() ? Found{} : *same->second);
  }
  join(result, {std::move(whole), {}, false});
  return result;
}

void join(SearchResult& found, SearchResult other) {
  found.cut = found.cut || other.cut;
  for (Found& f : other.found) {
    const auto same =
        std::find_if(found.found.begin(), found.found.end(), [&](const Found& known) { return known.key == f.key; });
    if (same == found.found.end()) {
      found.found.push_back(std::move(f));
    } else if (f.length < same->length) {
      *same = std::move(f);
    }
  }
  std::move(other.restarts.begin(), other.restarts.end(), std::back_inserter(found.restarts));
  sort_by_length(found.found);
}

}  // namespace nalm::fitting
