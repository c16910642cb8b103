// The functions a module's forward and backward may use on its number type T.
//
// T is one of three: SIMD lanes (training and prediction), Expression (the formula that the weights spell) or double
// (`nalm explain`). Lanes and Expression bring their functions along; this header has those for double.
//
//   + - * /  exp log sqrt abs sign  min max (the plain number first)   on all three
//   negative(x)       1 where x < 0, else 0                             on all three
//   tanh sigmoid      accurate: for weights, once per iteration         on all three
//   tanh(x, k) sigmoid(x, k)   of k*x                                   lanes, double
//   asin acos         NaN outside of [-1, 1]                            on all three
//   sigmoid_fast      for gates, once per sample                        on all three
//   sin cos sincos    sincos gives both for the price of one            lanes, double; sin and cos on all
//   where(c, a, b), comparisons                                         lanes, double
#pragma once

#include <array>
#include <cmath>
#include <iterator>
#include <type_traits>
#include <utility>

#include "nalm/detail/portable.hpp"
#include "nalm/expression.hpp"
#include "nalm/module.hpp"

namespace nalm::modules {

// Where array number k of a table begins. Options are asked for where a parameter depends on one.
template <const auto& table, class Options>
constexpr int first_of(std::size_t array, int inputs, int outputs, int paths, Options options) {
  int first = 0;
  for (std::size_t k = 0; k < array; ++k) {
    if constexpr (requires { table[k].condition; }) {
      const Condition c = table[k].condition;
      if (c.option >= 0 && options(static_cast<std::size_t>(c.option)) != c.value) continue;
    }
    first += size_of(table[k].axes, inputs, outputs, paths);
  }
  return first;
}
template <const auto& table>
constexpr bool depends_on_options() {
  if constexpr (requires { table[0].condition; }) {
    for (const auto& entry : table)
      if (entry.condition.option >= 0) return true;
  }
  return false;
}

// Where each array of a table begins: auto [W, b] = unpack<parameters>(s, p). Absent parameters take no room. Modules
// with paths say how many.
template <const auto& table, class Shape, class T>
auto unpack(const Shape& s, T* begin, int paths = 0) {
  return [&]<std::size_t... k>(std::index_sequence<k...>) {
    if constexpr (!depends_on_options<table>() && requires { Shape::is_known; }) {
      // Constants from the start: otherwise arrays of a shape that the compiler knows do not become registers.
      constexpr auto none = [](std::size_t) { return 0.0; };
      return std::array<T*, sizeof...(k)>{
          begin + std::integral_constant<int, first_of<table>(k, Shape::inputs, Shape::outputs, 0, none)>::value...};
    } else {
      const auto option = [&](std::size_t o) { return s.options[o]; };
      return std::array<T*, sizeof...(k)>{begin + first_of<table>(k, s.inputs, s.outputs, paths, option)...};
    }
  }
  (std::make_index_sequence<std::size(table)>());
}

// sum_i x_i W_io, and its gradient: d is that of the sum.
template <class T, class Shape>
T weighted_sum(const Shape& s, const T* x, const T* W, int o) {
  T sum = x[0] * W[o];
  for (int i = 1; i < s.inputs; ++i) sum += x[i] * W[i * s.outputs + o];
  return sum;
}
template <class T, class Shape>
void weighted_sum_back(const Shape& s, const T* x, const T* W, int o, const T& d, T* dx, T* dW) {
  for (int i = 0; i < s.inputs; ++i) {
    dW[i * s.outputs + o] += d * x[i];
    if (dx) dx[i] += d * W[i * s.outputs + o];
  }
}

// sum_i x_i W_io with discrete weights, as a formula.
inline Expression snapped_sum(Readout& r, int o, std::string_view W = "W") {
  Expression sum = 0.0;
  for (int i = 0; i < r.inputs(); ++i) sum += r.snapped(W, i, o) * r.x(i);
  return sum;
}

// y_o = sum_i x_i W_io, of modules whose effective weights begin with W.
struct WeightedSum {
  template <class T, class Shape>
  static void forward(const Shape& s, const T* /*p*/, const T* W, const T* x, T* y, T* /*step*/) {
    for (int o = 0; o < s.outputs; ++o) y[o] = weighted_sum(s, x, W, o);
  }

  template <class T, class Shape>
  static void backward(const Shape& s, const T* /*p*/, const T* W, const T* x, const T* /*y*/, const T* /*step*/,
                       const T* dy, T* dx, T* /*dp*/, T* dW) {
    for (int o = 0; o < s.outputs; ++o) weighted_sum_back(s, x, W, o, dy[o], dx, dW);
  }

  static Expression ideal(Readout& r, int o) { return snapped_sum(r, o); }
};

// Matrices that are used as they are.
template <int matrices>
struct RawMatrices {
  template <class T, class Shape>
  static void weights(const Shape& s, const T* p, T* w) {
    for (int k = 0; k < matrices * s.inputs * s.outputs; ++k) w[k] = p[k];
  }

  template <class T, class Shape>
  static void pull_back(const Shape& s, const T* /*p*/, const T* /*w*/, const T* dw, T* dp) {
    for (int k = 0; k < matrices * s.inputs * s.outputs; ++k) dp[k] += dw[k];
  }
};

inline double exp(double x) { return portable::exp(x); }
inline double log(double x) { return portable::log(x); }
inline double sqrt(double x) { return std::sqrt(x); }
inline double abs(double x) { return std::fabs(x); }
inline double sin(double x) { return portable::sin(x); }
inline double cos(double x) { return portable::cos(x); }
inline double asin(double x) { return portable::asin(x); }
inline double acos(double x) { return portable::acos(x); }
inline double tanh(double x) { return portable::tanh(x); }
inline double tanh(double x, double scale) { return portable::tanh(scale * x); }
inline double sigmoid(double x) { return 1 / (1 + portable::exp(-x)); }
inline double sigmoid(double x, double scale) { return sigmoid(scale * x); }
inline double sigmoid_fast(double x) { return sigmoid(x); }
inline double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x * 0; }
inline double negative(double x) { return x < 0 ? 1 : 0; }
// As on lanes: the second operand when either is NaN.
inline double min(double a, double b) { return a < b ? a : b; }
inline double max(double a, double b) { return a > b ? a : b; }
inline double where(bool condition, double yes, double no) { return condition ? yes : no; }

inline Expression sigmoid_fast(const Expression& x) { return sigmoid(x); }

struct SinCosDouble {
  double sin, cos;
};
inline SinCosDouble sincos(double x) { return {portable::sin(x), portable::cos(x)}; }

struct SinCosExpression {
  Expression sin, cos;
};
inline SinCosExpression sincos(const Expression& x) { return {sin(x), cos(x)}; }

// y = exp(exponent) cos(angle), and what its gradient needs.
template <class T>
void real_part(const T& exponent, const T& angle, T& size, T& sine, T& y) {
  const auto circle = sincos(angle);
  size = exp(exponent);
  sine = circle.sin;
  y = size * circle.cos;
}

}  // namespace nalm::modules
