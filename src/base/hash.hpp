// A number from a text, the same on every machine and in every version.
#pragma once

#include <cstdint>
#include <string_view>

namespace nalm {

// FNV-1a, 64 bits; of several texts if the hash of those before is given.
constexpr std::uint64_t hash_of(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325U) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

}  // namespace nalm
