// The results of a task as an HTML page.
#pragma once

#include <span>
#include <string>

#include "experiment/compare.hpp"

namespace nalm {

// What the page's script reads, as JSON.
Result<std::string> report_data(const Store& store, const Judgement& judgement);
Result<std::string> report_page(const Store& store, const Judgement& judgement = {});

// Several folders side by side, each beside the first.
Result<std::string> comparison_page(std::span<const StoreComparison> comparisons, std::span<const std::string> names);

}  // namespace nalm
