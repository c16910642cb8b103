#include "fit/data.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/random.hpp"
#include "base/utf8.hpp"
#include "formula/exports.hpp"
#include "nalm/detail/portable.hpp"

namespace nalm::fitting {

namespace {

constexpr std::size_t fewest_rows = 6, rows_of_a_group = 3, most_groups = 1000;
// Below this the search needs every row; the constants are still judged on rows that they were not fitted to.
constexpr std::size_t few_rows = 40;
constexpr double outside_share = 0.1, held_out_share = 0.2;

Result<std::size_t> find_column(const Table& table, const std::string& name, const char* role) {
  const auto found = std::find(table.columns.begin(), table.columns.end(), name);
  if (found != table.columns.end()) return static_cast<std::size_t>(found - table.columns.begin());
  return Error{fmt::format("the table has no column \"{}\" for the {}; its columns are {}.", name, role,
                           fmt::join(table.columns, ", "))};
}

// ---- columns that are not numbers ----------------------------------------------------------------------------------

// What a column holds besides numbers.
struct Words {
  std::size_t count = 0, missing = 0;
  const TextCell* first = nullptr;
  std::set<std::string_view> different{};

  bool is_text() const { return count > 0; }
};

std::vector<Words> words_of(const Table& table) {
  std::vector<Words> words(table.columns.size());
  for (std::size_t r = 0; r < table.rows; ++r)
    for (std::size_t c = 0; c < words.size(); ++c) words[c].missing += std::isnan(table.at(r, c)) ? 1 : 0;
  for (const TextCell& cell : table.text) {
    if (!std::isnan(table.at(cell.row, cell.column)) || is_missing(cell.text)) continue;
    Words& w = words[cell.column];
    --w.missing;
    if (w.count++ == 0) w.first = &cell;
    if (w.different.size() <= most_groups) w.different.insert(cell.text);
  }
  return words;
}

std::string shortened(const std::string& text) {
  constexpr std::size_t longest = 40;
  const std::string line = formula::one_line(text);
  std::size_t end = 0;
  for (std::size_t k = 0; k < longest && end < line.size(); ++k) end += utf8_length(line, end);
  return end < line.size() ? line.substr(0, end) + "..." : line;
}

// What is wrong with a column of text, and what to do; the rest of a sentence.
std::string about(const Words& words, const std::string& column, std::size_t rows) {
  const std::string example = shortened(words.first->text);
  if (is_date(words.first->text))
    return fmt::format("the column \"{}\" has dates such as {}; make a number of it, such as the days since the first",
                       column, example);
  if (words.count <= rows / 10)
    return fmt::format("row {}, column \"{}\": \"{}\" is not a number; correct the cell, or leave it empty",
                       words.first->row + 1, column, example);
  const bool makes_groups = words.different.size() > 1 && words.different.size() * rows_of_a_group <= rows;
  return fmt::format("the column \"{}\" has text such as \"{}\"{}", column, example,
                     makes_groups ? fmt::format("; --by {} gives each of its groups a constant", column) : "");
}

Result<std::size_t> number_column(const Table& table, const std::vector<Words>& words, const std::string& name,
                                  const char* role) {
  const Result<std::size_t> column = find_column(table, name, role);
  if (!column) return column.error();
  if (words[*column].is_text()) return Error{about(words[*column], name, table.rows) + "."};
  return column;
}

struct Chosen {
  std::size_t target = 0;
  std::vector<std::size_t> inputs;
  std::optional<std::size_t> by, weights, sigma;

  // All whose cells must be there.
  std::vector<std::size_t> needed() const {
    std::vector<std::size_t> all = inputs;
    for (const auto& column : {weights, sigma})
      if (column) all.push_back(*column);
    all.push_back(target);
    return all;
  }
};

Result<Chosen> choose_columns(const Table& table, const FitOptions& options, std::vector<std::string>& notes) {
  const std::vector<Words> words = words_of(table);
  Chosen chosen;
  const Result<std::size_t> target = number_column(table, words, options.target, "target");
  if (!target) return target.error();
  chosen.target = *target;
  if (!options.by.empty()) {
    const Result<std::size_t> by = find_column(table, options.by, "groups");
    if (!by) return by.error();
    if (*by == *target) return Error{fmt::format("\"{}\" is the target and cannot make groups as well.", options.by)};
    chosen.by = *by;
  }
  if (static_cast<int>(!options.weights.empty()) + static_cast<int>(!options.sigma.empty()) +
          static_cast<int>(options.relative) >
      1)
    return Error{"weights, sigma and relative each say how much a row counts; give one of them."};
  for (const auto& [name, role, place] : {std::tuple(options.weights, "weights", &chosen.weights),
                                          std::tuple(options.sigma, "standard errors", &chosen.sigma)}) {
    if (name.empty()) continue;
    const Result<std::size_t> column = number_column(table, words, name, role);
    if (!column) return column.error();
    *place = *column;
  }
  for (const std::string& name : options.inputs) {
    const Result<std::size_t> column = number_column(table, words, name, "inputs");
    if (!column) return column.error();
    if (*column == *target) return Error{fmt::format("\"{}\" is the target and cannot be an input as well.", name)};
    if (chosen.by == *column)
      return Error{fmt::format("\"{}\" makes the groups and cannot be an input as well.", name)};
    if (std::find(chosen.inputs.begin(), chosen.inputs.end(), *column) != chosen.inputs.end()) {
      return Error{fmt::format("the input \"{}\" is named twice; name it once.", name)};
    }
    chosen.inputs.push_back(*column);
  }
  for (std::size_t c = 0; options.inputs.empty() && c < table.columns.size(); ++c) {
    if (c == *target || chosen.by == c || chosen.weights == c || chosen.sigma == c) continue;
    if (words[c].is_text()) {
      notes.push_back(fmt::format("a column was left out: {}", about(words[c], table.columns[c], table.rows)));
    } else if (words[c].missing == table.rows) {
      notes.push_back(fmt::format("the column \"{}\" has no values and was left out", table.columns[c]));
    } else {
      chosen.inputs.push_back(c);
    }
  }
  if (chosen.inputs.empty()) {
    if (!notes.empty()) return Error{fmt::format("the table has no input that is a number: {}.", notes.front())};
    return Error{"the table has no column besides the target; add the inputs of the formula."};
  }
  return chosen;
}

// Rows without missing values.
Result<std::vector<std::size_t>> complete_rows(const Table& table, const Chosen& chosen,
                                               std::vector<std::string>& notes) {
  const std::vector<std::size_t> needed = chosen.needed();
  std::vector<std::size_t> rows;
  std::string first;
  for (std::size_t r = 0; r < table.rows; ++r) {
    std::optional<std::size_t> missing;
    for (const std::size_t c : needed) {
      const double value = table.at(r, c);
      if (std::isinf(value))
        return Error{fmt::format("row {}, column \"{}\": the value is infinite; remove the row or correct the cell.",
                                 r + 1, table.columns[c])};
      if (std::isnan(value) && !missing) missing = c;
    }
    if (chosen.by && std::isnan(table.at(r, *chosen.by))) {
      const std::string* text = table.text_at(r, *chosen.by);
      if (!missing && (!text || is_missing(*text))) missing = *chosen.by;
    }
    if (!missing) {
      rows.push_back(r);
    } else if (first.empty()) {
      first = fmt::format("row {}, column \"{}\"", r + 1, table.columns[*missing]);
    }
  }
  if (const std::size_t lost = table.rows - rows.size(); lost == 1) {
    notes.push_back(fmt::format("a row of {} has a missing value ({}) and was left out", table.rows, first));
  } else if (lost > 1) {
    notes.push_back(
        fmt::format("{} of {} rows have missing values (the first: {}) and were left out", lost, table.rows, first));
  }
  return rows;
}

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

// Roots of the weights, as given: 1/sigma, 1/|target| or the root of the weight.
Result<std::vector<double>> roots_of_weights(const Table& table, const FitOptions& options, const Chosen& chosen,
                                             std::vector<std::size_t>& rows, std::vector<std::string>& notes) {
  std::vector<double> roots;
  if (!chosen.weights && !chosen.sigma && !options.relative) return roots;
  std::vector<std::size_t> counted;
  for (const std::size_t r : rows) {
    const auto refuse = [&](std::size_t c, const char* must) {
      return Error{fmt::format("row {}, column \"{}\": {}, not {}.", r + 1, table.columns[c], must, table.at(r, c))};
    };
    double root = 1;
    if (chosen.weights) {
      const double weight = table.at(r, *chosen.weights);
      if (weight < 0) return refuse(*chosen.weights, "a weight must be 0 or more");
      if (weight == 0) continue;
      root = std::sqrt(weight);
    } else if (chosen.sigma) {
      if (!(table.at(r, *chosen.sigma) > 0)) return refuse(*chosen.sigma, "a standard error must be more than 0");
      root = 1 / table.at(r, *chosen.sigma);
    } else {
      if (!(table.at(r, chosen.target) > 0))
        return refuse(chosen.target, "errors in proportion to the target need one that is above 0");
      root = 1 / table.at(r, chosen.target);
    }
    if (!(root > 1e-100 && root < 1e100))
      return refuse(chosen.needed()[0], "the weight is too far from 1 to compute with");
    counted.push_back(r);
    roots.push_back(root);
  }
  if (counted.size() < rows.size())
    notes.push_back(fmt::format("{} rows have the weight 0 and were left out", rows.size() - counted.size()));
  rows = std::move(counted);
  return roots;
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
  Result<std::vector<std::size_t>> complete = complete_rows(table, *chosen, data.notes);
  if (!complete) return complete.error();
  data.row_of_table = std::move(*complete);
  Result<std::vector<double>> roots = roots_of_weights(table, options, *chosen, data.row_of_table, data.notes);
  if (!roots) return roots.error();
  data.target = options.target;
  data.rows = data.row_of_table.size();
  const std::size_t columns = chosen->inputs.size() + 1;
  if (data.rows < std::max(fewest_rows, columns + 1)) {
    return Error{fmt::format("the table has {} rows{}, too few for {} columns; at least {} are needed.", data.rows,
                             data.rows < table.rows ? " without missing values" : "", columns,
                             std::max(fewest_rows, columns + 1))};
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
  for (const std::string& name : options.use) {
    if (std::find(data.columns.begin(), data.columns.end(), name) == data.columns.end()) {
      return Error{fmt::format("the column \"{}\" must be used but is not an input that varies; the inputs are {}.",
                               name, fmt::join(data.columns, ", "))};
    }
  }
  if (chosen->by) {
    if (Status grouped = make_groups(data, table, *chosen->by); !grouped) return grouped.error();
  }
  use_weights(data, std::move(*roots), chosen->sigma || options.relative);
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
