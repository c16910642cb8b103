// Any bytes: a fit is refused in one sentence, or becomes data in which every text is a text and cannot end the page.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "report/fit_report.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const nalm::Result<std::string> page = nalm::fit_data(text, "fuzz");
  if (!page) {
    require(page.error().message.starts_with("fuzz: ") && page.error().message.ends_with("."));
    return 0;
  }
  const nlohmann::json read = nlohmann::json::parse(*page);
  for (const char* name : {"target", "data", "seed", "version", "command", "verdict", "formula", "mathml", "latex"})
    require(read.at(name).is_string());
  for (const char* name : {"columns", "constants", "named_constants", "candidates", "notes", "layers"})
    require(read.at(name).is_array());
  for (const char* name : {"rows", "seconds", "verification_error"})
    require(read.at(name).is_number() || read.at(name).is_null());
  const nlohmann::json& points = read.at("points");
  if (points.is_null()) return 0;
  for (const char* name : {"target", "predicted"}) require(points.at(name).size() == points.at("set").size());
  for (const nlohmann::json& input : points.at("inputs")) require(input.at("values").size() == points.at("set").size());
  return 0;
}
