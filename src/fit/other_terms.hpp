// Another term: of thousands of products those that explain most of what a formula leaves.
#pragma once

#include <cstddef>
#include <vector>

#include "fit/refine.hpp"
#include "fit/starts/dictionary.hpp"

namespace nalm::fitting {

// The formula with a further term in its outer sum or in one of its inner ones, or with another one in place of a term:
// the most promising, best first. Near its least squares the formula is linear in its numbers, so that what a
// product of the dictionary would explain takes a few scalar products and no refit. A small change (climb.hpp) leads to
// terms that are like those that are there; in noise nothing between 0.95*p and p^2/(2*m) is better than either.
std::vector<Form> with_other_terms(const Form& form, const Data& data, const Dictionary& dictionary, const Rows& rows,
                                   std::size_t count);

}  // namespace nalm::fitting
