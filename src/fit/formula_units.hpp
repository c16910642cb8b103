// What units the constants of any formula carry: of one that somebody gives, or of a comparison. (form_units.hpp is for
// what the search finds, which has one answer without solving for it.)
#pragma once

#include <string>

#include "fit/data.hpp"

namespace nalm::fitting {

// Gives the constants of a candidate (Candidate::open_formula has them as variables) their units; other numbers in the
// formula are pure. What is returned says why it fits the units with no constants at all, and is empty if it does.
std::string give_units(Candidate& candidate, const Data& data);

}  // namespace nalm::fitting
