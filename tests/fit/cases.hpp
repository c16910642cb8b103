// Tables to fit, and forms written by hand.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "fit/form.hpp"
#include "nalm/table.hpp"

namespace nalm::test {

struct Column {
  std::string name;
  double low, high;  // its values are spread evenly between these
};

// Random inputs, and the target y behind them; target(x, random) gets the inputs of a row, and a stream for noise.
template <class Target>
Table table_of(const std::vector<Column>& columns, std::size_t rows, std::uint64_t seed, Target target) {
  Table table;
  for (const Column& c : columns) table.columns.push_back(c.name);
  table.columns.push_back("y");
  table.has_header = true;
  table.rows = rows;
  Xoshiro random(seed);
  std::vector<double> x(columns.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = random.between(columns[i].low, columns[i].high);
    table.values.insert(table.values.end(), x.begin(), x.end());
    table.values.push_back(target(x.data(), random));
  }
  return table;
}

// R2 of a formula on a box twice as wide as that of the columns.
template <class Truth>
double r_squared_outside(const Expression& formula, const std::vector<Column>& columns, Truth truth) {
  std::vector<Column> wide = columns;
  std::vector<std::string> names;
  for (Column& c : wide) {
    const double half = (c.high - c.low) / 2;
    c.low -= half, c.high += half;
    names.push_back(c.name);
  }
  const Table places = table_of(wide, 1000, 99, [&](const double* x, Xoshiro&) { return truth(x); });
  double mean = 0, total = 0, left = 0;
  for (std::size_t r = 0; r < places.rows; ++r) mean += places.at(r, names.size()) / 1000;
  for (std::size_t r = 0; r < places.rows; ++r) {
    const std::span<const double> row(places.values.data() + r * (names.size() + 1), names.size() + 1);
    total += std::pow(row.back() - mean, 2);
    left += std::pow(row.back() - *evaluate(formula, names, row.first(names.size())), 2);
  }
  return 1 - left / total;
}

inline fitting::Term term(double coefficient, fitting::PowerList powers) {
  return {{coefficient, true}, std::move(powers)};
}

inline fitting::Product product(double coefficient, fitting::PowerList powers,
                                std::vector<std::pair<std::size_t, double>> sums = {}) {
  return {{coefficient, true}, std::move(powers), std::move(sums)};
}

}  // namespace nalm::test
