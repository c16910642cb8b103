// The ladder of the search: which stacks are trained, from one module to three layers, and in which order.
#pragma once

#include <vector>

#include "fit/data.hpp"

namespace nalm::fitting {

// One kind of stack. Columns pass through NRU-power (products), Linear (sums with constants) and so on:
//   Product  NRU-power:1, Linear:1                    c * a^p * b^q
//   Sum      NRU-power:K, Linear:1                    sums of products
//   Power    NRU-power:K, Linear:1, NRU-power:1       roots and reciprocals of sums of products
//   Ratio    NRU-power:K, Linear:2, NRU-power:1       ratios of sums of products
//   Factor   NRU-power:K+4, Linear:3, NRU-power:1     sums of products, times a product, times a power of a simple sum
//   Nested   Linear:J, NRU-power:K, Linear:1          sums of products of sums
// Line, Quadratic and Rational (fit/polynomials.hpp) need no training: they are linear least squares.
struct Rung {
  enum class Kind { Line, Product, Sum, Power, Ratio, Factor, Nested, Quadratic, Rational };
  Kind kind = Kind::Sum;
  int terms = 1;  // products of columns; Nested: products of sums
  int restarts = 16;
  double power = 1;  // of the target that is a sum or a ratio
  int below = 0;     // Ratio: further products in the denominator, besides 1
  int inner = 0;     // Nested: sums

  bool is_linear() const { return kind == Kind::Line || kind == Kind::Quadratic || kind == Kind::Rational; }
};

using Wave = std::vector<Rung>;

// Waves of growing size.
std::vector<Wave> ladder(const Data& data, Powers powers);

// What is found quickly: products, small stacks, and larger ones that are linear least squares.
std::vector<Wave> simple_ladder(const Data& data, Powers powers);

}  // namespace nalm::fitting
