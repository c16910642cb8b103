#include "fit/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <span>

#include "fit/finds.hpp"
#include "fit/leading_product.hpp"
#include "fit/multipliers.hpp"
#include "fit/polynomials.hpp"
#include "fit/starts/equations.hpp"
#include "fit/starts/starts.hpp"
#include "nalm/detail/portable.hpp"
#include "numeric/student.hpp"
#include "train/least_squares.hpp"

namespace nalm::fitting {

namespace {

constexpr SearchRows many_rows{768, 512, 640, 2048};
constexpr std::size_t most_taken_over = 16;
constexpr std::size_t fewest_rows_for_large = 60, enough_rows_for_many_terms = 100;
constexpr double most_unexplained = 0.25, noise_has_as_much = 0.1;
constexpr int steps_with_fixed_powers = 6, steps_with_free_powers = 50;

class Search : Finds {
 public:
  Search(const Data& data, const FitOptions& options, const SearchWatch& watch, const SearchRows& rows)
      : Finds(data, options, watch, rows), target_(simd::active_target()), starts_(data, options, rows) {}

  SearchResult run(std::size_t most_waves) {
    std::vector<Wave> waves = most_waves > 0 ? simple_ladder(data_, options_.powers) : ladder(data_, options_.powers);
    if (most_waves > 0) waves.resize(std::min(waves.size(), most_waves));
    count_restarts(waves);
    double best_length = infinity;
    for (std::size_t w = 0; w < waves.size() && !result_.cut; ++w) {
      train(waves[w], 100 * w, w >= 2);
      if (w == 1) search_without_multipliers(most_waves);
      improve_best();
      const double length = result_.found.empty() ? best_length : result_.found[0].length;
      if (exact_ || gets_nowhere(w)) break;
      // Larger stacks have nothing to add once one size up did not, and several restarts agree.
      if (w >= 2 && best_length - length < 5 && agreeing() >= 3) break;
      best_length = length;
    }
    if (most_waves == 0) search_rest(), search_degrees(), search_roots_beside();
    return std::move(result_);
  }

  // Small changes to what was found, then all that linear least squares find, then the trainings of the smaller waves.
  SearchResult run_many_rows(SearchResult before, const Outlooks& outlook) {
    total_ = restarts_ = static_cast<int>(before.restarts.size());
    go_on_from(std::move(before));
    std::vector<Wave> waves = ladder(data_, options_.powers);
    Wave& medium = waves[2];
    const auto linear =
        std::stable_partition(medium.begin(), medium.end(), [](const Rung& rung) { return rung.is_linear(); });
    waves = {{}, Wave(medium.begin(), linear), waves[1], Wave(linear, medium.end())};
    count_restarts(waves);
    for (std::size_t w = 0; w < waves.size() && !result_.cut && !exact_; ++w) {
      if (!result_.found.empty() && outlook(result_.found[0]) != Outlook::Open) break;
      if (w == 0) {
        climb_on_own_rows();
      } else {
        train(waves[w], 1000 + 100 * w, true);
        improve_best();
      }
      keep_other_terms();
      keep_neighbours();
    }
    judge_on_all_rows();
    return std::move(result_);
  }

 private:
  void count_restarts(const std::vector<Wave>& waves) {
    for (const Wave& wave : waves) {
      for (const Rung& rung : wave) total_ += rung.restarts;
    }
  }

  // ---- trainings ----

  // Rungs from the given one on whose starts are chosen alike. What one of them finds the others do not know: so
  // threads need not wait for the last restart of each, and what is found is the same for any number of threads.
  static std::span<const Rung> side_by_side(const Wave& wave, std::size_t first) {
    const auto kind = [](const Rung& rung) { return rung.kind == Rung::Kind::Power ? Rung::Kind::Sum : rung.kind; };
    std::size_t end = first + 1;
    while (end < wave.size() && kind(wave[end]) == kind(wave[first])) ++end;
    return std::span(wave).subspan(first, end - first);
  }

  // Restarts of a rung.
  struct Task {
    const Rung& rung;
    std::size_t place;  // of the rung in its group
    int first, count;
    std::uint64_t seed;
  };

  std::vector<Task> tasks_of(std::span<const Rung> group, std::size_t number) const {
    std::vector<Task> tasks;
    for (std::size_t r = 0; r < group.size(); ++r) {
      const std::uint64_t seed = options_.seed * 0x9e3779b97f4a7c15u + (number + r) * 1000003u;
      const int size = group[r].is_linear() ? 1 : target_.lanes<double>();
      for (int first = 0; first < group[r].restarts; first += size) {
        tasks.push_back({group[r], r, first, std::min(size, group[r].restarts - first), seed});
      }
    }
    return tasks;
  }

  void train(const Wave& wave, std::size_t number, bool longest_first) {
    for (std::size_t r = 0; r < wave.size() && !result_.cut && !exact_;) {
      const std::span<const Rung> group = side_by_side(wave, r);
      for (const Rung& rung : group) starts_.prepare(rung);
      train(group, number + r, longest_first);
      r += group.size();
    }
  }

  // longest_first: no thread waits long for the last one, but more is trained in vain if the first rung is exact.
  void train(std::span<const Rung> group, std::size_t number, bool longest_first) {
    const std::vector<Task> tasks = tasks_of(group, number);
    std::vector<std::vector<Found>> results(tasks.size());
    std::size_t last = group.size();  // the first rung that has an exact formula; later ones do not count
    std::vector<std::size_t> order(tasks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (longest_first) {
      const auto size = [&](std::size_t t) { return tasks[t].rung.terms + tasks[t].rung.below + tasks[t].rung.inner; };
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
    }
    each(tasks.size(), [&](std::size_t k) {
      const std::size_t t = order[k];
      const Task& task = tasks[t];
      {
        const std::lock_guard lock(progress_);
        if (task.place > last) return;
      }
      std::vector<Found> found = task.rung.is_linear() ? solved(task) : trained(task);
      const std::lock_guard lock(progress_);
      if (std::any_of(found.begin(), found.end(), is_exact)) last = std::min(last, task.place);
      results[t] = std::move(found);
      report(task.count);
    });
    for (std::size_t t = 0; t < tasks.size() && tasks[t].place <= last; ++t) {
      for (Found& f : results[t]) {
        keep(f);
        result_.restarts.push_back(std::move(f));
      }
    }
    sort_found();
  }

  // Side by side, one restart per lane.
  std::vector<Found> trained(const Task& task) {
    std::vector<Run> runs;
    std::vector<Found> result;
    const std::size_t rows = std::min(rows_.training, data_.train.size());
    LeastSquares least_squares(stack_of(task.rung, data_.inputs), static_cast<int>(rows), target_);
    std::vector<double> x, y, weights;
    for (int lane = 0; lane < least_squares.lanes(); ++lane) {
      const int restart = task.first + std::min(lane, task.count - 1);  // lanes to spare repeat the last restart
      Xoshiro random(task.seed + static_cast<std::uint64_t>(restart) * 0x2545f4914f6cdd1du);
      const std::vector<std::size_t> sample = draw_rows(rows, random);
      if (lane < task.count) {
        runs.push_back(starts_.start(task.rung, restart, sample, random));
        result.push_back(task.rung.kind == Rung::Kind::Nested ? Found{} : judged(task.rung, runs.back().parameters));
      }
      x.clear();
      y.clear();
      weights.clear();
      for (const std::size_t r : sample) {
        for (std::size_t i = 0; i < data_.inputs; ++i) x.push_back(data_.row(r)[i] / data_.x_scale[i]);
        y.push_back(data_.y[r] / data_.y_scale);
        if (!data_.weight.empty()) weights.push_back(data_.weight[r]);
      }
      least_squares.set_data(lane, x, y, weights);
      least_squares.set_run(lane, runs.back().parameters, runs.back().free_numbers());
    }
    least_squares.minimise(steps_with_fixed_powers);
    for (int lane = 0; lane < least_squares.lanes(); ++lane) {
      const Run& run = runs[static_cast<std::size_t>(std::min(lane, task.count - 1))];
      least_squares.set_run(lane, least_squares.parameters(lane), run.free);
    }
    least_squares.minimise(steps_with_free_powers, 4 * limit_);
    for (int lane = 0; lane < task.count; ++lane) {
      // Powers that are still free explain more than the rounded ones can.
      const double reachable = least_squares.mse(lane);
      if (!std::isfinite(reachable) || !(reachable < 4 * limit_)) continue;
      Found ended = judged(task.rung, least_squares.parameters(lane));
      Found& best = result[static_cast<std::size_t>(lane)];
      if (ended.length < best.length) best = std::move(ended);
    }
    return result;
  }

  // Linear least squares need no start; a restart has its own rows.
  std::vector<Found> solved(const Task& task) const {
    std::vector<Found> result;
    for (int k = 0; k < task.count; ++k) {
      Xoshiro random(task.seed + static_cast<std::uint64_t>(task.first + k));
      const std::vector<std::size_t> sample = draw_rows(std::min(data_.train.size(), rows_.judgement) * 3 / 4, random);
      const Rows rows = rows_of(data_, sample, sample.size());
      if (task.rung.kind == Rung::Kind::Line) {
        const Judge judge{data_, rows, options_.powers, options_.use};
        std::optional<Scored> line = judge.measure(sum_of_columns(data_));
        if (!line) continue;
        prune(judge, *line);
        result.push_back(Finds::judged(line->form, false));
      } else if (const std::optional<Form> form = task.rung.kind == Rung::Kind::Quadratic
                                                      ? quadratic_form(data_, rows, task.rung.power)
                                                      : rational_form(data_, rows, task.rung.power)) {
        result.push_back(Finds::judged(*form, true));
      }
    }
    return result;
  }

  // Columns that only multiply hide what the others do from stacks that know nothing of it. Simple formulas do not need
  // this, and larger ones are found faster.
  void search_without_multipliers(std::size_t most_waves) {
    if (exact_ || result_.cut) return;
    const std::optional<Multipliers> multipliers = multipliers_of(data_, options_.powers);
    if (!multipliers) return;
    const Data rest = divided_by(data_, *multipliers);
    FitOptions options = options_;
    std::erase_if(options.use, [&](const std::string& name) { return rest.position(name) == rest.inputs; });
    take_over(Search(rest, options, {watch_.stop, nullptr}, rows_).run(most_waves),
              [&](const Form& form) { return multiplied_by(form, *multipliers); });
  }

  // What a leading product hides beside it.
  void search_rest() {
    if (exact_ || result_.cut) return;
    const std::optional<LeadingProduct> leading = leading_product_of(data_, result_.found);
    if (!leading) return;
    FitOptions options = options_;
    options.use.clear();
    take_over(Search(leading->rest, options, {watch_.stop, nullptr}, rows_).run(2), [&](Form form) {
      form.products.push_back(leading->product);
      return form;
    });
  }

  // Too many terms for trainings. Exact ones only: with noise the next terms of a polynomial are as good.
  void search_degrees() {
    if (exact_ || result_.cut) return;
    const Rows rows = rows_of(data_, data_.train, std::min(data_.train.size(), rows_.judgement));
    for (const Degrees& degrees : degrees_for(data_.inputs, rows.size())) {
      if ((result_.cut = watch_.stop && watch_.stop())) break;
      const std::optional<Form> form = form_of_degrees(data_, rows, degrees);
      if (form && kept_if_exact(*form)) break;
    }
    sort_found();
  }

  // A root beside a product, as the solutions of quadratic equations have it, hides from trainings. Exact ones only:
  // where the best formula leaves much there is noise, or another truth.
  void search_roots_beside() {
    if (exact_ || result_.cut || result_.found.empty() || judgement_.size() < fewest_rows_for_large) return;
    if (!explains_nearly_all(result_.found[0], data_)) return;
    for (const Form& form : roots_of_equations(data_, options_.powers, options_.threads, watch_.stop))
      kept_if_exact(form);
    result_.cut = watch_.stop && watch_.stop();
    sort_found();
  }

  bool kept_if_exact(const Form& form) {
    const Found found = Finds::judged(form, true);
    if (!is_exact(found)) return false;
    keep(found);
    result_.restarts.push_back(found);
    return true;
  }

  // What a search on another table found, on this one.
  template <class OfThisTable>
  void take_over(const SearchResult& found, OfThisTable of_this_table) {
    result_.cut = result_.cut || found.cut;
    std::vector<Found> whole(std::min(found.found.size(), most_taken_over));
    parallel_for(static_cast<int>(whole.size()), options_.threads, [&](int k) {
      const auto place = static_cast<std::size_t>(k);
      whole[place] = Finds::judged(of_this_table(found.found[place].form), true);
    });
    std::map<std::string, const Found*> by_key;
    for (std::size_t k = 0; k < whole.size(); ++k) {
      keep(whole[k]);
      by_key[found.found[k].key] = &whole[k];
    }
    for (const Found& restart : found.restarts) {
      const auto same = by_key.find(restart.key);
      result_.restarts.push_back(same == by_key.end() ? Found{} : *same->second);
    }
    sort_found();
  }

  // ---- what is found ----

  Found judged(const Rung& rung, const std::vector<double>& parameters) const {
    const std::optional<Form> form = form_of(rung, parameters, data_, options_.powers);
    return form ? Finds::judged(*form, true) : Found{};
  }

  // After sums and ratios of two or three terms nothing is better than what noise would have; after those of three or
  // four most is still unexplained, or there are too few rows for more.
  bool gets_nowhere(std::size_t wave) const {
    if (result_.found.empty() || wave < 1) return false;
    const Found& best = result_.found[0];
    const double share =
        std::min(1.0, best.mse * data_.y_scale * data_.y_scale / (data_.y_deviation * data_.y_deviation));
    if (wave >= 2 && (share > most_unexplained || judgement_.size() < fewest_rows_for_large)) return true;
    // Formulas of many terms may explain nothing until the last one is there, and many rows can tell.
    if (wave < 2 && judgement_.size() >= enough_rows_for_many_terms) return false;
    const Expression formula = to_expression(best.form, data_.columns, data_.negative);
    const double chance =
        numeric::chance_of_share_left(share, static_cast<std::size_t>(free_count(best.form)), judgement_.size());
    return chance * portable::exp(length_of_structure(formula, data_.inputs)) > noise_has_as_much;
  }

  void report(int restarts) {
    restarts_ += restarts;
    if (!watch_.progress) return;
    watch_.progress(static_cast<double>(restarts_) / total_, restarts_,
                    result_.found.empty() ? nullptr : &result_.found[0]);
  }

  const simd::Target& target_;
  Starts starts_;
  std::mutex progress_;
  int restarts_ = 0, total_ = 0;
};

}  // namespace

SearchResult search(const Data& data, const FitOptions& options, const SearchWatch& watch, std::size_t waves) {
  return Search(data, options, watch, {}).run(waves);
}

SearchResult search_many_rows(const Data& data, const FitOptions& options, const SearchWatch& watch,
                              SearchResult before, const Outlooks& outlook) {
  return Search(data, options, watch, many_rows).run_many_rows(std::move(before), outlook);
}

}  // namespace nalm::fitting
