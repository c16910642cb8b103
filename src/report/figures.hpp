// The paper's explanatory figures. Effective weights and the NPU's gradients are computed by the modules' own code; the
// regularisers, and the stack with an epsilon of 0.1 that no module has, are written out as formulas.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "nalm/result.hpp"

namespace nalm {

struct FigureInfo {
  std::string_view name, meaning;
};
std::span<const FigureInfo> figures();

// The page of a figure; an unknown name gives an error that lists the known ones.
Result<std::string> figure_page(std::string_view name);
// Its data, as the page's script reads it.
Result<std::string> figure_data(std::string_view name);

}  // namespace nalm
