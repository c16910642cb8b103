// Expressions with some of their parts replaced.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "nalm/expression.hpp"

namespace nalm {

// The expression with f(part) in place of every part for which f has something. Operands are asked before what they are
// operands of; what f is asked for has its old operands.
Expression rewrite(const Expression& root, const std::function<std::optional<Expression>(const Expression&)>& f);

// Without a minus at the beginning where that is possible: -(-(a*b) + c) and -c + a*b are a*b - c, to the last bit.
Expression with_plain_signs(const Expression& root);

// With constants of at most so many significant digits, for people.
Expression in_digits(const Expression& root, int digits);

}  // namespace nalm
