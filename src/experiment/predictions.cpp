#include "experiment/predictions.hpp"

#include <fmt/format.h>

#include <cmath>

namespace nalm {

// Distances are taken from the first value, so that constants give exactly 0.
double correlation(std::span<const double> a, std::span<const double> b) {
  const double n = static_cast<double>(a.size());
  double sum_a = 0, sum_b = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum_a += a[k] - a[0], sum_b += b[k] - b[0];
  double aa = 0, bb = 0, ab = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double da = a[k] - a[0] - sum_a / n, db = b[k] - b[0] - sum_b / n;
    aa += da * da;
    bb += db * db;
    ab += da * db;
  }
  return ab / (std::sqrt(aa) * std::sqrt(bb));
}

double mean_relative_error(std::span<const double> predictions, std::span<const double> targets) {
  double sum = 0, count = 0;
  for (std::size_t k = 0; k < targets.size(); ++k) {
    if (targets[k] == 0) continue;
    sum += std::abs((predictions[k] - targets[k]) / targets[k]);
    ++count;
  }
  return sum / count;
}

Result<double> predicted_measure(const Cell& cell, const RunRecord& record, std::size_t row, std::uint32_t seed,
                                 Criterion::Kind kind) {
  const Result<Model> model = model_at(cell, record, row);
  if (!model) return model.error();
  std::shared_ptr<const Rows> rows = cell.problem ? cell.problem->test_rows(seed) : nullptr;
  if (!rows && cell.data) {
    const std::optional<std::size_t> judged = cell.position(cell.goal.measure);
    rows = std::make_shared<Rows>(cell.data(seed)->set(judged ? cell.measures[*judged].set : 0));
  }
  if (!rows) return Error{fmt::format("{} has no rows to predict.", cell.name())};
  const Result<std::vector<double>> predictions = predict(*model, rows->x, cell.precision);
  if (!predictions) return predictions.error();
  return kind == Criterion::Kind::Correlation ? correlation(*predictions, rows->t)
                                              : mean_relative_error(*predictions, rows->t);
}

}  // namespace nalm
