// Which instruction sets this program was compiled for, and which one it uses.
#pragma once

#include <span>
#include <string_view>

#include "nalm/result.hpp"

namespace nalm::simd {

struct Target {
  std::string_view name;  // as in NALM_SIMD=avx2
  int index;              // position in the tables of the registry
  int float_lanes;        // runs that train at once
  bool supported;         // by this machine

  template <class S>
  int lanes() const {
    // The scalar target has one lane of either type.
    return float_lanes == 1 ? 1 : static_cast<int>(static_cast<unsigned>(float_lanes) * sizeof(float) / sizeof(S));
  }
};

// Every compiled target, widest first.
std::span<const Target> targets();

// The widest supported target, or the one that the environment variable NALM_SIMD names.
Result<const Target*> choose_target();

// The same, for code that cannot answer for a wrong variable: falls back to the widest supported target.
const Target& active_target();

Result<const Target*> find_target(std::string_view name);

}  // namespace nalm::simd
