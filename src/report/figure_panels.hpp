// What explanatory figures are made of: panels of lines and surfaces, as the page's script reads them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include "base/json.hpp"

#include "nalm/result.hpp"

namespace nalm::figure {

std::vector<double> evenly(double lo, double hi, int count);

struct Series {
  std::string name;
  std::vector<double> values;  // of every x
};
Json lines(std::string_view title, std::string_view x_title, const std::vector<double>& x, std::string_view y_title,
           const std::vector<Series>& series);

// ---- the figures that are not in figures.cpp
// -------------------------------------------------------------------------

Result<Json> identity();  // trains its networks first
Json gate();

}  // namespace nalm::figure
