// Numbers in JSON, which has no NaN and no infinity.
#pragma once

#include <cmath>

#include <nlohmann/json.hpp>

namespace nalm {

// null where the value is not finite. `Json` is nlohmann::json or nlohmann::ordered_json.
template <class Json = nlohmann::json>
Json finite_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

}  // namespace nalm
