// One-file HTML pages that work offline: a shell, a style, the plotting library (Vega-Lite), a script, and data.
#pragma once

#include <string>
#include <string_view>

#include "nalm/result.hpp"

namespace nalm {

// Embedded by CMakeLists.txt.
namespace assets {
extern const std::string_view page_report, page_figure, page_fit, page_comparison;
}

// An error if the program was built without the plotting library. script: one of those above.
Result<std::string> make_page(std::string_view title, std::string_view script, std::string_view json);
bool has_plotting_library();

// A page without a script: its content is HTML already.
std::string make_plain_page(std::string_view title, std::string_view body);

}  // namespace nalm
