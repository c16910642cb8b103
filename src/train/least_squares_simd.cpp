// Compiled once per instruction set; see train/least_squares_kernels.hpp.
#include "train/least_squares_kernels.hpp"

#include "simd/functions.hpp"

namespace nalm::simd::NALM_TARGET {

struct NormalEquations {
  using T = Lanes<double>;
  static constexpr int L = static_cast<int>(T::count);

  static T at(const double* p, int k) { return T::load(p + k * L); }
  static void set(double* p, int k, T value) { value.store(p + k * L); }

  static void accumulate(const double* jacobian, const double* residuals, const double* free, int samples,
                         int parameters, double* matrix, double* gradient) {
    int entry = 0;
    for (int i = 0; i < parameters; ++i) {
      const T switched = at(free, i);
      for (int j = 0; j <= i; ++j, ++entry) {
        T sum = 0.0;
        for (int s = 0; s < samples; ++s) sum += at(jacobian, s * parameters + i) * at(jacobian, s * parameters + j);
        set(matrix, entry, at(matrix, entry) + sum * (switched * at(free, j)));
      }
      T sum = 0.0;
      for (int s = 0; s < samples; ++s) sum += at(jacobian, s * parameters + i) * at(residuals, s);
      set(gradient, i, at(gradient, i) + sum * switched);
    }
  }

  // Cholesky. Rounding can make a pivot vanish or negative; it is kept at a trifle of the diagonal, which only
  // shortens the step along a direction that the data say nothing about.
  static void solve(const double* matrix, const double* gradient, const double* damping, int parameters,
                    double* scratch, double* step) {
    const T factor = 1.0 + at(damping, 0);
    const auto row = [](int i) { return i * (i + 1) / 2; };
    for (int i = 0; i < parameters; ++i) {
      const T diagonal = at(matrix, row(i) + i);
      for (int j = 0; j <= i; ++j) {
        T sum = at(matrix, row(i) + j);
        if (i == j) sum = sum * factor;
        for (int k = 0; k < j; ++k) sum -= at(scratch, row(i) + k) * at(scratch, row(j) + k);
        if (i == j) {
          const T pivot = sqrt(max(1e-14 * diagonal, sum));
          set(scratch, row(i) + i, where(diagonal > 0.0, pivot, 1.0));
        } else {
          set(scratch, row(i) + j, sum / at(scratch, row(j) + j));
        }
      }
    }
    for (int i = 0; i < parameters; ++i) {
      T sum = -at(gradient, i);
      for (int k = 0; k < i; ++k) sum -= at(scratch, row(i) + k) * at(step, k);
      set(step, i, sum / at(scratch, row(i) + i));
    }
    for (int i = parameters; i-- > 0;) {
      T sum = at(step, i);
      for (int k = i + 1; k < parameters; ++k) sum -= at(scratch, row(k) + i) * at(step, k);
      set(step, i, sum / at(scratch, row(i) + i));
    }
  }
};

}  // namespace nalm::simd::NALM_TARGET

#define NALM_JOIN_2(a, b) a##b
#define NALM_JOIN(a, b) NALM_JOIN_2(a, b)

namespace nalm {

extern const LeastSquaresKernels NALM_JOIN(least_squares_, NALM_TARGET);
constinit const LeastSquaresKernels NALM_JOIN(least_squares_, NALM_TARGET) = {
    simd::NALM_TARGET::NormalEquations::accumulate, simd::NALM_TARGET::NormalEquations::solve};

}  // namespace nalm
