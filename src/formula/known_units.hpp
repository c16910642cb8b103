// The units that have a name: SI with its prefixes, and what people use beside it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "formula/unit.hpp"

namespace nalm::formula {

// kg, kilogram, hours; nothing if there is none of that name.
std::optional<Unit> find_unit(std::string_view name);

// ", perhaps kg" for Kg, or nothing.
std::string unit_meant(std::string_view name);

// The name of the SI unit without a prefix that is exactly this product of base units; empty if there is none.
std::string_view coherent_unit(const std::array<double, base_units>& powers);

}  // namespace nalm::formula
