// Products with functions in them: y = C * prod_i x_i^p_i * prod_k g_k^q_k, where g is a function of a product of
// columns, exp(u) - 1, 1 - cos(u), exp(u) + exp(-u), a sum or difference of two columns. Their logarithm is a sum, so
// that one pursuit among tens of thousands of g finds the few that are there, and powers and columns by least squares.
#pragma once

#include <cstddef>
#include <vector>

#include "fit/functions/view.hpp"

namespace nalm::fitting {

struct ProductsWithFunctions {
  std::vector<Form>
      forms;  // of the view, with atoms of their own (Form::atoms, of the view's columns), the most promising first
  std::vector<Atom> atoms;  // functions that explain most as factors, whatever else there is
};
// thorough: arguments of up to five columns and up to three factors; otherwise three and one, a glance.
ProductsWithFunctions products_with_functions(const View& view, const FitOptions& options, std::size_t first_row,
                                              bool thorough);

}  // namespace nalm::fitting
