// The units of a table: of its inputs and of the target.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formula/unit.hpp"
#include "nalm/fit.hpp"

namespace nalm::fitting {

using Dimension = std::array<double, formula::base_units>;  // powers of the base units
Dimension dimension_of(const formula::Unit& unit);
bool is_pure(const Dimension& dimension);

struct TableUnits {
  std::vector<Dimension> columns{};  // of the inputs; empty: no units are given
  Dimension target{};
  std::vector<formula::Unit> written{};  // of the inputs and the target; of the table that was read, and no other

  bool given() const { return !columns.empty(); }
  std::vector<std::string> texts() const;  // of `written`

  // Powers of the columns, and behind them perhaps of atoms, which are pure numbers; and a power of the target.
  Dimension of_product(const std::vector<double>& powers, double power_of_target = 0) const;
  // The same as text: in the units of the table or, where that is shorter, of SI. Empty for the number 1.
  std::string text_of_product(const std::vector<double>& powers, double power_of_target) const;

  // Of the target divided by a product of columns, and of the columns that are left.
  TableUnits divided_by(const std::vector<double>& powers, const std::vector<std::size_t>& left) const;
};

// The units of these columns: what FitOptions::units says, otherwise the table's. Fails on one that cannot be read, and
// if only some of the columns have one.
Result<TableUnits> units_of(const Table& table, const FitOptions& options, const std::vector<std::string>& inputs);

}  // namespace nalm::fitting
