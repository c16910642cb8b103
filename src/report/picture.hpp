// Pictures that explain: the architecture of a module, drawn from its header and its own code; a network with the
// numbers that it has learned and what they spell; the task that the survey sets to single modules.
#pragma once

#include <optional>
#include <string>

#include "nalm/model.hpp"
#include "report/svg.hpp"

namespace nalm {

struct Picture {
  svg::Drawing drawing{};
  double width = 0, height = 0;  // in pixels, of which an inch has 96
  std::string title{};
};

// The module with so many inputs and outputs; with a layer of it, the layer's numbers are in it.
Picture module_picture(const ModuleInfo& module, const LayerShape& shape, const Layer* numbers, double width);
// The layers of a model, one below the other.
Result<Picture> model_picture(const Model& model, double width);
// Inputs, weights as lines in the colour of their sign, outputs, and the formula of each.
Result<Picture> network_picture(const Model& model, double width);
// What the project is about, and the Single Module Arithmetic Task.
Picture idea_picture(double width);
Picture task_picture(double width);

// One SVG file. millimetres: the width in print, or 0.
std::string svg_of(const Picture& picture, double millimetres = 0, bool may_be_dark = true);

// For pages: a picture is drawn twice, for a screen and for a phone, and the page shows the one that fits.
inline constexpr double page_width = 640, phone_width = 330;
std::string page_drawing(const Picture& wide, const Picture& narrow);
// The picture with a heading and paragraphs as a page.
std::string picture_page(const Picture& wide, const Picture& narrow, std::string_view heading,
                         const std::vector<std::string>& paragraphs);

}  // namespace nalm
