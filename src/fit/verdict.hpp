// The verdict: whether a candidate deserves to be called a law for the data.
#pragma once

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

// Places at which candidates are judged. Whoever says with one or two constants what a column does that is never
// negative is not asked what it does below zero.
struct Grounds {
  Places positive, all;  // with the same rows
  Neighbours neighbours;

  const Places& of(const Candidate& candidate) const { return candidate.constants.size() <= 2 ? positive : all; }
};
Grounds grounds_of(const Data& data, int threads);

// What the rows alone say about one candidate. Sets its judgement and its errors.
void judge(Candidate& candidate, const Data& data, const Grounds& grounds, const Spoken& spoken, int restarts);

// A law that has rivals, which describe the rows as shortly but say something else outside, is an approximation.
void doubt_by_rivals(Candidate& law, const std::vector<const Candidate*>& rivals, const Data& data,
                     const Grounds& grounds, const Spoken& spoken);

}  // namespace nalm::fitting
