// The search for formulas with functions: atoms, f(product or difference of columns), one function around the whole,
// and inside today's ladder. Opt-in, by FitOptions::functions.
#pragma once

#include "fit/search.hpp"

namespace nalm::fitting {

// What it finds are forms of the table with atoms. Restarts are the trainings on tables with atoms as further columns.
// Products with functions come first; then, before what takes long, it asks whether there is an exact formula already.
SearchResult search_functions(const Data& data, const FitOptions& options, const SearchWatch& watch,
                              const std::function<bool()>& enough);

// The functions of a product that describes the rows more shortly than this formula, found in a fraction of a second;
// empty if there is none.
std::vector<std::string> functions_worth_a_try(const Data& data, const FitOptions& options, Form best);

}  // namespace nalm::fitting
