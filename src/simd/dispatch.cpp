#include "simd/dispatch.hpp"

#include <array>
#include <cstdlib>
#include <string>

#include "simd/compiled_targets.hpp"  // generated: NALM_FOR_EACH_TARGET(X), widest first

namespace nalm::simd {

namespace {

// The features of cmake/simd_targets.cmake, as far as a machine can have one without the other. The compiler's own
// question, and not Highway's, is one library less to link.
#if defined(__x86_64__)
bool has_sse4() {
  return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul");
}
bool has_avx2() {
  return has_sse4() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#else
bool has_sse4() { return false; }
bool has_avx2() { return false; }
bool has_avx512() { return false; }
#endif
bool has_always() { return true; }  // every machine of this architecture

struct Requirement {
  std::string_view name;
  bool (*is_there)();
  int float_lanes;
};

constexpr Requirement requirements[] = {
    {"avx512", has_avx512, 16}, {"avx2", has_avx2, 8},     {"sse4", has_sse4, 4},
    {"native", has_always, 4},  {"scalar", has_always, 1},
};

#define NALM_NAME_OF_TARGET(name) std::string_view(#name),
constexpr std::string_view compiled[] = {NALM_FOR_EACH_TARGET(NALM_NAME_OF_TARGET)};
constexpr std::size_t count = std::size(compiled);

std::array<Target, count> detect() {
  std::array<Target, count> result{};
  for (std::size_t k = 0; k < count; ++k) {
    for (const Requirement& r : requirements) {
      if (r.name != compiled[k]) continue;
      result[k] = {r.name, static_cast<int>(k), r.float_lanes, r.is_there()};
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
