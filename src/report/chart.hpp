// Charts as pictures, for print: lines, surfaces, estimates with their intervals, maps of numbers. The pages draw
// theirs in the browser; these need none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "report/picture.hpp"

namespace nalm {

// All panels of an explanatory figure (figure_panels.hpp), as many abreast as the width has room for.
Picture figure_picture(const Json& data, double width);

struct ChartSeries {
  std::string name;
  std::vector<double> x, y, low{}, high{};  // low and high: a band around the line, or the interval of an estimate
};
struct ChartAxis {
  std::string title;
  bool logarithmic = false;
  std::optional<double> lo{}, hi{};  // otherwise as the values need it
  std::vector<std::string> names{};  // of the places 0, 1, ...: no numbers
  std::optional<double> mark{};      // a line across, such as a threshold
};
struct Chart {
  std::string title;
  ChartAxis x, y;
  std::vector<ChartSeries> series{};
  bool joined = true;  // lines; otherwise a mark for every estimate, beside those of the other series
};
// Charts that share a key, one below the other.
Picture chart_picture(const std::string& title, const std::vector<Chart>& charts, double width);

struct MapOfNumbers {
  std::string title, unit;
  std::vector<std::string> rows, columns;
  std::vector<std::vector<double>> values;  // by row; NaN where there is none
  double lo = 0, hi = 1;
  double factor = 1;  // of the printed numbers
};
Picture map_picture(const MapOfNumbers& map, double width);

}  // namespace nalm
