// Recipes as JSON: what stores keep, and what users write to change one.
#pragma once

#include <string>
#include <string_view>

#include "nalm/recipe.hpp"
#include "nalm/result.hpp"

namespace nalm {

struct StackRecipe;  // train/bundle.hpp

std::string to_json(const Recipe& recipe);
Result<Recipe> recipe_from_json(std::string_view text);
// The same, with a list of regularisers per layer instead.
std::string to_json(const StackRecipe& recipe);

// {"clip_norm": 1, "optimiser": {"learning_rate": 0.01}}: what is named is replaced, null removes, a list replaces the
// whole list. Says which name or value is wrong.
Result<Recipe> change_recipe(const Recipe& recipe, std::string_view changes);

}  // namespace nalm
