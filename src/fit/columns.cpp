#include "fit/columns.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/utf8.hpp"
#include "formula/exports.hpp"

namespace nalm::fitting {

namespace {

constexpr std::size_t most_groups = 1000;

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

// ---- what a row counts ---------------------------------------------------------------------------------------------

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
    if (!(root > 1e-100 && root < 1e100)) {
      if (chosen.weights) return refuse(*chosen.weights, "a weight must lie between 1e-200 and 1e200");
      return refuse(chosen.sigma ? *chosen.sigma : chosen.target, "its size must lie between 1e-100 and 1e100");
    }
    counted.push_back(r);
    roots.push_back(root);
  }
  if (counted.size() < rows.size())
    notes.push_back(fmt::format("{} rows have the weight 0 and were left out", rows.size() - counted.size()));
  if (counted.empty() && !rows.empty())
    return Error{fmt::format("the column \"{}\" is 0 in every row; a row counts if its weight is above 0.",
                             table.columns[*chosen.weights])};
  rows = std::move(counted);
  return roots;
}

// A row that is there twice says no more than one of weight 2: both become one row, so that neither the verdict nor a
// split takes repetition for evidence. Where anything is counted, rows are put in order too: a weight of 2 and a
// repetition are then the same table, to the bit.
void join_equal_rows(const Table& table, const Chosen& chosen, ChosenRows& chosen_rows,
                     std::vector<std::string>& notes) {
  std::vector<std::size_t>& row_of_table = chosen_rows.rows;
  std::vector<double>& roots = chosen_rows.roots;
  const auto differs = [&](std::size_t a, std::size_t b) {  // -1 before, 0 equal, 1 after
    const auto compare = [](const auto& x, const auto& y) { return x < y ? -1 : y < x ? 1 : 0; };
    for (const std::size_t c : chosen.needed()) {
      if (c == chosen.weights) continue;
      if (const int order = compare(table.at(a, c), table.at(b, c))) return order;
    }
    if (!chosen.by) return 0;
    const std::string *left = table.text_at(a, *chosen.by), *right = table.text_at(b, *chosen.by);
    return left && right ? compare(*left, *right) : compare(table.at(a, *chosen.by), table.at(b, *chosen.by));
  };
  std::vector<std::size_t> order(row_of_table.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return differs(row_of_table[a], row_of_table[b]) < 0; });
  std::vector<std::size_t> rows;
  std::vector<double> squares;
  for (const std::size_t k : order) {
    const double square = roots.empty() ? 1 : roots[k] * roots[k];
    if (!rows.empty() && differs(rows.back(), row_of_table[k]) == 0) {
      squares.back() += square;
    } else {
      rows.push_back(row_of_table[k]);
      squares.push_back(square);
    }
  }
  if (rows.size() == order.size() && !chosen.weights) return;
  if (rows.size() < order.size())
    notes.push_back(fmt::format("{} rows repeat another one and count as its weight", order.size() - rows.size()));
  row_of_table = std::move(rows);
  const bool weighted = !roots.empty() && !chosen.weights;  // by numbers that have a unit
  roots.clear();
  if (!weighted && std::equal(squares.begin() + 1, squares.end(), squares.begin())) return;
  for (const double square : squares) roots.push_back(std::sqrt(square));
}

}  // namespace

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

Result<ChosenRows> choose_rows(const Table& table, const FitOptions& options, const Chosen& chosen,
                               std::vector<std::string>& notes) {
  Result<std::vector<std::size_t>> complete = complete_rows(table, chosen, notes);
  if (!complete) return complete.error();
  Result<std::vector<double>> roots = roots_of_weights(table, options, chosen, *complete, notes);
  if (!roots) return roots.error();
  ChosenRows rows{complete->size(), std::move(*complete), std::move(*roots)};
  join_equal_rows(table, chosen, rows, notes);
  return rows;
}

}  // namespace nalm::fitting
