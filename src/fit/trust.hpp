// What a formula gives, where it has no value outside of the data, and whether what is printed is the model.
#pragma once

#include <string>
#include <vector>

#include "fit/data.hpp"

namespace nalm::fitting {

// Of the formula, on every row.
std::vector<double> predictions(const Expression& formula, const Data& data);

// Looks for poles, roots of negative numbers and overflow on a box twice as wide as the data.
FitProbe probe(const Expression& formula, const Data& data, std::uint64_t seed);

// Prints and reads the formula, and compares with the model on all rows and on points of the wider box. Gives the
// largest difference relative to the sum of the magnitudes of the terms: of the formula, or of another expression that
// has them all, such as the literal formula of a model that computes x*W + 1 - W.
Result<double> verification_error(const Expression& formula, const Model& model, const Data& data, std::uint64_t seed,
                                  const Expression* with_all_terms = nullptr);
inline constexpr double largest_verification_error = 1e-12;

}  // namespace nalm::fitting
