#include "fit/robust.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fit/description.hpp"
#include "fit/refine.hpp"
#include "fit/tape.hpp"
#include "fit/trust.hpp"
#include "nalm/detail/portable.hpp"

namespace nalm::fitting {

namespace {

constexpr double kept_share = 0.75;             // rows that a formula is brought close to, whatever the others say
constexpr double most_left_out = 0.2;           // of the rows
constexpr double far_off = 4;                   // deviations: 1 in 16,000 rows with plain noise
constexpr double deviation_of_median = 1.4826;  // of a normal distribution, in medians of the size of its values
constexpr int rounds_of_leaving_out = 4, concentrations = 8;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<double> sizes_of_errors(const Expression& formula, const Data& data) {
  std::vector<double> sizes = predictions(formula, data);
  for (std::size_t r = 0; r < data.rows; ++r) {
    sizes[r] = std::fabs(sizes[r] - data.y[r]) * data.weight_of(r);
    if (std::isnan(sizes[r])) sizes[r] = infinity;
  }
  return sizes;
}

// A candidate with its constants fitted to the rows that it is closest to, over and over.
struct Concentrated {
  std::vector<double> sizes;  // of the errors
  double length = infinity;
};

Concentrated concentrate(const Candidate& candidate, const Data& data) {
  const std::size_t kept = static_cast<std::size_t>(std::ceil(kept_share * static_cast<double>(data.rows)));
  std::vector<double> values;
  std::vector<std::pair<std::string, double>> now;
  for (const FitConstant& c : candidate.constants) {
    if (slot_number(c.slot) != static_cast<int>(values.size())) continue;  // an exponent stays
    values.push_back(c.value);
  }
  Concentrated result{sizes_of_errors(candidate.formula, data)};
  double error = infinity;
  for (int pass = 0; pass < concentrations; ++pass) {
    std::vector<std::size_t> closest = ranked(result.sizes);
    closest.resize(kept);
    const Rows rows = rows_of(data, closest, rows_for_numbers);
    std::vector<double> moved = values;
    const std::optional<Solved> solved = solve(candidate.open_formula, moved, data, rows, 20);
    if (!solved || !(solved->mse < error)) break;
    error = solved->mse;
    values = moved;
    now.clear();
    for (std::size_t k = 0; k < values.size(); ++k) now.emplace_back(slot_name(static_cast<int>(k)), values[k]);
    result.sizes = sizes_of_errors(with_values(candidate.open_formula, now), data);
  }
  if (std::isfinite(error)) result.length = length_of_errors(error, kept) + 2 * candidate.size;
  return result;
}

}  // namespace

std::vector<std::size_t> far_rows(const std::vector<Candidate>& candidates, const Data& data) {
  Concentrated best;
  for (const Candidate& candidate : candidates) {
    Concentrated other = concentrate(candidate, data);
    if (other.length < best.length) best = std::move(other);
  }
  std::vector<std::size_t> far;
  if (best.sizes.empty()) return far;
  const double deviation = std::max(deviation_of_median * median(best.sizes), 1e-9 * data.y_scale);
  for (std::size_t r = 0; r < data.rows; ++r)
    if (best.sizes[r] > far_off * deviation) far.push_back(r);
  if (static_cast<double>(far.size()) > most_left_out * static_cast<double>(data.rows)) far.clear();
  return far;
}

Result<Fit> fit_without_outliers(Data& data, const std::function<Result<Fit>(const Data&)>& run) {
  const Data all = data;
  std::vector<std::size_t> left_out;
  Result<Fit> fit = run(data);
  for (int round = 0; round < rounds_of_leaving_out && fit && !fit->cut; ++round) {
    const std::vector<std::size_t> far = far_rows(fit->candidates, all);
    if (far == left_out) break;
    std::optional<Data> rest = without_rows(all, far);
    if (!rest) break;
    left_out = far;
    data = std::move(*rest);
    fit = run(data);
  }
  if (!fit) return fit;
  for (const std::size_t r : left_out) fit->outliers.push_back(all.row_of_table[r]);
  std::vector<std::size_t> shown;
  constexpr std::size_t most_shown = 20;
  for (const std::size_t row : fit->outliers)
    if (shown.size() < most_shown) shown.push_back(row + 1);
  fit->notes.push_back(left_out.empty()
                           ? "no row is far off, so that none was left out"
                           : fmt::format("{} of {} rows are more than {} deviations off and were left out: row{} {}{}",
                                         left_out.size(), all.rows, far_off, left_out.size() == 1 ? "" : "s",
                                         fmt::join(shown, ", "), shown.size() < left_out.size() ? ", ..." : ""));
  return fit;
}

}  // namespace nalm::fitting
