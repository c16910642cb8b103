#include "fit/functions/search.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/threads.hpp"
#include "fit/changes.hpp"
#include "fit/description.hpp"
#include "fit/form_algebra.hpp"
#include "fit/form_units.hpp"
#include "fit/functions/atoms.hpp"
#include "fit/functions/products.hpp"
#include "fit/functions/trials.hpp"
#include "fit/functions/view.hpp"
#include "fit/refine.hpp"
#include "nalm/detail/portable.hpp"

namespace nalm::fitting {

namespace {

constexpr std::size_t rows_of_a_measurement = 256, most_tried = 40;
constexpr std::size_t most_forms = 12, most_searched = 4, most_pairs = 2, most_factors = 2, most_of_a_ladder = 8;
constexpr std::size_t waves_with_atoms = 2;
constexpr int most_steps = 150;  // the factor of an exponential and its exponent change together
// Where the best leaves more than this of the target's squares, it is noise, or out of reach.
constexpr double most_left_of_a_product = 0.6, most_left_of_a_trial = 0.4, less_left_around = 0.5;

class FunctionSearch {
 public:
  FunctionSearch(const Data& data, const FitOptions& options, const SearchWatch& watch)
      : data_(data), options_(options), watch_(watch), judgement_(rows_of(data, data.train, rows_of_a_measurement)) {}

  // Products alone.
  const SearchResult& glance() {
    products(*view_of(data_, "", options_.powers, true), 1, false);
    sort();
    return result_;
  }

  // enough: asked before what takes long, whether something else was found that is exact.
  SearchResult run(const std::function<bool()>& enough) {
    std::vector<std::string> around = {""};
    for (const std::string_view function : {"asin", "acos", "exp", "log"}) {
      if (std::find(options_.functions.begin(), options_.functions.end(), function) != options_.functions.end())
        around.emplace_back(function);
    }
    // What seems to multiply may do more: without a function around it the whole is looked at, too.
    std::vector<View> views;
    for (const std::string& outer : around) {
      std::optional<View> view = view_of(data_, outer, options_.powers, true);
      if (!view) continue;
      const bool divided = view->columns() < data_.inputs;
      views.push_back(std::move(*view));
      if (outer.empty() && divided) views.push_back(*view_of(data_, outer, options_.powers, false));
    }
    // Products first, for all functions around them: they are the cheapest, and an exact one ends the search.
    std::vector<std::vector<Atom>> factors;
    for (const View& view : views) {
      if (done()) break;
      factors.push_back(products(view));
      if (factors.size() == 1 && !done()) exact_ = enough();
    }
    for (std::size_t v = 0; v < views.size() && !done(); ++v) {
      const std::string& outer = views[v].outer;
      if (!outer.empty()) ladder(views[v]);
      // What grows or saturates around a sum with another function in it nobody could tell from many other things.
      if (!done() && (outer.empty() || outer == "asin" || outer == "acos")) sums(views[v], factors[v]);
    }
    sort();
    return std::move(result_);
  }

 private:
  bool done() {
    if (watch_.stop && watch_.stop()) result_.cut = true;
    return result_.cut || exact_;
  }

  // ---- products ----

  // Gives the functions that are factors, as it seems.
  std::vector<Atom> products(const View& view, std::size_t restarts = 3, bool thorough = true) {
    std::vector<Atom> factors;
    for (std::size_t first = 0; first < restarts; ++first) {
      if (done()) break;
      ProductsWithFunctions found_here = products_with_functions(view, options_, first, thorough);
      std::vector<Form>& forms = found_here.forms;
      if (first == 0) factors = std::move(found_here.atoms);
      if (factors.size() > most_factors) factors.resize(most_factors);
      if (forms.size() > most_forms) forms.resize(most_forms);
      std::vector<Found> found(forms.size());
      parallel_for(static_cast<int>(forms.size()), options_.threads, [&](int k) {
        const Form& form = forms[static_cast<std::size_t>(k)];
        found[static_cast<std::size_t>(k)] = measured(of_table(form, form.atoms, view));
      });
      const auto best = std::min_element(found.begin(), found.end(),
                                         [](const Found& a, const Found& b) { return a.length < b.length; });
      // Two that agree are enough.
      bool enough = best == found.end() || best->mse > most_left_of_a_product * squares_of_target();
      if (best != found.end()) {
        enough = enough || (first > 0 && best->key == result_.restarts.back().key);
        result_.restarts.push_back(*best);
      }
      for (Found& f : found) keep(std::move(f));
      if (enough) break;
    }
    return factors;
  }

  double squares_of_target() const {
    const double deviation = data_.y_deviation / data_.y_scale;
    return deviation * deviation;
  }

  // ---- sums, ratios and roots, with atoms as columns ----

  void sums(const View& view, const std::vector<Atom>& further) {
    const Trials tried(view, options_, watch_);
    std::vector<Trial> trials;
    for (Atom& atom : simple_atoms(view, options_)) trials.push_back({{std::move(atom)}});
    tried.try_all(trials, 2);
    const std::vector<Trial> all = trials;
    std::vector<Trial> singles(trials.begin(),
                               trials.begin() + static_cast<std::ptrdiff_t>(std::min(trials.size(), most_tried)));
    tried.try_all(singles, 8);
    if (singles.empty() || singles[0].left > most_left_of_a_trial) return;
    // Around a sum a function has to explain much.
    if (view.outer.empty()) {
      least_left_ = std::min(least_left_, singles[0].left);
    } else if (singles[0].left > less_left_around * least_left_) {
      return;
    }
    trials.assign(singles.begin(),
                  singles.begin() + static_cast<std::ptrdiff_t>(std::min(singles.size(), most_searched)));
    parallel_for(static_cast<int>(trials.size()), options_.threads,
                 [&](int k) { tried.refine(trials[static_cast<std::size_t>(k)]); });
    for (const Atom& atom : further) trials.push_back({{atom}});
    for (const Trial& trial : trials) {
      if (done()) return;
      if (const std::optional<View> with = with_atoms(view, trial.atoms)) ladder(*with);
    }
    // An atom as a factor, and others as further ones.
    for (std::size_t k = 0; k < std::min<std::size_t>(2, trials.size()) && !done(); ++k) {
      if (const std::optional<View> with = with_atoms(view, trials[k].atoms)) products(*with);
    }
    if (!view.outer.empty()) return;
    // Two atoms: the best with every other, because beside it one may explain much that explains nothing alone.
    std::vector<Trial> pairs;
    for (std::size_t first = 0; first < std::min<std::size_t>(2, trials.size()); ++first)
      for (const Trial& second : first == 0 ? all : singles)
        pairs.push_back({{trials[first].atoms[0], second.atoms[0]}});
    if (done()) return;
    tried.try_all(pairs, 2);
    pairs.resize(std::min(pairs.size(), most_pairs));
    for (Trial& pair : pairs) {
      if (done()) return;
      tried.refine(pair);
      if (const std::optional<View> with = with_atoms(view, pair.atoms)) ladder(*with);
    }
  }

  // Small stacks on the view's table.
  void ladder(const View& view) {
    FitOptions options = options_;
    options.use.clear();
    SearchResult found = search(view.data, options, {watch_.stop, nullptr}, waves_with_atoms);
    result_.cut = result_.cut || found.cut;
    std::vector<Found> forms(std::min(found.found.size(), most_of_a_ladder));
    parallel_for(static_cast<int>(forms.size()), options_.threads, [&](int k) {
      const auto place = static_cast<std::size_t>(k);
      forms[place] = measured(of_table(found.found[place].form, view.atoms, view));
    });
    std::map<std::string, const Found*> by_key;
    for (std::size_t k = 0; k < forms.size(); ++k) by_key[found.found[k].key] = &forms[k];
    for (const Found& restart : found.restarts) {
      const auto same = by_key.find(restart.key);
      result_.restarts.push_back(same == by_key.end() ? Found{} : *same->second);
    }
    for (Found& form : forms) keep(std::move(form));
  }

  // ---- what is found ----

  // exp(u)^p is exp(p*u), where that is its only power.
  static void take_powers_into_exponents(Form& form, std::size_t columns) {
    for (std::size_t a = 0; a < form.atoms.size(); ++a) {
      std::set<double> powers;
      std::vector<double*> places;
      const auto visit = [&](auto& part) {
        double& power = part.powers[columns + a];
        if (power != 0) powers.insert(power), places.push_back(&power);
      };
      for (Product& product : form.products) visit(product);
      for (InnerSum& sum : form.sums)
        for (Term& term : sum.terms) visit(term);
      if (form.atoms[a].function != "exp" || powers.size() != 1) continue;
      for (Term& term : form.atoms[a].argument.terms) term.coefficient.value *= *powers.begin();
      for (double* place : places) *place = 1;
    }
  }

  // First the numbers outside of functions, then all.
  std::optional<Refit> refitted(Form& form) const {
    Form fixed = form;
    for (Atom& atom : fixed.atoms)
      for (Term& term : atom.argument.terms) term.coefficient.free = false;
    if (refit(fixed, data_, judgement_, 20)) {
      for (std::size_t k = 0; k < form.products.size(); ++k)
        form.products[k].coefficient = fixed.products[k].coefficient;
      for (std::size_t s = 0; s < form.sums.size(); ++s) form.sums[s] = fixed.sums[s];
    }
    return refit(form, data_, judgement_, most_steps);
  }

  // With its numbers refitted, and without what is not worth its description.
  Found measured(Form form) const {
    take_powers_into_exponents(form, data_.inputs);
    if (form.atoms.empty() && form.outer.empty()) return {};
    if (static_cast<std::size_t>(free_count(form)) + 1 > judgement_.size() / 2) return {};
    for (const std::string& name : options_.use) {
      const std::vector<std::string> used = variables(to_expression(form, data_.columns, data_.negative));
      if (std::find(used.begin(), used.end(), name) == used.end()) return {};
    }
    const std::optional<Refit> fitted = refitted(form);
    if (!fitted) return {};
    Scored scored = scored_as(std::move(form), *fitted);
    leave_out_terms(scored);
    std::string key = key_of(scored.form);
    return {std::move(scored), std::move(key)};
  }

  Scored scored_as(Form form, const Refit& fitted) const {
    const double length = description_length(form, fitted.mse, judgement_.size()) + cost_of_units(form, data_.units);
    return {std::move(form), fitted.mse, length, fitted.deviations};
  }

  // A column less in a product: noise makes T^2*exp(-4238/T) of exp(-5000/T).
  std::vector<Form> without_a_factor(const Form& form) const {
    std::vector<Form> result;
    for (std::size_t p = 0; p < form.products.size(); ++p) {
      for (std::size_t i = 0; i < data_.inputs; ++i) {
        if (form.products[p].powers[i] == 0) continue;
        result.push_back(form);
        result.back().products[p].powers[i] = 0;
      }
    }
    return result;
  }

  // Those that are not worth their description, and where the rest gives every row those that are nothing but rounding.
  void leave_out_terms(Scored& scored) const {
    std::vector<bool> negative = data_.negative;
    for (const Atom& atom : scored.form.atoms) negative.push_back(atom.negative);
    for (bool shorter = true; std::exchange(shorter, false);) {
      std::vector<Form> shorter_forms = without_a_doubtful_term(scored);
      for (Form& without : without_a_factor(scored.form)) shorter_forms.push_back(std::move(without));
      for (Form& without : shorter_forms) {
        if (!normalise(without, negative) || (without.atoms.empty() && without.outer.empty())) continue;
        const std::optional<Refit> fitted = refitted(without);
        if (!fitted) continue;
        Scored other = scored_as(std::move(without), *fitted);
        if (!(other.length < scored.length)) continue;
        scored = std::move(other), shorter = true;
        break;
      }
    }
  }

  static bool is_exact(double mse) { return mse < rounding_level * rounding_level; }

  void keep(Found found) {
    if (!std::isfinite(found.length)) return;
    exact_ = exact_ || is_exact(found.mse);
    const auto same =
        std::find_if(result_.found.begin(), result_.found.end(), [&](const Found& f) { return f.key == found.key; });
    if (same == result_.found.end()) {
      result_.found.push_back(std::move(found));
    } else if (found.length < same->length) {
      *same = std::move(found);
    }
  }

  void sort() {
    std::stable_sort(result_.found.begin(), result_.found.end(),
                     [](const Found& a, const Found& b) { return a.length < b.length; });
  }

  const Data& data_;
  const FitOptions& options_;
  const SearchWatch& watch_;
  const Rows judgement_;
  SearchResult result_;
  bool exact_ = false;
  double least_left_ = infinity;  // by a trial without a function around the whole
};

}  // namespace

std::vector<std::string> functions_worth_a_try(const Data& data, const FitOptions& options, Form best) {
  constexpr double worth_a_word = 10;  // nats
  FitOptions with = options;
  with.functions = read_functions("all");
  const SearchWatch watch;
  FunctionSearch search(data, with, watch);
  const SearchResult& result = search.glance();
  std::vector<std::string> names;
  // On as many rows as what it is compared with.
  const Rows rows = rows_of(data, data.train, rows_of_a_measurement);
  const std::optional<Refit> fitted = refit(best, data, rows, 12);
  const double length = fitted ? description_length(best, fitted->mse, rows.size()) : infinity;
  if (result.found.empty() || !(result.found[0].length < length - worth_a_word)) return names;
  for (const Atom& atom : result.found[0].form.atoms)
    if (std::find(names.begin(), names.end(), atom.function) == names.end()) names.push_back(atom.function);
  return names;
}

SearchResult search_functions(const Data& data, const FitOptions& options, const SearchWatch& watch,
                              const std::function<bool()>& enough) {
  return FunctionSearch(data, options, watch).run(enough);
}

}  // namespace nalm::fitting
