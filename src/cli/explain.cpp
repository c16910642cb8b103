// nalm explain: how a model computes its output, step by step, and the formula that its weights spell.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "base/write_file.hpp"
#include "cli/command.hpp"
#include "cli/list_tasks.hpp"
#include "formula/rewrite.hpp"
#include "model/lesson.hpp"
#include "nalm/model.hpp"
#include "report/lesson_page.hpp"

namespace nalm::cli {

namespace {

struct ExplainOptions {
  std::string model, html;
  std::vector<double> input;
  bool literal = false;
};

std::string vector_text(const std::vector<double>& values) {
  std::string text;
  for (double v : values) text += (text.empty() ? "" : ", ") + lesson_number(v);
  return values.size() == 1 ? text : "(" + text + ")";
}

void print_line(const LessonLine& line) {
  if (line.kind == LessonLine::Kind::Learned)
    put("  {}, learned: {}\n", line.name, line.formula);
  else
    put("  {}{}{}\n", line.name, line.formula.empty() ? "" : " = ", line.formula);
  if (!line.worked.empty()) {
    for (std::size_t k = 0; k < line.values.size(); ++k) {
      const std::string place = line.values.size() == 1 ? "=" : fmt::format("[{}]", k + 1),
                        value = lesson_number(line.values[k]);
      put("      {} {}\n", place, line.worked[k] == value ? value : fmt::format("{} = {}", line.worked[k], value));
    }
    return;
  }
  // The last index runs along a line; a last index of one is no index.
  const std::size_t width = line.dimensions.empty() ? 1 : static_cast<std::size_t>(line.dimensions.back());
  if (width == 1 || line.dimensions.size() == 1) {
    put("      = {}\n", vector_text(line.values));
    return;
  }
  for (std::size_t k = 0; k < line.values.size(); k += width) {
    const auto first = line.values.begin() + static_cast<std::ptrdiff_t>(k);
    put("      [{}] {}\n", k / width + 1, vector_text({first, first + static_cast<std::ptrdiff_t>(width)}));
  }
}

// The formula with every gate replaced by 0 or 1 that is so close to it at this input.
Expression decide_gates(const Expression& root, const std::vector<std::string>& names,
                        const std::vector<double>& values) {
  return rewrite(root, [&](const Expression& e) -> std::optional<Expression> {
    if (e.kind() != Expression::Kind::Call || e.name() != "sigmoid") return std::nullopt;
    const Result<double> gate = evaluate(e, names, values);
    if (!gate || std::fabs(*gate - std::round(*gate)) >= 1e-3) return std::nullopt;
    return Expression(std::round(*gate));
  });
}

int write_page(const Result<std::string>& page, const std::string& path) {
  if (!page) return fail(page.error());
  if (Status possible = may_write(path); !possible) return fail(possible.error());
  if (Status written = write_file(path, *page); !written) return fail(written.error());
  put("Written: {}\n", path);
  return yes;
}

int write_lesson(const Model& model, const ExplainOptions& options) {
  // The folder says nothing about the model, and a long path does not fit on a phone.
  const std::string name = std::filesystem::path(options.model).filename().string();
  return write_page(lesson_page(model, options.input, name), options.html);
}

int explain_model(const ExplainOptions& options) {
  std::error_code ignored;
  if (const auto module = find_module(options.model); module && !std::filesystem::exists(options.model, ignored)) {
    if (!options.html.empty()) return write_page(module_page(**module), options.html);
    print_module(**module);
    return yes;
  }
  const Result<Model> model = load_model(options.model);
  if (!model) return fail(model.error());
  const std::vector<std::string> columns = model->column_names();
  if (!options.html.empty()) return write_lesson(*model, options);
  if (!options.input.empty()) {
    const Result<std::vector<LessonLayer>> layers = lesson(*model, options.input);
    if (!layers) return fail(layers.error());
    for (std::size_t k = 0; k < layers->size(); ++k) {
      const LessonLayer& layer = (*layers)[k];
      const ModuleInfo& module = *layer.layer->module;
      const int outputs = layer.layer->shape.outputs;
      put("Layer {}: {} ({}), {} input{}, {} output{}\n", k + 1, module.name, module.title, layer.inputs.size(),
          layer.inputs.size() == 1 ? "" : "s", outputs, outputs == 1 ? "" : "s");
      put("  {}\n", module.formula);
      put("  inputs = {}\n", vector_text(layer.inputs));
      for (const LessonLine& line : layer.lines) print_line(line);
      put("  output = {}\n\n", vector_text(layer.lines.back().values));
    }
  }
  if (constexpr double most = 1e5; formula_size(*model) > most) {
    put("The formula is not printed: it could have {:.0e} terms.\n", formula_size(*model));
    return yes;
  }
  const Result<Formula> spelled = ideal_formula(*model, columns);
  if (!spelled) return fail(spelled.error());
  const Formula& formula = *spelled;
  put("The formula the weights spell{}:\n", formula.discrete ? "" : " (not all of them are discrete)");
  for (std::size_t o = 0; o < formula.outputs.size(); ++o) {
    const std::string text = print(formula.outputs[o]);
    put("  y{} = {}\n", o + 1, text);
    if (options.input.empty()) continue;
    const std::string decided = print(decide_gates(formula.outputs[o], columns, options.input));
    if (decided != text) put("     = {}   at this input, where gates are 0 or 1\n", decided);
  }
  for (const std::string& note : formula.notes) put("  note: {}\n", note);
  if (options.literal) {
    put("Exactly what the model computes:\n");
    const Result<Formula> literal = literal_formula(*model, columns);
    if (!literal) return fail(literal.error());
    for (std::size_t o = 0; o < literal->outputs.size(); ++o) put("  y{} = {}\n", o + 1, print(literal->outputs[o]));
  }
  return yes;
}

}  // namespace

void add_explain(Program& program) {
  static ExplainOptions options;
  program.add("explain", "How a model computes, step by step, and the formula it spells")
      .word("model", options.model, "Model file (JSON), or the name of a module")
      .numbers("--input", options.input, "One value per input, such as 2,3,4: show the computation for it")
      .flag("--literal", options.literal, "Also print the formula with every epsilon spelled out")
      .text("--html", options.html, "Write the same as a page with a picture of every layer to this file", Value::File)
      .example(
          "  nalm explain model.json --input 2,3,4\n  nalm explain model.json --input 2,3,4 --html lesson.html\n  nalm "
          "explain model.json --literal\n  nalm explain NMU")
      .run([] { return explain_model(options); });
}

}  // namespace nalm::cli
