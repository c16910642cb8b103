#include "fit/data.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/random.hpp"
#include "nalm/detail/portable.hpp"

namespace nalm::fitting {

namespace {

constexpr std::size_t fewest_rows = 6;
constexpr double outside_share = 0.1, held_out_share = 0.2;

Result<std::size_t> find_column(const Table& table, const std::string& name, const char* role) {
  const auto found = std::find(table.columns.begin(), table.columns.end(), name);
  if (found != table.columns.end()) return static_cast<std::size_t>(found - table.columns.begin());
  return Error{fmt::format("the table has no column \"{}\" for the {}; its columns are {}.", name, role,
                           fmt::join(table.columns, ", "))};
}

Result<std::vector<std::size_t>> input_columns(const Table& table, const FitOptions& options, std::size_t target) {
  std::vector<std::size_t> chosen;
  for (const std::string& name : options.inputs) {
    const Result<std::size_t> column = find_column(table, name, "inputs");
    if (!column) return column.error();
    if (*column == target) return Error{fmt::format("\"{}\" is the target and cannot be an input as well.", name)};
    if (std::find(chosen.begin(), chosen.end(), *column) != chosen.end()) {
      return Error{fmt::format("the input \"{}\" is named twice; name it once.", name)};
    }
    chosen.push_back(*column);
  }
  for (std::size_t c = 0; options.inputs.empty() && c < table.columns.size(); ++c) {
    if (c != target) chosen.push_back(c);
  }
  if (chosen.empty()) return Error{"the table has no column besides the target; add the inputs of the formula."};
  return chosen;
}

Status check_cells(const Table& table, const std::vector<std::size_t>& columns) {
  for (std::size_t r = 0; r < table.rows; ++r) {
    for (const std::size_t c : columns) {
      const double value = table.at(r, c);
      if (std::isfinite(value)) continue;
      return Error{fmt::format("row {}, column \"{}\": the value is {}; remove the row or correct the cell.", r + 1,
                               table.columns[c], std::isnan(value) ? "not a number (NaN)" : "infinite")};
    }
  }
  return Done{};
}

// Twice the distance from the middle, in ranks: 0 in the middle of a column, 1 at its ends. The largest over columns.
std::vector<double> distance_from_the_middle(const Data& data) {
  std::vector<double> distance(data.rows, 0);
  for (std::size_t c = 0; c < data.inputs; ++c) {
    const std::vector<std::size_t> order = ranked(data.column(c));
    // Equal values share the rank in their middle, so that a column of few values says little.
    for (std::size_t first = 0; first < data.rows;) {
      std::size_t last = first;
      while (last + 1 < data.rows && data.row(order[last + 1])[c] == data.row(order[first])[c]) ++last;
      const double rank = 0.5 * static_cast<double>(first + last);
      for (; first <= last; ++first) {
        double& d = distance[order[first]];
        d = std::max(d, std::fabs(2 * rank / static_cast<double>(data.rows - 1) - 1));
      }
    }
  }
  return distance;
}

void split(Data& data, std::uint64_t seed) {
  data.set_of_row.assign(data.rows, FitRow::Train);
  std::vector<std::size_t> order(data.rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const double n = static_cast<double>(data.rows);
  if (data.rows >= 2 * fewest_rows) {
    const std::vector<double> distance = distance_from_the_middle(data);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return distance[a] > distance[b]; });
    const auto outside = static_cast<std::size_t>(std::lround(outside_share * n));
    for (std::size_t k = 0; k < outside; ++k) data.set_of_row[order[k]] = FitRow::Outside;
    order.erase(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(outside));
    Xoshiro random(seed);
    const auto held_out = static_cast<std::size_t>(std::lround(held_out_share * n));
    for (std::size_t k = 0; k < held_out; ++k) {
      std::swap(order[k], order[k + random.below(order.size() - k)]);
      data.set_of_row[order[k]] = FitRow::HeldOut;
    }
  }
  for (std::size_t r = 0; r < data.rows; ++r) {
    (data.set_of_row[r] == FitRow::Train     ? data.train
     : data.set_of_row[r] == FitRow::HeldOut ? data.held_out
                                             : data.outside)
        .push_back(r);
  }
}

// Numbers whose squares and products leave the range of a double.
Status check_scales(const Data& data) {
  const auto wrong = [](double scale) { return !(scale > 1e-100 && scale < 1e100); };
  const auto error = [](const std::string& name, double scale) {
    return Error{
        fmt::format("the column \"{}\" has numbers around {:.0e}, too far from 1 to compute with; multiply it "
                    "by a power of 10 first.",
                    name, scale)};
  };
  for (std::size_t c = 0; c < data.inputs; ++c)
    if (wrong(data.x_scale[c])) return error(data.columns[c], data.x_scale[c]);
  double largest = 0;
  for (const double y : data.y) largest = std::max(largest, std::fabs(y));
  if (wrong(largest)) return error(data.target, largest);
  return Done{};
}

void measure_scales(Data& data) {
  for (std::size_t c = 0; c < data.inputs; ++c) {
    double sum = 0;
    std::size_t count = 0;
    bool negative = false;
    for (std::size_t r = 0; r < data.rows; ++r) {
      negative = negative || data.row(r)[c] < 0;
      const double size = std::fabs(data.row(r)[c]);
      if (size > 0) sum += portable::log(size), ++count;
    }
    data.negative.push_back(negative);
    data.x_scale.push_back(count > 0 ? portable::exp(sum / static_cast<double>(count)) : 1);
  }
  double squares = 0, mean = 0, deviation = 0;
  for (const double y : data.y) squares += y * y, mean += y;
  const double n = static_cast<double>(data.rows);
  mean /= n;
  for (const double y : data.y) deviation += (y - mean) * (y - mean);
  data.y_scale = std::sqrt(squares / n);
  data.y_deviation = std::sqrt(deviation / n);
}

}  // namespace

std::vector<double> Data::column(std::size_t c) const {
  std::vector<double> values(rows);
  for (std::size_t r = 0; r < rows; ++r) values[r] = row(r)[c];
  return values;
}

std::size_t Data::position(const std::string& name) const {
  return static_cast<std::size_t>(std::find(columns.begin(), columns.end(), name) - columns.begin());
}

std::vector<std::size_t> ranked(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return order;
}

Result<Data> prepare(const Table& table, const FitOptions& options) {
  const Result<std::size_t> target = find_column(table, options.target, "target");
  if (!target) return target.error();
  Result<std::vector<std::size_t>> inputs = input_columns(table, options, *target);
  if (!inputs) return inputs.error();
  std::vector<std::size_t> all = *inputs;
  all.push_back(*target);
  if (Status cells = check_cells(table, all); !cells) return cells.error();
  if (table.rows < std::max(fewest_rows, all.size() + 1)) {
    return Error{fmt::format("the table has {} rows, too few for {} columns; at least {} are needed.", table.rows,
                             all.size(), std::max(fewest_rows, all.size() + 1))};
  }

  Data data;
  data.target = options.target;
  data.rows = table.rows;
  for (std::size_t r = 0; r < table.rows; ++r) data.y.push_back(table.at(r, *target));
  if (std::all_of(data.y.begin(), data.y.end(), [&](double y) { return y == data.y[0]; })) {
    return Error{fmt::format("the target \"{}\" is {} in every row; a formula needs a target that varies.",
                             options.target, data.y[0])};
  }
  std::vector<std::size_t> kept;
  for (const std::size_t c : *inputs) {
    bool varies = false, is_target = true;
    for (std::size_t r = 0; r < table.rows; ++r) {
      varies = varies || table.at(r, c) != table.at(0, c);
      is_target = is_target && table.at(r, c) == data.y[r];
    }
    if (is_target) {
      return Error{fmt::format("the column \"{}\" is equal to the target in every row; leave it out with --inputs.",
                               table.columns[c])};
    }
    for (const std::size_t other : kept) {
      bool same = true;
      for (std::size_t r = 0; same && r < table.rows; ++r) same = table.at(r, c) == table.at(r, other);
      if (same) {
        return Error{
            fmt::format("the columns \"{}\" and \"{}\" are equal in every row, so no formula could tell them "
                        "apart; leave one out with --inputs.",
                        table.columns[other], table.columns[c])};
      }
    }
    if (!varies) {
      data.notes.push_back(
          fmt::format("the column \"{}\" is {} in every row and was left out", table.columns[c], table.at(0, c)));
      continue;
    }
    kept.push_back(c);
    data.columns.push_back(table.columns[c]);
  }
  if (kept.empty()) return Error{"every input has the same value in all rows; a formula needs inputs that vary."};
  data.inputs = kept.size();
  data.x.reserve(data.rows * data.inputs);
  for (std::size_t r = 0; r < table.rows; ++r) {
    for (const std::size_t c : kept) data.x.push_back(table.at(r, c));
  }
  for (const std::string& name : options.use) {
    if (std::find(data.columns.begin(), data.columns.end(), name) == data.columns.end()) {
      return Error{fmt::format("the column \"{}\" must be used but is not an input that varies; the inputs are {}.",
                               name, fmt::join(data.columns, ", "))};
    }
  }
  split(data, options.seed);
  measure_scales(data);
  if (Status scales = check_scales(data); !scales) return scales.error();
  return data;
}

}  // namespace nalm::fitting
