// Operations, carried out.
#pragma once

#include <cmath>

#include "nalm/module.hpp"

namespace nalm {

// Those of the modules, and what can be asked of one number.
enum class SubsetOperation { Add, Subtract, Multiply, Divide, Square, Root };

// T is a number, or the lanes of an instruction set.
template <class T>
T apply(SubsetOperation operation, T a, T b) {
  using std::sqrt;
  switch (operation) {
    case SubsetOperation::Add:
      return a + b;
    case SubsetOperation::Subtract:
      return a - b;
    case SubsetOperation::Multiply:
      return a * b;
    case SubsetOperation::Divide:
      return a / b;
    case SubsetOperation::Square:
      return a * a;
    case SubsetOperation::Root:
      return sqrt(a);
  }
  return a;
}
inline double apply(Operation operation, double a, double b) {
  return apply(static_cast<SubsetOperation>(operation), a, b);
}

}  // namespace nalm
