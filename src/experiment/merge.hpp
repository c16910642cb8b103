// Several stores of one plan in one: what shards on machines of their own have trained.
#pragma once

#include <string>
#include <vector>

#include "experiment/store.hpp"

namespace nalm {

struct Merged {
  std::size_t runs = 0, duplicates = 0;
  std::vector<std::string> missing;         // runs of the plan that nobody has, by name
  std::vector<std::string> missing_shards;  // "3/16", where the stores are shards of the same number
};

// Refuses stores of different settings or versions, and a run that is in two of them with different numbers. The new
// folder is there as a whole or, on an error or if the program is killed, not at all.
Result<Merged> merge_stores(const std::vector<std::string>& folders, const std::string& into);

}  // namespace nalm
