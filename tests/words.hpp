// What tests of messages ask.
#pragma once

#include <string>
#include <string_view>

#include "nalm/result.hpp"

namespace nalm {

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

// The message of an error, or nothing.
template <class T>
std::string complaint(const Result<T>& result) {
  return result ? "" : result.error().message;
}

}  // namespace nalm
