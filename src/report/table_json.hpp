// Results as JSON: every cell and every run, whatever the metric; who reads JSON can choose.
#pragma once

#include <string>
#include <string_view>
#include "base/json.hpp"

#include "experiment/compare.hpp"

namespace nalm {

std::string json_of(const Results& results, std::string_view metric);

// A cell as tables and pages have it, without its runs.
Json cell_json(const Results& results, const CellResult& cell);

Json to_value(const Estimate& estimate);

}  // namespace nalm
