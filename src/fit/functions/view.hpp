// A table as the search for functions sees it: the target without the function around it and without columns that only
// multiply it, and atoms, functions of columns, as further columns. What the search finds there is a form of the table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fit/data.hpp"
#include "fit/form.hpp"
#include "fit/multipliers.hpp"

namespace nalm::fitting {

struct View {
  Data data;  // columns that are left, then atoms
  std::string outer;
  Multipliers multipliers;  // of the target without the outer function; rest: where the columns of `data` are
  std::vector<Atom> atoms;  // of the columns that are left
  std::size_t columns() const { return multipliers.rest.size(); }
};

// outer: a function, or empty; divided: by what multiplies. Nothing if the target is not among the function's values.
std::optional<View> view_of(const Data& data, const std::string& outer, Powers allowed, bool divided);

// The values of an atom of a view on its rows; empty if one is not finite.
std::vector<double> values_of(const Atom& atom, const Data& data);

// With these atoms behind the others. Nothing if one has no finite value on a row, or is the same on all.
std::optional<View> with_atoms(const View& view, std::vector<Atom> atoms);

// A form of the view's columns and these atoms as one of the table that the view was made of. Atoms that are not used
// are left out.
Form of_table(const Form& form, const std::vector<Atom>& atoms, const View& view);

// A few rows of a table, as a table.
Data sample_of(const Data& data, std::size_t count);

}  // namespace nalm::fitting
