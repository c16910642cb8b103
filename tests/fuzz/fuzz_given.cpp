// Any text as a form whose constants are fitted: never a crash, and constants that are numbers.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fit/form.hpp"
#include "nalm/fit.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

const nalm::Table& table() {
  static const nalm::Table rows = [] {
    std::string text = "x,y,z\n";
    for (int k = 1; k <= 16; ++k)
      text += std::to_string(k) + "," + std::to_string(k * k % 7 + 1) + "," + std::to_string(3 * k + k * k % 7) + "\n";
    return nalm::read_table(text, "rows").value();
  }();
  return rows;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto form = nalm::parse_expression(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!form || nalm::fitting::size_of(*form) > 40) return 0;  // longer ones take long, and have nothing new
  const nalm::Result<nalm::Fit> fit = nalm::fit_form(table(), {.target = "z", .threads = 1}, *form);
  if (!fit) {
    require(!fit.error().message.empty());
    return 0;
  }
  if (fit->candidates.empty()) return 0;
  for (const nalm::FitConstant& c : fit->best().constants) require(std::isfinite(c.value) && !c.name.empty());
  return 0;
}
