#include "fit/jump.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "fit/tape.hpp"
#include "formula/node.hpp"

namespace nalm::fitting {

namespace {

constexpr std::size_t most_rows = 200;

// What changes by most of its way within so small a part of a column's range is a jump as far as rows can tell.
constexpr int steps = 200, steps_of_a_jump = 4;
constexpr double most_of_the_way = 0.8;

// Both sides of a limit, for as many rows.
double size_of_jump(const Expression& formula, const Data& data, std::size_t column, double limit) {
  const std::size_t rows = std::min(most_rows, data.rows);
  const double step = 1e-9 * std::max(std::fabs(limit), data.x_scale[column]);
  double squares = 0;
  for (std::size_t k = 0; k < rows; ++k) {
    const double* row = data.row(k * data.rows / rows);
    std::vector<double> below(row, row + data.inputs), above = below;
    below[column] = limit - step, above[column] = limit + step;
    const Result<double> low = evaluate(formula, data.columns, below), high = evaluate(formula, data.columns, above);
    if (low && high && std::isfinite(*high - *low)) squares += (*high - *low) * (*high - *low);
  }
  return std::sqrt(squares / static_cast<double>(rows)) / data.y_deviation;
}

// The steepest part of the way from one end of a column to the other.
struct Steep {
  int at = 0;
  double change = 0, way = 0;
};

Steep steepest_part(std::span<const double> values) {
  Steep steep;
  std::vector<double> change;
  for (std::size_t k = 1; k < values.size(); ++k) change.push_back(std::fabs(values[k] - values[k - 1]));
  steep.way = std::accumulate(change.begin(), change.end(), 0.0);
  for (int k = 0; k + steps_of_a_jump <= steps; ++k) {
    const auto first = change.begin() + k;
    const double sum = std::accumulate(first, first + steps_of_a_jump, 0.0);
    if (sum > steep.change) steep.change = sum, steep.at = k + steps_of_a_jump / 2;
  }
  return steep;
}

}  // namespace

std::optional<Jump> steepest_jump(const Expression& formula, const Data& data) {
  std::optional<Jump> largest;
  const std::size_t rows = std::min(most_rows, data.rows), points = steps + 1;
  for (const std::string& name : variables(formula)) {
    const std::size_t column = data.position(name);
    const std::vector<double> values = data.column(column);
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const auto place = [&, low = *low, high = *high](int k) { return low + (high - low) * k / steps; };
    // From one end to the other, everything else as in a row.
    std::vector<double> along;
    for (std::size_t r = 0; r < rows; ++r) {
      const double* row = data.row(r * data.rows / rows);
      for (int k = 0; k <= steps; ++k) {
        along.insert(along.end(), row, row + data.inputs);
        along[along.size() - data.inputs + column] = place(k);
      }
    }
    std::vector<const double*> pointers;
    for (std::size_t k = 0; k < along.size(); k += data.inputs) pointers.push_back(along.data() + k);
    Tape tape(formula, data.columns, 0, pointers);
    std::vector<double> result(pointers.size());
    for (std::size_t first = 0; first < result.size(); first += Tape::block)
      tape.run(first, std::min(Tape::block, result.size() - first), {}, result.data() + first, nullptr);
    double squares = 0;
    std::vector<int> at;
    for (std::size_t r = 0; r < rows; ++r) {
      const Steep steep = steepest_part(std::span(result).subspan(r * points, points));
      if (!(steep.change > most_of_the_way * steep.way)) continue;  // nor where the formula has no value
      squares += steep.change * steep.change;
      at.push_back(steep.at);
    }
    const double size = std::sqrt(squares / static_cast<double>(rows)) / data.y_deviation;
    if (at.empty() || (largest && size <= largest->size)) continue;
    std::nth_element(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(at.size() / 2), at.end());
    largest = Jump{name, place(at[at.size() / 2]), size};
  }
  return largest;
}

std::optional<Jump> largest_jump(const Expression& formula, const Data& data) {
  std::optional<Jump> largest;
  formula::visit_operands_first(formula, [&](const Expression& e) {
    if (e.kind() != Expression::Kind::Call || (e.name() != "negative" && e.name() != "sign")) return;
    const std::vector<std::string> names = variables(e);
    if (names.size() != 1) return;
    // What is compared with 0 is a multiple of the column and a constant.
    const auto at = [&](double x) { return *evaluate(e.operands()[0], names, std::vector<double>{x}); };
    const double limit = -at(0) / (at(1) - at(0));
    if (!std::isfinite(limit)) return;
    const double size = size_of_jump(formula, data, data.position(names[0]), limit);
    if (!largest || size > largest->size) largest = Jump{names[0], limit, size};
  });
  return largest;
}

}  // namespace nalm::fitting
