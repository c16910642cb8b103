// Candidates: formulas with their numbers in the final form, and which of them are shown.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "fit/search.hpp"

namespace nalm::fitting {

struct Finalist {
  Candidate candidate;
  double mse = infinity;     // in units of the target's size
  double length = infinity;  // description length
  std::string key;           // the same for equal formulas; empty for a comparison
};

// Of all ways to write the formula, that with the simplest numbers. Its length is infinite if there is none.
Finalist finish(const Found& found, const Data& data);

// The best by description length, and the smallest for every error: what a reader wants to compare.
std::vector<Found> finalists_of(const std::vector<Found>& found);

// Smallest first, each with a smaller error than those before it; the chosen one is always there.
void list_candidates(Fit& fit, const std::vector<Finalist>& finalists, const Finalist& best);

}  // namespace nalm::fitting
