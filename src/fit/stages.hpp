// The stages of a search: what is looked for first, and what only where that does not give every row.
#pragma once

#include "fit/search.hpp"
#include "fit/similarity.hpp"

namespace nalm::fitting {

// Arithmetic and, if options say so, functions. Constants may carry any unit, and each different one has its price.
// outlook: whether many rows are worth a look; without it they are not looked at.
SearchResult search_all(const Data& data, const FitOptions& options, const SearchWatch& watch,
                        const Outlooks& outlook = nullptr);

// Formulas whose constants are pure numbers, but perhaps one that is a factor of the whole (similarity.hpp).
SearchResult search_similar(const Data& data, const Similarity& similarity, const FitOptions& options,
                            const SearchWatch& watch);

// What two searches found; of a formula that both have, the shorter description.
void join(SearchResult& found, SearchResult other);

}  // namespace nalm::fitting
