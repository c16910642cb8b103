#include "model/lesson.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "formula/node.hpp"
#include "formula/rewrite.hpp"
#include "model/anatomy.hpp"

namespace nalm {
namespace {

using Values = std::map<std::string, double, std::less<>>;

// The text with numbers in the place of names; negative ones in brackets, unless one stands there already.
std::string filled(const Expression& expression, const Values& values) {
  const std::string text = print(in_digits(expression, 6));
  std::string result;
  for (std::size_t k = 0; k < text.size();) {
    if (!formula::is_letter(text[k])) {
      result += text[k++];
      continue;
    }
    std::size_t end = k;
    while (end < text.size() && (formula::is_letter(text[end]) || formula::is_digit(text[end]))) ++end;
    const auto found = values.find(std::string_view(text).substr(k, end - k));
    if (found == values.end()) {
      result.append(text, k, end - k);
    } else {
      const std::string number = lesson_number(found->second);
      const bool alone = result.empty() || (result.back() == '(' && end < text.size() && text[end] == ')');
      result += number.starts_with('-') && !alone ? "(" + number + ")" : number;
    }
    k = end;
  }
  return result;
}

// The formula of a weight where it is one of parameters of the same shape, element by element.
std::vector<std::string> worked_weight(std::string_view formula_text, const Anatomy& anatomy, const AnatomyPart& part,
                                       const Values& values) {
  const Result<Expression> parsed = parse_expression(formula_text);
  if (!parsed) return {};
  std::vector<std::string> worked;
  for (std::size_t k = 0; k < part.symbols.size(); ++k) {
    Values named;
    for (const std::size_t used : part.uses) {
      const AnatomyPart& parameter = anatomy.parts[used];
      if (parameter.symbols.size() != part.symbols.size()) return {};
      named.emplace(parameter.name, values.at(parameter.symbols[k]));
    }
    for (const std::string& name : variables(*parsed))
      if (!named.contains(name)) return {};
    worked.push_back(filled(*parsed, named));
  }
  return worked;
}

// More than this nobody reads.
constexpr std::size_t longest_text = 150, most_values = 8;

void shorten(std::vector<std::string>& worked) {
  bool readable = worked.size() <= most_values;
  for (const std::string& text : worked) readable = readable && text.size() <= longest_text;
  if (!readable) worked.clear();
}

}  // namespace

std::string lesson_number(double value) {
  // Rounding noise around 0 is of no interest here.
  return fmt::format("{:.6g}", std::fabs(value) < 1e-300 ? 0.0 : value);
}

Result<std::vector<LessonLayer>> lesson(const Model& model, std::span<const double> input) {
  const Result<std::vector<ExplainedLayer>> explained = explain(model, input);
  if (!explained) return explained.error();
  std::vector<LessonLayer> layers;
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    const Layer& layer = model.layers[l];
    const ModuleInfo& module = *layer.module;
    const ExplainedLayer& computed = (*explained)[l];
    LessonLayer one{&layer, computed.inputs, {}};
    // Wide layers have too many symbols to be worth the work.
    constexpr int most_numbers = 400;
    const bool small = layer.shape.inputs * layer.shape.outputs <= most_numbers;
    const Anatomy anatomy =
        anatomy_of(module, small ? layer.shape : default_shape(module, 2, module.outputs_multiple_of));
    Values values;
    if (small)
      for (const auto& [symbol, value] : values_of(anatomy, layer, computed)) values.emplace(symbol, value);
    for (const AnatomyPart& part : anatomy.parts) {
      LessonLine line;
      line.name = part.name;
      const ExplainedArray* array = nullptr;
      switch (part.kind) {
        case AnatomyPart::Kind::Input:
          continue;
        case AnatomyPart::Kind::Parameter: {
          const ParameterInfo& parameter = module.parameters[part.index];
          line.kind = LessonLine::Kind::Learned;
          line.formula = parameter.meaning;
          line.dimensions = dimensions(module, parameter, layer.shape);
          const auto size = static_cast<std::size_t>(size_of(module, parameter.axes, layer.shape));
          std::size_t first = 0;
          for (std::size_t k = 0; k < part.index; ++k)
            if (is_present(module.parameters[k], layer.shape))
              first += static_cast<std::size_t>(size_of(module, module.parameters[k].axes, layer.shape));
          line.values.assign(layer.parameters.begin() + static_cast<std::ptrdiff_t>(first),
                             layer.parameters.begin() + static_cast<std::ptrdiff_t>(first + size));
          break;
        }
        case AnatomyPart::Kind::Weight:
          line.kind = LessonLine::Kind::Weight;
          array = &computed.weights[part.index];
          // One that is the parameter has been told already.
          if (part.uses.size() == 1 && anatomy.parts[part.uses.front()].name == part.name &&
              std::any_of(one.lines.begin(), one.lines.end(), [&](const LessonLine& told) {
                return told.name == part.name && told.values == array->values;
              }))
            continue;
          if (small) line.worked = worked_weight(array->formula, anatomy, part, values);
          break;
        case AnatomyPart::Kind::Step:
          line.kind = LessonLine::Kind::Step;
          array = &computed.steps[part.index];
          break;
        case AnatomyPart::Kind::Output:
          line.kind = LessonLine::Kind::Output;
          line.name = "y";
          line.values = computed.outputs;
          line.dimensions = {layer.shape.outputs};
          if (small && part.formulas.size() == 1) line.formula = print(part.formulas.front());
          if (line.formula.size() > longest_text) line.formula.clear();
          break;
      }
      if (array) {
        line.formula = array->formula;
        line.dimensions = array->dimensions;
        line.values = array->values;
      }
      if (small && (part.kind == AnatomyPart::Kind::Step || part.kind == AnatomyPart::Kind::Output))
        for (const Expression& formula : part.formulas) line.worked.push_back(filled(formula, values));
      shorten(line.worked);
      one.lines.push_back(std::move(line));
    }
    layers.push_back(std::move(one));
  }
  return layers;
}

}  // namespace nalm
