#include "fit/jump.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "formula/node.hpp"

namespace nalm::fitting {

namespace {

constexpr std::size_t most_rows = 200;

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

}  // namespace

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
