// The one reader of JSON that comes from outside.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "nalm/result.hpp"

namespace nalm {

// Json is nlohmann::json or nlohmann::ordered_json. `what` names the text in messages.
template <class Json>
Result<Json> parse_json(std::string_view text, std::string_view what);

}  // namespace nalm
