#include "report/lesson_page.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "formula/rewrite.hpp"
#include "model/lesson.hpp"
#include "report/page.hpp"
#include "report/picture.hpp"

namespace nalm {
namespace {

// As people write it.
std::string set_formula(std::string_view text) {
  return svg::escaped(replaced(replaced(std::string(text), "*", "\u00b7"), "-", "\u2212"));
}

std::string values_text(const LessonLine& line) {
  std::string text;
  for (std::size_t k = 0; k < line.values.size(); ++k) {
    if (k == 40) return text + "\u2026";
    const std::string value = set_formula(lesson_number(line.values[k]));
    if (line.worked.empty())
      text += (k ? ", " : "") + value;
    else
      text += fmt::format("{}{} = <strong>{}</strong>", k ? "<br>" : "", set_formula(line.worked[k]), value);
  }
  return text;
}

std::string table_of(const LessonLayer& layer) {
  std::string rows = fmt::format("<tr><th scope=\"row\">inputs</th><td></td><td>");
  for (std::size_t k = 0; k < layer.inputs.size() && k < 40; ++k)
    rows += (k ? ", " : "") + set_formula(lesson_number(layer.inputs[k]));
  rows += "</td></tr>\n";
  for (const LessonLine& line : layer.lines) {
    const bool learned = line.kind == LessonLine::Kind::Learned;
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td><code>{}</code></td></tr>\n", svg::escaped(line.name),
        learned ? "learned: " + svg::escaped(line.formula) : "<code>" + set_formula(line.formula) + "</code>",
        values_text(line));
  }
  return fmt::format(
      "<div class=\"box\" role=\"region\" tabindex=\"0\" aria-label=\"Steps\"><table>\n{}</table></div>\n", rows);
}

}  // namespace

Result<std::string> lesson_page(const Model& model, std::span<const double> input, std::string_view heading) {
  if (Status whole = check_model(model); !whole) return whole.error();
  std::vector<LessonLayer> layers;
  if (!input.empty()) {
    Result<std::vector<LessonLayer>> taught = lesson(model, input);
    if (!taught) return taught.error();
    layers = std::move(*taught);
  }
  std::string body = fmt::format("<h1>How {} computes</h1>\n", svg::escaped(heading));
  for (std::size_t k = 0; k < model.layers.size(); ++k) {
    const Layer& layer = model.layers[k];
    body += fmt::format("<section>\n<h2>Layer {}: {}</h2>\n<p>{}. <code>{}</code></p>\n", k + 1,
                        svg::escaped(layer.module->name), svg::escaped(layer.module->title),
                        set_formula(layer.module->formula));
    body += page_drawing(module_picture(*layer.module, layer.shape, &layer, page_width),
                         module_picture(*layer.module, layer.shape, &layer, phone_width));
    if (!layers.empty()) body += table_of(layers[k]);
    body += "</section>\n";
  }
  if (constexpr double most = 1e4; formula_size(model) <= most) {
    const Result<Formula> formula = ideal_formula(model, model.column_names());
    if (!formula) return formula.error();
    body += fmt::format("<section>\n<h2>What the weights spell</h2>\n");
    for (std::size_t o = 0; o < formula->outputs.size(); ++o)
      body +=
          fmt::format("<p><code>y{} = {}</code></p>\n", o + 1, set_formula(print(in_digits(formula->outputs[o], 7))));
    for (const std::string& note : formula->notes) body += fmt::format("<p>{}</p>\n", svg::escaped(note));
    body += "</section>\n";
  }
  return make_plain_page(heading, body);
}

std::string module_page(const ModuleInfo& module) {
  const LayerShape shape = default_shape(module, 2, module.outputs_multiple_of);
  return picture_page(module_picture(module, shape, nullptr, page_width),
                      module_picture(module, shape, nullptr, phone_width),
                      fmt::format("{}: {}", module.name, module.title),
                      {fmt::format("Learned: {}.", svg::with_minus(module.learned)), std::string(module.formula),
                       std::string(module.citation)});
}

}  // namespace nalm
