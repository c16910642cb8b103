#include "fit/data.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/random.hpp"
#include "fit/columns.hpp"
#include "nalm/detail/portable.hpp"

namespace nalm::fitting {

namespace {

constexpr std::size_t fewest_rows = 6;
// Below this the search needs every row; the constants are still judged on rows that they were not fitted to.
constexpr std::size_t few_rows = 40;
constexpr double outside_share = 0.1, held_out_share = 0.2;

// ---- groups and weights --------------------------------------------------------------------------------------------

void measure_logarithms(Data& data) {
  double sum = 0, squares = 0;
  for (const double y : data.y) sum += portable::log(y);
  const double n = static_cast<double>(data.rows), mean = sum / n;
  for (const double y : data.y) squares += (portable::log(y) - mean) * (portable::log(y) - mean);
  data.log_deviation = std::sqrt(squares / n);
}

Status make_groups(Data& data, const Table& table, std::size_t column) {
  std::map<std::string, std::size_t> known;
  for (const std::size_t r : data.row_of_table) {
    const std::string* text = table.text_at(r, column);
    const std::string name = text ? *text : fmt::format("{}", table.at(r, column));
    const auto [found, is_new] = known.emplace(name, data.groups.size());
    if (is_new) data.groups.push_back(name);
    data.group.push_back(found->second);
  }
  if (data.groups.size() < 2)
    return Error{fmt::format("the column \"{}\" is {} in every row; groups need a column that varies.",
                             table.columns[column], data.groups.front())};
  if (data.groups.size() * rows_of_a_group > data.rows)
    return Error{
        fmt::format("the column \"{}\" makes {} groups of {} rows, and each should have at least {}; group by a "
                    "column with fewer values.",
                    table.columns[column], data.groups.size(), data.rows, rows_of_a_group)};
  return Done{};
}

// ---- rows that teach and rows that test ----------------------------------------------------------------------------

// Rows with equal inputs, and groups: a formula that has seen one of them has seen them all.
void number_units(Data& data) {
  std::map<std::vector<double>, std::size_t> known;
  data.unit.clear();
  for (std::size_t r = 0; r < data.rows; ++r) {
    std::vector<double> inputs(data.row(r), data.row(r) + data.inputs);
    if (!data.group.empty()) inputs.push_back(static_cast<double>(data.group[r]));
    data.unit.push_back(known.emplace(std::move(inputs), known.size()).first->second);
  }
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

void split(Data& data) {
  data.set_of_row.assign(data.rows, FitRow::Train);
  number_units(data);
  const std::size_t units = *std::max_element(data.unit.begin(), data.unit.end()) + 1;
  std::vector<std::vector<std::size_t>> rows_of(units);
  for (std::size_t r = 0; r < data.rows; ++r) rows_of[data.unit[r]].push_back(r);
  std::vector<std::size_t> order(units);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const double n = static_cast<double>(data.rows);
  // A unit with far more rows than wanted stays where it is.
  const auto fits = [&](std::size_t unit, std::size_t taken, std::size_t wanted) {
    return taken + rows_of[unit].size() <= wanted + wanted / 2 || rows_of[unit].size() == 1;
  };
  const auto move = [&](std::size_t unit, FitRow set) {
    for (const std::size_t r : rows_of[unit]) data.set_of_row[r] = set;
    return rows_of[unit].size();
  };
  if (data.rows >= 2 * fewest_rows) {
    const std::vector<double> distance = distance_from_the_middle(data);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return distance[rows_of[a][0]] > distance[rows_of[b][0]]; });
    const auto outside = static_cast<std::size_t>(std::lround(outside_share * n));
    for (std::size_t k = 0, taken = 0; taken < outside && k < order.size(); ++k) {
      if (fits(order[k], taken, outside)) taken += move(order[k], FitRow::Outside);
    }
    std::erase_if(order, [&](std::size_t unit) { return data.set_of_row[rows_of[unit][0]] == FitRow::Outside; });
    Xoshiro random(0x73706c6974u);  // always the same: the verdict must not hang on a seed
    const auto held_out = static_cast<std::size_t>(std::lround(held_out_share * n));
    for (std::size_t k = 0, taken = 0; taken < held_out && k < order.size(); ++k) {
      std::swap(order[k], order[k + random.below(order.size() - k)]);
      if (fits(order[k], taken, held_out)) taken += move(order[k], FitRow::HeldOut);
    }
  }
  for (std::size_t r = 0; r < data.rows; ++r) {
    data.all.push_back(r);
    (data.set_of_row[r] == FitRow::Train     ? data.train
     : data.set_of_row[r] == FitRow::HeldOut ? data.held_out
                                             : data.outside)
        .push_back(r);
  }
  if (data.rows < few_rows) data.train = data.all;
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
  measure_target(data);
}

}  // namespace

void use_weights(Data& data, std::vector<double> roots, bool has_unit) {
  if (roots.empty()) return;
  double squares = 0;
  for (const double root : roots) squares += root * root;
  const double scale = std::sqrt(squares / static_cast<double>(roots.size()));
  for (double& root : roots) root /= scale;
  data.weight = std::move(roots);
  if (has_unit) data.error_unit = scale;
}

void measure_target(Data& data) {
  double squares = 0, mean = 0, total = 0, deviation = 0;
  const double n = static_cast<double>(data.rows);
  for (std::size_t r = 0; r < data.rows; ++r) {
    const double root = data.weight_of(r), y = data.y[r];
    squares += (y * root) * (y * root), mean += y * (root * root), total += root * root;
  }
  mean /= total;
  for (std::size_t r = 0; r < data.rows; ++r) {
    const double difference = (data.y[r] - mean) * data.weight_of(r);
    deviation += difference * difference;
  }
  data.y_scale = std::sqrt(squares / n);
  data.y_deviation = data.log_deviation > 0 ? data.log_deviation / data.error_unit : std::sqrt(deviation / n);
}

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
  Data data;
  const Result<Chosen> chosen = choose_columns(table, options, data.notes);
  if (!chosen) return chosen.error();
  Result<ChosenRows> counted = choose_rows(table, options, *chosen, data.notes);
  if (!counted) return counted.error();
  data.row_of_table = std::move(counted->rows);
  data.target = options.target;
  data.rows = data.row_of_table.size();
  if (counted->complete < fewest_rows) {
    return Error{fmt::format("the table has {} rows{}; at least {} are needed.", counted->complete,
                             counted->complete < table.rows ? " that count (no value is missing, no weight is 0)" : "",
                             fewest_rows)};
  }
  const auto at = [&](std::size_t r, std::size_t c) { return table.at(data.row_of_table[r], c); };
  for (std::size_t r = 0; r < data.rows; ++r) data.y.push_back(at(r, chosen->target));
  if (std::all_of(data.y.begin(), data.y.end(), [&](double y) { return y == data.y[0]; })) {
    return Error{fmt::format("the target \"{}\" is {} in every row; a formula needs a target that varies.",
                             options.target, data.y[0])};
  }
  std::vector<std::size_t> kept;
  for (const std::size_t c : chosen->inputs) {
    bool varies = false, is_target = true;
    for (std::size_t r = 0; r < data.rows; ++r) {
      varies = varies || at(r, c) != at(0, c);
      is_target = is_target && at(r, c) == data.y[r];
    }
    if (is_target)
      data.notes.push_back(fmt::format("the column \"{}\" is equal to the target in every row; --inputs leaves it out",
                                       table.columns[c]));
    for (const std::size_t other : kept) {
      bool same = true;
      for (std::size_t r = 0; same && r < data.rows; ++r) same = at(r, c) == at(r, other);
      if (same) {
        return Error{
            fmt::format("the columns \"{}\" and \"{}\" are equal in every row, so no formula could tell them "
                        "apart; leave one out with --inputs.",
                        table.columns[other], table.columns[c])};
      }
    }
    if (!varies) {
      data.notes.push_back(
          fmt::format("the column \"{}\" is {} in every row and was left out", table.columns[c], at(0, c)));
      continue;
    }
    kept.push_back(c);
    data.columns.push_back(table.columns[c]);
  }
  if (kept.empty()) return Error{"every input has the same value in all rows; a formula needs inputs that vary."};
  data.inputs = kept.size();
  data.x.reserve(data.rows * data.inputs);
  for (std::size_t r = 0; r < data.rows; ++r) {
    for (const std::size_t c : kept) data.x.push_back(at(r, c));
  }
  Result<TableUnits> units = units_of(table, options, data.columns);
  if (!units) return units.error();
  data.units = std::move(*units);
  for (const std::string& name : options.use) {
    if (std::find(data.columns.begin(), data.columns.end(), name) == data.columns.end()) {
      return Error{fmt::format("the column \"{}\" must be used but is not an input that varies; the inputs are {}.",
                               name, fmt::join(data.columns, ", "))};
    }
  }
  if (chosen->by) {
    if (Status grouped = make_groups(data, table, *chosen->by); !grouped) return grouped.error();
  }
  use_weights(data, std::move(counted->roots), chosen->sigma || options.relative);
  if (options.relative) measure_logarithms(data);
  split(data);
  measure_scales(data);
  if (Status scales = check_scales(data); !scales) return scales.error();
  return data;
}

std::optional<Data> without_rows(const Data& data, const std::vector<std::size_t>& rows) {
  Data rest;
  rest.columns = data.columns;
  rest.target = data.target;
  rest.units = data.units;
  rest.inputs = data.inputs;
  rest.groups = data.groups;
  rest.notes = data.notes;
  std::vector<double> roots;
  for (std::size_t r = 0, next = 0; r < data.rows; ++r) {
    if (next < rows.size() && rows[next] == r) {
      ++next;
      continue;
    }
    rest.x.insert(rest.x.end(), data.row(r), data.row(r) + data.inputs);
    rest.y.push_back(data.y[r]);
    rest.row_of_table.push_back(data.row_of_table[r]);
    if (!data.group.empty()) rest.group.push_back(data.group[r]);
    if (!data.weight.empty()) roots.push_back(data.weight[r] * data.error_unit);
  }
  rest.rows = rest.y.size();
  if (rest.rows < std::max(fewest_rows, rest.inputs + 2)) return std::nullopt;
  use_weights(rest, std::move(roots), data.error_unit != 1);
  if (data.log_deviation > 0) measure_logarithms(rest);
  split(rest);
  measure_scales(rest);
  return rest;
}

}  // namespace nalm::fitting
