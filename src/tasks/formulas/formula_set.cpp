#include "tasks/formulas/formula_set.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/csv.hpp"
#include "base/hash.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "nalm/detail/portable.hpp"

namespace nalm {

namespace assets {
extern const std::string_view formulas;  // data/formulas.csv
extern const std::string_view feynman;   // data/feynman.csv
}  // namespace assets

namespace {

constexpr std::string_view header = "name,part,family,powers,target,formula,ranges,distractors,condition";
constexpr std::string_view families[] = {"product", "sum", "quotient", "root", "polynomial", "comparison", "function"};

// The parts between separators, without empty ones.
std::vector<std::string_view> filled_parts(std::string_view text, char separator) {
  std::vector<std::string_view> parts = split(text, separator);
  std::erase(parts, std::string_view());
  return parts;
}

// "m1 m2 [1,5); r [-2,2)": names, and the range that they share.
Status read_ranges(std::string_view text, bool distractor, std::vector<FormulaColumn>& columns) {
  for (const std::string_view group : filled_parts(text, ';')) {
    const Error bad{fmt::format("\"{}\" is not a range; write names and bounds such as \"m1 m2 [1,5)\".", group)};
    const std::size_t open = group.find('['), comma = group.find(',');
    if (open == std::string_view::npos || comma == std::string_view::npos || comma < open || group.back() != ')')
      return bad;
    const auto low = number_in<double>(trim(group.substr(open + 1, comma - open - 1)));
    const auto high = number_in<double>(trim(group.substr(comma + 1, group.size() - comma - 2)));
    const std::vector<std::string_view> names = filled_parts(group.substr(0, open), ' ');
    if (!low || !high || !std::isfinite(*high - *low) || !(*low < *high) || names.empty()) return bad;
    for (const std::string_view name : names) columns.push_back({std::string(name), *low, *high, distractor});
  }
  return Done{};
}

Result<Powers> read_powers(std::string_view text) {
  if (text == "integer") return Powers::Integer;
  if (text == "half") return Powers::Half;
  if (text == "any") return Powers::Any;
  return Error{fmt::format("\"{}\" is none of the powers integer, half and any.", text)};
}

// The formula must use exactly the columns that are not distractors, and the conditions no others.
Status check_names(const FormulaCase& formula) {
  std::set<std::string> used, all;
  for (const FormulaColumn& column : formula.columns) {
    if (column.name == formula.target)
      return Error{fmt::format("the column {} is also the target; rename one.", column.name)};
    if (!all.insert(column.name).second)
      return Error{fmt::format("the column {} has two ranges; keep one.", column.name)};
    if (!column.distractor) used.insert(column.name);
  }
  const std::vector<std::string> names = variables(formula.formula);
  for (const std::string& name : names)
    if (!used.contains(name)) return Error{fmt::format("{} has no range; add one such as \"{} [1,5)\".", name, name)};
  for (const std::string& name : used)
    if (std::find(names.begin(), names.end(), name) == names.end())
      return Error{fmt::format("{} is not in the formula; list it with the distractors.", name)};
  for (const Expression& condition : formula.conditions)
    for (const std::string& name : variables(condition))
      if (!used.contains(name)) return Error{fmt::format("the condition names {}, which is not in the formula.", name)};
  return Done{};
}

Result<FormulaCase> read_case(const std::vector<std::string>& cells, std::span<const std::string_view> parts) {
  if (cells.size() != 9) return Error{fmt::format("there are {} cells, and \"{}\" has 9.", cells.size(), header)};
  FormulaCase result;
  result.name = cells[0];
  result.part = cells[1];
  if (std::find(parts.begin(), parts.end(), result.part) == parts.end())
    return Error{fmt::format("the part \"{}\" is none of {}.", result.part, fmt::join(parts, ", "))};
  result.family = cells[2];
  if (std::find(std::begin(families), std::end(families), result.family) == std::end(families))
    return Error{fmt::format("\"{}\" is none of the families {}.", result.family, fmt::join(families, ", "))};
  const Result<Powers> powers = read_powers(cells[3]);
  if (!powers) return powers.error();
  result.powers = *powers;
  result.target = cells[4];
  result.text = cells[5];
  Result<Expression> formula = parse_expression(result.text);
  if (!formula) return formula.error();
  result.formula = std::move(*formula);
  if (Status read = read_ranges(cells[6], false, result.columns); !read) return read.error();
  if (Status read = read_ranges(cells[7], true, result.columns); !read) return read.error();
  for (const std::string_view condition : filled_parts(cells[8], ';')) {
    Result<Expression> parsed = parse_expression(condition);
    if (!parsed) return parsed.error();
    result.conditions.push_back(std::move(*parsed));
  }
  if (Status good = check_names(result); !good) return good.error();
  std::sort(result.columns.begin(), result.columns.end(),
            [](const FormulaColumn& a, const FormulaColumn& b) { return a.name < b.name; });
  return result;
}

// NaN where a name has no value, which check_names() excludes.
double value_of(const Expression& formula, std::span<const std::string> names, std::span<const double> values) {
  const Result<double> value = evaluate(formula, names, values);
  return value ? *value : std::nan("");
}

// Two passes: targets may be large beside how much they vary.
double size_of_target(const Table& table, std::size_t column, NoiseUnit unit) {
  const auto n = static_cast<double>(table.rows);
  double mean = 0, sum = 0;
  for (std::size_t row = 0; unit == NoiseUnit::Deviation && row < table.rows; ++row) mean += table.at(row, column) / n;
  for (std::size_t row = 0; row < table.rows; ++row) sum += portable::pow(table.at(row, column) - mean, 2);
  return std::sqrt(sum / n);
}

}  // namespace

std::vector<std::string> FormulaCase::column_names() const {
  std::vector<std::string> names;
  for (const FormulaColumn& column : columns) names.push_back(column.name);
  return names;
}

Result<std::vector<FormulaCase>> formula_set() { return read_formula_set(assets::formulas, "data/formulas.csv"); }

Result<std::vector<FormulaCase>> feynman_set() {
  return read_formula_set(assets::feynman, "data/feynman.csv", feynman_parts);
}

Result<std::vector<FormulaCase>> read_formula_set(std::string_view text, std::string_view source_name,
                                                  std::span<const std::string_view> parts) {
  std::vector<FormulaCase> all;
  std::set<std::string> names;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view row = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line == 1) {
      if (row != header) return Error{fmt::format("{}: line 1 must be \"{}\".", source_name, header)};
      continue;
    }
    if (row.empty()) continue;
    Result<FormulaCase> formula = read_case(cells_of(row), parts);
    if (!formula) return Error{fmt::format("{}: line {}: {}", source_name, line, formula.error().message)};
    if (!names.insert(formula->name).second)
      return Error{
          fmt::format("{}: line {}: the name {} is there already; choose another.", source_name, line, formula->name)};
    all.push_back(std::move(*formula));
  }
  return all;
}

std::string_view chosen_part(std::string_view name) {
  constexpr std::uint64_t seed = 2026;
  return Xoshiro(seed ^ hash_of(name)).unit() < 1.0 / 3 ? "unseen" : "tune";
}

std::uint64_t stream_seed(std::uint64_t seed, std::string_view formula, std::string_view column) {
  // Xoshiro's seeding spreads what is close together here.
  return hash_of(fmt::format("{}/{}/{}", seed, formula, column));
}

Result<Table> make_table(const FormulaCase& formula, std::size_t rows, double noise, std::uint64_t seed,
                         NoiseUnit unit) {
  const std::vector<std::string> names = formula.column_names();
  std::vector<Xoshiro> streams;
  streams.reserve(names.size());
  for (const std::string& name : names) streams.emplace_back(stream_seed(seed, formula.name, name));
  Table table;
  table.columns = names;
  table.columns.push_back(formula.target);
  table.has_header = true;
  table.values.reserve(rows * table.columns.size());
  std::vector<double> row(names.size());
  // A range that nearly always misses where the formula is defined is a mistake, not bad luck.
  const std::size_t most_tries = 1000 + 100 * rows;
  for (std::size_t tries = 0; table.rows < rows; ++tries) {
    if (tries == most_tries)
      return Error{fmt::format("{} has a finite value in only {} of {} rows; change its ranges or its condition.",
                               formula.name, table.rows, tries)};
    for (std::size_t k = 0; k < row.size(); ++k)
      row[k] = streams[k].between(formula.columns[k].low, formula.columns[k].high);
    const double target = value_of(formula.formula, names, row);
    if (!std::isfinite(target)) continue;
    if (!std::all_of(formula.conditions.begin(), formula.conditions.end(),
                     [&](const Expression& condition) { return value_of(condition, names, row) > 0; }))
      continue;
    table.values.insert(table.values.end(), row.begin(), row.end());
    table.values.push_back(target);
    ++table.rows;
  }
  if (noise > 0) {
    const std::size_t target = names.size();
    const double deviation = noise * size_of_target(table, target, unit);
    Xoshiro stream(stream_seed(seed, formula.name, "noise of " + formula.target));
    for (std::size_t r = 0; r < table.rows; ++r)
      table.values[r * table.columns.size() + target] += deviation * stream.gaussian();
  }
  return table;
}

}  // namespace nalm
