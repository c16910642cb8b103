// The table as a fit sees it: inputs, target, and which rows teach, which test, and which lie at the edge.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/number.hpp"
#include "fit/table_units.hpp"
#include "nalm/fit.hpp"

namespace nalm::fitting {

inline constexpr std::size_t rows_for_numbers = 100000;  // more rows do not make constants better

struct Data {
  std::vector<std::string> columns;  // the inputs
  std::string target;
  TableUnits units;
  std::size_t inputs = 0;
  std::size_t rows = 0;
  std::vector<double> x;  // rows × inputs, row-major
  std::vector<double> y;
  std::vector<double> weight;  // what each row's error is multiplied with before it is squared; empty: all 1

  std::vector<std::size_t> row_of_table;  // where each row stands in the table
  std::vector<std::size_t> unit;          // rows with equal inputs have the same number, and are never parted
  double log_deviation = 0;               // of the target's logarithm, if errors are in proportion to it; 0 otherwise
  double error_unit = 1;                  // errors are shown times this: as shares of the target, or of sigma
  std::vector<std::size_t> group;         // of FitOptions::by; empty if there is none
  std::vector<std::string> groups;        // their names

  std::vector<FitRow> set_of_row;
  std::vector<std::size_t> all, train, held_out, outside;  // rows; few rows are all for training

  // For training with numbers near 1: the geometric mean magnitude of a column, and the root mean square of the target.
  std::vector<double> x_scale;
  double y_scale = 1;
  std::vector<bool> negative;  // columns with negative values
  double y_deviation = 1;      // standard deviation of the target, all rows

  std::vector<std::string> notes;  // columns that were left out, and why

  const double* row(std::size_t r) const { return x.data() + r * inputs; }
  double weight_of(std::size_t r) const { return weight.empty() ? 1 : weight[r]; }
  std::vector<double> column(std::size_t c) const;
  std::size_t position(const std::string& name) const;  // of an input
};

Result<Data> prepare(const Table& table, const FitOptions& options);

// The same table without some of its rows, split anew; empty if too few are left.
std::optional<Data> without_rows(const Data& data, const std::vector<std::size_t>& rows);

// Takes roots of weights, brought to a mean square of 1. has_unit: errors are shown in units of these, as they are.
void use_weights(Data& data, std::vector<double> roots, bool has_unit);

// The size and the deviation of the target, after it or the weights have changed.
void measure_target(Data& data);

// Places in a list by rank, the smallest value first, equal ones in their order.
std::vector<std::size_t> ranked(const std::vector<double>& values);

}  // namespace nalm::fitting
