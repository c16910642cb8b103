#include "fit/neighbours.hpp"

#include <algorithm>
#include <cmath>

#include "base/threads.hpp"

namespace nalm::fitting {

namespace {

constexpr std::size_t most_neighbours = 5, most_rows_in_space = 1500, fewest_rows_with_neighbours = 12;

// Ranks around 0: a few large errors must not decide.
std::vector<double> centred_ranks(const std::vector<double>& values) {
  const std::vector<std::size_t> order = ranked(values);
  std::vector<double> ranks(values.size());
  for (std::size_t k = 0; k < order.size(); ++k)
    ranks[order[k]] = static_cast<double>(k) - static_cast<double>(order.size() - 1) / 2;
  return ranks;
}

using Links = Neighbours::Links;

// Moran's I of the ranks, in standard deviations from what it is for noise.
double strength_of(const std::vector<double>& ranks, const Links& links) {
  const double n = static_cast<double>(ranks.size());
  double whole = 0, together = 0, count = 0, mutual = 0, at_each = 0;
  std::vector<double> incoming(ranks.size(), 0);
  for (const double rank : ranks) whole += rank * rank;
  for (std::size_t k = 0; k < links.size(); ++k) {
    for (const std::size_t other : links[k]) {
      together += ranks[k] * ranks[other];
      count += 1;
      incoming[other] += 1;
      const bool returned = std::find(links[other].begin(), links[other].end(), k) != links[other].end();
      mutual += returned ? 2 : 1;  // half of the sum over both orders of (there + back)^2: 2 twice, or 1 twice
    }
  }
  for (std::size_t k = 0; k < links.size(); ++k) {
    const double sum = incoming[k] + static_cast<double>(links[k].size());
    at_each += sum * sum;
  }
  if (!(whole > 0) || !(count > 0)) return 0;
  const double index = n / count * together / whole, expected = -1 / (n - 1);
  const double variance =
      (n * n * mutual - n * at_each + 3 * count * count) / ((n * n - 1) * count * count) - expected * expected;
  return variance > 0 ? (index - expected) / std::sqrt(variance) : 0;
}

// Each row with the next one.
Links along(const std::vector<double>& values) {
  const std::vector<std::size_t> order = ranked(values);
  Links links(values.size());
  for (std::size_t k = 1; k < order.size(); ++k) links[order[k]].push_back(order[k - 1]);
  return links;
}

Links in_space(const std::vector<std::vector<double>>& columns, std::size_t rows, int threads) {
  const std::size_t count = std::min(most_neighbours, rows / 6);
  Links links(rows);
  parallel_for(static_cast<int>(rows), threads, [&](int row) {
    const auto k = static_cast<std::size_t>(row);
    std::vector<std::pair<double, std::size_t>> nearest;
    std::vector<double> distances(rows, 0.0);
    for (const std::vector<double>& column : columns) {
      for (std::size_t other = 0; other < rows; ++other) {
        const double d = column[k] - column[other];
        distances[other] += d * d;
      }
    }
    for (std::size_t other = 0; other < rows; ++other) {
      const double distance = distances[other];
      if (other == k || (nearest.size() == count && !(distance < nearest.back().first))) continue;
      if (nearest.size() == count) nearest.pop_back();
      nearest.insert(std::upper_bound(nearest.begin(), nearest.end(), std::pair(distance, other)), {distance, other});
    }
    for (const auto& [distance, other] : nearest) links[k].push_back(other);
  });
  return links;
}

}  // namespace

Neighbours::Neighbours(const Data& data, const Places& places, int threads) : data_(data) {
  const std::size_t rows = places.rows(), few = std::min(rows, most_rows_in_space);
  if (rows < fewest_rows_with_neighbours) return;
  rows_ = rows;
  rows_in_space_ = few;
  for (std::size_t i = 0; i < data.inputs; ++i) {
    std::vector<double> column, scaled;
    for (std::size_t k = 0; k < rows; ++k) column.push_back(places.x[k][i]);
    along_.push_back(along(column));
    const std::vector<double> by_rank = centred_ranks(column);
    for (std::size_t k = 0; k < few; ++k) scaled.push_back(by_rank[k * rows / few]);
    coordinates_.push_back(std::move(scaled));
  }
  in_space_ = in_space(coordinates_, few, threads);
}

Pattern Neighbours::pattern_in(const Candidate& candidate, const Tangent& tangent) const {
  Pattern strongest;
  if (rows_ == 0) return strongest;
  const auto see = [&](double strength, const std::string& name) {
    if (strength > strongest.strength) strongest = {strength, name};
  };
  const std::vector<double>& errors = tangent.errors();
  const std::vector<double> ranks = centred_ranks(errors);
  std::vector<double> predicted(tangent.values().begin(),
                                tangent.values().begin() + static_cast<std::ptrdiff_t>(rows_));
  see(strength_of(ranks, along(predicted)), "the prediction");
  for (std::size_t i = 0; i < data_.inputs; ++i) see(strength_of(ranks, along_[i]), data_.columns[i]);

  std::vector<double> few_errors;
  for (std::size_t k = 0; k < rows_in_space_; ++k) few_errors.push_back(errors[k * rows_ / rows_in_space_]);
  const std::vector<double> few_ranks = centred_ranks(few_errors);
  std::vector<std::size_t> used;
  for (const std::string& name : variables(candidate.formula)) used.push_back(data_.position(name));
  std::sort(used.begin(), used.end());
  std::vector<std::vector<double>> of_formula;
  for (const std::size_t i : used) of_formula.push_back(coordinates_[i]);
  const bool all_used = used.size() == data_.inputs;
  if (used.size() > 1)
    see(strength_of(few_ranks, all_used ? in_space_ : in_space(of_formula, rows_in_space_, 1)), "neighbouring rows");
  if (!all_used) see(strength_of(few_ranks, in_space_), "neighbouring rows");
  return strongest;
}

}  // namespace nalm::fitting
