// nalm predict: what a fitted formula gives for the rows of a table.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/csv.hpp"
#include "cli/command.hpp"
#include "nalm/invalid.hpp"
#include "nalm/model.hpp"
#include "nalm/table.hpp"

namespace nalm::cli {

namespace {

struct PredictCommand {
  std::string model, data;
  bool append = false, mark_invalid = false;
};

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

int run_predict(const PredictCommand& o) {
  const Result<Model> model = load_model(o.model);
  if (!model) return fail(model.error());
  const Result<Expression> formula = stated_formula(*model);
  if (!formula) return fail({fmt::format("{}: {}", o.model, formula.error().message)});
  const Result<Table> table = read_table_file(o.data);
  if (!table) return fail(table.error());
  const std::vector<std::string> used = variables(*formula);
  std::vector<std::size_t> position;
  for (const std::string& name : used) {
    const auto found = std::find(table->columns.begin(), table->columns.end(), name);
    if (found == table->columns.end()) {
      return fail({fmt::format("{}: the formula needs the column \"{}\"; the columns are {}.", o.data, name,
                               fmt::join(table->columns, ", "))});
    }
    position.push_back(static_cast<std::size_t>(found - table->columns.begin()));
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
  fmt::format_to(out, "{}{}\n", csv_cell(target), o.mark_invalid ? ",invalid" : "");
  std::vector<double> values(used.size()), results;
  double squares = 0;
  std::size_t undefined = 0, first_undefined = 0;
  for (std::size_t r = 0; r < table->rows; ++r) {
    for (std::size_t k = 0; k < used.size(); ++k) values[k] = table->at(r, position[k]);
    const Result<double> y = evaluate(*formula, used, values);
    if (!y) return fail(y.error());
    results.push_back(*y);
    for (std::size_t c = 0; o.append && c < table->columns.size(); ++c)
      fmt::format_to(out, "{:.17g},", table->at(r, c));
    fmt::format_to(out, "{}", std::isnan(*y) ? "nan" : fmt::format("{:.17g}", *y));
    if (o.mark_invalid) fmt::format_to(out, ",{}", name_of(std::isfinite(*y) ? Invalid::No : Invalid::NotFinite));
    text.push_back('\n');
    if (!std::isfinite(*y)) {
      if (undefined++ == 0) first_undefined = r + 1;
    } else if (known != table->columns.end()) {
      const double error = *y - table->at(r, static_cast<std::size_t>(known - table->columns.begin()));
      squares += error * error;
    }
  }
  if (Status same = check_formula(*model, *table, results); !same)
    return fail({fmt::format("{}: {}", o.model, same.error().message)});
  write_data({text.data(), text.size()});
  if (undefined > 0)
    tell("The formula has no finite value in {} of {} rows; the first is row {}.\n", undefined, table->rows,
         first_undefined);
  const std::size_t defined = table->rows - undefined;
  if (known != table->columns.end() && defined > 0)
    tell("The table has the target \"{}\": root mean squared error {:.3g} on {} rows.\n", *known,
         std::sqrt(squares / static_cast<double>(defined)), defined);
  return yes;
}

}  // namespace

void add_predict(Program& program) {
  static PredictCommand o;
  program.add("predict", "What the formula of a fit gives for the rows of a table")
      .word("model", o.model, "Model file that \"nalm fit --format json\" wrote")
      .word("data", o.data, "Table (CSV); - is standard input. Columns are found by their names, in any order")
      .flag("--append", o.append, "Write the columns of the table too")
      .flag("--mark-invalid", o.mark_invalid, "Add a column that names rows where the formula has no finite value")
      .example(
          "  nalm fit data.csv --target y --format json -o model.json\n"
          "  nalm predict model.json new.csv > predictions.csv")
      .run([] { return run_predict(o); });
}

}  // namespace nalm::cli
