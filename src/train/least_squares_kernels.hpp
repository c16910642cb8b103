// The linear algebra of train/least_squares.hpp. Compiled per instruction set; matrices are the lower triangle, row by
// row, in lane layout.
#pragma once

#include "simd/compiled_targets.hpp"

namespace nalm {

struct LeastSquaresKernels {
  // matrix += J^T J, gradient += J^T r, over so many samples; jacobian is [sample][parameter], and free (1 or 0)
  // switches parameters off.
  void (*accumulate)(const double* jacobian, const double* residuals, const double* free, int samples, int parameters,
                     double* matrix, double* gradient);
  // step = -(matrix + damping * diagonal)^-1 gradient; scratch has room for another matrix. A parameter that has no
  // influence does not move.
  void (*solve)(const double* matrix, const double* gradient, const double* damping, int parameters, double* scratch,
                double* step);
};
const LeastSquaresKernels& least_squares_kernels(int target_index);

}  // namespace nalm
