// JSON: the one value type, the one reader of what comes from outside, and numbers, of which JSON has only finite ones.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "nalm/result.hpp"

namespace nalm {

// Objects keep the order in which they are written. A second kind of value would be compiled by every file once more.
using Json = nlohmann::ordered_json;

// `what` names the text in messages.
Result<Json> parse_json(std::string_view text, std::string_view what);

// null where the value is not finite.
Json finite_or_null(double value);

// null where there is none.
template <class T>
Json value_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

}  // namespace nalm
