// Recipes that papers give for one operation or for many inputs only. Everything else trains modules as their headers
// say.
#pragma once

#include "nalm/module.hpp"

namespace nalm {

Recipe single_module_recipe(const ModuleInfo& module, Operation operation, int inputs);

}  // namespace nalm
