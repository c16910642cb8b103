#include "experiment/units.hpp"

#include <algorithm>
#include <map>

namespace nalm {

// Iterations times what a sample costs: its parameters, and more for each step in between, which may be an exponential.
// The survey's modules take 1 to 13 times as long by the clock, and 1 to 10 times by this.
double cost_of(const Cell& cell) {
  if (cell.own) return cell.own_cost;
  constexpr int any_sample = 1, step = 2;  // in parameters
  int sample = any_sample;
  for (const LayerSpec& layer : cell.stack)
    sample += parameter_count(*layer.module, layer.shape) +
              step * quantity_count(*layer.module, layer.module->steps, layer.shape);
  return static_cast<double>(cell.iterations() + 1) * cell.recipe.training.batch * sample;
}

double cost_of(const std::vector<Unit>& units) {
  double sum = 0;
  for (const Unit& unit : units) sum += unit.cost;
  return sum;
}

std::vector<std::size_t> even_parts(std::size_t n, std::size_t most) {
  const std::size_t parts = (n + most - 1) / most;
  std::vector<std::size_t> begins;
  for (std::size_t k = 0; k <= parts; ++k) begins.push_back(parts == 0 ? 0 : n * k / parts);
  return begins;
}

std::vector<Unit> units_of_cells(const std::vector<Cell>& cells, const std::vector<RunId>& runs, std::size_t lanes) {
  std::map<std::size_t, std::vector<RunId>> of_cell;
  for (const RunId& run : runs) of_cell[run.cell].push_back(run);
  std::vector<Unit> units;
  for (const auto& [cell, all] : of_cell) {
    const std::vector<std::size_t> parts = even_parts(all.size(), cells[cell].own ? 1 : lanes);
    for (std::size_t p = 0; p + 1 < parts.size(); ++p)
      units.push_back({{all.begin() + static_cast<std::ptrdiff_t>(parts[p]),
                        all.begin() + static_cast<std::ptrdiff_t>(parts[p + 1])},
                       cost_of(cells[cell]) * static_cast<double>(parts[p + 1] - parts[p]),
                       units.size()});
  }
  return units;
}

}  // namespace nalm
