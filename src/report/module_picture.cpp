// The architecture of a module: what is computed from what, row by row from the inputs down to the output.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "base/text.hpp"
#include "model/anatomy.hpp"
#include "report/picture.hpp"

namespace nalm {
namespace module_drawing {
namespace {

using svg::Anchor;
using svg::Colour;
using svg::Drawing;
using svg::Font;
using svg::Pen;

constexpr double margin = 12, gap = 16, pad = 8, line_height = 13, cell_height = 17, most_rows = 12, most_columns = 6;
constexpr std::size_t most_letters = 200;
constexpr Font title_font{.size = 11.5, .bold = true}, formula_font{.size = 10.5},
    note_font{.size = 9.5, .colour = svg::soft}, value_font{.size = 10, .anchor = Anchor::Middle};

// What it is drawn as.
struct Look {
  std::string_view meaning, short_meaning;  // the short one where there is no room
  Colour line, fill;
  std::string_view dash;
};
enum Looks { input_look, learned_look, weight_look, gate_look, step_look, output_look };
constexpr Look looks[] = {{"input", "input", svg::blue, svg::blue_wash, ""},
                          {"learned", "learned", svg::orange, svg::paper, "4 3"},
                          {"weight: learned, or made of it", "weight", svg::orange, svg::orange_wash, ""},
                          {"gate: from 0 to 1, opens or shuts", "gate, 0 to 1", svg::green, svg::green_wash, ""},
                          {"step", "step", svg::soft, svg::panel, ""},
                          {"output", "output", svg::ink, svg::paper, ""}};

struct PictureBox {
  Looks look = step_look;
  std::string name;                   // set as a formula
  std::vector<std::string> names{};   // its lines
  std::vector<std::string> formulas;  // lines
  std::vector<std::string> notes;     // lines of words
  std::vector<std::string> circles;   // inputs and outputs
  std::vector<double> values;
  int rows = 0, columns = 0;
  std::vector<std::size_t> from;
  int rank = 0;                                // 0 is the lowest row
  bool bend = false;                           // only the bend of a line that passes a row
  double width = 0, height = 0, x = 0, y = 0;  // x: the middle; y: the top

  double spacing() const { return bend ? 6 : gap; }  // half of it on either side; lines may be closer than boxes
  double row_top = 0, row_bottom = 0;
  double cell = 0;  // width of a number's cell, as many of them abreast as there is room for
  int columns_shown = 0;
};

std::string ends_at(const Discrete& discrete) {
  if (discrete.whole) return "ends at a whole number";
  if (discrete.is_any()) return "";
  std::string values;
  for (std::size_t k = 0; k < discrete.values.size(); ++k)
    values += (k == 0 ? "" : k + 1 == discrete.values.size() ? " or\u00a0" : ", ") + svg::number(discrete.values[k]);
  return "ends at " + values;
}

std::string for_each(const Axes& axes, const LayerShape& shape) {
  std::vector<std::string> each;
  for (int k = 0; k < axes.count; ++k) {
    const Axis axis = axes.axis[static_cast<unsigned>(k)];
    if (axis == Axis::Input) each.emplace_back("input");
    if (axis == Axis::Output && shape.outputs > 1) each.emplace_back("output");
    if (axis == Axis::Path) each.emplace_back("path");
  }
  std::string text;
  for (const std::string& one : each) text += (text.empty() ? "one for each " : " and ") + one;
  return text;
}

// A weight that is its parameter, perhaps within bounds: one box for both.
bool is_raw(const Quantity& weight, std::string_view parameter) {
  return weight.formula == fmt::format("{} as it is", parameter) ||
         weight.formula.starts_with(fmt::format("{} clamped to", parameter)) ||
         weight.formula.starts_with(fmt::format("{} as it is;", parameter));
}

// How the header writes the output.
std::vector<std::string> output_formulas(const ModuleInfo& module) {
  std::vector<std::string> formulas;
  for (const std::string_view part : split(module.formula, ';'))
    if (part.starts_with("y_o = ") || part.starts_with("y = ") || part.starts_with("outputs "))
      formulas.emplace_back(part);
  return formulas;
}

// Of a box that stands for many: what all of them have in common is said once.
void settle_words(PictureBox& box) {
  std::string all;
  for (const std::string& formula : box.formulas) all += (all.empty() ? "" : ", ") + formula;
  box.formulas.clear();
  if (all == "as it is") {
    box.notes.insert(box.notes.begin(), "as they are, one of each for every input");
  } else if (std::ranges::count(all, ',') == std::ranges::count(box.name, ',')) {
    box.name = all;  // exp(x), log(x) say more than exp, log
  } else {
    box.formulas = {all};
  }
}

// Many boxes that are made of the same and serve the same say less than one that lists them. Numbers keep their boxes.
std::vector<PictureBox> many_as_one(const std::vector<PictureBox>& boxes) {
  constexpr std::size_t many = 6;
  using Kin = std::tuple<Looks, std::vector<std::size_t>, std::vector<std::size_t>>;
  std::map<Kin, std::vector<std::size_t>> families;
  for (std::size_t k = 0; k < boxes.size(); ++k) {
    std::vector<std::size_t> users;
    for (std::size_t u = 0; u < boxes.size(); ++u)
      if (std::ranges::count(boxes[u].from, k)) users.push_back(u);
    if (boxes[k].circles.empty() && boxes[k].values.empty())
      families[{boxes[k].look, boxes[k].from, users}].push_back(k);
  }
  std::vector<std::size_t> first(boxes.size());  // the box that stands for each
  std::iota(first.begin(), first.end(), 0);
  for (const auto& [kin, family] : families)
    if (family.size() >= many)
      for (const std::size_t k : family) first[k] = family.front();
  std::vector<PictureBox> result;
  std::vector<std::size_t> place(boxes.size());
  for (std::size_t k = 0; k < boxes.size(); ++k) {
    if (first[k] == k) {
      place[k] = result.size();
      result.push_back(boxes[k]);
      continue;
    }
    place[k] = place[first[k]];
    PictureBox& one = result[place[k]];
    one.name += ", " + boxes[k].name;
    for (const std::string& formula : boxes[k].formulas)
      if (!std::ranges::count(one.formulas, formula)) one.formulas.push_back(formula);
    for (const std::string& note : boxes[k].notes)
      if (!std::ranges::count(one.notes, note)) one.notes.push_back(note);
  }
  for (std::size_t k = 0; k < boxes.size(); ++k)
    if (first[k] == k && std::ranges::count(first, k) > 1) settle_words(result[place[k]]);
  for (PictureBox& box : result) {
    for (std::size_t& from : box.from) from = place[from];
    box.from.erase(std::unique(box.from.begin(), box.from.end()), box.from.end());
  }
  return result;
}

std::vector<PictureBox> boxes_of(const ModuleInfo& module, const LayerShape& shape, const Layer* numbers) {
  using PartKind = AnatomyPart::Kind;
  const Anatomy anatomy = anatomy_of(module, shape);
  // Weights do not depend on the input: any will do.
  std::vector<ExplainedLayer> kept;
  if (numbers) {
    const std::vector<double> ones(static_cast<std::size_t>(shape.inputs), 1.0);
    if (auto explained = explain({{*numbers}, {}}, ones)) kept = std::move(*explained);
  }
  std::vector<PictureBox> boxes;
  std::vector<std::size_t> place(anatomy.parts.size());
  for (std::size_t k = 0; k < anatomy.parts.size(); ++k) {
    const AnatomyPart& part = anatomy.parts[k];
    PictureBox box;
    box.name = part.name;
    for (const std::size_t used : part.uses) box.from.push_back(place[used]);
    const auto add_note = [&](std::string_view note) {
      if (!note.empty()) box.notes.push_back(svg::with_minus(note));
    };
    const auto add_values = [&](const double* values, const Axes& axes) {
      if (kept.empty()) return;
      const int size = size_of(module, axes, shape);
      box.values.assign(values, values + size);
      box.columns = axes.count > 1 ? axis_size(axes.axis[static_cast<unsigned>(axes.count - 1)], shape.inputs,
                                               shape.outputs, paths(module, shape))
                                   : 1;
      box.rows = size / std::max(1, box.columns);
      if (axes.count == 1 && axes.axis[0] == Axis::Output) std::swap(box.rows, box.columns);
    };
    switch (part.kind) {
      case PartKind::Input:
        box.look = input_look;
        box.circles = part.symbols;
        box.name = "";
        break;
      case PartKind::Parameter: {
        const ParameterInfo& parameter = module.parameters[part.index];
        box.look = learned_look;
        add_note(parameter.meaning);
        if (!kept.empty()) {
          const double* at = numbers->parameters.data();
          for (std::size_t before = 0; before < part.index; ++before)
            if (is_present(module.parameters[before], shape))
              at += size_of(module, module.parameters[before].axes, shape);
          add_values(at, parameter.axes);
        }
        break;
      }
      case PartKind::Weight: {
        const Quantity& weight = module.weights[part.index];
        box.look = weight.role == Role::Gate ? gate_look : weight_look;
        const AnatomyPart* parameter = part.uses.size() == 1 ? &anatomy.parts[part.uses.front()] : nullptr;
        if (parameter && is_raw(weight, parameter->name)) {
          // takes the place of its parameter
          place[k] = place[part.uses.front()];
          PictureBox& merged = boxes[place[k]];
          const ParameterInfo& info = module.parameters[parameter->index];
          merged.name = weight.name;
          merged.look = box.look;
          if (info.clamp)
            merged.notes.push_back(
                fmt::format("between {} and\u00a0{}", svg::number(info.clamp->lo), svg::number(info.clamp->hi)));
          if (const std::string ends = ends_at(weight.discrete); !ends.empty()) merged.notes.push_back(ends);
          if (!kept.empty()) merged.values = kept.front().weights[part.index].values;
          continue;
        }
        box.formulas.emplace_back(weight.formula);
        add_note(ends_at(weight.discrete));
        if (!kept.empty()) add_values(kept.front().weights[part.index].values.data(), weight.axes);
        break;
      }
      case PartKind::Step: {
        const Quantity& step = module.steps[part.index];
        box.look = step.role == Role::Gate ? gate_look : step_look;
        box.formulas.emplace_back(step.formula);
        add_note(for_each(step.axes, shape));
        break;
      }
      case PartKind::Output:
        box.look = output_look;
        box.circles = part.symbols;
        box.name = "";
        for (std::size_t o = 0; o < part.formulas.size() && o < 3; ++o)
          box.formulas.push_back(
              fmt::format("{} = {}", part.formulas.size() == 1 ? "y" : part.symbols[o], print(part.formulas[o])));
        // Sums over many inputs or paths are not read term by term; the header has them as sums.
        if (box.formulas.front().size() > most_letters)
          if (std::vector<std::string> own = output_formulas(module); !own.empty()) box.formulas = std::move(own);
        break;
    }
    place[k] = boxes.size();
    boxes.push_back(std::move(box));
  }
  // What became one box is used once.
  for (PictureBox& box : boxes) {
    std::sort(box.from.begin(), box.from.end());
    box.from.erase(std::unique(box.from.begin(), box.from.end()), box.from.end());
  }
  return many_as_one(boxes);
}

void measure(PictureBox& box, double widest) {
  const auto lines = [&](std::vector<std::string>& texts, const Font& font, bool mathematics) {
    std::vector<std::string> all;
    for (const std::string& text : texts)
      for (std::string& line : svg::wrapped(text, widest - 2 * pad, font, mathematics)) all.push_back(std::move(line));
    texts = std::move(all);
    double width = 0;
    for (const std::string& line : texts)
      width = std::max(width, mathematics ? svg::mathematics_width(line, font) : svg::width_of(line, font));
    return width;
  };
  if (!box.name.empty()) box.names = {box.name};
  double width = lines(box.names, title_font, true);
  width =
      std::max({width, lines(box.formulas, formula_font, true), lines(box.notes, note_font, false),
                box.circles.empty() ? 0.0 : 30.0 * static_cast<double>(std::min<std::size_t>(5, box.circles.size()))});
  if (!box.values.empty()) {
    box.cell = 30;
    for (const double value : box.values)
      box.cell = std::max(box.cell, svg::width_of(svg::number(value, 3), value_font) + 6);
    const double most = std::clamp(std::floor((widest - 2 * pad) / box.cell), 2.0, most_columns);
    box.columns_shown = std::min(box.columns, static_cast<int>(most));
    width = std::max(width, box.cell * box.columns_shown);
  }
  box.width = std::max(width + 2 * pad, 54.0);
  const double text_lines = static_cast<double>(box.formulas.size() + box.notes.size() + box.names.size());
  box.height = 2 * pad - 4 + line_height * text_lines + (box.circles.empty() ? 0 : 26) +
               (!box.values.empty() ? 4 + cell_height * std::min(box.rows, static_cast<int>(most_rows)) : 0);
}

// Bends where a line passes a row.
void add_bends(std::vector<PictureBox>& boxes) {
  const std::size_t count = boxes.size();
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t f = 0; f < boxes[k].from.size(); ++f) {
      std::size_t from = boxes[k].from[f];
      for (int rank = boxes[from].rank - 1; rank > boxes[k].rank; --rank) {
        PictureBox bend;
        bend.bend = true;
        bend.rank = rank;
        bend.width = 8;
        bend.look = boxes[from].look;
        bend.from = {from};
        boxes.push_back(bend);
        from = boxes.size() - 1;
      }
      boxes[k].from[f] = from;
    }
  }
}

// Boxes with their sizes and the bends between them, and what is wrong with it: rows wider than the picture, and texts
// that stand almost a word to a line.
struct Layout {
  std::vector<PictureBox> boxes;
  double needed = 0, fault = 0;
};

Layout lay_out(std::vector<PictureBox> boxes, double width) {
  constexpr double most_lines = 7;
  // A row lies above whatever is made of its boxes, the inputs on top.
  for (std::size_t k = boxes.size(); k-- > 0;)
    for (const std::size_t from : boxes[k].from) boxes[from].rank = std::max(boxes[from].rank, boxes[k].rank + 1);
  int top = 0;
  for (const PictureBox& box : boxes) top = std::max(top, box.rank);
  boxes.front().rank = top;
  const auto rows = static_cast<std::size_t>(top + 1);
  std::vector<int> in_row(rows);
  for (const PictureBox& box : boxes) ++in_row[static_cast<std::size_t>(box.rank)];
  add_bends(boxes);
  std::vector<double> bends(rows), needed(rows, 2 * margin - gap);
  for (const PictureBox& box : boxes)
    bends[static_cast<std::size_t>(box.rank)] += box.bend ? box.width + box.spacing() : 0;
  Layout layout;
  for (PictureBox& box : boxes) {
    const auto rank = static_cast<std::size_t>(box.rank);
    if (!box.bend) {
      measure(box, std::min(210.0, (width - 2 * margin - bends[rank] + gap) / in_row[rank] - gap));
      const auto lines = static_cast<double>(box.formulas.size() + box.notes.size() + box.names.size());
      layout.fault += line_height * std::max(0.0, lines - most_lines);
    }
    needed[rank] += box.width + box.spacing();
  }
  for (const double row : needed) {
    layout.needed = std::max(layout.needed, row);
    layout.fault += std::max(0.0, row - 1.05 * width);  // letters a twentieth smaller are no fault
  }
  layout.boxes = std::move(boxes);
  return layout;
}

// Where a row is too full, boxes of it move up a row, as long as that helps: one, and where no one alone helps, two.
Layout lay_out_in_rows(std::vector<PictureBox> boxes, double width) {
  Layout best = lay_out(boxes, width);
  for (bool better = true; better && best.fault > 0;) {
    better = false;
    const std::vector<PictureBox> before = best.boxes, start = boxes;
    const auto raise = [&](std::size_t k, std::size_t l) {
      if (start[k].look == output_look || start[l].look == output_look) return;
      std::vector<PictureBox> raised = start;
      for (const std::size_t each : {k, l}) raised[each].rank = before[each].rank + 1;
      Layout tried = lay_out(raised, width);
      if (tried.fault >= best.fault) return;
      best = std::move(tried);
      boxes = std::move(raised);
      better = true;
    };
    for (std::size_t k = 1; k < start.size(); ++k) raise(k, k);
    for (std::size_t k = 1; k < start.size() && !better; ++k)
      for (std::size_t l = k + 1; l < start.size(); ++l) raise(k, l);
  }
  return best;
}

using RowsOfBoxes = std::vector<std::vector<std::size_t>>;  // from the top

RowsOfBoxes arrange(std::vector<PictureBox>& boxes, double width) {
  int top = 0;
  for (const PictureBox& box : boxes) top = std::max(top, box.rank);
  RowsOfBoxes rows(static_cast<std::size_t>(top + 1));
  for (std::size_t k = 0; k < boxes.size(); ++k) rows[static_cast<std::size_t>(top - boxes[k].rank)].push_back(k);
  std::vector<std::vector<std::size_t>> neighbours(boxes.size());
  for (std::size_t k = 0; k < boxes.size(); ++k)
    for (const std::size_t from : boxes[k].from) {
      neighbours[k].push_back(from);
      neighbours[from].push_back(k);
    }
  const auto spread = [&](const std::vector<std::size_t>& row) {
    double total = 0;
    for (const std::size_t k : row) total += boxes[k].width + boxes[k].spacing();
    double x = (width - total) / 2;
    for (const std::size_t k : row) {
      const double room = boxes[k].width + boxes[k].spacing();
      boxes[k].x = x + room / 2;
      x += room;
    }
  };
  for (const auto& row : rows) spread(row);
  const auto wanted = [&](std::size_t k) {
    if (neighbours[k].empty()) return boxes[k].x;
    double sum = 0;
    for (const std::size_t other : neighbours[k]) sum += boxes[other].x;
    return sum / static_cast<double>(neighbours[k].size());
  };
  // The order: towards the middle of what a box is joined to.
  for (int sweep = 0; sweep < 8; ++sweep) {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      auto& row = rows[sweep % 2 ? rows.size() - 1 - r : r];
      std::vector<std::pair<double, std::size_t>> keys;
      for (const std::size_t k : row) keys.emplace_back(wanted(k), k);
      std::stable_sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      for (std::size_t k = 0; k < row.size(); ++k) row[k] = keys[k].second;
      spread(row);
    }
  }
  // The places: there as far as the neighbours in the row allow.
  for (int sweep = 0; sweep < 12; ++sweep) {
    for (auto& row : rows) {
      std::vector<double> x;
      for (const std::size_t k : row) x.push_back(wanted(k));
      double least = margin - boxes[row.front()].spacing() / 2;
      for (std::size_t k = 0; k < row.size(); ++k) {
        const double half = (boxes[row[k]].width + boxes[row[k]].spacing()) / 2;
        x[k] = std::max(x[k], least + half);
        least = x[k] + half;
      }
      double most = width - margin + boxes[row.back()].spacing() / 2;
      for (std::size_t k = row.size(); k-- > 0;) {
        const double half = (boxes[row[k]].width + boxes[row[k]].spacing()) / 2;
        x[k] = std::min(x[k], most - half);
        most = x[k] - half;
      }
      for (std::size_t k = 0; k < row.size(); ++k) boxes[row[k]].x = x[k];
    }
  }
  return rows;
}

void draw_values(Drawing& drawing, const PictureBox& box, double y) {
  const int rows = std::min(box.rows, static_cast<int>(most_rows)), columns = box.columns_shown;
  const double cell = std::clamp((box.width - 2 * pad) / columns, box.cell, std::max(box.cell, 52.0)),
               left = box.x - cell * columns / 2;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      const bool cut = (r + 1 == rows && rows < box.rows) || (c + 1 == columns && columns < box.columns);
      const double value = box.values[static_cast<std::size_t>(r * box.columns + c)];
      const Colour fill = std::fabs(value) < 0.005 || cut ? svg::panel : value > 0 ? svg::blue_wash : svg::orange_wash;
      drawing.rectangle(left + c * cell + 1, y + r * cell_height + 1, cell - 2, cell_height - 2,
                        {.fill = fill, .stroke = svg::rule, .width = 0.6}, 2);
      drawing.text(left + (c + 0.5) * cell, y + r * cell_height + 12, cut ? "\u2026" : svg::number(value, 3),
                   value_font);
    }
  }
}

void draw_box(Drawing& drawing, const PictureBox& box) {
  const Look& look = looks[box.look];
  drawing.rectangle(
      box.x - box.width / 2, box.y, box.width, box.height,
      {.fill = look.fill, .stroke = look.line, .width = box.look == output_look ? 1.8 : 1.2, .dash = look.dash}, 6);
  double y = box.y + pad - 2;
  const auto put = [&](const std::string& text, Font font, bool mathematics) {
    y += line_height;
    font.anchor = Anchor::Middle;
    if (mathematics)
      drawing.mathematics(box.x, y - 3, text, font);
    else
      drawing.text(box.x, y - 3, text, font);
  };
  if (!box.circles.empty()) {
    const std::size_t count = std::min<std::size_t>(5, box.circles.size());
    for (std::size_t k = 0; k < count; ++k) {
      const double x = box.x + 30 * (static_cast<double>(k) - (static_cast<double>(count) - 1) / 2);
      const bool cut = k + 1 == count && count < box.circles.size();
      drawing.circle(x, y + 12, 11, {.fill = svg::paper, .stroke = look.line, .width = 1.2});
      drawing.mathematics(x, y + 15.5, cut ? "\u2026" : box.circles[k], {.size = 10.5, .anchor = Anchor::Middle});
    }
    y += 26;
  }
  for (const std::string& name : box.names) put(name, title_font, true);
  for (const std::string& formula : box.formulas) put(formula, formula_font, true);
  for (const std::string& note : box.notes) put(note, note_font, false);
  if (!box.values.empty()) draw_values(drawing, box, y + 4);
}

// From the lower side of one box to the upper side of another, each line at its own place there.
void draw_lines(Drawing& drawing, const std::vector<PictureBox>& boxes) {
  std::vector<std::vector<std::size_t>> to(boxes.size());
  for (std::size_t k = 0; k < boxes.size(); ++k)
    for (const std::size_t from : boxes[k].from) to[from].push_back(k);
  const auto port = [&](const PictureBox& box, std::vector<std::size_t> others, std::size_t other) {
    if (box.bend) return box.x;
    std::sort(others.begin(), others.end(), [&](std::size_t a, std::size_t b) { return boxes[a].x < boxes[b].x; });
    const double nth = static_cast<double>(std::find(others.begin(), others.end(), other) - others.begin());
    const double step = std::min(16.0, (box.width - 20) / static_cast<double>(others.size()));
    return box.x + step * (nth - (static_cast<double>(others.size()) - 1) / 2);
  };
  for (std::size_t k = 0; k < boxes.size(); ++k) {
    for (const std::size_t from : boxes[k].from) {
      const PictureBox &below = boxes[k], &above = boxes[from];
      const double x1 = port(above, to[from], k), y1 = above.y + above.height;
      const double x2 = port(below, below.from, from), y2 = below.y;
      // Straight out of the row and into the next one, so that no line passes behind a taller neighbour.
      const double out = above.row_bottom, in = below.row_top, middle = (out + in) / 2;
      const std::string first = out > y1 + 0.5 ? fmt::format("V{:.5g}", out) : "",
                        last = in < y2 - 2 ? fmt::format("V{:.5g}", y2 - 1) : "";
      const Look& look = looks[above.look];
      drawing.path(fmt::format("M{:.5g},{:.5g}{}C{:.5g},{:.5g} {:.5g},{:.5g} {:.5g},{:.5g}{}", x1, y1, first, x1,
                               middle, x2, middle, x2, below.bend || !last.empty() ? in : y2 - 1, last),
                   {.stroke = look.line, .width = 1.3}, !below.bend);
      if (below.bend) drawing.line(x2, below.y, x2, below.y + below.height, {.stroke = look.line, .width = 1.3});
    }
  }
}

// Lines of words; gives the height.
double draw_words(Drawing& drawing, double x, double y, double width, std::string_view words, const Font& font,
                  bool mathematics) {
  for (const std::string& line : svg::wrapped(words, width, font, mathematics)) {
    y += font.size * 1.32;
    if (mathematics)
      drawing.mathematics(x, y, line, font);
    else
      drawing.text(x, y, line, font);
  }
  return y;
}

// What the colours are, in few words if the many do not fit on a line; gives the height.
double draw_key(Drawing& drawing, const std::vector<PictureBox>& boxes, double y, double width) {
  constexpr double symbol = 18, apart = 14;
  drawing.line(margin, y, width - margin, y, {.stroke = svg::grid});
  y += 16;
  std::vector<Look> used;
  double whole = -apart;
  for (std::size_t k = 0; k < std::size(looks); ++k) {
    if (std::ranges::none_of(boxes, [&](const PictureBox& box) { return box.look == k && !box.bend; })) continue;
    used.push_back(looks[k]);
    whole += symbol + svg::width_of(looks[k].meaning, note_font) + apart;
  }
  double x = margin;
  for (const Look& look : used) {
    const std::string_view words = whole > width - 2 * margin ? look.short_meaning : look.meaning;
    const double need = symbol + svg::width_of(words, note_font) + apart;
    if (x > margin && x + need > width - margin + apart) {
      x = margin;
      y += 15;
    }
    drawing.rectangle(x, y - 8, 13, 9, {.fill = look.fill, .stroke = look.line, .width = 1.2, .dash = look.dash}, 2.5);
    drawing.text(x + symbol, y, words, note_font);
    x += need;
  }
  return y;
}

}  // namespace
}  // namespace module_drawing

Picture module_picture(const ModuleInfo& module, const LayerShape& shape, const Layer* numbers, double width) {
  using namespace module_drawing;
  Layout layout = lay_out_in_rows(boxes_of(module, shape, numbers), width);
  std::vector<PictureBox>& boxes = layout.boxes;
  // Words that do not fit make the picture wider.
  width = std::max(width, layout.needed);
  const RowsOfBoxes rows = arrange(boxes, width);
  double left = width, right = 0;
  for (const PictureBox& box : boxes) {
    left = std::min(left, box.x - box.width / 2);
    right = std::max(right, box.x + box.width / 2);
  }
  for (PictureBox& box : boxes) box.x += (width - left - right) / 2;

  Picture picture;
  picture.width = width;
  picture.title = fmt::format("{}: {}", module.name, module.title);
  Drawing& drawing = picture.drawing;
  drawing.text(margin, 22, module.name, {.size = 15, .bold = true});
  const double name_width = svg::width_of(module.name, {.size = 15, .bold = true});
  double y = 22;
  if (name_width + svg::width_of(module.title, {.size = 11}) + 30 < width)
    drawing.text(margin + name_width + 8, 22, module.title, {.size = 11, .colour = svg::soft});
  else
    y = draw_words(drawing, margin, y, width - 2 * margin, module.title, {.size = 11, .colour = svg::soft}, false);
  y = draw_words(drawing, margin, y + 4, width - 2 * margin, svg::with_minus(module.learned), note_font, false);
  y += 16;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    double height = 0;
    for (const std::size_t k : rows[r]) height = std::max(height, boxes[k].height);
    for (const std::size_t k : rows[r]) {
      PictureBox& box = boxes[k];
      box.row_top = y;
      box.row_bottom = y + height;
      if (box.bend) box.height = height;
      box.y = y + (r + 1 == rows.size() || box.bend ? 0 : (height - box.height) / 2);
    }
    y += height + 34;
  }
  y -= 34;
  draw_lines(drawing, boxes);
  for (const PictureBox& box : boxes)
    if (!box.bend) draw_box(drawing, box);

  y = draw_key(drawing, boxes, y + 16, width);
  y = draw_words(drawing, margin, y + 4, width - 2 * margin, module.citation, note_font, false);
  picture.height = y + 10;
  return picture;
}

Result<Picture> model_picture(const Model& model, double width) {
  using namespace module_drawing;
  if (Status whole = check_model(model); !whole) return whole.error();
  Picture picture;
  picture.width = width;
  for (std::size_t k = 0; k < model.layers.size(); ++k) {
    const Layer& layer = model.layers[k];
    const Picture one = module_picture(*layer.module, layer.shape, &layer, width);
    if (model.layers.size() > 1) {
      picture.drawing.text(margin, picture.height + 20, fmt::format("Layer {}", k + 1),
                           {.size = 12, .colour = svg::soft, .bold = true});
      picture.height += 22;
    }
    picture.drawing.group(0, picture.height, one.drawing);
    picture.width = std::max(picture.width, one.width);
    picture.height += one.height + 8;
  }
  picture.title = fmt::format("{}, {} inputs", print(model.stack()), model.inputs());
  return picture;
}

}  // namespace nalm
