// A table without units: its columns as dimensionless products, such as v/c, and its target divided by a product that
// has the target's unit. Every formula whose constants are pure numbers is one of these fewer columns (Buckingham), and
// every formula of them fits the units; so the search need not know of units to leave out everything that does not fit.
#pragma once

#include <optional>
#include <vector>

#include "fit/data.hpp"
#include "fit/form.hpp"

namespace nalm::fitting {

struct Similarity {
  std::vector<PowerList> products;  // as powers of the table's columns
  PowerList factor;                 // what the target is divided by
};

// Nothing if the columns cannot have the target's unit, or those that would have to be divided by are 0 somewhere.
std::optional<Similarity> similarity_of(const Data& data, Powers allowed);

// The same for formulas with one constant that carries a unit, a factor of the whole: the target may then be divided by
// any product, and the rows say by which. Nothing if they do not, or if the constant would be a pure number.
std::optional<Similarity> similarity_but_for_a_factor(const Data& data, Powers allowed);

// Errors count as those of the target do.
Data without_units(const Data& data, const Similarity& similarity);

// A form of that table as one of the whole. Nothing if a function stands around it and the target was divided.
std::optional<Form> with_units(const Form& form, const Similarity& similarity);

}  // namespace nalm::fitting
