// Levenberg-Marquardt for a bundle of runs: one run per SIMD lane, each with its own rows, start and free parameters.
//
// Trainings of formulas are small (tens of parameters, hundreds of rows) and need many digits: near a solution this
// doubles the number of correct digits with every step, where Adam would take thousands of steps for each. The modules
// are the same; only what happens with their gradients differs.
//
// Eigen and Ceres solve one problem at a time; here the normal equations of all lanes are solved in lockstep, so the
// hundred lines of it are written out in least_squares_simd.cpp.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "train/least_squares_kernels.hpp"
#include "train/network.hpp"

namespace nalm {

// For networks with one output.
class LeastSquares {
 public:
  LeastSquares(const Stack& stack, int rows, const simd::Target& target);

  int lanes() const { return network_.lanes(); }
  int parameter_count() const { return parameters_; }
  int rows() const { return rows_; }

  // rows x inputs, row-major, rows targets, and what each row's error is multiplied with; all 1 if there is nothing.
  void set_data(int lane, std::span<const double> x, std::span<const double> targets,
                std::span<const double> weights = {});
  // All layers' parameters one after the other; free: which of them may move.
  void set_run(int lane, std::span<const double> parameters, std::span<const std::uint8_t> free);

  // Up to so many steps; lanes that have converged stand still, and those that crawl along above an error of no
  // interest.
  void minimise(int steps, double no_interest = std::numeric_limits<double>::infinity());

  std::vector<double> parameters(int lane) const;
  double mse(int lane) const { return error_[static_cast<std::size_t>(lane)]; }  // as of the last minimise()

 private:
  std::size_t at(int value) const { return static_cast<std::size_t>(value) * lanes_; }
  void write_parameters(const AlignedVector<double>& values);
  void measure(AlignedVector<double>& errors);
  void accumulate();

  Network<double> network_;
  const LeastSquaresKernels& kernels_;
  std::size_t lanes_;
  int rows_, parameters_;
  AlignedVector<double> x_, targets_;            // [row][input][lane], [row][lane]
  AlignedVector<double> weights_;                // [row][lane]; empty: all 1
  AlignedVector<double> values_, trial_, free_;  // [parameter][lane]
  AlignedVector<double> matrix_, scratch_, gradient_, step_;
  AlignedVector<double> y_, residuals_, jacobian_;       // of one tile
  AlignedVector<double> damping_, error_, trial_error_;  // per lane
};

}  // namespace nalm
