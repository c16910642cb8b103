// Results as JSON: every cell and every run, whatever the metric; who reads JSON can choose.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "experiment/compare.hpp"

namespace nalm {

std::string json_of(const Results& results, std::string_view metric);

// A cell as tables and pages have it, without its runs.
nlohmann::ordered_json cell_json(const Results& results, const CellResult& cell);

nlohmann::ordered_json to_value(const Estimate& estimate);

}  // namespace nalm
