// Formulas with a root beside another product, as b*B + sqrt(S): they solve a quadratic equation, y^2 = 2*b*B*y + C,
// where C = S - (b*B)^2 is a sum of products. For a given product B that is linear in all numbers, so that simple B are
// tried one after the other.
#pragma once

#include <functional>
#include <vector>

#include "fit/data.hpp"
#include "fit/form.hpp"
#include "nalm/fit.hpp"

namespace nalm::fitting {

// Those that give the rows to rounding: with noise y^2 says too little. At most one for each B.
std::vector<Form> roots_of_equations(const Data& data, Powers allowed, int threads, const std::function<bool()>& stop);

}  // namespace nalm::fitting
