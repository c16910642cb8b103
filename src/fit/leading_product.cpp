#include "fit/leading_product.hpp"

#include <cmath>

#include "fit/refine.hpp"

namespace nalm::fitting {

namespace {

constexpr double most_left = 0.05, farthest_from_simple = 0.05;  // of the deviation, and of a number

}  // namespace

bool explains_nearly_all(const Found& found, const Data& data) {
  const double deviation = data.y_deviation / data.y_scale;
  return found.mse < most_left * most_left * deviation * deviation;
}

std::optional<LeadingProduct> leading_product_of(const Data& data, const std::vector<Found>& found) {
  const Found* leading = nullptr;
  for (const Found& f : found) {
    const bool product = f.form.products.size() == 1 && f.form.sums.empty();
    if (product && (!leading || f.mse < leading->mse)) leading = &f;
  }
  if (!leading || !explains_nearly_all(*leading, data)) return std::nullopt;
  LeadingProduct result{leading->form.products[0], data};
  double& coefficient = result.product.coefficient.value;
  const double simple = std::round(2 * coefficient) / 2;
  if (std::fabs(simple - coefficient) < farthest_from_simple * std::fabs(simple)) coefficient = simple;
  const Rows rows = rows_of(data, data.all, data.all.size());
  const std::optional<Linearised> errors = linearised({{}, {result.product}}, data, rows);
  if (!errors) return std::nullopt;
  for (std::size_t k = 0; k < data.all.size(); ++k)
    result.rest.y[data.all[k]] = -errors->errors[k] * data.y_scale / rows.weight_of(k);
  measure_target(result.rest);
  return result;
}

}  // namespace nalm::fitting
