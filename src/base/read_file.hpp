// A whole file as text.
#pragma once

#include <string>
#include <string_view>

#include "nalm/result.hpp"

namespace nalm {

// `what` names the kind of file in messages, such as "model file".
Result<std::string> read_file(const std::string& path, std::string_view what);

}  // namespace nalm
