// Options of a layer as text, in stack descriptions and model files.
#pragma once

#include <string>
#include <string_view>

#include "nalm/module.hpp"

namespace nalm {

// Sets an option by name; unknown names and values get an error that lists the known ones.
Status set_option(const ModuleInfo& module, std::string_view name, std::string_view value, LayerShape& shape);

std::string option_text(const OptionInfo& option, double value);

}  // namespace nalm
