#include "train/least_squares.hpp"

#include <algorithm>
#include <cmath>

namespace nalm {

#define NALM_DECLARE_LEAST_SQUARES(target) extern const LeastSquaresKernels least_squares_##target;
NALM_FOR_EACH_TARGET(NALM_DECLARE_LEAST_SQUARES)
#define NALM_LEAST_SQUARES(target) &least_squares_##target,

const LeastSquaresKernels& least_squares_kernels(int target_index) {
  static constexpr const LeastSquaresKernels* tables[] = {NALM_FOR_EACH_TARGET(NALM_LEAST_SQUARES)};
  return *tables[static_cast<std::size_t>(target_index)];
}

namespace {

constexpr int tile = Network<double>::tile;

// Damping: small means a full Newton step, large means a short step downhill.
constexpr double first_damping = 1e-2, smallest_damping = 1e-10, largest_damping = 1e12;
constexpr double after_success = 0.2, after_failure = 4;

// A step that gains less than this share of the error is the last one.
constexpr double least_gain = 1e-9, least_gain_far_away = 1e-3;

}  // namespace

LeastSquares::LeastSquares(const Stack& stack, int rows, const simd::Target& target)
    : network_(stack, target),
      kernels_(least_squares_kernels(target.index)),
      lanes_(static_cast<std::size_t>(network_.lanes())),
      rows_(rows),
      parameters_(0) {
  for (int k = 0; k < network_.layer_count(); ++k) parameters_ += network_.values(k).count;
  x_.resize(at(rows * network_.inputs()));
  targets_.resize(at(rows));
  for (AlignedVector<double>* v : {&values_, &trial_, &free_, &gradient_, &step_}) v->resize(at(parameters_));
  for (AlignedVector<double>* v : {&matrix_, &scratch_}) v->resize(at(parameters_ * (parameters_ + 1) / 2));
  for (AlignedVector<double>* v : {&y_, &residuals_}) v->resize(at(tile));
  jacobian_.resize(at(tile * parameters_));
  for (AlignedVector<double>* v : {&damping_, &error_, &trial_error_}) v->resize(lanes_);
}

void LeastSquares::set_data(int lane, std::span<const double> x, std::span<const double> targets,
                            std::span<const double> weights) {
  const std::size_t l = static_cast<std::size_t>(lane);
  for (std::size_t k = 0; k < x.size(); ++k) x_[k * lanes_ + l] = x[k];
  for (std::size_t k = 0; k < targets.size(); ++k) targets_[k * lanes_ + l] = targets[k];
  if (!weights.empty() && weights_.empty()) weights_.assign(targets_.size(), 1.0);
  for (std::size_t k = 0; k < weights.size(); ++k) weights_[k * lanes_ + l] = weights[k];
}

void LeastSquares::set_run(int lane, std::span<const double> parameters, std::span<const std::uint8_t> free) {
  const std::size_t l = static_cast<std::size_t>(lane);
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    values_[k * lanes_ + l] = parameters[k];
    free_[k * lanes_ + l] = free[k] ? 1 : 0;
  }
}

void LeastSquares::write_parameters(const AlignedVector<double>& values) {
  const double* next = values.data();
  for (int k = 0; k < network_.layer_count(); ++k) {
    const auto layer = network_.values(k);
    std::copy_n(next, at(layer.count), layer.parameters);
    next += at(layer.count);
  }
  network_.update_weights();
}

void LeastSquares::measure(AlignedVector<double>& errors) {
  if (weights_.empty()) {
    network_.squared_error(x_.data(), targets_.data(), rows_, errors);
  } else {
    std::fill(errors.begin(), errors.end(), 0.0);
    for (int first = 0; first < rows_; first += tile) {
      const int count = std::min(tile, rows_ - first);
      network_.predict(x_.data() + at(first * network_.inputs()), y_.data(), count);
      for (std::size_t k = 0; k < at(count); ++k) {
        const double error = (y_[k] - targets_[at(first) + k]) * weights_[at(first) + k];
        errors[k % lanes_] += error * error;
      }
    }
  }
  for (double& e : errors) e /= rows_;
}

void LeastSquares::accumulate() {
  std::fill(matrix_.begin(), matrix_.end(), 0.0);
  std::fill(gradient_.begin(), gradient_.end(), 0.0);
  for (int first = 0; first < rows_; first += tile) {
    const int count = std::min(tile, rows_ - first);
    network_.output_gradients(x_.data() + at(first * network_.inputs()), count, y_.data(), jacobian_.data());
    const double* targets = targets_.data() + at(first);
    for (std::size_t k = 0; k < at(count); ++k) residuals_[k] = y_[k] - targets[k];
    for (std::size_t k = 0; !weights_.empty() && k < at(count); ++k) {
      const double weight = weights_[at(first) + k];
      residuals_[k] *= weight;
      const std::size_t sample = k / lanes_, lane = k % lanes_;
      double* slopes = jacobian_.data() + at(static_cast<int>(sample) * parameters_) + lane;
      for (int p = 0; p < parameters_; ++p) slopes[at(p)] *= weight;
    }
    kernels_.accumulate(jacobian_.data(), residuals_.data(), free_.data(), count, parameters_, matrix_.data(),
                        gradient_.data());
  }
}

void LeastSquares::minimise(int steps, double no_interest) {
  std::fill(damping_.begin(), damping_.end(), first_damping);
  std::vector<std::uint8_t> resting(lanes_, 0);
  std::vector<int> failures(lanes_, 0);
  write_parameters(values_);
  measure(error_);
  for (int k = 0; k < steps; ++k) {
    write_parameters(values_);
    accumulate();
    kernels_.solve(matrix_.data(), gradient_.data(), damping_.data(), parameters_, scratch_.data(), step_.data());
    for (std::size_t i = 0; i < trial_.size(); ++i) trial_[i] = values_[i] + step_[i] * free_[i];
    write_parameters(trial_);
    measure(trial_error_);
    bool all_rest = true;
    for (std::size_t l = 0; l < lanes_; ++l) {
      if (resting[l]) continue;
      // A start without a finite error takes any step that has one. NaN is never smaller.
      const bool better = trial_error_[l] < error_[l] || (!std::isfinite(error_[l]) && std::isfinite(trial_error_[l]));
      if (better) {
        const double gain = error_[l] - trial_error_[l];
        // At the level of rounding, small gains go on for ever.
        const double least = trial_error_[l] > no_interest ? least_gain_far_away : least_gain;
        if (gain < least * error_[l]) resting[l] = 1;
        error_[l] = trial_error_[l];
        for (int p = 0; p < parameters_; ++p) values_[at(p) + l] = trial_[at(p) + l];
        damping_[l] = std::max(smallest_damping, damping_[l] * after_success);
        failures[l] = 0;
      } else {
        damping_[l] = std::min(largest_damping, damping_[l] * after_failure);
        if (++failures[l] > 12 || !std::isfinite(error_[l])) resting[l] = 1;
      }
      all_rest = all_rest && resting[l];
    }
    if (all_rest) break;
  }
}

std::vector<double> LeastSquares::parameters(int lane) const {
  std::vector<double> result;
  for (int k = 0; k < parameters_; ++k) result.push_back(values_[at(k) + static_cast<std::size_t>(lane)]);
  return result;
}

}  // namespace nalm
