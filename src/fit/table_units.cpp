#include "fit/table_units.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "formula/known_units.hpp"
#include "nalm/detail/portable.hpp"

namespace nalm {

namespace fitting {

namespace {

constexpr double same_power = 1e-9;

using UnitSymbols = std::vector<std::pair<std::string, double>>;

void add_symbols(UnitSymbols& to, const formula::Unit& unit, double power) {
  for (const auto& [name, times] : unit.symbols) {
    const auto same =
        std::find_if(to.begin(), to.end(), [&known = name](const auto& other) { return other.first == known; });
    if (same == to.end()) {
      to.emplace_back(name, power * times.value());
    } else {
      same->second += power * times.value();
    }
  }
  std::erase_if(to, [](const auto& symbol) { return std::fabs(symbol.second) < same_power; });
}

// In SI without prefixes: one name if there is one, otherwise base units.
UnitSymbols coherent(const Dimension& dimension) {
  const std::string_view name = formula::coherent_unit(dimension);
  if (!name.empty()) return {{std::string(name), 1}};
  UnitSymbols symbols;
  for (std::size_t k = 0; k < dimension.size(); ++k)
    if (std::fabs(dimension[k]) > same_power) symbols.emplace_back(formula::base_unit_names[k], dimension[k]);
  return symbols;
}

}  // namespace

Dimension dimension_of(const formula::Unit& unit) {
  Dimension result{};
  for (std::size_t k = 0; k < result.size(); ++k) result[k] = unit.powers[k].value();
  return result;
}

bool is_pure(const Dimension& dimension) {
  return std::all_of(dimension.begin(), dimension.end(), [](double power) { return std::fabs(power) < same_power; });
}

std::vector<std::string> TableUnits::texts() const {
  std::vector<std::string> result;
  for (const formula::Unit& unit : written) {
    UnitSymbols symbols;
    add_symbols(symbols, unit, 1);
    result.push_back(formula::print_unit(symbols));
  }
  return result;
}

Dimension TableUnits::of_product(const std::vector<double>& powers, double power_of_target) const {
  Dimension result{};
  const auto add = [&](const Dimension& dimension, double power) {
    for (std::size_t k = 0; k < result.size() && power != 0; ++k) result[k] += power * dimension[k];
  };
  for (std::size_t i = 0; i < std::min(powers.size(), columns.size()); ++i) add(columns[i], powers[i]);
  add(target, power_of_target);
  return result;
}

std::string TableUnits::text_of_product(const std::vector<double>& powers, double power_of_target) const {
  const Dimension dimension = of_product(powers, power_of_target);
  double scale = 1;
  UnitSymbols symbols;
  const auto add = [&](const formula::Unit& unit, double power) {
    if (power == 0) return;
    add_symbols(symbols, unit, power);
    scale *= portable::pow(unit.scale, power);
  };
  add(written.back(), power_of_target);
  for (std::size_t i = 0; i < std::min(powers.size(), columns.size()); ++i) add(written[i], powers[i]);
  if (std::fabs(scale - 1) < same_power) {
    if (is_pure(dimension)) return "";
    const UnitSymbols si = coherent(dimension);
    if (symbols.size() > 2 && si.size() < symbols.size()) return formula::print_unit(si);  // N*m need not be J
  }
  return symbols.empty() ? "" : formula::print_unit(symbols);
}

TableUnits TableUnits::divided_by(const std::vector<double>& powers, const std::vector<std::size_t>& left) const {
  TableUnits rest;
  if (!given()) return rest;
  std::vector<double> inverse = powers;
  for (double& power : inverse) power = -power;
  rest.target = of_product(inverse, 1);
  for (const std::size_t i : left) rest.columns.push_back(columns[i]);
  return rest;
}

Result<TableUnits> units_of(const Table& table, const FitOptions& options, const std::vector<std::string>& inputs) {
  TableUnits units;
  if (options.units.empty() && table.units.empty()) return units;
  for (const auto& [column, unit] : options.units) {
    if (std::find(table.columns.begin(), table.columns.end(), column) == table.columns.end())
      return Error{fmt::format("the units name \"{}\", which is no column; the columns are {}.", column,
                               fmt::join(table.columns, ", "))};
  }
  const auto unit_of = [&](const std::string& column) -> Result<formula::Unit> {
    std::optional<std::string> text;
    for (const auto& [name, unit] : options.units)
      if (name == column) text = unit;
    const auto place =
        static_cast<std::size_t>(std::find(table.columns.begin(), table.columns.end(), column) - table.columns.begin());
    if (!text && place < table.units.size()) text = table.units[place];
    if (!text)
      return Error{
          fmt::format("the units say nothing about the column \"{0}\"; add {0}:1 if it is a pure number.", column)};
    Result<formula::Unit> unit = formula::parse_unit(*text);
    if (!unit) return Error{fmt::format("the unit of the column \"{}\": {}", column, unit.error().message)};
    return unit;
  };
  for (const std::string& column : inputs) {
    Result<formula::Unit> unit = unit_of(column);
    if (!unit) return unit.error();
    units.columns.push_back(dimension_of(*unit));
    units.written.push_back(std::move(*unit));
  }
  Result<formula::Unit> unit = unit_of(options.target);
  if (!unit) return unit.error();
  units.target = dimension_of(*unit);
  units.written.push_back(std::move(*unit));
  return units;
}

}  // namespace fitting

Result<std::vector<std::pair<std::string, std::string>>> read_units(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> units;
  for (const std::string_view part : split(text)) {
    const std::size_t colon = part.rfind(':');
    if (colon == part.npos || trim(part.substr(0, colon)).empty())
      return Error{
          fmt::format("\"{}\" does not say which column has which unit; write column:unit, such as "
                      "\"m:kg,v:m/s,E:J\".",
                      part)};
    const std::string column(trim(part.substr(0, colon)));
    if (std::any_of(units.begin(), units.end(), [&](const auto& other) { return other.first == column; }))
      return Error{fmt::format("the column \"{}\" has two units; give it one.", column)};
    units.emplace_back(column, trim(part.substr(colon + 1)));
  }
  return units;
}

Status take_units(Table& table) {
  const std::size_t columns = table.columns.size();
  if (!table.has_header || table.rows < 2 || !table.units.empty()) return Done{};
  const auto is_none = [](std::string_view text) { return text.empty() || text == "1" || text == "-"; };
  // What the first row says. A number other than 1 makes it a row of data.
  std::vector<std::string> cells(columns);
  for (std::size_t c = 0; c < columns; ++c) {
    const std::string* text = table.text_at(0, c);
    const double value = table.at(0, c);
    if (text) cells[c] = trim(*text);
    if (!std::isnan(value) && value != 1) return Done{};
    if (!std::isnan(value) && !text) cells[c] = "1";
  }
  // Units stand above numbers: a column of words has words in its first row, too.
  bool any = false;
  std::string wrong;
  for (std::size_t c = 0; c < columns; ++c) {
    if (is_none(cells[c])) continue;
    bool above_numbers = false;
    for (std::size_t r = 1; r < table.rows && !above_numbers; ++r) above_numbers = !std::isnan(table.at(r, c));
    const Result<formula::Unit> unit = formula::parse_unit(cells[c]);
    if (unit && above_numbers) any = true;
    if (unit && above_numbers) continue;
    if (wrong.empty())
      wrong = above_numbers
                  ? fmt::format("the row below the header has units, but not in the column \"{}\": {}",
                                table.columns[c], unit.error().message)
                  : fmt::format(
                        "the row below the header has units, but the column \"{}\" of words has \"{}\" there; "
                        "leave the cell empty.",
                        table.columns[c], cells[c]);
  }
  if (!any) return Done{};
  if (!wrong.empty()) return Error{wrong};
  table.units = std::move(cells);
  table.values.erase(table.values.begin(), table.values.begin() + static_cast<std::ptrdiff_t>(columns));
  --table.rows;
  std::erase_if(table.text, [](const TextCell& cell) { return cell.row == 0; });
  for (TextCell& cell : table.text) --cell.row;
  return Done{};
}

}  // namespace nalm
