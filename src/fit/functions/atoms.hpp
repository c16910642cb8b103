// Functions that are worth a try as columns.
#pragma once

#include <vector>

#include "fit/functions/view.hpp"

namespace nalm::fitting {

// Functions of one column, of a sum or difference of two, and of a product or ratio of two.
std::vector<Atom> simple_atoms(const View& view, const FitOptions& options);

}  // namespace nalm::fitting
