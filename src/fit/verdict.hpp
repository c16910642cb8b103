// The verdict: whether a candidate deserves to be called a law for the data.
#pragma once

#include <optional>
#include <string_view>

#include "fit/neighbours.hpp"
#include "fit/tangent.hpp"

namespace nalm::fitting {

// How a verdict speaks of the formula: it was found, or the user gave it.
struct Spoken {
  std::string_view refusal, no_law, it, its_errors;  // no_law: an approximation is left
  bool searched;                                     // among all formulas that are as simple
};
inline constexpr Spoken of_a_search{"no formula found", "no law found", "the best one", "the errors of the best one",
                                    true};
inline constexpr Spoken of_a_user{"the formula does not hold", "the formula is no law", "it", "its errors", false};

// Whether no number was fitted.
bool all_simple(const Candidate& candidate);

// Places at which candidates are judged. Whoever says with one or two constants, or with simple numbers only, what a
// column does that is never negative is not asked what it does below zero.
struct Grounds {
  Places positive, all;  // with the same rows
  Neighbours neighbours;

  const Places& of(const Candidate& candidate) const {
    return candidate.constants.size() <= 2 || all_simple(candidate) ? positive : all;
  }
};
// Made when they are needed, once. Few rows are enough to see most patterns; a formula that passes there is judged on
// more, where a smaller pattern is seen, and where the outside is better known.
class LazyGrounds {
 public:
  LazyGrounds(const Data& data, int threads) : data_(data), threads_(threads) {}
  const Grounds& few() { return made(few_, rows_for_judging); }
  const Grounds& many() { return has_many() ? made(many_, most_rows_for_judging) : few(); }
  bool has_many() const { return data_.rows > rows_for_judging; }

 private:
  static constexpr std::size_t rows_for_judging = 3000, most_rows_for_judging = 10000;
  const Grounds& made(std::optional<Grounds>& grounds, std::size_t rows);

  const Data& data_;
  int threads_;
  std::optional<Grounds> few_, many_;
};

// What the rows alone say about one candidate. Sets its judgement and its errors. Whether more rows could say something
// else: what it leaves looks like noise on these, and is not just rounding.
bool judge(Candidate& candidate, const Data& data, const Grounds& grounds, const Spoken& spoken, int restarts);
// On as many rows as it takes.
void judge(Candidate& candidate, const Data& data, LazyGrounds& grounds, const Spoken& spoken, int restarts);

// Whether so few rows would show the pattern in the errors, too.
bool seen_on(std::size_t rows, const FitJudgement& judgement, const Grounds& grounds);

// A law that has rivals, which describe the rows as shortly but say something else outside, is an approximation.
void doubt_by_rivals(Candidate& law, const std::vector<const Candidate*>& rivals, const Data& data,
                     const Grounds& grounds, const Spoken& spoken);

}  // namespace nalm::fitting
