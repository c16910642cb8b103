// Any text as a unit: never a crash, a message that names it, and what was read is written so that it reads back.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "formula/unit.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nalm::formula;
  const nalm::Result<Unit> unit = parse_unit(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!unit) {
    require(!unit.error().message.empty());
    return 0;
  }
  require(std::isfinite(unit->scale) && unit->scale > 0);
  std::vector<std::pair<std::string, double>> symbols;
  bool simple = true;  // other powers are printed with four digits
  for (const auto& [name, power] : unit->symbols) {
    symbols.emplace_back(name, power.value());
    simple = simple && power.denominator <= 12;
  }
  const nalm::Result<Unit> again = parse_unit(print_unit(symbols));
  if (!simple || print_unit(symbols).size() > 200) return 0;
  require(again && again->powers == unit->powers);
  return 0;
}
