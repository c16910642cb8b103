#include "simd/dispatch.hpp"

#include <hwy/targets.h>

#include <array>
#include <cstdlib>
#include <string>

#include "simd/compiled_targets.hpp"  // generated: NALM_FOR_EACH_TARGET(X), widest first

namespace nalm::simd {

namespace {

struct Requirement {
  std::string_view name;
  std::int64_t highway_target;  // 0: any machine of this architecture
  int float_lanes;
};

constexpr Requirement requirements[] = {
    {"avx512", HWY_AVX3, 16}, {"avx2", HWY_AVX2, 8}, {"sse4", HWY_SSE4, 4}, {"native", 0, 4}, {"scalar", 0, 1},
};

#define NALM_NAME_OF_TARGET(name) std::string_view(#name),
constexpr std::string_view compiled[] = {NALM_FOR_EACH_TARGET(NALM_NAME_OF_TARGET)};
constexpr std::size_t count = std::size(compiled);

std::array<Target, count> detect() {
  std::array<Target, count> result{};
  for (std::size_t k = 0; k < count; ++k) {
    for (const Requirement& r : requirements) {
      if (r.name != compiled[k]) continue;
      const bool supported = r.highway_target == 0 || (hwy::SupportedTargets() & r.highway_target) != 0;
      result[k] = {r.name, static_cast<int>(k), r.float_lanes, supported};
    }
  }
  return result;
}

const Target& widest() {
  for (const Target& target : targets()) {
    if (target.supported) return target;
  }
  return targets().back();
}

}  // namespace

std::span<const Target> targets() {
  static const std::array<Target, count> all = detect();
  return all;
}

Result<const Target*> find_target(std::string_view name) {
  std::string known;
  for (const Target& target : targets()) {
    if (target.name == name && target.supported) return &target;
    if (target.supported) known += (known.empty() ? "" : ", ") + std::string(target.name);
  }
  return Error{"\"" + std::string(name) + "\" is not a SIMD target of this program on this machine; it has " + known +
               "."};
}

Result<const Target*> choose_target() {
  const char* forced = std::getenv("NALM_SIMD");
  if (!forced || !*forced) return &widest();
  Result<const Target*> found = find_target(forced);
  if (!found) return Error{"NALM_SIMD: " + found.error().message};
  return found;
}

const Target& active_target() {
  static const Target& chosen = [&]() -> const Target& {
    const Result<const Target*> result = choose_target();
    return result ? **result : widest();
  }();
  return chosen;
}

}  // namespace nalm::simd
