// A formula as people write it.
#pragma once

#include <set>
#include <string>

#include "nalm/expression.hpp"

namespace nalm {

// The same formula, with the same values up to rounding wherever the named variables are positive:
//
//   one root            sqrt(g)*sqrt(p)/sqrt(r)          sqrt(g*p/r)
//   complete squares    a^2 + b^2 - 2*a*b                (a - b)^2
//   1 - a fraction      c*m/sqrt(c^2 - v^2)              m/sqrt(1 - v^2/c^2)
//   shared under a root  sqrt(2*a*m - 2*b*m - u)/m       sqrt(2*(a - b - u/(2*m))/m)
//   common factors      0.5*m*u^2 + 0.5*m*v^2            0.5*m*(u^2 + v^2)
//
// No number is changed: one that is written may be left out where it is equal to another, or is the 2 of a square. What
// none of these fits is given back as it is, to the last bit.
Expression spelled(const Expression& formula, const std::set<std::string>& positive);

}  // namespace nalm
