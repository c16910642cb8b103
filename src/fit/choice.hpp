// Which of the formulas that a search or the trainings of a stack found is shown, with its verdict.
#pragma once

#include <vector>

#include "fit/candidates.hpp"
#include "fit/verdict.hpp"

namespace nalm::fitting {

// Judges the candidates from the shortest description on. The first law is taken, unless one that describes the rows as
// shortly disagrees with it, or nearly as shortly where a single restart spells it or where it has functions; without a
// law the first of those with the best verdict.
const Finalist& most_trusted(std::vector<Finalist>& finalists, const Data& data, LazyGrounds& lazy, int restarts,
                             int threads);

// What a search comes to.
void choose(Fit& fit, const SearchResult& found, const Data& data, LazyGrounds& grounds, const FitOptions& options);

}  // namespace nalm::fitting
