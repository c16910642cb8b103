// Recipes as JSON and in words. All of it comes from one table of fields, in the source file: a field's name, where it
// is kept, what it means, which values are sensible, and when it is left out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nalm/recipe.hpp"
#include "nalm/result.hpp"

namespace nalm {

// The recipe of one layer has its fields beside those of the training; several layers are a list "layers".
std::string to_json(const Recipe& recipe);
// Only a text that says everything, and nothing else, is understood.
Result<Recipe> recipe_from_json(std::string_view text);

// {"clip_norm": 1, "optimiser": {"learning_rate": 0.01}}: what is named is replaced, null removes, a list replaces the
// whole list (RFC 7396). Says which name or value is wrong.
Result<Recipe> change_recipe(const Recipe& recipe, std::string_view changes);

// A line for each field, in the words of JSON, with what it means.
std::vector<std::string> recipe_in_words(const Recipe& recipe);

}  // namespace nalm
