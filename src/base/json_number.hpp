// Numbers in JSON, which has no NaN and no infinity.
#pragma once

#include <cmath>
#include <optional>

#include <nlohmann/json.hpp>

namespace nalm {

// null where the value is not finite. `Json` is nlohmann::json or nlohmann::ordered_json.
template <class Json = nlohmann::json>
Json finite_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

// null where there is none.
template <class Json = nlohmann::json, class T>
Json value_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

}  // namespace nalm
