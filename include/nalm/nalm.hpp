// All that users of the library may rely on (docs/design/009-library.md).
#pragma once

#include "nalm/check.hpp"
#include "nalm/expression.hpp"
#include "nalm/fit.hpp"
#include "nalm/formula_export.hpp"
#include "nalm/invalid.hpp"
#include "nalm/layer.hpp"
#include "nalm/model.hpp"
#include "nalm/module.hpp"
#include "nalm/recipe.hpp"
#include "nalm/result.hpp"
#include "nalm/stack.hpp"
#include "nalm/table.hpp"
#include "nalm/train.hpp"
#include "nalm/version.hpp"
#include "nalm/wiring.hpp"
