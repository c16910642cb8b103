// nalm predict: what a fitted formula gives for the rows of a table.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/csv.hpp"
#include "base/read_file.hpp"
#include "cli/command.hpp"
#include "nalm/fit.hpp"
#include "nalm/invalid.hpp"
#include "nalm/model.hpp"
#include "nalm/table.hpp"

namespace nalm::cli {

namespace {

struct PredictCommand {
  std::string model, data;
  bool append = false, mark_invalid = false, intervals = false, mark_outside = false;
};

// Which inputs of a row lie outside of the data that the formula was fitted to.
struct Outside {
  std::size_t count = 0;  // rows
  std::string first;      // "row 4, where x = 12 is above 9.9"

  // The columns of this row, with blanks between them; counts the row.
  std::string look(const FittedModel& fitted, const Table& table, std::size_t row) {
    std::string columns, why;
    for (const FitProbe::Range& range : fitted.box) {
      const auto found = std::find(table.columns.begin(), table.columns.end(), range.column);
      if (found == table.columns.end()) continue;
      const double value = table.at(row, static_cast<std::size_t>(found - table.columns.begin()));
      if (!(value < range.low) && !(value > range.high)) continue;
      columns += (columns.empty() ? "" : " ") + range.column;
      if (why.empty())
        why = fmt::format("row {}, where {} = {:.6g} is {} {:.6g}", row + 1, range.column, value,
                          value < range.low ? "below" : "above", value < range.low ? range.low : range.high);
    }
    if (columns.empty()) return "no";
    if (count++ == 0) first = why;
    return columns;
  }
};

// The constant of the group that a row belongs to.
Result<const FitGroups::Group*> group_of(const FitGroups& groups, const Table& table, std::size_t column,
                                         std::size_t row) {
  const std::string* text = table.text_at(row, column);
  const std::string name = text ? *text : fmt::format("{}", table.at(row, column));
  for (const FitGroups::Group& group : groups.groups)
    if (group.name == name) return &group;
  std::vector<std::string> names;
  for (const FitGroups::Group& group : groups.groups) names.push_back(group.name);
  return Error{fmt::format("row {}, column \"{}\": there is no group \"{}\" in the model; its groups are {}.", row + 1,
                           groups.column, name, fmt::join(names, ", "))};
}

// A file may say one thing and compute another: the formula is shown to people, and the layers are what was trained.
Status check_formula(const Model& model, const Table& table, const std::vector<double>& by_formula) {
  const std::vector<std::string> columns = model.column_names();
  std::vector<std::optional<std::size_t>> position;
  for (const std::string& name : columns) {
    const auto found = std::find(table.columns.begin(), table.columns.end(), name);
    position.emplace_back();
    if (found != table.columns.end()) position.back() = static_cast<std::size_t>(found - table.columns.begin());
  }
  // A column that the table does not have is not in the formula, so that it should not matter to the layers.
  std::vector<double> rows;
  for (std::size_t r = 0; r < table.rows; ++r)
    for (const auto& p : position) rows.push_back(p ? table.at(r, *p) : 1.0);
  const Result<std::vector<double>> by_layers = predict(model, rows, Precision::Double);
  if (!by_layers) return by_layers.error();
  for (std::size_t r = 0; r < table.rows; ++r) {
    constexpr double tolerance = 1e-3;  // sums of large terms cancel, and powers amplify
    const double a = by_formula[r], b = (*by_layers)[r], difference = std::fabs(a - b);
    if (difference > tolerance * std::max({std::fabs(a), std::fabs(b), 1.0}) && std::isfinite(difference))
      return Error{
          fmt::format("its formula is not what its layers compute: in row {} one gives {:.7g} and the other {:.7g}. "
                      "Somebody changed the file; make it again with nalm fit.",
                      r + 1, a, b)};
  }
  return Done{};
}

// Cells of these columns must be numbers, or missing.
Status check_cells(const Table& table, const std::vector<std::size_t>& columns) {
  for (const TextCell& cell : table.text) {
    if (!std::isnan(table.at(cell.row, cell.column)) || is_missing(cell.text)) continue;
    if (std::find(columns.begin(), columns.end(), cell.column) == columns.end()) continue;
    return Error{fmt::format("row {}, column \"{}\": \"{}\" is not a number; correct the cell, or leave it empty.",
                             cell.row + 1, table.columns[cell.column], cell.text.substr(0, 40))};
  }
  return Done{};
}

void say_what_it_is(const FittedModel& fitted) {
  if (fitted.verdict == "approximation")
    tell(
        "The formula is an approximation, good inside the data it was fitted to; outside of them it claims nothing.\n");
  if (fitted.verdict == "none") tell("The formula is the best candidate of a fit that found none to trust.\n");
}

int run_predict(const PredictCommand& o) {
  const Result<std::string> file = read_file(o.model, "model file");
  if (!file) return fail(file.error());
  const Result<Model> model = parse_model(*file, o.model);
  if (!model) return fail(model.error());
  const Result<FittedModel> fitted = read_fitted(*file, o.model);
  if (!fitted) return fail(fitted.error());
  const Result<Expression> formula = stated_formula(*model);
  if (!formula) return fail({fmt::format("{}: {}", o.model, formula.error().message)});
  Result<Table> table = read_table_file(o.data, o.append ? Cells::Text : Cells::Words);
  if (!table) return fail(table.error());
  if (Status units = take_units(*table); !units) return fail({fmt::format("{}: {}", o.data, units.error().message)});
  const auto find = [&](const std::string& name) -> Result<std::size_t> {
    const auto found = std::find(table->columns.begin(), table->columns.end(), name);
    if (found != table->columns.end()) return static_cast<std::size_t>(found - table->columns.begin());
    return Error{fmt::format("{}: the formula needs the column \"{}\"; the columns are {}.", o.data, name,
                             fmt::join(table->columns, ", "))};
  };
  const std::vector<std::string> used = variables(*formula);
  std::vector<std::size_t> position;
  for (const std::string& name : used) {
    const Result<std::size_t> column = find(name);
    if (!column) return fail(column.error());
    position.push_back(*column);
  }
  if (Status numbers = check_cells(*table, position); !numbers)
    return fail({fmt::format("{}: {}", o.data, numbers.error().message)});
  const FitGroups& groups = fitted->groups;
  std::size_t group_column = 0;
  if (!groups.groups.empty()) {
    const Result<std::size_t> column = find(groups.column);
    if (!column) return fail(column.error());
    group_column = *column;
  }
  std::vector<double> rows, reach;
  for (std::size_t r = 0; r < table->rows; ++r)
    for (const std::size_t c : position) rows.push_back(table->at(r, c));
  if (o.intervals) {
    reach = prediction_reach(fitted->spread, used, rows);
    if (reach.size() != table->rows)
      return fail(
          {fmt::format("{}: the file does not say how far its constants scatter, so that there are no intervals; "
                       "make it again with nalm fit.",
                       o.model)});
  }
  std::string target = model->target.empty() ? "y1" : model->target;
  const auto known = std::find(table->columns.begin(), table->columns.end(), target);
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  // Names that a spreadsheet would take for a formula, such as =cmd|..., stay as they are: they came with the table,
  // and a name that is changed is not found again by the next program.
  if (o.append) {
    for (const std::string& name : table->columns) fmt::format_to(out, "{},", csv_cell(name));
    if (known != table->columns.end()) target += " (predicted)";
  }
  fmt::format_to(out, "{}", csv_cell(target));
  if (o.intervals) fmt::format_to(out, ",{},{}", csv_cell(target + " low"), csv_cell(target + " high"));
  fmt::format_to(out, "{}{}\n", o.mark_outside ? ",outside" : "", o.mark_invalid ? ",invalid" : "");
  std::vector<double> values(used.size()), results;
  double squares = 0;
  std::size_t undefined = 0, first_undefined = 0, compared = 0;
  Outside outside;
  for (std::size_t r = 0; r < table->rows; ++r) {
    std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(r * used.size()), used.size(), values.begin());
    const Result<double> plain = evaluate(*formula, used, values);
    if (!plain) return fail(plain.error());
    results.push_back(*plain);
    double y = *plain, half = o.intervals ? reach[r] : 0;
    if (!groups.groups.empty()) {
      const Result<const FitGroups::Group*> group = group_of(groups, *table, group_column, r);
      if (!group) return fail({fmt::format("{}: {}", o.data, group.error().message)});
      const double constant = (*group)->value, own = ((*group)->high - (*group)->low) / 2;
      y = groups.added ? y + constant : y * constant;
      half = groups.added ? std::hypot(half, own) : std::hypot(half * constant, own * *plain);
    }
    for (std::size_t c = 0; o.append && c < table->columns.size(); ++c)
      fmt::format_to(out, "{},", csv_cell(*table->text_at(r, c)));
    const auto number = [](double value) { return std::isnan(value) ? "nan" : fmt::format("{:.17g}", value); };
    fmt::format_to(out, "{}", number(y));
    if (o.intervals) fmt::format_to(out, ",{},{}", number(y - half), number(y + half));
    const std::string columns_outside = outside.look(*fitted, *table, r);
    if (o.mark_outside) fmt::format_to(out, ",{}", csv_cell(columns_outside));
    if (o.mark_invalid) fmt::format_to(out, ",{}", name_of(std::isfinite(y) ? Invalid::No : Invalid::NotFinite));
    text.push_back('\n');
    if (!std::isfinite(y)) {
      if (undefined++ == 0) first_undefined = r + 1;
    } else if (known != table->columns.end()) {
      const double error = y - table->at(r, static_cast<std::size_t>(known - table->columns.begin()));
      if (std::isfinite(error)) squares += error * error, ++compared;
    }
  }
  if (Status same = check_formula(*model, *table, results); !same)
    return fail({fmt::format("{}: {}", o.model, same.error().message)});
  write_data({text.data(), text.size()});
  say_what_it_is(*fitted);
  if (outside.count > 0)
    tell("{} of {} rows lie outside of the data that the formula was fitted to; the first is {}.\n", outside.count,
         table->rows, outside.first);
  if (undefined > 0)
    tell("The formula has no finite value in {} of {} rows; the first is row {}.\n", undefined, table->rows,
         first_undefined);
  if (compared > 0)
    tell("The table has the target \"{}\": root mean squared error {:.3g} on {} rows.\n", *known,
         std::sqrt(squares / static_cast<double>(compared)), compared);
  return yes;
}

}  // namespace

void add_predict(Program& program) {
  static PredictCommand o;
  program.add("predict", "What the formula of a fit gives for the rows of a table")
      .word("model", o.model, "Model file that \"nalm fit --format json\" wrote")
      .word("data", o.data, "Table (CSV); - is standard input. Columns are found by their names, in any order")
      .flag("--append", o.append, "Write the columns of the table too")
      .flag("--intervals", o.intervals, "Add the ends of 99 % intervals for the target of each row")
      .flag("--mark-outside", o.mark_outside, "Add a column that names the inputs outside of the fitted data, or no")
      .flag("--mark-invalid", o.mark_invalid, "Add a column that names rows where the formula has no finite value")
      .example(
          "  nalm fit data.csv --target y --format json -o model.json\n"
          "  nalm predict model.json new.csv > predictions.csv\n"
          "  nalm predict model.json new.csv --append --intervals --mark-outside")
      .run([] { return run_predict(o); });
}

}  // namespace nalm::cli
