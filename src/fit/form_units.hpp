// What units the numbers of a form carry, so that the formula fits those of the table.
//
// Columns and target say it: what is added has one unit, and what a function is applied to is a pure number. In a sum
// one term has the factor 1, so that every other number has one possible unit.
#pragma once

#include <string>
#include <vector>

#include "fit/form.hpp"

namespace nalm::fitting {

// Nats for every different unit that numbers of a form carry; 0 if no units are given. Infinite if the form cannot have
// the target's unit at all.
double cost_of_units(const Form& form, const TableUnits& units);

// Of the free numbers, in the order of their slots; empty texts for pure numbers.
std::vector<std::string> units_of_free_numbers(const Form& form, const TableUnits& units);

}  // namespace nalm::fitting
