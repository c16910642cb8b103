// What a search has found so far: formulas, judged on some rows, kept, sorted and improved.
#pragma once

#include <atomic>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/threads.hpp"
#include "fit/climb.hpp"
#include "fit/search.hpp"
#include "fit/starts/dictionary.hpp"

namespace nalm::fitting {

class Finds {
 protected:
  Finds(const Data& data, const FitOptions& options, const SearchWatch& watch, const SearchRows& rows);

  // With its numbers fitted, and in its shortest form. Nothing if it is no formula, or clearly worse than the best.
  Found judged(const Form& form, bool pruned) const;
  void keep(const Found& found);
  void sort_found();

  // Restarts that spell the best formula.
  long agreeing() const;

  // Small changes to the best formulas, as long as they help.
  void improve_best();

  // ---- on many rows ----

  // What another search found on fewer rows.
  void go_on_from(SearchResult before);

  // Where small changes to the best formulas lead. A climb is a restart, with rows and a start of its own; one that
  // stays where it is says nothing new.
  void climb_on_own_rows();

  // Formulas next to the best ones: with noise the true one may be only the second by its length, until its numbers are
  // rounded to simple ones.
  void keep_neighbours();

  // Other terms in the best formulas, from a dictionary.
  void keep_other_terms();

  // The best once more on all rows: what meant something on fewer may mean nothing there.
  void judge_on_all_rows();

  std::vector<std::size_t> draw_rows(std::size_t count, Xoshiro& random) const;

  // work(k), side by side, as long as there is time.
  template <class Work>
  void each(std::size_t count, Work work) {
    parallel_for(static_cast<int>(count), options_.threads, [&](int k) {
      if (watch_.stop && watch_.stop()) {
        was_cut_ = true;
      } else {
        work(static_cast<std::size_t>(k));
      }
    });
    result_.cut = result_.cut || was_cut_;
  }

  const Data& data_;
  const FitOptions& options_;
  const SearchWatch& watch_;
  const SearchRows rows_;
  const Rows judgement_;
  SearchResult result_;
  double limit_ = infinity;  // the error of the best so far
  bool exact_ = false;       // one of those found is exact

 private:
  bool is_sifted() const { return few_.size() < judgement_.size(); }
  std::vector<Found> best(std::size_t count) const;

  void keep_once(std::vector<Found> found);
  void keep_neighbours(const Judge& judge, int rounds);

  const Rows few_;  // of many rows
  const Judge judge_, sieve_;
  double best_length_ = infinity, best_of_few_ = infinity;  // of the best so far, and on few rows
  std::optional<Dictionary> terms_;                         // when they were needed
  std::vector<std::size_t> rows_of_terms_;
  std::set<std::string> searched_;  // formulas, for other terms
  std::atomic<bool> was_cut_ = false;
};

}  // namespace nalm::fitting
