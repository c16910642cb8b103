// The page of a fitted formula: a model file with the entry "fit" (docs/model-file.md), as HTML.
#pragma once

#include <string>
#include <string_view>

#include "nalm/result.hpp"

namespace nalm {

// An error is one sentence that begins with the name of the source: no JSON, no model file, or one without a fit.
// Entries that are missing or of another type are left out.
Result<std::string> fit_page(std::string_view text, std::string_view source_name);
// Its data, as the page's script reads them: every text is a text, every number is finite or null.
Result<std::string> fit_data(std::string_view text, std::string_view source_name);

}  // namespace nalm
