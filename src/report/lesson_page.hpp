// The lesson of `nalm explain` as a page with pictures, and the page of a module.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "nalm/model.hpp"

namespace nalm {

// input: may be empty; then there are pictures and formulas only.
Result<std::string> lesson_page(const Model& model, std::span<const double> input, std::string_view heading);
std::string module_page(const ModuleInfo& module);

}  // namespace nalm
