// The stages of a search: what is looked for first, and what only where that does not give every row.
#pragma once

#include <optional>

#include "fit/search.hpp"

namespace nalm::fitting {

// Arithmetic and, if options say so, functions. Constants may carry any unit, and each different one has its price.
SearchResult search_all(const Data& data, const FitOptions& options, const SearchWatch& watch);

// Formulas whose constants are pure numbers, by a table without units (similarity.hpp). Nothing if there are none: no
// units are given, or the columns cannot have the target's.
std::optional<SearchResult> search_pure(const Data& data, const FitOptions& options, const SearchWatch& watch);

// What two searches found; of a formula that both have, the shorter description.
void join(SearchResult& found, SearchResult other);

}  // namespace nalm::fitting
