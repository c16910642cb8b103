// Small dense problems of least squares. Eigen solves them, in linear_algebra.cpp alone: its headers take long to
// compile.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace nalm::numeric {

using Vector = std::vector<double>;

// Column by column.
struct Matrix {
  std::size_t rows = 0, columns = 0;
  Vector values;

  Matrix() = default;
  Matrix(std::size_t r, std::size_t c) : rows(r), columns(c), values(r * c, 0.0) {}
  double& operator()(std::size_t r, std::size_t c) { return values[c * rows + r]; }
  double operator()(std::size_t r, std::size_t c) const { return values[c * rows + r]; }
  double* column(std::size_t c) { return values.data() + c * rows; }
  const double* column(std::size_t c) const { return values.data() + c * rows; }
};

double dot(const double* a, const double* b, std::size_t n);
inline double dot(const Vector& a, const Vector& b) { return dot(a.data(), b.data(), a.size()); }
// to += times * v
void add(double* to, double times, const double* v, std::size_t n);
inline void add(Vector& to, double times, const Vector& v) { add(to.data(), times, v.data(), v.size()); }
bool all_finite(std::span<const double> values);

// v without its part along the unit vector q.
void take_away(Vector& v, const Vector& q);

// b - A x
Vector residuals(const Matrix& A, const Vector& b, const Vector& x);

// Columns to length 1; gives the lengths. A column of zeros stays, with the length 1.
Vector normalise_columns(Matrix& A);

// Unit vectors at right angles to each other, one by one, as Gram and Schmidt make them.
class Basis {
 public:
  // The direction that v adds, or nothing if the others span it already.
  const Vector* add(Vector v);
  void clear() { vectors_.clear(); }

 private:
  std::vector<Vector> vectors_;
};

// The x for which A x is closest to b; the shortest of them where several are.
Vector least_squares(const Matrix& A, const Vector& b);

// (A^T A + damping I)^-1 A^T b
Vector damped_least_squares(const Matrix& A, const Vector& b, double damping);

// The diagonal of (A^T A)^-1: how uncertain each x is, in units of the variance of b.
Vector uncertainties(const Matrix& A);

// All of (A^T A)^-1.
Matrix inverse_of_squares(const Matrix& A);

// The smallest value of x^T A x / x^T B x, and its x; none if that is not finite. A and B are small and symmetric.
struct SmallestRatio {
  double ratio;
  Vector x;
};
std::optional<SmallestRatio> smallest_ratio(const Matrix& A, const Matrix& B);

}  // namespace nalm::numeric
