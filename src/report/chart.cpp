#include "report/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/number.hpp"

namespace nalm {
namespace charting {
namespace {

using svg::Anchor;
using svg::Drawing;
using svg::Font;

constexpr Font axis_font{.size = 9.5, .colour = svg::soft}, head_font{.size = 11, .bold = true};
constexpr std::array<std::string_view, 4> dashes{"", "6 3", "2 2.5", "8 3 2 3"};

struct Scale {
  double lo = 0, hi = 1, from = 0, to = 1;
  bool logarithmic = false;
  double level(double v) const { return logarithmic ? std::log10(v) : v; }
  double operator()(double v) const { return from + (level(v) - lo) / (hi - lo) * (to - from); }
  bool shows(double v) const {
    return std::isfinite(v) && (!logarithmic || v > 0) && level(v) >= lo - 1e-9 * (hi - lo) &&
           level(v) <= hi + 1e-9 * (hi - lo);
  }
};

Scale scale_of(const ChartAxis& axis, const std::vector<double>& values) {
  Scale scale;
  scale.logarithmic = axis.logarithmic;
  double lo = infinity, hi = -infinity;
  for (const double v : values) {
    if (!std::isfinite(v) || (axis.logarithmic && v <= 0)) continue;
    lo = std::min(lo, scale.level(v));
    hi = std::max(hi, scale.level(v));
  }
  if (!(lo <= hi)) lo = 0, hi = 1;
  if (axis.lo) lo = scale.level(*axis.lo);
  if (axis.hi) hi = scale.level(*axis.hi);
  if (axis.logarithmic) {
    if (!axis.lo) lo = std::floor(lo);
    if (!axis.hi) hi = std::ceil(hi);
  }
  if (!(hi > lo)) lo -= 0.5, hi += 0.5;
  scale.lo = lo;
  scale.hi = hi;
  return scale;
}

std::vector<double> ticks_of(const Scale& scale, int most) {
  const double raw = (scale.hi - scale.lo) / most;
  double step = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0})
    if (step * factor >= raw * 0.999) {
      step *= factor;
      break;
    }
  if (scale.logarithmic) step = std::max(1.0, std::round(step));
  std::vector<double> ticks;
  for (double at = std::ceil(scale.lo / step - 1e-9); at * step <= scale.hi + 1e-9 * step; ++at)
    ticks.push_back(scale.logarithmic ? std::pow(10, at * step) : at * step);
  return ticks;
}
std::string tick_text(double v) { return svg::number(std::fabs(v) < 1e-12 ? 0 : v, 4); }

// Frame, ticks and titles of a panel; left, top, width and height are those of the drawing area.
struct Frame {
  double left, top, width, height;
};
void draw_axes(Drawing& drawing, const Frame& f, const ChartAxis& x_axis, const Scale& x, const ChartAxis& y_axis,
               const Scale& y, bool with_grid = true) {
  for (const double tick : ticks_of(y, f.height < 130 ? 4 : 6)) {
    if (with_grid) drawing.line(f.left, y(tick), f.left + f.width, y(tick), {.stroke = svg::grid, .width = 0.8});
    drawing.text(f.left - 5, y(tick) + 3.3, tick_text(tick),
                 {.size = axis_font.size, .colour = svg::soft, .anchor = Anchor::End});
  }
  if (x_axis.names.empty()) {
    for (const double tick : ticks_of(x, std::max(3, static_cast<int>(f.width / 55)))) {
      drawing.line(x(tick), f.top + f.height, x(tick), f.top + f.height + 4, {.stroke = svg::soft, .width = 0.8});
      drawing.text(x(tick), f.top + f.height + 15, tick_text(tick),
                   {.size = axis_font.size, .colour = svg::soft, .anchor = Anchor::Middle});
    }
  } else {
    const double place = f.width / static_cast<double>(x_axis.names.size());
    double widest = 0;
    for (const std::string& name : x_axis.names) widest = std::max(widest, svg::width_of(name, axis_font));
    const bool turned = widest > place - 3;
    for (std::size_t k = 0; k < x_axis.names.size(); ++k) {
      const double at = f.left + place * (static_cast<double>(k) + 0.5);
      if (k > 0)
        drawing.line(f.left + place * static_cast<double>(k), f.top, f.left + place * static_cast<double>(k),
                     f.top + f.height, {.stroke = svg::grid, .width = 0.8});
      drawing.text(at + (turned ? 4 : 0), f.top + f.height + (turned ? 10 : 15), x_axis.names[k],
                   {.size = axis_font.size,
                    .colour = svg::soft,
                    .anchor = turned ? Anchor::End : Anchor::Middle,
                    .turn = turned ? -35.0 : 0.0});
    }
  }
  drawing.line(f.left, f.top + f.height, f.left + f.width, f.top + f.height, {.stroke = svg::soft, .width = 0.9});
  if (!x_axis.title.empty())
    drawing.text(f.left + f.width / 2, f.top + f.height + 29, x_axis.title,
                 {.size = axis_font.size, .colour = svg::soft, .anchor = Anchor::Middle});
  if (y_axis.mark && y.shows(*y_axis.mark))
    drawing.line(f.left, y(*y_axis.mark), f.left + f.width, y(*y_axis.mark),
                 {.stroke = svg::ink, .width = 1, .dash = "4 3"});
}

// A line through the points, broken where there is no value.
std::string line_path(const Scale& x, const Scale& y, const std::vector<double>& xs, const std::vector<double>& ys) {
  std::string d;
  bool drawing = false;
  for (std::size_t k = 0; k < xs.size(); ++k) {
    double value = ys[k];
    if (y.logarithmic && value <= 0 && std::isfinite(value)) value = std::pow(10, y.lo);
    if (!std::isfinite(value)) {
      drawing = false;
      continue;
    }
    const double low = std::min(y.from, y.to) - 2, high = std::max(y.from, y.to) + 2;
    d += fmt::format("{}{:.5g},{:.5g}", drawing ? "L" : "M", x(xs[k]), std::clamp(y(value), low, high));
    drawing = true;
  }
  return d;
}

// Names of series with their lines or marks; gives the height.
double draw_key(Drawing& drawing, double x0, double y, double width, const std::vector<std::string>& names,
                bool joined) {
  double x = x0;
  for (std::size_t k = 0; k < names.size(); ++k) {
    const double need = (joined ? 24 : 14) + svg::width_of(names[k], axis_font) + 12;
    if (x > x0 && x + need > x0 + width + 12) {
      x = x0;
      y += 14;
    }
    const svg::Colour colour = svg::series[k % std::size(svg::series)];
    if (joined)
      drawing.line(x, y - 3, x + 19, y - 3, {.stroke = colour, .width = 2, .dash = dashes[k % dashes.size()]});
    else
      drawing.circle(x + 5, y - 3, 3.6, {.fill = colour});
    drawing.text(x + (joined ? 24 : 13), y, names[k], {.size = axis_font.size, .colour = svg::ink});
    x += need;
  }
  return y;
}

void draw_series(Drawing& drawing, const Chart& chart, const Scale& x, const Scale& y, const Frame& f) {
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const ChartSeries& series = chart.series[s];
    const svg::Colour colour = svg::series[s % std::size(svg::series)];
    if (chart.joined) {
      if (!series.low.empty()) {
        std::vector<double> xs = series.x, ys = series.high;
        xs.insert(xs.end(), series.x.rbegin(), series.x.rend());
        ys.insert(ys.end(), series.low.rbegin(), series.low.rend());
        drawing.path(line_path(x, y, xs, ys) + "Z", {.fill = colour, .opacity = 0.16});
      }
      drawing.path(line_path(x, y, series.x, series.y),
                   {.stroke = colour, .width = 1.9, .dash = dashes[s % dashes.size()]});
      continue;
    }
    // Estimates: beside those of the other series.
    const double place = f.width / static_cast<double>(std::max<std::size_t>(1, chart.x.names.size()));
    const double shift =
        0.8 * place * ((static_cast<double>(s) + 0.5) / static_cast<double>(chart.series.size()) - 0.5);
    for (std::size_t k = 0; k < series.x.size(); ++k) {
      const double at = f.left + place * (series.x[k] + 0.5) + shift;
      const auto level = [&](double v) {
        return std::clamp(y(y.logarithmic ? std::max(v, 1e-300) : v), f.top, f.top + f.height);
      };
      if (!std::isfinite(series.y[k])) continue;
      if (!series.low.empty() && std::isfinite(series.low[k]) && std::isfinite(series.high[k]))
        drawing.line(at, level(series.low[k]), at, level(series.high[k]),
                     {.stroke = colour, .width = 1.2, .opacity = 0.75});
      drawing.circle(at, level(series.y[k]),
                     std::min(3.2, 0.36 * place / static_cast<double>(chart.series.size()) + 1.1), {.fill = colour});
    }
  }
}

std::vector<double> all_values(const Chart& chart, bool of_x) {
  std::vector<double> values;
  for (const ChartSeries& series : chart.series) {
    const auto& main = of_x ? series.x : series.y;
    values.insert(values.end(), main.begin(), main.end());
    if (of_x) continue;
    values.insert(values.end(), series.low.begin(), series.low.end());
    values.insert(values.end(), series.high.begin(), series.high.end());
  }
  if (!of_x && chart.y.mark) values.push_back(*chart.y.mark);
  return values;
}

// ---- surfaces ------------------------------------------------------------------------------------------------------

using Rgb = std::array<double, 3>;
Rgb mix(std::span<const Rgb> stops, double share) {
  const double at = std::clamp(share, 0.0, 1.0) * static_cast<double>(stops.size() - 1);
  const std::size_t k = std::min(static_cast<std::size_t>(at), stops.size() - 2);
  Rgb colour{};
  for (std::size_t c = 0; c < 3; ++c)
    colour[c] = stops[k][c] + (stops[k + 1][c] - stops[k][c]) * (at - static_cast<double>(k));
  return colour;
}
constexpr Rgb sequential[] = {{68, 1, 84},    {65, 68, 135},  {42, 120, 142},
                              {34, 168, 132}, {122, 209, 81}, {253, 231, 37}};
constexpr Rgb diverging[] = {{166, 74, 0}, {236, 152, 84}, {246, 246, 244}, {94, 165, 214}, {0, 84, 148}};

struct SurfaceLevels {
  double lo = 0, hi = 1;
  bool logarithmic = false, is_signed = false;
};
SurfaceLevels levels_of(const Json& panel, double& limit) {
  SurfaceLevels levels;
  const Json& z = panel["z"];
  levels.logarithmic = z.value("log", false);
  levels.is_signed = z.value("signed", false);
  limit = z["limit"].is_number() ? z["limit"].get<double>() : infinity;
  double lo = infinity, hi = -infinity;
  for (const Json& row : panel["values"])
    for (const Json& value : row) {
      if (!value.is_number()) continue;
      const double v = std::min(value.get<double>(), limit);
      if (levels.logarithmic && v <= 0) continue;
      lo = std::min(lo, levels.logarithmic ? std::log10(v) : v);
      hi = std::max(hi, levels.logarithmic ? std::log10(v) : v);
    }
  if (z.contains("span")) {  // the same for all panels
    lo = z["span"][0];
    hi = z["span"][1];
    if (levels.logarithmic) lo = std::log10(lo), hi = std::log10(hi);
  }
  if (!(hi > lo)) lo -= 0.5, hi += 0.5;
  levels.lo = lo;
  levels.hi = hi;
  return levels;
}

Rgb colour_at(const SurfaceLevels& levels, double level) {
  const double share = (level - levels.lo) / (levels.hi - levels.lo);
  return levels.is_signed ? mix(diverging, share) : mix(sequential, share);
}

// 255 colours from the lowest to the highest level, and a grey for no value.
std::string palette_of(const SurfaceLevels& levels) {
  std::string colours;
  for (int k = 0; k < 256; ++k) {
    const Rgb colour = k == 255 ? Rgb{190, 190, 190} : colour_at(levels, levels.lo + (levels.hi - levels.lo) * k / 254);
    for (const double part : colour) colours += static_cast<char>(std::lround(part));
  }
  return colours;
}
unsigned char number_of_colour(const SurfaceLevels& levels, double level) {
  if (!std::isfinite(level)) return 255;
  return static_cast<unsigned char>(
      std::lround(254 * std::clamp((level - levels.lo) / (levels.hi - levels.lo), 0.0, 1.0)));
}

// The values between those of the grid are interpolated, so that edges are smooth.
std::string surface_image(const Json& panel, const SurfaceLevels& levels, double limit, int pixels) {
  std::vector<std::vector<double>> grid;
  for (const Json& row : panel["values"]) {
    grid.emplace_back();
    for (const Json& value : row) {
      const double v = value.is_number() ? std::min(value.get<double>(), limit) : no_value;
      grid.back().push_back(levels.logarithmic ? std::log10(v) : v);
    }
  }
  const double rows = static_cast<double>(grid.size()), columns = static_cast<double>(grid.front().size());
  std::vector<unsigned char> colours;
  for (int py = 0; py < pixels; ++py) {
    const double v = (rows - 1) * (1 - (py + 0.5) / pixels);
    const std::size_t r = std::min(static_cast<std::size_t>(v), grid.size() - 2);
    for (int px = 0; px < pixels; ++px) {
      const double u = (columns - 1) * (px + 0.5) / pixels;
      const std::size_t c = std::min(static_cast<std::size_t>(u), grid.front().size() - 2);
      const double a = u - static_cast<double>(c), b = v - static_cast<double>(r);
      const double level = (1 - b) * ((1 - a) * grid[r][c] + a * grid[r][c + 1]) +
                           b * ((1 - a) * grid[r + 1][c] + a * grid[r + 1][c + 1]);
      colours.push_back(number_of_colour(levels, level));
    }
  }
  return svg::png(pixels, pixels, colours, palette_of(levels));
}

double draw_surface(Drawing& drawing, const Json& panel, double x0, double y0, double width) {
  double limit = infinity;
  const SurfaceLevels levels = levels_of(panel, limit);
  const std::vector<double> xs = panel["x"]["values"], ys = panel["y"]["values"];
  const double left = x0 + 42, size = std::min(width - 42 - 62, 330.0);
  const Frame f{left, y0 + 6, size, size};
  drawing.image(f.left, f.top, size, size, surface_image(panel, levels, limit, 180));
  ChartAxis x_axis{panel["x"]["title"].get<std::string>()}, y_axis{panel["y"]["title"].get<std::string>()};
  Scale x{xs.front(), xs.back(), f.left, f.left + size}, y{ys.front(), ys.back(), f.top + size, f.top};
  draw_axes(drawing, f, x_axis, x, y_axis, y, false);
  drawing.text(x0 + 8, f.top + size / 2, y_axis.title,
               {.size = axis_font.size, .colour = svg::soft, .anchor = Anchor::Middle, .turn = -90});
  if (panel.contains("marks"))
    for (const Json& mark : panel["marks"]) {
      const double mx = x(mark["x"].get<double>()), my = y(mark["y"].get<double>());
      const std::string label = mark["label"];
      if (mark.value("point", true)) {
        drawing.circle(mx, my, 5.5, {.stroke = svg::Colour{"white", "#ffffff", "#ffffff"}, .width = 3});
        drawing.circle(mx, my, 5.5, {.stroke = svg::Colour{"black", "#000000", "#000000"}, .width = 1.4});
        drawing.rectangle(mx - 6 - svg::width_of(label, axis_font) / 2, my + 8, svg::width_of(label, axis_font) + 12,
                          14, {.fill = svg::Colour{"white", "#ffffff", "#ffffff"}, .opacity = 0.85}, 3);
        drawing.text(
            mx, my + 18.5, label,
            {.size = axis_font.size, .colour = svg::Colour{"black", "#000000", "#000000"}, .anchor = Anchor::Middle});
      } else {
        drawing.text(mx, my + 4, label,
                     {.size = 12,
                      .colour = svg::Colour{mark.value("light", false) ? "white" : "black",
                                            mark.value("light", false) ? "#ffffff" : "#000000",
                                            mark.value("light", false) ? "#ffffff" : "#000000"},
                      .anchor = Anchor::Middle,
                      .bold = true});
      }
    }
  // The scale of the colours.
  const double bar = f.left + size + 12, bar_height = size * 0.8;
  constexpr int steps = 64;
  std::vector<unsigned char> colours;
  for (int k = 0; k < steps; ++k)
    colours.push_back(number_of_colour(levels, levels.hi - (levels.hi - levels.lo) * (k + 0.5) / steps));
  drawing.image(bar, f.top, 10, bar_height, svg::png(1, steps, colours, palette_of(levels)));
  Scale z{levels.lo, levels.hi, f.top + bar_height, f.top, levels.logarithmic};
  for (const double tick : ticks_of(z, 5)) drawing.text(bar + 14, z(tick) + 3.3, tick_text(tick), axis_font);
  double y_text = f.top + bar_height + 14;
  for (const std::string& line : svg::wrapped(panel["z"]["title"].get<std::string>(), 64, axis_font)) {
    drawing.text(bar, y_text, line, axis_font);
    y_text += 11;
  }
  return std::max(f.top + size + 38, y_text);
}

double draw_lines_panel(Drawing& drawing, const Json& panel, double x0, double y0, double width) {
  Chart chart;
  chart.x.title = panel["x"]["title"];
  const std::vector<double> xs = panel["x"]["values"];
  std::vector<std::string> names;
  for (const Json& series : panel["series"]) {
    ChartSeries one{series["name"], xs, {}};
    for (const Json& value : series["values"]) one.y.push_back(value.is_number() ? value.get<double>() : no_value);
    names.push_back(one.name);
    chart.series.push_back(std::move(one));
  }
  double y = y0;
  drawing.text(x0, y + 6, panel["y"]["title"].get<std::string>(), axis_font);
  y += 10;
  if (names.size() > 1) y = draw_key(drawing, x0, y + 12, width - 6, names, true);
  const Frame f{x0 + 40, y + 10, width - 52, std::min(220.0, 0.62 * width)};
  Scale sx = scale_of({.title = ""}, xs), sy = scale_of({.title = ""}, all_values(chart, false));
  const double room = 0.05 * (sy.hi - sy.lo);
  sy.lo -= room;
  sy.hi += room;
  sx.from = f.left, sx.to = f.left + f.width, sy.from = f.top + f.height, sy.to = f.top;
  draw_axes(drawing, f, chart.x, sx, chart.y, sy);
  draw_series(drawing, chart, sx, sy, f);
  return f.top + f.height + 38;
}

}  // namespace
}  // namespace charting

Picture figure_picture(const Json& data, double width) {
  using namespace charting;
  Picture picture;
  picture.width = width;
  picture.title = data["title"];
  const Json& panels = data["panels"];
  const std::size_t abreast =
      std::clamp<std::size_t>(static_cast<std::size_t>(width / 300), 1, std::max<std::size_t>(1, panels.size()));
  const double each = (width - 16) / static_cast<double>(abreast);
  double y = 10, lowest = y;
  for (std::size_t k = 0; k < panels.size(); ++k) {
    if (k > 0 && k % abreast == 0) y = lowest + 14;
    const double x = 10 + each * static_cast<double>(k % abreast);
    double top = y;
    for (const std::string& line : svg::wrapped(panels[k]["title"].get<std::string>(), each - 16, head_font)) {
      picture.drawing.text(x, top + 11, line, head_font);
      top += 14;
    }
    top += 4;
    lowest = std::max(lowest, panels[k]["kind"] == "surface"
                                  ? draw_surface(picture.drawing, panels[k], x, top, each - 8)
                                  : draw_lines_panel(picture.drawing, panels[k], x, top + 4, each - 8));
  }
  picture.height = lowest + 6;
  return picture;
}

Picture chart_picture(const std::string& title, const std::vector<Chart>& charts, double width) {
  using namespace charting;
  Picture picture;
  picture.width = width;
  picture.title = title;
  Drawing& drawing = picture.drawing;
  double y = 10;
  for (const std::string& line : svg::wrapped(title, width - 20, head_font)) drawing.text(10, y += 13, line, head_font);
  if (!charts.empty()) {
    std::vector<std::string> names;
    for (const ChartSeries& series : charts.front().series) names.push_back(series.name);
    if (names.size() > 1) y = draw_key(drawing, 10, y + 16, width - 20, names, charts.front().joined);
  }
  for (std::size_t k = 0; k < charts.size(); ++k) {
    const Chart& chart = charts[k];
    y += 18;
    drawing.text(10, y, chart.title, {.size = 10, .bold = true});
    if (!chart.y.title.empty())
      drawing.text(16 + svg::width_of(chart.title, {.size = 10, .bold = true}), y, chart.y.title, axis_font);
    const Frame f{52, y + 10, width - 64, charts.size() > 1 ? 116.0 : std::min(250.0, 0.6 * width)};
    Scale sy = scale_of(chart.y, all_values(chart, false));
    Scale sx = scale_of(chart.x, all_values(chart, true));
    sx.from = f.left, sx.to = f.left + f.width, sy.from = f.top + f.height, sy.to = f.top;
    ChartAxis x_axis = chart.x;
    draw_axes(drawing, f, x_axis, sx, chart.y, sy);
    draw_series(drawing, chart, sx, sy, f);
    double widest = 0;
    for (const std::string& name : chart.x.names) widest = std::max(widest, svg::width_of(name, axis_font));
    const bool turned = !chart.x.names.empty() && widest > f.width / static_cast<double>(chart.x.names.size()) - 3;
    y = f.top + f.height + (turned ? 14 + 0.6 * widest : 18) + (chart.x.title.empty() ? 0 : 14);
  }
  picture.height = y + 8;
  return picture;
}

Picture map_picture(const MapOfNumbers& map, double width) {
  using namespace charting;
  Picture picture;
  picture.width = width;
  picture.title = map.title;
  Drawing& drawing = picture.drawing;
  double y = 10;
  for (const std::string& line :
       svg::wrapped(map.title + (map.unit.empty() ? "" : ", " + map.unit), width - 20, head_font))
    drawing.text(10, y += 13, line, head_font);
  double names = 0, heads = 0;
  for (const std::string& row : map.rows) names = std::max(names, svg::width_of(row, {.size = 10}));
  for (const std::string& column : map.columns) heads = std::max(heads, svg::width_of(column, axis_font));
  names = std::min(names, width * 0.34);
  const double left = 14 + names + 4,
               cell = (width - left - 10) / static_cast<double>(std::max<std::size_t>(1, map.columns.size()));
  const double row_height = 19;
  const bool turned = heads > cell - 2;
  const double top = y + (turned ? 14 + 0.8 * heads : 24);
  for (std::size_t c = 0; c < map.columns.size(); ++c) {
    const double at = left + cell * (static_cast<double>(c) + 0.5);
    drawing.text(turned ? at + 3 : at, top - 6, map.columns[c],
                 {.size = axis_font.size,
                  .colour = svg::soft,
                  .anchor = turned ? Anchor::Start : Anchor::Middle,
                  .turn = turned ? -55.0 : 0.0});
  }
  for (std::size_t r = 0; r < map.rows.size(); ++r) {
    const double row_y = top + row_height * static_cast<double>(r);
    drawing.text(left - 6, row_y + 13, map.rows[r], {.size = 10, .anchor = Anchor::End});
    for (std::size_t c = 0; c < map.columns.size(); ++c) {
      const double value = map.values[r][c], x = left + cell * static_cast<double>(c);
      const bool known = std::isfinite(value);
      const double share = known ? std::clamp((value - map.lo) / (map.hi - map.lo), 0.0, 1.0) : 0;
      drawing.rectangle(x + 0.7, row_y + 0.7, cell - 1.4, row_height - 1.4, {.fill = svg::panel});
      if (known && share > 0)
        drawing.rectangle(x + 0.7, row_y + 0.7, cell - 1.4, row_height - 1.4,
                          {.fill = svg::blue, .opacity = 0.06 + 0.44 * share});
      drawing.text(x + cell / 2, row_y + 13, known ? svg::number(std::round(value * map.factor * 100) / 100, 3) : "–",
                   {.size = cell < 24 ? 8.0 : 9.5, .colour = known ? svg::ink : svg::soft, .anchor = Anchor::Middle});
    }
  }
  picture.height = top + row_height * static_cast<double>(map.rows.size()) + 12;
  return picture;
}

}  // namespace nalm
