#pragma once

#include <string_view>

namespace nalm {

std::string_view version();
std::string_view build_name();   // which build of that version: a package's name, or "from source"
std::string_view compiler();     // that built the library
std::string_view simd_target();  // in use: the widest that the machine has, or what NALM_SIMD names
int simd_lanes();                // float lanes of that target: runs that train at once

}  // namespace nalm
