// The tree as people write it: what print() and the exports write out.
#pragma once

#include <optional>

#include "nalm/expression.hpp"

namespace nalm::formula {

// Whether the number is written with a minus sign: -0 is, but the sign of nan has no meaning here.
bool is_negative(double value);
bool is_negative_constant(const Expression& e);

// Where the minus sign of a fraction goes: -1/3 in a line of text, but in front of the whole fraction in print.
enum class Minus { InNumerator, InFront };

// The number as an operation that would fold to exactly this number, if people would rather read that: a fraction that
// has no short decimal, 4/3, or a multiple of pi, 2*pi or 1/(4*pi).
std::optional<Expression> simple_number(double value);

// An expression with the same bits of its value: a - 2*b for a + -2*b, -a for -1*a, and simple numbers spelled out.
// The operations of simple numbers have constant operands, which the operators of Expression would never leave.
Expression readable(const Expression& expression, Minus minus);

}  // namespace nalm::formula
