// Comparisons as text.
#pragma once

#include <span>
#include <string>

#include "experiment/compare.hpp"

namespace nalm {

// all: also what is equal or agrees.
std::string print(const Comparison& comparison, bool all);

// Several folders, each beside the first. names: what to call them.
std::string print(std::span<const StoreComparison> comparisons, std::span<const std::string> names, bool all);

}  // namespace nalm
