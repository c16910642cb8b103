#include "numeric/linear_algebra.hpp"

#include <cmath>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>

#include "simd/vectors.hpp"

namespace nalm::numeric {

namespace {

using Dense = Eigen::MatrixXd;
using View = Eigen::Map<const Dense>;
using VectorView = Eigen::Map<const Eigen::VectorXd>;

View view(const Matrix& m) {
  return {m.values.data(), static_cast<Eigen::Index>(m.rows), static_cast<Eigen::Index>(m.columns)};
}
VectorView view(const Vector& v) { return {v.data(), static_cast<Eigen::Index>(v.size())}; }
Vector plain(const Eigen::VectorXd& v) { return {v.data(), v.data() + v.size()}; }

// A'A and A'b. Without vector instructions Eigen takes four times as long for these.
Dense squares_of(const Matrix& A) {
  const auto n = static_cast<Eigen::Index>(A.columns);
  Dense result(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const double* left = A.column(static_cast<std::size_t>(i));
    for (Eigen::Index j = 0; j <= i; ++j) {
      result(i, j) = result(j, i) = dot(left, A.column(static_cast<std::size_t>(j)), A.rows);
    }
  }
  return result;
}
Eigen::VectorXd columns_times(const Matrix& A, const Vector& b) {
  Eigen::VectorXd result(static_cast<Eigen::Index>(A.columns));
  for (std::size_t c = 0; c < A.columns; ++c) result(static_cast<Eigen::Index>(c)) = dot(A.column(c), b.data(), A.rows);
  return result;
}

}  // namespace

double dot(const double* a, const double* b, std::size_t n) { return simd::vector_kernels().dot(a, b, n); }

void add(double* to, double times, const double* v, std::size_t n) { simd::vector_kernels().add(to, times, v, n); }

bool all_finite(std::span<const double> values) {
  for (const double value : values) {
    if (!std::isfinite(value)) return false;
  }
  return true;
}

void take_away(Vector& v, const Vector& q) { add(v, -dot(q, v), q); }

Vector residuals(const Matrix& A, const Vector& b, const Vector& x) {
  Vector rest = b;
  for (std::size_t c = 0; c < A.columns; ++c) add(rest.data(), -x[c], A.column(c), A.rows);
  return rest;
}

Vector normalise_columns(Matrix& A) {
  Vector lengths(A.columns, 1.0);
  for (std::size_t c = 0; c < A.columns; ++c) {
    const double length = std::sqrt(dot(A.column(c), A.column(c), A.rows));
    if (!(length > 0)) continue;
    lengths[c] = length;
    for (std::size_t r = 0; r < A.rows; ++r) A(r, c) /= length;
  }
  return lengths;
}

const Vector* Basis::add(Vector v) {
  const double before = dot(v, v);
  for (int pass = 0; pass < 2; ++pass) {  // once more for what rounding left
    for (const Vector& q : vectors_) take_away(v, q);
  }
  const double length = std::sqrt(dot(v, v));
  if (!(length * length > 1e-14 * before)) return nullptr;
  for (double& x : v) x /= length;
  vectors_.push_back(std::move(v));
  return &vectors_.back();
}

Vector least_squares(const Matrix& A, const Vector& b) {
  const Eigen::ColPivHouseholderQR<Dense> qr(view(A));
  return plain(qr.solve(view(b)));
}

Vector damped_least_squares(const Matrix& A, const Vector& b, double damping) {
  Dense normal = squares_of(A);
  normal.diagonal().array() += damping;
  return plain(normal.ldlt().solve(columns_times(A, b)));
}

Vector uncertainties(const Matrix& A) {
  const Dense normal = squares_of(A);
  const Dense inverse = normal.ldlt().solve(Dense::Identity(normal.rows(), normal.cols()));
  return plain(inverse.diagonal());
}

Matrix inverse_of_squares(const Matrix& A) {
  const Dense normal = squares_of(A);
  const Dense inverse = normal.ldlt().solve(Dense::Identity(normal.rows(), normal.cols()));
  Matrix result(A.columns, A.columns);
  std::copy(inverse.data(), inverse.data() + inverse.size(), result.values.begin());
  return result;
}

std::optional<SmallestRatio> smallest_ratio(const Matrix& A, const Matrix& B) {
  const Eigen::GeneralizedSelfAdjointEigenSolver<Dense> solver(view(A), view(B));
  if (solver.info() != Eigen::Success) return std::nullopt;
  SmallestRatio result{solver.eigenvalues()(0), plain(solver.eigenvectors().col(0))};
  if (!all_finite(result.x)) return std::nullopt;
  return result;
}

}  // namespace nalm::numeric
