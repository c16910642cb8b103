#include "experiment/cell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace nalm {

double non_zero_count(std::span<const double> parameters) {
  return static_cast<double>(std::ranges::count_if(parameters, [](double p) { return std::fabs(p) > 1e-3; }));
}

std::optional<std::size_t> Cell::position(std::string_view measure) const {
  for (std::size_t m = 0; m < measures.size(); ++m)
    if (measures[m].name == measure) return m;
  return {};
}

std::vector<std::string> distinct(const std::vector<Cell>& cells, std::string Cell::*part) {
  std::vector<std::string> names;
  for (const Cell& cell : cells)
    if (std::find(names.begin(), names.end(), cell.*part) == names.end()) names.push_back(cell.*part);
  return names;
}

std::size_t judged_row(const Cell& cell, const RunRecord& record) {
  const std::size_t last = record.values.empty() ? 0 : record.values.size() - 1;
  const std::optional<std::size_t> best_by = cell.position(cell.goal.best_by);
  if (!best_by) return last;
  std::optional<std::size_t> best;
  for (std::size_t row = 0; row < record.values.size(); ++row) {
    const double value = record.values[row][*best_by];
    if (!std::isnan(value) && (!best || value < record.values[*best][*best_by])) best = row;
  }
  return best.value_or(last);
}

std::optional<double> regularised_from(const Cell& cell) {
  std::optional<double> first;
  for (const LayerRecipe& layer : cell.recipe.layers)
    for (const Regulariser& r : layer.regularisers)
      if (r.has_ramp() && r.strength > 0) first = std::min(first.value_or(r.start), r.start);
  return first;
}

Result<Model> model_at(const Cell& cell, const RunRecord& record, std::size_t row) {
  if (cell.own || cell.stack.empty())
    return Error{fmt::format("a run of {} is not one network, so there is no model of it.", cell.name())};
  if (cell.wiring)
    return Error{
        fmt::format("the layers of {} are wired, not stacked, and a model file describes stacks only.", cell.name())};
  if (row >= record.parameters.size() || record.parameters[row].empty())
    return Error{
        fmt::format("the parameters of this iteration of {} were not stored: only those of the iteration where "
                    "the run is judged are.",
                    cell.name())};
  Model model;
  std::size_t first = 0;
  const std::vector<double>& stored = record.parameters[row];
  for (const LayerSpec& layer : cell.stack) {
    const std::size_t count = static_cast<std::size_t>(parameter_count(*layer.module, layer.shape));
    if (first + count > stored.size()) break;
    const auto begin = stored.begin() + static_cast<std::ptrdiff_t>(first);
    model.layers.push_back({layer.module, layer.shape, {begin, begin + static_cast<std::ptrdiff_t>(count)}});
    first += count;
  }
  if (model.layers.size() != cell.stack.size() || first != stored.size())
    return Error{fmt::format("{} parameters are stored for {}, which is not what its layers {} need.", stored.size(),
                             cell.name(), print(cell.stack))};
  return model;
}

}  // namespace nalm
