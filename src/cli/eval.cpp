// nalm eval: predictions or gradients of a model on a table.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/command.hpp"
#include "nalm/invalid.hpp"
#include "nalm/model.hpp"
#include "nalm/table.hpp"

namespace nalm::cli {

namespace {

struct EvalOptions {
  std::string model, data, precision = "float";
  bool gradients = false, mark_invalid = false;
};

std::string number(double value, Precision precision) {
  if (std::isnan(value)) return "nan";
  return precision == Precision::Float ? fmt::format("{:.9g}", value) : fmt::format("{:.17g}", value);
}

// JSON has no NaN or infinity; both are null.
std::string json_number(double value, Precision precision) {
  return std::isfinite(value) ? number(value, precision) : "null";
}

std::string json_tensor(std::span<const int> dims, const double*& next, Precision precision) {
  std::string text = "[";
  for (int k = 0; k < dims[0]; ++k) {
    if (k > 0) text += ",";
    text += dims.size() == 1 ? json_number(*next++, precision) : json_tensor(dims.subspan(1), next, precision);
  }
  return text + "]";
}

void print_gradients(const Model& model, const Gradients& gradients, Precision precision) {
  std::string text = fmt::format("{{\"mse\":{},\"layers\":[", json_number(gradients.mse, precision));
  for (std::size_t k = 0; k < model.layers.size(); ++k) {
    const Layer& layer = model.layers[k];
    const double* next = gradients.layers[k].data();
    text += k > 0 ? ",{" : "{";
    bool first = true;
    for (const ParameterInfo& p : layer.module->parameters) {
      if (!is_present(p, layer.shape)) continue;
      const std::vector<int> dims = dimensions(*layer.module, p, layer.shape);
      text += fmt::format("{}\"{}\":{}", first ? "" : ",", p.name, json_tensor(dims, next, precision));
      first = false;
    }
    text += "}";
  }
  write_data(text + "]}\n");
}

int eval(const EvalOptions& options) {
  const Result<Model> model = load_model(options.model);
  if (!model) return fail(model.error());
  const Result<Table> table = read_table_file(options.data);
  if (!table) return fail(table.error());
  if (options.gradients && options.mark_invalid)
    return fail({"--mark-invalid marks rows of predictions, and --gradients writes none; leave one of them out."});
  const Precision precision = options.precision == "double" ? Precision::Double : Precision::Float;
  const std::size_t inputs = static_cast<std::size_t>(model->inputs()),
                    outputs = static_cast<std::size_t>(model->outputs());
  const std::size_t columns = table->columns.size();
  if (options.gradients ? columns != inputs + outputs : columns != inputs && columns != inputs + outputs) {
    return fail({fmt::format("{}: the table has {} columns, but the model needs {} inputs{}.", options.data, columns,
                             inputs, options.gradients ? fmt::format(" and then {} targets", outputs) : "")});
  }
  std::vector<double> x, t;
  for (std::size_t row = 0; row < table->rows; ++row) {
    for (std::size_t c = 0; c < columns; ++c) (c < inputs ? x : t).push_back(table->at(row, c));
  }
  if (options.gradients) {
    const Result<Gradients> result = gradients(*model, x, t, precision);
    if (!result) return fail(result.error());
    print_gradients(*model, *result, precision);
    return yes;
  }
  const Result<std::vector<double>> y = predict(*model, x, precision);
  if (!y) return fail(y.error());
  std::vector<Invalid> invalid;
  if (options.mark_invalid) {
    Result<std::vector<Invalid>> found = invalid_rows(*model, x, *y);
    if (!found) return fail({fmt::format("{}: {}", options.model, found.error().message)});
    invalid = std::move(*found);
  }
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  for (std::size_t o = 0; o < outputs; ++o) fmt::format_to(out, "{}y{}", o > 0 ? "," : "", o + 1);
  fmt::format_to(out, "{}\n", options.mark_invalid ? ",invalid" : "");
  for (std::size_t k = 0; k < y->size(); ++k) {
    fmt::format_to(out, "{}", number((*y)[k], precision));
    const bool last = (k + 1) % outputs == 0;
    if (last && options.mark_invalid) fmt::format_to(out, ",{}", name_of(invalid[k / outputs]));
    text.push_back(last ? '\n' : ',');
  }
  write_data({text.data(), text.size()});
  const auto count = [&](Invalid reason) { return std::count(invalid.begin(), invalid.end(), reason); };
  const auto poles = count(Invalid::Pole), not_finite = count(Invalid::NotFinite);
  if (poles + not_finite > 0)
    tell(
        "{} of {} rows have no valid result: {} not finite, {} where the formula divides by 0 and the model all the "
        "same gives a number.\n",
        poles + not_finite, table->rows, not_finite, poles);
  return yes;
}

}  // namespace

void add_eval(Program& program) {
  static EvalOptions options;
  program.add("eval", "Predictions or gradients of a model on a table")
      .word("model", options.model, "Model file (JSON)")
      .word("data", options.data, "Table (CSV); - is standard input. Columns: the inputs, then the targets")
      .choice("--precision", options.precision, {"float", "double"}, "float or double")
      .flag("--gradients", options.gradients,
            "Write, as JSON, the gradient of the mean squared error over all rows and outputs")
      .flag("--mark-invalid", options.mark_invalid,
            "Add a column that names what is wrong with a row: not finite, or a pole, where the formula divides by 0")
      .example(
          "  nalm eval model.json data.csv > predictions.csv\n"
          "  nalm eval model.json data.csv --mark-invalid\n"
          "  nalm eval model.json data.csv --precision double --gradients")
      .run([] { return eval(options); });
}

}  // namespace nalm::cli
