// A network with what it has learned, and the pictures that tell what this is all about.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "formula/rewrite.hpp"
#include "report/picture.hpp"

namespace nalm {
namespace network_drawing {
namespace {

using svg::Anchor;
using svg::Drawing;

constexpr double node_radius = 14, node_gap = 52;

struct NodePlace {
  double x, y;
};

// The weights that lines are drawn for: the first array that says which inputs take part.
const ExplainedArray* drawn_weights(const ExplainedLayer& layer) {
  for (std::size_t k = 0; k < layer.weights.size(); ++k)
    if (is_weight(layer.module->weights[k].role)) return &layer.weights[k];
  return nullptr;
}

void draw_weight(Drawing& drawing, NodePlace from, NodePlace to, double weight, double at) {
  const bool off = std::fabs(weight) < 0.005;
  const svg::Colour colour = off ? svg::rule : weight > 0 ? svg::blue : svg::orange;
  drawing.line(
      from.x + node_radius, from.y, to.x - node_radius, to.y,
      {.stroke = colour, .width = off ? 1.0 : 1 + 1.6 * std::min(1.0, std::fabs(weight)), .dash = off ? "3 4" : ""});
  const double x = from.x + at * (to.x - from.x), y = from.y + at * (to.y - from.y);
  const std::string text = svg::number(weight, 3);
  const double width = svg::width_of(text, {.size = 10.5}) + 8;
  drawing.rectangle(x - width / 2, y - 8, width, 16, {.fill = svg::paper, .stroke = colour, .width = 0.8}, 4);
  drawing.text(x, y + 3.8, text, {.size = 10.5, .colour = off ? svg::soft : colour, .anchor = Anchor::Middle});
}

void draw_node(Drawing& drawing, NodePlace at, std::string_view name, svg::Colour line, svg::Colour fill) {
  drawing.circle(at.x, at.y, node_radius, {.fill = fill, .stroke = line, .width = 1.5});
  drawing.mathematics(at.x, at.y + 4, name, {.size = 11.5, .anchor = Anchor::Middle});
}

// Gives the lowest y.
double draw_network(Drawing& drawing, const Model& model, const Formula& formula, double width, double top) {
  const std::vector<double> ones(static_cast<std::size_t>(model.inputs()), 1.0);
  const Result<std::vector<ExplainedLayer>> layers = explain(model, ones);
  if (!layers) return top;
  std::vector<std::string> texts;
  double text_width = 0;
  constexpr svg::Font formula_font{.size = 13};
  for (std::size_t o = 0; o < formula.outputs.size(); ++o) {
    texts.push_back(fmt::format("y{} = {}", o + 1, print(in_digits(formula.outputs[o], 4))));
    text_width = std::max(text_width, svg::mathematics_width(texts.back(), formula_font));
  }
  text_width = std::min(text_width, width * 0.45);
  std::size_t most = static_cast<std::size_t>(model.inputs());
  for (const ExplainedLayer& layer : *layers) most = std::max(most, layer.outputs.size());
  const double left = 34, right = width - text_width - 60, step = (right - left) / static_cast<double>(layers->size());
  const double height = node_gap * static_cast<double>(most - 1);
  const auto place = [&](std::size_t column, std::size_t k, std::size_t count) {
    return NodePlace{
        left + step * static_cast<double>(column),
        top + node_radius + height / 2 + node_gap * (static_cast<double>(k) - (static_cast<double>(count) - 1) / 2)};
  };
  for (std::size_t l = 0; l < layers->size(); ++l) {
    const ExplainedLayer& layer = (*layers)[l];
    const ExplainedArray* weights = drawn_weights(layer);
    const std::size_t inputs = layer.inputs.size(), outputs = layer.outputs.size();
    for (std::size_t i = 0; i < inputs; ++i)
      for (std::size_t o = 0; o < outputs; ++o) {
        const double weight =
            weights && weights->values.size() == inputs * outputs ? weights->values[i * outputs + o] : 1;
        // Labels of lines that cross stand at different places.
        draw_weight(drawing, place(l, i, inputs), place(l + 1, o, outputs), weight, o % 2 ? 0.62 : 0.36);
      }
    drawing.text(left + step * (static_cast<double>(l) + 0.5), top + height + 2 * node_radius + 20, layer.module->name,
                 {.size = 11.5, .anchor = Anchor::Middle, .bold = true});
  }
  const std::vector<std::string> columns = model.column_names();
  for (std::size_t i = 0; i < static_cast<std::size_t>(model.inputs()); ++i)
    draw_node(drawing, place(0, i, static_cast<std::size_t>(model.inputs())), columns[i], svg::blue, svg::blue_wash);
  for (std::size_t l = 0; l < layers->size(); ++l) {
    const std::size_t outputs = (*layers)[l].outputs.size();
    for (std::size_t o = 0; o < outputs; ++o) {
      const NodePlace at = place(l + 1, o, outputs);
      const bool last = l + 1 == layers->size();
      draw_node(drawing, at, fmt::format("{}{}", last ? "y" : "h", o + 1), svg::ink, svg::paper);
      if (last) drawing.mathematics(at.x + node_radius + 10, at.y + 4.5, texts[o], formula_font);
    }
  }
  return top + height + 2 * node_radius + 26;
}

// A NAU that adds and subtracts: three inputs, two outputs.
Model idea_model() {
  const ModuleInfo& nau = **find_module("NAU");
  return {{{&nau, default_shape(nau, 3, 2), {1, 0, -1, 1, 0, 1}}}, {}};
}

}  // namespace
}  // namespace network_drawing

Result<Picture> network_picture(const Model& model, double width) {
  using namespace network_drawing;
  const Result<Formula> formula = ideal_formula(model, model.column_names());
  if (!formula) return formula.error();
  Picture picture;
  picture.width = width;
  picture.title = fmt::format("{}: weights and formulas", print(model.stack()));
  picture.height = draw_network(picture.drawing, model, *formula, width, 14) + 12;
  return picture;
}

Picture idea_picture(double width) {
  using namespace network_drawing;
  const Model model = idea_model();
  const Result<Formula> formula = ideal_formula(model, model.column_names());
  const std::vector<double> far{1000, 250, 40};
  const Result<std::vector<double>> outputs = predict(model, far, Precision::Double);
  Picture picture;
  picture.width = width;
  picture.title = "A layer whose trained weights are a formula: NAU with three inputs and two outputs";
  Drawing& drawing = picture.drawing;
  const bool narrow = width < 480;
  const svg::Font head{.size = narrow ? 10.0 : 12.5, .bold = true},
      below{.size = narrow ? 9.5 : 11.0, .colour = svg::soft};
  drawing.text(14, 20, "inputs", head);
  drawing.text(14, 35, narrow ? "1 to 2" : "in training: from 1 to 2", below);
  const auto placed = [](svg::Font font, Anchor anchor) {
    font.anchor = anchor;
    return font;
  };
  const double middle = width * (narrow ? 0.32 : 0.43);
  drawing.text(middle, 20, "weights", placed(head, Anchor::Middle));
  drawing.text(middle, 35, narrow ? "\u22121, 0 or 1" : "end at \u22121, 0 or 1", placed(below, Anchor::Middle));
  drawing.text(width - 14, 20, "outputs", placed(head, Anchor::End));
  drawing.text(width - 14, 35, "formulas that hold anywhere", placed(below, Anchor::End));
  double y = draw_network(drawing, model, *formula, width, 52);
  y += 14;
  drawing.mathematics(
      width / 2, y,
      fmt::format("at x = ({}, {}, {}), far outside: y1 = {}, y2 = {}", svg::number(far[0]), svg::number(far[1]),
                  svg::number(far[2]), svg::number((*outputs)[0]), svg::number((*outputs)[1])),
      {.size = narrow ? 9.5 : 12.0, .anchor = Anchor::Middle});
  picture.height = y + 14;
  return picture;
}

Picture task_picture(double width) {
  using namespace network_drawing;
  Picture picture;
  picture.width = width;
  picture.title = "The Single Module Arithmetic Task: from the input vector to the target";
  Drawing& drawing = picture.drawing;
  const bool narrow = width < 480;
  const double size = narrow ? 10.5 : 11.5;
  const svg::Font words{.size = size}, strong{.size = size, .bold = true}, soft{.size = size - 1, .colour = svg::soft};
  const auto middle = [](svg::Font font) {
    font.anchor = Anchor::Middle;
    return font;
  };
  constexpr int cells = 10, first = 3;  // x4 and x5 are the operands
  const double cell = std::min(44.0, (width - 28) / cells), left = (width - cell * cells) / 2, top = 44;
  drawing.text(left, 18, "input vector x", strong);
  drawing.text(left, 34,
               narrow ? "two relevant elements, the others must be ignored"
                      : "two of its elements are relevant; the module is not told which, and must ignore the others",
               soft);
  for (int nth = 0; nth < 2 * cells; ++nth) {
    const int k = nth % cells;
    const bool relevant = k == first || k == first + 1;
    if (relevant != (nth >= cells)) continue;  // their frames are drawn over those of the others
    drawing.rectangle(left + k * cell, top, cell, 28,
                      {.fill = relevant ? svg::blue_wash : svg::panel,
                       .stroke = relevant ? svg::blue : svg::rule,
                       .width = relevant ? 1.6 : 0.8});
    drawing.mathematics(
        left + (k + 0.5) * cell, top + 18.5, fmt::format("x{}", k + 1),
        {.size = size, .colour = relevant ? svg::ink : svg::soft, .anchor = Anchor::Middle, .bold = relevant});
  }
  const double box_width = width / 2 - 28, module_x = 14, target_x = width / 2 + 14, box_top = 130,
               box_height = narrow ? 44 : 54;
  const auto arrow = [&](double x1, double y1, double x2, double y2, svg::Colour colour) {
    const double half = (y1 + y2) / 2;
    drawing.path(
        fmt::format("M{:.5g},{:.5g}C{:.5g},{:.5g} {:.5g},{:.5g} {:.5g},{:.5g}", x1, y1, x1, half, x2, half, x2, y2),
        {.stroke = colour, .width = 1.5}, true);
  };
  // All of the vector goes into the module; two elements make the target.
  const double brace = top + 34;
  drawing.path(fmt::format("M{:.5g},{:.5g}v6H{:.5g}v-6", left + 2, brace, left + cells * cell - 2),
               {.stroke = svg::soft, .width = 1});
  arrow(module_x + box_width / 2, brace + 6, module_x + box_width / 2, box_top - 2, svg::soft);
  arrow(left + (first + 0.5) * cell, top + 28, target_x + box_width / 2 - 12, box_top - 2, svg::blue);
  arrow(left + (first + 1.5) * cell, top + 28, target_x + box_width / 2 + 12, box_top - 2, svg::blue);
  const auto box = [&](double x, svg::Colour line, svg::Colour fill, std::string_view title,
                       const std::vector<std::string>& lines) {
    drawing.rectangle(x, box_top, box_width, box_height, {.fill = fill, .stroke = line, .width = 1.4}, 6);
    drawing.text(x + box_width / 2, box_top + 17, title, middle(strong));
    double y = box_top + 17;
    for (const std::string& text : lines)
      for (const std::string& line_text : svg::wrapped(text, box_width - 12, soft))
        drawing.text(x + box_width / 2, y += 13, line_text, middle(soft));
  };
  box(module_x, svg::orange, svg::orange_wash, "one module",
      {narrow ? "one layer, one output ŷ" : "one layer with one output ŷ; its weights are learned"});
  box(target_x, svg::blue, svg::blue_wash, "target t = x₄ ∘ x₅", {"∘ is one of + − × ÷"});
  const double error_top = box_top + box_height + 34, error_width = std::min(width - 28, 430.0),
               error_x = (width - error_width) / 2;
  arrow(module_x + box_width / 2, box_top + box_height, width / 2 - 14, error_top - 2, svg::orange);
  arrow(target_x + box_width / 2, box_top + box_height, width / 2 + 14, error_top - 2, svg::blue);
  drawing.rectangle(error_x, error_top, error_width, 50, {.fill = svg::paper, .stroke = svg::ink, .width = 1.4}, 6);
  drawing.text(width / 2, error_top + 18, "mean of (ŷ − t)², to be made small", middle(strong));
  drawing.text(width / 2, error_top + 35,
               narrow ? "solved: below that of weights off by 0.00001"
                      : "solved: on the test range below that of weights that are off by 0.00001",
               middle(soft));
  // The ranges on a line of numbers.
  const double axis = error_top + 100, unit = (width - 60) / 6.4, zero = 30;
  drawing.line(zero, axis, zero + 6.3 * unit, axis, {.stroke = svg::soft});
  const auto range = [&](double lo, double hi, svg::Colour colour, std::string_view name) {
    drawing.rectangle(zero + lo * unit, axis - 7, (hi - lo) * unit, 14, {.fill = colour, .opacity = 0.85}, 3);
    drawing.text(zero + (lo + hi) / 2 * unit, axis - 13, name, middle(words));
  };
  range(1, 2, svg::blue, "training");
  range(2, 6, svg::orange, narrow ? "test" : "test: numbers that it has never seen");
  for (int k = 0; k <= 6; ++k) {
    drawing.line(zero + k * unit, axis + 7, zero + k * unit, axis + 11, {.stroke = svg::soft});
    drawing.text(zero + k * unit, axis + 23, std::to_string(k), middle(soft));
  }
  picture.height = axis + 34;
  return picture;
}

}  // namespace nalm
