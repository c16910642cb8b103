// A number for a text, the same on every machine.
#pragma once

#include <cstdint>
#include <string_view>

namespace nalm {

// FNV-1a.
inline std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace nalm
