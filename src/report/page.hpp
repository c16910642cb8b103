// One-file HTML pages that work offline: a shell, a style, the plotting library (Vega-Lite), a script, and data.
#pragma once

#include <string>
#include <string_view>

#include "nalm/result.hpp"

namespace nalm {

enum class PageScript { Report, Figure, Fit, Comparison };

// An error if the program was built without the plotting library.
Result<std::string> make_page(std::string_view title, PageScript script, std::string_view json);
bool has_plotting_library();

}  // namespace nalm
