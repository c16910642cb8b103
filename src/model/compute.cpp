// Predictions and gradients of a model.

#include <fmt/format.h>

#include "nalm/model.hpp"
#include "train/network.hpp"

namespace nalm {

namespace {

Result<std::size_t> count_rows(std::span<const double> values, int columns, const char* what) {
  if (values.size() % static_cast<std::size_t>(columns) != 0) {
    return Error{fmt::format("{} numbers are not whole rows of {} {}.", values.size(), columns, what)};
  }
  return values.size() / static_cast<std::size_t>(columns);
}

template <class S>
Network<S> same_in_every_lane(const Model& model) {
  Network<S> network(model.stack(), simd::active_target());
  for (int lane = 0; lane < network.lanes(); ++lane) {
    for (int k = 0; k < network.layer_count(); ++k) {
      network.set_parameters(lane, k, model.layers[static_cast<std::size_t>(k)].parameters);
    }
  }
  network.update_weights();
  return network;
}

// One model and many rows: here a lane is a row.
template <class S>
std::vector<double> predict_rows(const Model& model, std::span<const double> rows, std::size_t count) {
  Network<S> network = same_in_every_lane<S>(model);
  const std::size_t lanes = static_cast<std::size_t>(network.lanes()),
                    inputs = static_cast<std::size_t>(model.inputs()),
                    outputs = static_cast<std::size_t>(model.outputs());
  constexpr std::size_t block = 256;  // samples at a time, each a row per lane
  AlignedVector<S> x(block * inputs * lanes), y(block * outputs * lanes);
  std::vector<double> result(count * outputs);
  for (std::size_t first = 0; first < count; first += block * lanes) {
    const std::size_t here = std::min(block * lanes, count - first), samples = (here + lanes - 1) / lanes;
    for (std::size_t r = 0; r < samples * lanes; ++r) {
      const std::size_t row = first + std::min(r, here - 1);  // lanes left over repeat the last row
      for (std::size_t i = 0; i < inputs; ++i) {
        x[((r / lanes) * inputs + i) * lanes + r % lanes] = static_cast<S>(rows[row * inputs + i]);
      }
    }
    network.predict(x.data(), y.data(), static_cast<int>(samples));
    for (std::size_t r = 0; r < here; ++r) {
      for (std::size_t o = 0; o < outputs; ++o) {
        result[(first + r) * outputs + o] = y[((r / lanes) * outputs + o) * lanes + r % lanes];
      }
    }
  }
  return result;
}

// All rows in sequence, alike in every lane, so that the order of the sums does not depend on the SIMD target.
template <class S>
Gradients gradients_of_rows(const Model& model, std::span<const double> rows, std::span<const double> targets,
                            std::size_t count) {
  Network<S> network = same_in_every_lane<S>(model);
  const std::size_t lanes = static_cast<std::size_t>(network.lanes()),
                    inputs = static_cast<std::size_t>(model.inputs()),
                    outputs = static_cast<std::size_t>(model.outputs());
  constexpr std::size_t block = 256;
  AlignedVector<S> x(block * inputs * lanes), t(block * outputs * lanes);
  std::vector<double> sums(lanes);
  const double n = static_cast<double>(count * outputs);
  Gradients result;
  AlignedVector<S> dx;
  const auto take_rows = [&](std::size_t first, std::size_t samples) {
    for (std::size_t k = 0; k < samples * inputs * lanes; ++k) x[k] = static_cast<S>(rows[first * inputs + k / lanes]);
    for (std::size_t k = 0; k < samples * outputs * lanes; ++k)
      t[k] = static_cast<S>(targets[first * outputs + k / lanes]);
  };
  for (std::size_t first = 0; first < count; first += block) {
    const std::size_t samples = std::min(block, count - first);
    take_rows(first, samples);
    dx.assign(samples * inputs * lanes, S(0));
    network.input_gradients(x.data(), t.data(), static_cast<int>(samples), 2 / n, dx.data());
    for (std::size_t k = 0; k < samples * inputs; ++k) result.inputs.push_back(static_cast<double>(dx[k * lanes]));
  }
  network.clear_gradients();
  for (std::size_t first = 0; first < count; first += block) {
    const std::size_t samples = std::min(block, count - first);
    take_rows(first, samples);
    network.squared_error(x.data(), t.data(), static_cast<int>(samples), sums);
    result.mse += sums[0] / n;
    network.learn(x.data(), t.data(), static_cast<int>(samples), 2 / n);
  }
  network.pull_back();
  for (int k = 0; k < network.layer_count(); ++k) result.layers.push_back(network.gradients(0, k));
  return result;
}

}  // namespace

Result<std::vector<double>> predict(const Model& model, std::span<const double> rows, Precision precision) {
  if (Status whole = check_model(model); !whole) return whole.error();
  const Result<std::size_t> count = count_rows(rows, model.inputs(), "inputs");
  if (!count) return count.error();
  return precision == Precision::Float ? predict_rows<float>(model, rows, *count)
                                       : predict_rows<double>(model, rows, *count);
}

Result<Gradients> gradients(const Model& model, std::span<const double> rows, std::span<const double> targets,
                            Precision precision) {
  if (Status whole = check_model(model); !whole) return whole.error();
  const Result<std::size_t> count = count_rows(rows, model.inputs(), "inputs");
  if (!count) return count.error();
  const Result<std::size_t> target_count = count_rows(targets, model.outputs(), "targets");
  if (!target_count) return target_count.error();
  if (*count != *target_count || *count == 0) {
    return Error{fmt::format("{} rows of inputs need as many rows of targets, not {}.", *count, *target_count)};
  }
  return precision == Precision::Float ? gradients_of_rows<float>(model, rows, targets, *count)
                                       : gradients_of_rows<double>(model, rows, targets, *count);
}

}  // namespace nalm
